"""Memories as list items of a Markdown text, each with a comment for machines.

    - The server in Kiel is called arion.
      <!-- holdfast {"id":"m_1","kind":"fact","importance":0.7} -->

A person may change, move, add and remove what they like: reading is lenient, and writing leaves every other
character of the text as it was. The comment is JSON inside an HTML comment and always on one line.
"""

import hashlib
import json
import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from holdfast.errors import BadRequest
from holdfast.i18n import lazy
from holdfast.memory.base import FIELD_FORMS, KINDS, Kind, Memory, format_time
from holdfast.messages import Scope, canonical
from holdfast.text.lang import by_language

COMMENT = re.compile(r"<!-- *holdfast +(\{[^<>\r\n]*\}) *-->")
# The beginning of one, also where a person damaged the rest.
BEGINNING = re.compile(r"<!-- *holdfast\b")
# Items that are remembered as they were read.
_READ_ITEMS = 32_768


def write_comment(fields: Mapping[str, Any]) -> str:
    """Format a comment for machines; empty fields are left out."""
    filled = {
        name: value for name, value in fields.items() if value is not False and value not in ("", [], None)
    }
    text = canonical(filled)
    safe = text.encode(errors="replace").decode().replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- holdfast {safe} -->"


def read_comments(text: str) -> Iterator[dict[str, Any]]:
    """Yield the fields of every comment; damaged ones are skipped."""
    for match in COMMENT.finditer(text):
        # A comment that a person damaged is one of theirs.
        with suppress(ValueError, RecursionError):
            yield dict(_load_fields(match[1]))


# Files are read whole for every memory that is added, and nearly all of their items are as they were.
@lru_cache(_READ_ITEMS)
def _load_fields(comment: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(comment, parse_float=_finite, parse_constant=_finite)
    return fields


def read_comment(text: str) -> dict[str, Any]:
    """Return the fields of the first comment."""
    return next(read_comments(text), {})


def _finite(text: str) -> float | None:
    """Parse a number; None for infinite ones, since they cannot be written again."""
    number = float(text)
    return number if math.isfinite(number) else None


_TITLES = by_language("MEMORY_TITLE")
_HEADINGS = by_language("MEMORY_HEADINGS")

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BULLET = re.compile(r" ?(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|(?=[\r\n])|$)")
_HEADING = re.compile(r"#{1,6}(?:[ \t\r\n]|$)")
_INDENT = "  "
# How the id of an item begins that a person wrote, also after a machine wrote it down; and that of a part of
# a note that is no memory.
_BY_HAND = "h_"
PART = "n_"
# What some editors keep about a file stands before its first line of text.
_FRONT = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\r|\n).*?^---[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL | re.MULTILINE)

# Words that would begin or end a comment get a backslash, which Markdown does not show; one more if they have
# some already, so that taking one away gives back what was written.
_OPENS, _OPENED = re.compile(r"<(\\*)!--"), re.compile(r"<\\(\\*)!--")
_CLOSES, _CLOSED = re.compile(r"--(\\*)>"), re.compile(r"--\\(\\*)>")

# What stands behind the struck words of a memory that no longer holds.
_ARROW = "→"
_LEADS = re.compile(r" ?(?:[-*+]|\d{1,9}[.)])[ \t]+|[ \t]+")
_BEHIND = re.compile(rf"(?<=~~) {_ARROW} [^\n]*\Z")

# Only blocks are of interest, so what is inside of them is not looked at.
_markdown = MarkdownIt("commonmark").disable("inline")


@dataclass(frozen=True, slots=True)
class LocatedItem:
    """A memory and its lines, counted from one."""

    memory: Memory
    first: int
    last: int


def read_ids(text: str) -> set[str]:
    """Return the ids of all items, also of those with nothing left but the comment."""
    return {str(fields["id"]) for fields in read_comments(text) if "id" in fields}


def locate_items(text: str, scope: Scope, *, by_hand: bool = False) -> list[LocatedItem]:
    """Return the memories of a text with their lines; `by_hand` includes items without a comment.

    An item written by hand has an id made of its words until a machine writes one down. Of two items with one
    id, which are copies, the first counts.
    """
    items: dict[str, LocatedItem] = {}
    for item, memory in iterate_items(text, scope, by_hand=by_hand):
        items.setdefault(memory.id, LocatedItem(memory, item.start + 1, item.end))
    return list(items.values())


