"""What is worth keeping of a program's output: lines that say errors, and the shape of JSON.

Room and sizes are in characters; what stands in place of what went is handed in. It knows no tokens and no
messages.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

# What stands in place of so many characters.
Note = Callable[[int], str]

_ERROR = re.compile(
    r"(?i)\b(?:error|errors|exception|traceback|failed|failure|fatal|panic|panicked|segfault|abort(?:ed)?|denied"
    r"|fehler|fehlgeschlagen|gescheitert|abgebrochen)\b|\b\w+(?:Error|Exception|Failure)\b|\bwarn(?:ing|ung):"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)?:? [1-9]|^E  +\S"
)
_NO_ERROR = re.compile(r"(?i)\b(?:0|no|zero|without|keine|ohne) (?:errors?|failures?|failed|fehler)\b")
_OPENING = re.compile(r"\s*((`{3,}+|~{3,}+)[^\n`]*\n)")

_HEAD_SHARE = 0.6
_FOR_ERRORS = 0.5
# Below this a value is not worth cutting: the note in its place is about as long.
_SHORT = 32


def unwrap_fence(text: str) -> tuple[str, str, str]:
    """Opening, inside and closing of an output that is one code fence; else all of it is inside."""
    opening, whole = _OPENING.match(text), text.rstrip()
    if opening is None or not whole.endswith(opening[2]) or len(whole) - len(opening[2]) < opening.end():
        return "", text, ""
    inside = whole[opening.end() : -len(opening[2])].rstrip(" \t").removesuffix("\n")
    if opening[2] in inside:
        return "", text, ""
    return opening[1], inside, whole[opening.end() + len(inside) :]


class OutputLines:
    """An output line by line. It is read once and can be written in many sizes."""

    def __init__(self, text: str, note: Note) -> None:
        self._note = note
        self._lines = text.split("\n")
        # Where each line starts, and the end: what lies between two lines is a subtraction.
        self._starts = [0, *accumulate(len(line) + 1 for line in self._lines)]
        errors = [number for number, line in enumerate(self._lines) if _says_error(line)]
        self._errors = list(_from_both_ends(errors))

    def write(self, room: int) -> str:
        """Lines that say errors with their neighbours and the last line; in what is left, head and tail."""
        lines = self._lines
        if len(lines) == 1:
            return clip_line(lines[0], room, self._note)
        # One enormous line must not push out all others.
        most = max(_SHORT, room // 4)
        kept: set[int] = set()
        left = room - self._take(kept, self._last_lines(), room // 2, most)
        left -= self._take(kept, _with_neighbours(self._errors, len(lines)), int(room * _FOR_ERRORS), most)
        left -= self._take(kept, range(len(lines)), int(left * _HEAD_SHARE), most)
        self._take(kept, range(len(lines) - 1, -1, -1), left, most)
        return "\n".join(self._with_notes(sorted(kept), most))

    def _last_lines(self) -> Iterator[int]:
        for number in range(len(self._lines) - 1, -1, -1):
            yield number
            if self._lines[number].strip():
                return

    def _take(self, kept: set[int], numbers: Iterable[int], room: int, most: int) -> int:
        """Adds lines in this order until one does not fit; returns what they took."""
        taken = 0
        for number in numbers:
            if number in kept:
                continue
            cost = min(len(self._lines[number]), most) + 1
            if taken + cost > room:
                break
            taken += cost
            kept.add(number)
        return taken

    def _with_notes(self, kept: Sequence[int], most: int) -> Iterator[str]:
        following = 0
        for number in kept:
            if number > following:
                yield self._note(self._starts[number] - self._starts[following])
            yield clip_line(self._lines[number], most, self._note)
            following = number + 1
        if following < len(self._lines):
            yield self._note(self._starts[-1] - self._starts[following])


def _says_error(line: str) -> bool:
    # Errors are said early in a line; the rest of a long one is data.
    start = line[:500]
    return bool(_ERROR.search(start)) and not _NO_ERROR.search(start)


def _from_both_ends(numbers: Sequence[int]) -> Iterator[int]:
    """First, last, second, last but one: the cause tends to stand first and the outcome last."""
    for step in range((len(numbers) + 1) // 2):
        yield numbers[step]
        if len(numbers) - 1 - step != step:
            yield numbers[-1 - step]


def _with_neighbours(numbers: Iterable[int], end: int) -> Iterator[int]:
    for number in numbers:
        for near in (number, number - 1, number + 1):
            if 0 <= near < end:
                yield near


def clip_line(text: str, room: int, note: Note) -> str:
    if len(text) <= room:
        return text
    if room < _SHORT:
        return note(len(text))
    head = int(room * _HEAD_SHARE)
    tail = room - head
    return f"{text[:head]} {note(len(text) - room)} {text[-tail:]}"


@dataclass(frozen=True, slots=True)
class _Number:
    """As it was written: 1.10 and 1e400 come out as they went in."""

    text: str


class _Object(list[tuple[str, Any]]):
    """In its order, a name that comes twice included."""


def json_writer(text: str, note: Note) -> Callable[[int], str] | None:
    """How to write this JSON in about so much room, still as JSON; None if it is none, or a bare value."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_Object, parse_int=_Number, parse_float=_Number)
        writer = JsonOutput(note)
        writer.size(value)
    except (ValueError, RecursionError):
        return None
    return lambda room: writer.write(value, room)


