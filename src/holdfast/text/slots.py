"""Whether two statements are about the same thing, and which value each gives it: a budget, a day, a name.

A newer value takes the place of an older one, the same value said otherwise is the same statement, and
things that merely look alike stay apart. Where it cannot be told, that is said as well. Knows no memories.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from holdfast.text.analyser import language_of, parts, terms
from holdfast.text.dates import MONTH_NAMES
from holdfast.text.lang import (
    UPPER,
    LanguageData,
    any_phrase,
    by_language,
    merged_rows,
    merged_table,
    rows_of,
    word_set,
    words_of,
)
from holdfast.text.patterns import late

Relation = Literal["same", "replaces", "maybe", "apart"]

# What is longer is no single statement.
_LONGEST = 400
# By their meaning: about the same thing where one says that it changed, and the same thing in other words.
_NEAR, _LIKELY, _SAME = 0.33, 0.45, 0.55
# A statement of so few words has one topic.
_SHORT = 3
# From here on two sentences are one with another word in it.
_FRAME = 0.6
# So many words or concepts in common make it likely that two statements are about one thing.
_SHARED = 2
# So much of the smaller one's topic in common, and what is left on both sides tells two things apart.
_PARALLEL = 0.5
# A sum that replaces another is at most so many times as large, or as small.
_FACTOR = 20.0
# Words that begin with as many letters are of one root.
_ROOT = 5
# Concepts of which one person at a time has each.
_TASKS = frozenset(("=contact", "=boss", "=doctor", "=task"))


@dataclass(frozen=True, slots=True)
class Slot:
    """`topic` are stems and concepts of what it is about, `own` those stems that are nouns or names.

    `values` are by their type; `changed` says that the statement tells of a change.
    """

    topic: frozenset[str]
    own: frozenset[str]
    values: Mapping[str, frozenset[str]]
    names: frozenset[str]
    words: frozenset[str]
    negated: bool
    changed: bool
    mine: bool
    # The name it begins with, if it does, and the stems of all its names.
    subject: str = ""
    named: frozenset[str] = frozenset()
    # What stands before its verb behind an article, and of what it says that there is a new one.
    head: frozenset[str] = frozenset()
    renewed: frozenset[str] = frozenset()
    # Whether one person speaks of themselves, or several do.
    person: Literal["", "i", "we"] = ""
    # Things that are told apart by a number, by their noun: "house 12 has".
    numbered: Mapping[str, frozenset[str]] = field(default_factory=dict)


def touches(new: str, old: str) -> bool:
    """Whether it is worth comparing them: they have something in common, or the new one tells of a change."""
    a, b = slot_of(new), slot_of(old)
    return bool(a.topic & b.topic) or (
        a.changed and bool(a.values.keys() & b.values.keys() or _left_behind(a, b))
    )


def compare(new: str, old: str, likeness: float = 0.0) -> Relation:
    """What a newer statement does to an older one; `likeness` is that of their meaning, if it is known."""
    if max(len(new), len(old)) > _LONGEST:
        return "apart"
    a, b = slot_of(new), slot_of(old)
    a, b = _split_compounds(a, b), _split_compounds(b, a)
    if _have_other_numbers(a, b):
        return "apart"
    if a.renewed & b.topic:
        a = replace(a, changed=True)
    b = replace(b, values=_in_units_of(a, b))
    a = replace(a, values=_in_units_of(b, a))
    if (a.changed and _hands_over(a, b)) or _names_former(a, b):
        return "replaces"
    if _forbid_the_same(a, b):
        return "same"
    if _has_frame_of(new, old) and (a.values != b.values or not a.values):
        return _in_one_frame(a, b)
    shared, left = a.topic & b.topic, not b.negated and _left_behind(a, b)
    if (not shared and not left and likeness < _NEAR) or _of_others(a, b):
        return "apart"
    if not a.changed and (a.words ^ b.words) & _BACK:
        return "apart"
    common = a.values.keys() & b.values.keys()
    if len(shared) < _SHARED and not left and not a.own & b.own and min(len(a.own), len(b.own)) > 2:
        # Several nouns each and none in common: what they share is chance.
        return "apart"
    # Who says "from 8 to 9" names both.
    differing = {
        kind
        for kind in common
        if not a.values[kind] & b.values[kind] or (a.changed and b.values[kind] < a.values[kind])
    }
    if _of_other_size(a, b, differing):
        return "apart"
    if not left and _is_parallel(a, b, shared):
        return "apart"
    if not left and _is_about_another(a, b, shared):
        return "apart"
    if not left and a.changed and not _has_head(a, b, differing):
        return "maybe" if differing and shared - a.named else "apart"
    if differing:
        return _with_other_values(a, b, differing, shared, likeness, left=left)
    # Who is named in both may do different things in them.
    about = shared if common - {"name"} else shared - a.named - b.named - _people(a)
    if common and about and (a.negated == b.negated or _is_telling(a, b, common)):
        return "same"
    return _without_values(a, b, shared, likeness, left=left)


def _names_former(a: Slot, b: Slot) -> bool:
    """Whether the new statement names the old value and another one: "450 copies instead of 300".

    A date, a sum or a large number is hardly the same by chance; others need a noun in common.
    """
    if not (a.changed or a.negated) or (a.head - b.topic and b.head - a.topic):
        return False
    numbers = frozenset().union(*(a.values[kind] for kind in a.values if kind.startswith("number")))
    for kind, former in b.values.items():
        values = numbers if kind.startswith("number") else a.values.get(kind, _NONE)
        named = values & former
        long = any(value.partition(".")[0].isdigit() and len(value.partition(".")[0]) > 2 for value in named)
        telling = long or kind == "date" or (kind == "number money" and not a.head)
        if named and values - former and (telling or a.own & b.own):
            return True
    return False


def _is_about_another(a: Slot, b: Slot, shared: Collection[str]) -> bool:
    """Whether both only have the kind of their value in common: what coffee costs, and what a parcel does."""
    by_kind = all(word.startswith("=") for word in shared)
    return by_kind and bool(a.head and b.own) and not any(word in _CONCEPTS_OF for word in a.head)


def _of_other_size(a: Slot, b: Slot, differing: Collection[str]) -> bool:
    """Whether sums of money are too far apart for one thing: what a ticket costs is no budget."""
    if "number money" not in differing or a.own & b.own:
        return False
    sums = [[float(_LEADING.findall(sum_)[0]) for sum_ in slot.values["number money"]] for slot in (a, b)]
    return all(max(x, y) > _FACTOR * min(x, y) for x in sums[0] for y in sums[1])


def _split_compounds(slot: Slot, other: Slot) -> Slot:
    """The slot with compounds as the words that the other one has for them: "agency meeting" as one word is
    "the meeting with the agency".
    """
    for compound in slot.own - other.topic:
        halves = frozenset(parts(compound))
        known = halves & other.own
        if len(known) > 1:
            drop = (halves | {compound}) - known
            slot = replace(
                slot,
                topic=slot.topic - drop | known,
                own=slot.own - drop | known,
                head=slot.head - drop | known if compound in slot.head else slot.head,
            )
    return slot


def names_former(new: str, old: str) -> bool:
    """Whether a newer statement names the value of an older one and another one instead of it."""
    if max(len(new), len(old)) > _LONGEST:
        return False
    return _names_former(slot_of(new), slot_of(old))


def tells_change(text: str) -> bool:
    """Whether a statement says that something is no longer as it was."""
    return _CHANGE.search(text) is not None


def introduces_speaker(text: str) -> bool:
    """Whether a person says who they are: their name, their work, where they live."""
    return _INTRODUCES.match(text) is not None


def needs_context(text: str) -> bool:
    """Whether a statement of a change does not say of what: "we move to 28 March", "I meant 9,200"."""
    if not tells_change(text) or not values_in(text):
        return False
    clause = text.partition(",")[0]
    slot = slot_of(_CHANGE.sub(" ", clause if values_in(clause) else text))
    people = "|".join(re.escape(name) for name in values_in(text).get("name", ()))
    named = re.findall(rf"(?i:{people})(?: [{UPPER}][\w-]+)?", text) if people else []
    return not slot.topic - _EMPTY - frozenset(stem for name in named for stem in terms(name))


def join_context(sentences: Sequence[str]) -> list[str]:
    """Returns sentences, each that needs context behind the one before it."""
    return [
        f"{before} {sentence}" if before and needs_context(sentence) else sentence
        for before, sentence in zip(("", *sentences), sentences, strict=False)
    ]


def renews_value(text: str) -> bool:
    """Whether a statement tells of a change and names the value that holds now; a habit has none."""
    return tells_change(text) and bool(slot_of(text).values.keys() - {"frequency"})


def gives_new_value(new: str, old: str, question: str = "") -> bool:
    """Whether a newer statement may give another value to what an older one is about, and a question asks
    for.

    For telling them together, where a mistake costs a line; `compare` is for what must be sure.
    """
    a, b = slot_of(new), slot_of(old)
    if not (b.values or b.names) or not touches(new, old):
        return False
    if not b.values and not (a.names - b.names or a.negated):
        # It names nothing else in the place of what was named.
        return False
    relation, shared = compare(new, old), a.topic & b.topic
    if relation == "replaces" or (relation == "maybe" and a.own & b.own):
        return True
    if _of_others(a, b) or _is_parallel(a, b, shared) or _have_other_numbers(a, b):
        return False
    if _is_about_another(a, b, shared):
        return False
    if not a.changed and b.values.keys() - a.values.keys():
        # "It's on 15 January, a Friday" is more than a day of the week, and no other one replaces it.
        return False
    asked = shared & slot_of(question).topic
    differing = {kind for kind in a.values.keys() & b.values.keys() if not a.values[kind] & b.values[kind]}
    if _of_other_size(a, b, differing):
        return False
    if "date" in differing and any("-" not in date for date in (*a.values["date"], *b.values["date"])):
        # A month is no other day.
        differing.discard("date")
    # Bare numbers count all kinds of things.
    return bool(differing if len(shared) >= _SHARED else asked and differing - {"number"})


def _has_frame_of(new: str, old: str) -> bool:
    """Whether one sentence is the other but for a word or two; what cannot be is told by the words alone."""
    words = _WORD.findall(new.casefold()), _WORD.findall(old.casefold())
    matcher = SequenceMatcher(None, *words, autojunk=False)
    bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
    return all(bound() >= _FRAME for bound in bounds)


def _forbid_the_same(a: Slot, b: Slot) -> bool:
    """Whether both say no to one thing, as "No emojis, please" and "Don't use emojis" do."""
    same = a.negated and b.negated and not a.changed and a.topic == b.topic and a.values == b.values
    return same and bool(a.topic) and (a.words ^ b.words) <= _PLAIN


def _in_one_frame(a: Slot, b: Slot) -> Relation:
    """Of sentences that differ in a word or two only another day or hour is sure to replace the old one."""
    differing = {kind for kind in {*a.values, *b.values} if a.values.get(kind) != b.values.get(kind)}
    single = all(len(slot.values.get(kind, ())) == 1 for slot in (a, b) for kind in differing)
    if not differing and a.changed and a.names - b.names and b.names and not b.negated:
        # "We now take PostgreSQL as the database": all but the name is as it was.
        return "replaces" if a.own - a.named - a.names == b.own - b.named - b.names else "apart"
    if not differing or (a.own - b.own - _valued(a) and b.own - a.own - _valued(b)):
        return "apart"
    when = differing <= {"weekday", "time"} and single and a.own == b.own and a.negated == b.negated
    if not a.changed and (a.words ^ b.words) & _DIRECTIONS:
        # There and back, before and after: two things, whatever else is the same.
        return "apart"
    both = differing & a.values.keys() & b.values.keys()
    if when or (a.changed and both):
        return "replaces"
    return "maybe" if both else "apart"


def _in_units_of(other: Slot, slot: Slot) -> Mapping[str, frozenset[str]]:
    """The values of a slot, where a bare number has the unit that the other one says: "he is 71"."""
    units = [kind for kind in other.values if kind.startswith("number ")]
    if len(units) != 1 or "number" not in slot.values or units[0] in slot.values:
        return slot.values
    return {units[0] if kind == "number" else kind: values for kind, values in slot.values.items()}


def _hands_over(a: Slot, b: Slot) -> bool:
    """Whether a task that one person has at a time is somebody else's now."""
    mine, theirs = a.named | _people(a), b.named | _people(b)
    same = (a.own & b.own) - mine - theirs
    return bool(a.topic & b.topic & _TASKS and same and mine - theirs and theirs - mine)


