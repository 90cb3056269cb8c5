"""Adds lanes and marks, and to each decision the batch it was made in."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "lanes",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column(
            "conversation", sa.Text, sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("window", sa.BigInteger, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("report", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Double, nullable=False),
    )
    op.create_index("lanes_conversation", "lanes", ["conversation", "updated_at"])
    op.create_table(
        "marks",
        sa.Column("message", sa.Text, sa.ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("tree", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_index("marks_tree", "marks", ["tree"])
    op.add_column("decisions", sa.Column("batch", sa.Text, nullable=False, server_default=sa.text("''")))
