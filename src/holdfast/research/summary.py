"""Summaries of a finding: the prompt for a model, and the check of its reply.

A summary has at most 100 words, names every source, and holds no number, day or name that the sources lack.
It must carry at least as many of these facts as the extractive summary; otherwise, and without a model, the
extractive summary is used.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast import words
from holdfast.patterns import late
from holdfast.research.extractive import MOST_WORDS, count_words, extract_summary, name_sources
from holdfast.research.finding import Finding, SummaryBy, Volatility
from holdfast.research.note import to_plain_line
from holdfast.research.quoting import is_instruction
from holdfast.research.volatility import parse_volatility
from holdfast.text.dates import DAYS, MONTHS
from holdfast.text.excerpts import excerpts

# Fills in a prompt by its name and language, as `compaction.prompts.Prompts.filled` does.
FillPrompt = Callable[..., str]

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
_SOURCES_LINE = late(r"(?:^|\s)\(?(?:sources?|quellen?)\s*:[^\n]*\Z", re.IGNORECASE)
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
class ValidatedSummary:
    """A summary that may be used, and who wrote it; `refused` says why the model's was not.

    `volatility` is the model's word for it, None where it had none.
    """

    summary: str
    by: SummaryBy
    volatility: Volatility | None = None
    refused: str = ""
    # How many names and values of the sources the model's own words had.
    carried: int = 0


def build_prompt(finding: Finding, filled: FillPrompt, *, room: int = _ROOM, trouble: str = "") -> str:
    """What to ask a model, with the passages of every source that bear on the question, fenced as data."""
    sources = finding.usable
    shown = excerpts(finding.question, [source.text for source in sources], room, len)
    passages = (
        _remove_fence(f"{source.name}: {source.title}\n{text}")
        for source, text in zip(sources, shown, strict=True)
    )
    fenced = (f"{_FENCE}\n{passage}\n{_FENCE}" for passage in passages)
    return filled(
        PROMPT,
        finding.language,
        question=_remove_fence(finding.question),
        sources="\n".join(fenced),
        count=len(sources),
        # Ours is the sentence that names the sources.
        words=MOST_WORDS - count_words(name_sources(finding)),
        trouble=trouble,
    )


def validate_summary(finding: Finding, reply: str) -> ValidatedSummary:
    """A model's reply, thinking left out, as a summary; the extractive one where it may not be used."""
    told = _VOLATILITY.search(reply)
    volatility = parse_volatility(told["word"]) if told else None
    body = _LABEL.sub("", _VOLATILITY.sub("", reply).strip())
    refused = _find_problem(finding, body)
    if refused:
        # Who invents things may also invent how long they hold.
        return ValidatedSummary(extract_summary(finding), "text", None, refused)
    body = to_plain_line(_SOURCES_LINE.sub("", body.strip()))
    tail, ours = name_sources(finding), extract_summary(finding)
    kept = _fit_sentences(body, MOST_WORDS - count_words(tail))
    if not kept:
        return ValidatedSummary(ours, "text", volatility, "empty" if not body else "too long")
    mine, wanted = (
        len(shared_facts(text, _source_texts(finding), finding.language, finding.question))
        for text in (kept, ours.removesuffix(tail))
    )
    if mine < wanted:
        # However well it reads, it says less.
        return ValidatedSummary(ours, "text", volatility, f"{mine} of {wanted} names and values", mine)
    return ValidatedSummary(f"{kept} {tail}".strip(), "model", volatility, carried=mine)


def _find_problem(finding: Finding, body: str) -> str:
    """What is wrong with a reply, in one word or two, and the empty text if nothing is."""
    if not _WORD.search(body):
        return "empty"
    if _MARKUP.search(body):
        return "markup"
    if any(map(is_instruction, (body, *words.sentences(body)))):
        return "an order"
    wanted, spoken = finding.language, words.language_of(body)
    if spoken and spoken != wanted:
        return "language"
    said = _SOURCES_LINE.sub("", body)
    invented = next(_find_invented(said, f"{finding.question}\n{_source_texts(finding)}", wanted), "")
    if invented:
        return f"not in the sources: {invented}"
    return (
        "too short" if count_words(said) < min(_SHORTEST, count_words(extract_summary(finding)) / 4) else ""
    )


