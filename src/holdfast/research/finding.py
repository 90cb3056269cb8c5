"""What was found for a question: its sources, what they say in short, and how long that holds.

Plain values with a spelling in JSON. Knows no file, no web and no window.
"""

import re
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal, get_args
from urllib.parse import unquote, urlsplit

from holdfast.messages import Scope
from holdfast.patterns import late
from holdfast.words import language_of

Mode = Literal["quick", "deep"]
MODES: tuple[Mode, ...] = get_args(Mode)

# How soon what was found is no longer so.
Volatility = Literal["hourly", "daily", "weekly", "monthly", "permanent"]
VOLATILITIES: tuple[Volatility, ...] = get_args(Volatility)

# Who wrote a summary: a model, code that took sentences from the sources, or a person in the note.
SummaryBy = Literal["model", "text", "person", ""]

_MOST_WORDS, _LONGEST_NAME = 3, 40
# So much of a source tells its language.
_SAMPLE = 2_000
# What makes a text German that has none of the small words by which a language is known.
_GERMAN = late(r"[äöüß]|\b(?:kostet|kosten|wetter|preise?|kurs)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ResearchSource:
    """A page or a file that was read for a question, at a time. `trouble` says why there is no text of it."""

    url: str
    title: str
    text: str
    at: float
    trouble: str = ""

    @property
    def name(self) -> str:
        """How people speak of it: a page by its site, a file by its name, anything else by its title."""
        parts = _split_url(self.url)
        if parts is not None and parts[0]:
            return parts[0]
        name = PurePosixPath(parts[1]).name if parts is not None else ""
        return " ".join((name or self.title).split()[:_MOST_WORDS])[:_LONGEST_NAME].strip()

    def to_json(self, *, whole: bool = True) -> dict[str, Any]:
        told = {**asdict(self), "name": self.name, "trouble": self.trouble or None}
        return told if whole else {name: value for name, value in told.items() if name != "text"}


@dataclass(frozen=True, slots=True)
class Finding:
    """A question and what was found for it, within a scope. `expires_at` is 0 where it holds for good.

    `merged` are the findings that became part of this one; whoever asks for one of them gets this.
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
    def numbered(self) -> tuple[tuple[int, ResearchSource], ...]:
        """Those, each with the number it has among all: whoever speaks of [2] means the same one."""
        return tuple((n, source) for n, source in enumerate(self.sources, 1) if not source.trouble)

    @property
    def language(self) -> str:
        """That of the question, else of what was found; English where nothing tells."""
        said = "\n".join((*(f"{one.title}\n{one.text[:_SAMPLE]}" for one in self.usable), self.summary))
        known = language_of(self.question) or language_of(said) or language_of(f"{self.question}\n{said}")
        return known or ("de" if _GERMAN.search(f"{self.question}\n{said}") else "en")

    @property
    def names(self) -> tuple[str, ...]:
        """What the sources that could be read are called, each once."""
        return tuple(dict.fromkeys(source.name for source in self.usable if source.name))

    def expired(self, now: float) -> bool:
        return 0 < self.expires_at <= now

    def age(self, now: float) -> float:
        return max(0.0, now - self.created_at)

    def without_texts(self) -> "Finding":
        """What a list shows of it: the texts of its sources are long."""
        return replace(self, sources=tuple(replace(source, text="") for source in self.sources))

    def to_json(self, now: float, *, whole: bool = True) -> dict[str, Any]:
        told = asdict(self)
        told["sources"] = [source.to_json(whole=whole) for source in self.sources]
        told["merged"] = list(self.merged)
        told["expires_at"] = self.expires_at or None
        return {**told, "expired": self.expired(now), "age": round(self.age(now), 3)}


def _split_url(url: str) -> tuple[str, str] | None:
    """Site and path of an address; no site for a file."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme in ("http", "https"):
        return (parts.hostname or "").removeprefix("www."), parts.path
    return "", unquote(parts.path) if parts.scheme == "file" else url
