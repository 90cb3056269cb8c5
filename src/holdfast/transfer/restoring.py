"""Puts a backup in the place of what is there, so that a crash at any moment leaves the old or the new.

All of it is unpacked and checked beside its place first, and a plan is written down. Then a database comes
into place that every Holdfast refuses to open, and says why; from there on it can only go forward. After a
crash `finish` does the rest, or drops a plan that was not begun. Knows nothing of how backups are made.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

from holdfast.errors import Conflict, StoreError
from holdfast.language import say
from holdfast.store import open_store
from holdfast.store.sqlite_file import FileLock, sync_folder, version_of
from holdfast.transfer.archive import STORE, Manifest, check, counts_in, refuse_newer
from holdfast.transfer.copying import copied, counted
from holdfast.transfer.pieces import linked, take_away
from holdfast.transfer.places import KEPT, REPLACED, RESTORED, STAGE, Places
from holdfast.transfer.telling import Tell, untold

PLAN = ".restore.json"
# Later than any version: whoever meets it refuses the file, and shows these words.
_UNFINISHED = "unfinished (run `holdfast backup finish`)"
_JOURNALS = ("-wal", "-shm", "-journal")
# Stands in a plan for a database on a server, which is no file to be moved.
_ON_SERVER = ".server"
# What comes by itself once a Holdfast runs, and can be had again.
_NOBODYS = frozenset({"models", "embeddings"})


class Ending(StrEnum):
    """What became of a restore that broke off: there was none, it had not begun, or it is complete now."""

    NONE = "none"
    DROPPED = "dropped"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Move:
    """Something that gives way to what is staged beside it; to nothing, where the backup has none."""

    target: Path
    comes: bool = True

    @property
    def staged(self) -> Path:
        return self.target.with_name(f".{self.target.name}{RESTORED}")

    @property
    def aside(self) -> Path:
        return self.target.with_name(f".{self.target.name}{REPLACED}")


def restore(places: Places, file: Path, *, overwrite: bool = False, tell: Tell = untold) -> Manifest:
    """Put a backup in place. Where there is something already that has to be asked for."""
    if is_pending(places):
        raise Conflict(
            say(
                f"A restore to {places.home} broke off.",
                f"In {places.home} ist ein Zurückspielen abgebrochen.",
            ),
            hint=say("First run `holdfast backup finish`.", "Zuerst `holdfast backup finish` ausführen."),
        )
    with _in_our_words(places), _alone(places.database):
        if not overwrite and _has_data(places):
            raise Conflict(
                say(f"There is something in {places.home} already.", f"In {places.home} ist schon etwas."),
                hint=say(
                    "Add --overwrite to let the backup take its place, or name another --home.",
                    "Mit --overwrite tritt die Sicherung an seine Stelle; oder ein anderes --home nennen.",
                ),
            )
        stage = places.home / STAGE
        take_away(stage)
        stage.mkdir(mode=0o700, parents=True)
        try:
            manifest = check(file, stage, tell)
            refuse_newer(manifest)
            _bring_up_to_date(stage / STORE)
            moves = _staged(places, stage)
        finally:
            take_away(stage)
        _plan(places, moves)
        _carry_out(places, moves, tell)
    return manifest


def is_pending(places: Places) -> bool:
    """Whether a restore broke off after it was planned."""
    return (places.home / PLAN).exists()


def finish(places: Places, tell: Tell = untold) -> Ending:
    """Carry out what is left of a restore that broke off.

    One that was not begun is dropped: nothing kept anybody from going on with what was there.
    """
    plan = places.home / PLAN
    if not is_pending(places):
        return Ending.NONE
    try:
        written = json.loads(plan.read_text(encoding="utf-8"))
        moves = [Move(Path(target), comes) for target, comes in written]
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(
            say(f"{plan} cannot be read: {error}.", f"{plan} ist nicht lesbar: {error}.")
        ) from error
    # The settings may have come into place already, and name another database than the plan does.
    database = moves[-1]
    on_server = _is_on_server(database)
    with _in_our_words(places), _alone(None if on_server else database.target):
        if database.staged.exists() and not on_server and not _is_barred(database.target):
            _clear(places, moves)
            return Ending.DROPPED
        _carry_out(places, moves, tell)
    return Ending.FINISHED


def _has_data(places: Places) -> bool:
    """Whether a restore would take anything away. A lock or an empty database is nothing."""
    if any(_is_filled(places.home / name) for name in KEPT):
        return True
    if places.database is not None:
        return version_of(places.database) is not None and _is_used(_rows_in(places.database))
    with open_store(places.store) as store:
        return _is_used(counted(store))


def _is_filled(place: Path) -> bool:
    return any(not one.name.startswith(".") for one in place.iterdir()) if place.is_dir() else place.exists()


def _rows_in(database: Path) -> dict[str, int]:
    with closing(sqlite3.connect(f"file:{quote(str(database))}?mode=ro", uri=True)) as connection:
        return counts_in(connection)


def _is_used(counts: Mapping[str, int]) -> bool:
    """Whether there is anything of anybody in a database, and not only what starting once leaves there."""
    return any(number for name, number in counts.items() if name not in _NOBODYS)


@contextmanager
def _in_our_words(places: Places) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or str(error)
        raise StoreError(
            say(f"Restoring to {places.home} failed: {why}.", f"{places.home}: {why}."),
            hint=say(
                "See that it can be written to and has room, and begin again.",
                "Sehen, dass dort geschrieben werden kann und Platz ist, und von vorn beginnen.",
            ),
        ) from error


@contextmanager
def _alone(database: Path | None) -> Iterator[None]:
    """While nobody else has the database open. On a server that cannot be known."""
    if database is None:
        yield
        return
    database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(FileLock(database.with_name(f"{database.name}.lock"))) as lock:
        if not lock.exclusive():
            raise Conflict(
                say(f"A Holdfast is running on {database}.", f"Auf {database} läuft ein Holdfast."),
                hint=say("Stop the server, chats and MCP first.", "Zuerst Server, Chats und MCP beenden."),
            )
        yield


def _staged(places: Places, stage: Path) -> list[Move]:
    """Each part beside the place it is meant for, on the same disk, so that moving it is one step."""
    database = places.database or places.home / _ON_SERVER
    parts = {stage / name: places.home / name for name in KEPT} | {stage / STORE: database}
    moves = [Move(target, source.exists()) for source, target in parts.items()]
    for source, move in zip(parts, moves, strict=True):
        take_away(move.staged)
        take_away(move.aside)
        if move.comes:
            shutil.move(source, move.staged)
            _sync(move.staged)
    return moves


def _bring_up_to_date(database: Path) -> None:
    """An older database becomes one of today, in one file without a journal beside it."""
    open_store(f"sqlite:///{database}").close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA journal_mode = WAL")


def _plan(places: Places, moves: list[Move]) -> None:
    plan = places.home / PLAN
    piece = plan.with_suffix(".new")
    with piece.open("w", encoding="utf-8") as opened:
        json.dump([(str(move.target), move.comes) for move in moves], opened)
        opened.flush()
        os.fsync(opened.fileno())
    piece.replace(plan)
    sync_folder(places.home)


def _carry_out(places: Places, moves: list[Move], tell: Tell) -> None:
    """Every step can be done again: what is staged no longer was moved already."""
    *others, database = moves
    what, steps = say("putting in place", "einsetzen"), len(moves)
    tell(what, 0, steps)
    on_server, waits = _is_on_server(database), database.staged.exists()
    if waits and on_server:
        # One transaction there; should we be killed before the next line, it is done once more.
        with open_store(f"sqlite:///{database.staged}") as source, open_store(places.store) as target:
            copied(source, target, replace=True, tell=tell)
        take_away(database.staged)
    elif waits:
        _bar(database)
    if waits or on_server:
        for number, move in enumerate(others, 1):
            _swap(move)
            tell(what, number, steps)
        if not on_server:
            for journal in _JOURNALS:
                Path(f"{database.target}{journal}").unlink(missing_ok=True)
            database.staged.replace(database.target)
            sync_folder(database.target.parent)
        tell(what, steps, steps)
    _clear(places, moves)


def _clear(places: Places, moves: list[Move]) -> None:
    """Take away what was staged and what gave way; the plan goes last, so that this is begun again, too."""
    for move in moves:
        take_away(move.aside)
        take_away(move.staged)
    database = moves[-1]
    for journal in _JOURNALS:
        Path(f"{database.staged}{journal}").unlink(missing_ok=True)
        Path(f"{database.staged}.lock").unlink(missing_ok=True)
    (places.home / PLAN).unlink()
    sync_folder(places.home)


def _is_on_server(database: Move) -> bool:
    return database.target.name == _ON_SERVER


def _bar(database: Move) -> None:
    """Put a database in place that nobody opens; the old one is kept beside it until the end."""
    target = database.target
    if _is_barred(target):
        return
    barrier = target.with_name(f".{target.name}.barrier")
    barrier.unlink(missing_ok=True)
    with closing(sqlite3.connect(barrier)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT NOT NULL)")
        connection.execute("INSERT INTO alembic_version VALUES (?)", (_UNFINISHED,))
        connection.commit()
    if target.exists():
        _settle(target)
        if not database.aside.exists() and not linked(target, database.aside):
            shutil.copyfile(target, database.aside)
    for journal in _JOURNALS:
        Path(f"{target}{journal}").unlink(missing_ok=True)
    barrier.replace(target)
    sync_folder(target.parent)


def _is_barred(database: Path) -> bool:
    try:
        return version_of(database) == _UNFINISHED
    except StoreError:
        # A file that is damaged is why somebody restores.
        return False


def _settle(database: Path) -> None:
    """Empty its journal into it: an old one must not be taken for that of another file."""
    with closing(sqlite3.connect(database)) as connection:
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            # There is no database in the file any more.
            return


def _swap(move: Move) -> None:
    waits = move.staged.exists()
    # What came already is staged no longer, and stays.
    if move.target.exists() and (waits or not move.comes):
        move.target.replace(move.aside)
    if waits:
        move.staged.replace(move.target)
    sync_folder(move.target.parent)


def _sync(path: Path) -> None:
    """See that names are on the disk; what is in the files was written so."""
    for folder in (path, *(one for one in path.rglob("*") if one.is_dir())) if path.is_dir() else ():
        # For their owner alone, as they are made.
        folder.chmod(0o700)
        sync_folder(folder)
    sync_folder(path.parent)
