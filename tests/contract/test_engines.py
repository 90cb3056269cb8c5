"""Engines for vectors, each against the real thing: what only it can get wrong, and what it says then."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import environ
from types import SimpleNamespace

import numpy as np
import psycopg
import pytest
from sqlalchemy import make_url

from holdfast.backends.pgvector import PgVectorBackend
from holdfast.backends.qdrant import QdrantBackend, QdrantFolder, QdrantServer
from holdfast.backends.sqlite_vec import SqliteVecBackend
from holdfast.errors import ConfigError, VectorsError
from holdfast.memory.embedders import EmbedderIdentity
from holdfast.memory.remote_vectors import VectorOptions, choose_vectors
from holdfast.memory.vectors import IN_PROCESS, StoredVectors, VectorPoint
from holdfast.store import open_store
from holdfast.store.texts import piece_digest
from tests.contract.test_store_passages import MINE, OTHERS, put
from tests.contract.test_vectors import AXES, IDENTITY
from tests.memory.nearest import nearest

EVERYWHERE = [(0, 1 << 60)]


def points(number: int, dimensions: int = 4, *, seed: int = 1) -> list[VectorPoint]:
    result = np.random.default_rng(seed).standard_normal((number, dimensions))
    result /= np.linalg.norm(result, axis=1, keepdims=True)
    return [VectorPoint(row + 1, row, vector) for row, vector in enumerate(result.astype(np.float32))]


@pytest.fixture
def memories():
    """A store with a memory each of two people."""
    with open_store("sqlite://") as store:
        put(store, MINE, "a.md", "north", "east")
        put(store, OTHERS, "b.md", "north")
        vectors = StoredVectors(store, IDENTITY)
        vectors.keep({piece_digest("north"): AXES[0], piece_digest("east"): AXES[1]})
        yield store


@pytest.fixture(scope="module")
def database(postgres):
    return postgres.new_database()


@pytest.mark.real
class TestPgvector:
    def test_hnsw_with_a_filter_finds_what_a_look_at_each_finds(self, database):
        """Of the hundred nearest in a tenth of all rows, at least 98."""
        every = points(3_000, 16)
        matrix = np.array([entry.vector for entry in every])
        # With no other way to sort left, it has to use its index.
        forced = "-c enable_seqscan=off -c enable_sort=off"
        url = make_url(database).update_query_dict({"options": forced})
        engine = PgVectorBackend(url, EmbedderIdentity("test", "many", 16))
        try:
            engine.list_points()
            engine.put(every)
            engine.settle()
            asked, right = points(20, 16, seed=2), 0
            for item in asked:
                near = matrix[:300] @ item.vector
                exact = set(np.argsort(-near)[:100].tolist())
                right += len(exact & engine.nearest([(0, 299)], item.vector, 100, ()).keys())
        finally:
            engine.close()
        with psycopg.connect(database, options=forced) as connection:
            (table,) = connection.execute(
                "SELECT tablename FROM pg_indexes WHERE indexname LIKE '%hnsw'"
            ).fetchone()
            plan = connection.execute(
                f"EXPLAIN SELECT row FROM {table} WHERE row BETWEEN 0 AND 299"
                " ORDER BY vector <=> (SELECT vector FROM " + table + " LIMIT 1) LIMIT 100"
            ).fetchall()
        assert "hnsw" in str(plan)
        assert right >= 0.98 * 100 * len(asked)

    def test_vectors_too_long_for_hnsw_use_half_precision_or_exact_search(self, database):
        for dimensions in (3_072, 5_000):
            engine = PgVectorBackend(make_url(database), EmbedderIdentity("test", "long", dimensions))
            few = points(3, dimensions)
            try:
                engine.list_points()
                engine.put(few)
                engine.settle()
                near = engine.nearest(EVERYWHERE, few[1].vector, 1, [2])
            finally:
                engine.close()
            assert near[1] == pytest.approx(1.0, abs=1e-3)
            assert near.keys() == {1, 2}

    def test_the_table_of_another_embedder_goes_when_nobody_needs_it(self, database):
        old, new = (
            PgVectorBackend(make_url(database), EmbedderIdentity("test", name, 4)) for name in ("old", "new")
        )
        try:
            old.list_points()
            with psycopg.connect(database, autocommit=True) as connection:
                connection.execute("CREATE TABLE holdfast_vectors_of_mine (key BIGINT)")
            new.list_points()
            new.put(points(3))
            new.alone()
            assert len(list(new.list_points())) == 3
            with psycopg.connect(database) as connection:
                connection.execute("SELECT * FROM holdfast_vectors_of_mine")
            with pytest.raises(VectorsError, match="does not exist"):
                old.put(points(1))
            assert list(old.list_points()) == [], "whoever does need it makes it anew"
        finally:
            old.close()
            new.close()

    def test_who_may_not_switch_it_on_says_what_an_administrator_types(self, postgres):
        location = postgres.new_database()
        name = make_url(location).database
        for statement in (
            "CREATE ROLE nobody_special LOGIN PASSWORD 'x'",
            f"REVOKE CREATE ON DATABASE {name} FROM PUBLIC",
        ):
            postgres.execute(statement, location)
        url = make_url(location).set(username="nobody_special", password="x")
        engine = PgVectorBackend(url, IDENTITY)
        try:
            with pytest.raises(VectorsError) as caught:
                engine.list_points()
        finally:
            engine.close()
        assert f'An administrator types: psql -d {name} -c "CREATE EXTENSION vector"' in str(caught.value)

    def test_a_server_that_is_away_is_said_so(self):
        engine = PgVectorBackend(make_url("postgresql://holdfast@127.0.0.1:1/nothing"), IDENTITY)
        try:
            with pytest.raises(VectorsError, match="pgvector: The database could not be read or written"):
                engine.list_points()
        finally:
            engine.close()


@contextmanager
def qdrant_server(folder, *, key: str = ""):
    """Qdrant's REST routes over HTTP, answered by its own library; `state.down` makes it fail."""
    wire, state = QdrantFolder(folder), SimpleNamespace(down=False, calls=0)
    # The library takes longer to load than a question may wait.
    wire.call("GET", "/collections/none")

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            state.calls += 1
            status, result = 200, None
            if key and self.headers.get("api-key") != key:
                status = 401
            elif state.down:
                status = 500
            elif self.path.split("?")[0].endswith("/index"):
                result = {}
            else:
                result = wire.call(self.command, self.path, body)
                status = 404 if result is None else 200
            report = {"result": result} if status == 200 else {"status": {"error": "out of order"}}
            sent = json.dumps(report, default=lambda item: item.model_dump(mode="json")).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_PUT = do_POST = do_DELETE = answer  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", state
        finally:
            server.shutdown()
            thread.join()
            wire.close()


