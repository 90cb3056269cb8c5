"""Finds the evidence for a question: texts that it needs and that are not in the window in full.

    Recall.bring        search, estimate how likely there is an answer, pick snippets, sort them by time
    understand          the question and its parts as search queries
    Recall._eligible    drops candidates on abandoned branches and those that the window has in another form
    _Picker.pick        fills the room with snippets, best first, and puts newer values beside old ones

One hybrid search (words and vectors) covers the messages of this conversation that were left out or
shortened, messages of earlier conversations, notes, and findings of research. Short messages are brought
whole, long ones as their best passages. How much room is used depends on how likely anything answers the
question at all. Nothing is written here, and the window itself is not known: `context/evidence.py` turns a
view into a `Need` and the `Evidence` into decisions.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import Any, Literal

from holdfast.memory.index import Index, read_successor
from holdfast.memory.private import redact
from holdfast.memory.scopes import is_finding, summary_file
from holdfast.memory.search import Retrieval, Search, SearchCandidate
from holdfast.memory.semantic import SemanticIndex
from holdfast.memory.service import MemoryService
from holdfast.memory.workspace import InMemoryWorkspace
from holdfast.messages import Scope
from holdfast.store import PassageRow, Store
from holdfast.store.passages import NOTE
from holdfast.text.analyser import language_of, plain_words, sentences, telling, terms
from holdfast.text.dates import day_at
from holdfast.text.excerpts import excerpt
from holdfast.text.lang import by_language
from holdfast.text.questions import (
    Names,
    Question,
    Trait,
    join_texts,
    leans_back,
    read_question,
    split_question,
)
from holdfast.text.slots import gives_new_value, join_context, tells_change, values_in

Origin = Literal["here", "earlier", "memory", "research"]

# Returns the valid findings of a scope: their texts by their names.
FindingNotes = Callable[[Scope], Mapping[str, str]]

# Candidates that the search returns for a question.
_CANDIDATES = 120
# Messages of the conversation that are indexed for a question, where more of them wait.
_INDEXED = 400
# Candidates whose texts are read from the store at once; the room is often full after those.
_READ = 24
# The report shows so many that were not brought.
_REPORTED = 5
# Tokens; with less room nothing is brought.
_LEAST = 25
# Tokens that bullet and speaker take beside each snippet, and that a date takes, about.
_AROUND, _DATE = 5, 10
_DAY = 86_400
# Tokens that heading and empty lines take.
_HEADING = 16
# A message of up to this many tokens is short, and brought whole; a longer one is cut to a share of the room.
_SHORT = 160
_LONG_SHARE = 0.34
# Beyond its share, a question takes free room only for candidates before which the answer is less likely than
# this: the rest would be read by the server in vain.
_ENOUGH = 0.85
# Likelihood of an answer from which on one snippet is brought, and from which on all of the room is used.
_SOME, _ALL = 0.1, 0.15
# Score from which on a finding is brought; probability of a single row from which on a message without a
# question gets it as its only snippet.
_SURE, _POINTS = 0.7, 0.5
# Sum of features from which on a finding bears on the question at all, whatever else answers it.
_BEARS = 3.0
# A text with fewer distinct terms, and without a name or number, is useless.
_LEAST_TERMS = 2
# Likelihood that a candidate with a rare name of the question gives, at least.
_NAMED = 0.25
# Tokens of the one snippet that is brought while an answer is unlikely.
_ONE = 60
# A note is dropped if a message in the window has this share of its terms.
_SAID = 0.9
# Seconds that a question waits for its vector; after that, words alone are used. A few milliseconds are
# usual, but a busy machine takes a hundred times as long.
_PATIENCE = 2.0
# Characters that are quoted of the question before a passage of its answer.
_ASKED = 100
# So many of the best candidates are searched for newer values of what is brought.
_COMPARED = 40
# Of so many of them the values are looked up, for corrections that name nothing else.
_FOLLOWED = 12
# Characters of a text that are read for that; a longer sentence states more than one thing.
_STATED, _STATEMENT = 1_000, 250
_NUMBER = re.compile(r"\d+")
_DATE_WORDS = re.compile(r"\b\d{1,2}(?:\.|st|nd|rd|th)? [^\W\d_]{3,9}\b|\b[^\W\d_]{3,9} \d{1,2}\b")
# As plain numbers: operations on flags are slow, and every candidate is looked at.
_ONLY_ASKS, _SUPERSEDED = int(Trait.ONLY_ASKS), int(Trait.SUPERSEDED)
# The word in front of a newer value.
_LATER = by_language("LATER")


@dataclass(frozen=True, slots=True)
class Need:
    """What evidence is needed for: a question, where it is asked, and what the window has already.

    `before` is the exchange before it, for questions that lean on it. `tree` and `head` are the
    conversation and the last message before the question; `present` the messages that are in the window in
    full, `known` the memories that stand there, and `said` its texts. Without `remembers` only this
    conversation is searched. `at` is when it is asked, in seconds; 0 for now. `message` is the id of the
    question, if it is stored already.
    """

    question: str
    scope: Scope
    tree: str
    head: str | None
    conversation: str = ""
    before: Sequence[str] = ()
    names: Names = field(default_factory=Names)
    present: Collection[str] = ()
    known: Collection[str] = ()
    said: Sequence[str] = ()
    remembers: bool = True
    at: float = 0.0
    message: str = ""


@dataclass(slots=True)
class Snippet:
    """A text that is brought back; `score` is how likely it holds the answer, `whole` says that nothing was
    cut.
    """

    id: str
    origin: Origin
    at: float
    place: int
    role: str
    text: str
    score: float
    whole: bool
    parts: Mapping[str, float]
    container: str = ""
    # Where it stands among what was chosen, best first.
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was brought for a question, in the order of time, and how it was looked for.

    `searched` are the questions that were searched: the whole one, and its parts. `missed` are the best
    that were not brought. `likely` is how likely anything answers the question.
    """

    snippets: tuple[Snippet, ...] = ()
    searched: tuple[str, ...] = ()
    likely: float = 0.0
    missed: tuple[Snippet, ...] = ()
    engines: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    # Whether some of what was said is not in the index yet.
    partial: bool = False

    def to_json(self) -> dict[str, Any]:
        """For the report: what was searched, brought, and just missed, with what speaks for each."""
        return {
            "searched": list(self.searched),
            "likely": round(self.likely, 3),
            "engines": list(self.engines),
            "degraded": list(self.degraded),
            "brought": [_describe(snippet) for snippet in self.snippets],
            "missed": [_describe(snippet) for snippet in self.missed],
        }


