"""Searches conversations by words, by an exact id, or by a phrase in quotes.

Candidates come from the store's full text index; the snippet of each hit is its best passage.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice, pairwise
from math import log
from typing import Literal

from holdfast.conversations.recorder import is_deleted
from holdfast.messages import Role, Scope
from holdfast.store import (
    ConversationRecord,
    MessageRecord,
    Store,
    TextHit,
    TextSearchResult,
    searchable_text,
)
from holdfast.text import analyser

_CUT = "…"
# A sentence shorter than this, in characters, is quoted with its neighbours.
_BRIEF = 160
# Of a longer text only the parts with the terms are looked at closely.
_LONGEST_TEXT = 200_000


def best_passage(text: str, weights: Mapping[str, float], room: int, count: Callable[[str], int]) -> str:
    """Return the best passage that `count` measures at most `room`; empty if nothing fits."""
    pieces = analyser.sentences(text[:_LONGEST_TEXT])
    if not pieces:
        return ""
    if len(text) <= 2 * _BRIEF and count(text.strip()) <= room:
        return text.strip()
    best = max(range(len(pieces)), key=lambda index: (_score(pieces[index], weights), -index))
    if pieces[best].startswith(("```", "~~~")):
        return cut_block(pieces[best], weights, room, count)
    first, last = add_neighbours(pieces, best, weights)
    while first < last and count(_joined(pieces, first, last)) > room:
        first, last = (first + 1, last) if first < best else (first, last - 1)
    quote = _joined(pieces, first, last)
    return quote if count(quote) <= room else cut_around(quote, weights, room, count)


def cut_around(text: str, weights: Mapping[str, float], room: int, count: Callable[[str], int]) -> str:
    """Cut the text at both ends, around the words with most weight, until it fits."""
    tokens = text.split()
    if not tokens or room <= 0:
        return ""
    value = [sum(weights.get(term, 0.0) for term in analyser.terms(token)) for token in tokens]
    middle = max(range(len(tokens)), key=lambda index: (sum(value[max(0, index - 8) : index + 9]), -index))
    reach = len(tokens)
    while reach > 0:
        first, last = max(0, middle - reach), min(len(tokens), middle + reach + 1)
        quote = " ".join(tokens[first:last])
        quote = f"{_CUT} {quote}" if first else quote
        quote = f"{quote} {_CUT}" if last < len(tokens) else quote
        if count(quote) <= room:
            return quote
        reach = reach // 2 if reach > 16 else reach - 1
    return ""


def _score(piece: str, weights: Mapping[str, float]) -> float:
    """Weigh a piece by its terms. Long pieces have more of everything, so length counts against them."""
    terms = analyser.terms(piece)
    return sum(weights.get(term, 0.0) for term in set(terms)) / (1 + log(1 + len(terms) / 20))


def add_neighbours(pieces: list[str], best: int, weights: Mapping[str, float]) -> tuple[int, int]:
    """Extend a short sentence by its better neighbour, the next one first.

    Lines of tables and logs are not extended: those around them are about other things.
    """
    first = last = best
    is_line = not pieces[best].rstrip("\"'“”)]*_").endswith((".", "!", "?", "…", ":"))
    least = _score(pieces[best], weights) / 2 if is_line else -1.0
    while sum(map(len, pieces[first : last + 1])) < _BRIEF and (first > 0 or last + 1 < len(pieces)):
        after = _score(pieces[last + 1], weights) if last + 1 < len(pieces) else -1.0
        before = _score(pieces[first - 1], weights) if first > 0 else -1.0
        if max(after, before) < least:
            break
        if after >= before:
            last += 1
        else:
            first -= 1
    return first, last


def _joined(pieces: list[str], first: int, last: int) -> str:
    return " ".join(pieces[first : last + 1])


def cut_block(block: str, weights: Mapping[str, float], room: int, count: Callable[[str], int]) -> str:
    """Return the lines of a code block around the one with most of the terms, in its fence."""
    opening, *lines = block.splitlines()
    if lines and lines[-1].strip() == opening.strip()[:3]:
        lines.pop()
    if not lines:
        return ""
    best = max(range(len(lines)), key=lambda index: (_score(lines[index], weights), -index))
    for reach in (len(lines), 8, 4, 2, 1, 0):
        first, last = max(0, best - reach), best + reach + 1
        above, below = [_CUT] * (first > 0), [_CUT] * (last < len(lines))
        quote = "\n".join([opening, *above, *lines[first:last], *below, opening.strip()[:3]])
        if count(quote) <= room:
            return quote
    return cut_around(lines[best], weights, room, count)


# Longer questions are cut: nobody means every word of a whole text.
_LONGEST = 2_000
_SNIPPET = 300
# One long conversation must not hide all others.
_PER_CONVERSATION = 3
# Messages ranked, and those read to put exact matches first: of one conversation, and for each one shown.
_RANKED = 500
_READ_OF_TREE = 12
_READ_FOR_ONE = 4
# Trees whose conversations are loaded at once.
_TREES_AT_ONCE = 40
# Titles in which a mistyped word is looked for.
_TITLES = 500
# A quote holds no other one: else each one that is never closed would be looked for to the very end.
_QUOTED = re.compile(r"\"([^\"]+)\"|„([^„“”]+)[“”]|“([^“”]+)”")


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that was found, in the conversation it belongs to.

    `matched` are the words of the query it has; `current` is false for a message that was edited away or
    answered anew and is only on an old branch.
    """

    conversation: str
    title: str
    message: str
    role: Role
    at: float
    snippet: str
    score: float
    matched: tuple[str, ...]
    current: bool
    project: str