class TestQdrant:
    def test_remote_engine_finds_stored_vectors_and_keeps_no_deleted_ones(self, memories, tmp_path):
        with qdrant_server(tmp_path, key="secret") as (address, _):
            options = VectorOptions(f"qdrant+{address}", key="secret")
            index = choose_vectors(options)(memories, IDENTITY)
            rows = list(nearest(index, [MINE], AXES[1], 1, []))
            both = nearest(index, [MINE], AXES[1], 1, list(nearest(index, [MINE], AXES[1], 5)))
            assert (index.engine, index.trouble, len(rows), len(both)) == ("qdrant", "", 1, 2)
            assert index.follow() == 0
            memories.passages.remove([memories.passages.containers([MINE])[0].name])
            index.follow()
            index.close()
            reader = QdrantBackend(QdrantServer(address, "secret"), IDENTITY, "memories")
            held = list(reader.list_points())
            reader.close()
        assert len(held) == 1, "what belongs to somebody else is all that is left"

    def test_wrong_key_broken_server_and_missing_server_are_distinguished(self, memories, tmp_path):
        with qdrant_server(tmp_path, key="secret") as (address, state):
            report = []
            for key, state.down in (("wrong", False), ("secret", True)):
                index = choose_vectors(VectorOptions(f"qdrant+{address}", key=key))(memories, IDENTITY)
                assert len(nearest(index, [MINE], AXES[1], 5)) == 2
                report.append(index.trouble)
                index.close()
        index = choose_vectors(VectorOptions(f"qdrant+{address}"))(memories, IDENTITY)
        assert (len(nearest(index, [MINE], AXES[1], 5)), index.engine) == (2, IN_PROCESS)
        report.append(index.trouble)
        index.close()
        assert "wants another key (401). Set vectors_key" in report[0]
        assert "answered 500: out of order" in report[1]
        assert "does not answer" in report[2]

    def test_a_collection_that_somebody_else_made_is_left_alone(self, memories, tmp_path):
        wire = QdrantFolder(tmp_path)
        theirs = {"id": 7, "vector": [1.0, 0.0], "payload": {"theirs": True}}
        wire.call("PUT", "/collections/memories", {"vectors": {"size": 2, "distance": "Dot"}})
        wire.call("PUT", "/collections/memories/points", {"points": [theirs]})
        wire.close()
        index = choose_vectors(VectorOptions(f"qdrant:{tmp_path}"))(memories, IDENTITY)
        assert len(nearest(index, [MINE], AXES[1], 5)) == 2
        assert index.engine == IN_PROCESS
        assert "was not created by Holdfast. Name another one with vectors_collection" in index.trouble
        index.close()
        response = wire.call("POST", "/collections/memories/points", {"ids": [7], "with_payload": True})
        assert response[0]["payload"] == {"theirs": True}
        wire.close()
        other = choose_vectors(VectorOptions(f"qdrant:{tmp_path}", collection="mine"))(memories, IDENTITY)
        assert nearest(other, [MINE], AXES[1], 5)
        assert other.engine == "qdrant"
        other.close()

    def test_a_collection_of_ours_with_other_dimensions_is_made_anew(self, tmp_path):
        wire = QdrantFolder(tmp_path)
        old = QdrantBackend(wire, EmbedderIdentity("test", "old", 3), "memories")
        assert list(old.list_points()) == []
        old.put(points(5, 3))
        new = QdrantBackend(wire, IDENTITY, "memories")
        assert list(new.list_points()) == []
        new.put(points(2))
        assert sorted(new.list_points()) == [(1, 0), (2, 1)]
        wire.close()

    def test_a_collection_that_was_half_made_is_made_whole(self, tmp_path):
        wire = QdrantFolder(tmp_path)
        wire.call("PUT", "/collections/memories", {"vectors": {"size": 4, "distance": "Cosine"}})
        engine = QdrantBackend(wire, IDENTITY, "memories")
        assert list(engine.list_points()) == []
        engine.put(points(1))
        assert list(engine.list_points()) == [(1, 0)]
        wire.close()

    def test_lost_collection_is_reported_and_row_pieces_hide_no_other_row(self, tmp_path):
        wire = QdrantFolder(tmp_path)
        engine = QdrantBackend(wire, IDENTITY, "memories")
        engine.list_points()
        pieces = [VectorPoint(number, 1, AXES[0]) for number in range(1, 9)]
        engine.put([*pieces, VectorPoint(20, 2, AXES[1])])
        assert engine.nearest(EVERYWHERE, AXES[0], 2, ()).keys() == {1, 2}
        wire.call("DELETE", "/collections/memories")
        with pytest.raises(VectorsError, match="is gone"):
            engine.nearest(EVERYWHERE, AXES[0], 2, ())
        with pytest.raises(VectorsError, match="is gone"):
            engine.put(pieces)
        wire.close()

    # The library leaves the file that it could not lock for others to close.
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_a_folder_that_another_program_has_open_is_said_so(self, memories, tmp_path):
        first = QdrantFolder(tmp_path)
        first.call("GET", "/collections/memories")
        index = choose_vectors(VectorOptions(f"qdrant:{tmp_path}"))(memories, IDENTITY)
        assert len(nearest(index, [MINE], AXES[1], 5)) == 2
        assert "Another program has the Qdrant in" in index.trouble
        index.close()
        first.close()

    @pytest.mark.real
    @pytest.mark.skipif("HOLDFAST_TEST_QDRANT" not in environ, reason="HOLDFAST_TEST_QDRANT names no server")
    def test_a_real_server_does_the_same(self, memories):
        address, key = environ["HOLDFAST_TEST_QDRANT"], environ.get("HOLDFAST_TEST_QDRANT_KEY", "")
        name = "holdfast_test"
        wire = QdrantServer(address, key)
        wire.call("DELETE", f"/collections/{name}")
        index = choose_vectors(VectorOptions(f"qdrant+{address}", key=key, collection=name))(
            memories, IDENTITY
        )
        try:
            assert len(nearest(index, [MINE], AXES[1], 5)) == 2
            assert (index.engine, index.trouble) == ("qdrant", "")
            memories.passages.remove([memories.passages.containers([MINE])[0].name])
            index.follow()
            assert len(list(QdrantBackend(wire, IDENTITY, name).list_points())) == 1
        finally:
            index.close()
            wire.call("DELETE", f"/collections/{name}")
            wire.close()


