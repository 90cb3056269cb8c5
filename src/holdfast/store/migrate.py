"""Brings a database to the newest version of the schema, with Alembic.

It knows the scripts and one connection; that the work is done on a copy (`sqlite_file`) or under a lock
(`postgres`) is not its business.
"""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from holdfast.errors import MigrationFailed, StoreError


@dataclass(frozen=True, slots=True)
class MigrationScripts:
    """A folder of Alembic scripts and the revision they lead to. Revisions are numbers, written `0001`."""

    folder: Path
    newest: str


SHIPPED = MigrationScripts(Path(__file__).with_name("migrations"), "0007")


def is_current(version: str | None, scripts: MigrationScripts, name: str) -> bool:
    """Whether a database of this version can be used as it is; None is a new one. A newer one is refused."""
    if version is not None and version > scripts.newest:
        raise StoreError(
            f"{name} has schema version {version}, and this Holdfast knows only up to {scripts.newest}.",
            hint="Use the Holdfast that made it, or a newer one; nothing was changed.",
        )
    return version == scripts.newest


def upgrade(connection: Connection, scripts: MigrationScripts) -> None:
    """Run the scripts that are still missing, in the transaction the connection is in."""
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
        raise MigrationFailed(f"Migrating to version {scripts.newest} failed: {error}.") from error
