"""llama.cpp's server as a program of its own: `python -m holdfast.upstreams.embedded_server --model FILE`.

It is told its key on the first line of stdin and says where it listens in one line of JSON on stdout. When
stdin ends, whoever started it is gone, and so is it. Knows nothing else of Holdfast.
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

# Prompts that made room for another one are kept in memory, so that coming back to them is cheap. llama.cpp
# would take 8 GB for that.
_CACHE_MIB = 1024
# A prompt is read in steps of this many tokens, and only between two of them is it noticed that nobody waits
# for the answer any more. On a processor, larger steps were not faster.
_STEP = 64
# Errors and warnings: the lines above that level tell of every request.
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
        # llama.cpp has written to stderr what is wrong with the file.
        sys.exit(f"llama.cpp cannot serve {arguments.model}: {error}")
    report.write(json.dumps({"url": server.listening_address}) + "\n")
    report.flush()
    threading.Event().wait()


def _take_stdout() -> TextIO:
    """Our own line to the parent. What native code prints goes to stderr from here on."""
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return report


def _leave_with_parent() -> None:
    """The operating system closes a dead parent's pipes, however it died; nothing here needs cleaning up."""
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
    # Web pages and other users reach a port on loopback too: they have no key, and find no prompts to read.
    params.api_keys = [key]
    params.endpoint_slots = False
    params.ui = False
    params.cache_ram_mib = _CACHE_MIB
    params.verbosity = _VERBOSITY
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
