"""From words and nearness to one score: which rows answer a question best, and what each score is made of.

Six columns are added: the words in a row, in the rows beside it, in its whole container, the nearness of its
best piece, who said it, and for notes how new it is. Works on values; it knows no store and no text.

A column has a number for every row of an outline, in its order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import inf
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ConfigError
from holdfast.memory.searching.outlines import Outline
from holdfast.store import Matches
from holdfast.store.fulltext import ROWS_OF_CONTAINER
from holdfast.store.ranking import rarity_of

Column = NDArray[np.float64]
Mask = NDArray[np.bool_]
_Length = TypeVar("_Length", float, Column)

# The two numbers of BM25.
_SATURATION = 0.9
_BY_LENGTH = 0.4
# How far beside a row its neighbours reach.
_REACH = 2
# Rows whose neighbours are looked at although they have none of the words themselves.
_STRONG = 100
# How near a row is believed to be where nobody can tell.
_UNKNOWN = 0.2
_NAMES = ("words", "beside", "around", "meaning", "person", "recent")
# A note that is so many seconds older counts half as recent.
_HALF = 30 * 86_400.0


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
    recent: float = 0.05
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
OPENCLAW = Weights(words=0.3, beside=0.0, around=0.0, meaning=0.7, person=0.0, recent=0.0, multiplier=4)


def weights_from(text: str) -> Weights:
    """`0.7:0.3`: what meaning and words are worth, and nothing else counts. Empty: what was measured."""
    if not text.strip():
        return MEASURED
    try:
        meaning, words = map(float, text.split(":"))
    except ValueError:
        meaning = words = -1.0
    if not (0 <= meaning < inf and 0 <= words < inf and meaning + words > 0):
        raise ConfigError(f"search_weights is {text!r}.", hint="Write it like 0.7:0.3, meaning before words.")
    return replace(OPENCLAW, words=words, meaning=meaning)


@dataclass(frozen=True, slots=True)
class Scored:
    """A row by its id, its score and what that is made of."""

    id: int
    at: float
    score: float
    parts: Mapping[str, float]
    # How much of the question it has, by word and by meaning together, whatever else there is: up to about 2.
    relevance: float = 0.0


def by_words(matches: Matches, rows: Outline) -> Column:
    """BM25 of every row that has some of the words. Repeats do not count: they tell how long it is."""
    scores = np.zeros(len(rows.ids))
    for asked, having in matches.having.items():
        scores[rows.positions(having)] += asked.weight * matches.rarity[asked] * (_SATURATION + 1)
    return scores / (1 + _penalty(rows.length / matches.average))


def around(matches: Matches, rows: Outline) -> Column:
    """The same of the whole containers they are in."""
    if not matches.containers:
        return np.zeros(len(rows.ids))
    numbers = np.array([one.number for one in matches.containers])
    lengths = np.array([one.length for one in matches.containers], np.float64)
    scores = np.zeros(len(numbers))
    for asked, having in matches.having.items():
        found = np.isin(numbers, _containers_of(np.fromiter(having, np.int64, len(having))))
        rarity = rarity_of(len(numbers), int(found.sum()))
        scores[found] += asked.weight * rarity * (_SATURATION + 1)
    scores /= 1 + _penalty(lengths / (lengths.mean() or 1.0))
    # What came in since the words were looked up is in no container that is known here.
    at = np.minimum(np.searchsorted(numbers, _containers_of(rows.ids)), len(numbers) - 1)
    return np.where(numbers[at] == _containers_of(rows.ids), scores[at], 0.0)


def beside(words: Column, rows: Outline) -> tuple[Column, float]:
    """What the neighbours of each row have of the words, and the most that there is beside any place.

    Rows of one container are numbered in order. Places where no row is count for the most: the few rows that
    have neighbours shall not gain by it where most have none.
    """
    having = np.flatnonzero(words)
    strong = np.zeros(len(words), np.bool_)
    strong[having[np.lexsort((having, words[having]))[-_STRONG:]]] = True
    scores = np.zeros(len(words))
    empty, missed = [np.empty(0, np.int64)], [np.empty(0)]
    ids = rows.ids[having]
    for step in (step for step in range(-_REACH, _REACH + 1) if step):
        near, there = rows.lookup(ids + step)
        inside = _containers_of(ids + step) == _containers_of(ids)
        heard = inside & there & ((words[near] > 0) | strong[having])
        scores[near[heard]] += words[having[heard]]
        unheard = inside & ~there & strong[having]
        empty.append((ids + step)[unheard])
        missed.append(words[having[unheard]])
    _, places = np.unique(np.concatenate(empty), return_inverse=True)
    lost = np.bincount(places, np.concatenate(missed))
    return scores, float(max(scores.max(initial=0.0), lost.max(initial=0.0)))


@dataclass(frozen=True, slots=True)
class Columns:
    """What is known of rows before it is weighed; in `near`, no number means that nobody can tell."""

    words: Column
    beside: Column
    around: Column
    near: Column

    @property
    def known(self) -> Mask:
        return ~np.isnan(self.near)

    def candidates(self, limit: int, multiplier: int) -> Mask:
        """The rows worth scoring."""
        if not multiplier:
            return (self.words > 0) | self.known | (self.beside > 0)
        most = limit * multiplier
        chosen = np.zeros(len(self.words), np.bool_)
        for column in (self.words, np.nan_to_num(self.near)):
            chosen[np.argsort(column, kind="stable")[-most:]] = True
        return chosen & ((self.words > 0) | self.known)


def columns(matches: Matches, rows: Outline, words: Column, near: Mapping[int, float]) -> Columns:
    """The columns, those of words scaled alike: by how much of the question the best row has."""
    share = _share(matches, words)
    neighbours, most = beside(words, rows)
    whole = around(matches, rows)
    return Columns(
        _scaled(words, share, words.max(initial=0.0)),
        _scaled(neighbours, share, most),
        _scaled(whole, share, whole.max(initial=0.0)),
        rows.column(near),
    )


def newest(rows: Outline, among: Mask) -> float:
    """When the last of the notes among these rows was written."""
    return float(rows.at[among & rows.note].max(initial=0.0))


def fused(
    found: Columns, rows: Outline, among: Mask, weights: Weights, most: int, last: float = 0.0
) -> list[Scored]:
    """The `most` best rows, best first. A row without vectors counts as one of average nearness.

    Notes are as recent as they are near to `last`. What was said is told apart by its words alone: questions
    about it are as often about what was said first.
    """
    known = found.known
    usual = found.near[known].mean() if known.any() else 0.0
    some = np.flatnonzero(among)
    # A memory stands for itself: what happens to be listed beside it says nothing about it.
    alone = rows.note[some] & (rows.kind[some] != "")
    age = np.maximum(0.0, last - rows.at[some])
    parts = np.array(
        [
            weights.words * found.words[some],
            np.where(alone, 0.0, weights.beside * found.beside[some]),
            np.where(alone, 0.0, weights.around * found.around[some]),
            weights.meaning * np.maximum(0.0, np.where(known, found.near, usual)[some]),
            weights.person * rows.personal[some],
            np.where(rows.note[some], weights.recent * 0.5 ** (age / _HALF), 0.0),
        ]
    )
    scores = parts.sum(axis=0)
    near = np.nan_to_num(found.near[some]) if known.any() else _UNKNOWN
    # By word and by meaning: the best of many may have little.
    relevance = found.words[some] + near
    # What is newer comes first where nothing else tells two rows apart.
    best = np.lexsort((rows.ids[some], rows.at[some], scores))[::-1][:most]
    return [
        Scored(
            int(rows.ids[some[one]]),
            float(rows.at[some[one]]),
            float(scores[one]),
            dict(zip(_NAMES, parts[:, one].tolist(), strict=True)),
            float(relevance[one]),
        )
        for one in best.tolist()
    ]


def _penalty(length: _Length) -> _Length:
    return _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * length)


def _containers_of(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of the containers that rows are in."""
    return rows // ROWS_OF_CONTAINER


def _share(matches: Matches, words: Column) -> float:
    """How much of the question the best row has. Where it is little, meaning decides."""
    whole = sum(matches.worth.values()) * (_SATURATION + 1) / (1 + _penalty(0.0))
    return min(1.0, float(words.max(initial=0.0)) / whole) if whole else 0.0


def _scaled(column: Column, top: float, most: float) -> Column:
    """The values in their proportions, `most` being `top`."""
    return top * column / most if most > 0 else column
