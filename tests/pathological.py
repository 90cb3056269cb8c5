"""Texts that make a pattern go over the same characters again and again, made from the pattern itself.

A pattern is slow where it repeats something, gives up, and begins anew one character further on. So the texts
are what it repeats, and what stands before that, many times over. `growth` measures what a length costs.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

# What people, programs and attackers send in masses.
COMMON = (
    " ", "\n", "\t", "a", "A", "1", "ä", '"', "'", "„", "“", "`", "(", "[", "![", "<", ">", "{", "*", "_",
    "-", "=", "#", "|",
    ".", ",", ":", "/", "\\", "@", "\0", " \n", "\n ", "a ", "1 ", "1.", "a.", "A ", "A. ",
    ".\n", "a\n", "- ", "> ", "a, ", "a: ", "``", "](", "a@", "://", "a/", "<a", "</", "&a", "a=", "…", "。",
)  # fmt: skip
_CATEGORIES = {
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_WORD: " ",
}
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
# Repeats of fewer than this are no danger.
_MANY = 20
_SAMPLES = 3
# So many characters are enough: what takes its time in the square of them needs many milliseconds for it.
LENGTH = 4_000
# Seconds for them that make somebody look closer, and the growth with twice the text that is too much: linear
# is 2, quadratic is 4.
_SLOW, _TOO_STEEP = 0.001, 2.8
# Measured so often before it is believed: on a busy machine what is interrupted takes longer than its work.
_LOOKS = 3
# From one length to the next: linear is 5, quadratic is 25.
_STEP = 5
# So few characters take no time, unless each of them doubles it.
_FEW = 20


@dataclass(frozen=True, slots=True)
class Hostile:
    """A text of any length: a head, a unit that is repeated, a tail."""

    head: str
    unit: str
    tail: str = ""

    def text(self, length: int) -> str:
        return self.head + self.unit * (length // len(self.unit)) + self.tail


def hostile_to(pattern: re.Pattern[str]) -> Iterator[Hostile]:
    """Texts against one pattern, each once."""
    seen: set[Hostile] = set()
    for hostile in _candidates(pattern):
        if hostile.unit and hostile not in seen:
            seen.add(hostile)
            yield hostile


def _candidates(pattern: re.Pattern[str]) -> Iterator[Hostile]:
    for unit in COMMON[:12]:
        yield Hostile("", unit)
    for before, bodies in _repeats(parser.parse(pattern.pattern, pattern.flags), ""):
        yield Hostile("", before)
        for body in bodies:
            yield Hostile("", body)
            yield Hostile("", body, "\0")
            yield Hostile(before, body, "\0")
            yield Hostile("", before + body)
            yield Hostile("", body + before)


def _repeats(parsed: Any, before: str) -> Iterator[tuple[str, list[str]]]:
    """Each long repeat of a pattern: a text that leads to it, and texts that it repeats."""
    for code, value in parsed:
        if code in _REPEATS:
            _, most, body = value
            if most >= _MANY:
                yield before, _samples(body)
            yield from _repeats(body, before)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, before)
        elif code is codes.SUBPATTERN:
            yield from _repeats(value[3], before)
        elif code is codes.ATOMIC_GROUP:
            yield from _repeats(value, before)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(value[1], before)
        before += (_samples([(code, value)]) or [""])[0]


def _samples(parsed: Any) -> list[str]:
    """A few short texts that match."""
    texts = [""]
    for code, value in parsed:
        texts = [text + more for text in texts for more in _samples_of(code, value)][:_SAMPLES]
    return texts


def _samples_of(code: Any, value: Any) -> list[str]:
    if code is codes.LITERAL:
        return [chr(value)]
    if code is codes.NOT_LITERAL:
        return ["a" if value != ord("a") else "b"]
    if code is codes.ANY:
        return ["a"]
    if code is codes.IN:
        return _members(value)
    if code is codes.BRANCH:
        return [text for branch in value[1] for text in _samples(branch)[:1]][:_SAMPLES] or [""]
    if code is codes.SUBPATTERN:
        return _samples(value[3])
    if code is codes.ATOMIC_GROUP:
        return _samples(value)
    if code in _REPEATS:
        least, _, body = value
        return [text * min(least, _MANY) for text in _samples(body)] or [""]
    return [""]


def _members(items: Any) -> list[str]:
    if items and items[0][0] is codes.NEGATE:
        return [item for item in ("a", " ", "1", "\n", '"', "(") if not _has(items[1:], item)][:_SAMPLES] or [
            "\x07"
        ]
    members = []
    for code, value in items:
        if code is codes.LITERAL:
            members.append(chr(value))
        elif code is codes.RANGE:
            members.append(chr(value[0]))
        elif code is codes.CATEGORY:
            members.append(_CATEGORIES[value])
    # From both ends: a class often begins with one kind of character and ends with another.
    return list(dict.fromkeys(members[:2] + members[-1:]))


def _has(items: Any, character: str) -> bool:
    point = ord(character)
    return any(
        (code is codes.LITERAL and value == point)
        or (code is codes.RANGE and value[0] <= point <= value[1])
        or (code is codes.CATEGORY and _is_in(value, character))
        for code, value in items
    )


def _is_in(category: Any, character: str) -> bool:
    kinds = {
        codes.CATEGORY_DIGIT: character.isdigit(),
        codes.CATEGORY_SPACE: character.isspace(),
        codes.CATEGORY_WORD: character.isalnum() or character == "_",
    }
    opposite = {
        codes.CATEGORY_NOT_DIGIT: codes.CATEGORY_DIGIT,
        codes.CATEGORY_NOT_SPACE: codes.CATEGORY_SPACE,
        codes.CATEGORY_NOT_WORD: codes.CATEGORY_WORD,
    }
    return kinds[category] if category in kinds else not kinds[opposite[category]]


def seconds(work: Callable[[str], object], text: str, times: int = 1) -> float:
    """Processor time of this thread, the least of several: what else the machine does is not counted."""
    took = []
    for _ in range(times):
        start = time.thread_time()
        work(text)
        took.append(time.thread_time() - start)
    return min(took)


def slow_text(work: Callable[[str], object], texts: Iterable[Hostile]) -> str | None:
    """The first of these texts that takes longer than its length is worth, and how its time grows.

    What is quick at its full length is let go, and so is what grows no faster than the text, measured several
    times.
    """
    for hostile in texts:
        # In steps: what doubles with every character is noticed while it still ends.
        before = 0.0
        for size in (_FEW, LENGTH // _STEP**2, LENGTH // _STEP, LENGTH):
            took = seconds(work, hostile.text(size))
            if took > max(_SLOW, before * _STEP * 2) and (verdict := _verdict(work, hostile, size)):
                return verdict
            before = took
    return None


def _verdict(work: Callable[[str], object], hostile: Hostile, size: int) -> str | None:
    """How the time grows, if every look says that it is too fast, and a text of four times the length too."""
    report = None
    for _ in range(_LOOKS):
        report = _growth(work, hostile, size)
        if report is None:
            return None
    # What doubles with every character was noticed with a few of them, and would not end.
    if size > _FEW:
        longer = seconds(work, hostile.text(4 * size), 2)
        if longer < seconds(work, hostile.text(size), 3) * _TOO_STEEP**2:
            return None
    return report


def _growth(work: Callable[[str], object], hostile: Hostile, size: int) -> str | None:
    """Twice the text should take twice the time: four times is too much, if it is so twice over."""
    took = [seconds(work, hostile.text(part), 3) for part in (size // 4, size // 2, size)]
    if took[2] < _SLOW or took[2] < took[1] * _TOO_STEEP or took[1] < took[0] * _TOO_STEEP:
        return None
    shown = ", ".join(f"{1000 * part:.2f}" for part in took)
    return f"{hostile}: {shown} ms at a length of {size // 4}, twice and four times that"
