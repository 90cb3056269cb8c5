"""Findings: what was found for a question, its sources and summary, and how long it stays valid.

Plain values with a JSON form, and the rules that estimate how soon an answer is out of date from the words of
the question and its sources, in German and English.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, Literal, get_args
from urllib.parse import unquote, urlsplit

from holdfast.messages import Scope
from holdfast.text.analyser import language_of
from holdfast.text.lang import any_of, any_phrase, merged_table
from holdfast.text.lang.de import SMALL_LETTERS, TELLING_SUBJECTS
from holdfast.text.patterns import late

Mode = Literal["quick", "deep"]
MODES: tuple[Mode, ...] = get_args(Mode)

# How soon an answer is out of date.
Volatility = Literal["hourly", "daily", "weekly", "monthly", "permanent"]
VOLATILITIES: tuple[Volatility, ...] = get_args(Volatility)

# Who wrote a summary: a model, code that took sentences from the sources, or a person in the note.
SummaryBy = Literal["model", "text", "person", ""]

_MOST_WORDS, _LONGEST_NAME = 3, 40
# Characters of a source used to detect its language.
_SAMPLE = 2_000
# What makes a text German that has none of the small words by which a language is known.
_GERMAN = late(rf"[{SMALL_LETTERS}]|\b{any_of(TELLING_SUBJECTS)}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ResearchSource:
    """A page or a file read for a question. `trouble` says why it has no text."""

    url: str
    title: str
    text: str
    at: float
    trouble: str = ""

    @property
    def name(self) -> str:
        """A short name: the site of a page, the name of a file, else the title."""
        parts = split_url(self.url)
        if parts is not None and parts[0]:
            return parts[0]
        name = PurePosixPath(parts[1]).name if parts is not None else ""
        return " ".join((name or self.title).split()[:_MOST_WORDS])[:_LONGEST_NAME].strip()

    def to_json(self, *, whole: bool = True) -> dict[str, Any]:
        """Serialize the source; without its text unless `whole`."""
        value = {**asdict(self), "name": self.name, "trouble": self.trouble or None}
        return value if whole else {name: value for name, value in value.items() if name != "text"}


@dataclass(frozen=True, slots=True)
class Finding:
    """A question and what was found for it, within a scope. `expires_at` is 0 if it never expires.

    `merged` are the ids of findings that became part of this one; looking up one of them returns this one.
    """

    id: str
    scope: Scope
    question: str
    mode: Mode
    sources: tuple[ResearchSource, ...]
    summary: str
    volatility: Volatility
    created_at: float
    expires_at: float
    summary_by: SummaryBy = ""
    conversation: str = ""
    merged: tuple[str, ...] = ()

    @property
    def usable(self) -> tuple[ResearchSource, ...]:
        """The sources that could be read."""
        return tuple(source for source in self.sources if not source.trouble)

    @property
    def usable_with_numbers(self) -> tuple[tuple[int, ResearchSource], ...]:
        """The usable sources, each with its number among all sources, so that [2] always means the same."""
        return tuple((n, source) for n, source in enumerate(self.sources, 1) if not source.trouble)

    @property
    def language(self) -> str:
        """The language of the question, else of the sources; English if unknown."""
        content = "\n".join(
            (*(f"{source.title}\n{source.text[:_SAMPLE]}" for source in self.usable), self.summary)
        )
        known = (
            language_of(self.question) or language_of(content) or language_of(f"{self.question}\n{content}")
        )
        return known or ("de" if _GERMAN.search(f"{self.question}\n{content}") else "en")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the usable sources, each once."""
        return tuple(dict.fromkeys(source.name for source in self.usable if source.name))

    def is_expired(self, now: float) -> bool:
        return 0 < self.expires_at <= now

    def age(self, now: float) -> float:
        return max(0.0, now - self.created_at)

    def without_texts(self) -> "Finding":
        """Return a copy without the texts of its sources, for lists."""
        return replace(self, sources=tuple(replace(source, text="") for source in self.sources))

    def to_json(self, now: float, *, whole: bool = True) -> dict[str, Any]:
        value = asdict(self)
        value["sources"] = [source.to_json(whole=whole) for source in self.sources]
        value["merged"] = list(self.merged)
        value["expires_at"] = self.expires_at or None
        return {**value, "expired": self.is_expired(now), "age": round(self.age(now), 3)}


