"""The tables, one schema for SQLite and PostgreSQL.

It only describes them: `migrations` creates them, the modules of each topic read and write them. A test holds
the two descriptions together.
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

from holdfast.store.columns import Json, Words

metadata = MetaData()

# A branch is a run of messages without a fork. It leaves its parent branch after `fork_depth`, so the way
# from the root to any message is a few index ranges and not one lookup for each message.
branches = Table(
    "branches",
    metadata,
    Column("id", Words, primary_key=True),
    Column("tree", Words, nullable=False),
    Column("parent_branch", Words, ForeignKey("branches.id")),
    Column("fork_depth", BigInteger, nullable=False),
    Index("branches_tree", "tree"),
    Index("branches_parent", "parent_branch", "fork_depth"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", Words, primary_key=True),
    Column("tree", Words, nullable=False),
    Column("branch", Words, ForeignKey("branches.id"), nullable=False),
    Column("depth", BigInteger, nullable=False),
    Column("parent", Words, ForeignKey("messages.id")),
    Column("role", Words, nullable=False),
    Column("digest", Words, nullable=False),
    Column("body", Text, nullable=False),
    Column("anchor", Words),
    Column("model", Words, nullable=False),
    Column("finish", Words, nullable=False),
    Column("job", Words, nullable=False),
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
    Column("message", Words, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("counter", Words, primary_key=True),
    Column("tokens", BigInteger, nullable=False),
)

# What is special about a message: pinned by somebody, or holding a rule or a decision, which `text` quotes.
marks = Table(
    "marks",
    metadata,
    Column("message", Words, ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", Words, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("tree", Words, nullable=False),
    Column("text", Words, nullable=False),
    Index("marks_tree", "tree"),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Words, primary_key=True),
    Column("tree", Words, nullable=False),
    Column("user", Words, nullable=False),
    Column("project", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("head", Words, ForeignKey("messages.id")),
    Column("version", BigInteger, nullable=False),
    Column("client", Words, nullable=False),
    Column("external_id", Words, nullable=False),
    Column("settings", Json, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("conversations_recent", "user", "project", "kind", "updated_at"),
    Index("conversations_external", "user", "project", "external_id"),
    Index("conversations_tree", "tree"),
    Index("conversations_head", "head"),
)

prompts = Table(
    "prompts",
    metadata,
    Column("digest", Words, primary_key=True),
    Column("body", Json, nullable=False),
    Column("created_at", Double, nullable=False),
)

drafts = Table(
    "drafts",
    metadata,
    Column("job", Words, primary_key=True),
    Column("conversation", Words, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("parent", Words, ForeignKey("messages.id", ondelete="CASCADE")),
    Column("body", Text, nullable=False),
    Column("model", Words, nullable=False),
    Column("beat_at", Double, nullable=False),
    Index("drafts_conversation", "conversation"),
    Index("drafts_parent", "parent"),
)

# `prompt` is a digest without a foreign key: a prompt may be forgotten while a job that quotes it begins.
jobs = Table(
    "jobs",
    metadata,
    Column("id", Words, primary_key=True),
    Column("conversation", Words, ForeignKey("conversations.id", ondelete="SET NULL")),
    Column("kind", Words, nullable=False),
    Column("user", Words, nullable=False),
    Column("project", Words, nullable=False),
    Column("model", Words, nullable=False),
    Column("upstream", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("prompt", Words),
    Column("prompt_tokens", BigInteger),
    Column("completion_tokens", BigInteger),
    Column("cached_tokens", BigInteger),
    Column("window", BigInteger),
    Column("queued_at", Double, nullable=False),
    Column("started_at", Double),
    Column("first_token_at", Double),
    Column("finished_at", Double),
    Column("timings", Json, nullable=False),
    Column("error", Words, nullable=False),
    Index("jobs_recent", "queued_at"),
    Index("jobs_conversation", "conversation", "queued_at"),
    Index("jobs_status", "status", "queued_at"),
    Index("jobs_prompt", "prompt"),
)

# What a conversation looks like in windows of one size: `state` can be worked out anew from the decisions.
lanes = Table(
    "lanes",
    metadata,
    Column("id", Words, primary_key=True),
    Column("conversation", Words, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("window", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("state", Json, nullable=False),
    Column("report", Json, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index("lanes_conversation", "conversation", "updated_at"),
)

decisions = Table(
    "decisions",
    metadata,
    Column("id", Words, primary_key=True),
    Column("lane", Words, nullable=False),
    Column("conversation", Words, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("kind", Words, nullable=False),
    Column("rule", Words, nullable=False),
    Column("messages", Json, nullable=False),
    Column("tokens_before", BigInteger, nullable=False),
    Column("tokens_after", BigInteger, nullable=False),
    Column("reason", Words, nullable=False),
    Column("data", Json, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("vetoed_at", Double),
    Column("batch", Words, nullable=False, server_default=text("''")),
    Index("decisions_lane", "lane", "created_at"),
    Index("decisions_rule", "conversation", "rule"),
)

compactions = Table(
    "compactions",
    metadata,
    Column("id", Words, primary_key=True),
    Column("conversation", Words, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("lane", Words, nullable=False),
    Column("level", BigInteger, nullable=False),
    Column("strategy", Words, nullable=False),
    Column("messages", BigInteger, nullable=False),
    Column("tokens_before", BigInteger, nullable=False),
    Column("tokens_after", BigInteger, nullable=False),
    Column("tokens_freed", BigInteger, nullable=False),
    Column("memories", BigInteger, nullable=False),
    Column("model", Words, nullable=False),
    Column("path", Words, nullable=False),
    Column("duration_ms", BigInteger, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("compactions_conversation", "conversation", "created_at"),
)

# A chain along a tree: `through` is the last message that a summary covers, and no two end at the same one.
summaries = Table(
    "summaries",
    metadata,
    Column("id", Words, primary_key=True),
    Column("tree", Words, nullable=False),
    Column("previous", Words),
    Column("through", Words, ForeignKey("messages.id", ondelete="CASCADE"), nullable=False, unique=True),
    Column("depth", BigInteger, nullable=False),
    Column("covers", Json, nullable=False),
    Column("body", Json, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("model", Words, nullable=False),
    Column("path", Words, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("summaries_tree", "tree", "depth"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Words, primary_key=True),
    Column("topic", Words, nullable=False),
    Column("payload", Json, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("done_at", Double),
    Column("attempts", BigInteger, nullable=False),
    Column("error", Words, nullable=False),
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
    Column("upstream", Words, primary_key=True),
    Column("name", Words, primary_key=True),
    Column("trained_window", BigInteger),
    Column("recommended_ctx", BigInteger),
    Column("num_ctx", BigInteger),
    Column("info", Json, nullable=False),
    Column("updated_at", Double, nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("name", Words, primary_key=True),
    Column("value", Json, nullable=False),
    Column("updated_at", Double, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("name", Words, primary_key=True),
    Column("owner", Words, nullable=False),
    Column("expires_at", Double, nullable=False),
)

# Vectors of short texts, by a digest of their words and the key of the embedder that made them: float32,
# little end first. What no row of the index needs is kept as long as it is of use.
embeddings = Table(
    "embeddings",
    metadata,
    Column("digest", Words, primary_key=True),
    Column("model", Words, primary_key=True),
    Column("vector", LargeBinary, nullable=False),
    Column("used_at", Double, nullable=False),
    Index("embeddings_used", "used_at"),
)

# How often a memory was of use. It lies in a file, so nothing here can refer to it but by name.
memory_uses = Table(
    "memory_uses",
    metadata,
    Column("user", Words, primary_key=True),
    Column("project", Words, primary_key=True),
    Column("kind", Words, primary_key=True),
    Column("memory", Words, primary_key=True),
    Column("recalls", BigInteger, nullable=False),
    Column("used_at", Double, nullable=False),
)

# What somebody wanted forgotten, to be known when it comes again: digests of its words, never the words.
tombstones = Table(
    "tombstones",
    metadata,
    Column("user", Words, primary_key=True),
    Column("project", Words, primary_key=True),
    Column("kind", Words, primary_key=True),
    Column("memory", Words, primary_key=True),
    Column("words", Json, nullable=False),
    Column("messages", Json, nullable=False),
    Column("created_at", Double, nullable=False),
)

proposals = Table(
    "proposals",
    metadata,
    Column("id", Words, primary_key=True),
    Column("user", Words, nullable=False),
    Column("field", Words, nullable=False),
    Column("value", Words, nullable=False),
    Column("text", Words, nullable=False),
    Column("conversation", Words, nullable=False),
    Column("messages", Json, nullable=False),
    Column("status", Words, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("proposals_user", "user", "status", "created_at"),
)

# Who may come in. A secret is never kept, only its digest; an empty project means that the client names it.
keys = Table(
    "keys",
    metadata,
    Column("id", Words, primary_key=True),
    Column("digest", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("user", Words, nullable=False),
    Column("project", Words, nullable=False),
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
    Column("user", Words, primary_key=True),
    Column("digest", Words, nullable=False),
    Column("changed_at", Double, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("digest", Words, primary_key=True),
    Column("user", Words, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Index("sessions_user", "user"),
)
