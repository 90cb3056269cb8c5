"""pgvector: PostgreSQL finds the nearest vectors, in the database of the store or in another one.

A table for each embedder, since its vectors have one length, with an HNSW index by cosine. It has connections
of its own: a write to the store does not wait for an index to grow.
"""

import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import URL, Connection, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError

from holdfast.errors import ConfigError, StoreError, VectorsError
from holdfast.memory.embedders import EmbedderIdentity
from holdfast.memory.remote_vectors import OpenVectorBackend, VectorOptions
from holdfast.memory.vectors import RowSpan, Vector, VectorPoint
from holdfast.store.database import Database

R = TypeVar("R")

_PREFIX = "holdfast_vectors_"
# What is in the same database may be somebody else's.
_OURS = re.compile(f"{_PREFIX}[0-9a-f]{{16}}")
# The first with scans that go on until enough rows pass the filter.
_OLDEST = (0, 8)
# The longest vectors that HNSW takes, as they are and with half as many bits.
_WHOLE, _HALF = 2_000, 4_000
# The longest that have room beside their row.
_IN_A_PAGE = 1_900
# From so many rows on an index finds the nearest sooner than a look at each.
_MANY = 2_000
# How many candidates a scan keeps in view, the most there can be: with 200, ten of the hundred nearest were
# missed. And after how many rows it looks for no more.
_CANDIDATES, _MOST_SCANNED = 1_000, 200_000
# With a filter, a scan that ends after its first candidates would find too few.
_SCAN = text(
    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true),"
    f" set_config('hnsw.max_scan_tuples', '{_MOST_SCANNED}', true),"
    f" set_config('hnsw.ef_search', '{_CANDIDATES}', true)"
)
# Any number will do, as long as every Holdfast uses the same.
_LOCK = 4_065_201_109


def open_pgvector(options: VectorOptions) -> OpenVectorBackend:
    """Use the PostgreSQL of the store, or the one that the location names."""
    try:
        url = make_url(options.store if options.location == "pgvector" else options.location)
    except ArgumentError:
        url = None
    if url is None or url.get_backend_name() not in ("postgresql", "postgres"):
        raise ConfigError(
            "vectors is pgvector, and the store is no PostgreSQL.",
            hint="Set store to postgresql://…, or write that address of a PostgreSQL into vectors.",
        )
    return lambda identity: PgVectorBackend(url, identity)


