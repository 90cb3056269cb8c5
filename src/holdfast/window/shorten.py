"""Shortens a text to a number of tokens: head and tail stay, a neutral marker says how much was cut.

The result is never over the limit, and a text within the limit is returned as it is. Cuts are made at
paragraphs, lines, sentences or words, never inside a code fence. Tool output keeps its errors, JSON its form.
"""

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from holdfast.text.analyser import language_of
from holdfast.text.lang import any_word, by_language

# Start and end of a part of a text, in characters.
Span = tuple[int, int]

# The share of the kept text that a cut may give up for a better border.
_GIVES = 0.3

_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
# From best to worst; a cut is made at the end of the match.
_BORDERS = (
    re.compile(r"\n[ \t\r]*\n+"),
    re.compile(r"\n"),
    re.compile(r"[.!?…。！？][\"'”’“»)\]]*\s+|[。！？]"),
    re.compile(r"\s+"),
)
# The most code points of one visible character; longer sequences are cut.
_LONGEST_CHARACTER = 64


def fences(text: str) -> list[Span]:
    """Return the fenced blocks, from opening to closing line; one without an end goes to the end."""
    if "```" not in text and "~~~" not in text:
        return []
    lines = list(_FENCE.finditer(text))
    spans: list[Span] = []
    number, nests = 0, True
    while number < len(lines):
        opening = lines[number]
        number += 1
        if "`" in opening["info"] and opening["mark"][0] == "`":
            continue  # inline code that stands alone on its line
        closing = _closing(lines, number, opening, nests=True) if nests else None
        if closing is None:
            # If fences within fences do not add up once, they are not meant that way.
            nests = False
            closing = _closing(lines, number, opening, nests=False)
        if closing is None:
            spans.append((opening.start(), len(text)))
            break
        spans.append((opening.start(), min(len(text), lines[closing].end() + 1)))
        number = closing + 1
    return spans


def _closing(
    lines: Sequence[re.Match[str]], start: int, opening: re.Match[str], *, nests: bool
) -> int | None:
    mark, depth = opening["mark"], 1
    for number in range(start, len(lines)):
        line = lines[number]
        if line["mark"][0] != mark[0] or len(line["mark"]) < len(mark):
            continue
        if line["info"].strip():
            depth += nests
        else:
            depth -= 1
        if not depth:
            return number
    return None


def head_end(text: str, position: int, whole: Sequence[Span]) -> int:
    """Return where the head ends if it may go up to `position`, outside the spans in `whole`."""
    before = bisect_right(whole, (position, -1)) - 1
    lowest = 0
    if before >= 0:
        start, end = whole[before]
        if start < position < end:
            return start
        lowest = min(end, position)
    lowest = max(lowest, position - int(position * _GIVES))
    for border in _BORDERS:
        ends = [match.end() for match in border.finditer(text, lowest, position)]
        if ends:
            return ends[-1]
    if before >= 0 and lowest == whole[before][1]:
        return lowest
    return whole_characters(text, position, -1)


def tail_start(text: str, position: int, whole: Sequence[Span]) -> int:
    """Return where the tail starts if it may begin at `position`, outside the spans in `whole`."""
    after = bisect_right(whole, (position, len(text) + 1)) - 1
    if after >= 0 and position < whole[after][1]:
        start, end = whole[after]
        return start if position == start else end
    highest = position + int((len(text) - position) * _GIVES)
    at_fence = after + 1 < len(whole) and whole[after + 1][0] <= highest
    if at_fence:
        highest = whole[after + 1][0]
    for border in _BORDERS:
        # One character earlier: the border may end just where the tail begins.
        match = border.search(text, max(0, position - 1), highest)
        if match and match.end() < len(text):
            return match.end()
    return highest if at_fence else whole_characters(text, position, 1)


def whole_characters(text: str, position: int, step: int) -> int:
    """Return the nearest position in this direction that splits no visible character."""
    place = position
    for _ in range(_LONGEST_CHARACTER):
        if not 0 < place < len(text) or not _splits_character(text, place):
            return place
        place += step
    return position


