"""From what QMD found to hits of ours: the part of the file as it is now, with its name, lines and date.

What the file no longer says is no hit, whatever QMD remembers. Knows texts, no process.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from holdfast import words
from holdfast.memory.searching.hits import SearchHit
from holdfast.memory.searching.index import passages_of
from holdfast.memory.searching.qmd.results import QmdHit
from holdfast.memory.searching.snippets import extract_excerpt
from holdfast.memory.workspace.base import Entry
from holdfast.store import NewPassage
from holdfast.store.passages import NOTE

ENGINE = "qmd"
_LINE_END = re.compile(r"\r\n|\r|\n")


def find_hits(found: QmdHit, path: str, entry: Entry, text: str, terms: Collection[str]) -> list[SearchHit]:
    """What was found in a file with this text, best first; nothing where that is not in it any more.

    QMD names one place in a file, and a file of notes may have a hundred memories: those that have as much of
    the question come along.
    """
    there = _match_lines(found, _LINE_END.split(text.removeprefix("\ufeff")))
    passages = passages_of(entry, text)
    around = [one for one in passages if _has_any(one, there)]
    if not around:
        return []
    fits_best = [line for line, said in there.items() if said == found.best]
    having = {one.name: len(set(terms) & set(words.terms(one.text))) for one in passages}
    best = max(around, key=lambda one: (having[one.name], _has_any(one, fits_best)))
    as_good = [one for one in passages if one is not best and having[one.name] >= having[best.name] > 0]
    return [_hit(one, path, round(found.score, 4), terms) for one in (best, *as_good)]


def _hit(one: NewPassage, path: str, score: float, terms: Collection[str]) -> SearchHit:
    part = extract_excerpt(one.text, dict.fromkeys(terms, 1.0))
    return SearchHit(
        id=one.name,
        kind="note",
        path=path,
        lines=(min(one.last, one.first + part.first), min(one.last, one.first + part.last)),
        snippet=part.text,
        score=score,
        parts={ENGINE: score},
        at=one.at,
        role=NOTE,
        memory_kind=one.kind,
        engines=(ENGINE,),
    )


def _has_any(one: NewPassage, lines: Iterable[int]) -> bool:
    return any(one.first <= line <= one.last for line in lines)


def shorten_hits(hits: Iterable[SearchHit], each: int, together: int) -> list[SearchHit]:
    """Every part once, the best first, with so many characters each and as many as there is room for."""
    kept: dict[tuple[str, str], SearchHit] = {}
    left = together
    for one in sorted(hits, key=lambda one: -one.score):
        told = one.snippet if len(one.snippet) <= each else f"{one.snippet[: max(1, each - 1)].rstrip()}…"
        if (one.path, one.id) in kept:
            continue
        if len(told) > left:
            break
        kept[one.path, one.id] = replace(one, snippet=told)
        left -= len(told)
    return list(kept.values())


def _match_lines(found: QmdHit, lines: Sequence[str]) -> dict[int, int]:
    """The lines of a text that stand in what was found, by which they are there; none without the best."""
    there = {at: said for at, line in enumerate(lines, 1) if (said := found.said_by(line)) is not None}
    return there if found.best is None or found.best in there.values() else {}
