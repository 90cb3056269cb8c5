"""Searching notes and conversations, by word and by meaning at once.

Puts the parts together: the index is brought up to date, words and vectors are asked, and one ranking is
made of both. The same search serves people, tools and the recall of every turn. Every answer says what ran,
what did not and why, and every hit where it is and how likely it holds what was asked for.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np

from holdfast.errors import EmbedderError
from holdfast.memory.searching.hits import Answer, Freshness, Hit
from holdfast.memory.searching.index import Index
from holdfast.memory.searching.meaning import Meaning, Near
from holdfast.memory.searching.outlines import Outlines
from holdfast.memory.searching.ranking import MEASURED, Ranking, Weights, rank_rows
from holdfast.memory.searching.snippets import snippet
from holdfast.messages import Scope
from holdfast.store import Matches, Row, Store, Where
from holdfast.store.containers import Container
from holdfast.store.passages import NOTE
from holdfast.text.questions import Question, read_question

Within = Literal["notes", "conversations", "all"]

# Seconds for files that have changed and for texts without vectors; what is left over is said.
BUDGET = 0.3
LIMIT = 6
# Rows that are compared because they are near, where an engine elsewhere does not compare all.
_NEAREST = 1_000
# Ranked for each hit that is wanted: a message of enormous size has several rows.
_SPARE = 2
# A name is exact enough to keep a place for when no more rows have it.
_FEW = 20
# A part of a compound question must beat the whole by this much to decide a row's place.
_PART_PENALTY = 0.5
# How often a search is done because rows were replaced meanwhile.
_RETRIES = 3


class Searcher(Protocol):
    """Whoever can be asked: the search below, or another engine that has it in reserve."""

    def search(
        self,
        query: str,
        scope: Scope,
        *,
        within: Within = "all",
        kinds: Collection[str] = (),
        limit: int = LIMIT,
        min_score: float = 0.0,
        own: bool = False,
    ) -> Answer: ...


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """One question ranked over all rows."""

    question: Question
    matches: Matches
    near: Near
    ranking: Ranking
    exact: frozenset[int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that may hold what was asked for: its sum orders, its score is a probability.

    The score is how likely the question is answered if this is the best there is. `ranked` is the question,
    or the part of a compound one, that it answers best, and `place` is where it stands there.
    """

    row: Row
    total: float
    score: float
    ranked: RankedQuestion
    place: int
    exact: bool = False

    @property
    def parts(self) -> Mapping[str, float]:
        """What its sum is made of."""
        return self.ranked.ranking.parts(self.place)

    @property
    def engines(self) -> tuple[str, ...]:
        """Who found it."""
        return _engines_of(self.row.id, self.ranked)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Candidates, best first, how likely any of them answers the question, and how they were found."""

    candidates: tuple[Candidate, ...]
    likely: float
    engines: tuple[str, ...]
    model: str = ""
    compared: str = ""
    degraded: tuple[str, ...] = ()
    freshness: Freshness = Freshness()
    # What each term of the question is worth, for choosing passages.
    worth: Mapping[str, float] = field(default_factory=dict)
    # Where it was looked, and what was there then.
    places: Sequence[Where] = ()
    containers: Sequence[Container] = ()


class Search:
    """`weights` says what words and meaning are worth, `budget` how long a question waits for the index."""

    def __init__(
        self,
        store: Store,
        index: Index,
        meaning: Meaning,
        *,
        weights: Weights = MEASURED,
        budget: float = BUDGET,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._index = index
        self._meaning = meaning
        self._outlines = Outlines(store)
        self._weights = weights
        self._budget = budget
        self._clock = clock

    def search(
        self,
        query: str,
        scope: Scope,
        *,
        within: Within = "all",
        kinds: Collection[str] = (),
        limit: int = LIMIT,
        min_score: float = 0.0,
        own: bool = False,
    ) -> Answer:
        """The best `limit` parts of notes and messages that this scope can see, or of its `own` only.

        `kinds` narrows it to memories of these kinds. What has a rare name of the question word for word
        keeps a place, whatever its score.
        """
        # Whoever searches asks, however they spell it.
        question = replace(read_question(query), asks=1.0)
        for _ in range(_RETRIES):
            result = self.retrieve(
                [question], scope, within=within, kinds=kinds, limit=_SPARE * limit, own=own
            )
            chosen = _choose(result.candidates, limit, min_score)
            hits = self._hits(chosen, scope, result.worth)
            # What was written anew while we looked has other rows now, and would be missing.
            if len(hits) == limit or self._store.passages.containers(result.places) == result.containers:
                break
        return Answer(
            tuple(hits),
            result.engines,
            result.model,
            result.degraded,
            result.freshness,
            "" if hits else _why_empty(question, result),
            result.compared,
            round(result.likely, 4),
        )

    def retrieve(
        self,
        questions: Sequence[Question],
        scope: Scope,
        *,
        within: Within = "all",
        kinds: Collection[str] = (),
        limit: int = LIMIT,
        own: bool = False,
        tree: str = "",
        patience: float | None = None,
    ) -> Retrieval:
        """The best rows for a question, the first of `questions`, and for its parts, the others.

        With `tree`, only that conversation is searched. With `patience`, in seconds, somebody waits: no
        vectors are made for what has none yet, and if the question's own is late, words serve alone. The
        parts share the time, which begins when files have been looked at.
        """
        for question in questions:
            if question.has_meaning:
                # Its vector is made while files and words are looked at.
                self._meaning.begin(question.text)
        places, freshness, trouble = self._prepare(scope, within, own, tree, patience is None)
        until = None if patience is None else self._clock() + patience
        passes = [self._rank(question, places, kinds, until) for question in questions]
        first = passes[0]
        reasons = [reason for reason in (trouble, first.near.trouble) if reason]
        if freshness.stale:
            reasons.append(f"{freshness.stale} changed files are not read again yet.")
        by_meaning = bool(first.near.rows)
        worth: dict[str, float] = {}
        for ranked in reversed(passes):
            worth |= {asked.term: value for asked, value in ranked.matches.rarity.items()}
        return Retrieval(
            tuple(self._candidates(passes, limit)),
            max(ranked.ranking.likely() for ranked in passes),
            (first.matches.engine, "vectors") if by_meaning else (first.matches.engine,),
            first.near.model if by_meaning else "",
            first.near.engine if by_meaning else "",
            tuple(dict.fromkeys((*reasons, *freshness.left_out))),
            freshness,
            worth,
            places,
            first.matches.containers,
        )

    def rank(self, question: Question, scope: Scope, *, within: Within = "all") -> RankedQuestion:
        """All rows that a scope sees, ranked for a question: what a search is made of."""
        places, _, _ = self._prepare(scope, within)
        return self._rank(question, places, ())

    def _rank(
        self,
        question: Question,
        places: Sequence[Where],
        kinds: Collection[str],
        until: float | None = None,
    ) -> RankedQuestion:
        matches = self._store.passages.matches(places, question.terms, question.parts)
        rows = self._outlines.of(places, matches.containers)
        also = {row for having in matches.having.values() for row in having}
        near = Near()
        if question.has_meaning:
            patience = None if until is None else max(0.0, until - self._clock())
            near = self._meaning.near(places, question.text, _NEAREST, also, patience)
        ranking = rank_rows(question, matches, rows, near.rows, self._weights.scaled(near.factor))
        if kinds:
            ranking = replace(ranking, among=ranking.among & rows.note & np.isin(rows.kind, list(kinds)))
        return RankedQuestion(
            question, matches, near, ranking, frozenset(_exact_rows(matches, question.names))
        )

    def _candidates(self, passes: Sequence[RankedQuestion], limit: int) -> list[Candidate]:
        """The best rows of all passes, each once, with what decided its place.

        Every second place is for the parts of a compound question in turn: one that is answered well must
        not take the room of one that is hard to answer.
        """
        best: dict[int, tuple[float, RankedQuestion, int]] = {}
        turns: dict[int, int] = {}
        for number, ranked in enumerate(passes):
            rows, sums = ranked.ranking.rows, ranked.ranking.sums
            places = [*ranked.ranking.best(limit).tolist()]
            if ranked.exact:
                exact = np.isin(rows.ids, list(ranked.exact))
                places += ranked.ranking.best(limit, exact).tolist()
            for turn, place in enumerate(dict.fromkeys(places)):
                total = float(sums[place]) - (_PART_PENALTY if number else 0.0)
                row = int(rows.ids[place])
                if number:
                    turns[row] = min(turn * (len(passes) - 1), turns.get(row, turn * (len(passes) - 1)))
                if row not in best or total > best[row][0]:
                    best[row] = total, ranked, place
        known = self._store.passages.rows(best.keys())
        by_total = sorted(
            (row for row in best if row in known), key=lambda row: (-best[row][0], -known[row].at, -row)
        )
        ordered = [
            row
            for _, row in sorted(
                enumerate(by_total), key=lambda each: min(each[0], turns.get(each[1], each[0]))
            )
        ]
        chosen: dict[tuple[str, str], Candidate] = {}
        for row in ordered:
            total, ranked, place = best[row]
            # Every passage once, with the best of its rows.
            chosen.setdefault(
                (known[row].container, known[row].passage),
                Candidate(
                    known[row],
                    total,
                    ranked.ranking.likely(place),
                    ranked,
                    place,
                    any(row in each.exact for each in passes),
                ),
            )
        return list(chosen.values())

    def _prepare(
        self, scope: Scope, within: Within, own: bool = False, tree: str = "", embeds: bool = True
    ) -> tuple[list[Where], Freshness, str]:
        """Where to look, after as much of the index as there is time for was brought up to date."""
        places: list[Where] = []
        freshness = Freshness()
        if tree:
            self._store.texts.catch_up(where=tree)
            return [tree], freshness, ""
        if within != "conversations":
            freshness = self._index.refresh(scope, self._budget)
            places += self._index.places(scope, own=own)
        if within != "notes":
            places.append(scope)
        try:
            if embeds:
                self._store.passages.catch_up(places)
                self._meaning.catch_up(places=places, until=self._clock() + self._budget)
        except EmbedderError as error:
            return places, freshness, str(error)
        return places, freshness, ""

    def _hits(self, chosen: Sequence[Candidate], scope: Scope, worth: Mapping[str, float]) -> list[Hit]:
        texts = self._store.passages.texts([candidate.row.id for candidate in chosen])
        talks = self._conversations({each.row.container for each in chosen if each.row.role != NOTE}, scope)
        hits = []
        for candidate in chosen:
            row = candidate.row
            text = texts.get(row.id)
            if text is None:
                # It was deleted since.
                continue
            part = snippet(text, worth)
            note = row.role == NOTE
            lines = min(row.last, row.first + part.first), min(row.last, row.first + part.last)
            hits.append(
                Hit(
                    id=row.passage,
                    kind="note" if note else "message",
                    path=row.container.partition(":")[2] if note else talks.get(row.container, ""),
                    lines=lines if note else None,
                    snippet=part.text,
                    score=round(candidate.score, 4),
                    parts=candidate.parts,
                    at=row.at,
                    role=row.role,
                    memory_kind=row.branch if note else "",
                    exact=candidate.exact,
                    engines=candidate.engines,
                )
            )
        return hits

    def _conversations(self, trees: Collection[str], scope: Scope) -> dict[str, str]:
        """The conversation on each tree that was used last."""
        latest: dict[str, str] = {}
        for tree, talks in self._store.log.conversations_on(trees).items():
            ours = [talk for talk in talks if talk.scope == scope]
            if ours:
                latest[tree] = max(ours, key=lambda talk: (talk.updated_at, talk.id)).id
        return latest


def _engines_of(row: int, ranked: RankedQuestion) -> tuple[str, ...]:
    by_words = any(row in having for having in ranked.matches.having.values())
    return (
        *((ranked.matches.engine,) if by_words else ()),
        *((f"vectors {ranked.near.engine}",) if row in ranked.near.rows else ()),
    )


def _exact_rows(matches: Matches, names: Collection[str]) -> set[int]:
    """The rows that have a name of the question which few others have."""
    return {
        row
        for asked, having in matches.having.items()
        if asked.weight == 1 and asked.term in names and len(having) <= _FEW
        for row in having
    }


def _choose(candidates: Sequence[Candidate], limit: int, least: float) -> list[Candidate]:
    """The best, where those that have a name word for word keep up to half of the places."""
    exact = [candidate for candidate in candidates if candidate.exact][: max(1, limit // 2)]
    others = [each for each in candidates if each.score >= least and each not in exact]
    chosen = [*exact, *others[: limit - len(exact)]]
    return sorted(chosen, key=lambda candidate: -candidate.total)


def _why_empty(question: Question, result: Retrieval) -> str:
    if not question.text:
        return "Nothing was asked."
    if not result.containers:
        return "There is nothing here to search yet."
    if not question.terms and not result.candidates:
        return "There is no word in the question that could be looked for."
    if result.candidates:
        return "What was found is below the minimum score."
    return "Nothing has any of these words."