def _people(slot: Slot) -> frozenset[str]:
    return frozenset(stem for name in slot.values.get("name", ()) for stem in terms(name))


def _has_head(a: Slot, b: Slot, differing: Collection[str] = ()) -> bool:
    """Whether the new statement speaks of what the old one is about, by this name or another one for it.

    Or, where both have such a value, the old one of what the new one is about.
    """
    if differing and a.head and a.head <= b.topic:
        return True
    concepts = frozenset().union(*(_CONCEPTS_OF.get(word, _NONE) for word in b.head))
    # Where both say what something is called the name is what it is about.
    known = (
        a.topic
        | a.named
        | _measured(a)
        | (concepts if {"name"} <= a.values.keys() & b.values.keys() else _NONE)
    )
    return not b.head or bool((b.head | concepts) & known)


def _measured(slot: Slot) -> frozenset[str]:
    """A number may be a sum of money without a word for it."""
    return frozenset({"=money"}) if any(kind.startswith("number") for kind in slot.values) else _NONE


def _of_others(a: Slot, b: Slot) -> bool:
    """Whether they begin with different people or things."""
    return bool(a.subject and b.subject) and a.subject != b.subject and b.subject not in a.words


def _have_other_numbers(a: Slot, b: Slot) -> bool:
    """Whether they are about two things that only a number tells apart, and no change is told."""
    return not a.changed and any(
        not a.numbered[noun] & b.numbered[noun] for noun in a.numbered.keys() & b.numbered.keys()
    )


