"""Keeps a file of memories in order: duplicates, replacements, and which ones make room.

Comparing is strict, by the words, in German and English. A wrong merge loses knowledge, so every doubt means
no: exchanged or reordered words, a "not" or a "her" too many are differences. A near-duplicate updates the
old memory, a contradiction marks it and keeps it, anything else stays beside it.

A statement replaces another of the same subject only where the words leave no doubt: another number in the
same sentence, a new name for the same thing, a "no longer", a change that names what it leaves. Statements
that may both be true stay side by side.
"""

import hashlib
import math
import re
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from typing import Literal

from holdfast.memory.base import CORRECTION, Memory, MemorySource
from holdfast.memory.items import read_ids, read_memories, replace_item
from holdfast.store.memories import MemoryUse
from holdfast.text.analyser import terms
from holdfast.text.lang import UPPER, any_phrase, any_word, by_language, word_set, words_of
from holdfast.text.slots import compare, names_former, overlap, says_more, touches

_GROUPS = {
    "database": (
        "postgres postgresql mysql mariadb sqlite mongodb mongo oracle cassandra dynamodb cockroachdb duckdb"
        " couchdb firebird mssql"
    ),
    "language": words_of("LANGUAGES"),
    "packages": "npm yarn pnpm bun",
    "python": "pip poetry pipenv conda pdm uv",
    "editor": "vim neovim emacs vscode pycharm intellij webstorm sublime nano helix zed",
    "forge": "github gitlab bitbucket gitea forgejo codeberg",
    "frontend": "react vue angular svelte solid ember",
    "cloud": "aws azure gcp hetzner ovh digitalocean linode",
    "broker": "rabbitmq kafka nats activemq",
    "system": "ubuntu debian fedora arch opensuse centos nixos macos windows",
    "indent": "tabs spaces",
}
_GROUP_OF = {word: name for name, words in _GROUPS.items() for word in words.split()}

MONTHS_AND_DAYS = word_set("MONTHS", "WEEKDAYS")

# A town lies in one of these: to name it says less, not something else. Of countries only one holds.
COUNTRIES = word_set("COUNTRIES")
REGIONS = COUNTRIES | word_set("REGIONS")
OPPOSITES = frozenset(frozenset(pair.split("/")) for pair in word_set("OPPOSITES"))


def find_group(word: str) -> str:
    """Return the group of rivals a word belongs to, such as databases; empty for other words."""
    return _GROUP_OF.get(word, "")


_PUNCTUATION = " \t\n.,;:!?\"'`’„“”«»()[]{}*_<>…"
_LONGEST_CLAIM = 400
# A value is a few words; what differs in more is another sentence.
_VALUE = 3

_FILLERS = word_set("FILLERS")
# Verbs whose value is one at a time when it is a number: "listens on port 5432".
_MEASURES = word_set("MEASURE_VERBS")
# … when it is one of several rivals: "runs on Debian".
_NAMES = word_set("RIVAL_VERBS")
# … and when it is any name behind the word for a place: "lives in Kiel". In German every noun looks like one.
_PLACED = word_set("PLACE_VERBS")
_PLACES = word_set("PLACE_WORDS")
# Who works on one thing may work on another; an employer is one.
_EMPLOYED = {tuple(pair.split("/")) for pair in word_set("EMPLOYMENT")}
_CALLED = word_set("NAMING_VERBS")
_WISHES = word_set("WISH_VERBS")
_BE = word_set("BE")
# What may stand between a verb and its number. Behind other words a number is a name: "server 1", "Raum 12".
_BEFORE_NUMBER = word_set("BEFORE_NUMBER")
_NUMBERED = word_set("NUMBERED")
# Of such things there may be more than one.
_ONE_OF_MANY = word_set("ONE_OF_MANY")
_USES = word_set("USE_VERBS")
_NEGATIONS = word_set("NEGATIONS")
# What comes with a negation, and what with its absence, and means nothing else there.
_WITH_NEGATION = word_set("WITH_NEGATION")
_AROUND = word_set("AROUND_NEGATION")
_ROLES = word_set("ROLE_WORDS")
_FOR = word_set("FOR")

