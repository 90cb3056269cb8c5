"""Whether two short texts say the same: German and English, judged by their words, strictly.

A wrong merge loses knowledge, so every doubt means no: words that were exchanged or are in another order, a
"not" or a "her" too many are differences, however alike the rest is. Knows no memories and no vectors.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from holdfast.words import terms

# How alike two texts are at least that are taken for one.
ALIKE = 0.9
# What one of them may say beyond the other, where vectors say that both mean the same.
_EXTRA = 0.34
# What is longer is no statement that could be compared word by word: it must be equal.
_LONGEST = 2_000

_TOKEN = re.compile(r"\S+")
_EDGES = " \t\n.,;:!?\"'`’„“”«»()[]{}*_<>…–—-"


def _list(words: str) -> frozenset[str]:
    return frozenset(words.casefold().split())


# Without these a sentence says the same. "Not", "was", "my", "without", "before" and their like are not here.
_HARMLESS = _list(
    """
    the a an is are that this these those there please also just very really
    der die das den dem des ein eine einen einem einer eines ist sind dass bitte auch ja doch halt eben sehr
    """
)


# These are words like others, but what they come to is not the same without them.
_TURNS = _list(
    """
    never hardly rarely seldom sometimes often always almost nearly former formerly old new planned maybe
    perhaps probably possibly except unless until since about around only least most
    nie niemals kaum selten manchmal oft immer fast beinahe ehemalige ehemaliger früher alt alte alter alten
    altes neu neue neuer neuen neues geplant vielleicht vermutlich wahrscheinlich außer bis seit etwa rund
    nur mindestens höchstens wohl eventuell
    """
)


@dataclass(frozen=True, slots=True)
class ContentWords:
    """The words of a text that count, stemmed, in order; `names` are those with a capital or a digit."""

    words: tuple[str, ...]
    names: tuple[str, ...]
    small: frozenset[str]
    every: frozenset[str]


@lru_cache(maxsize=8_192)
def content_words(text: str) -> ContentWords:
    words: list[str] = []
    names: list[str] = []
    small: set[str] = set()
    for token in _TOKEN.findall(text):
        bare = token.strip(_EDGES)
        lowered = bare.casefold()
        if not bare or lowered in _HARMLESS:
            continue
        # Of a name that gives several terms the first is the whole. Capitals are only spelling.
        found = terms(lowered)[:1]
        word = found[0] if found else lowered
        words.append(word)
        if not found or lowered in _TURNS:
            small.add(word)
        elif bare[:1].isupper() or _has_digit(bare):
            names.append(word)
    return ContentWords(tuple(words), tuple(names), frozenset(small), frozenset(words))


def same(one: str, other: str) -> bool:
    """Whether both texts say the same, but for a few plain words that one has beyond the other."""
    if _is_long(one, other):
        return one.split() == other.split()
    a, b = content_words(one), content_words(other)
    return _comparable(a, b) and _ratio(a.words, b.words) >= ALIKE


def may_mean_the_same(one: str, other: str) -> bool:
    """Whether nothing in the words speaks against it: for vectors to say whether they do."""
    if _is_long(one, other):
        return one.split() == other.split()
    a, b = content_words(one), content_words(other)
    beyond = abs(len(a.words) - len(b.words))
    return _comparable(a, b) and beyond <= _EXTRA * min(len(a.words), len(b.words))


def fuller(one: str, other: str) -> str:
    """Of two texts that say the same the one that says all the other does; the first where both do."""
    return other if len(content_words(other).words) > len(content_words(one).words) else one


def hash_words(text: str) -> frozenset[str]:
    """The words of a text, told apart but not told; a sign marks those that must not differ."""
    found = content_words(text)
    return frozenset(
        ("=" if word in found.small or _has_digit(word) else "")
        + hashlib.sha256(word.encode()).hexdigest()[:16]
        for word in found.words
    )


def same_digests(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts of which only digests are left say the same."""
    beyond = one ^ other
    within = one <= other or other <= one
    return within and not any(digest.startswith("=") for digest in beyond) and jaccard(one, other) >= ALIKE


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """How much two sets share, of all they have."""
    return len(one & other) / len(one | other) if one or other else 0.0


def _is_long(one: str, other: str) -> bool:
    return max(len(one), len(other)) > _LONGEST


def _comparable(a: ContentWords, b: ContentWords) -> bool:
    """One says all that the other does, in the same order, and what it has beyond are plain words."""
    more, less = (a, b) if len(a.words) >= len(b.words) else (b, a)
    if not less.words or not less.every <= more.every:
        return False
    extra = Counter(more.words) - Counter(less.words)
    if Counter(less.words) - Counter(more.words):
        return False
    if any(_is_marked(word, more) for word in extra):
        return False
    return _in_order(less.words, more.words)


def _in_order(less: Sequence[str], more: Sequence[str]) -> bool:
    """Whether all words come in the same order, though the sentence may begin with what ends the other."""
    return any(_follow(less, [*more[at:], *more[:at]]) for at in range(len(more)))


def _follow(less: Sequence[str], more: Sequence[str]) -> bool:
    left = iter(more)
    return all(word in left for word in less)


def _is_marked(word: str, text: ContentWords) -> bool:
    """Names, numbers and the small words that turn a meaning around."""
    return word in text.small or word in text.names or _has_digit(word)


def _has_digit(word: str) -> bool:
    return any(sign.isdigit() for sign in word)


def _ratio(one: Sequence[str], other: Sequence[str]) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
