"""Protocols for vectors: an index, which search asks, and a backend that an index may leave the search to.

Every row has a few vectors, one for each short piece of its text; the nearest piece counts. Only vectors of
one embedder are ever compared.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.memory.embedders import EmbedderIdentity
from holdfast.store import Coverage, SearchPlace

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
