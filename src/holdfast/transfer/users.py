"""All data of one user: lists users and how much they have, exports it, and removes it.

In the database a user is a name, in the notes a folder.
"""

import base64
import binascii
import json
import mimetypes
import re
import sqlite3
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import Connection, Table, delete, func, select

from holdfast.errors import HoldfastError, NotFound, StoreError, explain_os_error
from holdfast.i18n import gettext as _
from holdfast.i18n import translate
from holdfast.memory.index import folder_of
from holdfast.memory.items import read_memories
from holdfast.memory.notes import is_curated
from holdfast.memory.scopes import extra_notes_name, is_finding, safe_name
from holdfast.memory.service import MemoryService
from holdfast.memory.workspace import NoteEntry, Workspace
from holdfast.messages import Scope
from holdfast.store import ConversationRecord, NotesFolder, Store
from holdfast.store.database import batches
from holdfast.store.schema import (
    compactions,
    conversations,
    decisions,
    jobs,
    keys,
    lanes,
    memory_uses,
    messages,
    metadata,
    outbox,
    passwords,
    presets,
    prompts,
    proposals,
    saved_prompts,
    sessions,
    summaries,
)
from holdfast.transfer.backup import new_zip
from holdfast.transfer.staging import (
    DataFolder,
    ProgressCallback,
    ignore_progress,
    put_in_place,
    remove_path,
    staging_folder,
)

