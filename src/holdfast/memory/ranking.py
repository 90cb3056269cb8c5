"""From words and vectors to one score: how likely each row of the index holds what a question asks for.

Every row gets a handful of features; a weighted sum of them orders the rows, and a logistic curve over that
sum turns it into a probability. Weights and curves were fitted by `python -m evals.ranking` on chats of
several kinds.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from math import exp, inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ConfigError
from holdfast.i18n import lazy
from holdfast.memory.passage_table import ContainerColumns, PassageTable
from holdfast.memory.vectors import NO_SIMILARITIES, QuestionKind, Similarities
from holdfast.store import PassageMatches
from holdfast.store.ranking import TermQuery, inverse_frequency
from holdfast.text.analyser import parts
from holdfast.text.dates import DAY_SHIFT, HEADED, Period
from holdfast.text.questions import Question

# How far around a row its surroundings reach.
REACH = 8

Column = NDArray[np.float64]
Mask = NDArray[np.bool_]

# The two numbers of BM25.
_SATURATION = 0.9
_BY_LENGTH = 0.4
# A note that is so many seconds older counts half as recent.
_HALF_LIFE = 30 * 86_400.0
# Where all rows are about equally near, small differences mean nothing.
_LEAST_SPREAD = 0.05
# The size of the store that the curve was fitted at: among more rows a good match by chance is likelier.
USUAL_SIZE = 500
# And of the smallest it was fitted on.
SMALLEST_SIZE = 200
_EPOCH = date(1970, 1, 1).toordinal()
_YEAR = 365.25
# What a date in another year than the last is worth, where the question names no year.
_OTHER_YEAR = 0.8
# What is nearer than this is of the time that is asked about.
_ON_THE_DAY = 0.5
# Rows that are looked at closely in a store of many more: the best by what each has itself, and those beside
# them.
_CLOSELY = 2_000
_BESIDE = 2

FEATURES = (
    "rarest",  # how rare the rarest word is that it shares with the question
    "coverage",  # how much of the question it covers, its neighbours counted half
    "density",  # how much of the question it covers for its length
    "relative",  # the same, as a share of the best row's
    "surroundings",  # the same of the rows around it
    "container",  # the same of its whole conversation or file
    "answers",  # how much of the question stands in a question right before it
    "nearness",  # how much nearer it is in meaning than others, in deviations
    "neighbours",  # how near the nearer one of its two neighbours is
    "around",  # how near the rows around it are
    "whole",  # how near it is as a whole, not only its best piece
    "person",  # said by the person, or written down
    "speaker",  # said by whom the question is about (1), or by the other one (-1)
    "states",  # does not end with a question
    "length",
    "fits",  # has a number or a time where the question asks for one
    "dated",  # said on the days that the question speaks of, or names one of them
)
# What people are told of them.
_GROUPS = {
    "words": ("rarest", "coverage", "density", "relative", "answers", "fits"),
    "beside": ("surroundings",),
    "around": ("container",),
    "meaning": ("nearness", "neighbours", "around", "whole"),
    "person": ("person", "speaker", "states", "length"),
    "recent": ("recent",),
    "time": ("dated",),
}
MEANING_FEATURES = frozenset({"nearness", "neighbours", "around", "whole"})
# What tells whether anything answers a question, given the best row there is.
SIGNS = (
    "sum",  # the weighted sum of the row's features
    "nearness",  # how far the best row stands out by meaning: one always does, so it says less than its sum
    "explains",  # the row is what the model said, and nobody asks for that, or it only asks
    "asks",  # whether the message asks: 1 where half of it does
    "personal",  # whether it is about the people talking
    "definite",  # whether it speaks of things that both sides know
    "unheard",  # how much of it no row has a word of
    "worldly",  # how much nearer it is to questions about the world than to anything that was said
    "general",  # how much nearer it is to questions about the world than to those about somebody's affairs
    "size",  # of the store: among more rows a good match by chance is likelier
)
MEANING_SIGNS = frozenset({"nearness", "worldly", "general"})


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """What each feature is worth, and how a sum becomes a probability.

    `curve` has the weights of `SIGNS`, which tell how likely a question is answered, and of its `start`.
    With `multiplier`, only so many rows for each hit are looked at, the best by words and by meaning.
    """

    features: Mapping[str, float]
    curve: Mapping[str, float]
    # For notes only: the newer of two equal ones comes first.
    recent: float = 0.8
    multiplier: int = 0

    def scale(self, factor: float) -> "RankingWeights":
        """The same with meaning worth so much more or less."""
        if factor == 1 or self.multiplier:
            return self
        features = {
            name: weight * (factor if name in MEANING_FEATURES else 1)
            for name, weight in self.features.items()
        }
        return replace(self, features=features)


# The order was fitted on locomo, beam100k and longmemeval, the curve on locomo, beam100k and knowing; the
# other sets were left out. What a date is worth was chosen on questions with dates of locomo and longmemeval.
# With vectors of the embedded encoder, and with words alone.
MEASURED = RankingWeights(
    features={
        "rarest": 1.13,
        "coverage": 3.34,
        "density": -1.34,
        "relative": 1.93,
        "surroundings": 0.44,
        "container": 2.86,
        "answers": 1.17,
        "nearness": 1.41,
        "neighbours": 3.52,
        "around": 1.77,
        "whole": 2.46,
        "person": 0.35,
        "speaker": 1.11,
        "states": 0.59,
        "length": -1.67,
        "fits": 1.62,
        "dated": 2.5,
    },
    curve={
        "sum": 0.47,
        "nearness": -1.1,
        "explains": -0.72,
        "asks": 5.17,
        "personal": 3.67,
        "definite": 2.11,
        "unheard": -2.19,
        "worldly": -6.07,
        "general": -20.82,
        "size": -1.54,
        "start": -6.63,
    },
)
WORDS_ALONE = RankingWeights(
    features={
        "rarest": 1.28,
        "coverage": 4.86,
        "density": -1.49,
        "relative": 2.71,
        "surroundings": 2.96,
        "container": 4.63,
        "answers": 1.39,
        "person": 0.46,
        "speaker": 1.11,
        "states": 0.35,
        "length": -2.63,
        "fits": 1.73,
        "dated": 2.5,
    },
    curve={
        "sum": 0.46,
        "explains": -0.77,
        "asks": 3.96,
        "personal": 4.75,
        "definite": 2.81,
        "unheard": -2.64,
        "size": -1.72,
        "start": -6.95,
    },
)
# What OpenClaw's documentation says: meaning and words, and nothing else.
OPENCLAW = RankingWeights(
    features={"density": 0.3, "nearness": 0.7},
    curve={"sum": 6.0, "start": -3.0},
    recent=0.0,
    multiplier=4,
)


def parse_weights(text: str) -> RankingWeights:
    """`0.7:0.3`: what meaning and words are worth, and nothing else counts. Empty: what was measured."""
    if not text.strip():
        return MEASURED
    try:
        meaning, words = map(float, text.split(":"))
    except ValueError:
        meaning = words = -1.0
    if not (0 <= meaning < inf and 0 <= words < inf and meaning + words > 0):
        raise ConfigError(
            lazy("search_weights is {text!r}.", text=text),
            hint=lazy("Write it like 0.7:0.3, meaning before words."),
        )
    total = meaning + words
    return replace(OPENCLAW, features={"density": words / total, "nearness": meaning / total})


@dataclass(frozen=True)
class Ranking:
    """The rows of an outline that may be the best, each with its sum.

    `features` are the columns the sums are made of, `among` the rows worth looking at, and `unheard` how
    much of the question no row has a word of. `worldly` is how much nearer the question is to one about the
    world than to any row, and `general` than to one about somebody's affairs; 0 where that is not known.
    """

    question: Question
    rows: PassageTable
    sums: Column
    features: Mapping[str, Column]
    weights: RankingWeights
    among: Mask
    unheard: float = 0.0
    worldly: float = 0.0
    general: float = 0.0
    # How many rows there are in all.
    size: int = 0

    def best(self, most: int, among: Mask | None = None) -> NDArray[np.intp]:
        """The places of the best rows, best first; of equal ones the newer."""
        some = np.flatnonzero(self.among if among is None else self.among & among)
        if len(some) > 4 * most:
            some = some[np.argpartition(self.sums[some], -2 * most)[-2 * most :]]
        order = np.lexsort((self.rows.ids[some], self.rows.at[some], self.sums[some]))[::-1]
        return some[order[:most]]

    def mass_before(self, places: Sequence[int]) -> list[float]:
        """How likely the answer is in a row before each of these, which are the best ones, best first.

        The weights were fitted for that: the share of a row in the sum of exponentials is its probability.
        """
        if not places:
            return []
        shares = np.exp(self.sums - self.sums[places[0]])
        mass = np.cumsum(shares[places]) / shares[self.among].sum()
        return [0.0, *mass[:-1].tolist()]

    @cached_property
    def top(self) -> int | None:
        """The place of the best row there is; None where none is worth looking at."""
        return next(iter(self.best(1).tolist()), None)

    @cached_property
    def _explains(self) -> Mask:
        return self.rows.explains(self.question)

    def likely(self) -> float:
        """How likely anything answers the question."""
        return 0.0 if self.top is None else self.likelihoods([self.top])[0]

    def likelihoods(self, places: Sequence[int]) -> list[float]:
        """How likely the question is answered, for each place, if the row there is the best that counts."""
        curve = self.weights.curve
        start = curve["start"] + add_signs(self._question_signs, curve)
        logits = (
            start
            + curve["sum"] * self._relevance[places]
            + curve.get("explains", 0.0) * self._explains[places]
        )
        likelihoods: list[float] = (1 / (1 + np.exp(-np.clip(logits, -50.0, 50.0)))).tolist()
        return likelihoods

    @cached_property
    def _relevance(self) -> Column:
        """The sums without how new a row is, which says nothing about whether it answers."""
        if "recent" not in self.features:
            return self.sums
        return self.sums - self.weights.recent * self.features["recent"]

    def signs(self, place: int) -> dict[str, float]:
        """What tells whether the question is answered, if the row at this place is the best that counts."""
        return {
            **self._question_signs,
            "sum": float(self._relevance[place]),
            "explains": float(self._explains[place]),
        }

    @cached_property
    def _question_signs(self) -> dict[str, float]:
        """The signs that are the same for every row."""
        nearness = 0.0 if self.top is None else float(self.features["nearness"][self.top])
        return {
            "nearness": nearness,
            "asks": min(1.0, 2 * self.question.asks),
            "personal": float(self.question.personal),
            "definite": self.question.definite,
            "unheard": self.unheard,
            "worldly": self.worldly,
            "general": self.general,
            "size": log(max(self.size, SMALLEST_SIZE) / USUAL_SIZE),
        }

    @cached_property
    def _weighted_groups(self) -> dict[str, list[tuple[float, Column]]]:
        """The features that count, with their weights, by the group that people are told of."""
        weights = {**self.weights.features, "recent": self.weights.recent}
        return {
            group: [
                (weights[name], self.features[name])
                for name in names
                if name in weights and name in self.features
            ]
            for group, names in _GROUPS.items()
        }

    def parts(self, place: int) -> dict[str, float]:
        """What the sum of a row is made of: words, those beside and around it, meaning, who said it, how
        new it is.
        """
        parts = {}
        for group, columns in self._weighted_groups.items():
            total = sum(weight * float(column[place]) for weight, column in columns)
            if abs(total) >= 0.001:
                parts[group] = round(total, 3)
        return parts


def rank_rows(
    question: Question,
    matches: PassageMatches,
    rows: PassageTable,
    near: Similarities = NO_SIMILARITIES,
    weights: RankingWeights = MEASURED,
    kind: QuestionKind | None = None,
    *,
    kinds: Collection[str] = (),
    closely: int = _CLOSELY,
) -> Ranking:
    """The rows of an outline, ranked for a question. `kind` is how near it is to examples of known kinds.

    With `kinds`, only memories of these. Of many rows those are ranked that may be among the best `closely`.
    """
    if not near:
        weights = weights if weights.multiplier else WORDS_ALONE
    signals = _find_signals(question, matches, rows, near)
    allowed = rows.note & np.isin(rows.kind, list(kinds)) if kinds else None
    places = _choose_closely(signals, weights, allowed, closely)
    columns = features_of(question, signals, rows, near, places)
    some = rows.take(places)
    notes = some.note & ((columns["coverage"] > 0) | (columns["nearness"] > 0))
    if notes.any():
        age = np.maximum(0.0, some.at[notes].max() - some.at[some.note])
        columns["recent"] = np.zeros(len(places))
        columns["recent"][some.note] = 0.5 ** (age / _HALF_LIFE)
    sums = np.zeros(len(places))
    for name, weight in weights.features.items():
        sums += weight * columns[name]
    among = (columns["coverage"] > 0) | signals.has_vector[places]
    if question.periods:
        # Who asks what was on a day may have no other word in common with it.
        among |= columns["dated"] > _ON_THE_DAY
    if "recent" in columns:
        sums += weights.recent * columns["recent"]
    if weights.multiplier:
        among = _preselect(columns, among)
    if allowed is not None:
        among &= allowed[places]
    worldly = 0.0 if kind is None else kind.general - _nearest_statement(rows, near)
    general = 0.0 if kind is None else kind.general - kind.own
    unheard = unheard_share(matches)
    return Ranking(question, some, sums, columns, weights, among, unheard, worldly, general, len(rows.ids))


@dataclass(frozen=True, slots=True)
class _Signals:
    """What each row of a table has itself: the words of the question, its meaning, and its time."""

    shares: Column
    rarest: Column
    density: Column
    relative: Column
    container: Column
    best: Column
    mean: Column
    nearness: Column
    dated: Column
    has_vector: Mask


def _find_signals(
    question: Question, matches: PassageMatches, rows: PassageTable, near: Similarities
) -> _Signals:
    places = {asked: rows.positions(having) for asked, having in matches.having.items()}
    shares, rarest = _coverage(matches, places, len(rows.ids))
    density = np.zeros(len(rows.ids))
    some = np.flatnonzero(shares)
    penalty = _penalty(rows.length[some] / matches.containers.average)
    density[some] = shares[some] * (1 + _penalty(np.zeros(1))) / (1 + penalty)
    best, mean, has_vector = _similarity(rows, near)
    nearness = np.zeros(len(rows.ids))
    if near:
        nearness = (best - best.mean()) / (4 * max(float(best.std()), _LEAST_SPREAD))
    return _Signals(
        shares,
        rarest,
        density,
        density / max(density.max(initial=0.0), 1e-9),
        _containers(matches, places, rows.groups),
        best,
        mean,
        nearness,
        _date_nearness(question.periods, rows),
        has_vector,
    )


def _choose_closely(
    signals: _Signals, weights: RankingWeights, allowed: Mask | None, closely: int
) -> NDArray[np.intp]:
    """The places of the rows that may be among the best, with those beside them; of few rows all."""
    total = len(signals.shares)
    if total <= (2 * _BESIDE + 1) * closely:
        return np.arange(total)
    worth = weights.features
    sums = worth.get("coverage", 0.0) * signals.shares
    for name, column in (
        ("rarest", signals.rarest),
        ("density", signals.density),
        ("relative", signals.relative),
        ("container", signals.container),
        ("nearness", signals.nearness),
        ("whole", signals.mean),
        ("dated", signals.dated),
    ):
        sums += worth.get(name, 0.0) * column
    if allowed is not None:
        sums[~allowed] = -inf
    best = np.argpartition(sums, -closely)[-closely:]
    chosen = np.zeros(total, np.bool_)
    for step in range(-_BESIDE, _BESIDE + 1):
        chosen[np.clip(best + step, 0, total - 1)] = True
    return np.flatnonzero(chosen)


def features_of(
    question: Question,
    signals: _Signals,
    rows: PassageTable,
    near: Similarities,
    places: NDArray[np.intp],
) -> dict[str, Column]:
    """The features of the rows at these places, by name."""
    beside, some = _Neighbours(rows, places), rows.take(places)
    return {
        "rarest": signals.rarest[places],
        "coverage": np.minimum(1.0, signals.shares[places] + 0.5 * beside.find_larger(signals.shares)),
        "density": signals.density[places],
        "relative": signals.relative[places],
        "surroundings": beside.average(signals.density),
        "container": signals.container[places],
        "answers": beside.get_before(signals.density * rows.asking),
        "nearness": signals.nearness[places],
        "neighbours": beside.find_larger(signals.best) if near else np.zeros(len(places)),
        "around": beside.average(signals.best) if near else np.zeros(len(places)),
        "whole": signals.mean[places],
        "person": some.personal.astype(np.float64),
        "speaker": some.side * {"user": 1.0, "assistant": -1.0}.get(question.speaker, 0.0),
        "states": (~some.asking).astype(np.float64),
        "length": some.size,
        "fits": ((some.traits & question.expects) > 0).astype(np.float64),
        "dated": signals.dated[places],
    }


def _date_nearness(periods: Sequence[Period], rows: PassageTable) -> Column:
    """How near each row is to the times the question speaks of, as far as that tells it from others."""
    result = np.zeros(len(rows.ids))
    if not periods or not len(rows.ids):
        return result
    named = rows.traits >> DAY_SHIFT
    for period in periods:
        nearness = np.maximum(
            _within(period, _days_said(rows, named)), np.where(named, _within(period, named), 0)
        )
        # What nearly everything was said in tells little.
        result = np.maximum(result, nearness * (1 - nearness.mean()))
    return result


def _days_said(rows: PassageTable, named: NDArray[np.int64]) -> Column:
    """The day each row was said on; in a transcript that of the last heading before it."""
    zone = datetime.now().astimezone().utcoffset() or timedelta()
    days = np.floor((rows.at + zone.total_seconds()) / 86_400) + _EPOCH
    heads = np.where(rows.traits & HEADED, np.arange(len(days)), -1)
    last = np.maximum.accumulate(heads)
    headed = (last >= 0) & (rows.containers[last] == rows.containers)
    return np.where(headed, named[last], days)


def _within(period: Period, days: NDArray[Any]) -> Column:
    """1 for days in a period, and less the farther they are from it."""
    slack = max(1.0, (period.last - period.first) / 7)
    other = np.zeros(len(days))
    if period.yearly:
        other = np.rint(((period.first + period.last) / 2 - days) / _YEAR)
        days = days + other * _YEAR
    gap = np.maximum(0, np.maximum(period.first - days, days - period.last))
    return np.asarray(np.exp(-gap / slack) * np.where(other == 0, 1.0, _OTHER_YEAR))


def score_words(matches: PassageMatches, rows: PassageTable) -> Column:
    """BM25 of every row that has some of the words. Repeats do not count: they tell how long it is."""
    scores = np.zeros(len(rows.ids))
    for asked, having in matches.having.items():
        scores[rows.positions(having)] += asked.weight * matches.rarity[asked] * (_SATURATION + 1)
    return scores / (1 + _penalty(rows.length / matches.containers.average))


def unheard_share(matches: PassageMatches) -> float:
    """How much of the question's weight is in words that nothing has.

    Of a compound that nothing has whole, only what is left without its best part that something has.
    """
    heard = {asked.term for asked, having in matches.having.items() if having}
    total = sum(matches.worth.values())
    if not total:
        return 1.0
    return sum(worth * _unheard_letters(term, heard) for term, worth in matches.worth.items()) / total


def _unheard_letters(term: str, heard: Collection[str]) -> float:
    if term in heard:
        return 0.0
    return 1 - max((len(part) for part in parts(term) if part in heard), default=0) / len(term)


def estimate_likelihood(signs: Mapping[str, float], curve: Mapping[str, float]) -> float:
    """How likely anything answers a question, by its signs."""
    logit = curve["start"] + add_signs(signs, curve)
    return 1 / (1 + exp(-max(-50.0, min(50.0, logit))))


def add_signs(signs: Mapping[str, float], curve: Mapping[str, float]) -> float:
    """The sum of signs, each with its weight."""
    return sum(curve.get(name, 0.0) * value for name, value in signs.items())


Places = Mapping[TermQuery, NDArray[np.intp]]


def _coverage(matches: PassageMatches, places: Places, number: int) -> tuple[Column, Column]:
    """How much of the question's weight each row has, and how rare the rarest of the words is that it has."""
    worth = np.zeros(number)
    rarest = np.zeros(number)
    unheard = inverse_frequency(matches.containers.rows, 0) or 1.0
    for asked, having in places.items():
        worth[having] += asked.weight * matches.rarity[asked]
        if asked.weight == 1:
            rarest[having] = np.maximum(rarest[having], matches.rarity[asked] / unheard)
    whole = sum(matches.worth.values())
    return np.minimum(1.0, worth / whole) if whole else worth, rarest