def overlap(new: str, old: str) -> float:
    """How much two statements are about the same: by nouns they share, less by other words for one thing."""
    a, b = slot_of(new), slot_of(old)
    return len(a.own & b.own) + len({one for one in a.topic & b.topic if one.startswith("=")}) / 2


def says_more(new: str, old: str) -> bool:
    """Whether the new of two statements that say the same has values or names beyond the old one's."""
    a, b = slot_of(new), slot_of(old)
    return bool(a.values.keys() - b.values.keys()) or (b.own < a.own)


def _with_other_values(
    a: Slot, b: Slot, differing: set[str], shared: frozenset[str], likeness: float, *, left: bool
) -> Relation:
    if a.changed and (shared or left or likeness >= _NEAR):
        return "replaces"
    apart = (a.own ^ b.own) - _valued(a) - _valued(b)
    # Two people may well do what is called alike, unless both sentences are about just that.
    told = differing != {"name"} or bool(a.head & b.head)
    if len(differing) == 1 and shared and not apart and a.negated == b.negated:
        return "replaces" if told else "maybe"
    return "maybe" if shared and len(apart) <= 1 and len(differing) == 1 else "apart"


def _without_values(a: Slot, b: Slot, shared: frozenset[str], likeness: float, *, left: bool) -> Relation:
    ours = a.mine and b.mine
    other = a.names - b.names or (a.values and _has_head(a, b))
    if a.changed and left and other and (not b.values or ours):
        return "replaces"
    if a.changed and shared - a.named - b.named and not b.values and _has_head(a, b):
        one = not (a.person and b.person) or a.person == b.person or bool(a.own & b.own)
        short = ours and len(b.topic) <= _SHORT and len(a.topic) <= 2 * _SHORT
        near = likeness >= (_LIKELY if a.own & b.own else _SAME)
        most = not likeness and 2 * len(shared) >= min(len(a.topic), len(b.topic))
        return "replaces" if one and (short or near or most) else "apart"
    if a.changed or not shared or a.negated != b.negated:
        return "apart"
    if b.topic <= a.topic and len(b.topic) > 1 and b.names <= a.names:
        return "same" if likeness >= _SAME else "maybe"
    alone = _other_roots(a, b) and _other_roots(b, a)
    return "same" if likeness >= _SAME and not (a.values or b.values or alone) else "apart"


