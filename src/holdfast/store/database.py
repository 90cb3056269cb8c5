"""Connections and threads: one writer thread per process, a few readers, no transaction across an await.

A repository (`log`, `jobs`, …) marks its methods with `reads` or `writes`; each such method is one
transaction, and its callers never see a connection. `PreparedStatement` is for the statements of every turn;
the column types hold text and JSON alike in SQLite and PostgreSQL.
"""

import asyncio
import json
import re
import threading
import time
from collections import deque, namedtuple
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Delete,
    Dialect,
    Engine,
    Insert,
    Select,
    Table,
    Text,
    TypeDecorator,
    Update,
    bindparam,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from holdfast.errors import Conflict, HoldfastError, StoreError
from holdfast.i18n import lazy
from holdfast.messages import canonical

# Converts a value for the database or from it; None where none is needed.
Conversion = Callable[[Any], Any] | None


class PreparedStatement:
    """A statement compiled once for each engine and run on the driver's own cursor.

    It takes a fifth of the time that SQLAlchemy needs to execute it, with the same types and errors. Its text
    must not depend on its values. `values` names the columns of an insert that has none; rows become `row`.
    """

    __slots__ = ("_prepared", "_row", "_values", "clause")

    def __init__(
        self,
        clause: Select[Any] | Insert | Update | Delete,
        values: Sequence[str] | None = None,
        *,
        row: Any = None,
    ) -> None:
        self.clause = clause
        self._values = values
        self._row = row
        self._prepared: dict[str, _Compiled] = {}

    def all(self, connection: Connection, /, **values: Any) -> list[Any]:
        return self._compile(connection).run(connection, values)[0]

    def first(self, connection: Connection, /, **values: Any) -> Any:
        """Return the first row, None if there is none."""
        return next(iter(self.all(connection, **values)), None)

    def run(self, connection: Connection, values: Mapping[str, Any], /) -> int:
        """Run it and return how many rows were changed."""
        return self._compile(connection).run(connection, values)[1]

    def _compile(self, connection: Connection) -> "_Compiled":
        dialect = connection.dialect
        if dialect.name not in self._prepared:
            self._prepared[dialect.name] = _Compiled(self.clause, dialect, self._values, self._row)
        return self._prepared[dialect.name]


class _Compiled:
    """A statement in the SQL of one engine, with the conversion of its values."""

    def __init__(
        self,
        clause: Select[Any] | Insert | Update | Delete,
        dialect: Dialect,
        values: Sequence[str] | None,
        row: Any = None,
    ) -> None:
        compiled = clause.compile(dialect=dialect, column_keys=values)
        self._sql = str(compiled)
        self._errors = dialect.loaded_dbapi.Error
        self._positions = compiled.positiontup
        # What the statement itself says, such as the offset that SQLite adds to a limit.
        self._constants = {name: bound.value for bound, name in compiled.bind_names.items() if bound.unique}
        self._into: list[tuple[str, Conversion]] = [
            (name, bound.type.dialect_impl(dialect).bind_processor(dialect))
            for bound, name in compiled.bind_names.items()
            if name not in self._constants
        ]
        columns = list(clause.selected_columns if isinstance(clause, Select) else clause.exported_columns)
        named = row or (namedtuple("Row", [str(column.key) for column in columns]) if columns else None)
        # Without the check of its length, and with no frame of its own: there are hundreds of rows.
        self._make_row: Callable[[Any], Any] | None = named and partial(tuple.__new__, named)
        # If the statement wants its values in order: the name of each, its conversion, or what it always is.
        converted = dict(self._into)
        self._ordered = [
            (name, converted.get(name), self._constants.get(name)) for name in self._positions or ()
        ]
        self._out: list[tuple[int, Callable[[Any], Any]]] = [
            (at, convert)
            for at, column in enumerate(columns)
            # Every driver returns numbers and text as they are; only our own types need converting.
            if isinstance(column.type, TypeDecorator)
            and (convert := column.type.dialect_impl(dialect).result_processor(dialect, None)) is not None
        ]

    def run(self, connection: Connection, values: Mapping[str, Any]) -> tuple[list[Any], int]:
        bound: Any
        if self._positions is None:
            bound = {
                name: values[name] if convert is None else convert(values[name])
                for name, convert in self._into
            }
            bound |= self._constants
        else:
            bound = [
                constant
                if name in self._constants
                else values[name]
                if convert is None
                else convert(values[name])
                for name, convert, constant in self._ordered
            ]
        cursor = connection.connection.cursor()
        try:
            cursor.execute(self._sql, bound)
            rows = [] if self._make_row is None else cursor.fetchall()
            changed = cursor.rowcount
        except self._errors as error:
            raise DBAPIError.instance(self._sql, None, error, self._errors) from error
        finally:
            cursor.close()
        if self._make_row is None or not rows:
            return [], changed
        if self._out:
            rows = [self._convert(row) for row in rows]
        return [*map(self._make_row, rows)], changed

    def _convert(self, row: Sequence[Any]) -> list[Any]:
        values = list(row)
        for at, convert in self._out:
            values[at] = convert(values[at])
        return values


