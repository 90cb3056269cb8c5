"""Protocols for vectors: an index, which search asks, and a backend that an index may leave the search to.

Every row has a few vectors, one for each short piece of its text; the nearest piece counts. Only vectors of
one embedder are ever compared. `StoredVectors` has them in the store and compares them in this process.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import simsimd
from numpy.typing import NDArray

from holdfast.memory.embedders import EmbedderIdentity, Vectors
from holdfast.store import Coverage, SearchPlace, Store
from holdfast.store.embeddings import REFUSED
from holdfast.store.fulltext import Container, IdRange, diff_containers, id_ranges, rows_within

Vector = NDArray[np.float32]
# The first and the last row of those that are looked at.
RowSpan = tuple[int, int]

# The engine's name where vectors are compared in this process.
IN_PROCESS = "in process"


@dataclass(frozen=True, slots=True)
class Similarities:
    """How near rows are to a question: columns of one length, `rows` in rising order.

    `best` is the similarity of a row's nearest piece, `mean` that of all its pieces. `complete` says that
    every row with vectors is among them, not only the nearest.
    """

    rows: NDArray[np.int64]
    best: NDArray[np.float64]
    mean: NDArray[np.float64]
    complete: bool = True

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def __contains__(self, row: int) -> bool:
        at = int(np.searchsorted(self.rows, row))
        return at < len(self.rows) and int(self.rows[at]) == row


def similarities_from(near: Mapping[int, float]) -> Similarities:
    """Columns from the answer of a backend that returns the nearest rows only."""
    rows = np.fromiter(sorted(near), np.int64, len(near))
    best = np.fromiter((near[row] for row in rows.tolist()), np.float64, len(near))
    return Similarities(rows, best, best, complete=False)


NO_SIMILARITIES = similarities_from({})


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """How near a question is to the nearest example of one about the world, and of one about somebody's own
    affairs.
    """

    general: float
    own: float


class VectorIndex(Protocol):
    """The vectors of one embedder. `identity` says which."""

    identity: EmbedderIdentity

    @property
    def engine(self) -> str:
        """The name of what compares vectors at the moment."""

    @property
    def trouble(self) -> str:
        """Why that is not the configured one; empty if it is."""

    def coverage(self, places: Sequence[SearchPlace] | None = None) -> Coverage:
        """How many pieces there are in these places, everywhere for None, and how many have no vector."""

    def waiting(self, limit: int, places: Sequence[SearchPlace] | None = None) -> list[int]:
        """Rows with pieces that have no vector yet, the newest first."""

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        """Keep the vectors of pieces, each by the digest of its words."""

    def refuse(self, digests: Collection[str]) -> None:
        """Note that these pieces can have no vector: they count as done and are never near to anything."""

    def get_vectors(self, digests: Collection[str]) -> dict[str, Vector]:
        """The vectors of those pieces that have one."""

    def undone(self, digests: Collection[str]) -> set[str]:
        """The pieces that have no vector yet and were not refused."""

    def compare(
        self, places: Sequence[SearchPlace], vector: Vector, best: int, also: Collection[int] = ()
    ) -> Similarities:
        """How near rows in these places are: all of them, or the `best` ones and those named in `also`."""

    def follow(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Bring the backend up to date; returns how many vectors it still lacks."""

    def alone(self) -> None:
        """Drop the vectors of other embedders, which are not needed any more."""

    def state(self, *, ask: bool = False) -> dict[str, Any]:
        """What compares vectors, how far it is behind and what is wrong; asks the backend only with `ask`."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class VectorPoint:
    """The vector of one piece of a row. It never changes: other words are another point.

    `about` is shown to people who look into the backend.
    """

    key: int
    row: int
    vector: Vector
    about: Mapping[str, Any] = field(default_factory=dict)


class VectorBackend(Protocol):
    """A database that finds the nearest of the points it was given; raises VectorsError when it cannot.

    It may be empty or outdated at any time (a server that was away, a restored backup), so every call may be
    repeated.
    """

    name: str
    # Where it is, without any password.
    location: str
    # Whether it wants to be told what a point is about.
    curious: bool

    def list_points(self) -> Iterable[tuple[int, int]]:
        """The key and the row of every point; creates tables or collections first if need be."""

    def put(self, points: Sequence[VectorPoint]) -> None: ...

    def drop(self, keys: Collection[int]) -> None: ...

    def nearest(
        self, spans: Sequence[RowSpan], vector: Vector, best: int, also: Collection[int]
    ) -> dict[int, float]:
        """The similarity of the `best` rows in these spans, and of those named in `also`.

        It may leave the named ones out if it cannot look them up quickly: then the store is asked.
        """

    def settle(self) -> None:
        """Called after all points were put: the time to build an index at once."""

    def alone(self) -> None:
        """Drop what it has of other embedders."""

    def close(self) -> None: ...


STORED_TYPE = np.dtype("<f4")

# Scopes held in memory; the one not asked for longest goes.
_CACHED_PLACES = 8
# Whether rows without a vector have one by now is looked at when this process has kept some, if no more rows
# than this have none, and otherwise every so many seconds.
_MANY = 1_000
_LOOK_AGAIN = 2.0
# Rows closer together than this are read with what is between them.
_CLOSE = 50
# Pieces whose vectors are read at once.
_PORTION = 4_000
# The largest number of a vector becomes this one.
_LARGEST = 127
# A row and the vector of one of its pieces, None if it has none yet.
_Piece = tuple[int, bytes | None]


class BaseVectorIndex:
    """The vectors of one embedder in a store. Subclasses compare them."""

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

    def waiting(self, limit: int, places: Sequence[SearchPlace] | None = None) -> list[int]:
        spans = None if places is None else id_ranges(self._store.passages.containers(places))
        return self._store.embeddings.waiting(self.identity.key, limit, spans)

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        stored = {digest: vector.astype(STORED_TYPE).tobytes() for digest, vector in vectors.items()}
        self._store.embeddings.keep(self.identity.key, stored)

    def refuse(self, digests: Collection[str]) -> None:
        self._store.embeddings.keep(self.identity.key, dict.fromkeys(digests, REFUSED))

    def get_vectors(self, digests: Collection[str]) -> dict[str, Vector]:
        stored = self._store.embeddings.get_vectors(self.identity.key, digests)
        return {
            digest: np.frombuffer(content, STORED_TYPE)
            for digest, content in stored.items()
            if self._usable(len(content))
        }

    def undone(self, digests: Collection[str]) -> set[str]:
        return set(digests) - self._store.embeddings.get_vectors(self.identity.key, digests).keys()

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


@dataclass(frozen=True, slots=True)
class _Segment:
    """Vectors in one piece. Each row has several of them, which begin at `starts`.

    Rows that are not `there` any more are left out when it is compared, which costs less than a copy. Every
    number of a vector is a byte, and `scales` are the largest ones: a quarter of the memory to go through,
    and nearness differs by less than 0.003.
    """

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    there: NDArray[np.bool_]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many vectors each row has."""
        return np.diff(np.append(self.starts, len(self.vectors)))

    def without(self, gone: Sequence[IdRange]) -> "_Segment":
        if not gone:
            return self
        firsts, lasts = np.array(gone, np.int64).T
        starts, ends = np.searchsorted(self.rows, firsts), np.searchsorted(self.rows, lasts, "right")
        some = np.flatnonzero(starts < ends)
        if not len(some):
            return self
        stays = self.there.copy()
        for place in some:
            stays[starts[place] : ends[place]] = False
        return replace(self, there=stays)

    def compare(self, vector: Vector) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """The rows, how near the best piece of each is, and all of its pieces on average."""
        # On this thread: BLAS would start others, and wait for them on a busy machine.
        (asked,), (scale,) = quantize(vector[np.newaxis])
        near = multiply(self.vectors, asked) * self.scales * scale / _LARGEST**2
        best = np.maximum.reduceat(near, self.starts)
        mean = np.add.reduceat(near, self.starts) / self.sizes
        if self.there.all():
            return self.rows, best, mean
        return self.rows[self.there], best[self.there], mean[self.there]


