"""Puts a backup in the place of what is there, so that a crash at any moment leaves the old or the new.

All of it is unpacked and checked beside its place first. Then a plan is written down, and from there on it
can only go forward: `finish` carries out what a crash left of a plan. Meanwhile a database stands there that
every Holdfast refuses to open, and says why. Knows nothing of how backups are made.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import Conflict, StoreError
from holdfast.language import say
from holdfast.moving.archive import STORE, Manifest, check, refuse_newer
from holdfast.moving.copying import copied, is_empty
from holdfast.moving.places import KEPT, Places
from holdfast.moving.sources import Tell, untold
from holdfast.store import open_store
from holdfast.store.sqlite_file import FileLock, sync_folder, version_of

PLAN = ".restore.json"
_STAGE = ".restore"
_NEW, _OLD = ".restored", ".replaced"
# Later than any version: whoever meets it refuses the file, and shows these words.
_UNFINISHED = "unfinished (run `holdfast backup finish`)"
_JOURNALS = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Move:
    """Something that gives way to what is staged beside it; to nothing, where the backup has none."""

    target: Path
    comes: bool = True

    @property
    def staged(self) -> Path:
        return self.target.with_name(f".{self.target.name}{_NEW}")

    @property
    def aside(self) -> Path:
        return self.target.with_name(f".{self.target.name}{_OLD}")


def restore(places: Places, file: Path, *, overwrite: bool = False, tell: Tell = untold) -> Manifest:
    """Put a backup in place. Where there is something already that has to be asked for."""
    finish(places, tell)
    with _in_our_words(places), _alone(places):
        if not overwrite and _has_data(places):
            raise Conflict(
                say(f"There is something in {places.home} already.", f"In {places.home} ist schon etwas."),
                hint=say(
                    "Add --overwrite to let the backup take its place, or name another --home.",
                    "Mit --overwrite tritt die Sicherung an seine Stelle; oder ein anderes --home nennen.",
                ),
            )
        stage = places.home / _STAGE
        _remove(stage)
        stage.mkdir(mode=0o700, parents=True)
        try:
            tell("unpacked", 0, 1)
            manifest = check(file, stage)
            refuse_newer(manifest)
            _bring_up_to_date(stage / STORE)
            moves = _staged(places, stage)
        finally:
            _remove(stage)
        _plan(places, moves)
        tell("planned", 0, 1)
        _carry_out(places, moves, tell)
    return manifest


def finish(places: Places, tell: Tell = untold) -> bool:
    """Carry out what is left of a restore that broke off; whether there was anything."""
    plan = places.home / PLAN
    if not plan.exists():
        return False
    try:
        written = json.loads(plan.read_text(encoding="utf-8"))
        moves = [Move(Path(target), comes) for target, comes in written]
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(
            say(f"{plan} cannot be read: {error}.", f"{plan} ist nicht lesbar: {error}.")
        ) from error
    with _in_our_words(places), _alone(places):
        _carry_out(places, moves, tell)
    return True


def _has_data(places: Places) -> bool:
    """Whether a restore would take anything away. A lock or an empty database is nothing."""
    if any(_is_filled(places.home / name) for name in KEPT):
        return True
    if places.database is not None:
        return version_of(places.database) is not None and not _is_empty_file(places)
    with open_store(places.store) as store:
        return not is_empty(store)


def _is_filled(place: Path) -> bool:
    return any(not one.name.startswith(".") for one in place.iterdir()) if place.is_dir() else place.exists()


def _is_empty_file(places: Places) -> bool:
    """A database in which nobody has said anything yet, as starting once leaves it."""
    assert places.database is not None
    with closing(sqlite3.connect(f"file:{places.database}?mode=ro", uri=True)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        asked = [name for name in ("conversations", "keys", "settings", "jobs") if name in tables]
        return not any(
            connection.execute(f"SELECT EXISTS (SELECT 1 FROM {name})").fetchone()[0]  # noqa: S608
            for name in asked
        )


@contextmanager
def _in_our_words(places: Places) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            say(f"Restoring to {places.home} failed: {error}.", f"{places.home}: {error}."),
            hint=say(
                "See that it can be written to and has room, and begin again.",
                "Sehen, dass dort geschrieben werden kann und Platz ist, und von vorn beginnen.",
            ),
        ) from error


@contextmanager
def _alone(places: Places) -> Iterator[None]:
    """While nobody else has the database open. On a server that cannot be known."""
    database = places.database
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
    database = places.database or places.home / STORE
    parts = {stage / name: places.home / name for name in KEPT} | {stage / STORE: database}
    moves = [Move(target, source.exists()) for source, target in parts.items()]
    for source, move in zip(parts, moves, strict=True):
        _remove(move.staged)
        _remove(move.aside)
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
    on_server = places.database is None
    if database.staged.exists():
        if on_server:
            # One transaction there; should we be killed before the rest, it is done once more.
            with open_store(f"sqlite:///{database.staged}") as source, open_store(places.store) as target:
                copied(source, target, replace=True, tell=tell)
        else:
            _bar(database)
        tell("barred", 0, 1)
        for move in others:
            _swap(move)
            tell(move.target.name, 0, 1)
        if not on_server:
            for journal in _JOURNALS:
                Path(f"{database.target}{journal}").unlink(missing_ok=True)
            database.staged.replace(database.target)
            sync_folder(database.target.parent)
        tell("in place", 0, 1)
    for move in moves:
        _remove(move.aside)
        _remove(move.staged)
    for journal in _JOURNALS:
        Path(f"{database.staged}{journal}").unlink(missing_ok=True)
        Path(f"{database.staged}.lock").unlink(missing_ok=True)
    (places.home / PLAN).unlink()
    sync_folder(places.home)


def _bar(database: Move) -> None:
    """Put a database in place that nobody opens; the old one is kept beside it until the end."""
    target = database.target
    if target.exists() and version_of(target) == _UNFINISHED:
        return
    barrier = target.with_name(f".{target.name}.barrier")
    barrier.unlink(missing_ok=True)
    with closing(sqlite3.connect(barrier)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT NOT NULL)")
        connection.execute("INSERT INTO alembic_version VALUES (?)", (_UNFINISHED,))
        connection.commit()
    if target.exists():
        with closing(sqlite3.connect(target)) as connection:
            # An old journal must not be taken for that of another file.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if not database.aside.exists():
            os.link(target, database.aside)
    for journal in _JOURNALS:
        Path(f"{target}{journal}").unlink(missing_ok=True)
    barrier.replace(target)
    sync_folder(target.parent)


def _swap(move: Move) -> None:
    waits = move.staged.exists()
    # What came already is staged no longer, and stays.
    if move.target.exists() and (waits or not move.comes):
        move.target.replace(move.aside)
    if waits:
        move.staged.replace(move.target)
    sync_folder(move.target.parent)


def _remove(path: Path) -> None:
    with suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _sync(path: Path) -> None:
    """See that names are on the disk; what is in the files was written so."""
    for folder in (path, *(one for one in path.rglob("*") if one.is_dir())) if path.is_dir() else ():
        # For their owner alone, as they are made.
        folder.chmod(0o700)
        sync_folder(folder)
    sync_folder(path.parent)
