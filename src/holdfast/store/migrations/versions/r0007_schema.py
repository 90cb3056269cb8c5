"""Creates every table of version 0.1.

Written out instead of taken from `schema`: a migration must do tomorrow what it does today. The number is the
one that databases of 0.1 had before its steps became this one, so these open as they are.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = None


def upgrade() -> None:
    _messages()
    _conversations()
    _jobs()
    _window()
    _summaries()
    _memory()
    _access()
    _background()
    _forbid_changing_messages()


def _id(name: str = "id", *rest: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, *rest, primary_key=True)


def _text(name: str, *rest: Any, null: bool = False, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, *rest, nullable=null, **options)


def _number(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=null)


def _flag(name: str, **options: Any) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False, **options)


def _time(name: str, *, null: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=null)


def _messages() -> None:
    op.create_table(
        "branches",
        _id(),
        _text("tree"),
        _text("parent_branch", sa.ForeignKey("branches.id"), null=True),
        _number("fork_depth"),
    )
    op.create_index("branches_tree", "branches", ["tree"])
    op.create_index("branches_parent", "branches", ["parent_branch", "fork_depth"])
    op.create_table(
        "messages",
        _id(),
        _text("tree"),
        _text("branch", sa.ForeignKey("branches.id")),
        _number("depth"),
        _text("parent", sa.ForeignKey("messages.id"), null=True),
        _text("role"),
        _text("digest"),
        _text("body"),
        _text("anchor", null=True),
        _text("model"),
        _text("finish"),
        _text("job"),
        _time("created_at"),
    )
    op.create_index("messages_place", "messages", ["branch", "depth"], unique=True)
    op.create_index("messages_parent", "messages", ["parent"])
    op.create_index("messages_anchor", "messages", ["anchor", "created_at"])
    op.create_index(
        "messages_once", "messages", ["tree", sa.text("coalesce(parent, '')"), "digest"], unique=True
    )
    op.create_table(
        "message_tokens",
        _id("message", sa.ForeignKey("messages.id", ondelete="CASCADE")),
        _id("counter"),
        _number("tokens"),
    )
    op.create_table(
        "marks",
        _id("message", sa.ForeignKey("messages.id", ondelete="CASCADE")),
        _id("kind"),
        sa.Column("number", sa.BigInteger, primary_key=True),
        _text("tree"),
        _text("text"),
    )
    op.create_index("marks_tree", "marks", ["tree"])


def _conversations() -> None:
    op.create_table(
        "conversations",
        _id(),
        _text("tree"),
        _text("user"),
        _text("project"),
        _text("kind"),
        _text("title"),
        _text("head", sa.ForeignKey("messages.id"), null=True),
        _number("version"),
        _text("client"),
        _text("external_id"),
        _text("settings"),
        _time("created_at"),
        _time("updated_at"),
    )
    op.create_index("conversations_recent", "conversations", ["user", "project", "kind", "updated_at"])
    op.create_index("conversations_external", "conversations", ["user", "project", "external_id"])
    op.create_index("conversations_tree", "conversations", ["tree"])
    op.create_index("conversations_head", "conversations", ["head"])
    op.create_table(
        "drafts",
        _id("job"),
        _text("conversation", sa.ForeignKey("conversations.id", ondelete="CASCADE")),
        _text("parent", sa.ForeignKey("messages.id", ondelete="CASCADE"), null=True),
        _text("body"),
        _text("model"),
        _time("beat_at"),
    )
    op.create_index("drafts_conversation", "drafts", ["conversation"])
    op.create_index("drafts_parent", "drafts", ["parent"])


def _jobs() -> None:
    op.create_table("prompts", _id("digest"), _text("body"), _time("created_at"))
    op.create_table(
        "jobs",
        _id(),
        _text("conversation", sa.ForeignKey("conversations.id", ondelete="SET NULL"), null=True),
        _text("kind"),
        _text("user"),
        _text("project"),
        _text("model"),
        _text("upstream"),
        _text("status"),
        _text("prompt", null=True),
        _number("prompt_tokens", null=True),
        _number("completion_tokens", null=True),
        _number("cached_tokens", null=True),
        _number("window", null=True),
        _time("queued_at"),
        _time("started_at", null=True),
        _time("first_token_at", null=True),
        _time("finished_at", null=True),
        _text("timings"),
        _text("error"),
    )
    op.create_index("jobs_recent", "jobs", ["queued_at"])
    op.create_index("jobs_conversation", "jobs", ["conversation", "queued_at"])
    op.create_index("jobs_status", "jobs", ["status", "queued_at"])
    op.create_index("jobs_prompt", "jobs", ["prompt"])


def _window() -> None:
    op.create_table(
        "lanes",
        _id(),
        _text("conversation", sa.ForeignKey("conversations.id", ondelete="CASCADE")),
        _number("window"),
        _number("version"),
        _text("state"),
        _text("report"),
        _time("updated_at"),
    )
    op.create_index("lanes_conversation", "lanes", ["conversation", "updated_at"])
    op.create_table(
        "decisions",
        _id(),
        _text("lane"),
        _text("conversation", sa.ForeignKey("conversations.id", ondelete="CASCADE")),
        _text("kind"),
        _text("rule"),
        _text("messages"),
        _number("tokens_before"),
        _number("tokens_after"),
        _text("reason"),
        _text("data"),
        _time("created_at"),
        _time("vetoed_at", null=True),
        _text("batch", server_default=sa.text("''")),
    )
    op.create_index("decisions_lane", "decisions", ["lane", "created_at"])
    op.create_index("decisions_rule", "decisions", ["conversation", "rule"])
    op.create_table(
        "compactions",
        _id(),
        _text("conversation", sa.ForeignKey("conversations.id", ondelete="CASCADE")),
        _text("lane"),
        _number("level"),
        _text("strategy"),
        _number("messages"),
        _number("tokens_before"),
        _number("tokens_after"),
        _number("tokens_freed"),
        _number("memories"),
        _text("model"),
        _text("path"),
        _number("duration_ms"),
        _time("created_at"),
    )
    op.create_index("compactions_conversation", "compactions", ["conversation", "created_at"])


def _summaries() -> None:
    op.create_table(
        "summaries",
        _id(),
        _text("tree"),
        _text("previous", null=True),
        _text("through", sa.ForeignKey("messages.id", ondelete="CASCADE"), unique=True),
        _number("depth"),
        _text("covers"),
        _text("body"),
        _number("tokens"),
        _text("model"),
        _text("path"),
        _time("created_at"),
    )
    op.create_index("summaries_tree", "summaries", ["tree", "depth"])


def _memory() -> None:
    op.create_table(
        "embeddings",
        _id("digest"),
        _id("model"),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        _time("used_at"),
    )
    op.create_index("embeddings_used", "embeddings", ["used_at"])
    names = ("user", "project", "kind", "memory")
    op.create_table("memory_uses", *map(_id, names), _number("recalls"), _time("used_at"))
    op.create_table("tombstones", *map(_id, names), _text("words"), _text("messages"), _time("created_at"))
    op.create_table(
        "proposals",
        _id(),
        _text("user"),
        _text("field"),
        _text("value"),
        _text("text"),
        _text("conversation"),
        _text("messages"),
        _text("status"),
        _time("created_at"),
    )
    op.create_index("proposals_user", "proposals", ["user", "status", "created_at"])


def _access() -> None:
    op.create_table(
        "keys",
        _id(),
        _text("digest"),
        _text("name"),
        _text("user"),
        _text("project"),
        _flag("admin"),
        _flag("forwarder"),
        _flag("off"),
        _flag("memory"),
        _number("rate"),
        _time("created_at"),
        _time("used_at", null=True),
        _flag("files", server_default=sa.false()),
    )
    op.create_table("passwords", _id("user"), _text("digest"), _time("changed_at"))
    op.create_table("sessions", _id("digest"), _text("user"), _time("created_at"), _time("expires_at"))
    op.create_index("sessions_user", "sessions", ["user"])


def _background() -> None:
    op.create_table(
        "outbox",
        _id(),
        _text("topic"),
        _text("payload"),
        _time("created_at"),
        _time("done_at", null=True),
        _number("attempts"),
        _text("error"),
    )
    pending = sa.text("done_at IS NULL")
    op.create_index(
        "outbox_pending", "outbox", ["created_at"], sqlite_where=pending, postgresql_where=pending
    )
    op.create_table(
        "models",
        _id("upstream"),
        _id("name"),
        _number("trained_window", null=True),
        _number("recommended_ctx", null=True),
        _number("num_ctx", null=True),
        _text("info"),
        _time("updated_at"),
    )
    op.create_table("settings", _id("name"), _text("value"), _time("updated_at"))
    op.create_table("leases", _id("name"), _text("owner"), _time("expires_at"))


def _forbid_changing_messages() -> None:
    """The log is append-only; the database itself holds us to it."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TRIGGER messages_stay BEFORE UPDATE ON messages "
            "BEGIN SELECT RAISE(ABORT, 'a stored message is never changed'); END"
        )
        return
    op.execute(
        "CREATE FUNCTION messages_stay() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'a stored message is never changed'; END $$"
    )
    op.execute(
        "CREATE TRIGGER messages_stay BEFORE UPDATE ON messages FOR EACH ROW EXECUTE FUNCTION messages_stay()"
    )