# One word, or several that each begin with a capital.
_NAME = rf"[\"'`„“]?(\w[\w.+#/-]*\b(?-i:(?: [{UPPER}\d][\w+#/-]*)?))[\"'`“”]?"
# Where a name begins: not inside one, which would be read again from each of its parts.
_FIRST = r"(?<![\w.+#/-])"
_FROM = tuple(
    re.compile(text.replace("<first>", _FIRST).replace("<name>", _NAME), re.IGNORECASE)
    for texts in by_language("REPLACEMENTS").values()
    for text in texts
)
# Here the new one is named first.
_INSTEAD = re.compile(
    rf"{_FIRST}{_NAME} {any_word('INSTEAD')} {_NAME}",
    re.IGNORECASE,
)
_TO = re.compile(any_phrase("ADOPTIONS").replace("<name>", _NAME), re.IGNORECASE)


def supersedes(new: str, old: str) -> bool:
    """Tell whether the old statement no longer holds once the new one does."""
    if len(new) > _LONGEST_CLAIM or len(old) > _LONGEST_CLAIM:
        return False
    return has_other_value(new, old) or is_negation_of(new, old) or names_what_it_replaces(new, old)


@dataclass(frozen=True, slots=True)
class _Word:
    """A word as written, in lower case, and its stem."""

    raw: str
    low: str
    stem: str

    @property
    def has_digit(self) -> bool:
        return any(sign.isdigit() for sign in self.raw)

    @property
    def is_name(self) -> bool:
        return self.has_digit or self.raw != self.low


@lru_cache(maxsize=8_192)
def split_words(text: str) -> tuple[_Word, ...]:
    words = []
    for token in _TOKEN.findall(text):
        raw = token.strip(_PUNCTUATION)
        low = raw.casefold()
        if raw and low not in _FILLERS:
            words.append(_Word(raw, low, next(iter(terms(low)), low)))
    return tuple(words)


def has_other_value(new: str, old: str) -> bool:
    """Tell whether the sentences differ only in the value of a verb that has one value at a time."""
    a, b = split_words(new), split_words(old)
    if not a or not b or a[0].stem != b[0].stem:
        return False
    start = common_length([word.stem for word in a], [word.stem for word in b])
    end = common_length([word.stem for word in a[start:]][::-1], [word.stem for word in b[start:]][::-1])
    mine, theirs = a[start : len(a) - end], b[start : len(b) - end]
    if not (1 <= len(mine) <= _VALUE and 1 <= len(theirs) <= _VALUE):
        return False
    before = [word.low for word in a[:start]]
    if len(before) < 2:
        return False
    frame = frozenset(before)
    behind = [word.low for word in a[len(a) - end :]]
    same_unit = value_shape(mine) == value_shape(theirs)
    if all(any(word.has_digit for word in value) for value in (mine, theirs)):
        return same_unit and bool(frame & (_MEASURES | _NAMES | _WISHES)) and is_measure(before)
    if same_unit and value_shape(mine) == ("#",):
        return bool(frame & _MEASURES) and is_measure(before)
    if len(mine) == len(theirs) == 1 and frozenset((mine[0].low, theirs[0].low)) in OPPOSITES:
        return bool(frame & (_BE | _WISHES))
    return has_other_name(mine, theirs, before, behind)


def is_measure(before: Sequence[str]) -> bool:
    """Tell whether a number behind these words is a quantity or time of a single thing."""
    last = before[-1]
    measure = last in _MEASURES | _NAMES | _WISHES | _BEFORE_NUMBER | _NUMBERED or find_group(last) != ""
    return measure and not _ONE_OF_MANY & {*before}


def has_other_name(
    mine: Sequence[_Word], theirs: Sequence[_Word], before: Sequence[str], behind: Sequence[str]
) -> bool:
    """Tell whether two names behind the same words exclude each other."""
    frame = frozenset(before)
    groups = {find_group(word.low) for word in (*mine, *theirs)}
    rivals = len(groups) == 1 and "" not in groups
    # What is for one may be for another too.
    single = frame & (_BE | _WISHES | _NAMES) and before[-1] not in _FOR
    if rivals and (single or (frame & _USES and _ROLES & {*behind[:1]})):
        return True
    if behind or frame & _ONE_OF_MANY:
        return False
    if before[-1] in _CALLED:
        return True
    if not all(word.is_name for word in (*mine, *theirs)):
        return False
    verb, small = before[-2:]
    if verb in _PLACED and small in _PLACES:
        return are_places_apart(mine, theirs)
    return (verb, small) in _EMPLOYED