def _containers(matches: PassageMatches, places: Places, groups: ContainerColumns) -> Column:
    """How much of the question each row's whole container has. The more of all rows a container has, the less
    that says; where there is only one, nothing.
    """
    number = len(groups.rows)
    if number < 2:
        return np.zeros(len(groups.of_row))
    worth = np.zeros(number)
    terms: dict[str, float] = {}
    for asked, having in places.items():
        there = np.zeros(number, np.bool_)
        there[groups.of_row[having]] = True
        rarity = asked.weight * inverse_frequency(number, int(there.sum()))
        worth[there] += rarity
        terms[asked.term] = max(terms.get(asked.term, 0.0), rarity)
    missing = len(matches.worth.keys() - terms.keys()) * inverse_frequency(number, 0)
    whole = sum(terms.values()) + missing
    penalty = _penalty(groups.length / (groups.length.mean() or 1.0))
    shares = np.minimum(1.0, worth / (whole or 1.0)) * (1 + _penalty(np.zeros(1))) / (1 + penalty)
    shares *= 1 - groups.rows / groups.rows.sum()
    return np.asarray(shares[groups.of_row])


def _similarity(rows: PassageTable, near: Similarities) -> tuple[Column, Column, Mask]:
    """The nearness of each row's best piece and of the whole, and which rows have any.

    Rows without vectors count as usual ones.
    """
    total = len(rows.ids)
    known = np.zeros(total, np.bool_)
    if not near or not total:
        return np.zeros(total), np.zeros(total), known
    if np.array_equal(near.rows, rows.ids):
        return near.best, near.mean, ~known
    places, there = rows.lookup(near.rows)
    places = places[there]
    usual = float(near.best.mean()) if near.complete else float(near.best.min())
    best, mean = np.full(total, usual), np.full(total, min(usual, float(near.mean.mean())))
    best[places] = near.best[there]
    mean[places] = near.mean[there]
    known[places] = True
    return best, mean, known


