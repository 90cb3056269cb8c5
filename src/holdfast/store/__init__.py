"""What Holdfast keeps: the log of messages, drafts, jobs, decisions, settings, in SQLite or PostgreSQL.

`open_store` opens it; the values below are what goes in and comes out. It knows no model server, no window.
"""

from holdfast.store.containers import NotesOf, Where
from holdfast.store.embeddings import Coverage
from holdfast.store.ids import new_id
from holdfast.store.keys import Key
from holdfast.store.passages import FileState, Matches, NewPassage, Row
from holdfast.store.proposals import Proposal
from holdfast.store.ranking import Found, TextHit
from holdfast.store.recollections import Recollections, Tombstone, Use
from holdfast.store.store import Store, open_store
from holdfast.store.texts import searchable
from holdfast.store.values import (
    AnchorHit,
    Compaction,
    Conversation,
    Decision,
    Draft,
    Job,
    JobKind,
    JobStatus,
    KnownModel,
    Lane,
    Mark,
    ModelChanges,
    NewMessage,
    OutboxItem,
    Prompt,
    Stored,
    Summarised,
)

__all__ = [
    "AnchorHit",
    "Compaction",
    "Conversation",
    "Coverage",
    "Decision",
    "Draft",
    "FileState",
    "Found",
    "Job",
    "JobKind",
    "JobStatus",
    "Key",
    "KnownModel",
    "Lane",
    "Mark",
    "Matches",
    "ModelChanges",
    "NewMessage",
    "NewPassage",
    "NotesOf",
    "OutboxItem",
    "Prompt",
    "Proposal",
    "Recollections",
    "Row",
    "Store",
    "Stored",
    "Summarised",
    "TextHit",
    "Tombstone",
    "Use",
    "Where",
    "new_id",
    "open_store",
    "searchable",
]
