"""Removes everything one user has, so that no row and no file knows of them any more.

Conversations go the way every conversation goes. Keys go first, so that nobody comes in meanwhile; killed on
the way it can be begun again. Files outside of the workspace are not ours, and stay. Asks nobody.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import Connection, delete, select

from holdfast.errors import StoreError
from holdfast.language import say
from holdfast.memory.remembering import Remembering
from holdfast.memory.scopes import elsewhere
from holdfast.memory.searching.sources import folder_of
from holdfast.store import Conversation, NotesOf, Store
from holdfast.store.schema import conversations, jobs, keys, outbox, passwords, prompts, sessions
from holdfast.store.tree import portions
from holdfast.transfer.people import OWNED, Person, files_of, home_of, person
from holdfast.transfer.pieces import take_away
from holdfast.transfer.places import Places
from holdfast.transfer.telling import Tell, untold

_AT_ONCE = 100
# Later than anything was ever said.
_EVER = float("inf")
_PATIENCE = 10.0


def remove(store: Store, remembering: Remembering, places: Places, name: str, tell: Tell = untold) -> Person:
    """Remove all of it; what there was."""
    found = person(store, remembering.workspace, name)
    store.database.write(lambda connection: _lock_out(connection, name))
    for number, row in enumerate(_conversations(store, name), 1):
        tell(say("conversations", "Gespräche"), number, max(number, found.conversations))
        store.log.delete(row.id)
        remembering.conversation_deleted(row.scope, row.id)
    tell(say("notes", "Notizen"), 0, found.notes)
    _notes(remembering, name)
    _take_away(*places.typed_by(name))
    tell(say("notes", "Notizen"), found.notes, found.notes)
    _unindex(store, remembering, name)
    store.database.write(lambda connection: _rows(connection, name))
    return found


def scrub(places: Places) -> str:
    """See that what was removed is not on the disk either; why it could not be done, if it could not.

    On a server it is the server's business, which takes the room back in its own time.
    """
    if places.database is None:
        return ""
    try:
        with closing(sqlite3.connect(places.database, timeout=_PATIENCE, isolation_level=None)) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if "text_index" in names:
                # Words that are gone stay in the older parts of an index until it is made anew.
                connection.execute("INSERT INTO text_index (text_index) VALUES ('rebuild')")
            connection.execute("VACUUM")
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return say("others are using the database", "andere benutzen sie") if busy else ""


def _lock_out(connection: Connection, name: str) -> None:
    for table in (keys, sessions, passwords):
        connection.execute(delete(table).where(table.c.user == name))


def _conversations(store: Store, name: str) -> Iterator[Conversation]:
    for scope in store.log.scopes(name):
        while rows := store.log.unused_since(_EVER, scope, _AT_ONCE):
            yield from rows


def _notes(remembering: Remembering, name: str) -> None:
    workspace = remembering.workspace
    home = home_of(workspace, name)
    for entry in files_of(workspace, name):
        if not entry.trouble:
            workspace.remove(entry.path)
    if workspace.folder is not None:
        # Folders, links, and what is hidden or has no usable name. A link somebody made is ours to take away;
        # where it leads is not.
        _take_away(workspace.folder / home)


def _take_away(*paths: Path) -> None:
    for path in paths:
        try:
            take_away(path)
        except OSError as error:
            why = error.strerror or str(error)
            raise StoreError(
                say(f"{path} cannot be removed: {why}.", f"{path} lässt sich nicht löschen: {why}."),
                hint=say(
                    "See that it can be written to, and delete once more.",
                    "Sehen, dass dort geschrieben werden darf, und noch einmal löschen.",
                ),
            ) from error


def _unindex(store: Store, remembering: Remembering, name: str) -> None:
    home = home_of(remembering.workspace, name)
    paths = (PurePosixPath(path) for path in store.passages.paths())
    folders = {folder for path in paths if home in path.parents and (folder := folder_of(path))}
    places = [NotesOf(folder) for folder in (*sorted(folders), elsewhere(name))]
    store.passages.remove([file for place in places for file in store.passages.files(place)])


def _rows(connection: Connection, name: str) -> None:
    sent = select(jobs.c.prompt).where(jobs.c.user == name, jobs.c.prompt.is_not(None)).distinct()
    digests = list(connection.scalars(sent))
    for table in OWNED:
        if table is not conversations:
            connection.execute(delete(table).where(table.c["user"] == name))
    for portion in portions(digests):
        still = select(jobs.c.prompt).where(jobs.c.prompt.in_(portion))
        connection.execute(
            delete(prompts).where(prompts.c.digest.in_(portion), prompts.c.digest.not_in(still))
        )
    promised = connection.execute(select(outbox.c.id, outbox.c.payload)).all()
    doomed = [row.id for row in promised if name in _users_in(row.payload)]
    for portion in portions(doomed):
        connection.execute(delete(outbox).where(outbox.c.id.in_(portion)))


def _users_in(payload: Any) -> set[str]:
    """Whose memories or summary a promise is about."""
    if not isinstance(payload, Mapping):
        return set()
    scoped = [payload, *payload.get("memories", ())]
    return {one["scope"]["user"] for one in scoped if isinstance(one, Mapping) and "scope" in one}