# Every table in which a row says whose it is.
OWNED: tuple[Table, ...] = tuple(table for table in metadata.sorted_tables if "user" in table.c)
_GROUPS = "groups"
# A folder's name that was made of another name.
_MADE = re.compile(r"\A[\w-]+~[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class UserData:
    """How much a user has. `notes` counts files, `memories` their items with history and archive."""

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


def list_users(store: Store, workspace: Workspace) -> list[UserData]:
    """All users who have any data, by name."""
    named = user_names(store)
    # A folder that belongs to none of them was somebody's, too.
    folders = {entry.path.parts[0] for entry in workspace.entries() if len(entry.path.parts) > 1}
    strangers = folders - {safe_name(name) for name in named} - {_GROUPS}
    return [_load_user(store, workspace, name) for name in sorted(named | strangers)]


def get_user(store: Store, workspace: Workspace, name: str) -> UserData:
    user = _load_user(store, workspace, name)
    # Whoever sits at the machine is always there, whatever they have.
    known = name == Scope().user or name in user_names(store) or bool(user.notes)
    if not known:
        raise NotFound(
            _("There is no user {name}.").format(name=name),
            hint=_("`holdfast users list` has their names."),
        )
    return user


def user_names(store: Store) -> set[str]:
    return store.database.read(_select_names)


def home_of(workspace: Workspace, name: str) -> PurePosixPath:
    """The folder of a user's notes; `name` may also be the name of an escaped folder itself."""
    itself = _MADE.fullmatch(name) and workspace.entries(name)
    return PurePosixPath(name if itself else safe_name(name))


def files_of(workspace: Workspace, name: str) -> list[NoteEntry]:
    """The notes of a user. A folder that is a link is skipped: its target is not theirs."""
    home = home_of(workspace, name)
    is_link = workspace.folder is not None and (workspace.folder / home).is_symlink()
    return [] if is_link else workspace.entries(home)


def _select_names(connection: Connection) -> set[str]:
    return {name for table in OWNED for name in connection.scalars(select(table.c["user"]).distinct())}


def _load_user(store: Store, workspace: Workspace, name: str) -> UserData:
    files = [entry for entry in files_of(workspace, name) if not entry.trouble]

    def counts(connection: Connection) -> dict[str, Any]:
        trees = select(conversations.c.tree).where(conversations.c.user == name).distinct()
        message_count = select(func.count()).select_from(messages).where(messages.c.tree.in_(trees))
        used = select(func.max(conversations.c.updated_at)).where(conversations.c.user == name)
        rows = {
            table.name: connection.scalar(
                select(func.count()).select_from(table).where(table.c["user"] == name)
            )
            for table in (conversations, keys, jobs)
        }
        return {
            **rows,
            "messages": connection.scalar(message_count),
            "last_used": connection.scalar(used) or 0.0,
        }

    return UserData(
        name,
        **store.database.read(counts),
        memories=sum(1 for _ in _memory_ids(workspace, files)),
        findings=sum(is_finding(entry.path) and entry.path.suffix == ".md" for entry in files),
        notes=len(files),
    )


def _memory_ids(workspace: Workspace, files: list[NoteEntry]) -> Iterator[str]:
    for entry in files:
        if entry.path.suffix != ".md" or is_finding(entry.path):
            continue
        try:
            text = workspace.read(entry.path).text
        except HoldfastError:
            continue
        for memory in read_memories(text, Scope(), by_hand=is_curated(entry.path)):
            yield memory.id


# What is kept to know a secret again is of no use to its owner, and what is only for finding things neither.
_HIDDEN = frozenset({"digest", "anchor", "branch", "tree", "prompt"})

README = """# What {name} has in Holdfast

| file | what it is |
|---|---|
| `user.json` | how much there is; keys without their secrets; what the profile was to learn; saved prompts |
| `conversations/*.jsonl` | one file a tree of messages, one JSON object a line, told apart by `type` |
| `attachments/` | pictures and files that travelled with messages, which name them as `file` |
| `notes/` | the notes as they are: profile, `MEMORY.md`, days, projects, summaries, findings |
| `terminal/` | lines typed in `holdfast chat`, and what it noted of itself |
| `jobs.jsonl` | requests to model servers: when, which model, how many tokens |

`conversation` lines are heads: `head` is the message a conversation stands at. `message` lines have a
`parent`; several with the same one are branches (an edited question, a repeated answer). `decision`,
`compaction` and `summary` lines say what a model was shown instead of the messages they name. Times are
seconds since 1970, UTC.

# Was {name} in Holdfast hat

`user.json`: Mengen, Schlüssel ohne Geheimnis, Vorschläge fürs Profil, gespeicherte Prompts.
`conversations/`: Gespräche, eine Zeile JSON je Eintrag, Zweige über `parent`. `attachments/`: Bilder
und Dateien daraus. `notes/`: die Notizen, wie sie sind. `terminal/`: in `holdfast chat` Getipptes.
`jobs.jsonl`: Anfragen an Modellserver. Zeiten in Sekunden seit 1970, UTC.
"""


def export(
    store: Store,
    workspace: Workspace,
    places: DataFolder,
    name: str,
    file: Path,
    tell: ProgressCallback = ignore_progress,
) -> UserData:
    """Exports all data of a user into a zip that only its owner can read."""
    user = get_user(store, workspace, name)
    with staging_folder(file) as folder:
        piece = folder / file.name
        with new_zip(piece) as archive:
            store.database.read(lambda connection: _export_rows(connection, archive, user, tell))
            _export_notes(archive, workspace, name, tell)
            for typed in places.history_files(name):
                archive.write(typed, f"terminal/{typed.name}")
            archive.writestr("README.md", README.format(name=name))
        put_in_place(piece, file)
    return user


def _export_rows(
    connection: Connection, archive: zipfile.ZipFile, user: UserData, tell: ProgressCallback
) -> None:
    ours = conversations.c.user == user.name
    trees = list(connection.scalars(select(conversations.c.tree).where(ours).distinct()))
    for number, tree in enumerate(sorted(trees), 1):
        tell(_("conversations"), number, len(trees))
        lines = [_to_json(line) for line in _tree(connection, archive, tree)]
        archive.writestr(f"conversations/{tree}.jsonl", "".join(lines))
    user_json = {
        **user.to_json(),
        "key_list": _rows_of(connection, keys, user.name),
        "presets": _rows_of(connection, presets, user.name),
        "proposals": _rows_of(connection, proposals, user.name),
        "prompts": _rows_of(connection, saved_prompts, user.name),
        "memory_uses": _rows_of(connection, memory_uses, user.name),
    }
    archive.writestr("user.json", json.dumps(user_json, ensure_ascii=False, indent=2))
    archive.writestr("jobs.jsonl", "".join(map(_to_json, _rows_of(connection, jobs, user.name))))


def _tree(connection: Connection, archive: zipfile.ZipFile, tree: str) -> Iterator[dict[str, Any]]:
    heads = _lines(connection, conversations, "conversation", conversations.c.tree == tree)
    yield from heads
    order = (messages.c.depth, messages.c.created_at, messages.c.id)
    for row in connection.execute(
        select(messages).where(messages.c.tree == tree).order_by(*order)
    ).mappings():
        body = json.loads(row["body"])
        body["parts"] = [
            _without_data(archive, part, f"{row['id']}-{number}")
            for number, part in enumerate(body["parts"], 1)
        ]
        yield {"type": "message", **{k: v for k, v in row.items() if k not in (*_HIDDEN, "body")}, **body}
    yield from _lines(connection, summaries, "summary", summaries.c.tree == tree)
    for head in heads:
        for table, kind in ((lanes, "lane"), (decisions, "decision"), (compactions, "compaction")):
            yield from _lines(connection, table, kind, table.c.conversation == head["id"])


def _without_data(archive: zipfile.ZipFile, part: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Moves inline data into a file of the archive and refers to it from the part."""
    if part.get("parts"):
        inner = [
            _without_data(archive, inner_part, f"{name}-{number}")
            for number, inner_part in enumerate(part["parts"], 1)
        ]
        return {**part, "parts": inner}
    if part["type"] not in ("image", "file") or not part.get("data"):
        return dict(part)
    try:
        content = base64.b64decode(part["data"].rpartition(",")[2], validate=True)
    except (binascii.Error, ValueError):
        return dict(part)
    file = f"attachments/{name}{mimetypes.guess_extension(part.get('media_type', '')) or '.bin'}"
    archive.writestr(file, content)
    return {**{key: value for key, value in part.items() if key != "data"}, "file": file}


def _export_notes(archive: zipfile.ZipFile, workspace: Workspace, name: str, tell: ProgressCallback) -> None:
    home, files = home_of(workspace, name), files_of(workspace, name)
    for number, entry in enumerate(files, 1):
        tell(_("notes"), number, len(files))
        inner = entry.path.relative_to(home)
        try:
            text = workspace.read(entry.path).text
        except HoldfastError as error:
            archive.writestr(f"notes/{inner}.unreadable.txt", str(error))
        else:
            archive.writestr(f"notes/{inner}", text.encode("utf-8", "surrogateescape"))


def _rows_of(connection: Connection, table: Table, user: str) -> list[dict[str, Any]]:
    rows = connection.execute(select(table).where(table.c["user"] == user)).mappings()
    return [{key: value for key, value in row.items() if key not in _HIDDEN} for row in rows]


def _lines(connection: Connection, table: Table, kind: str, where: Any) -> list[dict[str, Any]]:
    rows = connection.execute(
        select(table).where(where).order_by(table.c.created_at if "created_at" in table.c else table.c.id)
    )
    return [
        {"type": kind, **{key: value for key, value in row.items() if key not in _HIDDEN}}
        for row in rows.mappings()
    ]


def _to_json(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"


_AT_ONCE = 100
# Later than anything was ever said.
_EVER = float("inf")
_PATIENCE = 10.0


def remove(
    store: Store,
    remembering: MemoryService,
    places: DataFolder,
    name: str,
    tell: ProgressCallback = ignore_progress,
) -> UserData:
    """Removes all data of a user; returns what there was."""
    user = get_user(store, remembering.workspace, name)
    store.database.write(lambda connection: _lock_out(connection, name))
    for number, row in enumerate(_conversations(store, name), 1):
        tell(_("conversations"), number, max(number, user.conversations))
        store.log.delete(row.id)
        remembering.remove_conversation(row.scope, row.id)
    tell(_("notes"), 0, user.notes)
    _remove_notes(remembering, name)
    _take_away(*places.history_files(name))
    tell(_("notes"), user.notes, user.notes)
    _unindex(store, remembering, name)
    store.database.write(lambda connection: _remove_rows(connection, name))
    return user


def scrub(places: DataFolder) -> str:
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
            (busy, *_unused) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return _("others are using the database") if busy else ""


def _lock_out(connection: Connection, name: str) -> None:
    for table in (keys, sessions, passwords):
        connection.execute(delete(table).where(table.c.user == name))


def _conversations(store: Store, name: str) -> Iterator[ConversationRecord]:
    for scope in store.log.scopes(name):
        while rows := store.log.list_unused_since(_EVER, scope, _AT_ONCE):
            yield from rows


def _remove_notes(remembering: MemoryService, name: str) -> None:
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
            remove_path(path)
        except OSError as error:
            why = translate(explain_os_error(error))
            raise StoreError(
                _("{path} cannot be removed: {why}.").format(path=path, why=why),
                hint=_("See that it can be written to, and delete once more."),
            ) from error


def _unindex(store: Store, remembering: MemoryService, name: str) -> None:
    home = home_of(remembering.workspace, name)
    paths = (PurePosixPath(path) for path in store.passages.paths())
    folders = {folder for path in paths if home in path.parents and (folder := folder_of(path))}
    places = [NotesFolder(folder) for folder in (*sorted(folders), extra_notes_name(name))]
    store.passages.remove([file for place in places for file in store.passages.files(place)])


def _remove_rows(connection: Connection, name: str) -> None:
    sent = select(jobs.c.prompt).where(jobs.c.user == name, jobs.c.prompt.is_not(None)).distinct()
    digests = list(connection.scalars(sent))
    for table in OWNED:
        if table is not conversations:
            connection.execute(delete(table).where(table.c["user"] == name))
    for portion in batches(digests):
        still = select(jobs.c.prompt).where(jobs.c.prompt.in_(portion))
        connection.execute(
            delete(prompts).where(prompts.c.digest.in_(portion), prompts.c.digest.not_in(still))
        )
    promised = connection.execute(select(outbox.c.id, outbox.c.payload)).all()
    doomed = [row.id for row in promised if name in _users_in(row.payload)]
    for portion in batches(doomed):
        connection.execute(delete(outbox).where(outbox.c.id.in_(portion)))


def _users_in(payload: Any) -> set[str]:
    """The users that an outbox entry is about."""
    if not isinstance(payload, Mapping):
        return set()
    scoped = [payload, *payload.get("memories", ())]
    return {entry["scope"]["user"] for entry in scoped if isinstance(entry, Mapping) and "scope" in entry}