def run_sql(connection: Connection, sql: str, values: Mapping[str, str]) -> Sequence[Any]:
    """Run a query whose text is made anew each time, with parameters written like `:v0`; return its rows.

    SQLite's driver takes such parameters as they are, and SQLAlchemy would take longer than the query.
    """
    if connection.dialect.name != "sqlite":
        return connection.execute(text(sql), values).all()
    errors = connection.dialect.loaded_dbapi.Error
    cursor = connection.connection.cursor()
    try:
        rows: Sequence[Any] = cursor.execute(sql, values).fetchall()
    except errors as error:
        raise DBAPIError.instance(sql, None, error, errors) from error
    finally:
        cursor.close()
    return rows


class Listed(ColumnElement[bool]):
    """Whether a column is one of a list of values, which is bound as one value.

    The text of such a statement does not depend on how many values there are, so it can be prepared.
    """

    inherit_cache = False
    # A condition as it stands: `= 1` behind it would keep SQLite from using an index.
    _is_implicitly_boolean = True

    def __init__(self, column: Column[Any], name: str) -> None:
        self.column = column
        self.values = bindparam(name, type_=JsonColumn())
        self.type = Boolean()


@compiles(Listed, "sqlite")
def _list_in_sqlite(element: Listed, compiler: SQLCompiler, **options: Any) -> str:
    column, values = (compiler.process(each, **options) for each in (element.column, element.values))
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - names, no values


@compiles(Listed, "postgresql")
def _list_in_postgresql(element: Listed, compiler: SQLCompiler, **options: Any) -> str:
    column, values = (compiler.process(each, **options) for each in (element.column, element.values))
    kind = compiler.dialect.type_compiler_instance.process(element.column.type)
    listed = f"SELECT value::{kind} FROM jsonb_array_elements_text({values}::jsonb) AS value"  # noqa: S608
    return f"{column} = ANY (ARRAY({listed}))"


P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")
T = TypeVar("T", bound="Repository")

_READERS = 4
# Values bound in one statement: SQLite allows 32,766, PostgreSQL twice as many.
_MAX_VALUES = 5_000


