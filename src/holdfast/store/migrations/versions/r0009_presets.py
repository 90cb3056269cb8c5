"""Adds the table of presets: named options for chats, of one person each."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "presets",
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Double, nullable=False),
    )
