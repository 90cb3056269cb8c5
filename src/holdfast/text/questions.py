"""Reads a question: what it asks for, whom it is about, its parts, and whether it leans on what came
before.

Also the traits of any text that matter for whether it can answer a question. All patterns are linear.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import IntFlag
from functools import lru_cache
from time import time
from typing import Literal

from holdfast.text import analyser
from holdfast.text.dates import DAYS, Period, day_at, headed_by, periods_in
from holdfast.text.lang import UPPER, any_phrase, any_word, by_language, word_set

# A longer question is a text, and nobody means every word of it.
LONGEST = 2_000
# A compound question is searched in at most this many parts beside the whole.
_MOST_PARTS = 4
# A message with at most this many content words may lean on the exchange before it.
_FEW_WORDS = 3

Speaker = Literal["user", "assistant", ""]


class Trait(IntFlag):
    """What can be seen of a text without knowing the question."""

    ENDS_WITH_QUESTION = 1
    ONLY_ASKS = 2
    HAS_NUMBER = 4
    HAS_TIME = 8
    # Set by whoever indexes a memory that another one took the place of.
    SUPERSEDED = 16


_NUMBER = re.compile(rf"\d|\b{any_word('ANSWER_NUMBERS')}\b", re.IGNORECASE)
_TIME = re.compile(
    rf"\d|\b(?:{any_word('ANSWER_TIMES', 'MONTHS')}|(?:{'|'.join(DAYS)})s?)\b",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(any_phrase("ASKS_NUMBER"), re.IGNORECASE)
_ASKS_TIME = re.compile(any_phrase("ASKS_TIME"), re.IGNORECASE)
_QUESTION_WORD = any_word("QUESTION_WORDS")
# Only a message that asks, or goes back to a subject, is surely looking for something. Further on in a
# sentence, "they remind me of that day" tells and does not ask.
_ASKS = re.compile(
    rf"\?|^[^\w\n]{{0,3}}(?:{any_word('QUESTION_OPENERS')},? )?{_QUESTION_WORD}\b"
    rf"|(?:^|[.!:;])[^\w\n]{{0,3}}(?:[^\W\d_]+[^\w\n]{{1,3}}){{0,5}}{any_word('GOES_BACK')}\b",
    re.IGNORECASE | re.MULTILINE,
)
# "My", "we decided": about the person who asks. "How do I" and "wie kann ich" ask how a thing is done at all.
_OWN = re.compile(rf"\b{any_word('OWN_PRONOUNS')}\b", re.IGNORECASE)
_HOW_TO = re.compile(any_phrase("HOW_TO"), re.IGNORECASE)
# "Tell me", "kannst du mir": whom something is told, and not whom it is about.
_TELLS_ME = re.compile(rf"\b{any_phrase('TELLS_ME')}\b", re.IGNORECASE)
# "How do we", "unser": how it is done here. "Who should I ask about my contract": not how anybody does it.
_OURS = re.compile(any_phrase("OURS"), re.IGNORECASE)
_WHICH_OF_MINE = re.compile(any_phrase("WHICH_OF_MINE"), re.IGNORECASE)
# "The deadline", "im Keller": things that both sides know. The world's only ones are not theirs, nor its
# largest ones, nor what anything at large has: "the largest desert", "der Siedepunkt von Alkohol".
_DEFINITE = re.compile(
    rf"\b{any_word('DEFINITE_WORDS')}\b(?! {any_word('ONLY_ONES')}\b)"
    rf"(?! (?!{any_word('NEWEST')}\b){any_phrase('SUPERLATIVES')})"
    rf"(?!(?: [\w-]+){{1,3}} {any_word('OF_ANYTHING')} "
    rf"(?!{any_word('DEFINITE_WORDS', 'OWN_PRONOUNS', 'OTHERS_OWN')}\b))",
    re.IGNORECASE,
)
# More of them say nothing more.
_MOST_DEFINITE = 2
_SAID_BY_YOU = re.compile(any_phrase("SAID_BY_YOU"), re.IGNORECASE)
# "Can he", "darf ich": a question that begins with its verb.
_ASKS_BY_VERB = rf"{any_word('QUESTION_VERBS')}\s{any_word('QUESTION_SUBJECTS')}"
# What a compound question is cut at: the end of a question, or a joint before where another one begins.
_JOINT = re.compile(
    rf"[?;]\s{{1,3}}|(?:,\s{{0,2}}{any_word('AND', 'AS_WELL')}?|\s{any_word('AND', 'AS_WELL')})\s{{1,2}}"
    rf"(?=(?:(?:[\w-]{{1,9}}\s)?{_QUESTION_WORD}|{_ASKS_BY_VERB})\b)",
    re.IGNORECASE,
)
# "When and where does it begin?": two questions about the same.
_TWICE = re.compile(
    rf"^(\W{{0,3}}{_QUESTION_WORD})\s{any_word('AND_OR')}\s({_QUESTION_WORD})\s(.+)",
    re.IGNORECASE | re.DOTALL,
)
# A list of what is wanted: "start date, budget and what it costs".
_LIST = re.compile(rf",\s{{1,2}}|\s{any_word('AND')}\s", re.IGNORECASE)
_ELLIPTIC = re.compile(rf"^[^\w]{{0,3}}{any_word('ELLIPTIC_OPENERS')}\b", re.IGNORECASE)
_ABOUT = re.compile(rf"^[^\w]{{0,3}}(?:{any_word('PLAIN_AND')} )?{any_phrase('WHAT_ABOUT')}\b", re.IGNORECASE)
_VERB = re.compile(rf"\b{any_word('QUESTION_FINITE')}\b", re.IGNORECASE)
_LEANS = re.compile(rf"\b{any_phrase('LEANS_BACK')}\b", re.IGNORECASE)
_NAMED_TWICE = re.compile(any_phrase("NAMED_TWICE"), re.IGNORECASE)
# "Which kind of" and "how long" ask as one word; a kind is a thing otherwise, and long a quality.
_ASKS_AS_ONE = re.compile(any_phrase("ASKS_AS_ONE"), re.IGNORECASE)
# Words that only ask, and would be looked for as if they were the subject.
_ASKING = {code: frozenset(analyser.terms(asking)) for code, asking in by_language("ASKING_WORDS").items()}
_NAME_IN_PROMPT = (
    ("assistant", re.compile(rf"\b{any_phrase('CALLS_ASSISTANT')}\s+([{UPPER}][\w-]{{1,30}})\b")),
    ("user", re.compile(rf"\b{any_phrase('CALLS_USER')}\s+([{UPPER}][\w-]{{1,30}})\b")),
)
# What stands there and is no name: "You are Assistant", "Du bist Experte".
_NO_NAMES = word_set("NO_NAMES")


@dataclass(frozen=True, slots=True)
class Names:
    """What the two sides of a conversation are called, where that is known."""

    user: frozenset[str] = frozenset()
    assistant: frozenset[str] = frozenset()

    @property
    def any(self) -> frozenset[str]:
        return self.user | self.assistant


@dataclass(frozen=True, slots=True)
class Question:
    """A message as search reads it.

    `terms` and `parts` are looked up; `expects` are the traits an answer should have; `speaker` is who is
    asked about, empty if nobody or both; `personal` says that it is about the people talking and not about
    the world.
    """

    text: str
    terms: tuple[str, ...]
    parts: tuple[str, ...]
    names: frozenset[str] = frozenset()
    expects: Trait = field(default=Trait(0))
    speaker: Speaker = ""
    personal: bool = False
    # How much of it asks: 1 for a question, less where most of it tells something.
    asks: float = 0.0
    # Whether it speaks of things that are known to both sides: 0 not at all, 1 of several.
    definite: float = 0.0
    # The times it speaks of.
    periods: tuple[Period, ...] = ()

    @property
    def has_meaning(self) -> bool:
        return any(sign.isalnum() for sign in self.text)


# Sections of a summary that say what was asked and wanted, not what is so.
_WISHES = word_set("WISH_HEADINGS")


def is_wish_heading(heading: str) -> bool:
    return heading.strip(" #*:").casefold() in _WISHES


def without_wishes(summary: str) -> str:
    """A summary without the sections of what was asked: they would be told as if they were known."""
    kept: list[str] = []
    wishes = False
    for line in summary.split("\n"):
        if line.startswith("#"):
            wishes = is_wish_heading(line)
        if not wishes:
            kept.append(line)
    return "\n".join(kept).strip()


# The line above the names and values that a summary lists word for word.
_LEDGER_HEADINGS = frozenset(named for _, named in by_language("SUMMARY_HEADINGS").values())


def without_ledger(summary: str) -> str:
    """A summary without the list of names and values at its end.

    It keeps them in the window of its own conversation; elsewhere the messages themselves are found, and say
    what the values are of.
    """
    lines = summary.split("\n")
    end = next((at for at, line in enumerate(lines) if line.strip() in _LEDGER_HEADINGS), len(lines))
    return "\n".join(lines[:end])


def traits_of(text: str) -> Trait:
    """The traits of a text that is indexed."""
    traits = Trait(0)
    end = text.rstrip().rstrip("\"'“”)*_")
    if end.endswith("?"):
        traits |= Trait.ENDS_WITH_QUESTION
        if all(piece.rstrip("\"'“”)*_").endswith("?") for piece in analyser.sentences(text[:LONGEST])):
            traits |= Trait.ONLY_ASKS
    if _NUMBER.search(text):
        traits |= Trait.HAS_NUMBER
    if _TIME.search(text):
        traits |= Trait.HAS_TIME
    return traits


def asks(text: str) -> bool:
    """Whether a message asks for something or goes back to it, and does not only tell news."""
    return _ASKS.search(text[:LONGEST]) is not None


@lru_cache(64)
def names_in_prompt(prompt: str) -> Names:
    """What the instructions of a conversation call the model and the person."""
    found: dict[str, set[str]] = {"user": set(), "assistant": set()}
    for side, pattern in _NAME_IN_PROMPT:
        found[side].update(
            name for name in pattern.findall(prompt[:8_000]) if name.casefold() not in _NO_NAMES
        )
    return Names(frozenset(found["user"]), frozenset(found["assistant"]))


def read_question(
    text: str,
    names: Names = Names(),  # noqa: B008 - frozen
    today: date | None = None,
) -> Question:
    """What a message asks for, to be searched as a whole; `today` is the day it is asked, else the present
    one.
    """
    text = text[:LONGEST].strip()
    mentioned = {side: _mentioned(text, getattr(names, side)) for side in ("user", "assistant")}
    # Who says "yesterday" means a day, and not the word: it was said on many others.
    periods, timeless = periods_in(text, headed_by(text) or today or day_at(time()))
    bare = _without(timeless, names.any)
    telling = analyser.telling(text)
    idle = _ASKING[analyser.language_of(text) or "en"]
    terms = [
        term
        for term in dict.fromkeys(analyser.terms(_ASKS_AS_ONE.sub(" ", bare)))
        if term in telling or term not in idle
    ]
    how_to = _HOW_TO.search(text) is not None
    ours = _OURS.search(text) is not None or _WHICH_OF_MINE.search(text) is not None
    own = ours or (_OWN.search(_TELLS_ME.sub(" ", text)) is not None and not how_to)
    yours = _SAID_BY_YOU.search(text) is not None
    expects = Trait(0)
    if _ASKS_NUMBER.search(text):
        expects |= Trait.HAS_NUMBER
    if _ASKS_TIME.search(text):
        expects |= Trait.HAS_TIME
    return Question(
        text,
        # Names first, since of a long question only the first terms are looked up.
        tuple(sorted(terms, key=lambda term: term not in telling)),
        tuple(analyser.parts(bare)),
        telling,
        expects,
        _speaker(mentioned["user"] or (own and not yours), mentioned["assistant"] or yours),
        own or yours or any(mentioned.values()),
        _asking_share(text),
        min(_MOST_DEFINITE, len(_DEFINITE.findall(text))) / _MOST_DEFINITE,
        periods,
    )


def split_question(
    question: Question,
    names: Names = Names(),  # noqa: B008 - frozen
    today: date | None = None,
) -> list[Question]:
    """The parts of a compound question, each to be searched beside the whole; none for a simple one."""
    parts: list[Question] = []
    seen: set[tuple[str, Trait]] = set()
    pieces = _pieces_of(question.text)
    # Where two questions are asked about the same, what is expected tells them apart.
    twice = _TWICE.match(question.text) is not None
    for piece in pieces if len(pieces) > 1 else ():
        part = read_question(piece, names, today)
        news = {(term, part.expects if twice else Trait(0)) for term in part.terms}
        if news - seen:
            seen.update(news)
            parts.append(
                replace(
                    part,
                    asks=question.asks,
                    personal=question.personal,
                    definite=question.definite,
                    periods=part.periods or question.periods,
                )
            )
    return parts[:_MOST_PARTS] if len(parts) > 1 else []


def _pieces_of(text: str) -> list[str]:
    if twice := _TWICE.match(text):
        first, second, rest = twice.groups()
        return [f"{first} {rest}", f"{second} {rest}"]
    pieces = [piece.strip(" ,;?") for piece in _JOINT.split(text)]
    if len(pieces) < 2 and ("," in text or ":" in text):
        pieces = [piece.strip(" ,;?") for piece in _LIST.split(text.partition(":")[2] or text)]
        pieces = pieces if len(pieces) > 2 else []
    return pieces


def leans_back(question: Question) -> bool:
    """Whether it is understood only with the exchange before it: "and the second one?", "und wann?"."""
    if len(question.terms) > _FEW_WORDS or question.names:
        return False
    # Without a verb of its own it is half a question: "und der Preis?".
    elliptic = _ELLIPTIC.search(question.text) is not None and _VERB.search(question.text) is None
    if elliptic or _ABOUT.search(question.text) is not None:
        return True
    return _LEANS.search(_NAMED_TWICE.sub(" ", question.text)) is not None


def _asking_share(text: str) -> float:
    sentences = analyser.sentences(text)
    return sum(map(asks, sentences)) / len(sentences) if sentences else 0.0


def _mentioned(text: str, names: Collection[str]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}(?:['’]?s)?\b", text) for name in names)


def _without(text: str, names: Iterable[str]) -> str:
    """Nobody says their own name in what they tell: as a word to look for it only misleads."""
    for name in names:
        text = re.sub(rf"\b{re.escape(name)}(?:['’]?s)?\b", " ", text)
    return text


def _speaker(user: bool, assistant: bool) -> Speaker:
    if user == assistant:
        return ""
    return "user" if user else "assistant"


def join_texts(texts: Sequence[str]) -> str:
    """Several texts as one question, for what leans on another."""
    return " ".join(" ".join(text.split()) for text in texts)[:LONGEST]
