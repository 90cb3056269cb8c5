"""A vector index that leaves the search to a backend and keeps it in step with the store.

Before a question is asked, the backend gets what came and went in the places it is about; all the rest when
nobody waits. While the backend cannot be asked, or lacks too much, vectors are compared in process, and the
result says so.
"""

import hashlib
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from holdfast.errors import ConfigError, VectorsError
from holdfast.extras import load_backend
from holdfast.memory.embedders import EmbedderIdentity
from holdfast.memory.vectors import (
    IN_PROCESS,
    STORED_TYPE,
    BaseVectorIndex,
    Similarities,
    StoredVectors,
    Vector,
    VectorBackend,
    VectorIndex,
    VectorPoint,
    similarities_from,
)
from holdfast.store import Coverage, Store
from holdfast.store.fulltext import Container, ContainerList, SearchPlace, container_number, id_ranges
from holdfast.store.passages import NOTE
from holdfast.store.texts import PassageRow

# Points sent while a question waits, and sent together in the background.
_POINTS_IN_QUESTION, _POINTS_IN_STEP = 64, 256
# Seconds that a question waits for another thread that sends points.
_PATIENCE = 0.25
# Seconds until an engine that was in trouble is asked again, and until it is asked anew what it holds.
_RETRY_AFTER, _RELOAD_AFTER = 30.0, 600.0
# Places whose coverage is remembered; the one not asked for longest goes.
_CACHED_COVERAGES = 8

COLLECTION = "memories"
_NAME = re.compile(r"[\w-]{1,100}", re.ASCII)
_WAYS = (
    "auto, pgvector, postgresql://USER:PASSWORD@HOST/NAME, qdrant+http://HOST:6333, qdrant:FOLDER, sqlite-vec"
    " or sqlite-vec:FILE"
)


class _Piece(NamedTuple):
    key: int
    row: int
    digest: str


