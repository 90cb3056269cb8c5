"""Where a text may be cut: at paragraphs, lines, sentences or words, never inside a code fence.

Positions in characters, in and out. It does not know how much has to go, and counts no tokens.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

# Start and end of a stretch that stays whole or goes whole.
Span = tuple[int, int]

# For a better border a cut may give up this much of what it keeps.
_GIVES = 0.3

_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
# From the best to the least; a cut goes to the end of the match.
_BORDERS = (
    re.compile(r"\n[ \t\r]*\n+"),
    re.compile(r"\n"),
    re.compile(r"[.!?…。！？][\"'”’“»)\]]*\s+|[。！？]"),
    re.compile(r"\s+"),
)
# No character as a person sees it is longer; what claims to be is cut.
_LONGEST_CHARACTER = 64


def fences(text: str) -> list[Span]:
    """The fenced blocks, from opening to closing line; one that is never closed goes to the end."""
    if "```" not in text and "~~~" not in text:
        return []
    lines = list(_FENCE.finditer(text))
    found: list[Span] = []
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
            found.append((opening.start(), len(text)))
            break
        found.append((opening.start(), min(len(text), lines[closing].end() + 1)))
        number = closing + 1
    return found


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
    """Where the head ends if it may go up to `position`, keeping clear of the spans in `whole`."""
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
    """Where the tail starts if it may begin at `position`."""
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
    """The nearest place in this direction that splits no character as a person sees it."""
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
