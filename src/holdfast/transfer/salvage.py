"""A damaged database: what is wrong with it, and saving what can still be read of it.

`salvage` copies row by row into a new file, skips what cannot be read, mends what referred to it, and puts
the new file in place; the damaged one stays beside it.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holdfast.errors import BadRequest, StoreError
from holdfast.i18n import gettext as _
from holdfast.i18n import translate
from holdfast.memory.workspace import Workspace
from holdfast.messages import Message
from holdfast.store import open_store
from holdfast.store.database import JsonColumn
from holdfast.store.sqlite_file import (
    describe_problem,
    describe_way_back,
    exclusive_lock,
    list_damage,
    read_only_uri,
    sync_folder,
    version_of,
)
from holdfast.transfer.migrate import TABLES
from holdfast.transfer.staging import DataFolder, ProgressCallback, ignore_progress

# Rows that are read at once, as long as all of them can be.
_PORTION = 500
# No row of a table takes fewer bytes: how many there can be at most, where nobody knows.
_SMALLEST_ROW = 16
# The largest number that a row is looked for at.
_LAST_ROW = 2**60


@dataclass(frozen=True, slots=True)
class SalvageReport:
    """Rows saved by table, how many could not be read, and where the damaged file is now."""

    rows: dict[str, int]
    lost: dict[str, int]
    aside: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def find_damage(database: Path) -> list[str]:
    """Return what is wrong with a database: its structure, then every row as it would be read."""
    problems = list_damage(database)
    try:
        with closing(_open_readonly(database)) as connection:
            for name in _tables_in(connection):
                problems += _find_unreadable(connection, name)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        problems.append(describe_problem(error))
    return list(dict.fromkeys(problems))


def _find_unreadable(connection: sqlite3.Connection, name: str) -> list[str]:
    try:
        for _row in connection.execute(f'SELECT * FROM "{name}"'):  # noqa: S608
            pass
        for column in _json_columns(name):
            query = f'SELECT count(*) FROM "{name}" WHERE NOT json_valid("{column}")'  # noqa: S608
            (number,) = connection.execute(query).fetchone()
            if number:
                return [f"{name}: {number} × {column}"]
    except sqlite3.Error as error:
        return [f"{name}: {error}"]
    return []


def _json_columns(name: str) -> list[str]:
    if name == "messages":
        return ["body"]
    table = next(table for table in TABLES if table.name == name)
    return [column.name for column in table.columns if isinstance(column.type, JsonColumn)]


def describe_missing(places: DataFolder, notes: Workspace) -> str:
    """Return what to say where there is no database, or an empty one, although there are notes."""
    database = places.database
    if database is None or version_of(database) is not None or not notes.entries():
        return ""
    return (
        _("There is no database in {database}, although there are notes: it begins empty. {way}")
        .format(database=database, way=translate(describe_way_back(database, salvage=False)))
        .strip()
    )


def salvage(places: DataFolder, tell: ProgressCallback = ignore_progress) -> SalvageReport:
    """Save what can be read of a database into a new one that takes its place."""
    database = places.database
    if database is None:
        raise BadRequest(
            _("The database is on a server."), hint=_("Use what PostgreSQL has for that, or a backup.")
        )
    if not database.exists():
        raise StoreError(_("There is no {database}.").format(database=database))
    piece = database.with_name(f".{database.name}.salvaged")
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    aside = database.with_name(f"{database.name}.damaged-{stamp}")
    with exclusive_lock(database):
        _remove(piece)
        try:
            rows, lost = _copy_readable(database, piece, tell)
            for suffix in ("", "-wal"):
                source = Path(f"{database}{suffix}")
                if source.exists():
                    source.replace(f"{aside}{suffix}")
            Path(f"{database}-shm").unlink(missing_ok=True)
            piece.replace(database)
            sync_folder(database.parent)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise StoreError(
                _("Nothing can be read of {database}: {error}.").format(
                    database=database, error=describe_problem(error)
                ),
                hint=describe_way_back(database, salvage=False),
            ) from error
        finally:
            _remove(piece)
    return SalvageReport(rows, lost, str(aside))


def _copy_readable(
    database: Path, piece: Path, tell: ProgressCallback
) -> tuple[dict[str, int], dict[str, int]]:
    rows: dict[str, int] = {}
    lost: dict[str, int] = {}
    open_store(f"sqlite:///{piece}").close()
    with closing(_open_readonly(database)) as old, closing(sqlite3.connect(piece)) as new:
        # What is no text any more is kept as far as it is one.
        old.text_factory = lambda value: value.decode(errors="replace").replace("\0", "\ufffd")
        names = _tables_in(old)
        for number, name in enumerate(names):
            tell(name, number, len(names))
            saved = [0]
            for row in _read_rows(old, name, lost):
                if _mend_json(name, row):
                    saved[0] += _insert(new, name, row)
                else:
                    lost[name] += 1
            rows[name] = saved[0]
        _mend_references(new)
        new.commit()
        new.execute("PRAGMA journal_mode = DELETE")
        new.execute("PRAGMA journal_mode = WAL")
    return rows, {name: number for name, number in lost.items() if number}


def _read_rows(connection: sqlite3.Connection, name: str, lost: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Yield the rows in the order of their numbers, and count those that cannot be read.

    Around a damaged place fewer and fewer are read at once. Numbers may be damaged, too, and of any size.
    """
    lost[name] = 0
    query = f'SELECT rowid, * FROM "{name}" WHERE rowid >= ? ORDER BY rowid LIMIT ?'  # noqa: S608
    start, size = 1, _PORTION
    skipped: int | None = None
    while start <= _LAST_ROW:
        try:
            columns, portion = _read_portion(connection, query, start, size)
        except sqlite3.Error:
            if size > 1:
                size //= 2
                continue
            skipped = start
            start = _find_readable(connection, query, start)
            continue
        if skipped is not None:
            lost[name] += min(portion[0][0] - skipped, _count_most(connection)) if portion else 1
            skipped = None
        if not portion:
            return
        yield from (dict(zip(columns[1:], row[1:], strict=True)) for row in portion)
        start, size = portion[-1][0] + 1, min(_PORTION, size * 2)
    lost[name] += skipped is not None


