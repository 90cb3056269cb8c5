"""The values that all kinds of digests share: digests, named locations, lines and their formatting."""

import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Digest:
    """The short form of a file. The last line of `text` says what is left out, as does `left_out`.

    If nothing is left out, `text` is the file itself and `left_out` is empty.
    """

    kind: str
    text: str
    left_out: str


@dataclass(frozen=True, slots=True)
class LineRange:
    """A part of a file: first and last line, counted from one, and its text."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class ElementLocation:
    """The offsets of a named element in a text; nested names have dots, like `Class.method`."""

    name: str
    start: int
    end: int


class LineIndex:
    """The lines of a text and their offsets. Only a line feed ends a line, as in an editor."""

    def __init__(self, text: str) -> None:
        self.all = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.all)]

    def locate(self, name: str, first: int, last: int) -> ElementLocation:
        """Return the location from one line to another, counted from zero, without blank lines at its end."""
        last = min(last, len(self.all) - 1)
        while last > first and not self.all[last].strip():
            last -= 1
        return ElementLocation(name, self._starts[first], self._starts[last + 1] - 1)


def finish_digest(kind: str, body: Iterable[str], left_out: str) -> Digest:
    """Return a digest of these lines, with what they leave out as the last line."""
    return Digest(kind, "\n".join([*body, f"[{left_out}]"]), left_out)


def shorten_line(text: str, most: int) -> str:
    """Put a text on one line and cut it to this length."""
    # A line may be a megabyte long, so only its beginning is read.
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def plural(number: int, singular: str, plural_form: str = "") -> str:
    """Return the number with the right form of the noun: `1 line`, `2 lines`."""
    return f"{number:,} {singular if number == 1 else plural_form or singular + 's'}"


def nest_names(rows: Iterable[tuple[int, str, int]], end: int) -> Iterator[tuple[str, int, int]]:
    """Yield `(name, first line, last line)` from `(depth, name, first line)` in order.

    An element ends before the next one that is not deeper; nested names are joined by dots.
    """
    known = list(rows)
    above: list[tuple[int, str]] = []
    # Read from the end, so that the next element of each depth is known.
    following: list[tuple[int, int]] = []
    lasts: list[int] = []
    for depth, _, first in reversed(known):
        while following and following[-1][0] > depth:
            following.pop()
        lasts.append(following[-1][1] - 1 if following else end)
        following.append((depth, first))
    for (depth, name, first), last in zip(known, reversed(lasts), strict=True):
        while above and above[-1][0] >= depth:
            above.pop()
        above.append((depth, name))
        yield ".".join(part for _, part in above), first, last


_filter_lock = threading.Lock()


@contextmanager
def suppress_warnings() -> Iterator[None]:
    """Suppress warnings of libraries. Filters belong to the process, so one thread at a time changes them."""
    with _filter_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