def readable_lines(text: str, scope: Scope) -> list[tuple[int, str]]:
    """Return the lines of a text with their numbers, without comments for machines and without memories that
    no longer hold.
    """
    former = {
        number
        for item in locate_items(text, scope)
        if not item.memory.active
        for number in range(item.first, item.last + 1)
    }
    lines = []
    for number, line in enumerate(_LINE.findall(text), 1):
        bare = COMMENT.sub("", line).rstrip()
        if number not in former and (bare or not COMMENT.search(line)):
            lines.append((number, bare))
    return lines


def read_memories(text: str, scope: Scope, *, by_hand: bool = False) -> list[Memory]:
    return [item.memory for item in locate_items(text, scope, by_hand=by_hand)]


def is_handwritten(memory: Memory) -> bool:
    """Tell whether only a person wrote it."""
    return memory.id.startswith(_BY_HAND)


def has_content_id(name: str) -> bool:
    """Tell whether an id is made of words, so that equal words have equal ids."""
    return name.startswith((_BY_HAND, PART))


def add_items(text: str, memories: Sequence[Memory], title: str = "") -> str:
    """Return the text with new memories added under the headings of their kinds; known ones are skipped."""
    known = read_ids(text)
    fresh = {
        memory.id: replace(memory, text=normalise(memory.text))
        for memory in memories
        if memory.id not in known and normalise(memory.text)
    }
    language = next((memory.language for memory in fresh.values() if memory.language in _TITLES), "en")
    if fresh and not text.strip():
        text += f"# {title or _TITLES[language]}\n"
    for kind in KINDS:
        items = [
            format_item(memory, successor=_text_of(memory.superseded_by, fresh))
            for memory in fresh.values()
            if memory.kind == kind
        ]
        if items:
            text = insert_items(text, kind, items, _HEADINGS[language][kind])
    return text


def _text_of(name: str, memories: Mapping[str, Memory]) -> str:
    return memories[name].text if name in memories else ""


def replace_item(text: str, memory: Memory, *, by_hand: bool = False, successor: str = "") -> str:
    """Return the text with the item of this id changed; nothing else is touched.

    Unknown fields of its comment stay, and so do its lines while the words are the same. A memory that no
    longer holds is struck through, followed by the words of its `successor`.
    """
    for item, old in iterate_items(text, memory.scope, by_hand=by_hand):
        if old.id == memory.id:
            fields = {**read_comment(item.text), **comment_fields(memory)}
            same = normalise(memory.text) == old.text
            if same and memory.active == old.active:
                lines = set_comment(item.text, fields)
            elif same and old.active:
                lines = set_comment(strike_item(item.text, memory, successor), fields)
            else:
                newline = detect_newline(text)
                words = replace(memory, text=normalise(memory.text))
                lines = "".join(line + newline for line in format_item(words, fields, successor))
            every = _LINE.findall(text)
            return "".join((*every[: item.start], lines, *every[item.end :]))
    return text


def remove_items(text: str, names: Collection[str], scope: Scope, *, by_hand: bool = False) -> str:
    """Return the text without the items of these ids, copies included."""
    lines = _LINE.findall(text)
    for item, memory in iterate_items(text, scope, by_hand=by_hand):
        if memory.id in names:
            lines[item.start : item.end] = [""] * (item.end - item.start)
    return "".join(lines)


def normalise(text: str) -> str:
    """Return a text as it can be stored: one kind of line end, valid characters, no trailing space."""
    whole = text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    lines = whole.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


@dataclass(frozen=True, slots=True)
class _Item:
    """The text of a list item, its first line and the line after its last."""

    text: str
    start: int
    end: int


def iterate_items(text: str, scope: Scope, *, by_hand: bool) -> Iterator[tuple[_Item, Memory]]:
    items = list(split_items(_LINE.findall(text)))
    hands = read_handwritten(text, items, scope) if by_hand else {}
    for item in items:
        memory = hands.get(item.start) or parse_item(item.text, scope)
        if memory is not None:
            yield item, memory