class JsonOutput:
    def __init__(self, note: Note) -> None:
        self._note = note
        self._sizes: dict[int, int] = {}
        self._lines: dict[str, OutputLines] = {}

    def size(self, value: Any) -> int:
        """The length of the value written in full."""
        if not isinstance(value, list):
            return len(_scalar(value))
        if id(value) not in self._sizes:
            names = sum(len(_scalar(name)) + 2 for name, _ in value) if isinstance(value, _Object) else 0
            inside = sum(self.size(item) + 2 for item in _values(value))
            self._sizes[id(value)] = names + inside + 2
        return self._sizes[id(value)]

    def write(self, value: Any, room: int) -> str:
        if isinstance(value, str):
            return _scalar(value if len(value) <= max(room, _SHORT) else self._string(value, room))
        if not isinstance(value, list):
            return _scalar(value)
        if self.size(value) > room and room < _SHORT:
            return _scalar(self._note(self.size(value)))
        return self._object(value, room) if isinstance(value, _Object) else self._array(value, room)

    def _string(self, text: str, room: int) -> str:
        if text not in self._lines:
            self._lines[text] = OutputLines(text, self._note)
        return self._lines[text].write(room)

    def _array(self, items: Sequence[Any], room: int) -> str:
        first, last = self._ends(items, room)
        kept = [*items[:first], *items[last:]]
        written = [
            self.write(item, share) for item, share in zip(kept, self._shares(kept, room), strict=True)
        ]
        if first < last:
            gone = sum(self.size(item) + 2 for item in items[first:last])
            written.insert(first, _scalar(self._note(gone)))
        return f"[{', '.join(written)}]"

    def _object(self, pairs: _Object, room: int) -> str:
        first, last = self._ends(pairs, room)
        kept = [*pairs[:first], *pairs[last:]]
        names = sum(len(name) + 6 for name, _ in kept)
        shares = self._shares([value for _, value in kept], room - names)
        written = [
            f"{_scalar(name)}: {self.write(value, share)}"
            for (name, value), share in zip(kept, shares, strict=True)
        ]
        if first < last:
            gone = sum(len(name) + 6 + self.size(value) for name, value in pairs[first:last])
            written.insert(first, f"{_scalar(self._note(gone))}: null")
        return f"{{{', '.join(written)}}}"

    def _ends(self, items: Sequence[Any], room: int) -> tuple[int, int]:
        """How many of the first stay, and where the last that stay begin, so that each has some room."""
        most = max(2, room // _SHORT)
        # In place of one or two a note would save nothing.
        if len(items) <= most + 2:
            return len(items), len(items)
        first = max(1, int(most * _HEAD_SHARE))
        return first, len(items) - max(1, most - first)

    def _shares(self, items: Sequence[Any], room: int) -> list[int]:
        """The room for each: the small get all they need, the large share what is left alike."""
        sizes = [self.size(item) for item in items]
        left, cap = max(0, room), 0
        for done, size in enumerate(sorted(sizes)):
            cap = left // (len(sizes) - done)
            if size > cap:
                break
            left -= size
        else:
            return sizes
        return [min(size, cap) for size in sizes]


def _values(value: Any) -> Iterable[Any]:
    return (item for _, item in value) if isinstance(value, _Object) else value


def _scalar(value: Any) -> str:
    return value.text if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)
