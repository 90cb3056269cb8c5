"""ollama-prompt's database: sessions with their history as a JSON blob (v1), as rows (v2), or as both.

What its own migration lost is taken from the blob, and from the plain text beside it where the blob is
broken. The file is only read. It knows no store of ours.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from holdfast.errors import BadRequest
from holdfast.language import say
from holdfast.messages import Message
from holdfast.transfer.imports import (
    Item,
    Saying,
    Skipped,
    Source,
    Talk,
    Trouble,
    Turn,
    Unreadable,
    parsed,
    plain,
    seconds,
    title_from,
)

KIND = "ollama-prompt"

_HEAD = b"SQLite format 3\x00"
# As it stands in the text that is kept beside the blob.
_SPEAKER = re.compile(r"(?:\A|\n\n)(User|Assistant): ")


@dataclass(frozen=True, slots=True)
class _Said:
    role: str
    text: str
    at: float
    summary: bool = False


def looks_like(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as opened:
        return opened.read(len(_HEAD)) == _HEAD


def read(paths: Sequence[Path]) -> Source:
    """The first path is the database; there is only ever one."""
    path = paths[0]
    if not looks_like(path):
        raise _not_ours(path)
    try:
        with closing(_opened(path)) as connection:
            columns = {row["name"] for row in connection.execute("PRAGMA table_info(sessions)")}
            if "session_id" not in columns:
                raise _not_ours(path)
            (total,) = connection.execute("SELECT count(*) FROM sessions").fetchone()
    except sqlite3.DatabaseError as error:
        raise _not_ours(path, str(error)) from error
    return Source(KIND, _items(path), int(total))


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    # Bytes that are no text must not end the whole import.
    connection.text_factory = lambda content: content.decode("utf-8", "replace")
    return connection


def _items(path: Path) -> Iterator[Item]:
    try:
        with closing(_opened(path)) as connection:
            tables = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master")}
            for row in connection.execute("SELECT * FROM sessions ORDER BY rowid"):
                yield from _session(connection, dict(row), "messages" in tables)
    except sqlite3.DatabaseError as error:
        yield Trouble(str(path), str(error))


def _session(connection: sqlite3.Connection, row: Mapping[str, Any], has_rows: bool) -> Iterator[Item]:
    name = str(row["session_id"])
    place = say(f"session {name}", f"Sitzung {name}")
    began = seconds(row.get("created_at"))
    said = _rows(connection, name) if has_rows else []
    try:
        said = _together(_blob(row.get("history_json"), began), said)
    except Unreadable as error:
        yield Trouble(f"{place}, history_json", str(error))
        said = said or _spoken(plain(row.get("context")), began)
    turns: list[Turn] = []
    for number, one in enumerate(said):
        if one.summary:
            yield Saying(one.text, "note", one.at or began, name)
        elif one.role == "user" or one.role == "assistant":
            before = turns[-1].key if turns else None
            message = Message.of("user" if one.role == "user" else "assistant", one.text)
            turns.append(Turn(str(number), before, message, one.at or began, plain(row.get("model_name"))))
        else:
            yield Skipped(place, say(f"a message of the role {one.role!r}", f"Rolle {one.role!r}"))
    if row.get("system_prompt"):
        yield Skipped(place, say("its system prompt: clients send theirs", "die Systemanweisung"))
    if not turns:
        yield Skipped(place, say("there are no words in it", "ohne Worte"))
        return
    last = max(seconds(row.get("last_used")), turns[-1].at)
    kept = tuple(turns)
    yield Talk(name, title_from(kept), kept, kept[-1].key, began or kept[0].at, last)


def _rows(connection: sqlite3.Connection, session: str) -> list[_Said]:
    rows = connection.execute("SELECT * FROM messages WHERE session_id = ? ORDER BY id", (session,))
    return [
        _Said(str(row["role"]), words, seconds(row.get("timestamp")), bool(row.get("is_summary")))
        for row in map(dict, rows)
        if (words := plain(row.get("content")))
    ]


def _blob(told: object, began: float) -> list[_Said]:
    """A list, or a table with one in it: which of the two depends on the version."""
    if not told:
        return []
    value = parsed(plain(told))
    value = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(value, list):
        raise Unreadable(say("there is no list of messages in it", "darin ist keine Liste von Nachrichten"))
    return [
        _Said(str(one.get("role")), plain(one["content"]), seconds(one.get("timestamp"), began))
        for one in value
        if isinstance(one, dict) and plain(one.get("content"))
    ]


def _together(blob: list[_Said], rows: list[_Said]) -> list[_Said]:
    """What stands in both is one message; what only one of them has is kept, in the order of time."""
    there = Counter((one.role, one.text) for one in rows)
    missing: list[_Said] = []
    for one in blob:
        if there[one.role, one.text] > 0:
            there[one.role, one.text] -= 1
        else:
            missing.append(one)
    if not missing or not rows:
        return rows or missing
    return sorted((*missing, *rows), key=lambda one: one.at)


def _spoken(context: str, began: float) -> list[_Said]:
    """The history as plain text, which is all there is where the blob is broken."""
    found = list(_SPEAKER.finditer(context))
    if not found:
        return []
    ends = [one.start() for one in found[1:]] + [len(context)]
    return [
        _Said(one[1].lower(), text, began)
        for one, end in zip(found, ends, strict=True)
        if (text := context[one.end() : end].strip())
    ]


def _not_ours(path: Path, why: str = "") -> BadRequest:
    return BadRequest(
        say(
            f"{path} is no database of ollama-prompt{f': {why}' if why else ''}.",
            f"{path} ist keine Datenbank von ollama-prompt{f': {why}' if why else ''}.",
        ),
        hint=say(
            "It is usually ~/.config/ollama-prompt/sessions.db.",
            "Meist ist es ~/.config/ollama-prompt/sessions.db.",
        ),
    )