def _is_telling(a: Slot, b: Slot, common: Collection[str]) -> bool:
    """Whether they have a number in common that is hardly the same by chance."""
    return any(
        len(value) > 2
        for kind in common
        if kind.startswith("number")
        for value in a.values[kind] & b.values[kind]
    )


def _left_behind(a: Slot, b: Slot) -> bool:
    """Whether the new statement names what the old one gave: a name, maybe shortened, or a day's date."""
    days = {date.partition("-")[2] for date in b.values.get("date", ()) if date.count("-") == 1}
    numbers = {word.rstrip("dhnrst") for word in a.words if word[0].isdigit()}
    if a.changed and days & numbers and a.values.get("date", b.values.get("date")) != b.values.get("date"):
        return True
    return any(
        name in a.words or any(len(word) >= 5 and name.startswith(word) for word in a.words)
        for name in b.names
    )


def _is_parallel(a: Slot, b: Slot, shared: frozenset[str]) -> bool:
    """Whether both say the same of two things: their topics are alike, and each has a subject of its own."""
    if a.changed and len(a.topic) > 2 * len(b.topic):
        return False
    mine, theirs = _alone(a, b), _alone(b, a)
    if a.changed:
        # A name may be what changed.
        mine, theirs = mine - a.named, theirs - b.named
    smaller = min(len(a.topic), len(b.topic))
    return bool(mine and theirs) and smaller > 0 and len(shared) >= _PARALLEL * smaller