def _read_portion(
    connection: sqlite3.Connection, query: str, start: int, size: int
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the columns and some rows; numbers that do not rise are damaged, too."""
    cursor = connection.execute(query, (start, size))
    rows, last = cursor.fetchall(), start - 1
    for row in rows:
        if row[0] <= last:
            raise sqlite3.DatabaseError("the rows are out of order")
        last = row[0]
    return [column[0] for column in cursor.description], rows


def _find_readable(connection: sqlite3.Connection, query: str, start: int) -> int:
    """Return the next number after a damaged place from which rows can be read: in leaps, then exactly."""

    def is_readable(number: int) -> bool:
        try:
            _read_portion(connection, query, number, 1)
        except sqlite3.Error:
            return False
        return True

    leap = 1
    while not is_readable(start + leap):
        if start + leap > _LAST_ROW:
            return _LAST_ROW + 1
        leap *= 2
    low, high = start + leap // 2, start + leap
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_readable(middle) else (middle, high)
    return high


def _count_most(connection: sqlite3.Connection) -> int:
    """Return how many rows the file could have at most."""
    (pages,), (size,) = (
        connection.execute(f"PRAGMA {ask}").fetchone() for ask in ("page_count", "page_size")
    )
    return int(pages * size // _SMALLEST_ROW)


def _mend_json(name: str, row: dict[str, Any]) -> bool:
    """Whether what should be JSON or a message is one; of a conversation, only its settings may be lost."""
    for column in _json_columns(name):
        try:
            if (name, column) == ("messages", "body"):
                Message.decode(row[column])
            else:
                json.loads(row[column])
        except (ValueError, KeyError, TypeError, AttributeError):
            if (name, column) != ("conversations", "settings"):
                return False
            row[column] = "{}"
    return True


def _insert(connection: sqlite3.Connection, name: str, row: dict[str, Any]) -> int:
    """Insert a row; one that no longer keeps the rules of its table counts as none."""
    columns, marks = ", ".join(f'"{column}"' for column in row), ", ".join("?" * len(row))
    query = f'INSERT OR IGNORE INTO "{name}" ({columns}) VALUES ({marks})'  # noqa: S608
    return connection.execute(query, list(row.values())).rowcount


def _mend_references(connection: sqlite3.Connection) -> None:
    """Mend what refers to lost rows: a conversation ends at what is left of it, the rest is let go."""
    connection.execute(
        "UPDATE conversations SET head = (SELECT id FROM messages WHERE messages.tree = conversations.tree"
        " ORDER BY depth DESC LIMIT 1) WHERE head IS NOT NULL AND head NOT IN (SELECT id FROM messages)"
    )
    while broken := connection.execute("PRAGMA foreign_key_check").fetchall():
        for table, rowid, _parent, number in broken:
            keys = connection.execute(f'PRAGMA foreign_key_list("{table}")').fetchall()
            column = next(key[3] for key in keys if key[0] == number)
            nullable = not next(
                info[3] or info[5]
                for info in connection.execute(f'PRAGMA table_info("{table}")')
                if info[1] == column
            )
            change = f'UPDATE "{table}" SET "{column}" = NULL' if nullable else f'DELETE FROM "{table}"'  # noqa: S608
            connection.execute(f"{change} WHERE rowid = ?", (rowid,))


def _tables_in(connection: sqlite3.Connection) -> list[str]:
    existing = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return [table.name for table in TABLES if table.name in existing]


def _open_readonly(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(read_only_uri(database), uri=True)
    connection.execute("PRAGMA cell_size_check = ON")
    # Of a file that was cut off, what is left can be read.
    connection.execute("PRAGMA writable_schema = ON")
    return connection


def _remove(piece: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal", ".lock"):
        Path(f"{piece}{suffix}").unlink(missing_ok=True)
