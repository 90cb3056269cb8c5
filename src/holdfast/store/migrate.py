"""Brings a database to the newest version of the schema, with Alembic.

Works on one connection: `sqlite_file` runs it on a copy of the file, `store` under a lock on PostgreSQL.
"""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from holdfast.errors import MigrationFailed, StoreError
from holdfast.i18n import lazy


@dataclass(frozen=True, slots=True)
class MigrationScripts:
    """A folder of Alembic scripts and the revision they lead to. Revisions are numbers, written `0001`."""

    folder: Path
    newest: str


SHIPPED = MigrationScripts(Path(__file__).with_name("migrations"), "0009")
# The schema of 0.1, the first release. The scripts cannot upgrade what was made before it.
_OLDEST = "0007"


def is_current(version: str | None, scripts: MigrationScripts, name: str) -> bool:
    """Whether the database `name` can be used as it is; a version of None is an empty one.

    Raises StoreError for a version that this Holdfast cannot read: a newer one, or one from before 0.1.
    """
    if version is not None and version > scripts.newest:
        raise StoreError(
            lazy(
                "{name} has schema version {version}, and this Holdfast knows only up to {newest}.",
                name=name,
                version=version,
                newest=scripts.newest,
            ),
            hint=lazy("Use the Holdfast that made it, or a newer one; nothing was changed."),
        )
    if version is not None and version < _OLDEST:
        raise StoreError(
            lazy(
                "{name} has schema version {version}, from before Holdfast 0.1, and cannot be upgraded.",
                name=name,
                version=version,
            ),
            hint=lazy(
                "Move it away and start with an empty one. The Holdfast that made it can still read it and"
                " save what is in it (`holdfast users export`). Nothing was changed."
            ),
        )
    return version == scripts.newest


def upgrade(connection: Connection, scripts: MigrationScripts) -> None:
    """Run the scripts that are still missing, in the connection's transaction."""
    # Alembic takes longer to load than a store to open, and a current database never needs it.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(scripts.folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except (SQLAlchemyError, CommandError) as error:
        raise MigrationFailed(
            lazy("Migrating to version {newest} failed: {why}.", newest=scripts.newest, why=str(error))
        ) from error
