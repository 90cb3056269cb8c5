"""Cutting a Markdown text into parts that can be found and cited: about 400 tokens, with some overlap.

A part ends at a heading, or where the text has a border; a block of code stays whole, and a memory is a part
of its own. Knows texts and lines, no files.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from holdfast.memory.base import Memory
from holdfast.memory.workspace.comments import COMMENT
from holdfast.memory.workspace.items import placed
from holdfast.messages import Scope
from holdfast.store.pieces import SIZE as PIECE

# A change of how texts are cut needs a new number: files are then read again.
CHUNK_VERSION = 3

# In characters, four to a token.
CHUNK_SIZE = 1_600
OVERLAP = 320
# A block of code that is larger is data: it is cut between lines.
_LARGEST_FENCE = 16_000

_LINE_END = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)$")


@dataclass(frozen=True, slots=True)
class NoteChunk:
    """A part of a text and its lines, counted from one. `headings` are those above it, the outermost first.

    `memory` and `kind` tell which memory it is, and are empty where it is none.
    """

    text: str
    first: int
    last: int
    headings: tuple[str, ...] = ()
    memory: str = ""
    kind: str = ""
    at: float = 0.0
    holds: bool = True

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode(errors="surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is never cut: a line, a block of code, or a portion of an endless line."""

    text: str
    first: int
    last: int
    heading: bool = False
    fence: bool = False

    @property
    def size(self) -> int:
        return len(self.text) + 1


def split_chunks(text: str, *, by_hand: bool = False) -> list[NoteChunk]:
    """All parts of a text; `by_hand` says that list items without a comment of ours are memories too."""
    lines = _LINE_END.split(text.removeprefix("\ufeff"))
    memories = {one.first - 1: one for one in placed(text, Scope(), by_hand=by_hand)}
    found: list[NoteChunk] = []
    above: list[tuple[int, str]] = []
    units: list[_Unit] = []
    at = 0

    def flush() -> None:
        found.extend(_pack(units, tuple(name for _, name in above)))
        units.clear()

    while at < len(lines):
        heading = _HEADING.match(lines[at])
        if at in memories:
            one = memories[at]
            if all(unit.heading or not unit.text.strip() for unit in units):
                # A heading alone says nothing that the memories under it do not know.
                units.clear()
            flush()
            names, memory = tuple(name for _, name in above), one.memory
            told = _memory_text(memory)
            found.append(
                NoteChunk(
                    told, one.first, one.last, names, memory.id, memory.kind, memory.date, memory.active
                )
            )
            at = one.last
        elif heading:
            if any(not unit.heading and unit.text.strip() for unit in units):
                flush()
            level = len(heading[1])
            above = [(depth, name) for depth, name in above if depth < level] + [
                (level, heading[2].rstrip(" \t#"))
            ]
            units.append(_Unit(lines[at], at, at, heading=True))
            at += 1
        else:
            end = _fence_end(lines, at)
            units += _units(lines[at:end], at)
            at = end
    flush()
    return found


def _memory_text(memory: Memory) -> str:
    """The words of a memory; of one that no longer holds, until when it did."""
    if memory.active:
        return memory.text
    until = f"{datetime.fromtimestamp(memory.valid_until, UTC):%Y-%m-%d}" if memory.valid_until else "?"
    return f"{memory.text} (… {until})"


def _fence_end(lines: Sequence[str], at: int) -> int:
    """The line after a block of code that begins here; the next line where none does."""
    opening = _FENCE.match(lines[at])
    if not opening:
        return at + 1
    for end in range(at + 1, len(lines)):
        closing = _FENCE.match(lines[end])
        if closing and closing[1].startswith(opening[1]) and not lines[end][closing.end() :].strip():
            return end + 1
    return len(lines)


def _units(lines: Sequence[str], first: int) -> Iterator[_Unit]:
    whole = "\n".join(lines)
    if len(lines) > 1 and len(whole) <= _LARGEST_FENCE:
        yield _Unit(whole, first, first + len(lines) - 1, fence=True)
        return
    for number, line in enumerate(lines, first):
        if len(line) <= CHUNK_SIZE:
            yield _Unit(line, number, number)
        else:
            for start in range(0, len(line), CHUNK_SIZE - PIECE):
                yield _Unit(line[start : start + CHUNK_SIZE - PIECE], number, number)


def _pack(units: Sequence[_Unit], headings: tuple[str, ...]) -> Iterator[NoteChunk]:
    """The units in parts of the right size, each beginning with the end of the one before."""
    current: list[_Unit] = []
    repeated = size = 0
    for unit in units:
        while len(current) > repeated and size + unit.size > CHUNK_SIZE:
            cut = max(_border(current), repeated + 1)
            yield from _chunk(current[:cut], headings)
            tail = _tail(current[:cut])
            current, repeated = [*tail, *current[cut:]], len(tail)
            size = sum(one.size for one in current)
        if len(current) == repeated and size + unit.size > CHUNK_SIZE:
            # There is no room for any overlap beside it.
            current, repeated, size = [], 0, 0
        current.append(unit)
        size += unit.size
    if len(current) > repeated:
        yield from _chunk(current, headings)


def _border(units: Sequence[_Unit]) -> int:
    """Where to cut: after the last empty line in the second half, else at the end."""
    size, best = 0, len(units)
    for number, unit in enumerate(units):
        size += unit.size
        if size > CHUNK_SIZE // 2 and not unit.text.strip():
            best = number + 1
    return best


def _tail(units: Sequence[_Unit]) -> list[_Unit]:
    """The last lines that fit into the overlap; a block of code is not repeated."""
    found: list[_Unit] = []
    for unit in reversed(units):
        if unit.fence or unit.heading or sum(one.size for one in found) + unit.size > OVERLAP:
            break
        found.insert(0, unit)
    return found


def _chunk(units: Sequence[_Unit], headings: tuple[str, ...]) -> Iterator[NoteChunk]:
    """The part that these units are; none where they say nothing."""
    first, last = 0, len(units)
    while first < last and not units[first].text.strip():
        first += 1
    while last > first and not units[last - 1].text.strip():
        last -= 1
    text = COMMENT.sub("", "\n".join(unit.text for unit in units[first:last]))
    if text.strip():
        yield NoteChunk(text.strip("\n"), units[first].first + 1, units[last - 1].last + 1, headings)