def _alone(one: Slot, other: Slot) -> frozenset[str]:
    """The nouns of one that the other does not have, nor another word for the same, nor a sum of money."""
    known = other.topic | _measured(other)
    return frozenset(
        word for word in one.own - other.own - _valued(one) if not _CONCEPTS_OF.get(word, _NONE) & known
    )


def _other_roots(one: Slot, other: Slot) -> bool:
    """Whether one has nouns that are not even related to one of the other: allergy is to allergic."""
    return any(
        not any(word[:_ROOT] == known[:_ROOT] and len(word) >= _ROOT for known in other.own)
        for word in one.own - other.own
    )


def _valued(slot: Slot) -> frozenset[str]:
    return frozenset().union(_people(slot), *slot.values.values())


@lru_cache(maxsize=4_096)
def slot_of(text: str) -> Slot:
    spoken = language_of(text) or "en"
    plain = text.replace("’", "'")
    values = values_in(plain)
    bare = _VALUES.sub(" ", plain)
    acts = frozenset(match[1] for match in _ACTS.finditer(bare)) if spoken == "en" else _NONE
    things = frozenset(match[1] for match in _THINGS.finditer(bare)) if spoken == "en" else _NONE
    topic, own = set[str](), set[str]()
    for word, stem in _stems(bare):
        for one in (stem, *parts(word)):
            topic |= _CONCEPTS_OF.get(one, _NONE)
        if stem in _GENERIC or word in acts or (_is_verb(word, spoken) and word not in things):
            continue
        topic.add(stem)
        own.add(stem)
        topic.update(part for part in parts(word) if len(part) > 4)
    names = frozenset(
        name.casefold()
        for name in _names(plain, spoken)
        if not values_in(name) and not re.fullmatch(_MONEY, name.casefold())
    )
    if "number money" in values and _OWN_MONEY.search(plain):
        topic.add("=money")
    cues = _CUES[spoken if spoken in _CUES else "en"].cues
    return Slot(
        frozenset(topic),
        frozenset(own),
        values,
        names,
        frozenset(word.casefold() for word in _WORD.findall(plain)),
        bool(cues["negation"].search(plain) or _DENIES.search(plain)),
        bool(_CHANGE.search(plain)),
        bool(cues["me"].search(plain) or cues["mine"].search(plain)),
        _subject(plain),
        frozenset(stem for name in names for stem in terms(name)),
        _head(bare, spoken) - frozenset(stem for name in names for stem in terms(name)),
        frozenset(
            stem for match in _RENEWED.finditer(plain) for stem in (*terms(match[1]), *parts(match[1]))
        ),
        "i" if cues["i"].search(plain) else "we" if cues["we"].search(plain) else "",
        _numbered(plain, spoken),
    )


def _numbered(text: str, spoken: str) -> Mapping[str, frozenset[str]]:
    """The numbers of what has one as its name, by the stem of the noun.

    A number at the end is what is said of something ("in room 5"), and one before a noun counts it.
    """
    numbers: dict[str, set[str]] = {}
    for noun, number, then in _NUMBERED.findall(text):
        counts = then[:1].isupper() if spoken == "de" else bool(terms(then)) and not _is_verb(then, spoken)
        if counts or then.casefold() in _UNITS or _is_verb(noun, spoken) or noun.casefold() in _MONTHS:
            continue
        for stem in terms(noun)[:1]:
            numbers.setdefault(stem, set()).add(number)
    return {stem: frozenset(several) for stem, several in numbers.items()}


def _stems(text: str) -> list[tuple[str, str]]:
    """The words of a text with their stems; what hyphens join is several."""
    words = [
        piece for word in _WORD.findall(text) for piece in ([word] if _is_whole(word) else word.split("-"))
    ]
    return [(word, stem) for word in words for stem in terms(word)[:1]]


def _is_whole(word: str) -> bool:
    """Whether a word with hyphens is a name or a word of its own: "web-01", "stand-up"."""
    return any(map(str.isdigit, word)) or any(stem in _CONCEPTS_OF for stem in terms(word)[:1])


