"""llama.cpp's server as a program of its own: `python -m holdfast.upstreams.embedded_server --model FILE`.

It reads its key from the first line of stdin and writes its address as one line of JSON to stdout. It exits
when stdin ends, which means that its parent is gone.
"""

import argparse
import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

MODEL = "embedded"

# Size of the cache of earlier prompts; llama.cpp's default is 8 GB.
_CACHE_MIB = 1024
# Batch size in tokens. A cancelled request is only noticed between two batches, and on a CPU larger batches
# were not faster.
_STEP = 64
# Errors and warnings only; higher levels log every request.
_VERBOSITY = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file")
    parser.add_argument("--ctx", type=int, default=8192, help="context window in tokens")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args(argv)
    report = _take_stdout()
    key = sys.stdin.readline().strip()
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        server = _serve(arguments.model, arguments.ctx, arguments.threads, key)
    except RuntimeError as error:
        # llama.cpp has written the reason to stderr.
        sys.exit(f"llama.cpp cannot serve {arguments.model}: {error}")
    report.write(json.dumps({"url": server.listening_address}) + "\n")
    report.flush()
    threading.Event().wait()


def _take_stdout() -> TextIO:
    """Returns stdout for the line to the parent, and redirects what native code prints to stderr."""
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return report


def _leave_with_parent() -> None:
    """Exits when the parent's pipe is closed, however the parent ended; there is nothing to clean up."""
    sys.stdin.read()
    os._exit(0)


def _serve(model: Path, ctx: int, threads: int, key: str) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {MODEL}
    params.n_ctx = ctx
    params.n_parallel = 1
    params.n_batch = _STEP
    params.n_ubatch = _STEP
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # Web pages and other users can reach a loopback port: they need the key, and prompts are not published.
    params.api_keys = [key]
    params.endpoint_slots = False
    params.ui = False
    params.cache_ram_mib = _CACHE_MIB
    params.verbosity = _VERBOSITY
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
