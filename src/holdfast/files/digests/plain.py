"""Any text: its head, its tail and its counts. The digest that is always possible.

Knows nothing of what the text means.
"""

from holdfast.files.digests.values import Digest, cut, ended, plural
from holdfast.tokens.estimate import estimate
from holdfast.tokens.families import UNKNOWN

_LONGEST_LINE = 200
_MOST_LINES = 40


def digest(text: str, most: int) -> Digest:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    written = [cut(line, _LONGEST_LINE) for line in (*lines[:_MOST_LINES], *lines[-_MOST_LINES:])]
    head, tail = written[:_MOST_LINES], written[-_MOST_LINES:]
    room = max(most - 20, 10)
    first = _fitting(head, 2 * room // 3)
    # Lines that are in the head already are not told again.
    last = _fitting(tail[::-1], room // 3)[: max(len(lines) - len(first), 0)][::-1]
    # A line may be told in part.
    gone = len(lines) - len(first) - len(last)
    size = f"{plural(len(lines), 'line')} and {plural(len(text), 'character')}"
    middle = f"… {plural(gone, 'line')} …" if gone else "…"
    return ended("text", [*first, middle, *last], f"{gone:,} of {size} left out, long lines cut")


def _fitting(lines: list[str], most: int) -> list[str]:
    """As many lines from the beginning as have room, and one at least, in part."""
    kept: list[str] = []
    used = 0
    for line in lines:
        used += estimate(line, UNKNOWN).tokens + 1
        if used > most:
            break
        kept.append(line)
    return kept or [cut(line, max(2 * most, 20)) for line in lines[:1]]
