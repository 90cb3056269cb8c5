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
from holdfast.store import Coverage, Where

Vector = NDArray[np.float32]
# The first and the last row of those that are looked at.
RowSpan = tuple[int, int]

# Who compares vectors where nothing else does.
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
    """What an engine answers that knows the nearest only."""
    rows = np.fromiter(sorted(near), np.int64, len(near))
    best = np.fromiter((near[row] for row in rows.tolist()), np.float64, len(near))
    return Similarities(rows, best, best, complete=False)


NO_SIMILARITIES = similarities_from({})


class VectorIndex(Protocol):
    """The vectors of one embedder. `identity` says which."""

    identity: EmbedderIdentity

    @property
    def engine(self) -> str:
        """Who finds the nearest at the moment."""

    @property
    def trouble(self) -> str:
        """Why that is not who it should be; empty if it is."""

    def coverage(self, places: Sequence[Where] | None = None) -> Coverage:
        """How many pieces there are in these places, everywhere for None, and how many have no vector."""

    def waiting(self, limit: int, places: Sequence[Where] | None = None) -> list[int]:
        """Rows with pieces that have no vector yet, the newest first."""

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        """Keep the vectors of pieces, each by the digest of its words."""

    def refuse(self, digests: Collection[str]) -> None:
        """Note that these pieces can have no vector: they count as done, and are never near to anything."""

    def get_vectors(self, digests: Collection[str]) -> dict[str, Vector]:
        """The vectors of these pieces that are there."""

    def undone(self, digests: Collection[str]) -> set[str]:
        """Those of these pieces that have no vector yet and were not refused."""

    def compare(
        self, places: Sequence[Where], vector: Vector, best: int, also: Collection[int] = ()
    ) -> Similarities:
        """How near rows in these places are: all of them, or the `best` ones and those named in `also`."""

    def follow(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Tell whoever finds the nearest what has come and gone; says how many vectors it still lacks."""

    def alone(self) -> None:
        """Nobody needs the vectors of another embedder any more."""

    def state(self, *, ask: bool = False) -> dict[str, Any]:
        """Who finds the nearest, how far it is behind, and what is wrong with it; as it was seen last,
        unless it is to be asked.
        """

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class VectorPoint:
    """The vector of one piece of a row. It never changes: other words are another point.

    `about` is what a person finds beside it who looks into the engine.
    """

    key: int
    row: int
    vector: Vector
    about: Mapping[str, Any] = field(default_factory=dict)


class VectorBackend(Protocol):
    """Something that finds the nearest of the points it was given. It raises VectorsError when it cannot.

    It may be empty, or hold what was long gone, whenever it is asked what it holds: a server that was away,
    a backup that was put back. Everything may be done twice.
    """

    name: str
    # Where it is, without any password.
    location: str
    # Whether it wants to be told what a point is about.
    curious: bool

    def list_points(self) -> Iterable[tuple[int, int]]:
        """The key and the row of every point there is; what it needs for that is made ready first."""

    def put(self, points: Sequence[VectorPoint]) -> None: ...

    def drop(self, keys: Collection[int]) -> None: ...

    def nearest(
        self, spans: Sequence[RowSpan], vector: Vector, best: int, also: Collection[int]
    ) -> dict[int, float]:
        """How near rows in these spans are: of the `best` ones, and of those named in `also`.

        It may leave the named ones out, if it has no quick way to them: then the store is asked.
        """

    def settle(self) -> None:
        """It has been given all there was to give: the time to make of it what is made at one go."""

    def alone(self) -> None:
        """What it holds of other embedders is not needed any more."""

    def close(self) -> None: ...