@dataclass(frozen=True, slots=True)
class MessageResults:
    """Hits, best first, or why there are none. `engine` is `scan` where SQLite lacks full text search."""

    hits: tuple[MessageHit, ...]
    engine: str
    empty: Literal["", "nothing to search for", "nothing found"] = ""
    # What was searched for instead, where no message had any of the words.
    corrected: str = ""


def search(
    store: Store,
    scope: Scope,
    query: str,
    *,
    limit: int = 20,
    near: Mapping[str, float] | None = None,
    clean: Callable[[str], str] = str,
) -> MessageResults:
    """Search the messages of a scope, run with `store.run`; typos are corrected where nothing has the words.

    `near` are messages found by words and meaning together, with their scores; without it, words alone
    decide. `clean` takes out of texts what the reader must not see; what is found only by that is no hit.
    """
    query = query[:_LONGEST]
    asked = analyser.spelled(query)
    if not asked and not near:
        return MessageResults((), store.texts.engine, "nothing to search for")
    store.texts.catch_up(where=scope)
    return store.read_snapshot(_search, store, scope, query, asked, limit, near or {}, clean)


def _search(
    store: Store,
    scope: Scope,
    query: str,
    asked: Mapping[str, str],
    limit: int,
    near: Mapping[str, float],
    clean: Callable[[str], str],
) -> MessageResults:
    """Search what is in the index; all of it is read from one snapshot, which is quicker too."""
    exactly, corrected = _ExactTerms(query), ""
    ranking = rank_messages(store, scope, query, asked, exactly)
    if not ranking.hits and (corrected := correct_query(store, scope, query, asked)):
        asked, exactly = analyser.spelled(corrected), _ExactTerms(corrected)
        ranking = rank_messages(store, scope, corrected, asked, exactly)
    weights = {term: value or 1.0 for term, value in ranking.rarity.items()}
    candidates = read_messages(store, ranking.hits, exactly, limit)
    candidates += read_near(store, near, {stored.id for _, stored in candidates})
    if near:
        # The score of the search that recall uses too; what has a name or a phrase word for word stays in
        # front.
        candidates = [(replace(hit, score=near.get(stored.id, 0.0)), stored) for hit, stored in candidates]
        candidates.sort(key=lambda pair: (exactly.count_matches(*pair), pair[0].score), reverse=True)
    hits = build_hits(store, scope, candidates, asked, weights, limit, clean)
    return MessageResults(tuple(hits), ranking.engine, "" if hits else "nothing found", corrected)


