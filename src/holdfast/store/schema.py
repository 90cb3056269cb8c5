"""The tables, one schema for SQLite and PostgreSQL.

`migrations` creates them; a test compares the two descriptions.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    false,
    func,
    text,
)

from holdfast.store.database import JsonColumn, WordsColumn

metadata = MetaData()

# A branch is a run of messages without a fork. It leaves its parent branch after `fork_depth`, so the way
# from the root to any message is a few index ranges and not one lookup for each message.
branches = Table(
    "branches",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("tree", WordsColumn, nullable=False),
    Column("parent_branch", WordsColumn, ForeignKey("branches.id")),
    Column("fork_depth", BigInteger, nullable=False),
    Index("branches_tree", "tree"),
    Index("branches_parent", "parent_branch", "fork_depth"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("tree", WordsColumn, nullable=False),
    Column("branch", WordsColumn, ForeignKey("branches.id"), nullable=False),
    Column("depth", BigInteger, nullable=False),
    Column("parent", WordsColumn, ForeignKey("messages.id")),
    Column("role", WordsColumn, nullable=False),
    Column("digest", WordsColumn, nullable=False),
    Column("body", Text, nullable=False),
    Column("anchor", WordsColumn),
    Column("model", WordsColumn, nullable=False),
    Column("finish", WordsColumn, nullable=False),
    Column("job", WordsColumn, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("messages_place", "branch", "depth", unique=True),
    Index("messages_parent", "parent"),
    Index("messages_anchor", "anchor", "created_at"),
)
# The same words after the same message are the same message: this is what makes appending repeatable.
Index(
    "messages_once",
    messages.c.tree,
    func.coalesce(messages.c.parent, text("''")),
    messages.c.digest,
    unique=True,
)

message_tokens = Table(
    "message_tokens",
    metadata,
    Column("message", WordsColumn, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("counter", WordsColumn, primary_key=True),
    Column("tokens", BigInteger, nullable=False),
)

# Marks on a message: it is pinned, or it has a rule or a decision, which `text` quotes.
marks = Table(
    "marks",
    metadata,
    Column("message", WordsColumn, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", WordsColumn, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("tree", WordsColumn, nullable=False),
    Column("text", WordsColumn, nullable=False),
    Index("marks_tree", "tree"),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("tree", WordsColumn, nullable=False),
    Column("user", WordsColumn, nullable=False),
    Column("project", WordsColumn, nullable=False),
    Column("kind", WordsColumn, nullable=False),
    Column("title", WordsColumn, nullable=False),
    Column("head", WordsColumn, ForeignKey("messages.id")),
    Column("version", BigInteger, nullable=False),
    Column("client", WordsColumn, nullable=False),
    Column("external_id", WordsColumn, nullable=False),
    Column("settings", JsonColumn, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("pinned", Boolean, nullable=False, server_default=false()),
    Column("archived", Boolean, nullable=False, server_default=false()),
    Column("folder", WordsColumn, nullable=False, server_default=text("''")),
    Index("conversations_recent", "user", "project", "kind", "updated_at"),
    Index("conversations_external", "user", "project", "external_id"),
    Index("conversations_tree", "tree"),
    Index("conversations_head", "head"),
)

# Options for chats that a person saved under a name.
presets = Table(
    "presets",
    metadata,
    Column("user", WordsColumn, primary_key=True),
    Column("name", WordsColumn, primary_key=True),
    Column("options", JsonColumn, nullable=False),
    Column("updated_at", Double, nullable=False),
)

# Texts that a person saved to ask with again. `prompts` below are what was sent to models.
saved_prompts = Table(
    "saved_prompts",
    metadata,
    Column("user", WordsColumn, primary_key=True),
    Column("name", WordsColumn, primary_key=True),
    Column("text", Text, nullable=False),
    Column("updated_at", Double, nullable=False),
)

prompts = Table(
    "prompts",
    metadata,
    Column("digest", WordsColumn, primary_key=True),
    Column("body", JsonColumn, nullable=False),
    Column("created_at", Double, nullable=False),
)

drafts = Table(
    "drafts",
    metadata,
    Column("job", WordsColumn, primary_key=True),
    Column("conversation", WordsColumn, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("parent", WordsColumn, ForeignKey("messages.id", ondelete="CASCADE")),
    Column("body", Text, nullable=False),
    Column("model", WordsColumn, nullable=False),
    Column("beat_at", Double, nullable=False),
    Index("drafts_conversation", "conversation"),
    Index("drafts_parent", "parent"),
)

# `answer` is set only where a job repeated a message that was there; others are found by their job.
# `prompt` is a digest without a foreign key: a prompt may be forgotten while a job that quotes it begins.
jobs = Table(
    "jobs",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("conversation", WordsColumn, ForeignKey("conversations.id", ondelete="SET NULL")),
    Column("kind", WordsColumn, nullable=False),
    Column("user", WordsColumn, nullable=False),
    Column("project", WordsColumn, nullable=False),
    Column("model", WordsColumn, nullable=False),
    Column("upstream", WordsColumn, nullable=False),
    Column("status", WordsColumn, nullable=False),
    Column("prompt", WordsColumn),
    Column("prompt_tokens", BigInteger),
    Column("completion_tokens", BigInteger),
    Column("cached_tokens", BigInteger),
    Column("window", BigInteger),
    Column("queued_at", Double, nullable=False),
    Column("started_at", Double),
    Column("first_token_at", Double),
    Column("finished_at", Double),
    Column("timings", JsonColumn, nullable=False),
    Column("error", WordsColumn, nullable=False),
    Column("answer", WordsColumn),
    Index("jobs_recent", "queued_at"),
    Index("jobs_conversation", "conversation", "queued_at"),
    Index("jobs_status", "status", "queued_at"),
    Index("jobs_prompt", "prompt"),
)

# A conversation in windows of one size: `state` can be recomputed from the decisions.
lanes = Table(
    "lanes",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("conversation", WordsColumn, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("window", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("state", JsonColumn, nullable=False),
    Column("report", JsonColumn, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("lanes_conversation", "conversation", "updated_at"),
)

decisions = Table(
    "decisions",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("lane", WordsColumn, nullable=False),
    Column("conversation", WordsColumn, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("kind", WordsColumn, nullable=False),
    Column("rule", WordsColumn, nullable=False),
    Column("messages", JsonColumn, nullable=False),
    Column("tokens_before", BigInteger, nullable=False),
    Column("tokens_after", BigInteger, nullable=False),
    Column("reason", WordsColumn, nullable=False),
    Column("data", JsonColumn, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("vetoed_at", Double),
    Column("batch", WordsColumn, nullable=False, server_default=text("''")),
    Index("decisions_lane", "lane", "created_at"),
    Index("decisions_rule", "conversation", "rule"),
)

compactions = Table(
    "compactions",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("conversation", WordsColumn, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("lane", WordsColumn, nullable=False),
    Column("level", BigInteger, nullable=False),
    Column("strategy", WordsColumn, nullable=False),
    Column("messages", BigInteger, nullable=False),
    Column("tokens_before", BigInteger, nullable=False),
    Column("tokens_after", BigInteger, nullable=False),
    Column("tokens_freed", BigInteger, nullable=False),
    Column("memories", BigInteger, nullable=False),
    Column("model", WordsColumn, nullable=False),
    Column("path", WordsColumn, nullable=False),
    Column("duration_ms", BigInteger, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("compactions_conversation", "conversation", "created_at"),
)

# A chain along a tree: `through` is the last message that a summary covers, and no two end at the same one.
summaries = Table(
    "summaries",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("tree", WordsColumn, nullable=False),
    Column("previous", WordsColumn),
    Column(
        "through", WordsColumn, ForeignKey("messages.id", ondelete="CASCADE"), nullable=False, unique=True
    ),
    Column("depth", BigInteger, nullable=False),
    Column("covers", JsonColumn, nullable=False),
    Column("body", JsonColumn, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("model", WordsColumn, nullable=False),
    Column("path", WordsColumn, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("summaries_tree", "tree", "depth"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("topic", WordsColumn, nullable=False),
    Column("payload", JsonColumn, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("done_at", Double),
    Column("attempts", BigInteger, nullable=False),
    Column("error", WordsColumn, nullable=False),
    Index(
        "outbox_pending",
        "created_at",
        sqlite_where=text("done_at IS NULL"),
        postgresql_where=text("done_at IS NULL"),
    ),
)

models = Table(
    "models",
    metadata,
    Column("upstream", WordsColumn, primary_key=True),
    Column("name", WordsColumn, primary_key=True),
    Column("trained_window", BigInteger),
    Column("recommended_ctx", BigInteger),
    Column("num_ctx", BigInteger),
    Column("info", JsonColumn, nullable=False),
    Column("updated_at", Double, nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("name", WordsColumn, primary_key=True),
    Column("value", JsonColumn, nullable=False),
    Column("updated_at", Double, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("name", WordsColumn, primary_key=True),
    Column("owner", WordsColumn, nullable=False),
    Column("expires_at", Double, nullable=False),
)

# Vectors of short texts, by a digest of their words and the key of the embedder that made them: float32,
# little-endian. Those that no row of the index needs stay while they are used.
embeddings = Table(
    "embeddings",
    metadata,
    Column("digest", WordsColumn, primary_key=True),
    Column("model", WordsColumn, primary_key=True),
    Column("vector", LargeBinary, nullable=False),
    Column("used_at", Double, nullable=False),
    Index("embeddings_used", "used_at"),
)

# How often a memory was used. Memories are in files, so there is no table to refer to.
memory_uses = Table(
    "memory_uses",
    metadata,
    Column("user", WordsColumn, primary_key=True),
    Column("project", WordsColumn, primary_key=True),
    Column("kind", WordsColumn, primary_key=True),
    Column("memory", WordsColumn, primary_key=True),
    Column("recalls", BigInteger, nullable=False),
    Column("used_at", Double, nullable=False),
)

# What was forgotten, to recognise it when it comes again: digests of its words, never the words.
tombstones = Table(
    "tombstones",
    metadata,
    Column("user", WordsColumn, primary_key=True),
    Column("project", WordsColumn, primary_key=True),
    Column("kind", WordsColumn, primary_key=True),
    Column("memory", WordsColumn, primary_key=True),
    Column("words", JsonColumn, nullable=False),
    Column("messages", JsonColumn, nullable=False),
    Column("created_at", Double, nullable=False),
)

proposals = Table(
    "proposals",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("user", WordsColumn, nullable=False),
    Column("field", WordsColumn, nullable=False),
    Column("value", WordsColumn, nullable=False),
    Column("text", WordsColumn, nullable=False),
    Column("conversation", WordsColumn, nullable=False),
    Column("messages", JsonColumn, nullable=False),
    Column("status", WordsColumn, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("proposals_user", "user", "status", "created_at"),
)

# Access keys. Only the digest of a secret is stored; with an empty project the client names it.
keys = Table(
    "keys",
    metadata,
    Column("id", WordsColumn, primary_key=True),
    Column("digest", WordsColumn, nullable=False),
    Column("name", WordsColumn, nullable=False),
    Column("user", WordsColumn, nullable=False),
    Column("project", WordsColumn, nullable=False),
    Column("admin", Boolean, nullable=False),
    Column("forwarder", Boolean, nullable=False),
    Column("off", Boolean, nullable=False),
    Column("memory", Boolean, nullable=False),
    Column("rate", BigInteger, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("used_at", Double),
    Column("files", Boolean, nullable=False, server_default=false()),
)

passwords = Table(
    "passwords",
    metadata,
    Column("user", WordsColumn, primary_key=True),
    Column("digest", WordsColumn, nullable=False),
    Column("changed_at", Double, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("digest", WordsColumn, primary_key=True),
    Column("user", WordsColumn, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Index("sessions_user", "user"),
)
