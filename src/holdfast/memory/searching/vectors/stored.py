"""The nearest of the vectors in the store, found in this process: what needs no server.

Knows rows and vectors, no texts.
"""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from holdfast.memory.embedders.base import Identity, Vectors
from holdfast.memory.searching.vectors.base import NO_SIMILARITIES, Similarities, Vector
from holdfast.memory.searching.vectors.kept import STORED, KeptVectors
from holdfast.store import Coverage, Store, Where
from holdfast.store.containers import Container, number_of, ranges

# Scopes held in memory; the one not asked for longest goes.
_HELD = 8


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


class StoredVectors(KeptVectors):
    """Vectors from the store, held in memory for the places that are asked about, and compared one by one.

    Exact, and fast enough to a hundred thousand pieces, of which each takes four bytes a dimension.
    """

    def __init__(self, store: Store, identity: Identity) -> None:
        super().__init__(store, identity)
        self._held: dict[tuple[Where, ...], _Loaded] = {}
        # Who comes while vectors are loaded waits for them: to load them twice takes longer.
        self._loading = threading.Lock()

    def coverage(self, places: Sequence[Where] | None = None) -> Coverage:
        if places is None:
            return self._store.embeddings.coverage(self.identity.key)
        loaded = self._load(tuple(places))
        pieces = len(loaded.vectors) + loaded.missing + loaded.refused
        return Coverage(pieces, loaded.missing, loaded.refused)

    def release(self) -> None:
        """Hold nothing in memory any more."""
        with self._loading:
            self._held.clear()

    def compare(
        self,
        places: Sequence[Where],
        vector: Vector,
        best: int,  # noqa: ARG002 - all of them are compared
        also: Collection[int] = (),  # noqa: ARG002
    ) -> Similarities:
        loaded = self._load(tuple(places))
        if not len(loaded.rows):
            return NO_SIMILARITIES
        # Row by row on this thread: BLAS would start others, and wait for them on a busy machine.
        near = np.vecdot(loaded.vectors, vector)
        sizes = np.diff(np.append(loaded.starts, len(near)))
        return Similarities(
            loaded.rows,
            np.maximum.reduceat(near, loaded.starts).astype(np.float64),
            np.add.reduceat(near, loaded.starts) / sizes,
        )

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
        usable = [(row, stored) for row, stored in found if stored is not None and self._usable(len(stored))]
        rows = np.fromiter((row for row, _ in usable), np.int64, len(usable))
        joined = np.frombuffer(b"".join(stored for _, stored in usable), STORED)
        vectors = joined.reshape(len(usable), self.identity.dimensions)
        missing = sum(stored is None for _, stored in found)
        return _Block(container, missing, len(found) - len(usable) - missing, rows, vectors)


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