def _nearest_statement(rows: PassageTable, near: Similarities) -> float:
    """How near the nearest row is that says something: who asks the same twice has no answer yet."""
    places, there = rows.lookup(near.rows)
    there[there] = ~rows.only_asking[places[there]]
    return float(near.best[there].max(initial=0.0))


def _preselect(columns: Mapping[str, Column], among: Mask) -> Mask:
    """The best by words and the best by meaning, as OpenClaw looks at no others."""
    most = 200
    chosen = np.zeros(len(among), np.bool_)
    for name in ("density", "nearness"):
        chosen[np.argsort(columns[name], kind="stable")[-most:]] = True
    return chosen & among


class _Neighbours:
    """What stands beside rows in their containers.

    A memory stands for itself: what happens to be listed beside it says nothing about it.
    """

    def __init__(self, rows: PassageTable, places: NDArray[np.intp]) -> None:
        steps = np.array([*range(-REACH, 0), *range(1, REACH + 1)])
        self._weights = (1 - np.abs(steps) / (REACH + 1))[:, np.newaxis]
        # A row of these for each step, so that every step is in one piece.
        index = places + steps[:, np.newaxis]
        last = len(rows.ids) - 1
        self._index = np.clip(index, 0, max(0, last))
        self._there = (index >= 0) & (index <= last)
        if len(places):
            self._there &= rows.containers[self._index] == rows.containers[places]
            self._there &= ~(rows.memory[self._index] | rows.memory[places])

    def get_before(self, column: Column) -> Column:
        """The value of the row before each; 0 where there is none."""
        return self._take(column, REACH - 1)

    def find_larger(self, column: Column) -> Column:
        """The value of the row before each or of the one after it."""
        return np.maximum(self._take(column, REACH - 1), self._take(column, REACH))

    def average(self, column: Column) -> Column:
        """The mean over the rows around each, the nearer ones counting more."""
        values = np.where(self._there, column[self._index], 0.0) if len(column) else np.zeros((2 * REACH, 0))
        return np.asarray((values * self._weights).sum(axis=0) / self._weights.sum())

    def _take(self, column: Column, step: int) -> Column:
        return np.where(self._there[step], column[self._index[step]], 0.0) if len(column) else np.zeros(0)


def _penalty(length: Column) -> Column:
    return _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * length)
