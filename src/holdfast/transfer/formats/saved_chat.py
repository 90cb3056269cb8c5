"""Conversations as the chat page saves them: JSON, or Markdown with a mark at the heading of each message.

Pictures are not in these files; what was said is. It knows no store of ours.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
from holdfast.messages import Message, Text, Thinking, ToolCall, ToolResult
from holdfast.transfer.imports import (
    ImportedConversation,
    ImportedMessage,
    ImportSource,
    Item,
    Unreadable,
    UnreadableItem,
    clean_text,
    decode_text,
    modified_at,
    pair_tool_calls,
    parse_json,
    parse_time,
    title_from,
)

KIND = "holdfast"

# The heading of a message: who spoke, when, and which model it was stand in the mark.
_HEADING = re.compile(
    r"^## .*<!-- holdfast (?P<role>user|assistant|tool)(?: (?P<at>\d+(?:\.\d+)?))?(?: (?P<model>\S+))? -->$",
    re.MULTILINE,
)
_TITLE = re.compile(r"\A# (.+)$", re.MULTILINE)
_ROLES = ("system", "user", "assistant", "tool")


def looks_like(path: Path) -> bool:
    if path.suffix not in (".json", ".md") or not path.is_file():
        return False
    text = decode_text(path.read_bytes())
    return bool(_HEADING.search(text)) if path.suffix == ".md" else bool(_chats_in(_parse(text)))


def read(paths: Sequence[Path]) -> ImportSource:
    wrong = next((path for path in paths if not looks_like(path)), None)
    if wrong is not None:
        raise BadRequest(
            _("{path} is no chat that was saved here.").format(path=wrong.name),
            hint=_("The menu of a chat saves it as Markdown or JSON; these can come back."),
        )
    return ImportSource(KIND, _items(paths), len(paths))


def _items(paths: Sequence[Path]) -> Iterator[Item]:
    for path in paths:
        text, at = decode_text(path.read_bytes()), modified_at(path)
        try:
            if path.suffix == ".md":
                yield _from_markdown(text, at)
            else:
                yield from (_from_json(chat, at) for chat in _chats_in(_parse(text)))
        except Unreadable as error:
            yield UnreadableItem(path.name, str(error))


def _parse(text: str) -> Any:
    try:
        return parse_json(text)
    except Unreadable:
        return None


def _chats_in(value: Any) -> list[dict[str, Any]]:
    """The conversations of a file: one, or a list of them; none if it is no such file."""
    if not isinstance(value, dict):
        return []
    listed = value["chats"] if isinstance(value.get("chats"), list) else [value]
    return [
        entry
        for entry in listed
        if isinstance(entry, dict)
        and isinstance(entry.get("chat"), dict)
        and isinstance(entry.get("messages"), list)
    ]


def _from_json(value: Any, at: float) -> ImportedConversation:
    chat = value["chat"]
    listed = [entry for entry in value["messages"] if isinstance(entry, dict)]
    entries = [entry for entry in listed if entry.get("role") in _ROLES]
    began, parent = parse_time(chat.get("created_at"), at), None
    turns: list[ImportedMessage] = []
    for number, entry in enumerate(entries):
        message = _message_of(entry)
        if not message.parts:
            continue
        said_at = parse_time(entry.get("created_at"), turns[-1].at if turns else began)
        turns.append(ImportedMessage(str(number), parent, message, said_at, clean_text(entry.get("model"))))
        parent = str(number)
    # One that was deleted here and comes back is the same conversation still.
    return _conversation(clean_text(chat.get("id")), clean_text(chat.get("title")), turns, began)


def _message_of(entry: dict[str, Any]) -> Message:
    role, content, thinking = entry["role"], clean_text(entry.get("content")), entry.get("thinking")
    words = (Text(content),) if content else ()
    if role == "tool":
        name, call = clean_text(entry.get("tool_name")), clean_text(entry.get("tool_call_id"))
        return Message("tool", (ToolResult(words, call, name),))
    thoughts = (Thinking(clean_text(thinking)),) if thinking else ()
    listed = entry.get("tool_calls")
    calls = tuple(
        ToolCall(clean_text(call.get("name")), _arguments(call.get("arguments")), clean_text(call.get("id")))
        for call in (listed if isinstance(listed, list) else ())
        if isinstance(call, dict) and call.get("name")
    )
    return Message(role, (*thoughts, *words, *calls) if role == "assistant" else words)


def _arguments(value: Any) -> Any:
    return value if isinstance(value, dict) else {}


def _from_markdown(text: str, at: float) -> ImportedConversation:
    title = _TITLE.match(text)
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    turns: list[ImportedMessage] = []
    for number, (heading, end) in enumerate(zip(headings, ends, strict=True)):
        words = text[heading.end() : end].strip()
        # The result of a tool cannot stand without its call, which Markdown does not have.
        if not words or heading["role"] == "tool":
            continue
        said_at = parse_time(float(heading["at"]) if heading["at"] else None, turns[-1].at if turns else at)
        parent = turns[-1].key if turns else None
        message = Message.of("user" if heading["role"] == "user" else "assistant", words)
        turns.append(ImportedMessage(str(number), parent, message, said_at, heading["model"] or ""))
    began = turns[0].at if turns else at
    key = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
    return _conversation(key, title[1].strip() if title else "", turns, began)


def _conversation(
    key: str, title: str, turns: Sequence[ImportedMessage], began: float
) -> ImportedConversation:
    paired = pair_tool_calls(turns)
    if not paired:
        raise Unreadable(_("there is no message in it"))
    return ImportedConversation(
        key, title or title_from(paired), paired, paired[-1].key, began, paired[-1].at
    )