def are_places_apart(mine: Sequence[_Word], theirs: Sequence[_Word]) -> bool:
    """Tell whether nobody can be in both places; a town lies in its country."""
    places = {word.low for word in (*mine, *theirs)}
    return not places & REGIONS or places <= COUNTRIES


def is_negation_of(new: str, old: str) -> bool:
    """Tell whether the statements differ only in a negation."""
    (negated, plain), (was_negated, was) = strip_negation(new), strip_negation(old)
    return negated != was_negated and len(plain) >= 2 and plain == was


@lru_cache(maxsize=8_192)
def strip_negation(text: str) -> tuple[bool, tuple[str, ...]]:
    words = split_words(text)
    denied = {word.low for word in words if word.low in _NEGATIONS or word.low.endswith("n't")}
    dropped = denied | _AROUND | (_WITH_NEGATION if denied else frozenset())
    return bool(denied), tuple(word.stem for word in words if word.low not in dropped)


def names_what_it_replaces(new: str, old: str) -> bool:
    """Tell whether the new statement is a change that names the old value, or a rival of it."""
    replacement = read_change(new)
    if replacement is None:
        return False
    left, taken = replacement
    words = split_words(old)
    lows = {word.low for word in words}
    if taken in lows or lows & _NEGATIONS or not lows & _USES or read_change(old) is not None:
        return False
    if left:
        values = {word.stem for word in words if word.low == left}
    else:
        group = find_group(taken)
        values = {word.stem for word in words if group and find_group(word.low) == group}
    # What else the old statement speaks of must be the new one's subject too.
    subjects = {term for word in words if word.low not in _USES for term in terms(word.low)} - values
    return len(values) == 1 and subjects <= set(terms(new.casefold()))


@lru_cache(maxsize=8_192)
def read_change(text: str) -> tuple[str, str] | None:
    """Return what a sentence says was left, empty if it does not say, and what replaced it."""
    for pattern in _FROM:
        match = pattern.search(text)
        if match:
            return match[1].casefold(), match[2].casefold()
    match = _INSTEAD.search(text)
    if match:
        return match[2].casefold(), match[1].casefold()
    match = _TO.search(text)
    return ("", (match[1] or match[2]).casefold()) if match else None


def value_shape(value: Sequence[_Word]) -> tuple[str, ...]:
    """Return the value with numbers, months and days made equal, so that units can be compared."""
    return tuple(
        "#" if word.low in MONTHS_AND_DAYS else re.sub(r"\d+(?:[.,:]\d+)*", "#", word.low) for word in value
    )


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )


# How alike two texts are at least that are taken for one.
ALIKE = 0.9
# What one of them may say beyond the other, where vectors say that both mean the same.
_EXTRA = 0.34
# What is longer is no statement that could be compared word by word: it must be equal.
_LONGEST = 2_000

_TOKEN = re.compile(r"\S+")
_EDGES = " \t\n.,;:!?\"'`’„“”«»()[]{}*_<>…–—-"
# Without these a sentence says the same. "Not", "was", "my", "without", "before" and their like are not here.
_HARMLESS = word_set("HARMLESS")
# These are words like others, but what they come to is not the same without them.
_TURNS = word_set("TURNS")


@dataclass(frozen=True, slots=True)
class ContentWords:
    """The words of a text that count, stemmed, in order; `names` have a capital or a digit."""

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
        stems = terms(lowered)[:1]
        word = stems[0] if stems else lowered
        words.append(word)
        if not stems or lowered in _TURNS:
            small.add(word)
        elif bare[:1].isupper() or has_digit(bare):
            names.append(word)
    return ContentWords(tuple(words), tuple(names), frozenset(small), frozenset(words))


def same(first: str, second: str) -> bool:
    """Tell whether both texts say the same, except for a few plain words that only one has."""
    if is_long(first, second):
        return first.split() == second.split()
    a, b = content_words(first), content_words(second)
    return is_comparable(a, b) and _ratio(a.words, b.words) >= ALIKE


