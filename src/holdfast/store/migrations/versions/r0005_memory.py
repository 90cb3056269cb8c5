"""Adds what is known of memories beside their files: use, what was forgotten, proposals for the profile."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "memory_uses",
        *_key(),
        sa.Column("recalls", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.Double, nullable=False),
    )
    op.create_table(
        "tombstones",
        *_key(),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("messages", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.create_table(
        "proposals",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, nullable=False),
        sa.Column("field", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("messages", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.create_index("proposals_user", "proposals", ["user", "status", "created_at"])


def _key() -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, primary_key=True) for name in ("user", "project", "kind", "memory")]
