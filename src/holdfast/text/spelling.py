"""Corrects mistyped words by a list of words that are known, each with how often it is used."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

# Letters in a word from which one mistake, and two, are believed.
_ONE_MISTAKE, _TWO_MISTAKES = 4, 8


def correct_word(word: str, known: Mapping[str, int]) -> str | None:
    """Return the known word that was probably meant; None if nothing is near enough."""
    if len(word) < _ONE_MISTAKE or word in known:
        return None
    letters = sorted({letter for other in known for letter in other}) if len(known) < 100 else _LETTERS
    near = [other for other in _edits(word, letters) if other in known]
    if not near and len(word) >= _TWO_MISTAKES:
        # A mistake is rarely in the first letters.
        alike = (other for other in known if other[:2] == word[:2] and abs(len(other) - len(word)) <= 2)
        near = [other for other in alike if _distance(word, other) <= 2]
    return max(near, key=lambda other: (known[other], other), default=None)


_LETTERS = "abcdefghijklmnopqrstuvwxyzäöüß0123456789"


def _edits(word: str, letters: str | list[str]) -> Iterator[str]:
    """Yield all words that are one mistake away: a letter missing, added, changed, or two swapped."""
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    for before, after in splits:
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in letters:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]


def _distance(one: str, other: str) -> int:
    """Return how many letters have to be added, removed or changed."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        next_row = [at]
        for (diagonal, above), beside in zip(pairwise(row), other, strict=True):
            next_row.append(min(above + 1, next_row[-1] + 1, diagonal + (letter != beside)))
        row = next_row
    return row[-1]