class Database:
    """An open database: runs reads and writes, each in a transaction of its own.

    With `single` there is only one connection (a database in memory), so reads wait for the writer as well.
    With `holds` connections stay open between transactions, which only a local database allows.
    With `read_only`, the name of the database, nothing can be written.
    """

    def __init__(
        self,
        reading: Engine,
        writing: Engine,
        *,
        single: bool = False,
        holds: bool = False,
        read_only: str = "",
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self._reading = reading
        self._writing = writing
        self._single = single
        self._read_only = read_only
        self._on_close = on_close
        self._closed = False
        self._writer = ThreadPoolExecutor(1, "holdfast-writer", initializer=self._mark_writer_thread)
        self._readers = ThreadPoolExecutor(_READERS, "holdfast-reader")
        # Used by the writer thread only: its id and its open transaction.
        self._writer_thread: int | None = None
        self._open: Connection | None = None
        self._holds = holds
        self._idle_readers: list[Connection] = []
        self._idle_writer: list[Connection] = []
        # Whether a part of that transaction failed: then it must not be committed.
        self._failed = False
        # Writes for the next transaction; `_unwritten` includes those of the current one.
        self._deferred: deque[_DeferredWrite] = deque()
        self._unwritten: set[_DeferredWrite] = set()
        # The connection of each thread that is inside `read_snapshot`, and what it keeps of it.
        self._snapshot = _Snapshot()

    @property
    def on_server(self) -> bool:
        """Whether several machines may share it."""
        return not (self._single or self._holds or self._read_only)

    @property
    def is_read_only(self) -> bool:
        return bool(self._read_only)

    def read(self, work: Callable[[Connection], R]) -> R:
        """Run `work` in a read-only transaction, which sees the database as of one moment."""
        if self._snapshot.connection is not None:
            # The transaction around this one translates errors.
            return work(self._snapshot.connection)
        on_writer = threading.get_ident() == self._writer_thread
        if self._single and not on_writer:
            return self._wait_for_writer(partial(self.read, work))
        with _translate_errors():
            if on_writer and self._open is not None:
                return work(self._open)
            self._check_open()
            with self._connect(self._reading, self._idle_readers) as connection, connection.begin():
                return work(connection)

    def read_snapshot(self, work: Callable[[], R]) -> R:
        """Run `work` so that all it reads is of the same moment. It must not write."""

        def reading(connection: Connection) -> R:
            if self._snapshot.connection is not None:
                return work()
            self._snapshot.connection, self._snapshot.cache = connection, {}
            try:
                return work()
            finally:
                self._snapshot.connection, self._snapshot.cache = None, None

        return self.read(reading)

    @property
    def snapshot_cache(self) -> dict[Any, Any] | None:
        """What was read in the snapshot of this thread and cannot change while it lasts; None outside."""
        return self._snapshot.cache

    def write(self, work: Callable[[Connection], R]) -> R:
        """Run `work` in a transaction on the writer thread; inside another one it becomes part of that."""
        if threading.get_ident() != self._writer_thread:
            return self._wait_for_writer(partial(self.write, work))
        if self._read_only:
            raise StoreError(
                lazy("{path} cannot be written to; it can only be read.", path=self._read_only),
                hint=lazy("See that you may write to it and its folder, or copy the folder and use --home."),
            )
        with _translate_errors():
            if self._open is not None:
                before, self._failed = self._failed, True
                done = work(self._open)
                self._failed = before
                return done
            while True:
                deferred = [self._deferred.popleft() for _ in range(len(self._deferred))]
                try:
                    return self._commit(work, deferred)
                except _DeferredWriteFailed:
                    # The work itself has not begun: repeat without the deferred write that failed.
                    continue
                finally:
                    self._deferred.extendleft(reversed(deferred))

    async def run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a method of the store off the event loop. Once started it is finished, even if cancelled."""
        self._check_open()
        pool = self._writer if self._single or getattr(call, "writes", False) else self._readers
        return await asyncio.get_running_loop().run_in_executor(pool, partial(call, *args, **kwargs))

    def defer_write(
        self, about: str, call: Callable[[], object], failed: Callable[[HoldfastError], object]
    ) -> None:
        """Call `call` in the next transaction, whoever starts it: a commit of its own would cost more.

        `about` names what it concerns, for `flush`. If it fails, only it fails, and `failed` is called with
        the error on the writer thread.
        """
        self._check_open()
        item = _DeferredWrite(about, call, failed)
        self._unwritten.add(item)
        self._deferred.append(item)

    async def flush(self, about: str | None = None) -> None:
        """Write the deferred writes now, all of them or those about one thing."""
        if any(about in (None, item.about) for item in tuple(self._unwritten)):
            await asyncio.get_running_loop().run_in_executor(self._writer, self._flush_deferred)

    def close(self) -> None:
        """Finish what was started, then close the database. Closing twice is harmless."""
        if self._closed:
            return
        self._closed = True
        self._readers.shutdown()
        self._writer.shutdown()
        # The system may reuse the id of a thread that has ended.
        self._writer_thread = None
        for connection in (*self._idle_readers, *self._idle_writer):
            connection.close()
        self._reading.dispose()
        self._writing.dispose()
        self._on_close()

    def _mark_writer_thread(self) -> None:
        self._writer_thread = threading.get_ident()

    def _wait_for_writer(self, call: Callable[[], R]) -> R:
        self._check_open()
        return self._writer.submit(call).result()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(lazy("The store is closed."), hint=lazy("Open it again to use it."))

    def _flush_deferred(self) -> None:
        try:
            self.write(lambda _: None)
        except StoreError as error:
            while self._deferred:
                self._give_up(self._deferred.popleft(), error)

    def _give_up(self, item: "_DeferredWrite", error: HoldfastError) -> None:
        self._unwritten.discard(item)
        item.failed(error)

    def _commit(self, work: Callable[[Connection], R], deferred: list["_DeferredWrite"]) -> R:
        """Run one transaction: deferred writes, then the work. Those left in `deferred` were not written."""
        with self._connect(self._writing, self._idle_writer) as connection, connection.begin():
            self._open, self._failed = connection, False
            try:
                for item in tuple(deferred):
                    # Removed first: one that fails is not tried again.
                    deferred.remove(item)
                    try:
                        item.call()
                    except HoldfastError as error:
                        self._give_up(item, error)
                        raise _DeferredWriteFailed from error
                    deferred.append(item)
                done = work(connection)
            finally:
                self._open = None
            if self._failed:
                raise StoreError(
                    lazy("A part of what belongs together could not be written: none of it was.")
                )
        self._unwritten.difference_update(deferred)
        deferred.clear()
        return done

    @contextmanager
    def _connect(self, engine: Engine, idle: list[Connection]) -> Iterator[Connection]:
        """Yield an idle connection, or a new one; with `holds` it is kept, unless something failed on it.

        Checking one out of the pool of the engine takes four times as long.
        """
        try:
            connection = idle.pop()
        except IndexError:
            connection = engine.connect()
        usable = False
        try:
            yield connection
            usable = True
        finally:
            if usable and self._holds and not self._closed and len(idle) < _READERS:
                idle.append(connection)
            else:
                connection.close()


@dataclass(frozen=True, slots=True, eq=False)
class _DeferredWrite:
    """A write that waits for the next transaction."""

    about: str
    call: Callable[[], object]
    failed: Callable[[HoldfastError], object]


class _DeferredWriteFailed(Exception):
    """A deferred write failed and was reported; the transaction starts again without it."""


class _Snapshot(threading.local):
    connection: Connection | None = None
    cache: dict[Any, Any] | None = None


class Repository:
    """A part of the store that reads and writes some of its tables."""

    __slots__ = ("database",)

    def __init__(self, database: Database) -> None:
        self.database = database

    def ensure_ready(self) -> None:
        """Called before every transaction: creates tables that no migration creates. By default nothing."""


def reads(method: Callable[Concatenate[T, Connection, P], R]) -> Callable[Concatenate[T, P], R]:
    """Make a method one read-only transaction. It gets the connection; its callers pass none."""

    @wraps(method)
    def reading(self: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        self.ensure_ready()
        return self.database.read(lambda connection: method(self, connection, *args, **kwargs))

    return reading


def writes(method: Callable[Concatenate[T, Connection, P], R]) -> Callable[Concatenate[T, P], R]:
    """Make a method one transaction on the writer thread; the connection is passed as with `reads`."""

    @wraps(method)
    def writing(self: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        self.ensure_ready()
        return self.database.write(lambda connection: method(self, connection, *args, **kwargs))

    return on_writer_thread(writing)


def on_writer_thread(call: Callable[P, R]) -> Callable[P, R]:
    """Mark a function that `Database.run` should run on the writer thread directly."""
    call.writes = True  # type: ignore[attr-defined]
    return call


_SERVER_TIME = text("SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision)")


def database_time(connection: Connection) -> float:
    """The clock that all processes of this database share.

    Machines that share a database on a server have clocks that differ, so the server's is used.
    """
    if connection.dialect.name == "postgresql":
        return float(connection.execute(_SERVER_TIME).scalar_one())
    return time.time()


def upsert(
    connection: Connection,
    table: Table,
    rows: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    update: Collection[str] | None = None,
) -> None:
    """Insert rows; where the primary key exists, update the columns `update` (default: all)."""
    changed = None if update is None else tuple(update)
    for row in [rows] if isinstance(rows, Mapping) else rows:
        _build_upsert(connection.dialect.name, table, tuple(row), changed).run(connection, row)


@lru_cache
def _build_upsert(
    dialect: str, table: Table, given: tuple[str, ...], update: tuple[str, ...] | None
) -> PreparedStatement:
    """Cached: building a statement takes longer than running it."""
    insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
    statement = insert(table)
    keys = [column.name for column in table.primary_key]
    names = [column.name for column in table.columns if column.name not in keys] if update is None else update
    if not names:
        return PreparedStatement(statement.on_conflict_do_nothing(index_elements=keys), given)
    changes = {name: statement.excluded[name] for name in names}
    return PreparedStatement(statement.on_conflict_do_update(index_elements=keys, set_=changes), given)


def batches(values: Iterable[V]) -> Iterator[list[V]]:
    """Yield the distinct values in lists short enough for one statement."""
    remaining = iter(dict.fromkeys(values))
    while batch := list(islice(remaining, _MAX_VALUES)):
        yield batch


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        raise Conflict(
            lazy("What this belongs to was changed or removed meanwhile ({orig}).", orig=str(error.orig)),
            hint=lazy("Read it again."),
        ) from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StoreError(
            lazy("What is in the database cannot be read: {why}.", why=str(error)), hint=DAMAGE_HINT
        ) from error
    except (DBAPIError, PoolTimeout) as error:
        reason = error.orig if isinstance(error, DBAPIError) else error
        damaged = any(word in str(reason) for word in _DAMAGE)
        raise StoreError(
            lazy("The database could not be read or written: {reason}.", reason=str(reason)),
            hint=DAMAGE_HINT
            if damaged
            else lazy(
                "See that the disk has room, that the database can be reached, and that no other program"
                " keeps it locked."
            ),
        ) from error


DAMAGE_HINT = lazy("It is damaged: `holdfast doctor` says how much, and what to do.")
# Words of SQLite for a file that is not what it was.
_DAMAGE = ("malformed", "not a database", "Could not decode to UTF-8")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class WordsColumn(TypeDecorator[str]):
    """Plain text. Characters that PostgreSQL or UTF-8 cannot hold (NUL, lone surrogates) become U+FFFD.

    They are replaced and not dropped: two different names must not become one.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else _UNSTORABLE.sub("\ufffd", value)


class JsonColumn(TypeDecorator[Any]):
    """Any JSON value, as canonical text. JSON escapes NUL, so every engine can hold it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:  # noqa: ARG002
        return canonical(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else json.loads(value)
