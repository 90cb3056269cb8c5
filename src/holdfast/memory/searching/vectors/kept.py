"""What every index of vectors has in common: the store keeps them, by the digest of their words.

Knows nothing of finding the nearest.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from holdfast.memory.embedders.base import EmbedderIdentity
from holdfast.memory.searching.vectors.base import IN_PROCESS, Vector
from holdfast.store import Store, Where
from holdfast.store.containers import ranges
from holdfast.store.embeddings import REFUSED

STORED_TYPE = np.dtype("<f4")


class BaseVectorIndex:
    """The vectors of one embedder in a store. Unless told otherwise, nobody else has them."""

    def __init__(self, store: Store, identity: EmbedderIdentity) -> None:
        self.identity = identity
        self._store = store
        self._size = identity.dimensions * STORED_TYPE.itemsize

    @property
    def engine(self) -> str:
        return IN_PROCESS

    @property
    def trouble(self) -> str:
        return ""

    def waiting(self, limit: int, places: Sequence[Where] | None = None) -> list[int]:
        spans = None if places is None else ranges(self._store.passages.containers(places))
        return self._store.embeddings.waiting(self.identity.key, limit, spans)

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        stored = {digest: vector.astype(STORED_TYPE).tobytes() for digest, vector in vectors.items()}
        self._store.embeddings.keep(self.identity.key, stored)

    def refuse(self, digests: Collection[str]) -> None:
        self._store.embeddings.keep(self.identity.key, dict.fromkeys(digests, REFUSED))

    def known(self, digests: Collection[str]) -> dict[str, Vector]:
        found = self._store.embeddings.known(self.identity.key, digests)
        return {
            digest: np.frombuffer(one, STORED_TYPE) for digest, one in found.items() if self._usable(len(one))
        }

    def undone(self, digests: Collection[str]) -> set[str]:
        return set(digests) - self._store.embeddings.known(self.identity.key, digests).keys()

    def follow(self, stop: Callable[[], bool] = lambda: False) -> int:  # noqa: ARG002
        return 0

    def alone(self) -> None:
        """The store has forgotten the others already."""

    def state(self, *, ask: bool = False) -> dict[str, Any]:  # noqa: ARG002
        return {"engine": self.engine, "wanted": self.engine, "location": "", "behind": 0, "trouble": None}

    def close(self) -> None:
        """There is nothing to close."""

    def _usable(self, size: int) -> bool:
        """Not refused, and not made by something else under the same name."""
        return size == self._size
