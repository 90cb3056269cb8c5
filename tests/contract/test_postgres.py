"""What only PostgreSQL does: migrating in one transaction, under a lock, next to others."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import inspect, text

from holdfast.errors import MigrationFailed, StoreError
from holdfast.store import open_store
from holdfast.store.migrate import SHIPPED
from holdfast.store.schema import metadata
from tests.store.test_migration import ADDS_A_COLUMN, FAILS, next_version

pytestmark = pytest.mark.real


def columns(store, table: str) -> list[str]:
    return store.database.read(
        lambda connection: [column["name"] for column in inspect(connection).get_columns(table)]
    )


def test_many_who_open_an_empty_database_at_once_migrate_it_once(postgres):
    location = postgres.new_database()
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: open_store(location), range(4)))
    for number, store in enumerate(stores):
        store.settings.set(str(number), number)
    assert len(stores[0].settings.all()) == 4
    for store in stores:
        store.close()


def test_the_migrated_tables_have_the_columns_of_the_schema(migrated_database):
    with open_store(migrated_database) as store:
        for table in metadata.tables.values():
            assert columns(store, table.name) == [column.name for column in table.columns]


def test_a_failed_migration_changes_nothing_and_a_good_one_can_follow(postgres, tmp_path):
    location = postgres.new_database()
    with open_store(location) as store:
        store.settings.set("a", 1)
    bad = next_version(tmp_path, FAILS)
    with pytest.raises(MigrationFailed, match="is as it was"):
        open_store(location, scripts=bad)
    with open_store(location) as store:
        assert store.settings.all() == {"a": 1}
        assert "note" not in columns(store, "settings")
    shutil.rmtree(bad.folder)
    with open_store(location, scripts=next_version(tmp_path, ADDS_A_COLUMN)) as store:
        assert store.settings.all() == {"a": 1}
        assert "note" in columns(store, "settings")
    with pytest.raises(StoreError, match="9999"):
        open_store(location)


def test_reading_cannot_write(migrated_database):
    with open_store(migrated_database) as store, pytest.raises(StoreError, match="read-only"):
        store.database.read(lambda connection: connection.execute(text("DELETE FROM settings")))


def test_the_version_is_the_newest(migrated_database):
    version = text("SELECT version_num FROM alembic_version")
    with open_store(migrated_database) as store:
        assert store.database.read(lambda connection: connection.scalar(version)) == SHIPPED.newest