def split_url(url: str) -> tuple[str, str] | None:
    """Return site and path of an address, with an empty site for a file; None if it is malformed."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme in ("http", "https"):
        return (parts.hostname or "").removeprefix("www."), parts.path
    return "", unquote(parts.path) if parts.scheme == "file" else url


_HOUR, _DAY = 3_600.0, 86_400.0
_HOLDS: dict[Volatility, float] = {"hourly": _HOUR, "daily": _DAY, "weekly": 7 * _DAY, "monthly": 30 * _DAY}
# Used when neither the question nor its sources match a rule.
_DEFAULT: Volatility = "weekly"

_WEATHER, _NOW = any_phrase("WEATHER"), any_phrase("NOW")
# The first that fits decides, so what changes fastest stands first.
_RULES: tuple[tuple[Volatility, re.Pattern[str]], ...] = (
    (
        "hourly",
        late(
            rf"\b{_WEATHER}\b.*\b{_NOW}\b|\b{_NOW}\b.*\b{_WEATHER}\b|{any_phrase('HOURLY')}",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
    ("daily", late(rf"\b{_WEATHER}\b|\b{any_phrase('DAILY')}\b", re.IGNORECASE)),
    ("weekly", late(rf"\b{any_phrase('WEEKLY')}\b", re.IGNORECASE)),
    ("permanent", late(rf"\b{any_phrase('PERMANENT')}\b", re.IGNORECASE)),
    ("monthly", late(rf"\b{any_phrase('MONTHLY')}\b", re.IGNORECASE)),
)
# A version that is named does not change any more, whatever is written about it.
_FIXED = late(r"\b(?:version\s*|v)?\d+\.\d+(?:\.\d+)*\b")
_DOCUMENTED = late(rf"\b{any_phrase('DOCUMENTED')}\b", re.IGNORECASE)
_YEAR = late(r"(?<![\d.,])(1[0-9]{3}|20[0-9]{2})(?![\d.,]*\d|\s?(?:%|€|\$|eur|usd|euro))", re.IGNORECASE)

_WORDS: dict[str, Volatility] = merged_table("VOLATILITIES")


def estimate_volatility(question: str, sources: Iterable[str] = (), at: float = 0.0) -> Volatility:
    """Estimate how soon an answer is out of date; `sources` are titles and addresses.

    A question about a year that was over at the time `at` has a permanent answer.
    """
    if _is_past(question, at) or (_FIXED.search(question) and _DOCUMENTED.search(question)):
        return "permanent"
    return match_rule(question) or match_rule("\n".join(sources)) or _DEFAULT


def expiry_time(volatility: Volatility, at: float) -> float:
    """Return until when something found at a time is valid; 0 for permanent answers."""
    return at + _HOLDS[volatility] if volatility in _HOLDS else 0.0


def parse_volatility(word: str) -> Volatility | None:
    """Read a model's or a person's word for it; None unless it is one of the ten known words."""
    return _WORDS.get(word.strip().strip("\"'`*._[]()„“").lower())


def match_rule(text: str) -> Volatility | None:
    return next((volatility for volatility, pattern in _RULES if pattern.search(text)), None)


def _is_past(question: str, at: float) -> bool:
    years = [int(year) for year in _YEAR.findall(question)]
    return bool(years and at) and max(years) < datetime.fromtimestamp(at, UTC).year


# Called with the number of sources fetched, the total, and the address just fetched.
ProgressCallback = Callable[[int, int, str], None]


def ignore_progress(done: int, total: int, what: str) -> None:
    """A progress callback that does nothing."""
