"""Everything one user has, in one zip of open formats that needs no Holdfast to be read.

Conversations are JSON Lines, one file for each tree with all its branches; what was attached lies beside them
as files; notes are the files they are. Secrets of keys are known to nobody, and so not in it. Only reads.
"""

import base64
import binascii
import json
import mimetypes
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, select

from holdfast.errors import HoldfastError
from holdfast.language import say
from holdfast.memory.workspace.base import Workspace
from holdfast.store import Store
from holdfast.store.schema import (
    compactions,
    conversations,
    decisions,
    jobs,
    keys,
    lanes,
    memory_uses,
    messages,
    proposals,
    summaries,
)
from holdfast.transfer.archive import new_zip
from holdfast.transfer.people import Person, files_of, home_of, person
from holdfast.transfer.pieces import put_in_place, workplace
from holdfast.transfer.places import Places
from holdfast.transfer.telling import Tell, untold

# What is kept to know a secret again is of no use to its owner, and what is only for finding things neither.
_HIDDEN = frozenset({"digest", "anchor", "branch", "tree", "prompt"})

README = """# What {name} has in Holdfast

| file | what it is |
|---|---|
| `user.json` | how much there is; keys without their secrets; what the profile was to learn |
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

`user.json`: Mengen, Schlüssel ohne Geheimnis, Vorschläge fürs Profil. `conversations/`: Gespräche, eine
Zeile JSON je Eintrag, Zweige über `parent`. `attachments/`: Bilder und Dateien daraus. `notes/`: die
Notizen, wie sie sind. `terminal/`: in `holdfast chat` Getipptes. `jobs.jsonl`: Anfragen an Modellserver.
Zeiten in Sekunden seit 1970, UTC.
"""


def export(
    store: Store, workspace: Workspace, places: Places, name: str, file: Path, tell: Tell = untold
) -> Person:
    """Write all of it into a file that only its owner can read."""
    found = person(store, workspace, name)
    with workplace(file) as folder:
        piece = folder / file.name
        with new_zip(piece) as archive:
            store.database.read(lambda connection: _rows(connection, archive, found, tell))
            _notes(archive, workspace, name, tell)
            for typed in places.typed_by(name):
                archive.write(typed, f"terminal/{typed.name}")
            archive.writestr("README.md", README.format(name=name))
        put_in_place(piece, file)
    return found


def _rows(connection: Connection, archive: zipfile.ZipFile, found: Person, tell: Tell) -> None:
    ours = conversations.c.user == found.name
    trees = list(connection.scalars(select(conversations.c.tree).where(ours).distinct()))
    for number, tree in enumerate(sorted(trees), 1):
        tell(say("conversations", "Gespräche"), number, len(trees))
        lines = [_spelled(line) for line in _tree(connection, archive, tree)]
        archive.writestr(f"conversations/{tree}.jsonl", "".join(lines))
    told = {
        **found.to_json(),
        "key_list": _listed(connection, keys, found.name),
        "proposals": _listed(connection, proposals, found.name),
        "memory_uses": _listed(connection, memory_uses, found.name),
    }
    archive.writestr("user.json", json.dumps(told, ensure_ascii=False, indent=2))
    archive.writestr("jobs.jsonl", "".join(map(_spelled, _listed(connection, jobs, found.name))))


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
    """What is attached as a file, and the part says which one."""
    if part.get("parts"):
        inner = [
            _without_data(archive, one, f"{name}-{number}") for number, one in enumerate(part["parts"], 1)
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


def _notes(archive: zipfile.ZipFile, workspace: Workspace, name: str, tell: Tell) -> None:
    home, files = home_of(workspace, name), files_of(workspace, name)
    for number, entry in enumerate(files, 1):
        tell(say("notes", "Notizen"), number, len(files))
        inner = entry.path.relative_to(home)
        try:
            text = workspace.read(entry.path).text
        except HoldfastError as error:
            archive.writestr(f"notes/{inner}.unreadable.txt", str(error))
        else:
            archive.writestr(f"notes/{inner}", text.encode("utf-8", "surrogateescape"))


def _listed(connection: Connection, table: Table, user: str) -> list[dict[str, Any]]:
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


def _spelled(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"
