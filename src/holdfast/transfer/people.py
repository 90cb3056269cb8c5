"""Who there is, and how much each of them has: in the database by name, in the notes by folder.

Only looks. Knows neither exports nor deletion, which begin with it.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import Connection, Table, func, select

from holdfast.errors import HoldfastError, NotFound
from holdfast.language import say
from holdfast.memory.scopes import is_finding, safe_name
from holdfast.memory.workspace.base import Entry, Workspace
from holdfast.memory.workspace.items import memories_in
from holdfast.memory.workspace.notes import by_hand
from holdfast.messages import Scope
from holdfast.store import Store
from holdfast.store.schema import conversations, jobs, keys, messages, metadata

# Every table in which a row says whose it is.
OWNED: tuple[Table, ...] = tuple(table for table in metadata.sorted_tables if "user" in table.c)
_GROUPS = "groups"
# A folder's name that was made of another name.
_MADE = re.compile(r"\A[\w-]+~[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Person:
    """`notes` are files; `memories` are what is in them, history and archive included."""

    name: str
    conversations: int = 0
    messages: int = 0
    memories: int = 0
    findings: int = 0
    notes: int = 0
    keys: int = 0
    jobs: int = 0
    last_used: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def everybody(store: Store, workspace: Workspace) -> list[Person]:
    """All who have anything, by name."""
    named = names(store)
    # A folder that belongs to none of them was somebody's, too.
    folders = {entry.path.parts[0] for entry in workspace.entries() if len(entry.path.parts) > 1}
    strangers = folders - {safe_name(name) for name in named} - {_GROUPS}
    return [_person(store, workspace, name) for name in sorted(named | strangers)]


def person(store: Store, workspace: Workspace, name: str) -> Person:
    found = _person(store, workspace, name)
    # Whoever sits at the machine is always there, whatever they have.
    known = name == Scope().user or name in names(store) or bool(found.notes)
    if not known:
        raise NotFound(
            say(f"There is no user {name}.", f"Es gibt keinen Benutzer {name}."),
            hint=say("`holdfast users list` has their names.", "`holdfast users list` nennt sie."),
        )
    return found


def names(store: Store) -> set[str]:
    """All whom the database knows."""
    return store.database.read(_names)


def home_of(workspace: Workspace, name: str) -> PurePosixPath:
    """The folder of a user's notes; a folder whose name was made of another may be named itself."""
    itself = _MADE.fullmatch(name) and workspace.entries(name)
    return PurePosixPath(name if itself else safe_name(name))


def files_of(workspace: Workspace, name: str) -> list[Entry]:
    """Their notes. Where somebody put a link in the place of the folder, what it leads to is another's."""
    home = home_of(workspace, name)
    is_link = workspace.folder is not None and (workspace.folder / home).is_symlink()
    return [] if is_link else workspace.entries(home)


def _names(connection: Connection) -> set[str]:
    return {name for table in OWNED for name in connection.scalars(select(table.c["user"]).distinct())}


def _person(store: Store, workspace: Workspace, name: str) -> Person:
    files = [entry for entry in files_of(workspace, name) if not entry.trouble]

    def counts(connection: Connection) -> dict[str, Any]:
        trees = select(conversations.c.tree).where(conversations.c.user == name).distinct()
        said = select(func.count()).select_from(messages).where(messages.c.tree.in_(trees))
        used = select(func.max(conversations.c.updated_at)).where(conversations.c.user == name)
        rows = {
            table.name: connection.scalar(
                select(func.count()).select_from(table).where(table.c["user"] == name)
            )
            for table in (conversations, keys, jobs)
        }
        return {**rows, "messages": connection.scalar(said), "last_used": connection.scalar(used) or 0.0}

    return Person(
        name,
        **store.database.read(counts),
        memories=sum(1 for _ in _memories(workspace, files)),
        findings=sum(is_finding(entry.path) and entry.path.suffix == ".md" for entry in files),
        notes=len(files),
    )


def _memories(workspace: Workspace, files: list[Entry]) -> Iterator[str]:
    for entry in files:
        if entry.path.suffix != ".md" or is_finding(entry.path):
            continue
        try:
            text = workspace.read(entry.path).text
        except HoldfastError:
            continue
        for memory in memories_in(text, Scope(), by_hand=by_hand(entry.path)):
            yield memory.id
