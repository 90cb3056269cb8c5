"""llama.cpp with an embedding model, as a program: `python -m holdfast.memory.embedders.gguf_worker`.

A question is a JSON list of texts, its answer their vectors as 32-bit floats, on its standard streams. When
stdin ends, whoever started it is gone, and so is it.
"""

import argparse
import json
import os
import secrets
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from holdfast.memory.embedders.use_worker import take_stdout
from holdfast.memory.embedders.worker import read_message, write_message
from holdfast.tokens.gguf import read_metadata

# What llama.cpp says of a text with more tokens than it may have.
_TOO_LONG = ("too large to process", "exceeds the available context size", "larger than the max context")
# Errors and warnings: the lines above that level tell of every request.
_VERBOSITY = 2


def run_gguf(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file")
    parser.add_argument("--window", type=int, required=True, help="tokens that are read of a text")
    arguments = parser.parse_args(argv)
    answers = take_stdout()
    server = None
    while (question := read_message(sys.stdin.buffer)) is not None:
        server = server or _serve(arguments.model, arguments.window)
        try:
            write_message(answers, b"".join(_embed(server, text) for text in json.loads(question)))
        except BrokenPipeError:
            break
    # llama.cpp's threads are in no hurry to end, and nothing here needs cleaning up.
    os._exit(0)


def _give_up(why: str) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    sys.stderr.flush()
    os._exit(1)


def _serve(model: Path, window: int) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.embedding = True
    if not _says_how_to_pool(model):
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    # A text is read in one step: what its vector is made of must be there at once.
    params.n_ctx = params.n_batch = params.n_ubatch = window
    params.n_parallel = 1
    # One thread: the others belong to the model that people are waiting for.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # It listens, though nobody asks it that way: with a key that nobody has, nobody can.
    params.api_keys = [secrets.token_urlsafe(24)]
    params.endpoint_slots = False
    params.ui = False
    params.warmup = False
    params.verbosity = _VERBOSITY
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        # llama.cpp has written to stderr what is wrong with the file.
        _give_up(f"llama.cpp cannot serve {model}: {error}")


def _says_how_to_pool(model: Path) -> bool:
    """Embedding models do. A chat model does not, and the mean of what it makes of each token serves."""
    return bool(read_metadata(model, lambda key: key.endswith(".pooling_type")))


def _embed(server: Any, text: str) -> bytes:
    """The vector of a text, or of as much of its beginning as the model can read."""
    while True:
        match server.handle_embeddings({"input": text}):
            case {"data": [{"embedding": [*row]}]}:
                return struct.pack(f"<{len(row)}f", *row)
            case {"error": {"message": str(said)}} if len(text) > 1 and any(
                map(said.__contains__, _TOO_LONG)
            ):
                text = text[: len(text) // 2]
            case answer:
                _give_up(f"llama.cpp has no vector for a text: {str(answer)[:500]}")


if __name__ == "__main__":
    run_gguf()
