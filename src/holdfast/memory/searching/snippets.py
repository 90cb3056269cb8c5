"""The part of a found text that is worth showing: around the words that were asked for.

Knows texts and weights of terms; what was found, and why, is not its business.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast import words
from holdfast.store.pieces import SIZE, pieces

EXCERPT_LENGTH = 700


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text, and on which of its lines it stands, counted from 0."""

    text: str
    first: int
    last: int


def extract_excerpt(text: str, weights: Mapping[str, float]) -> Excerpt:
    """The piece of a text with most of the terms, and as much around it as fits."""
    if len(text) <= EXCERPT_LENGTH:
        return Excerpt(
            text.strip(), _line(text, len(text) - len(text.lstrip())), _line(text, len(text.rstrip()))
        )
    best, at, place = "", 0, 0
    most = -1.0
    for piece in pieces(text):
        place = text.index(piece, place)
        worth = sum(weights.get(term, 0.0) for term in set(words.terms(piece)))
        if worth > most:
            best, at, most = piece, place, worth
    spare = EXCERPT_LENGTH - len(best) - 2
    start = max(0, at - spare // 2)
    end = min(len(text), start + EXCERPT_LENGTH - 2)
    start = max(0, end - EXCERPT_LENGTH + 2)
    start, end = _whole_words(text, start, end)
    shown = text[start:end]
    return Excerpt(
        f"{'…' if start else ''}{shown.strip()}{'…' if end < len(text) else ''}",
        _line(text, start + len(shown) - len(shown.lstrip())),
        _line(text, start + len(shown.rstrip())),
    )


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The same part without halves of words at its ends, unless a word has no end in sight."""
    if start:
        space = text.find(" ", start, start + SIZE // 4)
        start = start if space < 0 else space + 1
    if end < len(text):
        space = text.rfind(" ", end - SIZE // 4, end)
        end = end if space < 0 else space
    return start, end


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place)
