"""Run by Alembic for every migration, on the connection it is given: it opens none and reads no settings."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
