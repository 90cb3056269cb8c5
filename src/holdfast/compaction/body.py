"""What is kept of a summary, and the text that stands for it in a window.

Sections and ledger are kept whole; how much of them is shown depends on the window's room for them.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from holdfast.compaction.ledger import Ledger
from holdfast.compaction.summary import Summary
from holdfast.i18n import Language
from holdfast.messages import JsonObject

_HEADINGS: Mapping[Language, tuple[str, str]] = {
    "en": ("Summary of the conversation so far:", "Named so far, word for word:"),
    "de": ("Zusammenfassung des bisherigen Gesprächs:", "Bisher genannt, wörtlich:"),
}
# What sections may take where the ledger needs its room; a short ledger leaves them more.
_SECTION_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class SummaryBody:
    summary: Summary = field(default_factory=Summary)
    ledger: Ledger = field(default_factory=Ledger)
    language: Language = "en"

    def to_json(self) -> dict[str, Any]:
        return {
            "summary": self.summary.to_json(),
            "ledger": self.ledger.to_json(),
            "language": self.language,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> Self:
        return cls(Summary.from_json(value["summary"]), Ledger.from_json(value["ledger"]), value["language"])

    def text(self, count: Callable[[str], int], tokens: int, quoted: Collection[str] = ()) -> str:
        """Both in at most so many tokens: what the sections do not say, the ledger does.

        `told` stands beside it word for word, and need not be said twice.
        """
        so_far, named = _HEADINGS[self.language]
        room = tokens - count(f"{so_far}\n\n{named}\n\n")
        if room <= 0:
            return ""
        must_not = tuple(line for line in self.summary.must_not if not any(quote in line for quote in quoted))
        summary = replace(self.summary, must_not=must_not)
        sections = summary.trim(count, int(room * _SECTION_SHARE))
        ledger = self.ledger.missing_in("\n".join((sections.render(), *quoted)))
        ledger = ledger.limit(count, room - count(sections.render()), self.language)
        left = room - count(ledger.render(self.language))
        sections = summary.trim(count, left)
        pieces = (
            (so_far, sections.render()),
            (named, ledger.missing_in(sections.render()).render(self.language)),
        )
        return "\n\n".join(f"{heading}\n{text}" for heading, text in pieces if text)

    @property
    def full_text(self) -> str:
        """All of it, for a note."""
        named = _HEADINGS[self.language][1]
        ledger = self.ledger.render(self.language)
        return "\n\n".join(filter(None, (self.summary.render(), f"{named}\n{ledger}" if ledger else "")))
