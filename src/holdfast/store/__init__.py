"""The database: log of messages, drafts, jobs, decisions, settings, search index; in SQLite or PostgreSQL.

`open_store` opens it; the values below are what goes in and comes out. The package knows no model server and
no window.
"""

from holdfast.store.access import Key
from holdfast.store.embeddings import Coverage
from holdfast.store.fulltext import NotesFolder, SearchPlace
from holdfast.store.memories import MemoryUse, ProfileProposal, RecollectionRepository, Tombstone
from holdfast.store.passages import FileState, NewPassage, PassageMatches
from holdfast.store.ranking import TextHit, TextSearchResult
from holdfast.store.store import Store, open_store
from holdfast.store.texts import PassageRow, searchable_text
from holdfast.store.values import (
    AnchorHit,
    Compaction,
    ConversationRecord,
    Decision,
    DraftRecord,
    JobKind,
    JobRecord,
    JobStatus,
    KnownModel,
    LaneRecord,
    ListFilter,
    Mark,
    MessageRecord,
    ModelChanges,
    NewMessage,
    OutboxItem,
    Prompt,
    SummaryRecord,
    new_id,
)

__all__ = [
    "AnchorHit",
    "Compaction",
    "ConversationRecord",
    "Coverage",
    "Decision",
    "DraftRecord",
    "FileState",
    "JobKind",
    "JobRecord",
    "JobStatus",
    "Key",
    "KnownModel",
    "LaneRecord",
    "ListFilter",
    "Mark",
    "MemoryUse",
    "MessageRecord",
    "ModelChanges",
    "NewMessage",
    "NewPassage",
    "NotesFolder",
    "OutboxItem",
    "PassageMatches",
    "PassageRow",
    "ProfileProposal",
    "Prompt",
    "RecollectionRepository",
    "SearchPlace",
    "Store",
    "SummaryRecord",
    "TextHit",
    "TextSearchResult",
    "Tombstone",
    "new_id",
    "open_store",
    "searchable_text",
]