class RemoteVectorIndex(BaseVectorIndex):
    """Leaves the search to `engine`; knows by container what that holds, and compares it with the store."""

    def __init__(
        self,
        store: Store,
        identity: EmbedderIdentity,
        engine: VectorBackend,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(store, identity)
        self._engine = engine
        self._clock = clock
        self._spare = StoredVectors(store, identity)
        self._trouble = ""
        self._covered: dict[tuple[SearchPlace, ...], tuple[ContainerList, Coverage]] = {}
        # The keys that the engine holds by container, None until it was asked; and the containers of which it
        # has all, as they were then.
        self._holds: dict[int, set[int]] | None = None
        self._asked_at = float("-inf")
        self._current: dict[int, Container] = {}
        self._behind = 0
        # Whether it was given something since it last settled.
        self._unsettled = False
        self._closed = False
        self._away_until = float("-inf")
        # One thread at a time changes the backend; questions do not wait for that.
        self._following = threading.Lock()

    @property
    def engine(self) -> str:
        return IN_PROCESS if self._trouble else self._engine.name

    @property
    def trouble(self) -> str:
        return self._trouble

    def coverage(self, places: Sequence[SearchPlace] | None = None) -> Coverage:
        if places is None:
            return self._store.embeddings.coverage(self.identity.key)
        among = tuple(places)
        containers = self._store.passages.containers(among)
        known, covered = self._covered.pop(among, (None, Coverage(0, 0)))
        if known != containers or covered.missing:
            covered = self._store.embeddings.coverage(self.identity.key, id_ranges(containers))
        self._covered[among] = containers, covered
        for oldest in [*self._covered][:-_CACHED_COVERAGES]:
            self._covered.pop(oldest, None)
        return covered

    def compare(
        self, places: Sequence[SearchPlace], vector: Vector, best: int, also: Collection[int] = ()
    ) -> Similarities:
        if self._clock() >= self._away_until:
            containers = self._store.passages.containers(places)
            try:
                if not self._sync(containers, _POINTS_IN_QUESTION, _PATIENCE):
                    nearness = self._engine.nearest(id_ranges(containers), vector, best, also)
                    nearness |= self._near(set(also) - nearness.keys(), vector)
                    self._recover()
                    # A span may have a container in it that was not asked for.
                    among = {container.number for container in containers}
                    return similarities_from(
                        {row: near for row, near in nearness.items() if container_number(row) in among}
                    )
                self._trouble = (
                    f"Vectors were compared in process: {self._behind or 'some'} have still to be handed to"
                    f" {self._engine.name}."
                )
            except VectorsError as error:
                self._fail(error)
        return self._spare.compare(places, vector, best, also)

    def follow(self, stop: Callable[[], bool] = lambda: False) -> int:
        try:
            if self._clock() < self._away_until:
                return self._behind
            if self._clock() >= self._asked_at + _RELOAD_AFTER:
                # Somebody may have put back a backup, or told it something else.
                self._forget()
            left = 0
            containers = self._store.passages.containers(None)
            self._drop_orphans(containers)
            for group in group_containers(containers):
                while (behind := self._sync(group, _POINTS_IN_STEP)) and not stop():
                    continue
                left += behind
                if stop():
                    return max(left, 1)
            self._behind = left
            if not left:
                if self._unsettled:
                    self._engine.settle()
                    self._unsettled = False
                self._recover()
        except VectorsError as error:
            self._fail(error)
        return self._behind

    def alone(self) -> None:
        try:
            with self._following:
                if not self._closed:
                    self._engine.alone()
        except VectorsError as error:
            self._fail(error)

    def state(self, *, ask: bool = False) -> dict[str, Any]:
        if ask:
            self._ask()
        return {
            "engine": self.engine,
            "wanted": self._engine.name,
            "location": self._engine.location,
            "behind": self._behind,
            "trouble": self._trouble or None,
        }

    def close(self) -> None:
        with self._following:
            self._closed = True
            self._engine.close()

    def _near(self, rows: Collection[int], vector: Vector) -> dict[int, float]:
        """The similarity of these rows by the vectors in the store."""
        near: dict[int, float] = {}
        for row, stored in self._store.embeddings.of_rows(self.identity.key, rows) if rows else ():
            if self._usable(len(stored)):
                near[row] = max(near.get(row, -1.0), float(np.frombuffer(stored, STORED_TYPE) @ vector))
        return near

    def _ask(self) -> None:
        """Check that the backend answers and how many vectors it lacks, without changing it."""
        try:
            with self._following:
                holds = {key for keys in self._load_keys().values() for key in keys}
                wanted, _ = self._list_pieces(self._store.passages.containers(None))
        except VectorsError as error:
            self._fail(error)
        else:
            self._behind = sum(key not in holds for pieces in wanted.values() for key in pieces)

    def _sync(self, containers: Sequence[Container], most: int, patience: float = -1) -> int:
        """Send the backend what changed in these containers, at most `most` points; returns how many it
        lacks.

        At least 1 if another thread is at it for longer than `patience` seconds.
        """
        if not self._following.acquire(timeout=patience):
            return max(1, self._behind)
        try:
            holds = self._load_keys()
            stale = [
                container for container in containers if self._current.get(container.number) != container
            ]
            if not stale:
                return 0
            wanted, unfinished = self._list_pieces(stale)
            gone = {
                key
                for container in stale
                for key in holds.get(container.number, set())
                if key not in wanted[container.number]
            }
            self._drop(gone, [container.number for container in stale])
            new = [
                piece
                for number, pieces in wanted.items()
                for piece in pieces.values()
                if piece.key not in holds.get(number, set())
            ]
            self._put(new[:most])
            self._behind = max(0, len(new) - most)
            if not self._behind:
                self._current |= {
                    container.number: container for container in stale if container.number not in unfinished
                }
            return self._behind
        finally:
            self._following.release()

    def _load_keys(self) -> dict[int, set[int]]:
        """The keys that the backend holds, by container."""
        if self._closed:
            # A thread that is still working must not open it again.
            raise VectorsError(f"{self._engine.name} was closed.")
        if self._holds is None:
            holds: dict[int, set[int]] = defaultdict(set)
            for key, row in self._engine.list_points():
                holds[container_number(row)].add(key)
            self._holds, self._asked_at = dict(holds), self._clock()
        return self._holds

    def _list_pieces(self, containers: Sequence[Container]) -> tuple[dict[int, dict[int, _Piece]], set[int]]:
        """The pieces with a vector in each container, by key, and the containers that lack some."""
        wanted: dict[int, dict[int, _Piece]] = {container.number: {} for container in containers}
        unfinished = set[int]()
        for row, number, digest, size in self._store.embeddings.list_pieces(
            self.identity.key, join_spans(containers)
        ):
            pieces = wanted.get(container_number(row))
            if pieces is None:
                continue
            if size is None:
                unfinished.add(container_number(row))
            elif self._usable(size):
                key = point_key(row, number, digest)
                pieces[key] = _Piece(key, row, digest)
        return wanted, unfinished

    def _put(self, pieces: Sequence[_Piece]) -> None:
        if not pieces:
            return
        vectors = self.get_vectors({piece.digest for piece in pieces})
        # Of what was deleted since there is no vector any more.
        pieces = [piece for piece in pieces if piece.digest in vectors]
        about: dict[int, dict[str, Any]] = {}
        if self._engine.curious:
            rows = {piece.row for piece in pieces}
            texts, known = self._store.passages.texts(rows), self._store.passages.rows(rows)
            about = {number: describe_row(row, texts.get(number, "")) for number, row in known.items()}
        points = [
            VectorPoint(piece.key, piece.row, vectors[piece.digest], about.get(piece.row, {}))
            for piece in pieces
        ]
        self._engine.put(points)
        self._unsettled = True
        for piece in pieces:
            self._load_keys().setdefault(container_number(piece.row), set()).add(piece.key)

    def _drop(self, keys: Collection[int], numbers: Iterable[int]) -> None:
        if keys:
            self._engine.drop(keys)
            for number in numbers:
                self._load_keys().get(number, set()).difference_update(keys)

    def _drop_orphans(self, containers: Sequence[Container]) -> None:
        """Drop what the backend holds of deleted containers."""
        with self._following:
            gone = self._load_keys().keys() - {container.number for container in containers}
            self._drop({key for number in gone for key in self._load_keys()[number]}, gone)
            for number in gone:
                self._load_keys().pop(number)
                self._current.pop(number, None)

    def _recover(self) -> None:
        if self._trouble:
            self._trouble = ""
            self._spare.release()

    def _fail(self, error: VectorsError) -> None:
        self._trouble = f"Vectors were compared in process: {error}"
        self._away_until = self._clock() + _RETRY_AFTER
        self._forget()

    def _forget(self) -> None:
        """Load the keys again next time: it is not known how much the backend has kept."""
        with self._following:
            self._holds = None
            self._current = {}


def describe_row(row: PassageRow, content: str) -> dict[str, Any]:
    payload = {
        "type": row.branch if row.role == NOTE else "message",
        "content": content,
        "created_at": datetime.fromtimestamp(row.at, UTC).isoformat(timespec="seconds"),
        "passage": row.passage,
    }
    if row.role == NOTE:
        return {**payload, "path": row.container.partition(":")[2]}
    return {**payload, "source_conversation_id": row.container}


def point_key(row: int, number: int, digest: str) -> int:
    """A positive 63-bit key for a piece of a row with these words."""
    digested = hashlib.blake2b(f"{row} {number} {digest}".encode(), digest_size=8).digest()
    return (int.from_bytes(digested) >> 1) or 1


def join_spans(containers: Sequence[Container]) -> list[tuple[int, int]]:
    """The row ranges of these containers, adjacent ones joined."""
    spans: list[tuple[int, int]] = []
    for container in containers:
        first, last = container.ids
        if spans and spans[-1][1] == first - 1:
            spans[-1] = spans[-1][0], last
        else:
            spans.append((first, last))
    return spans


def group_containers(containers: Sequence[Container]) -> Iterator[list[Container]]:
    """Group containers so that each group has about as many rows as go to a backend at once."""
    group: list[Container] = []
    rows = 0
    for container in containers:
        group.append(container)
        rows += container.rows
        if rows >= _POINTS_IN_STEP:
            yield group
            group, rows = [], 0
    if group:
        yield group


@dataclass(frozen=True, slots=True)
class VectorOptions:
    """Where vectors are searched. `store` is the store's location, `folder` the data folder."""

    location: str = "auto"
    key: str = field(default="", repr=False)
    collection: str = COLLECTION
    extension: str = ""
    store: str = ""
    folder: Path = Path()


class OpenVectors(Protocol):
    """Opens the index of one embedder's vectors."""

    def __call__(self, store: Store, identity: EmbedderIdentity) -> VectorIndex: ...


class OpenVectorBackend(Protocol):
    def __call__(self, identity: EmbedderIdentity) -> VectorBackend: ...


def choose_vectors(options: VectorOptions) -> OpenVectors:
    """Return how to open an index where the options say; ConfigError if that is not possible."""
    open_backend = choose_backend(options)
    if open_backend is None:
        return StoredVectors

    def open_index(store: Store, identity: EmbedderIdentity) -> VectorIndex:
        return RemoteVectorIndex(store, identity, open_backend(identity))

    return open_index


def choose_backend(options: VectorOptions) -> OpenVectorBackend | None:
    """Return how to open the backend; None for comparing in process."""
    if not _NAME.fullmatch(options.collection):
        raise ConfigError(
            f"vectors_collection is {options.collection!r}.",
            hint="Letters, digits, - and _ make the name of a collection.",
        )
    location = options.location.strip()
    kind, _, address = location.partition(":")
    match kind:
        case "" | "auto":
            return None
        case "pgvector" if not address:
            name = "pgvector"
        case "postgresql" | "postgres":
            name = "pgvector"
        case "qdrant+http" | "qdrant+https":
            name = "qdrant"
        case "qdrant" if address and not address.startswith("//"):
            name = "qdrant"
        case "sqlite-vec":
            name = "sqlite-vec"
        case _:
            raise ConfigError(f"vectors is {location!r}.", hint=f"It must be one of: {_WAYS}.")
    opened: OpenVectorBackend = load_backend(name)(replace(options, location=location))
    return opened
