"""Sources cut to the passages that answer a question, for a window that cannot hold them whole.

Short sources stay whole, long ones share what is left. Knows texts and a way to count, no window.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log

from holdfast.text import analyser

Count = Callable[[str], int]

_GAP = " […] "
# A passage is about so many characters: a sentence alone is seldom understood.
_PASSAGE = 400
# How a page begins says what it is about.
_OPENING = 0.5
# So much of a text says how many characters a token has in it.
_SAMPLE = 4_000
# What was reckoned and not counted may be this much too large, and is made smaller so often.
_TRIES, _SMALLER = 6, 0.9
# What the words of a whole text are worth beside those of its best passage.
_COVERED = 0.25
# With less room nothing is worth quoting.
_LEAST = 20


def excerpts(question: str, texts: Sequence[str], room: int, count: Count) -> list[str]:
    """Each text as it is, or its passages that have most of the question; empty where there is no room."""
    costs = [count(text) for text in texts]
    shares = _shares(costs, room)
    weights = _weights(question, texts)
    return [
        text if cost <= share else _cut(text, weights, share, cost, count)
        for text, cost, share in zip(texts, costs, shares, strict=True)
    ]


def bearing(question: str, texts: Sequence[str]) -> list[float]:
    """How much each text has to say to a question: by its best passage, and by how much it covers in all."""
    weights = _weights(question, texts)
    return [
        max(_worth(one, weights) for one in _passages(text))
        + _COVERED * sum(weights.get(term, 0.0) for term in set(analyser.terms(text)))
        for text in texts
    ]


def _shares(costs: Sequence[int], room: int) -> list[int]:
    """The same for all, but nobody has more than they need: what they leave is for the others."""
    shares = [0] * len(costs)
    left = room
    for rank, at in enumerate(sorted(range(len(costs)), key=lambda at: costs[at])):
        shares[at] = min(costs[at], left // (len(costs) - rank))
        left -= shares[at]
    return shares


def _weights(question: str, texts: Sequence[str]) -> dict[str, float]:
    """A word of the question says more the fewer passages have it."""
    asked = set(analyser.terms(question))
    passages = [set(analyser.terms(one)) for text in texts for one in _passages(text)]
    having = Counter(term for one in passages for term in one & asked)
    return {term: log(1 + len(passages) / (1 + having[term])) for term in asked}


def excerpt(
    text: str,
    weights: Mapping[str, float],
    room: int,
    count: Count,
    near: Callable[[Sequence[str]], Sequence[float]] | None = None,
) -> str:
    """A text as it is, or its passages with most of the terms; `near` tells how near passages are in
    meaning.
    """
    cost = count(text)
    return text if cost <= room else _cut(text, weights, room, cost, count, near)


def _cut(
    text: str,
    weights: Mapping[str, float],
    share: int,
    cost: int,
    count: Count,
    near: Callable[[Sequence[str]], Sequence[float]] | None = None,
) -> str:
    if share < _LEAST:
        return ""
    characters = share * len(text) / cost
    # Where there is little room, the sentence that answers counts, and not what stands around it.
    passages = _passages(text, min(_PASSAGE, characters / 3))
    worth = [_worth(passage, weights) for passage in passages]
    if near is not None:
        most = max(worth) or 1.0
        worth = [own / most + close for own, close in zip(worth, near(passages), strict=True)]
    worth[0] += _OPENING * max(worth)
    ranked = sorted(range(len(passages)), key=lambda at: (-worth[at], at))
    for _ in range(_TRIES):
        quote = _chosen(passages, ranked, characters)
        counted = count(quote)
        if counted <= share:
            return quote
        # A passage may have far more tokens to its characters than the rest of the text.
        characters *= min(_SMALLER, share / counted)
    return ""


def _chosen(passages: Sequence[str], ranked: Sequence[int], characters: float) -> str:
    """The best passages, in the order of the text, with a mark where something is missing.

    Where the best does not fit, its beginning is worth more than others that do.
    """
    if len(passages[ranked[0]]) + len(_GAP) > characters:
        return passages[ranked[0]][: int(max(0.0, characters - len(_GAP)))] + _GAP.rstrip()
    chosen: set[int] = set()
    for at in ranked:
        needed = len(passages[at]) + len(_GAP)
        if needed <= characters:
            chosen.add(at)
            characters -= needed
    order = sorted(chosen)
    parts = [_GAP.lstrip() if order[0] else "", passages[order[0]]]
    for before, at in pairwise(order):
        parts += ["\n" if at == before + 1 else _GAP, passages[at]]
    return "".join([*parts, _GAP.rstrip() if order[-1] + 1 < len(passages) else ""])


def _worth(passage: str, weights: Mapping[str, float]) -> float:
    found = analyser.terms(passage)
    return sum(weights.get(term, 0.0) for term in set(found)) / (1 + log(1 + len(found) / 40))


def _passages(text: str, longest: float = _PASSAGE) -> list[str]:
    """Sentences put together until they are long enough to be understood; lines stay lines."""
    passages: list[str] = []
    end = 0
    for sentence in analyser.sentences(text):
        start = max(end, text.find(sentence, end))
        joint = "\n" if "\n" in text[end:start] else " "
        end = start + len(sentence)
        if passages and len(passages[-1]) + len(sentence) < longest:
            passages[-1] = f"{passages[-1]}{joint}{sentence}"
        else:
            passages.append(sentence)
    return passages or [text]