def read_handwritten(text: str, items: Sequence[_Item], scope: Scope) -> dict[int, Memory]:
    """Return the items without a comment by line; what looks like an item inside of code is none."""
    bare = [item for item in items if not BEGINNING.search(item.text)]
    if not bare:
        return {}
    tokens = _markdown.parse(text)
    starts = {token.map[0] for token in tokens if token.type == "list_item_open" and token.map}
    front = _FRONT.match(text)
    first = len(_LINE.findall(front[0])) if front else 0
    headings = find_headings(tokens)
    memories: dict[int, Memory] = {}
    for item in bare:
        words = item_text(item.text)
        if words and item.start in starts and item.start >= first:
            above = bisect_left(headings, item.start, key=lambda heading: heading[0])
            heading = headings[above - 1][2] if above else ""
            kind: Kind = next((kind for kind in KINDS if heading in _heading_names(kind)), "fact")
            digest = hashlib.sha256(" ".join(words.split()).encode(errors="surrogatepass")).hexdigest()
            memories[item.start] = Memory(f"{_BY_HAND}{digest[:16]}", kind, words, scope)
    return memories


def _heading_names(kind: Kind) -> set[str]:
    return {headings[kind].casefold() for headings in _HEADINGS.values()}


def split_items(lines: Sequence[str]) -> Iterator[_Item]:
    at = 0
    while at < len(lines):
        if not _BULLET.match(lines[at]):
            at += 1
            continue
        end = find_item_end(lines, at)
        yield _Item("".join(lines[at:end]), at, end)
        at = end


def find_item_end(lines: Sequence[str], start: int) -> int:
    """Find the end of an item: it goes on with indented lines, and with others of its paragraph."""
    end, paragraph = start + 1, not COMMENT.search(lines[start])
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if not line.strip():
            paragraph = False
            continue
        indented = line.startswith((_INDENT, "\t"))
        if not indented and (not paragraph or _BULLET.match(line) or _HEADING.match(line)):
            break
        end = at + 1
        if COMMENT.search(line):
            paragraph = False
    return end


@lru_cache(_READ_ITEMS)
def parse_item(item: str, scope: Scope) -> Memory | None:
    fields, text = read_comment(item), item_text(item)
    if fields.get("superseded_by"):
        text = remove_strikes(text)
    if not text or "id" not in fields or fields.get("kind") not in KINDS:
        return None
    written = {name: form.read(fields[name]) for name, form in FIELD_FORMS.items() if name in fields}
    return Memory(str(fields["id"]), fields["kind"], text, scope, **written)


def item_text(item: str) -> str:
    first, *others = _LINE.findall(COMMENT.sub("", item))
    lines = [_BULLET.sub("", first, count=1), *(line.removeprefix(_INDENT) for line in others)]
    return normalise(_OPENED.sub(r"<\1!--", _CLOSED.sub(r"--\1>", "".join(lines))))


def comment_fields(memory: Memory) -> dict[str, Any]:
    written = {name: form.write(getattr(memory, name)) for name, form in FIELD_FORMS.items()}
    return {"id": memory.id, "kind": memory.kind, **written}


def format_item(memory: Memory, fields: Mapping[str, Any] | None = None, successor: str = "") -> list[str]:
    words = memory.text if memory.active else format_struck(memory, successor)
    text = _CLOSES.sub(r"--\\\1>", _OPENS.sub(r"<\\\1!--", words))
    first, *others = [*text.split("\n"), write_comment(fields or comment_fields(memory))]
    return [f"- {first}", *(_INDENT + line if line else "" for line in others)]


def format_struck(memory: Memory, successor: str) -> str:
    """Return the words of a memory that no longer holds: struck through, since when, and its successor."""
    if "~" in memory.text:
        return memory.text
    lines = (f"~~{line}~~" if line.strip() else line for line in memory.text.split("\n"))
    return "\n".join(lines) + _successor_suffix(memory, successor)


def _successor_suffix(memory: Memory, successor: str) -> str:
    words = ": ".join(filter(None, (format_time(memory.valid_until)[:10], " ".join(successor.split()))))
    return f" {_ARROW} {words or '…'}"


def strike_item(item: str, memory: Memory, successor: str) -> str:
    """Strike the lines of an item as they are, with the bullet and breaks a person gave it."""
    if "~" in memory.text:
        return item
    lines = _LINE.findall(item)
    last = max(at for at, line in enumerate(lines) if COMMENT.sub("", line).strip())
    for at, line in enumerate(lines):
        words = COMMENT.split(line, maxsplit=1)[0].rstrip()
        start = _LEADS.match(words)
        begin = start.end() if start else 0
        if words[begin:]:
            tail = _successor_suffix(memory, successor) if at == last else ""
            lines[at] = f"{words[:begin]}~~{words[begin:]}~~{tail}{line[len(words) :]}"
    return "".join(lines)


