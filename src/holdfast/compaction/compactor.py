"""From a span of the log to what is kept of it: memories first, then the summary and the ledger.

Reads originals, never what a window made of them. It keeps nothing: `keeping` does.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.compaction.asking import SummaryModel
from holdfast.compaction.body import SummaryBody
from holdfast.compaction.extraction import ExtractedMemory
from holdfast.compaction.flush import MemoryFlush
from holdfast.compaction.ledger import Ledger, build_ledger
from holdfast.compaction.prompts import PromptTemplates
from holdfast.compaction.summariser import MessageSpan, ProgressCallback, Summariser
from holdfast.compaction.transcript import clean_items
from holdfast.i18n import Language
from holdfast.window.items import Item
from holdfast.words import language_of

# As much of a span as is read to tell its language.
_GLANCE = 20_000


@dataclass(frozen=True, slots=True)
class CompactionTask:
    """A span as the log has it, what was kept of all before it, and how long the summary should be."""

    items: tuple[Item, ...]
    previous: SummaryBody | None
    target: int
    count: Callable[[str], int]
    # Whether memories are to be taken from it as well.
    flush: bool = True
    # What was said just before it and is to be summarised once more, with the ledger that has it already.
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
        """`progress` is told the share that is done."""
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


def _detect_language(items: tuple[Item, ...], previous: SummaryBody | None) -> Language:
    """What people speak in it; code and tool results do not tell."""
    text = " ".join(item.message.text for item in items if item.message.role in ("user", "assistant"))
    return language_of(text[-_GLANCE:]) or (previous.language if previous else "en")
