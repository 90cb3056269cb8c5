"""Adds summaries."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "summaries",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("tree", sa.Text, nullable=False),
        sa.Column("previous", sa.Text),
        sa.Column(
            "through",
            sa.Text,
            sa.ForeignKey("messages.id", ondelete="CASCADE"),
            nullable=False,
            unique=True,
        ),
        sa.Column("depth", sa.BigInteger, nullable=False),
        sa.Column("covers", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.create_index("summaries_tree", "summaries", ["tree", "depth"])
