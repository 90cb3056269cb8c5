"""What Holdfast keeps: the log of messages, drafts, jobs, decisions, settings, in SQLite or PostgreSQL.

`open_store` opens it; the values below are what goes in and comes out. It knows no model server, no window.
"""

from holdfast.store.ids import new_id
from holdfast.store.ranking import Found, TextHit
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
    "Decision",
    "Draft",
    "Found",
    "Job",
    "JobKind",
    "JobStatus",
    "KnownModel",
    "Lane",
    "Mark",
    "ModelChanges",
    "NewMessage",
    "OutboxItem",
    "Prompt",
    "Store",
    "Stored",
    "Summarised",
    "TextHit",
    "new_id",
    "open_store",
    "searchable",
]