def _splits_character(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return (
        unicodedata.category(after) in ("Mn", "Me", "Mc")
        or "\u200d" in (before, after)
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or "\u1160" <= after <= "\u11ff"  # the later letters of a Korean syllable
        or (_flag(before) and _flag(after) and _flags_before(text, place) % 2 == 1)
    )


def _flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, place: int) -> int:
    start = place
    while start > max(0, place - _LONGEST_CHARACTER) and _flag(text[start - 1]):
        start -= 1
    return place - start


# What stands in place of so many characters.
Note = Callable[[int], str]

_ERROR = re.compile(
    rf"(?i)\b{any_word('ERRORS')}\b|\b\w+(?:Error|Exception|Failure)\b|\bwarn(?:ing|ung):"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)?:? [1-9]|^E  +\S"
)
_NO_ERROR = re.compile(rf"(?i)\b(?:0|{any_word('ERROR_DENIALS')}) {any_word('ERROR_COUNTS')}\b")
_OPENING = re.compile(r"\s*((`{3,}+|~{3,}+)[^\n`]*\n)")

_HEAD = 0.6
_FOR_ERRORS = 0.5
# Below this a value is not worth cutting: the note in its place is about as long.
_SHORT = 32


def unwrap_fence(text: str) -> tuple[str, str, str]:
    """Return opening, content and closing of an output that is one code fence; else all is content."""
    opening, whole = _OPENING.match(text), text.rstrip()
    if opening is None or not whole.endswith(opening[2]) or len(whole) - len(opening[2]) < opening.end():
        return "", text, ""
    inside = whole[opening.end() : -len(opening[2])].rstrip(" \t").removesuffix("\n")
    if opening[2] in inside:
        return "", text, ""
    return opening[1], inside, whole[opening.end() + len(inside) :]


