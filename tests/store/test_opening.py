"""Opening a store: what is made, what is refused, and what the refusal says."""

import sqlite3
import stat
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import StoreError
from holdfast.messages import Scope
from holdfast.store import open_store
from tests.privileges import without_privileges


def at(path: Path) -> str:
    return f"sqlite:///{path}"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_store_and_its_folders_are_private(tmp_path):
    path = tmp_path / "some" / "where" / "holdfast.db"
    with open_store(at(path)) as store:
        store.settings.set("a", 1)
        assert mode(path.parent) == 0o700
        assert {file.name: mode(file) for file in path.parent.iterdir()} == dict.fromkeys(
            ("holdfast.db", "holdfast.db-wal", "holdfast.db-shm", "holdfast.db.lock"), 0o600
        )
    assert {file.name for file in path.parent.iterdir()} == {"holdfast.db", "holdfast.db.lock"}


def test_what_was_stored_is_there_after_opening_again(tmp_path):
    path = tmp_path / "with space & 100% ü.db"
    with open_store(at(path)) as store:
        conversation = store.log.create(Scope(), title="kept")
    with open_store(at(path)) as store:
        assert store.log.get(conversation.id) == conversation


def test_the_settings_that_keep_data_safe_are_in_force(tmp_path):
    with open_store(at(tmp_path / "holdfast.db")) as store:
        for run in (store.database.read, store.database.write):
            pragmas = {
                name: run(lambda connection, name=name: connection.exec_driver_sql(f"PRAGMA {name}").scalar())
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            }
            assert pragmas == {
                "journal_mode": "wal",
                "synchronous": 2,
                "foreign_keys": 1,
                "busy_timeout": 10_000,
            }


def test_a_store_in_memory_is_gone_when_it_is_closed():
    for location in ("sqlite://", "sqlite:///:memory:"):
        with open_store(location) as store:
            store.settings.set("a", 1)
        with open_store(location) as store:
            assert store.settings.all() == {}


def test_an_empty_file_becomes_a_store(tmp_path):
    path = tmp_path / "holdfast.db"
    path.touch()
    with open_store(at(path)) as store:
        assert store.settings.all() == {}


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "holdfast.db"
    path.write_text("Dear diary, " * 100)
    with pytest.raises(StoreError, match=r"is no database.*choose another place"):
        open_store(at(path))
    assert path.read_text() == "Dear diary, " * 100


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "holdfast.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        open_store(at(path))
    assert path.read_bytes() == before


def test_a_folder_where_the_file_should_be_is_refused(tmp_path):
    (tmp_path / "holdfast.db" / "x").mkdir(parents=True)
    with pytest.raises(StoreError, match="Cannot open"):
        open_store(at(tmp_path / "holdfast.db"))


def test_a_file_where_a_folder_should_be_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"Cannot use .* choose another place"):
        open_store(at(tmp_path / "file" / "holdfast.db"))


def test_a_folder_that_cannot_be_written_to_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        with without_privileges(), pytest.raises(StoreError, match=r"Cannot use .* choose another place"):
            open_store(at(Path(folder) / "holdfast.db"))
        assert list(Path(folder).iterdir()) == []


@pytest.mark.parametrize("location", ["", "nonsense", "mysql://host/db", "redis://host", "/a/path.db"])
def test_a_location_nobody_understands_is_refused_with_an_example(location):
    with pytest.raises(StoreError, match="sqlite:///PATH"):
        open_store(location)


def test_a_server_that_does_not_answer_is_named_without_its_password():
    with pytest.raises(StoreError, match="See that the server runs") as refused:
        open_store("postgresql://ann:secret@127.0.0.1:1/holdfast?connect_timeout=2")
    assert "127.0.0.1" in str(refused.value)
    assert "secret" not in str(refused.value)


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_without_the_driver_the_error_names_the_extra():
    script = """if True:
        import sys
        sys.modules["psycopg"] = None
        from holdfast.errors import StoreError
        from holdfast.store import open_store
        try:
            open_store("postgresql://127.0.0.1/holdfast")
        except StoreError as error:
            print(error)
        """
    assert "pip install 'holdfast[postgres]'" in run(script)


def test_current_store_opens_without_alembic_and_psycopg(tmp_path):
    location = at(tmp_path / "holdfast.db")
    script = """if True:
        import sys
        from holdfast.store import open_store
        open_store(sys.argv[1]).close()
        print(sorted({"alembic", "psycopg", "mako"} & set(sys.modules)))
        """
    assert run(script, location) == "['alembic', 'mako']"
    assert run(script, location) == "[]"


@pytest.fixture
def read_only():
    """A database in a folder that nobody may write to, and its owner's doings before that."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "holdfast.db"
        with open_store(at(path)) as store:
            store.log.create(Scope(), title="kept")

        def close_folder():
            for place, rights in ((path.parent, 0o555), *((file, 0o444) for file in path.parent.iterdir())):
                place.chmod(rights)

        yield path, close_folder
        path.parent.chmod(0o755)


@pytest.mark.parametrize("crashed", [False, True])
def test_a_database_that_cannot_be_written_can_be_read(read_only, crashed):
    path, close_folder = read_only
    if crashed:
        work = (
            "import os, sys; from holdfast.store import open_store;"
            "open_store(sys.argv[1]).settings.set('late', 1); os._exit(9)"
        )
        subprocess.run([sys.executable, "-c", work, at(path)], check=False)
    close_folder()
    with without_privileges(), open_store(at(path)) as store:
        assert [row.title for row in store.log.recent(Scope())] == ["kept"]
        assert store.settings.all() == ({"late": 1} if crashed else {})
        with pytest.raises(StoreError, match=r"can only be read.*--home"):
            store.settings.set("a", 1)


def test_an_older_database_that_cannot_be_written_says_what_to_do(read_only):
    path, close_folder = read_only
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0007'")
        connection.commit()
    close_folder()
    with without_privileges(), pytest.raises(StoreError, match=r"older Holdfast.*Copy the data folder"):
        open_store(at(path))
