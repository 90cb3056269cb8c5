"""The sentences of a text that have most of some terms, with what is needed to understand them.

It knows texts and weights of terms, no message and no search. Used for quotes and for search results.
"""

from collections.abc import Callable, Mapping
from math import log

from holdfast import words

_CUT = "…"
# A sentence shorter than this, in characters, is quoted with its neighbours.
_BRIEF = 160
# Of a longer text only the parts with the terms are looked at closely.
_LONGEST_TEXT = 200_000


def pieces_of(text: str) -> list[str]:
    """Its sentences, and the lines of its blocks of code."""
    pieces = words.sentences(text[:_LONGEST_TEXT])
    return [line for piece in pieces for line in (piece.splitlines() if _is_block(piece) else (piece,))]


def best_passage(text: str, weights: Mapping[str, float], room: int, count: Callable[[str], int]) -> str:
    """The best passage that `count` gives at most `room`; empty if there is no room for anything."""
    pieces = words.sentences(text[:_LONGEST_TEXT])
    if not pieces:
        return ""
    if len(text) <= 2 * _BRIEF and count(text.strip()) <= room:
        return text.strip()
    best = max(range(len(pieces)), key=lambda index: (_score(pieces[index], weights), -index))
    if _is_block(pieces[best]):
        return _cut_block(pieces[best], weights, room, count)
    first, last = _add_neighbours(pieces, best, weights)
    while first < last and count(_joined(pieces, first, last)) > room:
        first, last = (first + 1, last) if first < best else (first, last - 1)
    quote = _joined(pieces, first, last)
    return quote if count(quote) <= room else cut_around(quote, weights, room, count)


def cut_around(text: str, weights: Mapping[str, float], room: int, count: Callable[[str], int]) -> str:
    """The text cut at both ends, around the words with most weight, until it fits."""
    tokens = text.split()
    if not tokens or room <= 0:
        return ""
    value = [sum(weights.get(term, 0.0) for term in words.terms(token)) for token in tokens]
    middle = max(range(len(tokens)), key=lambda index: (sum(value[max(0, index - 8) : index + 9]), -index))
    reach = len(tokens)
    while reach > 0:
        first, last = max(0, middle - reach), min(len(tokens), middle + reach + 1)
        quote = " ".join(tokens[first:last])
        quote = f"{_CUT} {quote}" if first else quote
        quote = f"{quote} {_CUT}" if last < len(tokens) else quote
        if count(quote) <= room:
            return quote
        reach = reach // 2 if reach > 16 else reach - 1
    return ""


def _is_block(piece: str) -> bool:
    return piece.startswith(("```", "~~~"))


def _score(piece: str, weights: Mapping[str, float]) -> float:
    """What a piece has of the terms. Long ones have more of everything, so length counts against them."""
    found = words.terms(piece)
    return sum(weights.get(term, 0.0) for term in set(found)) / (1 + log(1 + len(found) / 20))


def _add_neighbours(pieces: list[str], best: int, weights: Mapping[str, float]) -> tuple[int, int]:
    """A short sentence is seldom understood alone: the better neighbour comes with it, the next one first.

    A line of a table or a log is no sentence, and those around it are about other things.
    """
    first = last = best
    is_line = not pieces[best].rstrip("\"'“”)]*_").endswith((".", "!", "?", "…", ":"))
    least = _score(pieces[best], weights) / 2 if is_line else -1.0
    while sum(map(len, pieces[first : last + 1])) < _BRIEF and (first > 0 or last + 1 < len(pieces)):
        after = _score(pieces[last + 1], weights) if last + 1 < len(pieces) else -1.0
        before = _score(pieces[first - 1], weights) if first > 0 else -1.0
        if max(after, before) < least:
            break
        if after >= before:
            last += 1
        else:
            first -= 1
    return first, last


def _joined(pieces: list[str], first: int, last: int) -> str:
    return " ".join(pieces[first : last + 1])


def _cut_block(block: str, weights: Mapping[str, float], room: int, count: Callable[[str], int]) -> str:
    """The lines of a block of code around the one with most of the terms, in its fence."""
    opening, *lines = block.splitlines()
    if lines and lines[-1].strip() == opening.strip()[:3]:
        lines.pop()
    if not lines:
        return ""
    best = max(range(len(lines)), key=lambda index: (_score(lines[index], weights), -index))
    for reach in (len(lines), 8, 4, 2, 1, 0):
        first, last = max(0, best - reach), best + reach + 1
        above, below = [_CUT] * (first > 0), [_CUT] * (last < len(lines))
        quote = "\n".join([opening, *above, *lines[first:last], *below, opening.strip()[:3]])
        if count(quote) <= room:
            return quote
    return cut_around(lines[best], weights, room, count)