def may_mean_the_same(first: str, second: str) -> bool:
    """Tell whether the words allow that both mean the same; vectors then decide."""
    if is_long(first, second):
        return first.split() == second.split()
    a, b = content_words(first), content_words(second)
    beyond = abs(len(a.words) - len(b.words))
    return is_comparable(a, b) and beyond <= _EXTRA * min(len(a.words), len(b.words))


def fuller(first: str, second: str) -> str:
    """Of two texts that say the same, return the longer one; the first if both are equal."""
    return second if len(content_words(second).words) > len(content_words(first).words) else first


def hash_words(text: str) -> frozenset[str]:
    """Hash the words of a text, so that it can be recognised without being stored.

    A sign marks hashes that must not differ.
    """
    content = content_words(text)
    return frozenset(
        ("=" if word in content.small or has_digit(word) else "")
        + hashlib.sha256(word.encode()).hexdigest()[:16]
        for word in content.words
    )


def same_digests(first: frozenset[str], second: frozenset[str]) -> bool:
    """Tell whether two texts say the same, of which only hashes are left."""
    beyond = first ^ second
    within = first <= second or second <= first
    return within and not any(digest.startswith("=") for digest in beyond) and jaccard(first, second) >= ALIKE


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of common members of two sets."""
    return len(first & second) / len(first | second) if first or second else 0.0


def is_long(first: str, second: str) -> bool:
    return max(len(first), len(second)) > _LONGEST


def is_comparable(a: ContentWords, b: ContentWords) -> bool:
    """Tell whether one text has all words of the other in the same order and only plain words beyond."""
    more, less = (a, b) if len(a.words) >= len(b.words) else (b, a)
    if not less.words or not less.every <= more.every:
        return False
    extra = Counter(more.words) - Counter(less.words)
    if Counter(less.words) - Counter(more.words):
        return False
    if any(_is_marked(word, more) for word in extra):
        return False
    return is_in_order(less.words, more.words)


def is_in_order(less: Sequence[str], more: Sequence[str]) -> bool:
    """Tell whether the words come in the same order; the sentence may be rotated."""
    return any(_follow(less, [*more[at:], *more[:at]]) for at in range(len(more)))


def _follow(less: Sequence[str], more: Sequence[str]) -> bool:
    left = iter(more)
    return all(word in left for word in less)


def _is_marked(word: str, text: ContentWords) -> bool:
    """Tell whether a word is a name, a number or one that changes the meaning."""
    return word in text.small or word in text.names or has_digit(word)


def has_digit(word: str) -> bool:
    return any(sign.isdigit() for sign in word)


def _ratio(first: Sequence[str], second: Sequence[str]) -> float:
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


# How alike a text is to others, from 0 to 1: the cosine of their vectors.
Similar = Callable[[str, Sequence[str]], Sequence[float]]

# As many active ones a scope has at most.
LIMIT = 500
# So many, the newest, are compared by their meaning.
_COMPARED = 200
# What a noun in common is worth beside the likeness of meaning, and from where on it need not be the nearest.
_SHARED, _SURE = 0.15, 0.6

_HALF_A_YEAR = 180 * 86_400.0
# What a recall and what age are worth, beside an importance from 0 to 1.
_RECALLED = 0.15
_OLD = 0.5


@dataclass(frozen=True, slots=True)
class MemoryVerdict:
    """What to do with a new memory and which old ones are concerned; `rival` is one it may replace."""

    action: Literal["add", "known", "outdated", "update", "supersede"]
    others: tuple[Memory, ...] = ()
    rival: Memory | None = None


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """The `memory` as it is in the file now; `others` are those it replaced, `archived` made room for it."""

    action: Literal["added", "known", "updated", "superseded", "refused"]
    memory: Memory
    others: tuple[Memory, ...] = ()
    archived: tuple[Memory, ...] = ()


Added = Callable[[str, Sequence[Memory]], str]


Key = tuple[str, ...]


class KnownMemories:
    """Memories of one file, found by the words without which a new one says nothing about them.

    So a new memory is compared with a few of thousands, with the same result as with all.
    """

    def __init__(self, memories: Iterable[Memory] = ()) -> None:
        self._memories: dict[str, Memory] = {}
        self._keys: dict[str, list[Key]] = {}
        self._having: dict[Key, set[str]] = defaultdict(set)
        self._places: dict[str, int] = {}
        # By date, and of equal ones as they came.
        self._dated: list[tuple[float, int, str]] = []
        self.renew(memories)

    def renew(self, memories: Iterable[Memory]) -> None:
        """Hold these instead, in their order; of those that were held already no word is read again."""
        held = {memory.id: memory for memory in memories}
        for name in self._memories.keys() - held.keys():
            self._drop_keys(name)
        for memory in held.values():
            self._hold(memory)
        self._memories = held
        self._places = {name: place for place, name in enumerate(held)}
        self._dated = sorted((memory.date, self._places[name], name) for name, memory in held.items())

    def put(self, memory: Memory) -> None:
        """Add a memory, or replace the one with its id, which keeps its place."""
        old = self._memories.get(memory.id)
        if old is not None:
            del self._dated[bisect_left(self._dated, (old.date, self._places[old.id], old.id))]
        place = self._places.setdefault(memory.id, len(self._places))
        insort(self._dated, (memory.date, place, memory.id))
        self._hold(memory)

    def _hold(self, memory: Memory) -> None:
        old = self._memories.get(memory.id)
        self._memories[memory.id] = memory
        if old is memory or (old is not None and old.text == memory.text):
            return
        self._drop_keys(memory.id)
        keys = self._keys[memory.id] = list(self._list_keys(memory.text))
        for key in keys:
            self._having[key].add(memory.id)

    def _drop_keys(self, name: str) -> None:
        for key in self._keys.pop(name, ()):
            self._having[key].discard(name)
            if not self._having[key]:
                del self._having[key]

    def find_comparable(self, text: str) -> list[Memory]:
        """Return those of which one may be `same` as the text, active ones first."""
        words = content_words(text).every
        # Either it has all words of the text, so also the rarest, or the text has all of its own.
        rarest = min((("word", word) for word in words), key=self._count, default=("word", ""))
        keys = [rarest, ("text", " ".join(text.split())), *(("rarest", word) for word in words)]
        return sorted(self._find(keys), key=lambda memory: not memory.active)

    def find_replaceable(self, text: str) -> list[Memory]:
        """Return those that the text may supersede by its words."""
        keys = [_opening(text), ("denied", *strip_negation(text)[1])]
        if change := read_change(text):
            left, taken = change
            keys.append(("used", left) if left else ("group", find_group(taken)))
        return self._find(keys)

    def list_newest(self, number: int, allowed: Callable[[Memory], bool]) -> list[Memory]:
        """Return the newest that are allowed, oldest first."""
        newest = (self._memories[name] for _, _, name in reversed(self._dated))
        return [*islice(filter(allowed, newest), number)][::-1]

    def _find(self, keys: Iterable[Key]) -> list[Memory]:
        names = {name for key in keys if key for name in self._having.get(key, ())}
        return [self._memories[name] for name in sorted(names, key=self._places.__getitem__)]

    def _count(self, key: Key) -> int:
        return len(self._having.get(key, ()))

    def _list_keys(self, text: str) -> Iterator[Key]:
        words = content_words(text).every
        yield from (("word", word) for word in words)
        if words:
            yield "rarest", min(words, key=lambda word: (self._count(("word", word)), word))
        yield "text", " ".join(text.split())
        yield _opening(text)
        yield ("denied", *strip_negation(text)[1])
        lows = {word.low for word in split_words(text)}
        if lows & _USES:
            yield from (("used", low) for low in lows)
            yield from (("group", group) for group in {*map(find_group, lows)} - {""})


def _opening(text: str) -> Key:
    """What two statements with another value begin with; empty where there is too little of it."""
    words = split_words(text)[:2]
    return ("opening", *(word.stem for word in words)) if len(words) == 2 else ()


def judge(
    new: Memory, known: Iterable[Memory] | KnownMemories, similar: Similar | None = None
) -> MemoryVerdict:
    """Decide what a new memory means for the known ones of the same file."""
    known = known if isinstance(known, KnownMemories) else KnownMemories(known)
    alike = find_alike(new, known, similar)
    if alike is not None:
        if alike.active:
            return MemoryVerdict("update", (alike,))
        if new.valid_from <= alike.valid_until or set(new.messages) & set(alike.messages):
            # It is history already, and nobody said it again.
            return MemoryVerdict("known", (alike,))
    if new.kind == "note" or not new.active:
        return MemoryVerdict("add")
    if newer := _find_newer_value(new, known):
        # Another conversation was read first: what it said later holds, and this is history.
        return MemoryVerdict("outdated", (newer,))
    return judge_by_slots(new, known, similar)


def _find_newer_value(new: Memory, known: KnownMemories) -> Memory | None:
    """Return a memory that was said later and replaces the new one."""

    def is_later(memory: Memory) -> bool:
        return memory.active and memory.kind != "note" and 0 < new.valid_from < memory.date

    for memory in known.list_newest(_COMPARED, is_later):
        if touches(memory.text, new.text) and compare(memory.text, new.text) == "replaces":
            return memory
    return None


def judge_by_slots(new: Memory, known: KnownMemories, similar: Similar | None) -> MemoryVerdict:
    """Compare a statement with others on the same subject, in other words or with another value.

    Only the nearest can be replaced: a wrong replacement loses knowledge.
    """

    def may_replace(memory: Memory) -> bool:
        return memory.kind != "note" and _gives_way(memory, new)

    over = [
        memory
        for memory in filter(may_replace, known.find_replaceable(new.text))
        if supersedes(new.text, memory.text)
    ]
    if over:
        return MemoryVerdict("supersede", tuple(over))
    near = known.list_newest(_COMPARED, may_replace)
    former = [memory for memory in near if names_former(new.text, memory.text)]
    if len(former) == 1:
        return MemoryVerdict("supersede", tuple(former))
    if former and new.may_replace == CORRECTION:
        # It does not say which of them it is about.
        return MemoryVerdict("add")
    scores = similar(new.text, [memory.text for memory in near]) if similar is not None and near else ()
    likeness = dict(zip((memory.id for memory in near), scores, strict=False))
    related = [
        (memory, relation)
        for memory in near
        if touches(new.text, memory.text)
        and (relation := compare(new.text, memory.text, likeness.get(memory.id, 0.0))) != "apart"
    ]
    if not related:
        return MemoryVerdict("add")

    def nearness(memory: Memory) -> float:
        return likeness.get(memory.id, 0.0) + _SHARED * overlap(new.text, memory.text)

    sure = [pair for pair in related if pair[1] != "maybe"]
    best, relation = max(sure or related, key=lambda pair: nearness(pair[0]))
    if relation == "maybe":
        return MemoryVerdict("add", rival=best)
    if nearness(best) < _SURE and any(nearness(memory) > nearness(best) for memory in near):
        return MemoryVerdict("add")
    if relation == "same" and not says_more(new.text, best.text):
        return MemoryVerdict("update", (best,))
    return MemoryVerdict("supersede", (best,))


def tidy(
    text: str,
    fresh: Sequence[Memory],
    added: Added,
    *,
    similar: Similar | None = None,
    by_hand: bool = False,
    index: KnownMemories | None = None,
) -> tuple[str, list[WriteOutcome]]:
    """Return the text of a file with new memories of one scope added, and the outcome of each.

    An `index` that was used for the same file before saves reading the words of all its memories.
    """
    if not fresh:
        return text, []
    before = {memory.id: memory for memory in read_memories(text, fresh[0].scope, by_hand=by_hand)}
    taken, known, names = read_ids(text), dict(before), list[str]()
    outcomes: list[WriteOutcome] = []
    index = index or KnownMemories()
    index.renew(before.values())
    for new in fresh:
        if new.id in taken or new.id in known:
            outcomes.append(WriteOutcome("known", known.get(new.id, new)))
            continue
        verdict = judge(new, index, similar)
        if new.may_replace == CORRECTION:
            if verdict.action != "supersede" or len(verdict.others) > 1:
                # Behind one of several, it would take the place of what the others say.
                outcomes.append(WriteOutcome("refused", new))
                continue
            new = _complete_correction(new, verdict.others[0])
        if verdict.action in ("known", "update"):
            (old,) = verdict.others
            known[old.id] = merge(old, new) if verdict.action == "update" else old
            index.put(known[old.id])
            outcomes.append(WriteOutcome("known" if known[old.id] == old else "updated", known[old.id]))
            continue
        if verdict.action == "outdated":
            (later,) = verdict.others
            known[new.id] = replace(new, superseded_by=later.id, valid_until=later.date)
            names.append(new.id)
            index.put(known[new.id])
            outcomes.append(WriteOutcome("known", known[new.id]))
            continue
        gone = [replace(old, superseded_by=new.id, valid_until=new.valid_from) for old in verdict.others]
        known.update({old.id: old for old in gone})
        addition = replace(new, may_replace=verdict.rival.id) if verdict.rival else new
        known[new.id] = addition
        names.append(new.id)
        for memory in (*gone, addition):
            index.put(memory)
        outcomes.append(WriteOutcome("superseded" if gone else "added", addition, tuple(gone)))
    for name, memory in before.items():
        if known[name] != memory:
            newer = known.get(known[name].superseded_by)
            text = replace_item(text, known[name], by_hand=by_hand, successor=newer.text if newer else "")
    return (added(text, [known[name] for name in names]) if names else text), outcomes


def _complete_correction(new: Memory, old: Memory) -> Memory:
    """Return a correction behind what it corrects: alone it may not say what its value is of."""
    return replace(new, text=f"{old.text} {new.text}", kind=old.kind, may_replace="")


def merge(old: Memory, new: Memory) -> Memory:
    """Return the old memory with what the new one adds: id and start stay, date and sources grow."""
    also = [source for source in new.sources if not any(_covers(known, source) for known in old.sources)]
    return replace(
        old,
        text=fuller(old.text, new.text) if may_mean_the_same(old.text, new.text) else old.text,
        importance=max(old.importance, new.importance),
        also=(*old.also, *also),
        seen=new.date if new.date > old.date else old.seen,
        pinned=old.pinned or new.pinned,
    )


def least_useful(
    active: Sequence[Memory], uses: Mapping[str, MemoryUse], now: float, limit: int = LIMIT
) -> list[Memory]:
    """Return the memories that make room, least useful first; never pinned ones, rules and preferences."""
    movable = [memory for memory in active if not memory.pinned and memory.kind != "preference"]
    movable.sort(key=lambda memory: (usefulness(memory, uses.get(memory.id, MemoryUse()), now), memory.date))
    return movable[: max(0, len(active) - limit)]


def usefulness(memory: Memory, use: MemoryUse, now: float) -> float:
    """Rate a memory: importance, raised by recalls, lowered by the time since it was last heard of."""
    # What a person wrote by hand has no date: it is taken as it is, neither new nor old.
    last = max(memory.date, use.used_at)
    age = max(0.0, now - last) if last else _HALF_A_YEAR
    return memory.importance + _RECALLED * math.log2(1 + use.recalls) - _OLD * age / (age + _HALF_A_YEAR)


def find_alike(new: Memory, known: KnownMemories, similar: Similar | None) -> Memory | None:
    """Return the memory that says the same, an active one before one that no longer holds."""
    comparable = [
        memory
        for memory in known.find_comparable(new.text)
        if (memory.kind == "note") == (new.kind == "note")
    ]
    by_words = next((memory for memory in comparable if same(memory.text, new.text)), None)
    if by_words is not None or similar is None:
        return by_words
    maybe = [memory for memory in comparable if memory.active and may_mean_the_same(memory.text, new.text)]
    if not maybe:
        return None
    scores = similar(new.text, [memory.text for memory in maybe])
    best = max(range(len(maybe)), key=lambda at: scores[at])
    return maybe[best] if scores[best] >= ALIKE else None


def _gives_way(old: Memory, new: Memory) -> bool:
    return old.active and not old.pinned and (not new.valid_from or old.date <= new.valid_from)


def _covers(known: MemorySource, source: MemorySource) -> bool:
    return known.conversation == source.conversation and set(source.messages) <= set(known.messages)
