"""Memories as list items of a Markdown text, each with a comment that tells a machine what it is.

    - The server in Kiel is called arion.
      <!-- holdfast {"id":"m_1","kind":"fact","importance":0.7} -->

A person may change, move, add and remove what they like: reading is lenient, and adding leaves every other
character of the text as it was. Knows no files.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt

from holdfast.memory.base import KINDS, Kind, Memory
from holdfast.messages import Scope, canonical

_TITLES = {"en": "Memory", "de": "Gedächtnis"}
_HEADINGS: dict[Kind, dict[str, str]] = {
    "fact": {"en": "Facts", "de": "Fakten"},
    "decision": {"en": "Decisions", "de": "Entscheidungen"},
    "preference": {"en": "Preferences", "de": "Vorlieben"},
    "summary": {"en": "Summaries", "de": "Zusammenfassungen"},
}

_COMMENT = re.compile(r"<!-- *holdfast +(\{[^<>\r\n]*\}) *-->")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BULLET = re.compile(r" ?(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|(?=[\r\n])|$)")
_HEADING = re.compile(r"#{1,6}(?:[ \t\r\n]|$)")
_INDENT = "  "

# Words that would begin or end a comment get a backslash, which Markdown does not show; one more if they have
# some already, so that taking one away gives back what was written.
_OPENS, _OPENED = re.compile(r"<(\\*)!--"), re.compile(r"<\\(\\*)!--")
_CLOSES, _CLOSED = re.compile(r"--(\\*)>"), re.compile(r"--\\(\\*)>")

# Only blocks are of interest, so what is inside of them is not looked at.
_markdown = MarkdownIt("commonmark").disable("inline")


def ids_in(text: str) -> set[str]:
    """The ids of all items, those included of which a person left nothing but the comment."""
    return {str(found["id"]) for found in _comments(text) if "id" in found}


def memories_in(text: str, scope: Scope) -> list[Memory]:
    """The items that have a comment of ours, as they read now. What else a person wrote is not among them."""
    found = (_memory(item.text, scope) for item in _items(_LINE.findall(text)))
    return [memory for memory in found if memory is not None]


def with_memories(text: str, memories: Sequence[Memory]) -> str:
    """The text with these memories added, each under the heading of its kind; known ones are left out."""
    known = ids_in(text)
    fresh = {
        memory.id: replace(memory, text=spelled(memory.text))
        for memory in memories
        if memory.id not in known and spelled(memory.text)
    }
    language = next((memory.language for memory in fresh.values() if memory.language in _TITLES), "en")
    if fresh and not text.strip():
        text += f"# {_TITLES[language]}\n"
    for kind in KINDS:
        items = [_written(memory) for memory in fresh.values() if memory.kind == kind]
        if items:
            text = _added(text, kind, items, _HEADINGS[kind][language])
    return text


def comment(fields: Mapping[str, Any]) -> str:
    """A comment for machines. Fields that are empty are left out."""
    told = canonical({name: value for name, value in fields.items() if value not in ("", [], None)})
    safe = told.encode(errors="replace").decode().replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- holdfast {safe} -->"


def first_comment(text: str) -> dict[str, Any]:
    return next(_comments(text), {})


def spelled(text: str) -> str:
    """The text as it can stand in a file: one kind of line end, real characters only, no loose ends."""
    whole = text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    lines = whole.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def moment(seconds: float) -> str:
    """A time that people can read too."""
    return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else ""


def seconds_of(told: object) -> float:
    try:
        found = datetime.fromisoformat(str(told))
    except ValueError:
        return 0.0
    return found.replace(tzinfo=found.tzinfo or UTC).timestamp()


@dataclass(frozen=True, slots=True)
class _Item:
    """The lines of one list item, and the line after its last."""

    text: str
    end: int


def _items(lines: Sequence[str]) -> Iterator[_Item]:
    at = 0
    while at < len(lines):
        if not _BULLET.match(lines[at]):
            at += 1
            continue
        end = _end_of(lines, at)
        yield _Item("".join(lines[at:end]), end)
        at = end


def _end_of(lines: Sequence[str], start: int) -> int:
    """An item goes on with lines that are indented, and with careless ones as long as it is one paragraph."""
    end, paragraph = start + 1, not _COMMENT.search(lines[start])
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if not line.strip():
            paragraph = False
            continue
        indented = line.startswith((_INDENT, "\t"))
        if not indented and (not paragraph or _BULLET.match(line) or _HEADING.match(line)):
            break
        end = at + 1
        if _COMMENT.search(line):
            paragraph = False
    return end


def _memory(item: str, scope: Scope) -> Memory | None:
    fields, text = first_comment(item), _text_of(item)
    if not text or "id" not in fields or fields.get("kind") not in KINDS:
        return None
    importance, messages = fields.get("importance"), fields.get("messages")
    return Memory(
        id=str(fields["id"]),
        kind=fields["kind"],
        text=text,
        scope=scope,
        importance=float(importance) if isinstance(importance, int | float) else 0.5,
        conversation=str(fields.get("conversation", "")),
        messages=tuple(str(message) for message in messages) if isinstance(messages, list) else (),
        valid_from=seconds_of(fields.get("valid_from")),
        language=str(fields.get("language", "")),
    )


def _text_of(item: str) -> str:
    first, *rest = _LINE.findall(_COMMENT.sub("", item))
    lines = [_BULLET.sub("", first, count=1), *(line.removeprefix(_INDENT) for line in rest)]
    return spelled(_OPENED.sub(r"<\1!--", _CLOSED.sub(r"--\1>", "".join(lines))))


def _written(memory: Memory) -> list[str]:
    text = _CLOSES.sub(r"--\\\1>", _OPENS.sub(r"<\\\1!--", memory.text))
    told = {
        "id": memory.id,
        "kind": memory.kind,
        "importance": memory.importance,
        "conversation": memory.conversation,
        "messages": list(memory.messages),
        "valid_from": moment(memory.valid_from),
        "language": memory.language,
    }
    first, *rest = [*text.split("\n"), comment(told)]
    return [f"- {first}", *(_INDENT + line if line else "" for line in rest)]


def _added(text: str, kind: Kind, items: Sequence[list[str]], heading: str) -> str:
    lines = _LINE.findall(text)
    ending = re.search(r"\r\n|\r|\n", text)
    newline = ending.group() if ending else "\n"
    block = [line for item in items for line in item]
    place = _under_heading(text, lines, kind) or _after_others(lines, kind)
    if place is None:
        place = len(lines)
        block = ["", f"## {heading}", "", *block]
    elif _HEADING.match(lines[place - 1]):
        block = ["", *block]
    before, after = "".join(lines[:place]), "".join(lines[place:])
    if before and not before.endswith(("\r", "\n")):
        before += newline
    return before + "".join(line + newline for line in block) + after


def _under_heading(text: str, lines: Sequence[str], kind: Kind) -> int | None:
    """The line after the last one under the heading of this kind, in whichever language it is."""
    names = {name.casefold() for name in _HEADINGS[kind].values()}
    headings = [
        (token.map[0], token.map[1], words.content.strip().rstrip(":").casefold())
        for token, words in pairwise(_markdown.parse(text))
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    for at, (_, start, name) in enumerate(headings):
        if name in names:
            end = headings[at + 1][0] if at + 1 < len(headings) else len(lines)
            return next((line + 1 for line in range(end - 1, start - 1, -1) if lines[line].strip()), start)
    return None


def _after_others(lines: Sequence[str], kind: Kind) -> int | None:
    """Where a person gave the heading another name, new items follow those of their kind."""
    ends = [item.end for item in _items(lines) if first_comment(item.text).get("kind") == kind]
    return ends[-1] if ends else None


def _comments(text: str) -> Iterator[dict[str, Any]]:
    for found in _COMMENT.finditer(text):
        # A comment that a person damaged is one of theirs.
        with suppress(ValueError):
            yield json.loads(found[1])
