"""Adds to jobs the message they answered with, where the same words were in the log before."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("answer", sa.Text, nullable=True))
