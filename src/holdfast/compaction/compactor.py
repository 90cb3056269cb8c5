"""Compacts a span of the log: takes memories from it, then builds its summary and ledger.

Works on the original messages, never on what a window shows of them. Storing the result is left to
`persistence`.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from holdfast.compaction.extraction import ExtractedMemory
from holdfast.compaction.flush import MemoryFlush, collect_by_rules
from holdfast.compaction.ledger import Ledger, build_ledger
from holdfast.compaction.summariser import MessageSpan, ProgressCallback, Summariser
from holdfast.compaction.summary import Summary
from holdfast.compaction.summary_model import PromptTemplates, SummaryModel
from holdfast.compaction.transcript import clean_items
from holdfast.i18n import Language
from holdfast.messages import JsonObject
from holdfast.text.analyser import language_of
from holdfast.text.lang import by_language
from holdfast.window.items import Item

_HEADINGS: Mapping[str, tuple[str, str]] = by_language("SUMMARY_HEADINGS")
# The share of the room for sections while the ledger needs the rest; a short ledger leaves them more.
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
        """Renders sections and ledger in at most `tokens`; the ledger adds what the sections do not say.

        Texts in `quoted` stand in the window verbatim and are not repeated.
        """
        so_far, named = _HEADINGS[self.language]
        room = tokens - count(f"{so_far}\n\n{named}\n\n")
        if room <= 0:
            return ""
        summary = self.summary.without(quoted)
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
        """The complete body without a limit, for a note."""
        named = _HEADINGS[self.language][1]
        ledger = self.ledger.render(self.language)
        return "\n\n".join(filter(None, (self.summary.render(), f"{named}\n{ledger}" if ledger else "")))


# Characters read to detect the language of a span.
_GLANCE = 20_000


@dataclass(frozen=True, slots=True)
class CompactionTask:
    """A span of the log, the body of everything before it, and the tokens the summary should have."""

    items: tuple[Item, ...]
    previous: SummaryBody | None
    target: int
    count: Callable[[str], int]
    # Whether memories are extracted as well.
    flush: bool = True
    # Messages just before the span that are summarised once more, and the ledger that already covers them.
    again: tuple[Item, ...] = ()
    ledger: Ledger | None = None


@dataclass(frozen=True, slots=True)
class CompactionResult:
    body: SummaryBody
    memories: tuple[ExtractedMemory, ...]
    method: str
    model: str
    problems: tuple[str, ...]
    seconds: float


class Compactor:
    def __init__(self, prompts: PromptTemplates) -> None:
        self._flush = MemoryFlush(prompts)
        self._summariser = Summariser(prompts)

    async def compact(
        self, task: CompactionTask, model: SummaryModel | None, progress: ProgressCallback = lambda _: None
    ) -> CompactionResult:
        """Returns summary, ledger and memories of the span; `progress` receives the share done."""
        started = time.perf_counter()
        items = await asyncio.to_thread(clean_items, task.items)
        language = _detect_language(items, task.previous)
        before = task.previous.summary if task.previous else None
        new_ledger = await asyncio.to_thread(build_ledger, items)
        old_ledger = task.ledger or (task.previous.ledger if task.previous else Ledger())
        ledger = old_ledger.merge(new_ledger)
        memories: tuple[ExtractedMemory, ...] = ()
        summary_model = model
        if task.flush:
            flushed = await self._flush.collect(items, language, task.count, model)
            memories, summary_model = flushed.memories, model if flushed.model_answers else None
        progress(1 / 3)
        again = await asyncio.to_thread(clean_items, task.again)
        span = MessageSpan((*again, *items), before, language, task.target, task.count)
        written = await self._summariser.summarise(
            span, summary_model, lambda share: progress((1 + 2 * share) / 3)
        )
        return CompactionResult(
            SummaryBody(written.summary, ledger, language),
            memories,
            written.method,
            model.name if model and written.method != "extractive" else "",
            written.problems,
            time.perf_counter() - started,
        )


def extract_memories(items: tuple[Item, ...]) -> tuple[tuple[ExtractedMemory, ...], Language]:
    """Returns what is worth remembering, by rules alone, and the language it is said in."""
    items = clean_items(items)
    return collect_by_rules(items), _detect_language(items, None)


def _detect_language(items: tuple[Item, ...], previous: SummaryBody | None) -> Language:
    """Returns the language of the conversation; code and tool results are ignored."""
    text = " ".join(item.message.text for item in items if item.message.role in ("user", "assistant"))
    return language_of(text[-_GLANCE:]) or (previous.language if previous else "en")
