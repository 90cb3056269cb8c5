"""Search over notes and conversations, by words and by meaning at once.

The index is brought up to date, words and vectors are asked, and one ranking is made of both. The same search
serves people, tools and the recall of every turn. Every result says what ran, what did not and why; every hit
says where it is and how likely it holds the answer.
"""

import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from holdfast.errors import EmbedderError
from holdfast.i18n import lazy
from holdfast.memory.index import Freshness, Index
from holdfast.memory.passage_table import PassageTableCache
from holdfast.memory.ranking import MEASURED, Ranking, RankingWeights, rank_rows
from holdfast.memory.semantic import SemanticIndex, SemanticMatches
from holdfast.memory.workspace import Note, Workspace
from holdfast.messages import Scope
from holdfast.store import PassageMatches, PassageRow, SearchPlace, Store
from holdfast.store.fulltext import Container
from holdfast.store.passages import NOTE
from holdfast.store.texts import PIECE_SIZE, split_pieces
from holdfast.text import analyser
from holdfast.text.questions import Question, Trait, read_question

HitKind = Literal["note", "message"]

# Below this the store most likely has no answer.
WEAK = 0.1

EXCERPT_LENGTH = 700
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
# Messages that are indexed while somebody waits for an answer; the rest is done in the background.
_INDEXED_IN_TURN = 100
# How often a search is done because rows were replaced meanwhile.
_RETRIES = 3


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A part of a note, or a message.

    `path` is the file of a note or the id of a conversation, `lines` the first and last line of the snippet
    in the file. `score` is how likely it holds what was asked for, and `parts` say what speaks for and
    against it.
    `engines` are those that found it.
    """

    id: str
    kind: HitKind
    path: str
    lines: tuple[int, int] | None
    snippet: str
    score: float
    parts: Mapping[str, float]
    at: float
    role: str
    memory_kind: str = ""
    exact: bool = False
    engines: tuple[str, ...] = ()
    # It was replaced and no longer holds.
    former: bool = False

    @property
    def citation(self) -> str:
        return f"{self.path}#{self.lines[0]}" if self.lines else f"{self.path}#{self.id}"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, and how they were found.

    `engines` are those that ran, `model` is whose vectors were compared, and `compared` where. `degraded`
    says in words why less was done than could be, `empty` why there are no hits. `likely` is how likely any
    of them answers the question; where that is little, nothing fits well, and `weak` says so.
    """

    hits: tuple[SearchHit, ...]
    engines: tuple[str, ...]
    model: str = ""
    degraded: tuple[str, ...] = ()
    freshness: Freshness = Freshness()
    empty: str = ""
    compared: str = ""
    likely: float = 1.0

    @property
    def weak(self) -> bool:
        """Whether most likely nothing here answers the question."""
        return bool(self.hits) and self.likely < WEAK

    def to_json(self, *, cited: bool = True) -> dict[str, Any]:
        """The result as JSON; hits name their sources only if `cited`."""
        result = {**asdict(self), "weak": self.weak}
        for hit, out in zip(self.hits, result["hits"], strict=True):
            out["citation"] = f"Source: {hit.citation}" if cited else None
        return result


