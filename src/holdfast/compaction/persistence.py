"""What a compaction made, written down: the summary, and the promise of its notes, in one transaction.

Knows the store. The notes themselves are written after the commit, from the outbox, as often as it takes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from holdfast.compaction.compactor import CompactionResult
from holdfast.compaction.extraction import ExtractedMemory
from holdfast.compaction.requests import read_memory_requests, refers_back
from holdfast.memory.base import MEMORY_TOPIC, SUMMARY_TOPIC, Memory, SummaryNote
from holdfast.memory.private import redacted
from holdfast.store import Conversation, Store, Stored, new_id
from holdfast.text.statements import takes_back
from holdfast.window.own_words import ends, own_sentences
from holdfast.words import language_of

# How important it is what somebody asked to be remembered.
_REQUEST_IMPORTANCE = 0.9
# So many messages before it may be meant by "this".
_REFERENCE_DISTANCE = 4
# One exchange of so few tokens is shorter than a note about it would be, and found in the log as it is.
_BRIEF_MESSAGES, _BRIEF_TOKENS = 2, 150


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """`covers` are the messages that `made` stands for, `tokens` what they took."""

    id: str
    conversation: Conversation
    previous: str | None
    covers: tuple[Stored, ...]
    result: CompactionResult
    tokens: int
    # Whether it may be remembered beyond the conversation.
    writes_notes: bool = True

    @property
    def is_brief(self) -> bool:
        """Whether it is all there is, and not worth a note."""
        return self.previous is None and len(self.covers) <= _BRIEF_MESSAGES and self.tokens <= _BRIEF_TOKENS

    def save(self, store: Store) -> None:
        """To be done inside `Store.atomically`. A Conflict if others have covered any of it meanwhile."""
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
            title=redacted(self.conversation.title),
            text=body.full_text,
            scope=self.conversation.scope,
            covers=summary.depth + 1,
            first=store.log.path_ids(summary.through)[0],
            last=summary.through,
            at=summary.created_at,
            language=body.language,
        )
        store.outbox.put(SUMMARY_TOPIC, note.to_json())


def enqueue_memory_requests(store: Store, conversation: Conversation, appended: Sequence[Stored]) -> None:
    """What somebody asks to be remembered is promised with their message, not when it leaves the window."""
    for stored in appended:
        if stored.message.role == "user":
            text = redacted(ends(stored.message.text))
            _enqueue_withdrawals(store, conversation, text)
            requests = read_memory_requests(text) or read_memory_requests(
                text, _previous_messages(store, stored)
            )
            memories = tuple(
                ExtractedMemory(kind, content, _REQUEST_IMPORTANCE, (stored.id,))
                for kind, content in requests
            )
            enqueue_memories(store, conversation, memories, stored.created_at, language_of(text), asked=True)


def _enqueue_withdrawals(store: Store, conversation: Conversation, text: str) -> None:
    """What was kept of this conversation before goes when the person takes it back by its name."""
    sentences = [masked for _, masked in own_sentences(text) if takes_back(masked)]
    if sentences:
        scope, name = asdict(conversation.scope), conversation.id
        withdrawals = [{"scope": scope, "conversation": name, "sentence": sentence} for sentence in sentences]
        store.outbox.put(MEMORY_TOPIC, {"memories": [], "taken_back": withdrawals})


def _previous_messages(store: Store, stored: Stored) -> list[str]:
    """What the same person said just before a message that only points there: "merk dir das"."""
    if stored.parent is None or not refers_back(stored.message.text):
        return []
    before = store.log.tail(stored.parent, _REFERENCE_DISTANCE)
    return [redacted(ends(earlier.message.text)) for earlier in before if earlier.message.role == "user"]


def enqueue_memories(
    store: Store,
    conversation: Conversation,
    extracted: tuple[ExtractedMemory, ...],
    at: float,
    language: str = "",
    *,
    asked: bool = False,
) -> None:
    """Memories to be written once this is committed, each under a name of its own.

    What somebody `asked` for is written although they had it forgotten once.
    """
    if not extracted:
        return
    memories = [
        Memory(
            id=new_id("y"),
            kind=memory.kind,
            text=memory.text,
            scope=conversation.scope,
            importance=memory.importance,
            conversation=conversation.id,
            messages=memory.messages,
            valid_from=at,
            language=language,
        )
        for memory in extracted
    ]
    rows = [memory.to_json() for memory in memories]
    store.outbox.put(MEMORY_TOPIC, {"memories": rows, **({"asked": True} if asked else {})})
