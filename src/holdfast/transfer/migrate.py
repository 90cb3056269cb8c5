"""Copies everything into another database and other notes, and leaves the source unchanged.

The database comes over in one transaction, the notes file by file. Until all of it is there the target has a
mark, by which a move that broke off is known and done again. Knows no settings.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sqlalchemy import Column, Connection, Table, delete, func, insert, select

from holdfast.errors import Conflict, HoldfastError, StoreError
from holdfast.i18n import gettext as _
from holdfast.memory.workspace import ABSENT, NoteEntry, Workspace
from holdfast.store import Store
from holdfast.store.schema import branches, leases, messages, metadata
from holdfast.store.sqlite_file import FileLock
from holdfast.transfer.staging import ProgressCallback, ignore_progress

# In the order in which one refers to the other.
TABLES: tuple[Table, ...] = tuple(table for table in metadata.sorted_tables if table is not leases)
# Rows that refer to others of their own table come after those.
_ORDER: dict[Table, Column[int]] = {branches: branches.c.fork_depth, messages: messages.c.depth}
_PORTION = 500


def count_rows(store: Store) -> dict[str, int]:
    """Row counts by table, as of one moment."""
    return store.database.read(_counts)


def is_empty(store: Store) -> bool:
    return not any(count_rows(store).values())


def copy_rows(
    source: Store, target: Store, *, replace: bool = False, tell: ProgressCallback = ignore_progress
) -> dict[str, int]:
    """Copies all rows; returns the row counts by table. A target that has some is refused, unless
    `replace` lets them go.
    """
    if not replace and not is_empty(target):
        raise Conflict(
            _("There is something in the database already."),
            hint=_("Copy into an empty one."),
        )

    def work(reading: Connection, writing: Connection) -> dict[str, int]:
        if replace:
            for table in reversed(TABLES):
                writing.execute(delete(table))
        return {table.name: _copy(table, reading, writing, tell) for table in TABLES}

    return source.database.read(lambda reading: target.database.write(lambda writing: work(reading, writing)))


def _copy(table: Table, reading: Connection, writing: Connection, tell: ProgressCallback) -> int:
    total = reading.scalar(select(func.count()).select_from(table)) or 0
    query = select(table).execution_options(yield_per=_PORTION)
    if table in _ORDER:
        query = query.order_by(_ORDER[table])
    done, step = 0, _("database, {name}").format(name=table.name)
    tell(step, done, total)
    for rows in reading.execute(query).mappings().partitions():
        writing.execute(insert(table), [dict(row) for row in rows])
        done += len(rows)
        tell(step, done, total)
    return done


def _counts(connection: Connection) -> dict[str, int]:
    return {table.name: connection.scalar(select(func.count()).select_from(table)) or 0 for table in TABLES}


# A setting of the target as long as it is unfinished.
MARK = "moving"


@dataclass(frozen=True, slots=True)
class Migration:
    """Source and targets; None for what stays. `origin` and `notes_to` are names for the mark."""

    source: Store
    notes: Workspace
    target: Store | None = None
    target_notes: Workspace | None = None
    origin: str = ""
    notes_to: str = ""

    @property
    def mark(self) -> dict[str, str]:
        return {"from": self.origin, "notes": self.notes_to}


@dataclass(frozen=True, slots=True)
class NotesResult:
    """The number of notes before and after, and those that could not be copied, with the reason."""

    before: int = 0
    after: int = 0
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MigrationResult:
    """Row counts before and after, empty if the database stayed; `notes` is None if the notes did."""

    before: Mapping[str, int]
    after: Mapping[str, int]
    notes: NotesResult | None = None


def refuse_while_used(database: Path | None) -> None:
    """Refuses a database file that is in use. On a server, changes are only noticed at the end."""
    if database is None or not database.exists():
        return
    with closing(FileLock(database.with_name(f"{database.name}.lock"))) as lock:
        if not lock.acquire_exclusive():
            raise Conflict(
                _("A Holdfast is running on {database}.").format(database=database),
                hint=_("Stop the server, chats and MCP first."),
            )


def migrate(move: Migration, tell: ProgressCallback = ignore_progress) -> MigrationResult:
    """Migrates the store, then the notes; pending outbox entries are copied and projected later."""
    again = move.target is not None and _is_resumed(move, move.target)
    before = _migrate_store(move, move.target, again, tell) if move.target is not None else {}
    notes = None
    if move.target_notes is not None:
        notes = _migrate_notes(move.notes, move.target_notes, again, tell)
    if move.target is None:
        return MigrationResult({}, {}, notes)
    if count_rows(move.source) != before:
        raise _changed_meanwhile_error(_("something was said"), _("Stop all servers."))
    move.target.settings.forget(MARK)
    after = count_rows(move.target)
    if after != before:
        raise StoreError(
            _("The copy is not what was copied: {differences}.").format(
                differences=", ".join(
                    f"{name} {n} → {after.get(name)}" for name, n in before.items() if after.get(name) != n
                )
            ),
            hint=_("Is the target already in use?"),
        )
    return MigrationResult(before, after, notes)


def _is_resumed(move: Migration, target: Store) -> bool:
    """Whether an earlier attempt of the same migration was interrupted; refuses a target with other data."""
    if move.source.settings.get(MARK) is not None:
        raise Conflict(
            _("The database to be moved is itself an unfinished copy."),
            hint=_("Finish that move first."),
        )
    left = target.settings.get(MARK)
    if left == move.mark:
        return True
    if left is not None:
        raise Conflict(
            _("Another move to this database broke off."),
            hint=_("Repeat it (from {source}), or choose an empty database.").format(source=left["from"]),
        )
    if not is_empty(target):
        raise Conflict(
            _("There is something in the target database already."),
            hint=_("Choose an empty one. If it was moved there before, change `store` only."),
        )
    return False


def _migrate_store(move: Migration, target: Store, again: bool, tell: ProgressCallback) -> dict[str, int]:
    def work() -> dict[str, int]:
        counts = copy_rows(move.source, target, replace=again, tell=tell)
        target.settings.set(MARK, move.mark)
        return counts

    return target.atomically(work)


def _migrate_notes(source: Workspace, target: Workspace, again: bool, tell: ProgressCallback) -> NotesResult:
    listed = source.entries()
    left_out = [f"{entry.path}: {entry.trouble}" for entry in listed if entry.trouble]
    wanted = [entry for entry in listed if not entry.trouble]
    existing = _check_target_notes(source, target, wanted, again=again)
    step = _("notes")
    tell(step, 0, len(wanted))
    for number, entry in enumerate(wanted, 1):
        try:
            text = source.read(entry.path).text
        except HoldfastError as error:
            left_out.append(f"{entry.path}: {error.message}")
        else:
            if entry.path not in existing or target.read(entry.path).text != text:
                target.write(entry.path, text, None if entry.path in existing else ABSENT)
        tell(step, number, len(wanted))
    if _tags(source.entries()) != _tags(listed):
        raise _changed_meanwhile_error(
            _("notes were written"),
            _("Stop all writing to it."),
        )
    return NotesResult(len(listed), len(target.entries()), tuple(left_out))


def _tags(entries: list[NoteEntry]) -> dict[PurePosixPath, str]:
    # Not the time of a change: some servers tell it finer in a list than with a note.
    return {entry.path: entry.tag for entry in entries}


def _check_target_notes(
    source: Workspace, target: Workspace, wanted: list[NoteEntry], *, again: bool
) -> set[object]:
    """The paths that exist in the target; refuses foreign notes before anything is written."""
    ours = {entry.path: entry for entry in wanted}
    existing = target.entries()
    foreign = [
        str(entry.path)
        for entry in existing
        if entry.path not in ours
        or (not again and source.read(entry.path).text != target.read(entry.path).text)
    ]
    if foreign:
        shown = ", ".join(foreign[:3]) + (", …" if len(foreign) > 3 else "")
        raise Conflict(
            _("There are other notes in the target: {shown}.").format(shown=shown),
            hint=_("Choose an empty place, or remove them."),
        )
    return {entry.path for entry in existing}


def _changed_meanwhile_error(change: str, remedy: str) -> Conflict:
    return Conflict(
        _("While it was moved, {change}.").format(change=change),
        hint=_("{remedy} Then move again: it goes on from here.").format(remedy=remedy),
    )
