"""What a model is asked for a summary of a finding, and whether what it answered may be used.

At most 100 words over all sources, each of them named, and no number, day or name that is not theirs; and at
least as many of these as the summary in the sources' own words has, which `extracted` makes: without a model,
or with a poor one, that one stays. Asking is somebody else's matter.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast import words
from holdfast.patterns import late
from holdfast.research.extractive import MOST_WORDS, count, extracted, named
from holdfast.research.finding import Finding, SummaryBy, Volatility
from holdfast.research.note import plain
from holdfast.research.quoting import is_order
from holdfast.research.volatility import volatility_named
from holdfast.text.dates import DAYS, MONTHS
from holdfast.text.excerpts import excerpts

# Fills in a prompt by its name and language, as `compaction.summary_model.Prompts.filled` does.
Filled = Callable[..., str]

PROMPT = "finding"

# How many characters of the sources a model is shown; a small window holds them.
_ROOM = 12_000
_FENCE = "====="
# A summary of fewer words says too little, unless its sources hardly say more.
_SHORTEST = 6

_VOLATILITY = late(
    r"^[^\w\n]*(?:volatility|volatilität|haltbarkeit|gültigkeit)\W*[:=]\s*(?P<word>[^\n]{0,60})$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = late(
    r"\A(?:\W*(?:summary|zusammenfassung|absatz|paragraph|here is[^\n:]{0,80}|hier ist[^\n:]{0,80})\W*:)\s*",
    re.IGNORECASE,
)
_NAMED = late(r"(?:^|\s)\(?(?:sources?|quellen?)\s*:[^\n]*\Z", re.IGNORECASE)
_MARKUP = late(
    r"</?[a-z_|]{2,20}>|<\||\[/?TOOL_CALLS?\]|```|\A\s*[{\[]|\"(?:name|function|arguments)\"\s*:",
    re.IGNORECASE,
)
_NUMBER = late(r"\d+(?:[.,:]\d+)*")
_GROUPED = late(r"\d{1,3}(?:[.,]\d{3})+")
_WHEN = late(
    r"(?<!\d)(?:3[01]|[12]\d|0?[1-9])\.(?:1[0-2]|0?[1-9])(?!\d)(?:\.(?:\d{4}|\d{2})(?!\d))?|(?<!\d)[0-2]?\d:[0-5]\d"
    r"|\b\d{4}-\d\d-\d\d\b"
)
_WORD = late(r"[^\W\d_]+")
_INSIDE = late(r"(?<=[^.!?:…\s\"“„(] )[A-ZÄÖÜ][\w'’-]+")


@dataclass(frozen=True, slots=True)
class Checked:
    """A summary that may be used, and who wrote it; `refused` says why the model's was not.

    `volatility` is the model's word for it, None where it had none.
    """

    summary: str
    by: SummaryBy
    volatility: Volatility | None = None
    refused: str = ""
    # How many names and values of the sources the model's own words had.
    carried: int = 0


def prompt_for(finding: Finding, filled: Filled, *, room: int = _ROOM, trouble: str = "") -> str:
    """What to ask a model, with the passages of every source that bear on the question, fenced as data."""
    sources = finding.usable
    shown = excerpts(finding.question, [source.text for source in sources], room, len)
    fenced = (
        f"{_FENCE}\n{_unfenced(source.name)}: {_unfenced(source.title)}\n{_unfenced(text)}\n{_FENCE}"
        for source, text in zip(sources, shown, strict=True)
    )
    return filled(
        PROMPT,
        finding.language,
        question=_unfenced(finding.question),
        sources="\n".join(fenced),
        count=len(sources),
        # Ours is the sentence that names the sources.
        words=MOST_WORDS - count(named(finding)),
        trouble=trouble,
    )


def checked(finding: Finding, reply: str) -> Checked:
    """A model's reply, thinking left out, as a summary; the extractive one where it may not be used."""
    told = _VOLATILITY.search(reply)
    volatility = volatility_named(told["word"]) if told else None
    body = _LABEL.sub("", _VOLATILITY.sub("", reply).strip())
    refused = _trouble(finding, body)
    if refused:
        # Who invents things may also invent how long they hold.
        return Checked(extracted(finding), "text", None, refused)
    body = plain(_NAMED.sub("", body.strip()))
    tail, ours = named(finding), extracted(finding)
    kept = _within(body, MOST_WORDS - count(tail))
    if not kept:
        return Checked(ours, "text", volatility, "empty" if not body else "too long")
    mine, wanted = (
        len(carried(text, _texts(finding), finding.language, finding.question))
        for text in (kept, ours.removesuffix(tail))
    )
    if mine < wanted:
        # However well it reads, it says less.
        return Checked(ours, "text", volatility, f"{mine} of {wanted} names and values", mine)
    return Checked(f"{kept} {tail}".strip(), "model", volatility, carried=mine)