def _head(text: str, spoken: str) -> frozenset[str]:
    """The stems of what a sentence begins with behind an article: "the guest list", "unser alter Server"."""
    begin = _HEAD[spoken if spoken in _HEAD else "en"].match(text)
    if begin is None:
        return _NONE
    stems = {one for word, stem in _stems(begin[1]) for one in (stem, *parts(word))}
    return frozenset(stems - _GENERIC)


def _subject(text: str) -> str:
    begin = _SUBJECT.match(text)
    return begin[1].casefold() if begin and terms(begin[1]) else ""


def _is_verb(word: str, spoken: str) -> bool:
    """As far as its shape tells: in German what is not capital, in English by ending or a short list."""
    if any(sign.isdigit() for sign in word):
        return False
    if spoken == "de":
        return word[:1].islower() or bool(_PARTICIPLE.fullmatch(word))
    return word[:1].islower() and bool(_ENGLISH_VERB.fullmatch(word))


def _names(text: str, spoken: str) -> list[str]:
    pattern = _NAME[spoken if spoken in _NAME else "en"]
    return [found for match in pattern.finditer(text) for found in match.groups() if found] + [
        match[0] for match in _IDENTIFIER.finditer(text)
    ]


# --- Values -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4_096)
def values_in(text: str) -> Mapping[str, frozenset[str]]:
    """The values of a text by their type, each spelled in one way."""
    found: dict[str, set[str]] = {}
    low = text.casefold()
    for kind, pattern, spell in _KINDS:
        for match in pattern.finditer(low):
            value = spell(match)
            if value:
                found.setdefault(value.partition("|")[0] if "|" in value else kind, set()).add(
                    value.rpartition("|")[2]
                )
        low = pattern.sub(lambda match: " " * len(match[0]), low)
    people = {name.casefold() for name in _called(text)}
    if people:
        found.setdefault("name", set()).update(people)
    return {kind: frozenset(values) for kind, values in found.items()}


def _called(text: str) -> list[str]:
    """Names that are given as a value: behind a title, "is", "called", "to"."""
    return [name for match in _CALLED.finditer(text) for name in match.groups() if name]


_DAYS = {
    name: str(number)
    for number, names in enumerate((*rows_of("WEEKDAYS"), words_of("WEEKEND")))
    for name in names.lower().split()
}
_MONTHS = {name: str(number) for number, names in enumerate(MONTH_NAMES, 1) for name in names.lower().split()}
_NUMBERS = {name: number for number, names in enumerate(rows_of("NUMBER_WORDS")) for name in names.split()}
_DAY = "|".join(_DAYS)
_MONTH = "|".join(_MONTHS)
_WORDED = "|".join(_NUMBERS)
# "One" is an article as well, and behind a noun it is a name: "rule two".
_COUNTED = "|".join(name for name, number in _NUMBERS.items() if number > 1)
_SEVERAL = rf"(?:\b(?:{_COUNTED})(?= \w)|(?:(?<=\bis )|(?<=\bist )|(?<=jetzt )|(?<=turned ))(?:{_COUNTED})\b)"
_UNITS = {name: unit for unit, names in merged_rows("UNITS").items() for name in names.split()}
_TONGUES = merged_table("LANGUAGE_NAMES")
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_MONEY = r"(?:€|euros?|eur|\$|dollar\w*|franken|pounds?|£)"


def _number(text: str) -> str:
    if text in _NUMBERS:
        return str(_NUMBERS[text])
    text = text.rstrip(".,")
    return re.sub(r"[.,](?=\d{3}(?:\D|$))", "", text).replace(",", ".")


def _date(match: re.Match[str]) -> str:
    day = match["before"] or match["after"] or ""
    return f"{_MONTHS[match['month']]}-{day}" if day else _MONTHS[match["month"]]


