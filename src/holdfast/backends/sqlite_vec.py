"""sqlite-vec: a file beside the database, searched on disk: slower, and nothing is held in memory.

It is an extension that not every Python can load; where the one in use cannot, `apsw` can.
"""

import re
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.errors import VectorsError
from holdfast.memory.embedders import EmbedderIdentity
from holdfast.memory.remote_vectors import OpenVectorBackend, VectorOptions
from holdfast.memory.vectors import STORED_TYPE, RowSpan, Vector, VectorPoint

_INSTALL = "Install it: pip install 'holdfast[sqlite-vec]'."
_PREFIX = "holdfast_vectors_"
# What is in the same file may be somebody else's.
_OURS = re.compile(f"{_PREFIX}[0-9a-f]{{16}}")
# Values in one statement.
_AT_ONCE = 500


def open_sqlite_vec(options: VectorOptions) -> OpenVectorBackend:
    """Use the file that the location names (`sqlite-vec:FILE`), or one beside the database."""
    file = options.location.partition(":")[2]
    path = Path(file).expanduser() if file else options.folder / "vectors.db"
    return lambda identity: SqliteVecBackend(path, identity, extension=options.extension)


class SqliteVecBackend:
    """`extension` is the file to load; empty for the one of the package sqlite-vec."""

    name = "sqlite-vec"
    curious = False

    def __init__(self, path: Path, identity: EmbedderIdentity, *, extension: str = "") -> None:
        self.location = str(path)
        self._path = path
        self._extension = extension
        self._table = f"{_PREFIX}{identity.key}"
        self._connection: Any = None
        self._errors: tuple[type[Exception], ...] = (sqlite3.Error,)
        # One connection for all threads.
        self._using = threading.Lock()

    def list_points(self) -> Iterable[tuple[int, int]]:
        with self._open() as connection:
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table}"
                " (key INTEGER PRIMARY KEY, row INTEGER NOT NULL, vector BLOB NOT NULL)"
            )
            connection.execute(f"CREATE INDEX IF NOT EXISTS {self._table}_row ON {self._table} (row)")
            return list(connection.execute(f"SELECT key, row FROM {self._table}"))  # noqa: S608

    def put(self, points: Sequence[VectorPoint]) -> None:
        query = f"INSERT OR IGNORE INTO {self._table} VALUES (?, ?, ?)"  # noqa: S608
        rows = [(point.key, point.row, point.vector.astype(STORED_TYPE).tobytes()) for point in points]
        with self._transaction() as connection:
            connection.executemany(query, rows)

    def drop(self, keys: Collection[int]) -> None:
        with self._transaction() as connection:
            connection.executemany(f"DELETE FROM {self._table} WHERE key = ?", [(key,) for key in keys])  # noqa: S608

    def nearest(
        self, spans: Sequence[RowSpan], vector: Vector, best: int, also: Collection[int]
    ) -> dict[int, float]:
        asked = vector.astype(STORED_TYPE).tobytes()
        within = " OR ".join(f"row BETWEEN {first:d} AND {last:d}" for first, last in spans)
        if not within:
            return {}
        # All vectors have the length one: the plain distance tells the same as the angle, and is faster.
        by_row = f"SELECT row, min(vec_distance_L2(vector, ?)) AS far FROM {self._table} WHERE"  # noqa: S608
        with self._open() as connection:
            rows = connection.execute(
                f"{by_row} {within} GROUP BY row ORDER BY far LIMIT ?", (asked, best)
            ).fetchall()
            missing = sorted(set(also) - {row for row, _ in rows})
            for start in range(0, len(missing), _AT_ONCE):
                portion = missing[start : start + _AT_ONCE]
                marks = ", ".join("?" * len(portion))
                rows += connection.execute(
                    f"{by_row} row IN ({marks}) AND ({within}) GROUP BY row", (asked, *portion)
                ).fetchall()
        return {row: 1 - far * far / 2 for row, far in rows}

    def settle(self) -> None:
        """Nothing to build."""

    def alone(self) -> None:
        with self._transaction() as connection:
            names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (name,) in names:
                if _OURS.fullmatch(name) and name != self._table:
                    connection.execute(f"DROP TABLE {name}")

    def close(self) -> None:
        with self._using:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with self._using:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                yield self._connection
            except self._errors as error:
                raise VectorsError(
                    f"sqlite-vec cannot use {self._path}: {error}.",
                    hint="It can be deleted: it is made anew from the database.",
                ) from error

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            end = "ROLLBACK"
            try:
                yield connection
                end = "COMMIT"
            finally:
                connection.execute(end)

    def _connect(self) -> Any:
        extension = self._extension or find_extension()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection, self._errors = connect_file(self._path)
        try:
            connection.enable_load_extension(True)
            connection.load_extension(extension)
            connection.enable_load_extension(False)
        except self._errors as error:
            connection.close()
            raise VectorsError(
                f"The extension {extension} could not be loaded: {error}.",
                hint="See that vectors_extension names sqlite-vec's file for this system, or leave it empty.",
            ) from error
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "busy_timeout = 10000"):
            connection.execute(f"PRAGMA {pragma}")
        return connection


def find_extension() -> str:
    try:
        import sqlite_vec  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise VectorsError("sqlite-vec needs the package sqlite-vec.", hint=_INSTALL) from error
    return str(sqlite_vec.loadable_path())


def connect_file(path: Path) -> tuple[Any, tuple[type[Exception], ...]]:
    """A connection that can load extensions, and its errors."""
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False), (sqlite3.Error,)
    try:
        import apsw
    except ModuleNotFoundError as error:
        raise VectorsError(
            "This Python's sqlite3 cannot load extensions, and the package apsw is not there.", hint=_INSTALL
        ) from error
    return apsw.Connection(str(path)), (apsw.Error,)
