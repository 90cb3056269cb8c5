"""Any text: its head, its tail and its counts. The digest that is always possible.

Knows nothing of what the text means.
"""

from holdfast.files.digests.values import Digest, cut, ended, plural
from holdfast.tokens.estimate import UNKNOWN, estimate

_LONGEST_LINE = 200
_MOST_LINES = 40


def digest(text: str, most: int) -> Digest:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    room = max(most - 20, 10)
    first = _fitting(lines[:_MOST_LINES], 2 * room // 3)
    # What the head has told is not told again.
    rest = lines[len(first) :][-_MOST_LINES:]
    last = _fitting(rest[::-1], room // 3)[::-1]
    gone = len(lines) - len(first) - len(last)
    size = f"{plural(len(lines), 'line')} and {plural(len(text), 'character')}"
    middle = [f"… {plural(gone, 'line')} …"] if gone else []
    whole = [*lines[: len(first)], *lines[len(lines) - len(last) :]]
    shorter = any(len(now) < len(was) for now, was in zip([*first, *last], whole, strict=True))
    left_out = f"{gone:,} of {size} left out" + (", long lines cut" if shorter else "")
    return ended("text", [*first, *middle, *last], left_out)


def _fitting(lines: list[str], most: int) -> list[str]:
    """As many lines from the beginning as have room, and one at least, in part."""
    kept: list[str] = []
    used = 0
    written = [cut(line, _LONGEST_LINE) for line in lines]
    for line in written:
        used += estimate(line, UNKNOWN).tokens + 1
        if used > most:
            break
        kept.append(line)
    return kept or [cut(line, max(2 * most, 20)) for line in written[:1]]
