"""A SQLite file: locking it, creating it, and replacing it by a migrated version.

Everyone who has the file open shares a lock on `PATH.lock`; creating or migrating it takes that lock
exclusively. The new version is built beside the old one and swapped in: a crash at any moment leaves one
whole database.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, NullPool, create_engine

from holdfast.errors import Conflict, MigrationFailed, StoreError
from holdfast.i18n import lazy
from holdfast.store.migrate import SHIPPED, MigrationScripts, is_current, upgrade

# Seconds to wait for a process that creates or migrates the file, and for those that use it.
_OTHERS_MIGRATE = 60.0
_OTHERS_LOOK = 2.0
_PAUSE = 0.02
# The largest file that is looked through at the start, in bytes: it takes seconds.
_MAX_CHECKED = 2_000_000_000
# The folder beside the database for copies of it and for backups.
BACKUPS = "backups"

# How every SQLite file begins.
_HEAD = b"SQLite format 3\0"

_EMPTY_FILES: dict[MigrationScripts, bytes] = {}


class FileLock:
    """An advisory lock on a file of its own; the system releases it when the process ends."""

    def __init__(self, path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> None:
        self._file = os.open(path, flags | os.O_CLOEXEC, 0o600)

    def acquire_shared(self) -> bool:
        return self._take(fcntl.LOCK_SH)

    def acquire_exclusive(self) -> bool:
        return self._take(fcntl.LOCK_EX)

    def release(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._file)

    def _take(self, how: int) -> bool:
        try:
            fcntl.flock(self._file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def prepare(path: Path, scripts: MigrationScripts) -> tuple[FileLock, bool]:
    """Make sure a current database is at `path`.

    Return a lock, to be kept for as long as the database is used, and whether nobody else used it.
    """
    with _translate_errors(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as unless_ready:
            lock = FileLock(path.with_name(f"{path.name}.lock"))
            unless_ready.callback(lock.close)
            alone = lock.acquire_exclusive()
            if alone:
                _check_after_crash(path)
                lock.release()
            _lock_current(path, lock, scripts)
            unless_ready.pop_all()
        return lock, alone


def is_read_only(path: Path) -> bool:
    """Whether a database is there that may be read and not written, or whose folder may not."""
    return path.exists() and not all(
        os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
        for place in (path, path.parent)
    )


def read_only_uri(path: Path) -> str:
    """Return the address by which SQLite opens a database only to read it.

    Where nothing can be written, it needs the journal if there is one, which was left by a crash or belongs
    to somebody who has the database open. Where there is none, SQLite is told that nobody changes the file.
    """
    alone = is_read_only(path) and not path.with_name(f"{path.name}-wal").exists()
    return f"file:{quote(str(path.absolute()))}?mode=ro{'&immutable=1' if alone else ''}"


def prepare_read_only(path: Path, scripts: MigrationScripts) -> FileLock | None:
    """Make sure that a database can be read as it is; return a lock where there is a file for it."""
    with _translate_errors(path):
        if not is_current(version_of(path), scripts, str(path)):
            raise StoreError(
                lazy("{path} is of an older Holdfast, and cannot be written to.", path=path),
                hint=lazy("Copy the data folder to a place that can be written, and use it there (--home)."),
            )
        file = path.with_name(f"{path.name}.lock")
        if not os.access(file, os.R_OK):
            return None
        lock = FileLock(file, os.O_RDONLY)
        if not lock.acquire_shared():
            lock.close()
            raise StoreError(
                lazy("{path} is being migrated by another process.", path=path),
                hint=lazy("Wait for it to end."),
            )
        return lock


def _check_after_crash(path: Path) -> None:
    """Look through a database that was not closed: whoever closes it last takes its journal away."""
    journal = path.with_name(f"{path.name}-wal")
    left = path.exists() and journal.exists() and journal.stat().st_size > 0
    if left and path.stat().st_size <= _MAX_CHECKED:
        check_intact(path)


def check_intact(path: Path) -> None:
    """Raise `StoreError` if the structure of a database is damaged."""
    if problems := list_damage(path):
        raise _damaged_error(path, problems[0])


def _damaged_error(path: Path, problem: str) -> StoreError:
    return StoreError(
        lazy("The database {path} is damaged: {problem}.", path=path, problem=problem),
        hint=describe_way_back(path, salvage=True),
    )


def list_damage(path: Path) -> list[str]:
    """Return what is wrong with the structure of a database, the first few things."""
    try:
        with closing(open_for_reading(path)) as connection:
            verdict = [str(line) for (line,) in connection.execute("PRAGMA quick_check(5)")]
    except sqlite3.OperationalError:
        # It cannot be opened or is busy, which says nothing about it.
        return []
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return [describe_problem(error)]
    return [] if verdict == ["ok"] else [line.replace("\n", " ") for line in verdict]


def describe_problem(error: Exception) -> str:
    """Return what SQLite says of a damaged database; it may quote a name that is no text any more."""
    return "the list of tables is damaged" if isinstance(error, UnicodeDecodeError) else str(error)


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a database only to look at it, also where nothing can be written."""
    if is_read_only(path):
        return sqlite3.connect(read_only_uri(path), uri=True, timeout=_OTHERS_LOOK)
    return sqlite3.connect(path, timeout=_OTHERS_LOOK)


