"""What a file becomes when it is shown short, and the places in it that have a name.

Knows no kind of file; the modules beside it make these values.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Digest:
    """`text` ends with a line that tells what is left out; `left_out` has the same words alone.

    Where nothing is left out, `text` is the file itself and `left_out` is empty.
    """

    kind: str
    text: str
    left_out: str


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file: its first and last line, counted from one, and its text."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where something with a name stands in a text, as offsets: `Class.method` by its dots."""

    name: str
    start: int
    end: int


class Lines:
    """A text by its lines, and where each begins. Only a line feed ends a line, as in an editor."""

    def __init__(self, text: str) -> None:
        self.all = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.all)]

    def place(self, name: str, first: int, last: int) -> Place:
        """The place from one line to another, counted from zero, blank lines at its end left away."""
        last = min(last, len(self.all) - 1)
        while last > first and not self.all[last].strip():
            last -= 1
        return Place(name, self._starts[first], self._starts[last + 1] - 1)

    def of(self, offset: int) -> int:
        """The line, counted from zero, that an offset is in."""
        return bisect_right(self._starts, offset) - 1


def ended(kind: str, body: Iterable[str], left_out: str) -> Digest:
    """A digest of these lines, and what they leave out as the last of them."""
    return Digest(kind, "\n".join([*body, f"[{left_out}]"]), left_out)


def cut(text: str, most: int) -> str:
    """The text on one line, and no longer than this."""
    # A line may be a megabyte long; only its beginning is looked at.
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def plural(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def nested(found: Iterable[tuple[int, str, int]], end: int) -> Iterator[tuple[str, int, int]]:
    """Names with their lines, from `(depth, name, first line)` in order: each lasts until one as deep.

    The name of what stands inside another has that one's name before it.
    """
    known = list(found)
    above: list[tuple[int, str]] = []
    # From the end, what comes next at each depth is known; a list by depth would be long where depth is.
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
