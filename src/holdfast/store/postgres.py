"""A PostgreSQL database: connecting to it, and bringing its schema up to date under a lock.

The driver is an extra and is loaded here, when a location asks for it. It knows nothing of tables.
"""

from sqlalchemy import URL, Connection, Engine, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from holdfast.errors import MigrationFailed, StoreError
from holdfast.store.migrate import MigrationScripts, is_current, upgrade

# Any number will do, as long as every Holdfast uses the same.
_MIGRATION_LOCK = 4_065_201_107


def connect(url: URL, scripts: MigrationScripts) -> Engine:
    """An engine for a database that is reachable and current."""
    shown = url.render_as_string(hide_password=True)
    try:
        engine = create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise StoreError(
            "PostgreSQL needs the package psycopg.", hint="Install it: pip install 'holdfast[postgres]'."
        ) from error
    try:
        with engine.connect() as connection:
            current = is_current(_version_of(connection), scripts, shown)
        if not current:
            _migrate(engine, scripts, shown)
    except DBAPIError as error:
        engine.dispose()
        raise StoreError(
            f"Cannot use {shown}: {error.orig}.", hint="See that the server runs and lets this user in."
        ) from error
    except StoreError:
        engine.dispose()
        raise
    return engine


def _migrate(engine: Engine, scripts: MigrationScripts, shown: str) -> None:
    # DDL is transactional here: either all of it happens or nothing, and others wait for the lock.
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            if not is_current(_version_of(connection), scripts, shown):
                upgrade(connection, scripts)
    except MigrationFailed as error:
        error.hint = f"{shown} is as it was: the Holdfast that made it can still use it."
        raise


def _version_of(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return version