def describe_way_back(path: Path, *, salvage: bool) -> str:
    """Return what can be done about a database that is lost or damaged."""
    folder = path.parent / BACKUPS
    backups = sorted(folder.glob("*.zip"), key=lambda file: file.stat().st_mtime) if folder.is_dir() else []
    if backups and salvage:
        return lazy(
            "`holdfast backup salvage` saves what can be read of it. The newest backup is {backup}:"
            " `holdfast backup restore {backup} --overwrite`.",
            backup=backups[-1],
        )
    if backups:
        return lazy(
            "The newest backup is {backup}: `holdfast backup restore {backup} --overwrite`.",
            backup=backups[-1],
        )
    if salvage:
        return lazy(
            "`holdfast backup salvage` saves what can be read of it. If you have a backup:"
            " `holdfast backup restore FILE --overwrite`."
        )
    return lazy("If you have a backup: `holdfast backup restore FILE --overwrite`.")


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Keep everybody else from a database file."""
    with _translate_errors(path):
        file = FileLock(path.with_name(f"{path.name}.lock"))
    with closing(file) as lock:
        if not lock.acquire_exclusive():
            raise Conflict(
                lazy("A Holdfast is running on {database}.", database=path),
                hint=lazy("Stop the server, chats and MCP first."),
            )
        yield


def _lock_current(path: Path, lock: FileLock, scripts: MigrationScripts) -> None:
    """Wait until the lock is shared and the database is current."""
    began = time.monotonic()
    while True:
        if not lock.acquire_shared():
            if time.monotonic() - began > _OTHERS_MIGRATE:
                raise StoreError(
                    lazy("{path} is being migrated by another process.", path=path),
                    hint=lazy("Wait for it to end."),
                )
        elif is_current(version_of(path), scripts, str(path)):
            return
        else:
            # Never wait for the exclusive lock while sharing it: two processes would deadlock.
            lock.release()
            if lock.acquire_exclusive():
                _upgrade_file(path, scripts)
                # The next round shares the lock, and checks again.
                lock.release()
                continue
            if time.monotonic() - began > _OTHERS_LOOK:
                raise MigrationFailed(
                    lazy("{path} must be migrated, and other processes are using it.", path=path),
                    hint=lazy(
                        "Stop every other Holdfast (server, chat, MCP) and try again; nothing was changed."
                    ),
                )
        time.sleep(_PAUSE)


def _upgrade_file(path: Path, scripts: MigrationScripts) -> None:
    # Another process may have done it before we got the lock.
    version = version_of(path)
    if is_current(version, scripts, str(path)):
        return
    with _new_version(path) as piece:
        if version is None:
            _new_file(piece)
            _create_tables(piece, scripts)
        else:
            _checkpoint(path)
            _copy(path, piece)
            _migrate(piece, scripts)
            _copy(path, _backup_path(path, version))
        # An old journal would be applied to the new file; `_checkpoint` has emptied it.
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        piece.replace(path)
    sync_folder(path.parent)


def version_of(path: Path) -> str | None:
    """Return the schema version of the file, None if it is empty."""
    if not path.exists() or path.stat().st_size == 0:
        return None
    try:
        with closing(open_for_reading(path)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if not tables:
                return None
            if "alembic_version" in tables:
                for (version,) in connection.execute("SELECT version_num FROM alembic_version"):
                    return str(version)
    except sqlite3.OperationalError as error:
        raise StoreError(
            lazy("Cannot open {path}: {why}.", path=path, why=str(error)),
            hint=lazy("See that you may read and write it and its folder."),
        ) from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if _begins_as_database(path):
            raise _damaged_error(path, describe_problem(error)) from error
        raise StoreError(
            lazy("{path} is no database: {why}.", path=path, why=str(error)),
            hint=lazy("Move it away or choose another place; it was not touched."),
        ) from error
    raise StoreError(
        lazy("{path} is a database of another program.", path=path),
        hint=lazy("Choose another place for Holdfast's own."),
    )


def _begins_as_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_HEAD)) == _HEAD


def _create_tables(piece: Path, scripts: MigrationScripts) -> None:
    """Create the tables, or copy the empty database that was created before: they are all the same."""
    if (filled := _EMPTY_FILES.get(scripts)) is not None:
        with piece.open("wb") as file:
            file.write(filled)
            file.flush()
            os.fsync(file.fileno())
        return
    _migrate(piece, scripts)
    if scripts == SHIPPED:
        _EMPTY_FILES[scripts] = piece.read_bytes()


def _migrate(piece: Path, scripts: MigrationScripts) -> None:
    url = URL.create("sqlite", database=str(piece))
    # Without an isolation level sqlite3 begins nothing by itself, so all of it can be one transaction.
    engine = create_engine(url, poolclass=NullPool, connect_args={"isolation_level": None})
    with engine.begin() as connection:
        connection.exec_driver_sql("BEGIN")
        upgrade(connection, scripts)
    with closing(sqlite3.connect(piece)) as connection:
        (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
        orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
        if verdict != "ok" or orphans:
            raise MigrationFailed(
                lazy(
                    "The migrated copy is not sound: {verdict}, {number} broken references.",
                    verdict=verdict,
                    number=len(orphans),
                )
            )
        # Set here, before anybody uses the file: switching it later can fail.
        connection.execute("PRAGMA journal_mode = WAL")


def _checkpoint(path: Path) -> None:
    """Move everything in the journal into the file itself."""
    with closing(sqlite3.connect(path, timeout=_OTHERS_LOOK)) as connection:
        (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise MigrationFailed(
            lazy("Another program is using {path}.", path=path), hint=lazy("Close it and start again.")
        )


def _copy(source: Path, target: Path) -> None:
    _new_file(target)
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


def _backup_path(path: Path, version: str) -> Path:
    folder = path.parent / BACKUPS
    folder.mkdir(mode=0o700, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    return folder / f"{path.stem}-{version}-{stamp}.db"


@contextmanager
def _new_version(path: Path) -> Iterator[Path]:
    """Yield a path beside the database for building the new one; removed afterwards in any case."""
    piece = path.with_name(f"{path.name}.new")
    leftovers = [piece.with_name(piece.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]
    try:
        for file in leftovers:
            file.unlink(missing_ok=True)
        yield piece
    except MigrationFailed as error:
        error.hint = f"{path} is as it was: the Holdfast that made it can still use it. {error.hint}".rstrip()
        raise
    finally:
        for file in leftovers:
            file.unlink(missing_ok=True)


def _new_file(path: Path) -> None:
    # Conversations are private; SQLite gives its journals the mode of the file they belong to.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            lazy("Cannot use {path}: {why}.", path=path, why=str(error)),
            hint=lazy(
                "See that its folder can be written to and has room, or choose another place for the data."
            ),
        ) from error