def search_scopes(
    store: Store,
    scopes: Sequence[Scope],
    query: str,
    *,
    limit: int = 20,
    near: Mapping[str, float] | None = None,
) -> MessageResults:
    """Search several scopes, as all projects of a person; `near` is for all of them together.

    Typos are corrected only where no scope has the words.
    """
    results = [search(store, scope, query, limit=limit, near=near) for scope in scopes]
    best = [result for result in results if result.hits and not result.corrected]
    best = best or [result for result in results if result.hits] or results[:1]
    if not best:
        return MessageResults((), store.texts.engine, "nothing found")
    # Each scope's own order stays: exact matches come before better scores.
    hits = merge(*(result.hits for result in best), key=lambda hit: -hit.score)
    return replace(best[0], hits=tuple(islice(hits, limit)))


def rank_messages(
    store: Store, scope: Scope, query: str, asked: Mapping[str, str], exactly: "_ExactTerms"
) -> TextSearchResult:
    terms = sorted(asked, key=lambda term: term not in exactly.telling)
    return store.texts.rank(scope, terms, analyser.parts(query), limit=_RANKED)


def correct_query(store: Store, scope: Scope, query: str, asked: Mapping[str, str]) -> str:
    """Return the query with mistyped words as conversations have them; empty if there are none."""
    titles = " ".join(row.title for row in store.log.recent(scope, _TITLES))
    known = store.texts.count_words(scope) + Counter(analyser.terms(titles))
    corrections = {asked[term]: meant for term in asked if (meant := correct_word(term, known))}
    for typed, meant in corrections.items():
        query = query.replace(typed, meant)
    return query if corrections else ""


class _ExactTerms:
    """What a query asks for word for word: names as they are, and quoted phrases."""

    def __init__(self, query: str) -> None:
        self.telling = analyser.telling(query)
        self._phrases = [fold("".join(groups)) for groups in _QUOTED.findall(query)]
        self._terms = [frozenset(analyser.terms(phrase)) for phrase in self._phrases]
        # A quoted word is looked for as it stands there, so only names outside of quotes are left.
        self._names = self.telling & analyser.telling(_QUOTED.sub(" ", query))

    def possible_matches(self, hit: TextHit) -> int:
        """Return how many of them a message can have, by its terms."""
        return sum(terms <= hit.matched for terms in self._terms) + len(self._names & hit.matched)

    def count_matches(self, hit: TextHit, stored: MessageRecord) -> int:
        """Return how many of them a message has."""
        text = fold(searchable_text(stored.message)) if self._phrases else ""
        return sum(phrase in text for phrase in self._phrases) + len(self._names & hit.matched)


def read_messages(
    store: Store, hits: Sequence[TextHit], exactly: _ExactTerms, limit: int
) -> list[tuple[TextHit, MessageRecord]]:
    """Read the messages of the best hits, exact matches first."""
    taken: Counter[str] = Counter()
    chosen = []
    for hit in sorted(hits, key=exactly.possible_matches, reverse=True):
        taken[hit.tree] += 1
        if taken[hit.tree] <= _READ_OF_TREE:
            chosen.append(hit)
    read = store.texts.read([hit.message for hit in chosen[: limit * _READ_FOR_ONE]])
    messages = [(hit, read[hit.message]) for hit in chosen if hit.message in read]
    return sorted(messages, key=lambda pair: (exactly.count_matches(*pair), pair[0].score), reverse=True)


def read_near(
    store: Store, near: Mapping[str, float], known: Collection[str]
) -> list[tuple[TextHit, MessageRecord]]:
    read = store.texts.read([name for name in near if name not in known])
    return [
        (
            TextHit(
                stored.id,
                stored.tree,
                stored.branch,
                stored.depth,
                stored.message.role,
                near[stored.id],
                frozenset(),
            ),
            stored,
        )
        for stored in read.values()
    ]


