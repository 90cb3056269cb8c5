"""Adds to each key whether its requests may point at files, and finds those a conversation has quickly."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("keys", sa.Column("files", sa.Boolean, nullable=False, server_default=sa.false()))
    op.drop_index("decisions_conversation", "decisions")
    op.create_index("decisions_rule", "decisions", ["conversation", "rule"])
