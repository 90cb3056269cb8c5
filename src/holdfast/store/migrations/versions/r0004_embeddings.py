"""Adds embeddings."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "embeddings",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("model", sa.Text, primary_key=True),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sa.Column("used_at", sa.Double, nullable=False),
    )
    op.create_index("embeddings_used", "embeddings", ["used_at"])