def _trouble(finding: Finding, body: str) -> str:
    """What is wrong with a reply, in one word or two, and the empty text if nothing is."""
    if not _WORD.search(body):
        return "empty"
    if _MARKUP.search(body):
        return "markup"
    if any(map(is_order, (body, *words.sentences(body)))):
        return "an order"
    wanted, spoken = finding.language, words.language_of(body)
    if spoken and spoken != wanted:
        return "language"
    said = _NAMED.sub("", body)
    invented = next(_invented(said, f"{finding.question}\n{_texts(finding)}", wanted), "")
    if invented:
        return f"not in the sources: {invented}"
    return "too short" if count(said) < min(_SHORTEST, count(extracted(finding)) / 4) else ""


def _texts(finding: Finding) -> str:
    """All that the sources of a finding say, and what they are called."""
    return "\n".join(
        f"{source.title}\n{source.url}\n{source.name}\n{source.text}" for source in finding.usable
    )


def carried(said: str, known: str, spoken: str, asked: str = "") -> set[str]:
    """The names, numbers, days and months of what is known that a text carries, each once.

    Who only repeats those of what was asked says nothing.
    """
    days = (_calendar(said) & _calendar(known)) - _calendar(asked)
    numbers = (_numbers(said) & _numbers(known)) - _numbers(asked)
    names = _names(said, spoken) & frozenset(words.terms(known)) - frozenset(words.terms(asked))
    return {
        *(f"{kind} {which}" for kind, which in days),
        *numbers,
        *(name for name in names if not _has_digit(name)),
    }


def _invented(said: str, known: str, spoken: str) -> Iterator[str]:
    """What a summary names and its sources do not: numbers, days, months and names."""
    numbers, calendar = _numbers(known), _calendar(known)
    parts = {part for number in numbers for part in re.split(r"[.,:-]", number)} | {
        part.lstrip("0") or "0" for number in _NUMBER.findall(known) for part in re.split(r"[.,:]", number)
    }
    parts |= {str(month) for kind, month in calendar if kind == "month"}
    for number in _NUMBER.findall(_WHEN.sub(lambda when: _left(when[0], parts), said)):
        if _number(number) not in numbers:
            yield number
    yield from (f"{kind} {which}" for kind, which in sorted(_calendar(said) - calendar))
    there = frozenset(words.terms(known))
    yield from sorted(name for name in _names(said, spoken) - there if not _has_digit(name))


def _names(said: str, spoken: str) -> frozenset[str]:
    names = words.telling(said)
    if spoken == "en":
        # Every German noun has a capital letter.
        names |= {words.terms(name)[0] for name in _INSIDE.findall(said) if words.terms(name)}
    return names - frozenset(words.terms(" ".join((*DAYS, *MONTHS))))


def _has_digit(name: str) -> bool:
    return any(sign.isdigit() for sign in name)


def _left(when: str, parts: set[str]) -> str:
    """A date or a time may be spelled otherwise than in the sources, if they have all that it is made of."""
    there = all((part.lstrip("0") or "0") in parts or part in parts for part in re.split(r"[.:-]", when))
    return " " if there else when


def _numbers(text: str) -> set[str]:
    return {_number(number) for number in _NUMBER.findall(text)}


def _number(told: str) -> str:
    """One spelling for one number: 67.000, 67,000 and 67000 are the same, and so are 1,5 and 1.5."""
    if _GROUPED.fullmatch(told):
        return re.sub("[.,]", "", told)
    return told.replace(",", ".").lstrip("0") or "0"


def _calendar(text: str) -> set[tuple[str, int]]:
    small = [word.lower() for word in _WORD.findall(text)]
    days = {("day", DAYS[word]) for word in small if word in DAYS}
    # "may", "mar" and "sep" are also other things.
    return days | {("month", MONTHS[word]) for word in small if word in MONTHS and len(word) > 3}


def _within(body: str, most: int) -> str:
    """As many whole sentences from the beginning as fit."""
    kept: list[str] = []
    for sentence in words.sentences(body):
        if count(" ".join((*kept, sentence))) > most:
            break
        kept.append(sentence)
    return " ".join(kept)


def _unfenced(text: str) -> str:
    return text.replace(_FENCE, "= = =")
