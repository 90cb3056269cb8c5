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
from holdfast.i18n import gettext as _
from holdfast.messages import Message
from holdfast.transfer.imports import (
    ImportedConversation,
    ImportedMemory,
    ImportedMessage,
    ImportSource,
    Item,
    SkippedItem,
    Unreadable,
    UnreadableItem,
    clean_text,
    parse_json,
    parse_time,
    title_from,
)

KIND = "ollama-prompt"

_HEAD = b"SQLite format 3\x00"
# Errors of a damaged database; the second, where names of its columns are no text.
_BROKEN = (sqlite3.DatabaseError, UnicodeDecodeError)
# As it stands in the text that is kept beside the blob.
_SPEAKER = re.compile(r"(?:\A|\n\n)(User|Assistant): ")


@dataclass(frozen=True, slots=True)
class _PlainMessage:
    role: str
    text: str
    at: float
    summary: bool = False


def looks_like(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as opened:
        return opened.read(len(_HEAD)) == _HEAD


def read(paths: Sequence[Path]) -> ImportSource:
    """The first path is the database; there is only ever one."""
    path = paths[0]
    if not looks_like(path):
        raise _wrong_file_error(path)
    try:
        with closing(_connect(path)) as connection:
            columns = {row["name"] for row in connection.execute("PRAGMA table_info(sessions)")}
            if "session_id" not in columns:
                raise _wrong_file_error(path)
            (total,) = connection.execute("SELECT count(*) FROM sessions").fetchone()
    except _BROKEN as error:
        raise _wrong_file_error(path, str(error)) from error
    return ImportSource(KIND, _items(path), int(total))


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    # Bytes that are no text must not end the whole import.
    connection.text_factory = lambda content: content.decode("utf-8", "replace")
    return connection


def _items(path: Path) -> Iterator[Item]:
    try:
        with closing(_connect(path)) as connection:
            tables = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master")}
            for row in connection.execute("SELECT * FROM sessions ORDER BY rowid"):
                yield from _session(connection, dict(row), "messages" in tables)
    except _BROKEN as error:
        yield UnreadableItem(str(path), str(error))


def _session(connection: sqlite3.Connection, row: Mapping[str, Any], has_rows: bool) -> Iterator[Item]:
    name = str(row["session_id"])
    place = _("session {name}").format(name=name)
    began = parse_time(row.get("created_at"))
    messages = _rows(connection, name) if has_rows else []
    try:
        messages = _merge_messages(_messages_in_blob(row.get("history_json"), began), messages)
    except Unreadable as error:
        yield UnreadableItem(f"{place}, history_json", str(error))
        messages = messages or _messages_in_text(clean_text(row.get("context")), began)
    turns: list[ImportedMessage] = []
    for number, entry in enumerate(messages):
        if entry.summary:
            yield ImportedMemory(entry.text, "note", entry.at or began, name)
        elif entry.role == "user" or entry.role == "assistant":
            before = turns[-1].key if turns else None
            message = Message.of("user" if entry.role == "user" else "assistant", entry.text)
            turns.append(
                ImportedMessage(
                    str(number), before, message, entry.at or began, clean_text(row.get("model_name"))
                )
            )
        else:
            yield SkippedItem(place, _("a message of the role {role!r}").format(role=entry.role))
    if row.get("system_prompt"):
        yield SkippedItem(place, _("its system prompt: clients send theirs"))
    if not turns:
        yield SkippedItem(place, _("there are no words in it"))
        return
    last = max(parse_time(row.get("last_used")), turns[-1].at)
    imported = tuple(turns)
    yield ImportedConversation(
        name, title_from(imported), imported, imported[-1].key, began or imported[0].at, last
    )


def _rows(connection: sqlite3.Connection, session: str) -> list[_PlainMessage]:
    rows = connection.execute("SELECT * FROM messages WHERE session_id = ? ORDER BY id", (session,))
    return [
        _PlainMessage(str(row["role"]), words, parse_time(row.get("timestamp")), bool(row.get("is_summary")))
        for row in map(dict, rows)
        if (words := clean_text(row.get("content")))
    ]


def _messages_in_blob(blob: object, began: float) -> list[_PlainMessage]:
    """A list, or a table with one in it: which of the two depends on the version."""
    if not blob:
        return []
    value = parse_json(clean_text(blob))
    value = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(value, list):
        raise Unreadable(_("there is no list of messages in it"))
    return [
        _PlainMessage(
            str(entry.get("role")), clean_text(entry["content"]), parse_time(entry.get("timestamp"), began)
        )
        for entry in value
        if isinstance(entry, dict) and clean_text(entry.get("content"))
    ]


def _merge_messages(blob: list[_PlainMessage], rows: list[_PlainMessage]) -> list[_PlainMessage]:
    """What stands in both is one message; what only one of them has is kept, in the order of time."""
    row_counts = Counter((message.role, message.text) for message in rows)
    missing: list[_PlainMessage] = []
    for message in blob:
        if row_counts[message.role, message.text] > 0:
            row_counts[message.role, message.text] -= 1
        else:
            missing.append(message)
    if not missing or not rows:
        return rows or missing
    return sorted((*missing, *rows), key=lambda message: message.at)


def _messages_in_text(context: str, began: float) -> list[_PlainMessage]:
    """The history as plain text, which is all there is where the blob is broken."""
    speakers = list(_SPEAKER.finditer(context))
    if not speakers:
        return []
    ends = [speaker.start() for speaker in speakers[1:]] + [len(context)]
    return [
        _PlainMessage(speaker[1].lower(), text, began)
        for speaker, end in zip(speakers, ends, strict=True)
        if (text := context[speaker.end() : end].strip())
    ]


def _wrong_file_error(path: Path, why: str = "") -> BadRequest:
    return BadRequest(
        _("{path} is no database of ollama-prompt{why}.").format(path=path, why=f": {why}" if why else ""),
        hint=_("It is usually ~/.config/ollama-prompt/sessions.db."),
    )
