"""Finding rows by their tokens and ranking them, the same on every engine.

The engine only finds the rows that have a token; the candidates and their BM25 scores are computed here, on
ranges of row ids.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

from sqlalchemy import Connection, text

from holdfast.store.database import run_sql
from holdfast.store.fulltext import IdRange, TextEngine, TokenGroups, encode

# Terms of a question that are looked up; a longer one is a text, not a question.
TERMS = 64
# Candidates: rows with the rarest terms; common terms only order them. And those whose length is read.
_CANDIDATES = 500
_CLOSELY = 250
# The parameters k1 and b of BM25.
_SATURATION = 0.9
_BY_LENGTH = 0.6
# Weight of a part of a compound, where a whole word has 1.
_PART_WEIGHT = 0.4
# Weight of words about a text (its date, the name of its file), where its own have 1.
_ABOUT_WEIGHT = 0.8


@dataclass(frozen=True, slots=True)
class TextHit:
    """A message that has some of the terms; `matched` are those."""

    message: str
    tree: str
    branch: str
    depth: int
    role: str
    score: float
    matched: frozenset[str]


@dataclass(frozen=True, slots=True)
class TextSearchResult:
    """Hits, best first; the weight of each term by its rarity; and the engine that was used.

    A term that nothing has weighs 0, one that is only part of a compound weighs less.
    """

    hits: tuple[TextHit, ...]
    rarity: Mapping[str, float]
    # The weight of a term that only one message has.
    rarest: float
    engine: str


@dataclass(frozen=True, slots=True)
class TermQuery:
    """One token to look for, the term it stands for, and its weight."""

    token: str
    term: str
    weight: float


class TokenLookup:
    """Finds the rows with given tokens in some ranges of ids."""

    def __init__(self, connection: Connection, engine: TextEngine, ranges: Sequence[IdRange]) -> None:
        self._connection = connection
        self._engine = engine
        self._ranges = ranges or [(0, -1)]

    def counts(self, queries: Sequence[TermQuery]) -> dict[TermQuery, int]:
        """Return how many rows have each token, without those that none has."""
        rows = self._each([((query.token,),) for query in queries], "count(*)")
        return {queries[index]: count for index, count in rows if count}

    def all_pairs(self, queries: Sequence[TermQuery]) -> dict[TermQuery, set[int]]:
        """Return all rows of each token: where there are few rows, faster than counting first."""
        return self._rows_of(queries, [((query.token,),) for query in queries])

    def pairs(
        self, rarest_first: Sequence[TermQuery], counts: Mapping[TermQuery, int], room: int = _CANDIDATES
    ) -> dict[TermQuery, set[int]]:
        """Return the rows of each token among the candidates: the rows with one of the rarest tokens."""
        rare: list[TermQuery] = []
        most = room
        for asked in rarest_first:
            room -= counts[asked]
            if room < 0:
                break
            rare.append(asked)
        if not rare:
            return self._newest(rarest_first, most)
        common = rarest_first[len(rare) :]
        # Common tokens are looked for among the candidates only.
        among = tuple(query.token for query in rare)
        groups: list[TokenGroups] = [((query.token,),) for query in rare]
        groups += [((query.token,), among) for query in common]
        return self._rows_of(rarest_first, groups)

    def _newest(self, rarest_first: Sequence[TermQuery], most: int) -> dict[TermQuery, set[int]]:
        """Where every token is common: take the newest rows that have the rarest of them."""
        if not rarest_first:
            return {}
        values: dict[str, str] = {}
        sql = self._match_sql(((rarest_first[0].token,),), values)
        newest = f"SELECT id FROM ({sql}) AS m ORDER BY id DESC LIMIT {most:d}"  # noqa: S608
        low = self._connection.scalar(text(f"SELECT min(id) FROM ({newest}) AS n"), values)  # noqa: S608
        groups: list[TokenGroups] = [((query.token,), (rarest_first[0].token,)) for query in rarest_first]
        return self._rows_of(rarest_first, groups, f"WHERE id >= {int(low)}")

    def _rows_of(
        self, queries: Sequence[TermQuery], groups: Sequence[TokenGroups], condition: str = ""
    ) -> dict[TermQuery, set[int]]:
        # All ids as one text: a row of the driver for every id takes several times as long.
        joined = {index: ids for index, ids in self._each(groups, self._engine.joined, condition) if ids}
        return {queries[index]: set(map(int, joined[index].split(","))) for index in sorted(joined)}

    def _each(self, groups: Sequence[TokenGroups], expression: str, condition: str = "") -> Sequence[Any]:
        """Run one query for each of `groups` in one statement; every row begins with its number."""
        if not groups:
            return []
        values: dict[str, str] = {}
        # The tokens are bound; the rest of the text is ours.
        selects = [
            f"SELECT {index}, {expression} FROM ({self._match_sql(group, values)}) AS m {condition}"  # noqa: S608
            for index, group in enumerate(groups)
        ]
        return run_sql(self._connection, " UNION ALL ".join(selects), values)

    def _match_sql(self, groups: TokenGroups, values: dict[str, str]) -> str:
        return " UNION ALL ".join(self._engine.match_sql(groups, ids, values) for ids in self._ranges)


class CandidateScores:
    """Scores of the candidates. A term counts once: whole, or else as part of a compound."""

    def __init__(self, pairs: Mapping[TermQuery, set[int]], rarity: Mapping[TermQuery, float]) -> None:
        self._matched = count_once(pairs)
        self._worth: dict[int, float] = defaultdict(float)
        for query, rows in self._matched.items():
            value = query.weight * rarity[query]
            for row in rows:
                self._worth[row] += value

    def best(self) -> list[int]:
        """Return the rows with the highest scores, before their length is known."""
        return nlargest(_CLOSELY, self._worth, key=lambda row: (self._worth[row], row))

    def rank(self, rows: Mapping[int, Any], average: float, limit: int) -> list[TextHit]:
        """Rank by BM25 without term frequency, which in long answers reflects length, not subject."""
        scores = [(self._score(row, details.length / average), row) for row, details in rows.items()]
        best: dict[str, TextHit] = {}
        for score, row in sorted(scores, reverse=True):
            details = rows[row]
            # Of a message in several rows the best one counts.
            if details.passage not in best:
                terms = frozenset(query.term for query, matching in self._matched.items() if row in matching)
                best[details.passage] = TextHit(
                    details.passage,
                    details.container,
                    details.branch,
                    details.place,
                    details.role,
                    score,
                    terms,
                )
            if len(best) == limit:
                break
        return list(best.values())

    def _score(self, row: int, length: float) -> float:
        penalty = _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * length)
        return self._worth[row] * (_SATURATION + 1) / (1 + penalty)


def limit_to_rarest(
    pairs: Mapping[TermQuery, set[int]], rarest_first: Sequence[TermQuery], room: int
) -> dict[TermQuery, set[int]]:
    """Limit known pairs to the candidates, with the same result as `TokenLookup.pairs`."""
    rare: set[int] = set()
    limited: dict[TermQuery, set[int]] = {}
    for query in rarest_first:
        room -= len(pairs[query])
        if room >= 0:
            rare |= pairs[query]
            limited[query] = pairs[query]
        elif both := pairs[query] & rare:
            limited[query] = both
    return limited


def count_once(pairs: Mapping[TermQuery, set[int]]) -> dict[TermQuery, set[int]]:
    """Return the rows of each token, without those that have the whole word of which it is a part."""
    whole = {query.term: rows for query, rows in pairs.items() if query.weight == 1}
    return {
        query: rows if query.weight == 1 else rows - whole.get(query.term, set())
        for query, rows in pairs.items()
    }


def inverse_frequency(total: int, having: int) -> float:
    """Return how much a term weighs that `having` of `total` rows have."""
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


def term_queries(terms: Sequence[str], parts: Sequence[str], *, about: bool = False) -> list[TermQuery]:
    """Return the tokens to look for; with `about` also in what is known of a text but not said in it."""
    whole = list(dict.fromkeys(terms))[:TERMS]
    pieces = [part for part in dict.fromkeys(parts) if part not in whole][:TERMS]
    return [
        *(TermQuery(encode(term), term, 1.0) for term in whole),
        *(TermQuery(encode(f"~{term}"), term, _PART_WEIGHT) for term in whole),
        *(TermQuery(encode(part), part, _PART_WEIGHT) for part in pieces),
        *(TermQuery(encode(f"@{term}"), term, _ABOUT_WEIGHT) for term in whole if about),
    ]