class Recall:
    """Finds evidence with `search`, the search that people and tools use too.

    `meaning` compares passages by their vectors, and `findings` returns the texts of findings.
    """

    def __init__(
        self,
        store: Store,
        search: Search,
        meaning: SemanticIndex | None = None,
        findings: FindingNotes | None = None,
    ) -> None:
        self._store = store
        self._search = search
        self._meaning = meaning
        self._findings = findings

    def bring(self, need: Need, room: int, count: Callable[[str], int], share: int | None = None) -> Evidence:
        """Returns the evidence for a question, at most `room` tokens.

        What is over its `share` is free, and only used where the answer may well be further down.
        """
        questions = understand(need)
        if room < _LEAST or not questions:
            return Evidence()
        tree = "" if need.remembers else need.tree
        # This conversation first, where much has to be indexed.
        self._store.texts.catch_up(_INDEXED, where=need.tree, without=need.message)
        prepared = self._search.prepare(questions, need.scope, tree=tree, embeds=False, asked=need.message)
        share = room if share is None else min(share, room)

        def search_and_choose() -> Evidence:
            result = self._search.find(
                questions, prepared, limit=_CANDIDATES, patience=_PATIENCE, asked=need.message
            )
            return self._choose(need, questions, result, room, share, count)

        return self._store.read_snapshot(search_and_choose)

    def _choose(
        self,
        need: Need,
        questions: Sequence[Question],
        result: Retrieval,
        room: int,
        share: int,
        count: Callable[[str], int],
    ) -> Evidence:
        eligible = list(self._eligible(result.candidates, need))
        candidates = [each for each in eligible if each.row.passage not in need.present]
        likely = max([each.score for each in candidates], default=0.0)
        has_exact = any(each.exact for each in candidates)
        likely = max(likely, _NAMED) if has_exact else likely
        # A message that asks nothing gets no evidence, unless it clearly refers to something. News resemble
        # much of what was said, and point at nothing of it.
        asks = questions[0].asks > 0
        sure = asks or likely * _first_share(candidates) >= _POINTS or has_exact
        allowed = _room_for(likely, room) if sure else 0
        picker = _Picker(self, need, questions, result, allowed, share, count)
        if allowed:
            picker.compare_with(eligible[:_COMPARED])
            follow_ups = self._find_follow_ups(picker.list_values(eligible[:_FOLLOWED]), result)
            picker.compare_with(list(self._eligible(follow_ups, need)))
            picker.note_former([each for each in result.candidates if each.row.traits & _SUPERSEDED])
        chosen, missed = picker.pick(candidates, _CANDIDATES if asks else 1)
        for rank, snippet in enumerate(chosen):
            snippet.rank = rank
        chosen.sort(key=lambda snippet: (snippet.at, snippet.place))
        return Evidence(
            tuple(chosen),
            tuple(question.text for question in questions),
            likely,
            tuple(missed),
            result.engines,
            result.degraded,
            result.partial,
        )

    def _find_follow_ups(
        self, values: Collection[tuple[str, ...]], result: Retrieval
    ) -> list[SearchCandidate]:
        """Returns what names one of these values: "not 418, it's 481" may share nothing else with it."""
        if not values:
            return []
        known = {each.row.id for each in result.candidates}
        best = result.candidates[0]
        return [
            SearchCandidate(row, 0.0, 0.0, best.ranked, best.place)
            for row in self._search.find_all_with(values, result.places)
            if row.id not in known
        ]

    def near(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Returns how near each passage is to a question; 0 where a vector is not known."""
        if self._meaning is None:
            return [0.0] * len(passages)
        # The search has waited for the vector of the question already.
        texts = {str(at): text for at, text in enumerate(passages)}
        near = self._meaning.nearness(question, texts, patience=0.0)
        return [near.get(str(at), 0.0) for at in range(len(passages))]

    def _eligible(self, candidates: Sequence[SearchCandidate], need: Need) -> Iterator[SearchCandidate]:
        """Drops messages on abandoned branches, outdated notes, and what the window has in another form."""
        said = {each.row.container for each in candidates if each.row.role not in ("system", NOTE)}
        paths = self._paths(said, need)
        own_summary = str(summary_file(need.scope, need.conversation)) if need.conversation else ""
        for candidate in candidates:
            row = candidate.row
            if row.role == NOTE:
                if self._is_eligible_note(candidate, need, own_summary):
                    yield candidate
            elif row.role != "system":
                for path in paths[row.container]:
                    if row.place <= path.get(row.branch, -1):
                        yield candidate
                        break

    def _is_eligible_note(self, candidate: SearchCandidate, need: Need, own_summary: str) -> bool:
        row = candidate.row
        if finding := _finding_of(row):
            # Less certain ones are proposed by `FindingAttacher.find_related`.
            return candidate.score >= _SURE and candidate.total >= _BEARS and finding not in need.known
        own = row.container.partition(":")[2] == own_summary
        return not row.traits & _SUPERSEDED and not own and row.passage not in need.known

    def _paths(self, trees: Collection[str], need: Need) -> dict[str, list[Mapping[str, int]]]:
        """Returns the live paths of each tree: to the question in this one, to every head in others."""
        paths = self._store.texts.live_paths(set(trees) - {need.tree})
        if need.tree in trees:
            ends = [need.head] if need.head else []
            paths[need.tree] = [*self._store.texts.ways_to(ends).values()]
        return paths

    def texts(self, candidates: Sequence[SearchCandidate], scope: Scope) -> dict[int, str]:
        """Returns the text of each candidate by its row; empty for a finding that is no longer valid."""
        texts = self._store.passages.texts([candidate.row.id for candidate in candidates])
        notes = [each.row for each in candidates if each.row.role == NOTE]
        findings = {row.id: name for row in notes if (name := _finding_of(row))}
        valid = self._findings(scope) if findings and self._findings is not None else {}
        return texts | {row: valid.get(name, "") for row, name in findings.items()}

    def question_before(self, candidate: SearchCandidate) -> str:
        """Returns the text before a message, which it answers; empty if that is long."""
        row = candidate.row
        before = self._store.passages.texts([row.id - 1]).get(row.id - 1, "")
        return " ".join(before.split()) if 0 < len(before) <= 2 * _ASKED else ""


def recall_over(store: Store, memory: MemoryService | None, findings: FindingNotes | None = None) -> Recall:
    """Returns recall over the log and all memories; without memory, over the words of the log alone."""
    if memory is not None:
        return Recall(store, memory.own, memory.meaning, findings)
    meaning = SemanticIndex(store, lambda: None)
    return Recall(store, Search(store, Index(store, InMemoryWorkspace()), meaning))


def understand(need: Need) -> list[Question]:
    """Returns the questions to search: the whole one first, then its parts.

    If it refers to the exchange before ("and the other one?"), the whole is searched together with that.
    """
    today = day_at(need.at) if need.at else None
    question = read_question(need.question, need.names, today)
    if not question.has_meaning:
        return []
    parts = split_question(question, need.names, today)
    if leans_back(question) and need.before:
        joined = read_question(join_texts([*need.before, need.question]), need.names, today)
        return [
            replace(
                joined,
                asks=question.asks,
                personal=question.personal,
                definite=question.definite,
                expects=question.expects,
                periods=question.periods or joined.periods,
            ),
            *parts,
        ]
    return [question, *parts]


def _room_for(likely: float, room: int) -> int:
    """Returns how many tokens of its room a question may use."""
    if likely < _SOME:
        return 0
    return room if likely >= _ALL else min(room, _ONE)


def _first_share(candidates: Sequence[SearchCandidate]) -> float:
    """Returns how likely the first candidate holds the answer if anything does."""
    if not candidates:
        return 0.0
    after = candidates[1].before if len(candidates) > 1 else 1.0
    return max(0.0, after - candidates[0].before)


class _Picker:
    """Fills the room with candidates, best first."""

    def __init__(
        self,
        recall: Recall,
        need: Need,
        questions: Sequence[Question],
        result: Retrieval,
        room: int,
        share: int,
        count: Callable[[str], int],
    ) -> None:
        self._recall = recall
        self._need = need
        self._question = questions[0]
        self._asked_frame = _frame_of(self._question.text)
        self._result = result
        self._room = room
        self._left = room - _HEADING
        # What is left when the question has used its share.
        self._free = room - share
        # The same text is counted when it is cut, weighed, and compared with the room.
        self._count = cache(count)
        self._said = [frozenset(terms(text)) for text in need.said]
        # The texts of the window and of what is brought, as plain words, a line each; notes apart.
        self._spoken = "\n".join(map(plain_words, need.said))
        self._noted: list[str] = []
        # Rows that are brought beyond the share, too.
        self._needed: set[int] = set()
        self._statements: list[tuple[SearchCandidate, str]] = []
        # What holds now, by the words of a memory that no longer does.
        self._successors: dict[str, str] = {}
        # The place of each candidate in their order by its row, and the texts that were read.
        self._places: dict[int, int] = {}
        self._candidates: Sequence[SearchCandidate] = ()
        self._texts: dict[int, str] = {}
        # Many messages are the same: each text without what is private.
        self._redacted: dict[str, str] = {}
        self._batch = (_READ if room else _REPORTED) // 2

    def _read(self, candidate: SearchCandidate) -> str:
        """Returns the text of a candidate; reads those of the next ones with it."""
        row = candidate.row.id
        if row not in self._texts:
            start = self._places[row]
            # More each time: where the first were no use, the next are likely none either.
            self._batch *= 2
            self._load(self._candidates[start : start + self._batch])
        return self._texts[row]

    def _load(self, candidates: Sequence[SearchCandidate]) -> None:
        """Reads the texts of candidates that were not read yet."""
        new = [each for each in candidates if each.row.id not in self._texts]
        self._texts |= dict.fromkeys((each.row.id for each in new), "")
        self._texts |= self._recall.texts(new, self._need.scope)

    def compare_with(self, candidates: Sequence[SearchCandidate]) -> None:
        """Collects what people and notes state, newest first: it may replace a value that is brought."""
        people = [
            each for each in candidates if each.row.role in ("user", NOTE) and not _finding_of(each.row)
        ]
        self._load(people)
        self._statements += [
            (each, statement)
            for each in people
            for statement in _list_values(self._texts[each.row.id][:_STATED])
        ]
        self._statements.sort(key=lambda pair: (pair[0].row.at, pair[0].row.place), reverse=True)

    def list_values(self, candidates: Sequence[SearchCandidate]) -> set[tuple[str, ...]]:
        """Returns the values that these state and that hardly anything else has, each as its terms."""
        rows = {each.row.id for each in candidates}
        stated = (statement for each, statement in self._statements if each.row.id in rows)
        return {value for statement in stated for value in _rare_values(statement)}

    def note_former(self, candidates: Sequence[SearchCandidate]) -> None:
        """Collects memories that no longer hold, each with what holds now."""
        self._load(candidates)
        for each in candidates:
            old, now = read_successor(self._texts[each.row.id])
            if now and (words := plain_words(old)):
                self._successors[words] = now

    def pick(self, candidates: Sequence[SearchCandidate], most: int) -> tuple[list[Snippet], list[Snippet]]:
        """Returns the snippets to bring, at most `most`, and the best that were not.

        If a snippet gives a value that a later statement replaces, the later one is brought too, or quoted in
        it. Messages that only ask come last, unless they name something that the question does not: "I have
        three weeks left, how do I plan them?" tells as well.
        """
        asking = [each for each in candidates if each.row.traits & _ONLY_ASKS and not each.exact]
        texts = self._recall.texts(asking, self._need.scope)
        known = set(self._question.terms)
        last = {each.row.id for each in asking if not telling(texts[each.row.id]) - known}
        self._candidates = candidates = sorted(candidates, key=lambda each: each.row.id in last)
        self._places = {each.row.id: place for place, each in enumerate(candidates)}
        chosen: list[Snippet] = []
        missed: list[Snippet] = []
        seen: set[tuple[str, bool]] = set()
        replacements: set[int] = set()
        self._needed = {each.row.id for each in candidates if each.before < _ENOUGH or each.exact}
        waiting = deque(candidates)
        while waiting:
            candidate = waiting.popleft()
            free = self._left <= self._free
            if free and candidate.row.id not in self._needed and len(missed) == _REPORTED:
                continue
            text = self._read(candidate)
            if _frame_of(text) == self._asked_frame:
                # It asks the same, or the same of another number.
                continue
            text = self._shareable(candidate, text).strip()
            key = text, candidate.row.role == NOTE
            if not text or key in seen:
                continue
            seen.add(key)
            content = frozenset(terms(text)), plain_words(text)
            if self._is_needless(candidate, text, *content):
                continue
            full = self._left < _LEAST or len(chosen) == most
            wanted = not free or candidate.row.id in self._needed
            snippet = self._snippet(candidate, text) if wanted and not full else None
            if snippet is None:
                if len(missed) < _REPORTED:
                    missed.append(_snippet_of(candidate, self._need, _shorten_line(text), whole=False))
                elif full:
                    break
                continue
            cost = self._cost(snippet, chosen)
            current = self._add_later_value(snippet, cost, waiting, replacements)
            if current is None:
                continue
            snippet, cost = current
            self._left -= cost
            self._drop_notes_in(snippet, chosen)
            # A newer value ranks before the one it replaces, so that trimming drops the old one first.
            chosen.insert(len(chosen) - (candidate.row.id in replacements), snippet)
            if snippet.text != text:
                content = frozenset(terms(snippet.text)), plain_words(snippet.text)
            self._remember(snippet, *content)
        return chosen, missed

    def _add_later_value(
        self, snippet: Snippet, cost: int, waiting: deque[SearchCandidate], replacements: set[int]
    ) -> tuple[Snippet, int] | None:
        """Returns the snippet and its cost, with a value that a later statement gives to it in brackets.

        Where the later message is brought itself, it is put before the others that wait. None if neither
        fits: alone the old value would look valid.
        """
        words = plain_words(snippet.text)
        for former, now in self._successors.items():
            # A message that says both says what holds.
            if former in words and plain_words(now) not in words:
                return self._with_mark(snippet, cost, now)
        later = self._later_value(snippet)
        if later is None:
            return snippet, cost
        newer, statement = later
        self._needed.add(newer.row.id)
        if self._comes_below(newer, snippet, self._left - cost):
            waiting.appendleft(newer)
            replacements.add(newer.row.id)
            return snippet, cost
        marked = self._with_mark(snippet, cost, self._shareable(newer, statement))
        if marked is None and newer.row.id in self._places:
            waiting.appendleft(newer)
        return marked

    def _with_mark(self, snippet: Snippet, cost: int, later: str) -> tuple[Snippet, int] | None:
        """Returns the snippet with what was said later in brackets, and its cost; None if it does not fit."""
        mark = f" ({_LATER[language_of(self._question.text) or 'en']}: {later})"
        cost += self._count(mark)
        return (replace(snippet, text=snippet.text + mark), cost) if cost <= self._left else None

    def _remember(self, snippet: Snippet, sought: frozenset[str], words: str) -> None:
        """Adds the words of a snippet to those that are not brought again."""
        self._said.append(sought)
        if snippet.origin == "memory":
            self._noted.append(words)
        else:
            self._spoken += f"\n{words}"

    def _cost(self, snippet: Snippet, chosen: Sequence[Snippet]) -> int:
        """Returns the tokens of a snippet with what is around it: memories have a date each, messages one for
        a day.
        """
        dated = any(
            each.origin == snippet.origin and each.at // _DAY == snippet.at // _DAY for each in chosen
        )
        date = _DATE if snippet.origin == "memory" or not dated else 0
        return self._count(snippet.text) + _AROUND + date

    def _drop_notes_in(self, snippet: Snippet, chosen: list[Snippet]) -> None:
        """Removes chosen notes that this message contains word for word."""
        if snippet.origin == "memory":
            return
        words = plain_words(snippet.text)
        for note in [each for each in chosen if each.origin == "memory" and plain_words(each.text) in words]:
            chosen.remove(note)
            self._left += self._cost(note, chosen)

    def _shareable(self, candidate: SearchCandidate, text: str) -> str:
        """Returns the text without private parts and secrets, unless it is from this conversation."""
        row = candidate.row
        if row.role == NOTE or row.container == self._need.tree:
            return text
        if text not in self._redacted:
            self._redacted[text] = redact(text)
        return self._redacted[text]

    def _later_value(self, snippet: Snippet) -> tuple[SearchCandidate, str] | None:
        """Returns the newest statement that gives another value to something in the snippet."""
        if snippet.origin == "research":
            return None
        for old in _statements(snippet.text):
            for candidate, new in self._statements:
                if (candidate.row.at, candidate.row.place) <= (snippet.at, snippet.place):
                    break
                if candidate.row.passage != snippet.id and gives_new_value(new, old, self._question.text):
                    return candidate, new
        return None

    def _comes_below(self, newer: SearchCandidate, snippet: Snippet, left: int) -> bool:
        """Whether a newer message fits as a snippet of its own and is read after this one."""
        if newer.row.id not in self._places:
            return False
        same = _snippet_of(newer, self._need, "", whole=False).origin == snippet.origin
        return same and max(_LEAST, self._count(self._read(newer)) + _AROUND) <= left

    def _snippet(self, candidate: SearchCandidate, text: str) -> Snippet | None:
        room = self._left - _AROUND
        cost = self._count(text)
        if cost <= min(room, max(_SHORT, int(self._room * _LONG_SHARE))):
            return _snippet_of(candidate, self._need, text, whole=True)
        if _finding_of(candidate.row):
            # Cut, it would not say how long it holds.
            return None
        most = min(room, max(_SHORT, int(self._room * _LONG_SHARE)))
        if most < min(cost, _SHORT) // 2:
            # A fragment is worth little while something else fits.
            return None
        before = self._recall.question_before(candidate) if candidate.row.role == "assistant" else ""
        heading = f"({_shorten_line(before)}) " if before else ""
        passages = excerpt(
            text,
            self._result.worth,
            most - self._count(heading),
            self._count,
            lambda passages: self._recall.near(self._question.text, passages),
        )
        return _snippet_of(candidate, self._need, heading + passages, whole=False) if passages else None

    def _is_needless(
        self, candidate: SearchCandidate, text: str, sought: Collection[str], words: str
    ) -> bool:
        """Whether a text adds nothing: it asks the same question, says nothing ("great, thanks!"), or is in
        the window or another snippet already (a message word for word, a note nearly so). `sought` are its
        terms, `words` its plain words.
        """
        if self._asks_the_same(candidate, text, sought):
            return True
        if len(sought) < _LEAST_TERMS and not candidate.exact and not telling(text):
            return True
        if words in self._spoken:
            return True
        # A message from here takes the place of a note that says the same: it stands in the order of time.
        takes_its_place = candidate.row.container == self._need.tree and words in self._noted
        if not takes_its_place and any(words in noted for noted in self._noted):
            return True
        if candidate.row.role != NOTE:
            return False
        return any(len(said.intersection(sought)) >= _SAID * len(sought) for said in self._said)

    def _asks_the_same(self, candidate: SearchCandidate, text: str, sought: Collection[str]) -> bool:
        """Whether a text only asks, and nothing but this. A name that the question lacks may be an answer."""
        if not candidate.row.traits & _ONLY_ASKS or not sought:
            return False
        new = set(sought).difference(self._question.terms)
        return len(new) <= len(sought) // 4 and not new & telling(text)


def _snippet_of(candidate: SearchCandidate, need: Need, text: str, *, whole: bool) -> Snippet:
    row = candidate.row
    origin: Origin = "memory" if row.role == NOTE else "here" if row.container == need.tree else "earlier"
    finding = _finding_of(row)
    if finding:
        origin = "research"
    return Snippet(
        finding or row.passage,
        origin,
        row.at,
        row.place,
        row.role,
        text,
        candidate.score,
        whole,
        candidate.parts,
        row.container,
    )


def _finding_of(row: PassageRow) -> str:
    """Returns the name of the finding that a row is the note of; empty for anything else."""
    path = PurePosixPath(row.container.partition(":")[2]) if row.role == NOTE else None
    return path.stem if path is not None and is_finding(path) else ""


def _statements(text: str) -> list[str]:
    """Returns the sentences of the beginning of a text that state one thing."""
    return [
        sentence
        for sentence in sentences(text[:_STATED])
        if len(sentence) <= _STATEMENT and not sentence.endswith("?")
    ]


@lru_cache(1_024)
def _list_values(text: str) -> tuple[str, ...]:
    """Returns the statements of a text that give a value or tell of a change.

    Cached: questions that follow each other look at the same texts.
    """
    return tuple(
        statement
        for statement in join_context(_statements(text))
        if values_in(statement) or tells_change(statement)
    )


@lru_cache(1_024)
def _rare_values(statement: str) -> tuple[tuple[str, ...], ...]:
    """Returns the dates and large numbers of a statement, the terms of each, with and without their unit."""
    numbers = {
        number
        for kind, several in values_in(statement).items()
        if kind.startswith("number")
        for number in several
    }
    spelled = numbers | telling(statement)
    large = {(term,) for term in spelled if sum(sign.isdigit() for sign in term) > 2}
    days = (day[0] for day in _DATE_WORDS.finditer(statement))
    dates = {tuple(terms(day)) for day in days if "date" in values_in(day)}
    # A month that is also a small word is no term; a day alone is not rare.
    return tuple(large | {date for date in dates if len(date) > 1})


def _frame_of(text: str) -> str:
    """Returns words without their numbers: "letter 3 of day 12" has the frame of "letter 4 of day 15"."""
    return _find_frame(text) if len(text) <= _STATED else _find_frame.__wrapped__(text)


@lru_cache(1_024)
def _find_frame(text: str) -> str:
    return _NUMBER.sub("#", plain_words(text))


def _shorten_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _ASKED else f"{line[: _ASKED - 1].rstrip()}…"


def _describe(snippet: Snippet) -> dict[str, Any]:
    """Describes a snippet for the report without its text, which somebody may want forgotten."""
    return {
        "id": snippet.id,
        "from": snippet.origin,
        "score": round(snippet.score, 4),
        "whole": snippet.whole,
        "parts": dict(snippet.parts),
    }