def remove_strikes(text: str) -> str:
    """Return the words without strikes."""
    if not _BEHIND.search(text):
        return text
    lines = _BEHIND.sub("", text).split("\n")
    return "\n".join(line[2:-2] if line.startswith("~~") and line.endswith("~~") else line for line in lines)


def set_comment(item: str, fields: Mapping[str, Any]) -> str:
    written = write_comment(fields)
    if COMMENT.search(item):
        return COMMENT.sub(lambda _: written, item, count=1)
    newline = detect_newline(item)
    return f"{item.rstrip(chr(10) + chr(13))}{newline}{_INDENT}{written}{newline}"


def detect_newline(text: str) -> str:
    ending = re.search(r"\r\n|\r|\n", text)
    return ending.group() if ending else "\n"


def insert_items(text: str, kind: Kind, items: Sequence[list[str]], heading: str) -> str:
    lines = _LINE.findall(text)
    newline = detect_newline(text)
    block = [line for item in items for line in item]
    place = _under_heading(lines, kind) or _after_others(lines, kind)
    if place is None:
        place = len(lines)
        block = ["", f"## {heading}", "", *block]
    elif _HEADING.match(lines[place - 1]):
        block = ["", *block]
    before, after = "".join(lines[:place]), "".join(lines[place:])
    if before and not before.endswith(("\r", "\n")):
        before += newline
    return before + "".join(line + newline for line in block) + after


def _under_heading(lines: Sequence[str], kind: Kind) -> int | None:
    """Return the line after the last one under the heading of this kind, in any language."""
    headings, names = find_headings(_markdown.parse(blank_items(lines))), _heading_names(kind)
    for at, (_, start, name) in enumerate(headings):
        if name in names:
            end = headings[at + 1][0] if at + 1 < len(headings) else len(lines)
            place = next((line + 1 for line in range(end - 1, start - 1, -1) if lines[line].strip()), start)
            following = next((line for line in lines[place:] if line.strip()), "")
            # A next heading that is indented would be taken for the rest of an item before it.
            if not following.startswith((_INDENT, "\t")):
                return place
    return None


def blank_items(lines: Sequence[str]) -> str:
    """Return the text with empty lines for items of machines, which take long to parse."""
    blank = list(lines)
    for item in split_items(lines):
        if BEGINNING.search(item.text):
            blank[item.start : item.end] = ["\n"] * (item.end - item.start)
    return "".join(blank)


def _after_others(lines: Sequence[str], kind: Kind) -> int | None:
    """Return the line after the last item of this kind, where a person renamed the heading."""
    ends = [item.end for item in split_items(lines) if read_comment(item.text).get("kind") == kind]
    return ends[-1] if ends else None


def find_headings(tokens: Sequence[Token]) -> list[tuple[int, int, str]]:
    """Return the headings outside of lists and quotes: first line, line after, name in lower case."""
    return [
        (token.map[0], token.map[1], words.content.strip().rstrip(":").casefold())
        for token, words in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


_LONGEST = 8_000


def check_text(text: str) -> str:
    if not normalise(text):
        raise BadRequest(
            lazy("A memory needs words."), hint=lazy("Say what is to be remembered."), param="text"
        )
    if len(text) > _LONGEST:
        raise BadRequest(
            lazy(
                "A memory has at most {longest:,} characters; this has {number:,}.",
                longest=_LONGEST,
                number=len(text),
            ),
            hint=lazy("Say it shorter, or write it into a note of your own."),
            param="text",
        )
    return normalise(text)


def check_kind(kind: str) -> Kind:
    valid = next((known for known in KINDS if known == kind and known != "summary"), None)
    if valid is None:
        raise BadRequest(
            lazy("{kind!r} is no kind of memory.", kind=kind),
            hint=lazy("Use fact, decision, preference or note."),
        )
    return valid


def check_listed_kind(kind: str) -> Kind:
    """Check a kind to be listed: summaries can be listed but not written by hand."""
    return "summary" if kind == "summary" else check_kind(kind)


def check_importance(value: float) -> float:
    if not 0 <= value <= 1:
        raise BadRequest(
            lazy("Importance is between 0 and 1."), hint=lazy("0.5 is usual."), param="importance"
        )
    return value
