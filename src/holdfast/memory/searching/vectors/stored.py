"""The nearest of the vectors in the store, found in this process: what needs no server.

Knows rows and vectors, no texts.
"""

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
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
# So many pieces of vectors are compared one after the other before they are put together.
_SEGMENTS = 8


@dataclass(frozen=True, slots=True)
class _Block:
    """The vectors of one container, as it was when they were loaded."""

    container: Container
    missing: int
    refused: int
    rows: NDArray[np.int64]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class _Segment:
    """Some blocks, whose vectors are one piece. `starts` is where each row begins, since it has several."""

    blocks: tuple[_Block, ...]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The vectors of some places. What changes is a segment of its own: the rest need not be copied."""

    containers: list[Container]
    segments: tuple[_Segment, ...]

    @property
    def blocks(self) -> Iterator[_Block]:
        return (block for segment in self.segments for block in segment.blocks)

    @property
    def missing(self) -> int:
        return sum(block.missing for block in self.blocks)

    @property
    def refused(self) -> int:
        return sum(block.refused for block in self.blocks)

    @property
    def pieces(self) -> int:
        return sum(len(segment.vectors) for segment in self.segments)


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
        missing, refused = loaded.missing, loaded.refused
        return Coverage(loaded.pieces + missing + refused, missing, refused)

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
        segments = [segment for segment in self._load(tuple(places)).segments if len(segment.rows)]
        if not segments:
            return NO_SIMILARITIES
        near = [_compare(segment, vector) for segment in segments]
        rows = np.concatenate([segment.rows for segment in segments])
        order = np.argsort(rows, kind="stable")
        nearest = np.concatenate([pair[0] for pair in near])[order]
        usual = np.concatenate([pair[1] for pair in near])[order]
        return Similarities(rows[order], nearest, usual)

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
        before = held.segments if held is not None else ()
        there = set(containers)
        whole = [
            segment
            for segment in before
            if all(block.container in there and not block.missing for block in segment.blocks)
        ]
        if len(whole) > _SEGMENTS:
            # Many small ones are put together again, now and then.
            whole = []
        done = {block.container for segment in whole for block in segment.blocks}
        known = {
            block.container: block
            for segment in before
            for block in segment.blocks
            if not block.missing and block.container not in done
        }
        left = [container for container in containers if container not in done]
        # Neighbours are read together: a place has thousands of containers, most of them small.
        spans = [
            span
            for is_known, run in groupby(left, key=known.__contains__)
            if not is_known
            for span in ranges(list(run))
        ]
        found = self._store.embeddings.load(self.identity.key, spans)
        stored = {number: list(rows) for number, rows in groupby(found, key=lambda one: number_of(one[0]))}
        blocks = [known.get(one) or self._block(one, stored.get(one.number, [])) for one in left]
        fresh = (_segment(blocks, self.identity.dimensions),) if blocks else ()
        return _Loaded(containers, (*whole, *fresh))

    def _block(self, container: Container, found: Sequence[tuple[int, bytes | None]]) -> _Block:
        usable = [(row, stored) for row, stored in found if stored is not None and self._usable(len(stored))]
        rows = np.fromiter((row for row, _ in usable), np.int64, len(usable))
        joined = np.frombuffer(b"".join(stored for _, stored in usable), STORED)
        vectors = joined.reshape(len(usable), self.identity.dimensions)
        missing = sum(stored is None for _, stored in found)
        return _Block(container, missing, len(found) - len(usable) - missing, rows, vectors)


def _segment(blocks: Sequence[_Block], dimensions: int) -> _Segment:
    """The blocks with their vectors in one piece, of which each has its part."""
    rows = np.concatenate([block.rows for block in blocks])
    vectors: Vectors = np.empty((0, dimensions), np.float32)
    if len(rows):
        vectors = np.concatenate([block.vectors for block in blocks])
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]]) if len(rows) else np.empty(0, np.int64)
    ends = np.cumsum([len(block.rows) for block in blocks])
    parts = tuple(
        replace(block, vectors=vectors[end - len(block.rows) : end])
        for block, end in zip(blocks, ends.tolist(), strict=True)
    )
    return _Segment(parts, rows[starts], starts, vectors)


def _compare(segment: _Segment, vector: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How near the best piece of each row is, and all of its pieces on average."""
    # Row by row on this thread: BLAS would start others, and wait for them on a busy machine.
    near = np.vecdot(segment.vectors, vector).astype(np.float64)
    sizes = np.diff(np.append(segment.starts, len(near)))
    return np.maximum.reduceat(near, segment.starts), np.add.reduceat(near, segment.starts) / sizes
