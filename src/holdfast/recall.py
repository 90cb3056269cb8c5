"""One way to bring things back: what a question needs and the window does not have in full.

For every question one hybrid search goes over the messages of this conversation that were left out or
shortened, messages of earlier conversations, notes, and findings of research. The best of it is chosen to fit
the room there is: short messages whole, long ones as their best passages, each with date and speaker, in the
order of time. How much room a question may use depends on how likely anything answers it at all. It writes
nothing and knows no window.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Literal

from holdfast.memory.index import Index
from holdfast.memory.private import redact
from holdfast.memory.scopes import is_finding, summary_file
from holdfast.memory.search import Retrieval, Search, SearchCandidate
from holdfast.memory.semantic import SemanticIndex
from holdfast.memory.service import MemoryService
from holdfast.memory.workspace import InMemoryWorkspace
from holdfast.messages import Scope
from holdfast.store import PassageRow, Store
from holdfast.store.passages import NOTE
from holdfast.text.analyser import language_of, sentences, telling, terms
from holdfast.text.dates import day_at
from holdfast.text.excerpts import excerpt
from holdfast.text.lang import by_language
from holdfast.text.questions import (
    Names,
    Question,
    Trait,
    is_same_question,
    join_texts,
    leans_back,
    read_question,
    split_question,
)
from holdfast.text.slots import gives_new_value, tells_change, values_in

Origin = Literal["here", "earlier", "memory", "research"]

# The findings of research that hold in a scope, by their names, as they are told.
FindingNotes = Callable[[Scope], Mapping[str, str]]

# Candidates that are looked at for a question.
_CANDIDATES = 120
# Candidates whose words are read together; the room is often full after those.
_READ = 24
# With less room nothing is brought.
_LEAST = 25
# What bullet and speaker take beside each snippet, and what a date takes, about.
_AROUND, _DATE = 5, 10
_DAY = 86_400
# What heading and empty lines take.
_HEADING = 16
# A message of up to this many tokens is short, and brought whole; a longer one is cut to a share of the room.
_SHORT = 160
_LONG_SHARE = 0.34
# From this likelihood on a question may have one snippet, and from the other on all of its room.
_SOME, _ALL = 0.1, 0.22
# Whether a question has to do with the people talking shows in what they said; what only asks, or what a
# model explained, says less about that.
_LESS = 0.5
# A finding of research is told from this likelihood on, and what a mere statement points at from the other.
_SURE, _POINTS = 0.7, 0.7
# A text with fewer words of its own, and no name or number, says nothing.
_LEAST_TERMS = 2
# What has a rare name of the question word for word is likely meant.
_NAMED = 0.25
# While it is not sure that anything fits, one short snippet is enough.
_ONE = 60
# A note that a message in the window says nearly word for word is not needed.
_SAID = 0.9
# Seconds that a question waits for its vector; later than that, words serve alone.
_PATIENCE = 0.8
# So much of the question before is quoted with a passage of its answer.
_ASKED = 100
# The best candidates are compared with what is brought: one may have a newer value for the same thing.
_COMPARED = 40
# So much of a text is looked at for that, and a sentence that is longer states more than one thing.
_STATED, _STATEMENT = 1_000, 250
_WORD = re.compile(r"\w+")
# What stands before a newer value.
_LATER = by_language("LATER")


@dataclass(frozen=True, slots=True)
class Need:
    """What something is looked for: a question, where it is asked, and what the window has already.

    `before` is the exchange before it, for questions that lean on it. `tree` and `head` are the
    conversation and the last message before the question; `present` the messages that are in the window in
    full, `known` the memories that stand there, and `said` its texts. Without `remembers` only this
    conversation is searched. `at` is when it is asked, in seconds; 0 for now.
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


