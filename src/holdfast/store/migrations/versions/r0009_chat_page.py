"""Adds what the chat page keeps: pin, archive and folder of chats, saved prompts, presets of options."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    for name in ("pinned", "archived"):
        op.add_column("conversations", sa.Column(name, sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("conversations", sa.Column("folder", sa.Text, nullable=False, server_default=sa.text("''")))
    op.create_table(
        "saved_prompts",
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Double, nullable=False),
    )
    op.create_table(
        "presets",
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Double, nullable=False),
    )
