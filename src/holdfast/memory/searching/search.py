"""Searching notes and conversations, by word and by meaning at once.

Puts the parts together: the index is brought up to date, words and vectors are asked, and one ranking is made
of both. Every answer says what ran, what did not and why, and every hit where it is and what it is worth.
"""

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from holdfast import words
from holdfast.errors import EmbedderError
from holdfast.memory.searching import fusion
from holdfast.memory.searching.fusion import MEASURED, Scored, Weights
from holdfast.memory.searching.hits import Answer, Freshness, Hit
from holdfast.memory.searching.index import Index
from holdfast.memory.searching.meaning import Meaning, Near
from holdfast.memory.searching.outlines import Outlines
from holdfast.memory.searching.snippets import snippet
from holdfast.messages import Scope
from holdfast.store import Matches, Row, Store, Where
from holdfast.store.passages import NOTE

Within = Literal["notes", "conversations", "all"]

# Seconds for files that have changed and for texts without vectors; what is left over is said.
BUDGET = 0.3
LIMIT = 6
# A longer question is a text, and nobody means every word of it.
_LONGEST = 2_000
# Rows that are compared because they are near, whatever their words.
_NEAREST = 1_000
# Ranked for each hit that is wanted: a message of enormous size has several rows.
_SPARE = 2
# Words that only ask, and would be looked for as if they were the subject.
_ASKING_EN = frozenset(words.terms("many much often"))
_ASKING_DE = frozenset(
    words.terms(
        """
        viel viele vielen oft war waren hat hatte hatten man wurde wurden worden wem wen wessen woher wohin
        wozu womit wovon worauf worum woran worin wodurch wofür wogegen wobei wonach worüber woraus weshalb
        weswegen inwiefern inwieweit wieviel heißt heißen hieß hießen lautet lautete nennt nannte genannt
        bezeichnet darf dürfen durfte durften konnte konnten könnten müssen mussten mag mögen möchte sollen
        sollten wollten wäre wären hätte hätten ab neben seit trotz wegen außer statt innerhalb außerhalb laut
        gemäß manche manchen mancher mehrere mehreren beide beiden dabei dafür daran darauf daraus darin
        darüber darum davon davor dadurch danach daher deshalb deswegen jedoch sowie sowohl weder entweder
        falls bevor nachdem obwohl bereits schon etwa ungefähr meist meisten mehr
        """
    )
)
# Words that only ask together; an `Art` is a species otherwise.
_KIND = re.compile(
    r"\bwelche[rnms]? (?:Art|Sorte)\b|\b(?:what|which) (?:kind|sort|type)s? of\b", re.IGNORECASE
)
# A name is exact enough to keep a place for when no more rows have it.
_FEW = 20
# How often a search is done because rows were replaced meanwhile.
_AGAIN = 3


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
class _Ranked:
    """The best rows, `named` those with a name of the question; `known` what the store has of them now."""

    terms: Sequence[str]
    matches: Matches
    near: Near
    exact: Collection[int]
    named: Sequence[Scored]
    ranked: Sequence[Scored]
    known: Mapping[int, Row]


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
        question = query[:_LONGEST].strip()
        if _means(question):
            # Its vector is made while files and words are looked at.
            self._meaning.begin(question)
        places, freshness, trouble = self._ready(scope, within, own)
        for _ in range(_AGAIN):
            found = self._ranked(question, places, kinds, limit)
            matches, near, known = found.matches, found.near, found.known
            chosen = _chosen(_once(found.ranked, known), _once(found.named, known), limit, min_score)
            hits = self._hits([(one, known[one.id]) for one in chosen], scope, matches, found.exact, near)
            # What was written anew while we looked has other rows now, and would be missing.
            if len(hits) == limit or self._store.passages.containers(places) == matches.containers:
                break
        reasons = [reason for reason in (trouble, near.trouble) if reason]
        if freshness.stale:
            reasons.append(f"{freshness.stale} changed files are not read again yet.")
        return Answer(
            tuple(hits),
            (matches.engine, "vectors") if near.rows else (matches.engine,),
            near.model if near.rows else "",
            tuple(dict.fromkeys((*reasons, *freshness.left_out))),
            freshness,
            "" if hits else _why_empty(question, found),
            near.engine if near.rows else "",
        )

    def _ranked(
        self, question: str, places: Sequence[Where], kinds: Collection[str], limit: int
    ) -> "_Ranked":
        terms, parts = _asked(question)
        matches = self._store.passages.matches(places, terms, parts)
        rows = self._outlines.of(places, matches.containers)
        by_words = fusion.by_words(matches, rows)
        also = rows.ids[by_words > 0].tolist()
        near = self._meaning.near(places, question, _NEAREST, also) if _means(question) else Near()
        weights = self._weights.normalised(by_words=bool(also), by_meaning=bool(near.rows))
        columns = fusion.columns(matches, rows, by_words, near.rows)
        among = columns.candidates(limit, weights.multiplier)
        if kinds:
            among &= rows.note & np.isin(rows.kind, list(kinds))
        exact = _exact(matches, words.telling(question))
        last = fusion.newest(rows, among)
        telling = among & np.isin(rows.ids, list(exact))
        named = fusion.fused(columns, rows, telling, weights, limit, last)
        ranked = fusion.fused(columns, rows, among, weights, _SPARE * limit, last)
        known = self._store.passages.rows({one.id for one in (*named, *ranked)})
        return _Ranked(terms, matches, near, exact, named, ranked, known)

    def _ready(self, scope: Scope, within: Within, own: bool) -> tuple[list[Where], Freshness, str]:
        """Where to look, after as much of the index as there is time for was brought up to date."""
        places: list[Where] = []
        freshness = Freshness()
        if within != "conversations":
            freshness = self._index.refresh(scope, self._budget)
            places += self._index.places(scope, own=own)
        if within != "notes":
            places.append(scope)
            self._store.passages.catch_up(places)
        try:
            self._meaning.catch_up(places=places, until=self._clock() + self._budget)
        except EmbedderError as error:
            return places, freshness, str(error)
        return places, freshness, ""

    def _hits(
        self,
        chosen: Sequence[tuple[Scored, Row]],
        scope: Scope,
        matches: Matches,
        exact: Collection[int],
        near: Near,
    ) -> list[Hit]:
        texts = self._store.passages.texts([row.id for _, row in chosen])
        weights = {asked.term: value for asked, value in matches.rarity.items()}
        talks = self._conversations({row.container for _, row in chosen if row.role != NOTE}, scope)
        hits = []
        for one, row in chosen:
            text = texts.get(row.id)
            if text is None:
                # It was deleted since.
                continue
            part = snippet(text, weights)
            note = row.role == NOTE
            lines = min(row.last, row.first + part.first), min(row.last, row.first + part.last)
            hits.append(
                Hit(
                    id=row.passage,
                    kind="note" if note else "message",
                    path=row.container.partition(":")[2] if note else talks.get(row.container, ""),
                    lines=lines if note else None,
                    snippet=part.text,
                    score=round(one.score, 4),
                    parts={name: round(value, 4) for name, value in one.parts.items() if value},
                    at=row.at,
                    role=row.role,
                    memory_kind=row.branch if note else "",
                    exact=row.id in exact,
                    relevance=round(one.relevance, 4),
                    engines=_found_by(row.id, matches, near),
                )
            )
        return hits

    def _conversations(self, trees: Collection[str], scope: Scope) -> dict[str, str]:
        """The conversation on each tree that was used last."""
        found: dict[str, str] = {}
        for tree in trees:
            ours = [one for one in self._store.log.conversations_of(tree) if one.scope == scope]
            if ours:
                found[tree] = max(ours, key=lambda one: (one.updated_at, one.id)).id
        return found


