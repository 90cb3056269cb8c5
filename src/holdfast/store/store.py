"""The store as a whole: its repositories on one database, opened from a location.

`sqlite:///PATH` is a file, `sqlite://` a database in memory that is gone when it is closed (for tests and
trials), `postgresql://…` a server, whose driver is an extra and is loaded only then.
"""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry, StaticPool

from holdfast.errors import MigrationFailed, StoreError
from holdfast.i18n import lazy
from holdfast.store import sqlite_file
from holdfast.store.access import KeyRepository, SessionRepository
from holdfast.store.database import Database, on_writer_thread
from holdfast.store.decisions import (
    CompactionRepository,
    DecisionRepository,
    LaneRepository,
    MarkRepository,
    SummaryRepository,
)
from holdfast.store.embeddings import EmbeddingRepository
from holdfast.store.jobs import DraftRepository, JobRepository, LeaseRepository, Outbox, PromptRepository
from holdfast.store.log import ConversationLog
from holdfast.store.memories import ProposalRepository, RecollectionRepository
from holdfast.store.migrate import SHIPPED, MigrationScripts, is_current, upgrade
from holdfast.store.passages import PassageIndex
from holdfast.store.settings import (
    ModelRepository,
    PresetRepository,
    SavedPromptRepository,
    SettingsRepository,
)
from holdfast.store.texts import MessageIndex

P = ParamSpec("P")
R = TypeVar("R")

# Any number will do, as long as every Holdfast uses the same.
_MIGRATION_LOCK = 4_065_201_107
_BUSY_TIMEOUT = 10.0
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)


