"""Makes a backup while everything runs: the store as of one moment, then the notes, settings and prompts.

The store comes first. What the outbox still owes then is in it, and projecting it again after a restore
changes nothing; the other way round, a memory that was written between the two would be in neither. Models,
caches and logs are left where they are. Knows nothing of restoring.
"""

import os
import sqlite3
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

from holdfast import __version__
from holdfast.errors import NotFound, StoreError
from holdfast.language import say
from holdfast.memory.workspace.base import Away, Workspace
from holdfast.store import open_store
from holdfast.store.sqlite_file import version_of
from holdfast.transfer.archive import LOCK, STORE, Manifest, Writer, check, counts_in, new_zip
from holdfast.transfer.copying import copied
from holdfast.transfer.pieces import put_in_place, workplace
from holdfast.transfer.places import KEPT, WORKSPACE, Places
from holdfast.transfer.telling import Tell, untold

_PIECE = ".new"


def default_name(now: float | None = None) -> str:
    return time.strftime("holdfast-%Y-%m-%d-%H%M%S.zip", time.localtime(now))


def create(places: Places, file: Path, tell: Tell = untold, notes: Workspace | None = None) -> Manifest:
    """Write a backup, and see that it is whole before it gets its name.

    `notes` are those that lie elsewhere, and not in the data folder.
    """
    try:
        with workplace(file) as folder:
            piece = folder / file.name
            with new_zip(piece) as archive:
                # Beside the archive, where there has to be room for it anyway.
                manifest = _filled(archive, places, folder / f".{STORE}", tell, notes)
            check(piece, tell=tell)
            put_in_place(piece, file)
    except sqlite3.Error as error:
        raise StoreError(
            say(f"The database cannot be copied: {error}.", f"Datenbank nicht kopierbar: {error}."),
            hint=say("See that the disk has room.", "Sehen, dass Platz ist."),
        ) from error
    return manifest


def _filled(
    archive: zipfile.ZipFile, places: Places, copy: Path, tell: Tell, notes: Workspace | None
) -> Manifest:
    writer, left_out = Writer(archive), list[str]()
    _copy_store(places, copy, tell)
    with closing(sqlite3.connect(copy)) as connection:
        counts = counts_in(connection)
    schema = version_of(copy)
    with copy.open("rb") as database:
        writer.add(STORE, database)
    copy.unlink()
    here = KEPT if notes is None else [name for name in KEPT if name != WORKSPACE]
    if notes is not None:
        _add_notes(writer, notes, left_out, tell)
    files = [pair for name in here for pair in _files(places.home / name, name, left_out)]
    for number, (name, path) in enumerate(files, 1):
        tell(say("notes", "Notizen"), number, len(files))
        try:
            opened = path.open("rb")
        except FileNotFoundError:
            # Somebody took it away just now.
            continue
        except OSError as error:
            left_out.append(f"{name}: {error.strerror}")
            continue
        with opened:
            writer.add(name, opened)
    manifest = Manifest(
        version=__version__,
        schema=schema or "",
        created_at=round(time.time(), 3),
        counts=counts,
        members=writer.members,
        left_out=tuple(left_out),
    )
    writer.close(manifest)
    return manifest


def _add_notes(writer: Writer, notes: Workspace, left_out: list[str], tell: Tell) -> None:
    entries = notes.entries()
    for number, entry in enumerate(entries, 1):
        tell(say("notes", "Notizen"), number, len(entries))
        trouble = entry.trouble
        try:
            text = "" if trouble else notes.read(entry.path).text
        except NotFound:
            # Somebody took it away just now.
            continue
        except Away:
            # Nothing can be read there: a backup without notes would be taken for one with them.
            raise
        except StoreError as error:
            trouble = str(error)
        if trouble:
            left_out.append(f"{entry.path}: {trouble}")
        else:
            writer.add(f"{WORKSPACE}/{entry.path}", BytesIO(text.encode("utf-8", "surrogateescape")))


def _copy_store(places: Places, copy: Path, tell: Tell) -> None:
    """The whole database as one file, as of one moment."""
    database = places.database
    # Opened as ever: it is made or brought up to date where it is not, and nobody migrates it meanwhile.
    with open_store(places.store) as store:
        if database is None:
            with open_store(f"sqlite:///{copy}") as target:
                copied(store, target, tell=tell)
        else:
            tell(say("database", "Datenbank"), 0, 1)
            os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with closing(sqlite3.connect(database)) as old, closing(sqlite3.connect(copy)) as new:
                # All pages in one step: a writer cannot come in between, and does not have to wait.
                old.backup(new)
    with closing(sqlite3.connect(copy)) as connection:
        # One file, with no journal beside it.
        connection.execute("PRAGMA journal_mode = DELETE")


def _files(place: Path, name: str, left_out: list[str]) -> Iterator[tuple[str, Path]]:
    """Every file below a place, under the name it gets; links are told of and left alone."""
    if place.is_symlink():
        left_out.append(f"{name}: {say('a link', 'eine Verknüpfung')}")
    elif place.is_dir():
        for child in sorted(place.iterdir()):
            unfinished = child.name.startswith(".") and child.name.endswith(_PIECE)
            if child.name != LOCK and not unfinished:
                yield from _files(child, f"{name}/{child.name}", left_out)
    elif place.is_file():
        try:
            name.encode()
        except UnicodeEncodeError:
            shown = name.encode(errors="replace").decode()
            left_out.append(f"{shown}: {say('its name is no text', 'der Name ist kein Text')}")
            return
        yield name, place
