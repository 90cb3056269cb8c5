"""Creates every table.

Written out and not taken from `schema`: a migration must do tomorrow what it does today.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _messages()
    _conversations()
    _jobs()
    _window()
    _keeping()
    _forbid_changing_messages()


def _id(name: str = "id") -> sa.Column[str]:
    return sa.Column(name, sa.Text, primary_key=True)


def _text(name: str, *rest: Any, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, *rest, nullable=null)


def _number(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=null)


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
        sa.Column("message", sa.Text, sa.ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
        _id("counter"),
        _number("tokens"),
    )


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
    )
    op.create_index("decisions_lane", "decisions", ["lane", "created_at"])
    op.create_index("decisions_conversation", "decisions", ["conversation"])
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


def _keeping() -> None:
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
