"""Decides whether a new statement replaces an old one: the same subject with another value.

Only where the words leave no doubt: another number in the same sentence, a new name for the same thing, a "no
longer", a change that names what it leaves. Statements that may both be true stay side by side.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from holdfast.text.analyser import terms
from holdfast.text.lang import UPPER, any_phrase, any_word, by_language, word_set, words_of

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


_TOKEN = re.compile(r"\S+")
_EDGES = " \t\n.,;:!?\"'`’„“”«»()[]{}*_<>…"
_LONGEST = 400
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
    if len(new) > _LONGEST or len(old) > _LONGEST:
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
        raw = token.strip(_EDGES)
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