def cites(citations: str, scope: Scope) -> bool:
    """Whether hits name their sources: `on`, `off`, or `auto`, which means in private and not in groups."""
    return citations == "on" or (citations == "auto" and scope.kind == "private")


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
    for piece in split_pieces(text):
        place = text.index(piece, place)
        worth = sum(weights.get(term, 0.0) for term in set(analyser.terms(piece)))
        if worth > most:
            best, at, most = piece, place, worth
    spare = EXCERPT_LENGTH - len(best) - 2
    start = max(0, at - spare // 2)
    end = min(len(text), start + EXCERPT_LENGTH - 2)
    start = max(0, end - EXCERPT_LENGTH + 2)
    start, end = trim_to_words(text, start, end)
    shown = text[start:end]
    return Excerpt(
        f"{'…' if start else ''}{shown.strip()}{'…' if end < len(text) else ''}",
        _line(text, start + len(shown) - len(shown.lstrip())),
        _line(text, start + len(shown.rstrip())),
    )


def trim_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Move both ends of an excerpt to the nearest space, unless a word is very long."""
    if start:
        space = text.find(" ", start, start + PIECE_SIZE // 4)
        start = start if space < 0 else space + 1
    if end < len(text):
        space = text.rfind(" ", end - PIECE_SIZE // 4, end)
        end = end if space < 0 else space
    return start, end


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place)


class Searcher(Protocol):
    """Something that searches: `Search`, or a backend that falls back to it."""

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
    ) -> SearchResult: ...


class SearchBackend(Searcher, Protocol):
    """A program that searches notes in place of `Search`, to which it falls back."""

    @property
    def interval(self) -> float:
        """Seconds between two looks at the notes."""

    @property
    def debounce(self) -> float:
        """Seconds to wait after a change, since others may follow."""

    def resolve(self, scope: Scope, path: str) -> Note | None:
        """The note at a path that a hit of this backend cites; None for other paths."""

    def refresh(self, stop: Callable[[], bool] = lambda: False, *, embed: bool = False) -> str:
        """Bring it up to date with the notes; what went wrong, in words."""

    def state(self) -> dict[str, Any]:
        """Who answered last and why, and how far the backend is. Nothing is run."""

    def close(self) -> None: ...


OpenSearchBackend = Callable[[Workspace, Searcher, Index], SearchBackend]


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """One question ranked over all rows."""

    question: Question
    matches: PassageMatches
    near: SemanticMatches
    ranking: Ranking
    exact: frozenset[int]


class SearchCandidate(NamedTuple):
    """A row that may hold what was asked for: its sum orders, its score is a probability.

    The score is how likely the question is answered if this is the best there is. `ranked` is the question,
    or the part of a compound one, that it answers best, and `place` is where it stands there. `before` is how
    likely the rows before it hold the answer, of those of the question or part where that is the least.
    """

    row: PassageRow
    total: float
    score: float
    ranked: RankedQuestion
    place: int
    exact: bool = False
    before: float = 0.0

    @property
    def parts(self) -> Mapping[str, float]:
        """The parts of its sum."""
        return self.ranked.ranking.parts(self.place)

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that found it."""
        matches, near = self.ranked.matches, self.ranked.near
        by_words = any(self.row.id in having for having in matches.having.values())
        return (
            *((matches.engine,) if by_words else ()),
            *((f"vectors {near.engine}",) if self.row.id in near.rows else ()),
        )


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Candidates, best first, how likely any of them answers the question, and how they were found."""

    candidates: tuple[SearchCandidate, ...]
    likely: float
    engines: tuple[str, ...]
    model: str = ""
    compared: str = ""
    degraded: tuple[str, ...] = ()
    freshness: Freshness = Freshness()
    # What each term of the question is worth, for choosing passages.
    worth: Mapping[str, float] = field(default_factory=dict)
    # Where it was looked, and what was there then.
    places: Sequence[SearchPlace] = ()
    containers: Sequence[Container] = ()
    # Whether some of what was said is not in the index yet.
    partial: bool = False


@dataclass(frozen=True, slots=True)
class PreparedSearch:
    """Where to search, once the index is up to date as far as time allowed; `trouble` says what failed.

    Where it is `partial`, some of what was said is not in the index yet.
    """

    places: Sequence[SearchPlace]
    freshness: Freshness = Freshness()
    trouble: str = ""
    partial: bool = False


class Search:
    """Searches the index. `weights` rate words and meaning; `budget` limits the time for updating it."""

    def __init__(
        self,
        store: Store,
        index: Index,
        meaning: SemanticIndex,
        *,
        weights: RankingWeights = MEASURED,
        budget: float = BUDGET,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._index = index
        self._meaning = meaning
        self._outlines = PassageTableCache(store)
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
    ) -> SearchResult:
        """Find the best `limit` parts of notes and messages that this scope can see, or of its `own` only.

        `kinds` limits it to memories of these kinds. A row with a rare name of the question keeps its place,
        whatever its score.
        """
        question = read_query(query)
        for _ in range(_RETRIES):
            result = self.retrieve(
                [question], scope, within=within, kinds=kinds, limit=_SPARE * limit, own=own
            )
            chosen = _choose(result.candidates, limit, min_score)
            hits = self._hits(chosen, scope, result.worth)
            # What was written anew while we looked has other rows now, and would be missing.
            if len(hits) == limit or self._store.passages.containers(result.places) == result.containers:
                break
        return SearchResult(
            tuple(hits),
            result.engines,
            result.model,
            result.degraded,
            result.freshness,
            "" if hits else explain_empty(question, result),
            result.compared,
            round(result.likely, 4),
        )

    def find_messages(self, query: str, scope: Scope, limit: int) -> tuple[list[SearchCandidate], bool]:
        """Find the best messages, without their texts; none where most likely nothing answers the query.

        Also return whether meaning was compared.
        """
        result = self.retrieve([read_query(query)], scope, within="conversations", limit=_SPARE * limit)
        chosen = _choose(result.candidates, limit, 0.0) if result.likely >= WEAK else []
        return chosen, "vectors" in result.engines

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
        asked: str = "",
    ) -> Retrieval:
        """The best rows for a question, the first of `questions`, and for its parts, the others.

        With `tree`, only that conversation is searched. `asked` is the message that asks: its own words are
        no match, or there would be none that were never heard. With `patience`, in seconds, somebody waits:
        no vectors are made for what has none yet, and if the question's own is late, words serve alone. The
        parts share the time, which begins when files have been looked at.
        """
        prepared = self.prepare(
            questions, scope, within=within, own=own, tree=tree, embeds=patience is None, asked=asked
        )
        return self.find(questions, prepared, kinds=kinds, limit=limit, patience=patience, asked=asked)

    def prepare(
        self,
        questions: Sequence[Question],
        scope: Scope,
        *,
        within: Within = "all",
        own: bool = False,
        tree: str = "",
        embeds: bool = True,
        asked: str = "",
    ) -> PreparedSearch:
        """Begin the vectors of questions, and bring the index up to date as far as time allows.

        With `embeds`, vectors are made for what has none yet, and all that was said is indexed. Without,
        somebody waits for an answer: of a backlog (an import, an index of a new version) only a little is.
        The message `asked` is not needed in it.
        """
        for question in questions:
            if question.has_meaning:
                # Its vector is made while files and words are looked at.
                self._meaning.begin(question.text)
        if tree:
            self._store.texts.catch_up(where=tree, without=asked)
            return PreparedSearch((tree,))
        places: list[SearchPlace] = []
        freshness, trouble = Freshness(), ""
        if within != "conversations":
            freshness = self._index.refresh(scope, self._budget)
            places += self._index.places(scope, own=own)
        if within != "notes":
            places.append(scope)
        whole = self._store.passages.catch_up(places, None if embeds else _INDEXED_IN_TURN, without=asked)
        try:
            if embeds:
                self._meaning.catch_up(places=places, until=self._clock() + self._budget)
        except EmbedderError as error:
            trouble = str(error)
        return PreparedSearch(tuple(places), freshness, trouble, partial=not whole)

    def find(
        self,
        questions: Sequence[Question],
        prepared: PreparedSearch,
        *,
        kinds: Collection[str] = (),
        limit: int = LIMIT,
        patience: float | None = None,
        asked: str = "",
    ) -> Retrieval:
        """As `retrieve` does, after `prepare`. It only reads."""
        places, freshness = prepared.places, prepared.freshness
        until = None if patience is None else self._clock() + patience
        passes = [self._rank(question, places, kinds, until, asked) for question in questions]
        first = passes[0]
        reasons = [reason for reason in (prepared.trouble, first.near.trouble) if reason]
        if freshness.stale:
            reasons.append(f"{freshness.stale} changed files are not read again yet.")
        if prepared.partial:
            reasons.append(lazy("Some of what was said is not in the index yet."))
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
            prepared.partial,
        )

    def find_all_with(
        self, groups: Collection[tuple[str, ...]], places: Sequence[SearchPlace]
    ) -> list[PassageRow]:
        """Return the rows that have all terms of a group, for groups that few rows have."""
        terms = tuple({term for group in groups for term in group})
        having: dict[str, set[int]] = {}
        for asked, rows in self._store.passages.matches(places, terms, ()).having.items():
            having[asked.term] = having.get(asked.term, set()) | rows
        ids: set[int] = set()
        for group in groups:
            rows = set.intersection(*(having.get(term, set()) for term in group))
            ids |= rows if len(rows) <= _FEW else set()
        return list(self._store.passages.rows(ids).values())

    def load(self, scope: Scope) -> None:
        """Read what a search of this scope holds in memory, before somebody waits for it."""
        places = self.prepare([], scope, embeds=False).places
        self._outlines.of(places, self._store.passages.containers(places))
        self._meaning.load(places)

    def rank(self, question: Question, scope: Scope, *, within: Within = "all") -> RankedQuestion:
        """Rank all rows that a scope can see, as a search does, and every one of them closely."""
        places = self.prepare([], scope, within=within).places
        return self._rank(question, places, (), closely=sys.maxsize)

    def _rank(
        self,
        question: Question,
        places: Sequence[SearchPlace],
        kinds: Collection[str],
        until: float | None = None,
        asked: str = "",
        **options: Any,
    ) -> RankedQuestion:
        matches = self._store.passages.matches(places, question.terms, question.parts)
        if asked:
            matches = matches.without(self._store.passages.rows_of(asked))
        rows = self._outlines.of(places, matches.containers)
        also = {row for having in matches.having.values() for row in having}
        near = SemanticMatches()
        if question.has_meaning:
            patience = None if until is None else max(0.0, until - self._clock())
            near = self._meaning.near(places, question.text, _NEAREST, also, patience)
        weights = self._weights.scale(near.factor)
        ranking = rank_rows(question, matches, rows, near.rows, weights, near.kind, kinds=kinds, **options)
        return RankedQuestion(
            question, matches, near, ranking, frozenset(exact_rows(matches, question.names))
        )

    def _candidates(self, passes: Sequence[RankedQuestion], limit: int) -> list[SearchCandidate]:
        """The best rows of all passes, each once, with the pass that decided its place.

        Every second place is for the parts of a compound question in turn: one that is answered well must
        not take the room of one that is hard to answer.
        """
        best: dict[int, tuple[float, RankedQuestion, int, float]] = {}
        turns: dict[int, int] = {}
        before: dict[int, float] = {}
        for number, ranked in enumerate(passes):
            ids, sums = ranked.ranking.rows.ids, ranked.ranking.sums
            places = [*ranked.ranking.best(limit).tolist()]
            for row, mass in zip(ids[places].tolist(), ranked.ranking.mass_before(places), strict=True):
                before[row] = min(mass, before.get(row, 1.0))
            if ranked.exact:
                exact = np.isin(ids, list(ranked.exact))
                places = [*dict.fromkeys([*places, *ranked.ranking.best(limit, exact).tolist()])]
            totals = sums[places] - (_PART_PENALTY if number else 0.0)
            columns = places, ids[places].tolist(), totals.tolist(), ranked.ranking.likelihoods(places)
            for turn, (place, row, total, likely) in enumerate(zip(*columns, strict=True)):
                if number:
                    turns[row] = min(turn * (len(passes) - 1), turns.get(row, turn * (len(passes) - 1)))
                if row not in best or total > best[row][0]:
                    best[row] = total, ranked, place, likely
        known = self._store.passages.rows(best.keys())
        ordered = [row for row in best if row in known]
        if len(passes) > 1 or passes[0].exact:
            # The rows of a single pass are in this order already.
            ordered.sort(key=lambda row: (-best[row][0], -known[row].at, -row))
        if turns:
            own_turn = {row: min(place, turns.get(row, place)) for place, row in enumerate(ordered)}
            ordered.sort(key=own_turn.__getitem__)
        exact_in_any = frozenset[int]().union(*(ranked.exact for ranked in passes))
        chosen: dict[tuple[str, str], SearchCandidate] = {}
        for row in ordered:
            details = known[row]
            passage = details.container, details.passage
            # Every passage once, with the best of its rows.
            if passage not in chosen:
                total, ranked, place, likely = best[row]
                chosen[passage] = SearchCandidate(
                    details, total, likely, ranked, place, row in exact_in_any, before.get(row, 1.0)
                )
        return list(chosen.values())

    def _hits(
        self, chosen: Sequence[SearchCandidate], scope: Scope, worth: Mapping[str, float]
    ) -> list[SearchHit]:
        texts = self._store.passages.texts([candidate.row.id for candidate in chosen])
        talks = self._conversations({each.row.container for each in chosen if each.row.role != NOTE}, scope)
        hits = []
        for candidate in chosen:
            row = candidate.row
            text = texts.get(row.id)
            if text is None:
                # It was deleted since.
                continue
            part = extract_excerpt(text, worth)
            note = row.role == NOTE
            lines = min(row.last, row.first + part.first), min(row.last, row.first + part.last)
            hits.append(
                SearchHit(
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
                    former=note and bool(row.traits & Trait.SUPERSEDED),
                )
            )
        return hits

    def _conversations(self, trees: Collection[str], scope: Scope) -> dict[str, str]:
        """The most recently used conversation on each tree."""
        latest: dict[str, str] = {}
        for tree, talks in self._store.log.conversations_on(trees).items():
            ours = [talk for talk in talks if talk.scope == scope]
            if ours:
                latest[tree] = max(ours, key=lambda talk: (talk.updated_at, talk.id)).id
        return latest


def read_query(query: str) -> Question:
    """Read what is searched for: a search is a question, however it is spelled."""
    return replace(read_question(query), asks=1.0)


def exact_rows(matches: PassageMatches, names: Collection[str]) -> set[int]:
    """The rows that contain a name of the question which few others have."""
    return {
        row
        for asked, having in matches.having.items()
        if asked.weight == 1 and asked.term in names and len(having) <= _FEW
        for row in having
    }


def _choose(candidates: Sequence[SearchCandidate], limit: int, least: float) -> list[SearchCandidate]:
    """The best candidates; those with an exact name keep up to half of the places."""
    exact = [candidate for candidate in candidates if candidate.exact][: max(1, limit // 2)]
    more = [each for each in candidates if each.score >= least and each not in exact]
    chosen = [*exact, *more[: limit - len(exact)]]
    return sorted(chosen, key=lambda candidate: -candidate.total)


def explain_empty(question: Question, result: Retrieval) -> str:
    if not question.text:
        return lazy("Nothing was asked.")
    if not result.containers:
        return lazy("There is nothing here to search yet.")
    if not question.terms and not result.candidates:
        return lazy("There is no word in the question that could be looked for.")
    if result.candidates:
        return lazy("What was found is below the minimum score.")
    return lazy("Nothing has any of these words.")