class Store:
    """Everything Holdfast stores in a database. Every method of a repository is one transaction.

    Plain callers call the methods; on an event loop it is `await store.run(store.log.append, …)`.
    """

    def __init__(self, database: Database, *, alone: bool = False) -> None:
        self.database = database
        # Calls a method of the store without blocking the event loop.
        self.run = database.run
        self.defer_write, self.flush = database.defer_write, database.flush
        # Whether nobody else had it open when it was opened: then what is open in it was left behind.
        self.opened_alone = alone
        self.log = ConversationLog(database)
        self.drafts = DraftRepository(database)
        self.jobs = JobRepository(database)
        self.prompts = PromptRepository(database)
        self.marks = MarkRepository(database)
        self.lanes = LaneRepository(database)
        self.decisions = DecisionRepository(database)
        self.compactions = CompactionRepository(database)
        self.summaries = SummaryRepository(database)
        self.outbox = Outbox(database)
        self.models = ModelRepository(database)
        self.settings = SettingsRepository(database)
        self.presets = PresetRepository(database)
        self.texts = MessageIndex(database)
        self.passages = PassageIndex(database, self.texts)
        self.embeddings = EmbeddingRepository(database, self.texts)
        self.leases = LeaseRepository(database)
        self.recollections = RecollectionRepository(database)
        self.proposals = ProposalRepository(database)
        self.keys = KeyRepository(database)
        self.sessions = SessionRepository(database)
        self.saved_prompts = SavedPromptRepository(database)

    def read_snapshot(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `work`, which only reads: all it reads is of the same moment."""
        return self.database.read_snapshot(lambda: work(*args, **kwargs))

    @on_writer_thread
    def atomically(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `work` in one transaction: all its changes of this store are committed together or not."""
        return self.database.write(lambda _: work(*args, **kwargs))

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(location: str, *, scripts: MigrationScripts = SHIPPED) -> Store:
    """Open the database at `location`, created or migrated first where needed."""
    try:
        url = make_url(location)
    except ArgumentError as error:
        raise _location_error(location) from error
    match url.get_backend_name():
        case "sqlite" if url.database in (None, "", ":memory:"):
            return Store(_open_memory(scripts))
        case "sqlite":
            return _open_file(Path(str(url.database)), scripts)
        case "postgresql" | "postgres":
            return Store(_open_server(url, scripts))
    raise _location_error(location)


def _open_memory(scripts: MigrationScripts) -> Database:
    engine = _sqlite_engine(URL.create("sqlite"), poolclass=StaticPool)
    with engine.begin() as connection:
        upgrade(connection, scripts)
    return Database(engine, engine, single=True)


def _open_file(path: Path, scripts: MigrationScripts) -> Store:
    if sqlite_file.is_read_only(path):
        return Store(_open_read_only(path, scripts))
    lock, alone = sqlite_file.prepare(path, scripts)
    url = URL.create("sqlite", database=str(path))
    # A transaction that turns from reading to writing fails instead of waiting; so writers lock at the start.
    # They have a connection of their own: its page cache stays valid until another process writes.
    writing = _sqlite_engine(url, begin="BEGIN IMMEDIATE", pool_size=1, max_overflow=0)
    database = Database(_sqlite_engine(url, max_overflow=-1), writing, holds=True, on_close=lock.close)
    return Store(database, alone=alone)


def _open_read_only(path: Path, scripts: MigrationScripts) -> Database:
    """Open a file that may only be read: all that reads works, and whatever would write says so."""
    lock = sqlite_file.prepare_read_only(path, scripts)
    address, _, options = sqlite_file.read_only_uri(path).partition("?")
    query = {"uri": "true", **dict(option.split("=") for option in options.split("&"))}
    engine = _sqlite_engine(URL.create("sqlite", database=address, query=query), pragmas=(), max_overflow=-1)
    return Database(engine, engine, read_only=str(path), on_close=lock.close if lock else lambda: None)


def _open_server(url: URL, scripts: MigrationScripts) -> Database:
    engine = _connect_server(url, scripts)
    reading = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return Database(reading, engine)


def _connect_server(url: URL, scripts: MigrationScripts) -> Engine:
    """Return an engine for a PostgreSQL database that is reachable and current."""
    shown = url.render_as_string(hide_password=True)
    try:
        engine = create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise StoreError(
            lazy("PostgreSQL needs the package psycopg."),
            hint=lazy("Install it: pip install 'holdfast[postgres]'."),
        ) from error
    try:
        with engine.connect() as connection:
            current = is_current(_version_of(connection), scripts, shown)
        if not current:
            _migrate(engine, scripts, shown)
    except DBAPIError as error:
        engine.dispose()
        raise StoreError(
            lazy("Cannot use {shown}: {orig}.", shown=shown, orig=error.orig),
            hint=lazy("See that the server runs and lets this user in."),
        ) from error
    except StoreError:
        engine.dispose()
        raise
    return engine


def _migrate(engine: Engine, scripts: MigrationScripts, shown: str) -> None:
    # DDL is transactional in PostgreSQL, and other processes wait for the lock.
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            if not is_current(_version_of(connection), scripts, shown):
                upgrade(connection, scripts)
    except MigrationFailed as error:
        error.hint = f"{shown} is as it was: the Holdfast that made it can still use it."
        raise


def _version_of(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return version


def _sqlite_engine(
    url: URL, *, begin: str = "BEGIN", pragmas: Sequence[str] = _PRAGMAS, **options: object
) -> Engine:
    # With no isolation level sqlite3 leaves BEGIN to us; `check_same_thread` off since the pool hands
    # connections from thread to thread, one at a time.
    arguments = {"isolation_level": None, "check_same_thread": False, "timeout": _BUSY_TIMEOUT}
    engine = create_engine(url, connect_args=arguments, **options)

    @event.listens_for(engine, "connect")
    def set_up(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(pragma)
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        cursor = connection.connection.cursor()
        try:
            cursor.execute(begin)
        except sqlite3.Error as error:
            raise DBAPIError.instance(begin, None, error, sqlite3.Error) from error
        finally:
            cursor.close()

    return engine


def _location_error(location: str) -> StoreError:
    return StoreError(
        lazy("'{location}' is no place for a database.", location=location),
        hint=lazy("Use sqlite:///PATH for a file or postgresql://USER:PASSWORD@HOST/NAME for a server."),
    )
