"""Nearest by meaning: a seam, and the one that needs no server.

Every row of the index has a few vectors, one for each short piece of its text; the nearest piece counts. Only
vectors of one embedder are ever compared. Knows rows and vectors, no texts.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.memory.embedders.base import Identity, Vectors
from holdfast.store import Coverage, Store, Where
from holdfast.store.containers import Container, ranges

_STORED = np.dtype("<f4")
# Scopes held in memory; the one not asked for longest goes.
_HELD = 8


class VectorIndex(Protocol):
    """The vectors of one embedder. `identity` says which."""

    identity: Identity

    def coverage(self, places: Sequence[Where] | None = None) -> Coverage:
        """How many pieces there are in these places, everywhere for None, and how many have no vector."""
        ...

    def waiting(self, limit: int, places: Sequence[Where] | None = None) -> list[int]:
        """Rows with pieces that have no vector yet, the newest first."""
        ...

    def keep(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep the vectors of pieces, each by the digest of its words."""
        ...

    def known(self, digests: Collection[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of these pieces that are there."""
        ...

    def nearest(
        self, places: Sequence[Where], vector: NDArray[np.float32], best: int, also: Collection[int] = ()
    ) -> dict[int, float]:
        """How near the rows in these places are: of the `best` ones, and of those named in `also`."""
        ...


@dataclass(frozen=True, slots=True)
class _Block:
    """The vectors of one container, as it was when they were loaded."""

    container: Container
    missing: int
    rows: NDArray[np.int64]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The vectors of some places. `starts` is where each row begins, since a row has several."""

    blocks: list[_Block]
    missing: int
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    vectors: Vectors

    @property
    def containers(self) -> list[Container]:
        return [block.container for block in self.blocks]


class StoredVectors:
    """Vectors from the store, held in memory for the places that are asked about, and compared one by one.

    Exact, and fast enough to a hundred thousand pieces, of which each takes four bytes a dimension.
    """

    def __init__(self, store: Store, identity: Identity) -> None:
        self.identity = identity
        self._store = store
        self._held: dict[tuple[Where, ...], _Loaded] = {}

    def coverage(self, places: Sequence[Where] | None = None) -> Coverage:
        if places is None:
            return self._store.embeddings.coverage(self.identity.key)
        loaded = self._load(tuple(places))
        return Coverage(len(loaded.vectors) + loaded.missing, loaded.missing)

    def waiting(self, limit: int, places: Sequence[Where] | None = None) -> list[int]:
        return self._store.embeddings.waiting(self.identity.key, limit, self._ranges(places))

    def keep(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        stored = {digest: vector.astype(_STORED).tobytes() for digest, vector in vectors.items()}
        self._store.embeddings.keep(self.identity.key, stored)

    def known(self, digests: Collection[str]) -> dict[str, NDArray[np.float32]]:
        found = self._store.embeddings.known(self.identity.key, digests)
        return {digest: np.frombuffer(stored, _STORED) for digest, stored in found.items()}

    def nearest(
        self, places: Sequence[Where], vector: NDArray[np.float32], best: int, also: Collection[int] = ()
    ) -> dict[int, float]:
        loaded = self._load(tuple(places))
        if not len(loaded.rows):
            return {}
        near = np.maximum.reduceat(loaded.vectors @ vector, loaded.starts)
        chosen = np.isin(loaded.rows, np.fromiter(also, np.int64, len(also)))
        if best < len(near):
            chosen[np.argpartition(near, -best)[-best:]] = True
        else:
            chosen[:] = True
        return dict(zip(loaded.rows[chosen].tolist(), near[chosen].tolist(), strict=True))

    def _ranges(self, places: Sequence[Where] | None) -> list[tuple[int, int]] | None:
        return None if places is None else ranges(self._store.passages.containers(places))

    def _load(self, places: tuple[Where, ...]) -> _Loaded:
        """What is held of these places, with all that changed since read anew."""
        containers = self._store.passages.containers(places)
        held = self._held.pop(places, None)
        if held is None or held.containers != containers or held.missing:
            held = self._renewed(containers, held)
        self._held[places] = held
        while len(self._held) > _HELD:
            self._held.pop(next(iter(self._held)), None)
        return held

    def _renewed(self, containers: list[Container], held: _Loaded | None) -> _Loaded:
        coverage = self._store.embeddings.coverage(self.identity.key, ranges(containers))
        if held is not None and held.containers == containers and held.missing == coverage.missing:
            return held
        known = {} if held is None else {block.container: block for block in held.blocks if not block.missing}
        blocks = [known.get(one) or self._block(one) for one in containers]
        return _joined(blocks, self.identity.dimensions)

    def _block(self, container: Container) -> _Block:
        found = self._store.embeddings.load(self.identity.key, container.ids)
        # What something else made under the same name cannot be compared.
        size = self.identity.dimensions * _STORED.itemsize
        usable = [(row, stored) for row, stored in found if stored is not None and len(stored) == size]
        rows = np.fromiter((row for row, _ in usable), np.int64, len(usable))
        joined = np.frombuffer(b"".join(stored for _, stored in usable), _STORED)
        missing = sum(stored is None for _, stored in found)
        return _Block(container, missing, rows, joined.reshape(len(usable), self.identity.dimensions))


def _joined(blocks: list[_Block], dimensions: int) -> _Loaded:
    missing = sum(block.missing for block in blocks)
    every = [block for block in blocks if len(block.rows)]
    if not every:
        none = np.empty(0, np.int64)
        return _Loaded(blocks, missing, none, none, np.empty((0, dimensions), np.float32))
    rows = np.concatenate([block.rows for block in every])
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    vectors = np.concatenate([block.vectors for block in every])
    return _Loaded(blocks, missing, rows[starts], starts, vectors)
