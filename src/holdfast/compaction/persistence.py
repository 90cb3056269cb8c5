"""Stores a compaction: the summary and the outbox entries for its notes and memories, in one transaction.

The notes themselves are written after the commit, from the outbox, with retries.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from holdfast.compaction.compactor import CompactionResult
from holdfast.compaction.extraction import ExtractedMemory
from holdfast.compaction.requests import read_memory_requests, refers_back
from holdfast.memory.base import MEMORY_TOPIC, SUMMARY_TOPIC, Memory, SummaryNote
from holdfast.memory.private import redact
from holdfast.memory.scopes import place_memory
from holdfast.store import ConversationRecord, MessageRecord, Store, new_id
from holdfast.text.analyser import language_of
from holdfast.text.statements import takes_back
from holdfast.window.rules import drop_middle, own_sentences

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
                valid_from=at,
                language=language,
            )
        )
    rows = [memory.to_json() for memory in memories]
    store.outbox.put(MEMORY_TOPIC, {"memories": rows, **({"asked": True} if asked else {})})