@dataclass(frozen=True, slots=True)
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
    """`search` is the one that people and tools use too; `meaning` says how near passages are; `findings`
    tells what research came to.
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

    def bring(self, need: Need, room: int, count: Callable[[str], int]) -> Evidence:
        """The evidence for a question, at most `room` tokens of it."""
        questions = understand(need)
        if room < _LEAST or not questions:
            return Evidence()
        result = self._search.retrieve(
            questions,
            need.scope,
            tree="" if need.remembers else need.tree,
            limit=_CANDIDATES,
            patience=_PATIENCE,
        )
        evidence = Evidence(
            searched=tuple(question.text for question in questions),
            engines=result.engines,
            degraded=result.degraded,
        )
        eligible = list(self._eligible(result.candidates, need))
        candidates = [each for each in eligible if each.row.passage not in need.present]
        likely = max((_answers(each, questions[0]) for each in candidates), default=0.0)
        evidence = replace(evidence, likely=likely)
        # What only tells something needs nothing, but for what it surely points at.
        asks = questions[0].asks > 0
        sure = asks or likely >= _POINTS or any(each.exact for each in candidates)
        allowed = _room_for(likely, room) if sure else 0
        picker = _Picker(self, need, questions, result, allowed, count)
        if allowed:
            picker.compare_with(eligible[:_COMPARED])
        chosen, missed = picker.pick(candidates, _CANDIDATES if asks else 1)
        chosen = [replace(snippet, rank=rank) for rank, snippet in enumerate(chosen)]
        chosen.sort(key=lambda snippet: (snippet.at, snippet.place))
        return replace(evidence, snippets=tuple(chosen), missed=tuple(missed))

    def near(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """How near passages are to a question, as far as their vectors are known."""
        if self._meaning is None:
            return [0.0] * len(passages)
        # Whoever waited for the vector of the question has it by now, or did not wait any longer.
        texts = {str(at): text for at, text in enumerate(passages)}
        near = self._meaning.nearness(question, texts, patience=0.0)
        return [near.get(str(at), 0.0) for at in range(len(passages))]

    def _eligible(self, candidates: Sequence[SearchCandidate], need: Need) -> Iterator[SearchCandidate]:
        """Without what is on branches that nobody is on, and what the window has in another way."""
        said = {each.row.container for each in candidates if each.row.role not in ("system", NOTE)}
        paths = self._paths(said, need)
        own_summary = str(summary_file(need.scope, need.conversation)) if need.conversation else ""
        for candidate in candidates:
            row = candidate.row
            if row.role == "system":
                continue
            if finding := _finding_of(row):
                # What merely may have to do with the question is for research itself to tell.
                if candidate.score >= _SURE and finding not in need.known:
                    yield candidate
                continue
            if row.role == NOTE:
                holds = not row.traits & Trait.SUPERSEDED
                own = row.container.partition(":")[2] == own_summary
                if holds and not own and row.passage not in need.known:
                    yield candidate
                continue
            if any(row.place <= path.get(row.branch, -1) for path in paths[row.container]):
                yield candidate

    def _paths(self, trees: Collection[str], need: Need) -> dict[str, list[Mapping[str, int]]]:
        """The ways through trees whose messages count: to the question here, to every head elsewhere."""
        heads = {
            tree: [talk.head for talk in talks if talk.head and talk.memory]
            for tree, talks in self._store.log.conversations_on(set(trees) - {need.tree}).items()
        }
        if need.tree in trees:
            heads[need.tree] = [need.head] if need.head else []
        ways = self._store.texts.ways_to([head for several in heads.values() for head in several])
        return {tree: [ways.get(head, {}) for head in several] for tree, several in heads.items()}

    def texts(self, candidates: Sequence[SearchCandidate], scope: Scope) -> dict[int, str]:
        """What each of them says; a finding as research tells it, and nothing of one that holds no longer."""
        texts = self._store.passages.texts([candidate.row.id for candidate in candidates])
        findings = {each.row.id: name for each in candidates if (name := _finding_of(each.row))}
        notes = self._findings(scope) if findings and self._findings is not None else {}
        return texts | {row: notes.get(name, "") for row, name in findings.items()}

    def question_before(self, candidate: SearchCandidate) -> str:
        """What a message answers: the text before it, if that is short."""
        row = candidate.row
        before = self._store.passages.texts([row.id - 1]).get(row.id - 1, "")
        return " ".join(before.split()) if 0 < len(before) <= 2 * _ASKED else ""


def recall_over(store: Store, memory: MemoryService | None, findings: FindingNotes | None = None) -> Recall:
    """Recall over all that is remembered; without memory, over the words of the log alone."""
    if memory is not None:
        return Recall(store, memory.own, memory.meaning, findings)
    meaning = SemanticIndex(store, lambda: None)
    return Recall(store, Search(store, Index(store, InMemoryWorkspace()), meaning))


def understand(need: Need) -> list[Question]:
    """The questions to search: the whole, with the exchange before it where it leans on that, and its
    parts.
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