def _source_texts(finding: Finding) -> str:
    """All that the sources of a finding say, and what they are called."""
    return "\n".join(
        f"{source.title}\n{source.url}\n{source.name}\n{source.text}" for source in finding.usable
    )


def shared_facts(said: str, known: str, spoken: str, asked: str = "") -> set[str]:
    """The names, numbers, days and months of what is known that a text carries, each once.

    Who only repeats those of what was asked says nothing.
    """
    days = (_find_calendar_words(said) & _find_calendar_words(known)) - _find_calendar_words(asked)
    numbers = (_find_numbers(said) & _find_numbers(known)) - _find_numbers(asked)
    names = _find_names(said, spoken) & frozenset(words.terms(known)) - frozenset(words.terms(asked))
    return {
        *(f"{kind} {which}" for kind, which in days),
        *numbers,
        *(name for name in names if not _has_digit(name)),
    }


def _find_invented(said: str, known: str, spoken: str) -> Iterator[str]:
    """What a summary names and its sources do not: numbers, days, months and names."""
    numbers, calendar = _find_numbers(known), _find_calendar_words(known)
    parts = {part for number in numbers for part in re.split(r"[.,:-]", number)} | {
        part.lstrip("0") or "0" for number in _NUMBER.findall(known) for part in re.split(r"[.,:]", number)
    }
    parts |= {str(month) for kind, month in calendar if kind == "month"}
    for number in _NUMBER.findall(_WHEN.sub(lambda when: _drop_known_date(when[0], parts), said)):
        if _normalise_number(number) not in numbers:
            yield number
    yield from (f"{kind} {which}" for kind, which in sorted(_find_calendar_words(said) - calendar))
    there = frozenset(words.terms(known))
    yield from sorted(name for name in _find_names(said, spoken) - there if not _has_digit(name))


def _find_names(said: str, spoken: str) -> frozenset[str]:
    names = words.telling(said)
    if spoken == "en":
        # Every German noun has a capital letter.
        names |= {words.terms(name)[0] for name in _INSIDE.findall(said) if words.terms(name)}
    return names - frozenset(words.terms(" ".join((*DAYS, *MONTHS))))


def _has_digit(name: str) -> bool:
    return any(sign.isdigit() for sign in name)


def _drop_known_date(when: str, parts: set[str]) -> str:
    """A date or a time may be spelled otherwise than in the sources, if they have all that it is made of."""
    there = all((part.lstrip("0") or "0") in parts or part in parts for part in re.split(r"[.:-]", when))
    return " " if there else when


def _find_numbers(text: str) -> set[str]:
    return {_normalise_number(number) for number in _NUMBER.findall(text)}


def _normalise_number(told: str) -> str:
    """One spelling for one number: 67.000, 67,000 and 67000 are the same, and so are 1,5 and 1.5."""
    if _GROUPED.fullmatch(told):
        return re.sub("[.,]", "", told)
    return told.replace(",", ".").lstrip("0") or "0"


def _find_calendar_words(text: str) -> set[tuple[str, int]]:
    small = [word.lower() for word in _WORD.findall(text)]
    days = {("day", DAYS[word]) for word in small if word in DAYS}
    # "may", "mar" and "sep" are also other things.
    return days | {("month", MONTHS[word]) for word in small if word in MONTHS and len(word) > 3}


def _fit_sentences(body: str, most: int) -> str:
    """As many whole sentences from the beginning as fit."""
    kept: list[str] = []
    for sentence in words.sentences(body):
        if count_words(" ".join((*kept, sentence))) > most:
            break
        kept.append(sentence)
    return " ".join(kept)


def _remove_fence(text: str) -> str:
    return text.replace(_FENCE, "= = =")
