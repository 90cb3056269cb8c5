"""Compacts a span of the log: takes memories from it, then builds its summary and ledger, and stores both.

Works on the original messages, never on what a window shows of them. A summary and the outbox entries for
its notes and memories are stored in one transaction; the notes themselves are written after it, with
retries.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from holdfast.compaction.extraction import ExtractedMemory
from holdfast.compaction.flush import MemoryFlush, collect_by_rules
from holdfast.compaction.ledger import Ledger, build_ledger
from holdfast.compaction.requests import read_memory_requests, refers_back
from holdfast.compaction.summariser import (
    MessageSpan,
    ProgressCallback,
    PromptTemplates,
    Summariser,
    SummaryModel,
)
from holdfast.compaction.summary import Summary
from holdfast.compaction.transcript import clean_items
from holdfast.i18n import Language
from holdfast.memory.base import CORRECTION, MEMORY_TOPIC, SUMMARY_TOPIC, Memory, SummaryNote
from holdfast.memory.private import redact
from holdfast.memory.scopes import place_memory
from holdfast.messages import JsonObject
from holdfast.store import ConversationRecord, MessageRecord, Store, new_id
from holdfast.text.analyser import language_of
from holdfast.text.lang import by_language
from holdfast.text.statements import takes_back
from holdfast.window.items import Item
from holdfast.window.rules import drop_middle, own_sentences

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


# The importance of an explicit memory request.
_REQUEST_IMPORTANCE = 0.9
# "This" may refer to one of so many previous messages.
_REFERENCE_DISTANCE = 4
# A note about one exchange of so few tokens would be longer than the exchange itself.
_BRIEF_MESSAGES, _BRIEF_TOKENS = 2, 150


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """A compaction to be stored. `covers` are the messages it replaces, `tokens` their size."""

    id: str
    conversation: ConversationRecord
    previous: str | None
    covers: tuple[MessageRecord, ...]
    result: CompactionResult
    tokens: int
    # Whether notes and memories may be written beyond the conversation.
    writes_notes: bool = True

    @property
    def is_brief(self) -> bool:
        """Whether this is the whole conversation and too short for a note."""
        return self.previous is None and len(self.covers) <= _BRIEF_MESSAGES and self.tokens <= _BRIEF_TOKENS

    def save(self, store: Store) -> None:
        """Stores the summary and enqueues its notes; must run inside `Store.atomically`.

        Raises Conflict if another process has covered any of the messages in the meantime."""
        result, body = self.result, self.result.body
        summary = store.summaries.put(
            name=self.id,
            covers=[stored.id for stored in self.covers],
            previous=self.previous,
            body=body.to_json(),
            tokens=self.tokens,
            model=result.model,
            path=result.method,
        )
        if not self.writes_notes:
            return
        enqueue_memories(store, self.conversation, result.memories, summary.created_at, body.language)
        if self.is_brief:
            return
        note = SummaryNote(
            id=summary.id,
            conversation=self.conversation.id,
            title=redact(self.conversation.title),
            text=body.full_text,
            scope=self.conversation.scope,
            covers=summary.depth + 1,
            first=store.log.path_ids(summary.through)[0],
            last=summary.through,
            at=summary.created_at,
            language=body.language,
        )
        store.outbox.put(SUMMARY_TOPIC, note.to_json())


def enqueue_memory_requests(
    store: Store, conversation: ConversationRecord, appended: Sequence[MessageRecord]
) -> None:
    """Enqueues the memories that user messages ask for when they arrive, not when they leave the window."""
    for stored in appended:
        if stored.message.role == "user":
            text = redact(drop_middle(stored.message.text))
            _enqueue_withdrawals(store, conversation, text)
            requests = read_memory_requests(text) or read_memory_requests(
                text, _previous_messages(store, stored)
            )
            memories = tuple(
                ExtractedMemory(kind, content, _REQUEST_IMPORTANCE, (stored.id,))
                for kind, content in requests
            )
            enqueue_memories(store, conversation, memories, stored.created_at, language_of(text), asked=True)


def _enqueue_withdrawals(store: Store, conversation: ConversationRecord, text: str) -> None:
    """Enqueues the removal of memories of this conversation that the user withdraws by name."""
    sentences = [masked for _, masked in own_sentences(text) if takes_back(masked)]
    if sentences:
        scope, name = asdict(conversation.scope), conversation.id
        withdrawals = [{"scope": scope, "conversation": name, "sentence": sentence} for sentence in sentences]
        store.outbox.put(MEMORY_TOPIC, {"memories": [], "taken_back": withdrawals})


def _previous_messages(store: Store, stored: MessageRecord) -> list[str]:
    """Returns the previous user messages if this one only refers to them: "merk dir das"."""
    if stored.parent is None or not refers_back(stored.message.text):
        return []
    before = store.log.tail(stored.parent, _REFERENCE_DISTANCE)
    return [redact(drop_middle(earlier.message.text)) for earlier in before if earlier.message.role == "user"]


def enqueue_memories(
    store: Store,
    conversation: ConversationRecord,
    extracted: tuple[ExtractedMemory, ...],
    at: float,
    language: str = "",
    *,
    asked: bool = False,
) -> None:
    """Enqueues memories to be written after the commit, each with an id of its own.

    Memories that were `asked` for are written even if the user had them forgotten before.
    """
    if not extracted:
        return
    memories = []
    for memory in extracted:
        if not asked and redact(memory.text) != memory.text:
            # Without its secret it would say nothing of use.
            continue
        scope, kind = place_memory(conversation.scope, memory.kind, memory.text)
        memories.append(
            Memory(
                id=new_id("y"),
                kind=kind,
                text=memory.text,
                scope=scope,
                importance=memory.importance,
                conversation=conversation.id,
                messages=memory.messages,
                valid_from=memory.at or at,
                language=language,
                may_replace=CORRECTION if memory.corrects else "",
            )
        )
    rows = [memory.to_json() for memory in memories]
    store.outbox.put(MEMORY_TOPIC, {"memories": rows, **({"asked": True} if asked else {})})
