"""An embedder in a process of ours: the first text starts it, `close` ends it, `rest` until the next text.

Knows the worker and how it tells vectors; no model.
"""

from collections.abc import Sequence

import numpy as np

from holdfast.memory.embedders.base import EmbedderIdentity, Vectors
from holdfast.memory.embedders.checked import ValidatedEmbedder
from holdfast.memory.embedders.prompts import NO_PROMPTS, EmbeddingPrompts
from holdfast.memory.embedders.worker import WorkerProcess
from holdfast.messages import canonical


class SubprocessEmbedder(ValidatedEmbedder):
    longest = 2_000
    # Small, so that a question never waits long for an index that is being built; larger is hardly faster.
    batch = 8

    def __init__(
        self, identity: EmbedderIdentity, worker: WorkerProcess, prompts: EmbeddingPrompts = NO_PROMPTS
    ) -> None:
        super().__init__(identity, prompts)
        self._worker = worker

    @property
    def pid(self) -> int | None:
        """The worker's process, if there is one."""
        return self._worker.pid

    def question(self, text: str) -> Vectors:
        """Somebody waits for this one: it goes before the texts that wait for their vectors."""
        return self._made([text], lambda texts: self._ask(texts, urgent=True), self._prompts.query)

    def rest(self) -> bool:
        return self._worker.rest()

    def close(self) -> None:
        self._worker.close()

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        return self._ask(texts)

    def _ask(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        answer = self._worker.ask(canonical(list(texts)).encode(), urgent=urgent)
        return np.frombuffer(answer, "<f4").reshape(len(texts), -1)