def _answers(candidate: SearchCandidate, question: Question) -> float:
    """How likely a candidate shows that there is an answer."""
    row = candidate.row
    explained = row.role == "assistant" and question.speaker != "assistant"
    less = _LESS if explained or row.traits & Trait.ONLY_ASKS else 1.0
    return max(less * candidate.score, _NAMED * candidate.exact)


def _room_for(likely: float, room: int) -> int:
    """How much a question may use of its room."""
    if likely < _SOME:
        return 0
    return room if likely >= _ALL else min(room, _ONE)


class _Picker:
    """Fills the room with candidates, best first."""

    def __init__(
        self,
        recall: Recall,
        need: Need,
        questions: Sequence[Question],
        result: Retrieval,
        room: int,
        count: Callable[[str], int],
    ) -> None:
        self._recall = recall
        self._need = need
        self._question = questions[0]
        self._result = result
        self._room = room
        self._left = room - _HEADING
        self._count = count
        self._said = [frozenset(terms(text)) for text in need.said]
        # The words in their order, of the window and of what is brought.
        self._spoken = [_words_of(text) for text in need.said]
        self._statements: list[tuple[SearchCandidate, str]] = []
        # The candidates by their rows, in the order they are looked at, and the words that were read of them.
        self._places: dict[int, int] = {}
        self._candidates: Sequence[SearchCandidate] = ()
        self._texts: dict[int, str] = {}

    def _read(self, candidate: SearchCandidate) -> str:
        """What a candidate says. Several are read at once, as far as somebody wants them."""
        row = candidate.row.id
        if row not in self._texts:
            start = self._places[row]
            some = self._candidates[start : start + _READ]
            self._texts |= dict.fromkeys((each.row.id for each in some), "")
            self._texts |= self._recall.texts(some, self._need.scope)
        return self._texts[row]

    def compare_with(self, candidates: Sequence[SearchCandidate]) -> None:
        """What people said or wrote down, in the window or not, may have newer values for what is brought."""
        people = [
            each for each in candidates if each.row.role in ("user", NOTE) and not _finding_of(each.row)
        ]
        texts = self._recall.texts(people, self._need.scope)
        self._statements = [
            (each, statement)
            for each in sorted(people, key=lambda each: (each.row.at, each.row.place), reverse=True)
            for statement in _statements(texts.get(each.row.id, ""))
            if values_in(statement) or tells_change(statement)
        ]

    def pick(self, candidates: Sequence[SearchCandidate], most: int) -> tuple[list[Snippet], list[Snippet]]:
        """What is brought, at most so many, and the best of what is not.

        What has a newer value for something that is brought comes right after it. What only asks has no
        answer, and waits until the others had their turn, unless it has a name of the question.
        """
        candidates = sorted(
            candidates, key=lambda each: bool(each.row.traits & Trait.ONLY_ASKS) and not each.exact
        )
        self._candidates = candidates
        self._places = {each.row.id: place for place, each in enumerate(candidates)}
        chosen: list[Snippet] = []
        missed: list[Snippet] = []
        seen: set[str] = set()
        replacements: set[int] = set()
        waiting = deque(candidates)
        while waiting:
            candidate = waiting.popleft()
            text = self._shareable(candidate, self._read(candidate)).strip()
            if not text or self._is_needless(candidate, text) or text in seen:
                continue
            seen.add(text)
            full = self._left < _LEAST or len(chosen) == most
            snippet = None if full else self._snippet(candidate, text)
            if snippet is None:
                if len(missed) < 5:
                    missed.append(_snippet_of(candidate, self._need, _shorten_line(text), whole=False))
                elif full:
                    break
                continue
            cost = self._cost(snippet, chosen)
            if later := self._later_value(snippet):
                newer, statement = later
                left = self._left - cost
                if self._comes_below(newer, snippet, left):
                    waiting.appendleft(newer)
                    replacements.add(newer.row.id)
                else:
                    mark = self._mark_later(newer, statement)
                    cost += self._count(mark)
                    if cost > self._left:
                        # Alone it would seem to hold; rather the newer one alone.
                        if newer.row.id in self._places:
                            waiting.appendleft(newer)
                        continue
                    snippet = replace(snippet, text=snippet.text + mark)
            self._left -= cost
            self._drop_notes_in(snippet, chosen)
            # Before what it replaces: where not all of it fits, that one goes first.
            chosen.insert(len(chosen) - (candidate.row.id in replacements), snippet)
            self._said.append(frozenset(terms(snippet.text)))
            self._spoken.append(_words_of(snippet.text))
        return chosen, missed

    def _cost(self, snippet: Snippet, chosen: Sequence[Snippet]) -> int:
        """What a snippet takes with all that stands around it: memories each have a date, what was said has
        one for a day.
        """
        dated = any(
            each.origin == snippet.origin and each.at // _DAY == snippet.at // _DAY for each in chosen
        )
        date = _DATE if snippet.origin == "memory" or not dated else 0
        return self._count(snippet.text) + _AROUND + date

    def _drop_notes_in(self, snippet: Snippet, chosen: list[Snippet]) -> None:
        """Notes that were chosen and that a message says word for word, and more, make room."""
        if snippet.origin == "memory":
            return
        words = _words_of(snippet.text)
        for note in [each for each in chosen if each.origin == "memory" and _words_of(each.text) in words]:
            chosen.remove(note)
            self._left += self._cost(note, chosen)

    def _shareable(self, candidate: SearchCandidate, text: str) -> str:
        """What was marked private, and secrets, stay in the conversation they were said in."""
        row = candidate.row
        return text if row.role == NOTE or row.container == self._need.tree else redact(text)

    def _later_value(self, snippet: Snippet) -> tuple[SearchCandidate, str] | None:
        """The newest statement that gives another value to something that a snippet gives one."""
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
        """Whether a newer message is brought with what is left, and is read after this one."""
        if newer.row.id not in self._places:
            return False
        same = _snippet_of(newer, self._need, "", whole=False).origin == snippet.origin
        return same and max(_LEAST, self._count(self._read(newer)) + _AROUND) <= left

    def _mark_later(self, newer: SearchCandidate, statement: str) -> str:
        language = language_of(self._question.text) or "en"
        return f" ({_LATER[language]}: {self._shareable(newer, statement)})"

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

    def _is_needless(self, candidate: SearchCandidate, text: str) -> bool:
        """The question itself asked before, what says nothing ("great, thanks!"), and what the window or
        something that is brought says anyway: a message word for word, a note nearly so.
        """
        if is_same_question(text, self._question):
            return True
        sought = frozenset(terms(text))
        if len(sought) < _LEAST_TERMS and not candidate.exact and not telling(text):
            return True
        words = _words_of(text)
        if any(words in spoken for spoken in self._spoken):
            return True
        if candidate.row.role != NOTE:
            return False
        return any(len(sought & said) >= _SAID * len(sought) for said in self._said)


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
    """The name of the finding whose note a row is of; empty for anything else."""
    path = PurePosixPath(row.container.partition(":")[2]) if row.role == NOTE else None
    return path.stem if path is not None and is_finding(path) else ""


def _statements(text: str) -> list[str]:
    """The sentences of a text's beginning that state one thing."""
    return [
        sentence
        for sentence in sentences(text[:_STATED])
        if len(sentence) <= _STATEMENT and not sentence.endswith("?")
    ]


def _words_of(text: str) -> str:
    """The words of a text, so that one text can be looked for in another."""
    return " ".join(["", *_WORD.findall(text.casefold()), ""])


def _shorten_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _ASKED else f"{line[: _ASKED - 1].rstrip()}…"


def _describe(snippet: Snippet) -> dict[str, Any]:
    """A snippet by its name: no words of it, which somebody may want forgotten, are kept in a report."""
    return {
        "id": snippet.id,
        "from": snippet.origin,
        "score": round(snippet.score, 4),
        "whole": snippet.whole,
        "parts": dict(snippet.parts),
    }