class TestSqliteVec:
    def test_unloadable_vector_extension_is_reported_with_in_process_fallback(self, memories, tmp_path):
        index = choose_vectors(VectorOptions("sqlite-vec", extension=str(tmp_path / "no"), folder=tmp_path))(
            memories, IDENTITY
        )
        assert len(nearest(index, [MINE], AXES[1], 5)) == 2
        assert index.engine == IN_PROCESS
        assert "could not be loaded" in index.trouble or "cannot load extensions" in index.trouble
        index.close()

    def test_a_file_that_is_no_database_is_said_so(self, tmp_path):
        (tmp_path / "vectors.db").write_bytes(b"nothing of the kind" * 100)
        engine = SqliteVecBackend(tmp_path / "vectors.db", IDENTITY)
        with pytest.raises(VectorsError) as caught:
            engine.list_points()
        engine.close()
        assert "It can be deleted" in str(caught.value) or "cannot load extensions" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (VectorOptions("faiss"), "vectors is 'faiss'. It must be one of: auto, pgvector"),
        (VectorOptions("pgvector", store="sqlite:///here.db"), "the store is no PostgreSQL"),
        (VectorOptions("qdrant://host"), "It must be one of"),
        (VectorOptions("qdrant+http://"), "names no Qdrant that can be reached"),
        (VectorOptions("qdrant+http://me:pass@host"), "the key into vectors_key"),
        (VectorOptions("qdrant:x", collection="a/b"), "make the name of a collection"),
    ],
)
def test_invalid_vector_location_is_rejected_with_valid_options(options, said):
    with pytest.raises(ConfigError) as caught:
        choose_vectors(options)
    assert said in str(caught.value)
