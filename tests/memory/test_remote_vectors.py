"""An engine that follows the store: what it lacks, what it holds too much, what is said while it is away."""

import threading
from collections.abc import Collection, Sequence

import numpy as np
import pytest

from holdfast.errors import VectorsError
from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.embedders import EmbedderIdentity
from holdfast.memory.remote_vectors import RemoteVectorIndex
from holdfast.memory.semantic import SemanticIndex
from holdfast.memory.vectors import IN_PROCESS, VectorPoint
from holdfast.store import NotesFolder, open_store
from holdfast.store.texts import piece_digest
from tests.contract.test_store_passages import MINE, OTHERS, put
from tests.memory.nearest import nearest

AXES = np.eye(4, dtype=np.float32)
IDENTITY = EmbedderIdentity("test", "axes", 4)


class Shelf:
    """An engine in memory that can be away, and breaks off in the middle of what it is given."""

    name = "shelf"
    location = "here"
    curious = True

    def __init__(self) -> None:
        self.points: dict[int, VectorPoint] = {}
        self.away = False
        self.room = 10_000
        self.lists = 0

    def list_points(self):
        self._there()
        self.lists += 1
        return [(key, point.row) for key, point in self.points.items()]

    def put(self, points: Sequence[VectorPoint]) -> None:
        self._there()
        for point in points:
            if len(self.points) >= self.room:
                raise VectorsError("The shelf fell down.", hint="It is put up again.")
            self.points[point.key] = point

    def drop(self, keys: Collection[int]) -> None:
        self._there()
        for key in keys:
            self.points.pop(key, None)

    def nearest(self, spans, vector, best, also):
        self._there()
        near = {
            point.row: float(point.vector @ vector)
            for point in self.points.values()
            if any(first <= point.row <= last for first, last in spans)
        }
        return dict(sorted(near.items(), key=lambda item: -item[1])[:best])

    def settle(self) -> None:
        self._there()

    alone = close = settle

    def _there(self) -> None:
        if self.away:
            raise VectorsError("The shelf is away.", hint="Wait for it.")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store():
    with open_store("sqlite://") as opened:
        yield opened


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def vectors(store, shelf, clock):
    return RemoteVectorIndex(store, IDENTITY, shelf, clock)


def remember(store, vectors, name: str, *texts: str, where: NotesFolder = MINE) -> None:
    put(store, where, name, *texts)
    vectors.keep({piece_digest(text): AXES[number % 4] for number, text in enumerate(texts)})


def said(shelf: Shelf) -> set[str]:
    return {point.about["content"] for point in shelf.points.values()}


def test_only_what_came_and_went_is_told(store, vectors, shelf):
    remember(store, vectors, "a.md", "north", "east")
    assert len(nearest(vectors, [MINE], AXES[0], 10)) == 2
    before = dict(shelf.points)
    remember(store, vectors, "b.md", "up")
    remember(store, vectors, "a.md", "north", "west")
    assert vectors.follow() == 0
    assert said(shelf) == {"north", "west", "up"}
    assert shelf.lists == 1, "what it holds is asked once"
    assert len(before.keys() & shelf.points.keys()) == 0, "a file that is read again has new rows"


def test_what_is_forgotten_leaves_the_engine_also_if_nobody_asks(store, vectors, shelf):
    remember(store, vectors, "a.md", "north")
    remember(store, vectors, "b.md", "east", where=OTHERS)
    vectors.follow()
    store.passages.remove([container.name for container in store.passages.containers([OTHERS])])
    vectors.follow()
    assert said(shelf) == {"north"}


def test_after_a_crash_ghosts_go_and_what_is_lacking_comes(store, shelf, clock):
    index = RemoteVectorIndex(store, IDENTITY, shelf, clock)
    remember(store, index, "a.md", "north", "east")
    remember(store, index, "b.md", "south")
    index.follow()
    # The process ends after the store has changed and before the engine has heard of it.
    store.passages.remove([store.passages.containers([MINE])[-1].name])
    remember(store, index, "c.md", "west")
    other = RemoteVectorIndex(store, IDENTITY, shelf, clock)
    assert len(nearest(other, [MINE], AXES[0], 10)) == 3
    assert said(shelf) == {"north", "east", "west"}


def test_failing_engine_is_refilled_later_and_results_stay_complete(store, vectors, shelf, clock):
    remember(store, vectors, "a.md", *(f"word {number}" for number in range(20)))
    shelf.room = 7
    assert len(nearest(vectors, [MINE], AXES[0], 50)) == 20
    assert vectors.engine == IN_PROCESS
    assert vectors.trouble == ("Vectors were compared in process: The shelf fell down. It is put up again.")
    shelf.room = 10_000
    assert len(nearest(vectors, [MINE], AXES[0], 50)) == 20
    assert vectors.engine == IN_PROCESS, "it is left alone for a while"
    clock.now += 60
    assert len(nearest(vectors, [MINE], AXES[0], 50)) == 20
    assert (vectors.engine, vectors.trouble, len(shelf.points)) == ("shelf", "", 20)