class OutputLines:
    """An output line by line: read once, and written in several sizes."""

    def __init__(self, text: str, note: Note) -> None:
        self._note = note
        self._lines = text.split("\n")
        # Where each line starts, and the end: what lies between two lines is a subtraction.
        self._starts = [0, *accumulate(len(line) + 1 for line in self._lines)]
        errors = [number for number, line in enumerate(self._lines) if says_error(line)]
        self._errors = list(from_both_ends(errors))

    def write(self, room: int) -> str:
        """Return the last line and errors with their neighbours, and as much of head and tail as fits."""
        lines = self._lines
        if len(lines) == 1:
            return clip_line(lines[0], room, self._note)
        # One enormous line must not push out all others.
        most = max(_SHORT, room // 4)
        chosen: set[int] = set()
        left = room - self._take(chosen, self._last_lines(), room // 2, most)
        left -= self._take(chosen, with_neighbours(self._errors, len(lines)), int(room * _FOR_ERRORS), most)
        left -= self._take(chosen, range(len(lines)), int(left * _HEAD), most)
        self._take(chosen, range(len(lines) - 1, -1, -1), left, most)
        return "\n".join(self._with_notes(sorted(chosen), most))

    def _last_lines(self) -> Iterator[int]:
        for number in range(len(self._lines) - 1, -1, -1):
            yield number
            if self._lines[number].strip():
                return

    def _take(self, lines: set[int], numbers: Iterable[int], room: int, most: int) -> int:
        """Add lines in this order until one does not fit; return their size."""
        taken = 0
        for number in numbers:
            if number in lines:
                continue
            cost = min(len(self._lines[number]), most) + 1
            if taken + cost > room:
                break
            taken += cost
            lines.add(number)
        return taken

    def _with_notes(self, numbers: Sequence[int], most: int) -> Iterator[str]:
        following = 0
        for number in numbers:
            if number > following:
                yield self._note(self._starts[number] - self._starts[following])
            yield clip_line(self._lines[number], most, self._note)
            following = number + 1
        if following < len(self._lines):
            yield self._note(self._starts[-1] - self._starts[following])


def says_error(line: str) -> bool:
    # Errors are said early in a line; the rest of a long one is data.
    start = line[:500]
    return bool(_ERROR.search(start)) and not _NO_ERROR.search(start)


def from_both_ends(numbers: Sequence[int]) -> Iterator[int]:
    """Return first, last, second, last but one: the cause tends to be first and the outcome last."""
    for step in range((len(numbers) + 1) // 2):
        yield numbers[step]
        if len(numbers) - 1 - step != step:
            yield numbers[-1 - step]


def with_neighbours(numbers: Iterable[int], end: int) -> Iterator[int]:
    for number in numbers:
        for near in (number, number - 1, number + 1):
            if 0 <= near < end:
                yield near


def clip_line(text: str, room: int, note: Note) -> str:
    if len(text) <= room:
        return text
    if room < _SHORT:
        return note(len(text))
    head = int(room * _HEAD)
    tail = room - head
    return f"{text[:head]} {note(len(text) - room)} {text[-tail:]}"


@dataclass(frozen=True, slots=True)
class _Number:
    """A number as it was written: 1.10 and 1e400 do not change."""

    text: str


class _Object(list[tuple[str, Any]]):
    """An object in its order, with repeated names."""


def json_writer(text: str, note: Note) -> Callable[[int], str] | None:
    """Return a function that writes this JSON in about so many characters; None for other texts."""
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
    """Writes parsed JSON in a given room, still as JSON."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._sizes: dict[int, int] = {}
        self._lines: dict[str, OutputLines] = {}

    def size(self, value: Any) -> int:
        """Return the length of the value written in full."""
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
        ends = [*items[:first], *items[last:]]
        written = [
            self.write(item, share) for item, share in zip(ends, self._shares(ends, room), strict=True)
        ]
        if first < last:
            gone = sum(self.size(item) + 2 for item in items[first:last])
            written.insert(first, _scalar(self._note(gone)))
        return f"[{', '.join(written)}]"

    def _object(self, pairs: _Object, room: int) -> str:
        first, last = self._ends(pairs, room)
        ends = [*pairs[:first], *pairs[last:]]
        names = sum(len(name) + 6 for name, _ in ends)
        shares = self._shares([value for _, value in ends], room - names)
        written = [
            f"{_scalar(name)}: {self.write(value, share)}"
            for (name, value), share in zip(ends, shares, strict=True)
        ]
        if first < last:
            gone = sum(len(name) + 6 + self.size(value) for name, value in pairs[first:last])
            written.insert(first, f"{_scalar(self._note(gone))}: null")
        return f"{{{', '.join(written)}}}"

    def _ends(self, items: Sequence[Any], room: int) -> tuple[int, int]:
        """Return the end of the first and the start of the last items that stay, so that each has room."""
        most = max(2, room // _SHORT)
        # In place of one or two a note would save nothing.
        if len(items) <= most + 2:
            return len(items), len(items)
        first = max(1, int(most * _HEAD))
        return first, len(items) - max(1, most - first)

    def _shares(self, items: Sequence[Any], room: int) -> list[int]:
        """Return the room for each: small ones get all they need, large ones share the remainder."""
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


# Counts tokens. May be slow: it is called about a dozen times for a text.
Count = Callable[[str], int]
# Returns a text shortened to about so many characters.
Draw = Callable[[int], str]

# The search ends when the possible gain is this small a part.
_PRECISION = 32


_MARKS = by_language("CUT_MARKS")


def marker(tokens: int, language: str = "en") -> str:
    """Return the text that replaces what was cut, without a hint how to get it: models would invent calls."""
    return str(_MARKS[language][0]).format(tokens=f"{tokens:,}")


def shorten(text: str, limit: int, count: Count) -> str:
    """Keep head and tail, cut at the best borders; a code fence is kept or cut as a whole."""
    if (total := count(text)) <= limit:
        return text
    whole = fences(text)
    return _head_and_tail(text, limit, count, total, whole, head_end, tail_start)


def cut_middle(text: str, limit: int, count: Count) -> str:
    """Cut the middle of a text, at any character."""
    if (total := count(text)) <= limit:
        return text

    def end(text: str, position: int, _: Sequence[Span]) -> int:
        return whole_characters(text, position, -1)

    def start(text: str, position: int, _: Sequence[Span]) -> int:
        return whole_characters(text, position, 1)

    return _head_and_tail(text, limit, count, total, (), end, start)


def shorten_result(text: str, limit: int, count: Count) -> str:
    """Shorten a tool's result: errors are kept first, then head and tail; JSON stays JSON.

    The numbers in its markers are estimated by characters. A code fence around all of it is kept.
    """
    if (total := count(text)) <= limit:
        return text
    opening, inside, closing = unwrap_fence(text)
    density = total / len(text)

    def note(characters: int) -> str:
        return marker(max(1, round(characters * density)))

    def fit(draw: Draw) -> str | None:
        def wrap(room: int) -> str:
            return f"{opening}{draw(room)}{closing}"

        room = _largest_room(wrap, limit, count, guess=int(limit / density), most=len(text))
        return None if room is None else wrap(room)

    shape = json_writer(inside, note)
    return (shape and fit(shape)) or fit(OutputLines(inside, note).write) or cut_middle(text, limit, count)


def _head_and_tail(
    text: str,
    limit: int,
    count: Count,
    total: int,
    whole: Sequence[Span],
    end: Callable[[str, int, Sequence[Span]], int],
    start: Callable[[str, int, Sequence[Span]], int],
) -> str:
    def cuts(room: int) -> Span:
        left = end(text, int(room * _HEAD), whole)
        right = start(text, len(text) - (room - left), whole)
        # What the tail could not use goes to the head.
        left = max(left, end(text, room - (len(text) - right), whole)) if right < len(text) else left
        return left, max(left, right)

    language = language_of(text) or "en"

    def draw(room: int) -> str:
        left, right = cuts(room)
        return _join_cut(text, left, right, total * (right - left) // len(text), language)

    room = _largest_room(draw, limit, count, guess=limit * len(text) // total, most=len(text) - 1)
    if room is None:
        return _least(total, limit, count, language)
    left, right = cuts(room)
    exact = _join_cut(text, left, right, total - count(text[:left]) - count(text[right:]), language)
    return exact if count(exact) <= limit else draw(room)


def _join_cut(text: str, left: int, right: int, tokens: int, language: str) -> str:
    """Join head and tail with a marker: on its own line where lines were cut, else between spaces."""
    if left >= right:
        return text
    head, tail = text[:left].rstrip(), text[right:]
    before = "" if not head else "\n" if text[left - 1] == "\n" else " "
    after = "" if not tail.strip() else "\n" if text[right - 1] == "\n" else " "
    return f"{head}{before}{marker(max(1, tokens), language)}{after}{tail if after else ''}"


def _least(total: int, limit: int, count: Count, language: str) -> str:
    """Return the longest form of the marker that fits."""
    for text in (marker(total, language), _MARKS[language][1], "[…]"):
        if count(text) <= limit:
            return text
    return ""


def _largest_room(draw: Draw, limit: int, count: Count, *, guess: int, most: int) -> int | None:
    """Return about the largest room with which a drawing is within the limit; None if there is none.

    The search begins at a guess, since counting long texts is slow. More room does not always mean more
    tokens, so only rooms that were counted are returned.
    """
    low, high, room = -1, most + 1, min(guess, most)
    while high - low > max(1, low // _PRECISION):
        if count(draw(room)) <= limit:
            low = room
            room = min(low * 2 + 1, most, (low + high) // 2 if high <= most else most)
        else:
            high = room
            room = max(0, (low + high) // 2, high // 2 if low < 0 else 0)
        if room in (low, high):
            break
    return None if low < 0 else low
