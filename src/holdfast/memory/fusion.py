"""From words and nearness to one score: which rows answer a question best, and what each score is made of.

Five columns are added: the words in a row, in the rows beside it, in its whole container, the nearness of its
best piece, and who said it. Works on values; it knows no store and no text.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from heapq import nlargest

from holdfast.store import Matches, Row
from holdfast.store.containers import number_of
from holdfast.store.passages import NOTE
from holdfast.store.ranking import rarity_of

# The two numbers of BM25.
_SATURATION = 0.9
_BY_LENGTH = 0.4
# How far beside a row its neighbours reach.
_REACH = 2
# Rows whose neighbours are looked at although they have none of the words themselves.
_STRONG = 100
# How near a row is believed to be where nobody can tell.
_UNKNOWN = 0.2
_NAMES = ("words", "beside", "around", "meaning", "person")
# A person's own words, and what somebody wrote down, hold the facts more often than the answers to them.
_PERSONAL = frozenset({"user", "note"})


@dataclass(frozen=True, slots=True)
class Weights:
    """What each column is worth; only their proportions count.

    With a `multiplier` only so many rows for each hit wanted are looked at, the best by words and by meaning.
    """

    words: float = 1.0
    beside: float = 0.4
    around: float = 0.3
    meaning: float = 0.75
    person: float = 0.2
    multiplier: int = 0

    def normalised(self, *, by_words: bool, by_meaning: bool) -> "Weights":
        """The same proportions, adding up to one; a side that did not run counts nothing."""
        told = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "multiplier"}
        if not by_words:
            told.update(words=0.0, beside=0.0, around=0.0)
        if not by_meaning:
            told.update(meaning=0.0)
        total = sum(told.values()) or 1.0
        return Weights(**{name: value / total for name, value in told.items()}, multiplier=self.multiplier)


# What was measured to be best for chats and for notes alike; and what OpenClaw's documentation says.
MEASURED = Weights()
OPENCLAW = Weights(words=0.3, beside=0.0, around=0.0, meaning=0.7, person=0.0, multiplier=4)


@dataclass(frozen=True, slots=True)
class Scored:
    row: Row
    score: float
    parts: Mapping[str, float]
    # How much of the question it has, by word and by meaning together, whatever else there is: up to about 2.
    relevance: float = 0.0


def by_words(matches: Matches) -> dict[int, float]:
    """BM25 of every row that has some of the words. Repeats do not count: they tell how long it is."""
    average = matches.average
    scores: dict[int, float] = defaultdict(float)
    for asked, having in matches.having.items():
        value = asked.weight * matches.rarity[asked] * (_SATURATION + 1)
        for number in having:
            row = matches.rows.get(number)
            if row is not None:
                scores[number] += value / (1 + _penalty(row.length / average))
    return dict(scores)


def around(matches: Matches) -> dict[int, float]:
    """The same of whole containers, by their numbers."""
    known = {one.number: one for one in matches.containers}
    average = sum(one.length for one in matches.containers) / max(1, len(known)) or 1.0
    scores: dict[int, float] = defaultdict(float)
    for asked, having in matches.having.items():
        found = {number_of(number) for number in having} & known.keys()
        value = asked.weight * rarity_of(len(known), len(found)) * (_SATURATION + 1)
        for number in found:
            scores[number] += value / (1 + _penalty(known[number].length / average))
    return dict(scores)


def beside(words: Mapping[int, float]) -> dict[int, float]:
    """What the neighbours of each row have of the words. Rows of one container are numbered in order."""
    strong = set(nlargest(_STRONG, words, key=lambda number: (words[number], number)))
    scores: dict[int, float] = defaultdict(float)
    for number, score in words.items():
        for step in range(-_REACH, _REACH + 1):
            near = number + step
            if step and number_of(near) == number_of(number) and (near in words or number in strong):
                scores[near] += score
    return dict(scores)


@dataclass(frozen=True, slots=True)
class Columns:
    """What is known of rows before it is weighed; `around` is by container, all others by row."""

    words: Mapping[int, float]
    beside: Mapping[int, float]
    around: Mapping[int, float]
    near: Mapping[int, float]

    def relevance(self, row: int) -> float:
        """How much of the question a row has, by word and by meaning: the best of many may have little."""
        return self.words.get(row, 0.0) + (self.near.get(row, 0.0) if self.near else _UNKNOWN)

    def candidates(self, limit: int, multiplier: int) -> set[int]:
        """The rows worth scoring."""
        if not multiplier:
            return self.words.keys() | self.near.keys() | self.beside.keys()
        most = limit * multiplier
        by_words = nlargest(most, self.words, key=lambda row: self.words[row])
        return {*by_words, *nlargest(most, self.near, key=lambda row: self.near[row])}


def columns(matches: Matches, words: Mapping[int, float], near: Mapping[int, float]) -> Columns:
    """The columns, those of words scaled alike: by how much of the question the best row has."""
    share = _share(matches, words)
    return Columns(
        _scaled(words, share), _scaled(beside(words), share), _scaled(around(matches), share), near
    )


def fused(found: Columns, rows: Collection[Row], weights: Weights, most: int) -> list[Scored]:
    """The `most` best rows, best first. A row without vectors counts as one of average nearness."""
    usual = sum(found.near.values()) / len(found.near) if found.near else 0.0

    def parts(row: Row) -> tuple[float, ...]:
        # A memory stands for itself: what happens to be listed beside it says nothing about it.
        listed = row.role == NOTE and bool(row.branch)
        return (
            weights.words * found.words.get(row.id, 0.0),
            0.0 if listed else weights.beside * found.beside.get(row.id, 0.0),
            0.0 if listed else weights.around * found.around.get(number_of(row.id), 0.0),
            weights.meaning * max(0.0, found.near.get(row.id, usual)),
            weights.person * (row.role in _PERSONAL),
        )

    # What is newer comes first where nothing else tells two rows apart.
    best = nlargest(most, ((sum(parts(row)), row.at, row.id, row) for row in rows))
    return [
        Scored(row, score, dict(zip(_NAMES, parts(row), strict=True)), found.relevance(row.id))
        for score, _, _, row in best
    ]


def _penalty(length: float) -> float:
    return _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * length)


def _share(matches: Matches, words: Mapping[int, float]) -> float:
    """How much of the question the best row has. Where it is little, meaning decides."""
    whole = sum(matches.worth.values()) * (_SATURATION + 1) / (1 + _penalty(0.0))
    return min(1.0, max(words.values(), default=0.0) / whole) if whole else 0.0


def _scaled(column: Mapping[int, float], top: float) -> dict[int, float]:
    """The values in their proportions, the largest being `top`."""
    most = max(column.values(), default=0.0)
    return {number: top * value / most for number, value in column.items()} if most > 0 else {}