def test_an_engine_that_is_away_comes_back_by_itself(store, vectors, shelf, clock):
    remember(store, vectors, "a.md", "north", "east")
    vectors.follow()
    shelf.away = True
    near = nearest(vectors, [MINE], AXES[1], 1)
    assert list(near.values()) == [pytest.approx(1.0)]
    assert "The shelf is away. Wait for it." in vectors.trouble
    assert vectors.state()["engine"] == IN_PROCESS
    remember(store, vectors, "b.md", "west")
    shelf.away, shelf.points = False, {}
    clock.now += 60
    assert vectors.follow() == 0
    assert said(shelf) == {"north", "east", "west"}
    assert vectors.state() == {
        "engine": "shelf", "wanted": "shelf", "location": "here", "behind": 0, "trouble": None,
    }  # fmt: skip


def test_search_waits_for_few_pending_vectors_but_not_for_many(store, vectors, shelf):
    remember(store, vectors, "a.md", *(f"word {number}" for number in range(200)))
    assert len(nearest(vectors, [MINE], AXES[0], 300)) == 200
    assert "136 have still to be handed to shelf" in vectors.trouble
    assert vectors.state(ask=True)["behind"] == 136
    vectors.follow()
    assert len(nearest(vectors, [MINE], AXES[0], 300)) == 200
    assert (vectors.engine, vectors.state(ask=True)["behind"]) == ("shelf", 0)


def test_what_somebody_else_took_away_or_put_back_is_noticed(store, vectors, shelf, clock):
    remember(store, vectors, "a.md", "north", "east")
    vectors.follow()
    backup = dict(shelf.points)
    remember(store, vectors, "a.md", "south")
    vectors.follow()
    shelf.points = backup
    clock.now += 3600
    vectors.follow()
    assert said(shelf) == {"south"}


def test_store_supplies_named_rows_missing_from_engine_results(store, vectors):
    remember(store, vectors, "a.md", "north", "east", "south")
    rows = sorted(nearest(vectors, [MINE], AXES[0], 10))
    near = nearest(vectors, [MINE], AXES[0], 1, rows)
    assert near == {rows[0]: pytest.approx(1.0), rows[1]: 0.0, rows[2]: 0.0}


def test_a_point_tells_people_what_it_is_about(store, vectors, shelf):
    remember(store, vectors, "a.md", "north")
    vectors.follow()
    (point,) = shelf.points.values()
    assert point.about["content"] == "north"
    assert point.about["path"].endswith("a.md")
    assert point.about.keys() == {"type", "content", "created_at", "passage", "path"}


def test_what_was_closed_is_not_opened_again(store, vectors, shelf):
    remember(store, vectors, "a.md", "north")
    vectors.close()
    assert len(nearest(vectors, [MINE], AXES[0], 10)) == 1
    assert (vectors.engine, shelf.points) == (IN_PROCESS, {})


def test_no_question_waits_while_an_engine_takes_its_time(store, vectors, shelf):
    remember(store, vectors, "a.md", "north")
    vectors.follow()
    remember(store, vectors, "b.md", "east")
    began, asked = threading.Event(), threading.Event()
    put_at_once = shelf.put

    def put_slowly(points: Sequence[VectorPoint]) -> None:
        began.set()
        assert asked.wait(60)
        put_at_once(points)

    shelf.put = put_slowly
    following = threading.Thread(target=vectors.follow)
    following.start()
    assert began.wait(60)
    assert len(nearest(vectors, [MINE], AXES[0], 10)) == 2
    assert vectors.trouble == "Vectors were compared in process: some have still to be handed to shelf."
    asked.set()
    following.join()
    assert (vectors.engine, len(shelf.points)) == ("shelf", 2)


def test_changed_embedder_closes_old_engine_and_opens_new_engine(store):
    current, result = [HashingEmbedder(4)], []

    def followed(store, identity):
        result.append(RemoteVectorIndex(store, identity, Shelf()))
        return result[-1]

    meaning = SemanticIndex(store, lambda: current[0], vectors=followed)
    put(store, MINE, "a.md", "north", "east")
    for size in (4, 8):
        current[0] = HashingEmbedder(size)
        meaning.catch_up()
        assert meaning.near([MINE], "north", 5).engine == "shelf"
    assert len(result) == 2
    assert len(nearest(result[0], [MINE], AXES[0], 5)) == 2
    assert "shelf was closed" in result[0].trouble
    meaning.close()


def test_whoever_comes_stops_the_handing_over(store, vectors, shelf):
    for number in range(4):
        remember(store, vectors, f"{number}.md", *(f"{number} word {item}" for item in range(256)))
    assert vectors.follow(stop=lambda: True) > 0
    assert len(shelf.points) == 256
    assert vectors.follow() == 0
    assert len(shelf.points) == 1024
