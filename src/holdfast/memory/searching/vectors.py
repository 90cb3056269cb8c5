"""Nearest by meaning: a seam, and the one that needs no server.

Every row of the index has a few vectors, one for each short piece of its text; the nearest piece counts. Only
vectors of one embedder are ever compared. Knows rows and vectors, no texts.
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.memory.embedders.base import Identity, Vectors
from holdfast.store import Coverage, Store, Where
from holdfast.store.containers import Container, number_of, ranges
from holdfast.store.embeddings import REFUSED

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

    def refuse(self, digests: Collection[str]) -> None:
        """Note that these pieces can have no vector: they count as done, and are never near to anything."""
        ...

    def known(self, digests: Collection[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of these pieces that are there."""
        ...

    def undone(self, digests: Collection[str]) -> set[str]:
        """Those of these pieces that have no vector yet and were not refused."""
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
    refused: int
    rows: NDArray[np.int64]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The vectors of some places. `starts` is where each row begins, since a row has several."""

    blocks: list[_Block]
    missing: int
    refused: int
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
        # Who comes while vectors are loaded waits for them: to load them twice takes longer.
        self._loading = threading.Lock()

    def coverage(self, places: Sequence[Where] | None = None) -> Coverage:
        if places is None:
            return self._store.embeddings.coverage(self.identity.key)
        loaded = self._load(tuple(places))
        pieces = len(loaded.vectors) + loaded.missing + loaded.refused
        return Coverage(pieces, loaded.missing, loaded.refused)

    def waiting(self, limit: int, places: Sequence[Where] | None = None) -> list[int]:
        return self._store.embeddings.waiting(self.identity.key, limit, self._ranges(places))

    def keep(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        stored = {digest: vector.astype(_STORED).tobytes() for digest, vector in vectors.items()}
        self._store.embeddings.keep(self.identity.key, stored)

    def refuse(self, digests: Collection[str]) -> None:
        self._store.embeddings.keep(self.identity.key, dict.fromkeys(digests, REFUSED))

    def known(self, digests: Collection[str]) -> dict[str, NDArray[np.float32]]:
        found = self._store.embeddings.known(self.identity.key, digests)
        return {
            digest: np.frombuffer(stored, _STORED) for digest, stored in found.items() if self._usable(stored)
        }

    def undone(self, digests: Collection[str]) -> set[str]:
        return set(digests) - self._store.embeddings.known(self.identity.key, digests).keys()

    def nearest(
        self, places: Sequence[Where], vector: NDArray[np.float32], best: int, also: Collection[int] = ()
    ) -> dict[int, float]:
        loaded = self._load(tuple(places))
        if not len(loaded.rows):
            return {}
        # Row by row on this thread: BLAS would start others, and wait for them on a busy machine.
        near = np.maximum.reduceat(np.vecdot(loaded.vectors, vector), loaded.starts)
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
        with self._loading:
            containers = self._store.passages.containers(places)
            held = self._held.pop(places, None)
            if held is None or held.containers != containers or held.missing:
                held = self._renewed(containers, held)
            self._held[places] = held
            while len(self._held) > _HELD:
                del self._held[next(iter(self._held))]
            return held

    def _renewed(self, containers: list[Container], held: _Loaded | None) -> _Loaded:
        if held is not None and held.containers == containers:
            coverage = self._store.embeddings.coverage(self.identity.key, ranges(containers))
            if held.missing == coverage.missing:
                return held
        known = {} if held is None else {block.container: block for block in held.blocks if not block.missing}
        # Neighbours are read together: a place has thousands of containers, most of them small.
        spans = [
            span
            for is_known, run in groupby(containers, key=known.__contains__)
            if not is_known
            for span in ranges(list(run))
        ]
        found = self._store.embeddings.load(self.identity.key, spans)
        stored = {number: list(rows) for number, rows in groupby(found, key=lambda one: number_of(one[0]))}
        blocks = [known.get(one) or self._block(one, stored.get(one.number, [])) for one in containers]
        return _joined(blocks, self.identity.dimensions)

    def _block(self, container: Container, found: Sequence[tuple[int, bytes | None]]) -> _Block:
        usable = [(row, stored) for row, stored in found if stored is not None and self._usable(stored)]
        rows = np.fromiter((row for row, _ in usable), np.int64, len(usable))
        joined = np.frombuffer(b"".join(stored for _, stored in usable), _STORED)
        vectors = joined.reshape(len(usable), self.identity.dimensions)
        missing = sum(stored is None for _, stored in found)
        return _Block(container, missing, len(found) - len(usable) - missing, rows, vectors)

    def _usable(self, stored: bytes) -> bool:
        """Not refused, and not made by something else under the same name."""
        return len(stored) == self.identity.dimensions * _STORED.itemsize


def _joined(blocks: list[_Block], dimensions: int) -> _Loaded:
    missing, refused = sum(block.missing for block in blocks), sum(block.refused for block in blocks)
    every = [block for block in blocks if len(block.rows)]
    if not every:
        none = np.empty(0, np.int64)
        return _Loaded(blocks, missing, refused, none, none, np.empty((0, dimensions), np.float32))
    rows = np.concatenate([block.rows for block in every])
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    vectors = np.concatenate([block.vectors for block in every])
    return _Loaded(blocks, missing, refused, rows[starts], starts, vectors)
