"""An OpenClaw workspace: MEMORY.md, the logs of days, other notes, and its transcripts where they are named.

`~/.openclaw` has both, notes in `workspace/` and transcripts in `agents/*/sessions/`; `~/.openclaw/workspace`
has the notes alone. Instructions for the agent are no memories, and stay where they are. Knows no store.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
from holdfast.memory.workspace import LARGEST as LARGEST_NOTE
from holdfast.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult, canonical
from holdfast.transfer.formats.markdown import SUFFIXES, split
from holdfast.transfer.imports import (
    ImportedConversation,
    ImportedMessage,
    ImportedNote,
    ImportSource,
    Item,
    SkippedItem,
    SourceFiles,
    Unreadable,
    UnreadableItem,
    clean_text,
    decode_text,
    file_name,
    modified_at,
    noon_of,
    order_parents_first,
    pair_tool_calls,
    parse_json,
    parse_time,
    reparent,
    title_from,
)

KIND = "openclaw"

_CURATED = frozenset({"memory.md"})
_INSTRUCTIONS = frozenset(
    {"agents.md", "soul.md", "tools.md", "identity.md", "heartbeat.md", "bootstrap.md", "boot.md"}
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TRANSCRIPTS = ("sessions/*.jsonl", "agents/*/sessions/*.jsonl")


def looks_like(path: Path) -> bool:
    return path.is_dir() and bool(_workspaces(path) or _transcripts(path))


def read(paths: Sequence[Path]) -> ImportSource:
    folder = paths[0]
    if not looks_like(folder):
        raise BadRequest(
            _("{folder} is no workspace of OpenClaw.").format(folder=folder),
            hint=_("Name ~/.openclaw, or the folder with MEMORY.md and memory/."),
        )
    notes = [(place, name) for place in _workspaces(folder) for name in _notes(place)]
    transcripts = _transcripts(folder)
    return ImportSource(KIND, _items(folder, notes, transcripts), len(notes) + len(transcripts))


def _workspaces(folder: Path) -> list[Path]:
    places = [folder, *sorted(folder.glob("workspace*"))]
    return [place for place in places if (place / "MEMORY.md").is_file() or (place / "memory").is_dir()]


def _transcripts(folder: Path) -> list[Path]:
    return sorted(path for pattern in _TRANSCRIPTS for path in folder.glob(pattern) if path.is_file())


def _notes(workspace: Path) -> list[str]:
    """What lies in the folder itself and in `memory/`; a project somebody works on in there is none."""
    return [
        name
        for name in SourceFiles(workspace).names()
        if Path(name).suffix.lower() in SUFFIXES and ("/" not in name or name.startswith("memory/"))
    ]


def _items(folder: Path, notes: Sequence[tuple[Path, str]], transcripts: Sequence[Path]) -> Iterator[Item]:
    for place, name in notes:
        yield from _note(folder, place, name)
    for path in transcripts:
        shown = path.relative_to(folder).as_posix()
        try:
            text = decode_text(SourceFiles(path).read(path.name))
        except Unreadable as error:
            yield UnreadableItem(shown, str(error))
        else:
            yield from transcript(shown, path.stem, text)


def _note(folder: Path, workspace: Path, name: str) -> Iterator[Item]:
    shown = (workspace / name).relative_to(folder).as_posix()
    if name.lower() in _INSTRUCTIONS:
        yield SkippedItem(shown, _("instructions for the agent"))
        return
    try:
        text = decode_text(SourceFiles(workspace).read(name, LARGEST_NOTE))
    except Unreadable as error:
        yield UnreadableItem(shown, str(error))
        return
    day = _DAY.match(file_name(name))
    if name.lower() in _CURATED:
        yield from split(name, text, at=modified_at(workspace / name))
    elif day and noon_of(day[0]):
        yield from split(name, text, at=noon_of(day[0]), kind="note")
    else:
        yield ImportedNote(name, text)


def transcript(shown: str, name: str, text: str) -> Iterator[Item]:
    """The conversation in one transcript, and which of its lines could not be read."""
    lines: dict[str, Mapping[str, Any]] = {}
    parents: dict[str, str | None] = {}
    before: str | None = None
    began, key = 0.0, name
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except Unreadable as error:
            yield UnreadableItem(f"{shown}:{number}", str(error))
            continue
        if not isinstance(value, dict):
            yield UnreadableItem(f"{shown}:{number}", _("no entry"))
            continue
        if value.get("type") == "session":
            began, key = parse_time(value.get("timestamp")), str(value.get("id") or name)
            continue
        # Old transcripts have no ids: there each line follows the one before.
        own = str(value.get("id") or f"line {number}")
        lines[own] = value
        parents[own] = (
            str(value["parentId"]) if value.get("parentId") else before if "id" not in value else None
        )
        before = own
    broken: list[str] = []
    order = order_parents_first(parents, broken)
    for line_id in broken:
        yield UnreadableItem(f"{shown}, {line_id}", _("what it follows is not there"))
    turns = _turns(order, lines, began)
    if not turns:
        yield SkippedItem(shown, _("there are no words in it"))
        return
    yield ImportedConversation(
        key, title_from(turns), turns, turns[-1].key, began or turns[0].at, turns[-1].at
    )


def _turns(
    order: Mapping[str, str | None], lines: Mapping[str, Mapping[str, Any]], began: float
) -> tuple[ImportedMessage, ...]:
    messages = {key: message for key in order if (message := _message(lines[key])) is not None}
    turns: list[ImportedMessage] = []
    for key, parent in reparent(order, messages).items():
        inner = lines[key]["message"]
        at = parse_time(lines[key].get("timestamp"), parse_time(inner.get("timestamp"), began))
        turns.append(ImportedMessage(key, parent, messages[key], at, clean_text(inner.get("model"))))
    return pair_tool_calls(turns)


def _message(line: Mapping[str, Any]) -> Message | None:
    inner = line.get("message")
    if line.get("type") != "message" or not isinstance(inner, dict):
        return None
    content = inner.get("content")
    listed = content if isinstance(content, list) else [{"type": "text", "text": content}]
    parts = [part for block in listed if isinstance(block, dict) and (part := _part(block)) is not None]
    match inner.get("role"):
        case "user" if parts:
            return Message("user", tuple(parts))
        case "assistant" if any(not isinstance(part, Thinking) for part in parts):
            return Message("assistant", tuple(parts))
        case "toolResult":
            result = ToolResult(
                tuple(part for part in parts if isinstance(part, Text | Image)),
                call_id=clean_text(inner.get("toolCallId")),
                name=clean_text(inner.get("toolName")),
                error=inner.get("isError") is True,
            )
            return Message("tool", (result,))
    return None


def _part(value: Mapping[str, Any]) -> Part | None:
    match value.get("type"):
        case "text" if value.get("text"):
            return Text(clean_text(value["text"]))
        case "thinking" if value.get("thinking"):
            return Thinking(clean_text(value["thinking"]))
        case "toolCall":
            arguments = clean_text(_arguments(value.get("arguments")))
            return ToolCall(clean_text(value.get("name")), arguments, clean_text(value.get("id")))
        case "image" if value.get("data"):
            return Image(data=clean_text(value["data"]), media_type=clean_text(value.get("mimeType")))
    return None


def _arguments(arguments: Any) -> str:
    """As JSON text; a number that is none has no spelling in it."""
    if isinstance(arguments, str):
        return arguments
    try:
        return canonical(arguments or {})
    except ValueError:
        return canonical({"input": str(arguments)})
