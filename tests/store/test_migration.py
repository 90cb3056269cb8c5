"""Migrating a SQLite file: on a copy, with a backup, alone, and without harm when it fails."""

import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import MigrationFailed, StoreError
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage, open_store
from holdfast.store.migrate import SHIPPED, MigrationScripts

pytestmark = pytest.mark.slow

ADDS_A_COLUMN = 'op.add_column("settings", sa.Column("note", sa.Text))'
FAILS = f'{ADDS_A_COLUMN}\n    op.execute("INSERT INTO nowhere VALUES (1)")'
BREAKS_REFERENCES = 'op.execute("DELETE FROM branches")'


def next_version(folder: Path, body: str) -> MigrationScripts:
    """Our scripts and one more that does `body`: what a newer Holdfast would bring."""
    scripts = folder / "newer scripts, 100%"
    shutil.copytree(SHIPPED.folder, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "versions" / "r9999_newer.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        f'revision = "9999"\ndown_revision = "{SHIPPED.newest}"\n'
        f"def upgrade():\n    {body}\n"
    )
    return MigrationScripts(scripts, "9999")


@pytest.fixture
def path(tmp_path) -> Path:
    """A store of today's version with one conversation in it."""
    path = tmp_path / "data" / "holdfast.db"
    with open_store(f"sqlite:///{path}") as store:
        conversation = store.log.create(Scope(), title="kept")
        hello = NewMessage(Message.of("user", "hello"))
        store.log.append(conversation.id, [hello], parent=None, expect=None)
    return path


def titles(path: Path, scripts: MigrationScripts = SHIPPED) -> list[str]:
    with open_store(f"sqlite:///{path}", scripts=scripts) as store:
        return [
            f"{conversation.title}: {store.log.message(conversation.head).message.text}"
            for conversation in store.log.recent(Scope())
        ]


def version(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]


def files(path: Path) -> set[str]:
    return {str(file.relative_to(path.parent)) for file in path.parent.rglob("*") if file.is_file()}


def test_an_older_database_is_migrated_and_the_old_one_kept(path, tmp_path):
    newer = next_version(tmp_path, ADDS_A_COLUMN)
    assert titles(path, newer) == ["kept: hello"]
    assert version(path) == "9999"
    (backup,) = (path.parent / "backups").iterdir()
    assert backup.name.startswith(f"holdfast-{SHIPPED.newest}-")
    assert version(backup) == SHIPPED.newest
    assert backup.stat().st_mode & 0o077 == 0
    assert titles(backup) == ["kept: hello"]


def test_what_was_still_in_the_journal_is_migrated_too(path, tmp_path):
    # A process that is killed leaves its last commits in the journal.
    script = """if True:
        import os, sys
        from holdfast.messages import Scope
        from holdfast.store import open_store
        store = open_store(sys.argv[1])
        store.settings.set("late", True)
        os.kill(os.getpid(), 9)
        """
    subprocess.run([sys.executable, "-c", script, f"sqlite:///{path}"], check=False)
    assert path.with_name("holdfast.db-wal").stat().st_size > 0
    with open_store(f"sqlite:///{path}", scripts=next_version(tmp_path, ADDS_A_COLUMN)) as store:
        assert store.settings.all() == {"late": True}


def test_a_migration_runs_once(path, tmp_path):
    newer = next_version(tmp_path, ADDS_A_COLUMN)
    for _ in range(2):
        titles(path, newer)
    assert len(list((path.parent / "backups").iterdir())) == 1


@pytest.mark.parametrize("body", [FAILS, BREAKS_REFERENCES], ids=["an error", "broken references"])
def test_a_failed_migration_leaves_the_old_file_working_and_says_where(path, tmp_path, body):
    before = path.read_bytes()
    with pytest.raises(MigrationFailed) as failed:
        titles(path, next_version(tmp_path, body))
    assert f"{path} is as it was" in str(failed.value)
    assert files(path) == {"holdfast.db", "holdfast.db.lock"}
    assert path.read_bytes() == before
    assert titles(path) == ["kept: hello"]


def test_a_crash_during_a_migration_leaves_the_old_file_working(path, tmp_path):
    dies = next_version(tmp_path, "import os; os.kill(os.getpid(), 9)")
    script = """if True:
        import sys
        from pathlib import Path
        from holdfast.store import open_store
        from holdfast.store.migrate import MigrationScripts
        open_store(sys.argv[1], scripts=MigrationScripts(Path(sys.argv[2]), "9999"))
        """
    command = [sys.executable, "-c", script, f"sqlite:///{path}", str(dies.folder)]
    assert subprocess.run(command, check=False).returncode == -9
    assert "holdfast.db.new" in files(path)
    assert titles(path) == ["kept: hello"]
    shutil.rmtree(dies.folder)
    assert titles(path, next_version(tmp_path, ADDS_A_COLUMN)) == ["kept: hello"]
    assert "holdfast.db.new" not in files(path)


def test_a_database_in_use_is_not_migrated(path, tmp_path):
    newer = next_version(tmp_path, ADDS_A_COLUMN)
    with open_store(f"sqlite:///{path}") as in_use:
        with pytest.raises(MigrationFailed, match="Stop every other Holdfast"):
            titles(path, newer)
        in_use.settings.set("still", "working")
    assert titles(path, newer) == ["kept: hello"]


def test_a_database_another_program_reads_is_not_migrated(path, tmp_path):
    newer = next_version(tmp_path, ADDS_A_COLUMN)
    with closing(sqlite3.connect(path, isolation_level=None)) as stranger:
        stranger.execute("BEGIN")
        stranger.execute("SELECT * FROM settings").fetchall()
        with open_store(f"sqlite:///{path}") as store:
            store.settings.set("later", True)
        with pytest.raises(MigrationFailed, match="Another program is using"):
            titles(path, newer)
    with open_store(f"sqlite:///{path}", scripts=newer) as store:
        assert store.settings.all() == {"later": True}


def test_a_newer_database_is_refused_and_left_alone(path, tmp_path):
    titles(path, next_version(tmp_path, ADDS_A_COLUMN))
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"schema version 9999.*or a newer one"):
        titles(path)
    assert path.read_bytes() == before


def test_pre_release_database_is_refused_and_left_unchanged(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0003'")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(
        StoreError, match=r"0003, from before Holdfast 0\.1.*Move it away.*Nothing was changed"
    ):
        titles(path)
    assert path.read_bytes() == before


def test_many_who_open_a_new_store_at_once_build_it_once(tmp_path):
    location = f"sqlite:///{tmp_path / 'holdfast.db'}"
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: open_store(location), range(4)))
    for number, store in enumerate(stores):
        store.settings.set(str(number), number)
    assert stores[0].settings.all() == {"0": 0, "1": 1, "2": 2, "3": 3}
    for store in stores:
        store.close()
