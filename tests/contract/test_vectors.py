"""What every index of vectors can do: in process on every database, and with each engine that follows one."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from holdfast.errors import VectorsError
from holdfast.memory.embedders import EmbedderIdentity
from holdfast.memory.remote_vectors import VectorOptions, choose_vectors
from holdfast.memory.vectors import IN_PROCESS
from holdfast.store import Coverage, NotesFolder, embeddings
from holdfast.store.database import PreparedStatement
from holdfast.store.texts import piece_digest, split_pieces
from tests.contract.conftest import missing, place_for_a_store
from tests.contract.test_store import SCOPE, talk
from tests.contract.test_store_passages import MINE, OTHERS, put
from tests.memory.nearest import nearest

AXES = np.eye(4, dtype=np.float32)
IDENTITY = EmbedderIdentity("test", "axes", 4)


def pair(store: str, engine: str):
    marks = [pytest.mark.real] if store == "postgres" else []
    return pytest.param((store, engine), id=f"{store}-{engine}", marks=marks)


IN_PROCESS_ON = [pair("file", "auto"), pair("memory", "auto"), pair("postgres", "auto")]
ELSEWHERE = [pair("postgres", "pgvector"), pair("memory", "qdrant"), pair("memory", "sqlite-vec")]


@pytest.fixture(params=[*IN_PROCESS_ON, *ELSEWHERE])
def location(request):
    """Where the store is; the second of each pair is who finds the nearest of its vectors."""
    backend = SimpleNamespace(param=request.param[0], getfixturevalue=request.getfixturevalue)
    with place_for_a_store(backend) as place:
        yield place


@pytest.fixture
def open_index(request, store, location, tmp_path):
    """Opens an index on the store, as often as somebody wants one."""
    engine = request.node.callspec.params["location"][1]
    where = f"qdrant:{tmp_path / 'qdrant'}" if engine == "qdrant" else engine
    opening = choose_vectors(VectorOptions(where, store=location, folder=tmp_path))
    result = []

    def index(identity=IDENTITY):
        result.append(opening(store, identity))
        result[-1].follow()
        if "apsw" in result[-1].trouble:
            missing("sqlite-vec", VectorsError(result[-1].trouble))
        assert result[-1].engine == (IN_PROCESS if engine == "auto" else engine), result[-1].trouble
        return result[-1]

    yield index
    for item in result:
        item.alone()
        item.close()


@pytest.fixture
def vectors(open_index):
    return open_index()


def row_of(store, places, text: str) -> int:
    rows = [
        container.ids[0] + place
        for container in store.passages.containers(places)
        for place in range(container.next)
    ]
    return next(row for row, content in store.passages.texts(rows).items() if content == text)


def test_the_nearest_piece_of_a_row_counts(store, vectors):
    long = "north " * 70 + "east " * 70
    put(store, MINE, "a.md", long, "south")
    first, *others = split_pieces(long)
    assert vectors.coverage([MINE]).missing == 2 + len(others)
    vectors.keep({piece_digest("south"): AXES[2], piece_digest(first): AXES[0]})
    vectors.keep({piece_digest(piece): AXES[1] for piece in others})
    assert vectors.coverage([MINE]).missing == 0
    near = nearest(vectors, [MINE], AXES[1], 10)
    assert near[row_of(store, [MINE], long)] == pytest.approx(1.0)
    assert near[row_of(store, [MINE], "south")] == pytest.approx(0.0, abs=1e-6)


def test_only_the_best_are_given_and_those_that_were_named(store, vectors):
    for number, text in enumerate(("north", "east", "south", "west")):
        put(store, MINE, f"{number}.md", text)
        vectors.keep({piece_digest(text): AXES[number]})
    named = row_of(store, [MINE], "west")
    near = nearest(vectors, [MINE], AXES[0], 1, [named])
    assert near == {row_of(store, [MINE], "north"): pytest.approx(1.0), named: pytest.approx(0.0, abs=1e-6)}


def test_nothing_is_near_across_a_border_or_after_it_is_gone(store, vectors):
    conversation, _ = talk(store, "north")
    store.texts.catch_up()
    name = put(store, MINE, "a.md", "north")
    put(store, OTHERS, "b.md", "north")
    vectors.keep({piece_digest("north"): AXES[0]})
    assert len(nearest(vectors, [MINE, SCOPE], AXES[0], 10)) == 2
    store.passages.remove([name])
    assert len(nearest(vectors, [MINE, SCOPE], AXES[0], 10)) == 1
    store.log.delete(conversation.id)
    assert nearest(vectors, [MINE, SCOPE], AXES[0], 10) == {}
    assert len(nearest(vectors, [OTHERS], AXES[0], 10)) == 1
    assert nearest(vectors, [NotesFolder("nobody")], AXES[0], 10) == {}


def test_vectors_that_come_later_are_seen(store, vectors):
    put(store, MINE, "a.md", "north")
    assert nearest(vectors, [MINE], AXES[0], 10) == {}
    vectors.keep({piece_digest("north"): AXES[0]})
    assert list(nearest(vectors, [MINE], AXES[0], 10).values()) == [pytest.approx(1.0)]
    put(store, MINE, "b.md", "east")
    vectors.keep({piece_digest("east"): AXES[1]})
    assert len(nearest(vectors, [MINE], AXES[0], 10)) == 2


def test_vectors_of_another_embedder_are_never_compared(store, vectors, open_index):
    put(store, MINE, "a.md", "north")
    vectors.keep({piece_digest("north"): AXES[0]})
    vectors.close()
    other = open_index(EmbedderIdentity("test", "other", 4))
    assert other.coverage([MINE]).missing == 1
    assert nearest(other, [MINE], AXES[0], 10) == {}
    # The same name and another size, as after an update that forgot to change its name.
    store.embeddings.keep(vectors.identity.key, {piece_digest("north"): b"\0" * 8})
    other.close()
    assert nearest(open_index(), [MINE], AXES[0], 10) == {}


def test_a_refused_piece_counts_as_done_and_is_near_to_nothing(store, vectors):
    put(store, MINE, "a.md", "north", "east")
    vectors.refuse([piece_digest("north")])
    assert vectors.undone([piece_digest("north"), piece_digest("east")]) == {piece_digest("east")}
    vectors.keep({piece_digest("east"): AXES[1]})
    assert vectors.coverage([MINE]) == vectors.coverage() == Coverage(2, 0, 1)
    assert vectors.get_vectors([piece_digest("north"), piece_digest("east")]).keys() == {piece_digest("east")}
    assert nearest(vectors, [MINE], AXES[0], 10).keys() == {row_of(store, [MINE], "east")}


@pytest.fixture
def loads(monkeypatch):
    """The ranges of rows whose vectors are read, each time they are."""
    ranges = []

    class Watched(PreparedStatement):
        def all(self, connection, /, **values):
            ranges.append((values["first"], values["last"]))
            return super().all(connection, **values)

    monkeypatch.setattr(embeddings, "_VECTORS", Watched(embeddings._VECTORS.clause))
    return ranges


@pytest.mark.parametrize("location", IN_PROCESS_ON, indirect=True)
def test_the_vectors_of_a_place_are_loaded_once_and_together(store, vectors, loads):
    for number in range(20):
        put(store, MINE, f"{number}.md", f"north {number}")
        vectors.keep({piece_digest(f"north {number}"): AXES[number % 4]})
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: nearest(vectors, [MINE], AXES[0], 20), range(4)))
    assert [len(near) for near in results] == [20] * 4
    assert len(loads) == 1
    put(store, MINE, "7.md", "south")
    vectors.keep({piece_digest("south"): AXES[2]})
    assert nearest(vectors, [MINE], AXES[2], 20)[row_of(store, [MINE], "south")] == pytest.approx(1.0)
    assert len(loads) == 2