_KINDS = (
    ("date", late(r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}\.\d{1,2}\.(?:\d{4}|\d\d)?"), lambda match: match[0]),
    (
        "date",
        late(
            rf"\b(?:(?P<before>\d{{1,2}})(?:\.|st|nd|rd"
            rf"|th)? ?(?:of )?)?(?P<month>{_MONTH})\b(?: (?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b(?! ?(?:am"
            rf"|pm|:)))?"
        ),
        _date,
    ),
    (
        "date",
        late(
            any_phrase("END_OF_MONTH")
        ),
        lambda _: "month end",
    ),
    (
        "time",
        late(
            rf"\b(?P<half>halb |half past |half )?(?P<hour>\d{{1,2}}"
            rf"|{_WORDED})(?::(?P<minute>\d\d))?(?: ?(?P<late>am|pm|uhr|o'clock)\b|(?<=:\d\d)\b"
            rf"|(?<=halb \d)\b)"
            rf"|\b(?:um|at|ab|gegen|bis|until|to) (?P<half2>halb |half past |half )?(?P<hour2>[01]?\d|2[0-4]"
            rf"|{_WORDED})\b(?![.,:]?\d| ?(?:{_UNIT}|{_MONEY})(?!\w))"
        ),
        lambda match: _clock_of(match),
    ),
    (
        "frequency",
        late(
            rf"\b(?:{any_phrase('FREQUENCIES')}|{any_phrase('EVERY_SECOND')} (?:{_DAY}))\b"
        ),
        lambda match: match[0],
    ),
    ("weekday", late(rf"\b(?P<day>{_DAY})(?:s|e|en|abend|abends)?\b"), lambda match: _DAYS[match["day"]]),
    (
        "length",
        late(
            rf"\b(?P<short>{any_phrase('SHORT_ANSWERS')})\b|\b{any_phrase('LONG_ANSWERS')}\b"
        ),
        lambda match: "short" if match["short"] else "long",
    ),
    (
        "language",
        late(rf"\b(?P<tongue>{'|'.join(_TONGUES)})\w*\b"),
        lambda match: _TONGUES.get(match["tongue"], match["tongue"]),
    ),
    (
        "number",
        late(
            rf"(?<![\w.-])(?P<sign>[£$€] ?)?(?P<number>\d[\d.,]*|{_SEVERAL})(?: ?(?P<unit>{_UNIT})(?!\w)"
            rf"| ?(?P<money>{_MONEY}))?(?!\w)"
        ),
        lambda match: _amount(match),
    ),
    ("label", late(r"\b\d[a-z]\b|(?<=[\w ])\bv?\d+(?:\.\d+)+\b"), lambda match: match[0]),
)  # fmt: skip


def _clock_of(match: re.Match[str]) -> str:
    half = match["half"] or match["half2"] or ""
    text = match["hour"] or match["hour2"]
    hour, minute = int(_number(text)), int(match["minute"] or 0)
    if half:
        # "halb acht" is before eight, "half past ten" and "half seven" are after.
        hour, minute = (hour - 1, 30) if half.startswith("halb") else (hour, 30)
    if (match["late"] or "").startswith("p") and hour < 12:
        hour += 12
    return f"{hour}:{minute:02d}"


def _amount(match: re.Match[str]) -> str:
    unit = "money" if match["money"] or match["sign"] else _UNITS.get(match["unit"] or "", "")
    return f"{'number ' + unit if unit else 'number'}|{_number(match['number'])}"


_VALUES = late(
    rf"(?i)\b{any_phrase('VALUE_WORDS')}\b|\b(?:{_DAY})(?:s|e|en)?\b|\b(?:{_MONTH})\b"
    rf"|{_SEVERAL}(?: (?:{_UNIT})\b)?|(?<![\w-])\d[\d.,:]*(?:st|nd|rd|th| ?(?:{_UNIT}))?(?!\w)"
    rf"|\b{any_phrase('CLOCK_WORDS')}\b"
)
_WORD = late(r"[^\W_][\w'-]*")
_LEADING = late(r"\d+(?:\.\d+)?")
_NUMBERED = late(r"(?<![\w-])([^\W\d_][\w-]{2,30}) (\d{1,4})(?= ([^\W\d_][\w'-]*))")
_IDENTIFIER = late(r"\b[a-z]+[-_]\w*[-_\d]\w*\b|\b[a-z]+[A-Z]\w+\b")
_NAME = {code: late(pattern) for code, pattern in by_language("STATED_NAME").items()}
_SUBJECT = late(rf"([{UPPER}][\w-]+|[a-z]+[-_]?\d\w*)(?:'s \w+)?(?= {any_phrase('SUBJECT_VERBS')}\b)")
_NOW = any_phrase("NOW_BEFORE")
# A name of any kind, a path too.
_THING = r"[\w-]+(?:[./][\w-]+)*"
_CALLED = late(
    rf"(?i:\b{any_phrase('CALLED_BEFORE')} (?:{_NOW} )?(?:{any_phrase('TITLES')} ){{0,3}})([{UPPER}][\w-]+)"
    rf"|\b([{UPPER}][\w-]{{1,30}}(?: [{UPPER}][\w-]{{1,30}})?)(?= (?i:{any_phrase('STEPS_IN')})\b)"
    # Who is somebody's; what a thing was given as its new name; a word of letters and digits behind "is".
    rf"|^([{UPPER}]\w+)(?= {any_phrase('OF_MINE')})"
    rf"|(?i:\b{any_phrase('CALLED_ANYTHING')}(?: {_NOW})?) ({_THING})(?=[.!]?$)"
    rf"|(?i:\b{any_phrase('CALLED_ANYTHING')}\b.{{0,80}},? {any_phrase('NOT_BUT')}) ({_THING})(?=[.!]?$)"
    rf"|(?i:\b{any_phrase('RENAMED_TO')}) ({_THING})(?= (?i:{any_phrase('RENAMED')}))"
    rf"|(?i:\b{any_phrase('RENAMED')}\b.{{0,80}}?\b{any_phrase('RENAMED_TO')}(?: {_NOW})?) ({_THING})"
    rf"|(?i:\b{any_phrase('VALUE_VERBS')}|:) ((?=\w*[a-zA-Z])\w*\d[\w-]*)(?=[\s.!]*$)"
)
_BACK = word_set("BACK_AGAIN")
# What two ways to forbid one thing may differ in.
_PLAIN = word_set(
    "FILLERS",
    "HARMLESS",
    "USE_VERBS",
    "NEGATIONS",
    "AROUND_NEGATION",
    "WITH_NEGATION",
    "ROLE_WORDS",
    "WITHOUT",
)
_DIRECTIONS = word_set("BACK_AGAIN", "DIRECTIONS")
# What means that something is not to be without saying so.
_DENIES = late(rf"(?i)\b{any_phrase('DENIES')}\b")
# In English what follows "I" or "we" is a verb.
_ACTS = late(
    r"(?i)\b(?:i|we|they|you) (?:(?:now|always|never|also|only|usually|still|can|can't|don't|do|will|must"
    r"|should) )?([a-z]+)\b"
)
# Behind an article it is a noun: "the wedding".
_THINGS = late(r"(?i)\b(?:the|an?|our|my|your|this) (\w{3,}ing)\b(?! (?:the|an?|our|my)\b)")
_RENEWED = late(rf"(?i)\b{any_phrase('NEW_ONE')} ([\w-]+)")
_HEAD = {code: late(pattern) for code, pattern in by_language("SENTENCE_HEAD").items()}
_PARTICIPLE = late(r"(?i:ge\w+t|\w+iert|antworte|schreibe?|nenne?|fass|sprich|nutze?|verwende)")
_ENGLISH_VERB = late(
    r"(?:\w+ed|\w{3,}ing|is|are|was|has|have|had|get|gets|got|go|goes|make|makes|made|take|takes|use|uses"
    r"|run|runs|need|needs|put|set"
    r"|start|starts|stop|leave|leaves|expire|expires|listen|listens|keep|keeps|stay|stays|sit|sits|say"
    r"|says|come|comes|agree|prefer|like"
    r"|want|wants|know|allow|allows|shut|shuts|close|closes|never|always|only|all|past|good|around|other"
    r"|again|also|spoken|drop|stand)"
)
_INTRODUCES = late(rf"{any_phrase('WHO_I_AM')}\b")
# Somebody has a sum, without a word for what it is.
_OWN_MONEY = late(rf"(?i)\b{any_phrase('OWN_MONEY')}\b")
# A change is told by when it holds, by its verb, or by what it ends.
_CHANGE = late(
    rf"(?i)\b{any_phrase('CHANGES')}\b".replace("<day>", f"(?:{_DAY})").replace("<month>", f"(?:{_MONTH})")
)
_CUES: Mapping[str, LanguageData] = by_language("CUES")
_GENERIC = frozenset(stem for word in words_of("GENERIC").split() for stem in terms(word))
# Exclamations say nothing of what it is about.
_EMPTY = frozenset(stem for word in words_of("EXCLAMATIONS").split() for stem in terms(word))
_NONE: frozenset[str] = frozenset()


def _concepts() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for table in by_language("CONCEPTS").values():
        for concept, words in table.items():
            for word in words.split():
                for stem in terms(word)[:1]:
                    found.setdefault(stem, set()).add(f"={concept}")
    return {stem: frozenset(names) for stem, names in found.items()}


_CONCEPTS_OF = _concepts()