@dataclass(frozen=True, slots=True)
class _LoadedVectors:
    """The vectors of some places. What comes is a segment of its own: the rest need not be copied.

    `missing` and `refused` say how many pieces of a row have no vector yet, or never will.
    """

    containers: Sequence[Container] = ()
    segments: tuple[_Segment, ...] = ()
    missing: Mapping[int, int] = field(default_factory=dict)
    refused: Mapping[int, int] = field(default_factory=dict)
    # When it was looked which of the missing are there, and how often vectors had been kept then.
    looked_at: float = float("-inf")
    times_kept: int = 0

    @property
    def coverage(self) -> Coverage:
        vectors = sum(int(segment.sizes[segment.there].sum()) for segment in self.segments)
        missing, refused = sum(self.missing.values()), sum(self.refused.values())
        return Coverage(vectors + missing + refused, missing, refused)


class StoredVectors(BaseVectorIndex):
    """Vectors from the store, held in memory for the places that are asked about, and compared one by one.

    All of them are compared, which is fast enough to a hundred thousand pieces.
    """

    def __init__(
        self, store: Store, identity: EmbedderIdentity, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(store, identity)
        self._clock = clock
        self._held: dict[tuple[SearchPlace, ...], _LoadedVectors] = {}
        # Concurrent callers wait while vectors are loaded: to load them twice takes longer.
        self._loading = threading.Lock()

    def coverage(self, places: Sequence[SearchPlace] | None = None) -> Coverage:
        if places is None:
            return self._store.embeddings.coverage(self.identity.key)
        return self._load(tuple(places)).coverage

    def release(self) -> None:
        """Hold nothing in memory any more."""
        with self._loading:
            self._held.clear()

    def compare(
        self,
        places: Sequence[SearchPlace],
        vector: Vector,
        best: int,  # noqa: ARG002 - all of them are compared
        also: Collection[int] = (),  # noqa: ARG002
    ) -> Similarities:
        near = [segment.compare(vector) for segment in self._load(tuple(places)).segments]
        if not near:
            return NO_SIMILARITIES
        rows, nearest, usual = (np.concatenate(columns) for columns in zip(*near, strict=True))
        if len(near) > 1:
            order = np.argsort(rows, kind="stable")
            rows, nearest, usual = rows[order], nearest[order], usual[order]
        return Similarities(rows, nearest, usual)

    def _load(self, places: tuple[SearchPlace, ...]) -> _LoadedVectors:
        """What is held of these places, with all that changed since read anew."""
        with self._loading:
            containers = self._store.passages.containers(places)
            held = self._held.pop(places, None) or _LoadedVectors()
            if held.containers != containers or self._may_have_more(held):
                held = self._renew(containers, held)
            self._held[places] = held
            while len(self._held) > _CACHED_PLACES:
                del self._held[next(iter(self._held))]
            return held

    def _may_have_more(self, held: _LoadedVectors) -> bool:
        """Whether it is time to look if pieces without a vector have one by now."""
        if not held.missing:
            return False
        newer = held.times_kept != self._store.embeddings.times_kept
        return (newer and len(held.missing) <= _MANY) or self._clock() >= held.looked_at + _LOOK_AGAIN

    def _renew(self, containers: Sequence[Container], held: _LoadedVectors) -> _LoadedVectors:
        looks = self._may_have_more(held)
        looked = self._clock(), self._store.embeddings.times_kept
        gone, new = diff_containers(held.containers, containers)
        missing, refused = drop_ranges(gone, held.missing), drop_ranges(gone, held.refused)
        later = self._load_new(missing) if looks else []
        # Of such a row all vectors are put together anew.
        rows = {row for row, _ in later}
        gone = [*gone, *((row, row) for row in rows)]
        missing = {row: number for row, number in missing.items() if row not in rows}
        refused = {row: number for row, number in refused.items() if row not in rows}
        segments = [segment.without(gone) for segment in held.segments]
        portions: list[_Segment] = []
        for pieces in (later, *self._load_portions(containers, new)):
            usable = [
                (row, stored) for row, stored in pieces if stored is not None and self._usable(len(stored))
            ]
            portions.append(build_segment(usable, self.identity.dimensions))
            missing |= Counter(row for row, stored in pieces if stored is None)
            refused |= Counter(
                row for row, stored in pieces if stored is not None and not self._usable(len(stored))
            )
        segments.append(merge_segments(portions))
        if held.missing and not looks:
            looked = held.looked_at, held.times_kept
        return _LoadedVectors(containers, join_segments(segments), missing, refused, *looked)

    def _load_portions(
        self, containers: Sequence[Container], ranges: Sequence[IdRange]
    ) -> Iterator[list[_Piece]]:
        """The pieces in these ranges, few enough at a time: as they are stored they take much memory."""
        for portion in self._store.embeddings.split_ranges(ranges, _PORTION):
            yield [*rows_within(containers, self._store.embeddings.load(self.identity.key, [portion]))]

    def _load_new(self, missing: Mapping[int, int]) -> list[_Piece]:
        """The pieces of those rows of which more have a vector than when it was looked last."""
        pieces = self._store.embeddings.load(self.identity.key, group_rows(sorted(missing)))
        lacks = Counter(row for row, stored in pieces if stored is None)
        complete = {row for row, number in missing.items() if lacks[row] < number}
        return [piece for piece in pieces if piece[0] in complete]


def drop_ranges(gone: Sequence[IdRange], numbers: Mapping[int, int]) -> dict[int, int]:
    """Without the rows in these id_ranges."""
    if not gone or not numbers:
        return dict(numbers)
    return {
        row: number
        for row, number in numbers.items()
        if not any(first <= row <= last for first, last in gone)
    }


def group_rows(rows: Sequence[int]) -> list[IdRange]:
    """Ranges that these rows are in, given in order."""
    spans: list[IdRange] = []
    for row in rows:
        if spans and row - spans[-1][1] <= _CLOSE:
            spans[-1] = spans[-1][0], row
        else:
            spans.append((row, row))
    return spans


def quantize(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """The vectors in whole numbers, each as a share of its largest number, and these."""
    scales = np.abs(vectors).max(axis=1, initial=0.0)
    shares = vectors / np.where(scales > 0, scales, 1)[:, np.newaxis]
    return np.rint(_LARGEST * shares).astype(np.int8), scales


def multiply(vectors: NDArray[np.int8], vector: NDArray[np.int8]) -> NDArray[np.float64]:
    """The products of all of them with one."""
    return np.asarray(simsimd.dot(vector, vectors), np.float64).reshape(len(vectors))


def build_segment(pieces: Sequence[tuple[int, bytes]], dimensions: int) -> _Segment:
    """The vectors of rows that are given in order."""
    every = np.fromiter((row for row, _ in pieces), np.int64, len(pieces))
    vectors = np.frombuffer(b"".join(stored for _, stored in pieces), STORED_TYPE).reshape(-1, dimensions)
    starts = np.flatnonzero(np.r_[True, every[1:] != every[:-1]]) if len(every) else np.empty(0, np.int64)
    return _Segment(every[starts], starts, *quantize(vectors), np.ones(len(starts), np.bool_))


def join_segments(segments: Sequence[_Segment]) -> tuple[_Segment, ...]:
    """The same in few segments, the largest first: a small one is put together with the next as small."""
    joined: list[_Segment] = []
    for segment in segments:
        if not segment.there.any():
            continue
        joined.append(segment if 2 * segment.there.sum() > len(segment.there) else merge_segments([segment]))
        while len(joined) > 1 and 2 * len(joined[-1].vectors) >= len(joined[-2].vectors):
            joined[-2:] = [merge_segments(joined[-2:])]
    return tuple(joined)


def merge_segments(segments: Sequence[_Segment]) -> _Segment:
    """What is there of them, in the order of rows."""
    rows = np.concatenate([segment.rows[segment.there] for segment in segments])
    sizes = np.concatenate([segment.sizes[segment.there] for segment in segments])
    stays = [np.repeat(segment.there, segment.sizes) for segment in segments]
    vectors = np.concatenate(
        [
            segment.vectors if some.all() else segment.vectors[some]
            for segment, some in zip(segments, stays, strict=True)
        ]
    )
    scales = np.concatenate([segment.scales[some] for segment, some in zip(segments, stays, strict=True)])
    order = np.argsort(rows, kind="stable")
    starts = np.cumsum(sizes) - sizes
    if not (order[1:] > order[:-1]).all():
        sizes = sizes[order]
        # Where the vectors of each row begin now, and from there one after the other.
        first = np.cumsum(sizes) - sizes
        places = np.arange(int(sizes.sum())) + np.repeat(starts[order] - first, sizes)
        rows, starts, vectors, scales = rows[order], first, vectors[places], scales[places]
    return _Segment(rows, starts, vectors, scales, np.ones(len(rows), np.bool_))