def fold(text: str) -> str:
    return " ".join(text.casefold().split())


class _StaleFilter:
    """Finds messages of old branches that nobody looks for: deleted, or repeated on the present one."""

    def __init__(self, store: Store, whose: "_OwnerFinder", messages: Sequence[MessageRecord]) -> None:
        self._store, self._whose = store, whose
        self._alike: dict[tuple[str, str], list[MessageRecord]] = {}
        for stored in messages:
            self._alike.setdefault((stored.tree, stored.message.digest), []).append(stored)

    def __call__(self, stored: MessageRecord) -> bool:
        alike = self._alike[(stored.tree, stored.message.digest)]
        return is_deleted(self._store, stored.id) or any(self._whose(other)[1] for other in alike)


def build_hits(
    store: Store,
    scope: Scope,
    candidates: Sequence[tuple[TextHit, MessageRecord]],
    asked: Mapping[str, str],
    weights: Mapping[str, float],
    limit: int,
    clean: Callable[[str], str],
) -> list[MessageHit]:
    messages = [stored for _, stored in candidates]
    whose = _OwnerFinder(store, scope, (stored.tree for stored in messages))
    is_stale = _StaleFilter(store, whose, messages)
    shown: list[MessageHit] = []
    taken: Counter[str] = Counter()
    for hit, stored in candidates:
        conversation, current = whose(stored)
        if conversation is None or taken[conversation.id] == _PER_CONVERSATION:
            continue
        if not current and is_stale(stored):
            continue
        whole = searchable_text(stored.message)
        text = clean(whole)
        if text != whole and not (hit.matched or frozenset(weights)).intersection(analyser.terms(text)):
            continue
        snippet = best_passage(text, weights, _SNIPPET, len)
        if not snippet:
            # There is nothing to read in it.
            continue
        taken[conversation.id] += 1
        matched = sorted(hit.matched, key=lambda term: (-weights.get(term, 0.0), term))
        shown.append(
            MessageHit(
                conversation.id,
                clean(conversation.title),
                stored.id,
                stored.message.role,
                stored.created_at,
                snippet,
                round(hit.score, 4),
                tuple(dict.fromkeys(query_word(term, asked, hit.matched) for term in matched)),
                current,
                conversation.scope.project,
            )
        )
        if len(shown) == limit:
            break
    return shown


def query_word(term: str, asked: Mapping[str, str], matched: Collection[str]) -> str:
    """Return the word of the query for a term; of a name that is only partly there, that part."""
    word = asked.get(term, term)
    return word if word == term or analyser.terms(word)[0] in matched else term


class _OwnerFinder:
    """Finds the conversation of a message: the last used one whose path has it, else the last used."""

    def __init__(self, store: Store, scope: Scope, trees: Iterable[str]) -> None:
        self._store, self._scope = store, scope
        self._trees = iter(dict.fromkeys(trees))
        self._talks: dict[str, list[ConversationRecord]] = {}
        self._paths: dict[str, Mapping[str, int]] = {}

    def _load_more(self) -> None:
        """Load the conversations on some more trees: the first ones are often enough."""
        known = self._store.log.conversations_on([*islice(self._trees, _TREES_AT_ONCE)])
        for tree, talks in known.items():
            ours = [talk for talk in talks if talk.scope == self._scope]
            self._talks[tree] = sorted(ours, key=lambda talk: (talk.updated_at, talk.id), reverse=True)
        heads = [talk.head for tree in known for talk in self._talks[tree] if talk.head]
        self._paths |= self._store.texts.ways_to(heads)

    def __call__(self, stored: MessageRecord) -> tuple[ConversationRecord | None, bool]:
        while stored.tree not in self._talks:
            self._load_more()
        talks = self._talks[stored.tree]
        for talk in talks:
            if stored.depth <= self._paths.get(talk.head or "", {}).get(stored.branch, -1):
                return talk, True
        return (talks[0], False) if talks else (None, False)


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