class PgVectorBackend:
    name = "pgvector"
    curious = False

    def __init__(self, url: URL, identity: EmbedderIdentity) -> None:
        self.location = url.render_as_string(hide_password=True)
        self._url = url.set(drivername="postgresql+psycopg")
        self._opened: Database | None = None
        self._opening = threading.Lock()
        self._dimensions = identity.dimensions
        self._table = f"{_PREFIX}{identity.key}"
        kind = "halfvec" if identity.dimensions > _WHOLE else "vector"
        self._column = "vector" if kind == "vector" else f"CAST(vector AS {kind}({identity.dimensions}))"
        self._question = f"CAST(:asked AS {kind}({identity.dimensions}))"
        self._operators = f"{kind}_cosine_ops"

    def list_points(self) -> Iterable[tuple[int, int]]:
        self._write(self._prepare)
        query = text(f"SELECT key, row FROM {self._table}")  # noqa: S608
        return self._read(lambda connection: [(key, row) for key, row in connection.execute(query)])

    def put(self, points: Sequence[VectorPoint]) -> None:
        query = text(
            f"INSERT INTO {self._table} (key, row, vector) VALUES (:key, :row, CAST(:vector AS vector))"  # noqa: S608
            " ON CONFLICT (key) DO NOTHING"
        )
        rows = [
            {"key": point.key, "row": point.row, "vector": _literal(point.vector)}
            # In one order, or two processes that put the same ones would wait for each other.
            for point in sorted(points, key=lambda point: point.key)
        ]
        self._write(lambda connection: connection.execute(query, rows))

    def drop(self, keys: Collection[int]) -> None:
        query = text(f"DELETE FROM {self._table} WHERE key = ANY(:keys)")  # noqa: S608
        self._write(lambda connection: connection.execute(query, {"keys": list(keys)}))

    def nearest(
        self, spans: Sequence[RowSpan], vector: Vector, best: int, also: Collection[int]
    ) -> dict[int, float]:
        asked = {"asked": _literal(vector)}
        distance = f"{self._column} <=> {self._question}"
        within = " OR ".join(f"row BETWEEN {first:d} AND {last:d}" for first, last in spans)
        if not within:
            return {}
        nearest = text(
            f"SELECT row, 1 - ({distance}) FROM {self._table} WHERE {within} ORDER BY {distance} LIMIT :most"  # noqa: S608
        )
        named = text(
            f"SELECT row, 1 - ({distance}) FROM {self._table} WHERE row = ANY(:rows) AND ({within})"  # noqa: S608
        )

        def look(connection: Connection) -> dict[int, float]:
            connection.execute(_SCAN)
            nearness: dict[int, float] = {}
            most, seen = best, 0
            while len(nearness) < best:
                rows = connection.execute(nearest, {**asked, "most": most}).all()
                for row, near in rows:
                    if len(nearness) < best or row in nearness:
                        nearness[row] = max(near, nearness.get(row, -1.0))
                if len(rows) < most or len(rows) == seen:
                    break
                # Several pieces of one row were among them.
                most, seen = 2 * most, len(rows)
            if also:
                for row, near in connection.execute(named, {**asked, "rows": list(also)}):
                    nearness[row] = max(near, nearness.get(row, -1.0))
            return nearness

        return self._read(look)

    def settle(self) -> None:
        """Build the index at once, in a third of the time that one takes which grows with every row."""

        def make(connection: Connection) -> None:
            if connection.scalar(text(f"SELECT to_regclass('{self._table}_hnsw')")) is not None:
                return
            if connection.scalar(text(f"SELECT count(*) FROM {self._table}")) >= _MANY:  # noqa: S608
                connection.exec_driver_sql("SET LOCAL maintenance_work_mem = '256MB'")
                connection.exec_driver_sql(
                    f"CREATE INDEX IF NOT EXISTS {self._table}_hnsw ON {self._table}"
                    f" USING hnsw (({self._column}) {self._operators})"
                )
                connection.exec_driver_sql(f"ANALYZE {self._table}")

        if self._dimensions <= _HALF:
            self._write(make)

    def alone(self) -> None:
        query = text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")

        def drop(connection: Connection) -> None:
            for name in connection.scalars(query).all():
                if _OURS.fullmatch(name) and name != self._table:
                    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")

        self._write(drop)

    def close(self) -> None:
        with self._opening:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _prepare(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        self._check_extension(connection)
        connection.exec_driver_sql(
            f"CREATE TABLE IF NOT EXISTS {self._table} (key BIGINT PRIMARY KEY, row BIGINT NOT NULL,"
            f" vector vector({self._dimensions}) NOT NULL)"
        )
        if self._dimensions <= _IN_A_PAGE:
            # Beside its row rather than elsewhere, it is read in half the time.
            connection.exec_driver_sql(f"ALTER TABLE {self._table} ALTER COLUMN vector SET STORAGE PLAIN")
        connection.exec_driver_sql(f"CREATE INDEX IF NOT EXISTS {self._table}_row ON {self._table} (row)")

    def _check_extension(self, connection: Connection) -> None:
        """Check that this database has a recent pgvector; errors say what an administrator can do."""
        version = connection.scalar(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'"))
        name = connection.scalar(text("SELECT current_database()"))
        if version is None:
            available = text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
            if not connection.scalar(available):
                raise VectorsError(
                    "This PostgreSQL server has no pgvector.",
                    hint="An administrator installs it there (Debian: the package postgresql-NN-pgvector).",
                )
            may = text("SELECT has_database_privilege(current_database(), 'CREATE')")
            if not connection.scalar(may):
                raise VectorsError(
                    f"pgvector is not switched on in the database {name}, and we may not do that.",
                    hint=f'An administrator types: psql -d {name} -c "CREATE EXTENSION vector"',
                )
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        elif tuple(int(part) for part in str(version).split(".")[:2]) < _OLDEST:
            raise VectorsError(
                f"The pgvector of the database {name} is {version}; 0.8 or newer is needed.",
                hint=f'An administrator types: psql -d {name} -c "ALTER EXTENSION vector UPDATE"',
            )

    def _database(self) -> Database:
        with self._opening:
            if self._opened is None:
                try:
                    engine = create_engine(self._url, pool_pre_ping=True)
                except ModuleNotFoundError as error:
                    raise VectorsError(
                        "pgvector needs the package psycopg.",
                        hint="Install it: pip install 'holdfast[postgres]'.",
                    ) from error
                self._opened = Database(engine.execution_options(postgresql_readonly=True), engine)
            return self._opened

    def _read(self, work: Callable[[Connection], R]) -> R:
        with _translate_errors():
            return self._database().read(work)

    def _write(self, work: Callable[[Connection], R]) -> R:
        with _translate_errors():
            return self._database().write(work)


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise VectorsError(f"pgvector: {error.message}", hint=error.hint) from error


def _literal(vector: Vector) -> str:
    return "[" + ",".join(map(repr, vector.tolist())) + "]"