def _found_by(number: int, matches: Matches, near: Near) -> tuple[str, ...]:
    by_words = any(number in having for having in matches.having.values())
    by_meaning = number in near.rows
    return (
        *((matches.engine,) if by_words else ()),
        *((f"vectors {near.engine}",) if by_meaning else ()),
    )


def _means(question: str) -> bool:
    return any(sign.isalnum() for sign in question)


def _asked(question: str) -> tuple[list[str], list[str]]:
    """The terms of a question, names first, since of a long one only the first are looked up."""
    telling = words.telling(question)
    idle = _ASKING_DE if words.language_of(question) == "de" else _ASKING_EN
    asked = dict.fromkeys(words.terms(_KIND.sub(" ", question)))
    terms = [term for term in asked if term in telling or term not in idle]
    return sorted(terms, key=lambda term: term not in telling), words.parts(question)


def _exact(matches: Matches, telling: Collection[str]) -> set[int]:
    """The rows that have a name of the question which few others have."""
    return {
        number
        for asked, having in matches.having.items()
        if asked.weight == 1 and asked.term in telling and len(having) <= _FEW
        for number in having
    }


def _once(scored: Sequence[Scored], rows: Mapping[int, Row]) -> list[Scored]:
    """Every passage once, with the best of its rows; what was deleted meanwhile is none."""
    best: dict[tuple[str, str], Scored] = {}
    for one in scored:
        if (row := rows.get(one.id)) is not None:
            best.setdefault((row.container, row.passage), one)
    return list(best.values())


def _chosen(ranked: Sequence[Scored], named: Sequence[Scored], limit: int, least: float) -> list[Scored]:
    """The best, where those that have a name word for word keep up to half of the places."""
    kept = {one.id: one for one in named[: max(1, limit // 2)]}
    others = [one for one in ranked if one.score >= least and one.id not in kept]
    chosen = [*kept.values(), *others[: limit - len(kept)]]
    return sorted(chosen, key=lambda one: (-one.score, -one.at, -one.id))


def _why_empty(question: str, found: _Ranked) -> str:
    if not question:
        return "Nothing was asked."
    if not found.matches.containers:
        return "There is nothing here to search yet."
    if not found.terms and not found.ranked:
        return "There is no word in the question that could be looked for."
    return "What was found is below the minimum score." if found.ranked else "Nothing has any of these words."
