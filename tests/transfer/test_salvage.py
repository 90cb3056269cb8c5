"""A damaged or missing database is noticed, and what can be read of it comes back."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from holdfast.config import Settings
from holdfast.errors import StoreError
from holdfast.memory.folder import FolderWorkspace
from holdfast.messages import Message, Scope
from holdfast.server.app import check_data
from holdfast.store import NewMessage, open_store
from holdfast.transfer import backup, salvage
from holdfast.transfer.staging import DataFolder

CHATS, TURNS = 40, 12


@pytest.fixture
def places(tmp_path):
    places = DataFolder(tmp_path, f"sqlite:///{tmp_path / 'holdfast.db'}")
    with open_store(places.store) as store:
        for chat in range(CHATS):
            messages = [
                NewMessage(Message.of("user", f"{chat}/{turn} " + "tea " * 80)) for turn in range(TURNS)
            ]
            store.log.begin(Scope(), messages, title=f"chat {chat}")
    return places


def zero_a_page(database):
    """Zeroes a page in the middle of the messages."""
    with closing(sqlite3.connect(database)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = database.read_bytes()
    page = content.index(f"{CHATS // 2}/5 tea".encode()) // size
    database.write_bytes(content[: page * size] + bytes(size) + content[(page + 1) * size :])


def test_a_damaged_database_is_refused_and_says_the_way_back(places):
    (places.home / "backups").mkdir()
    home = places.home / "backups" / "monday.zip"
    backup.create(places, home)
    zero_a_page(places.database)
    with pytest.raises(StoreError, match="damaged") as refused:
        check_data(Settings(home=places.home, store=places.store))
    assert "holdfast backup salvage" in refused.value.hint
    assert str(home) in refused.value.hint
    assert salvage.find_damage(places.database)


def test_what_was_not_closed_is_looked_through_at_the_next_start(places):
    work = (
        "import os, sys; from holdfast.store import open_store;"
        "open_store(sys.argv[1]).settings.set('a', 1); os._exit(9)"
    )
    zero_a_page(places.database)
    open_store(places.store).close()
    subprocess.run([sys.executable, "-c", work, places.store], env=os.environ, check=False)
    assert places.database.with_name(f"{places.database.name}-wal").stat().st_size
    with pytest.raises(StoreError, match="damaged"):
        open_store(places.store)


def test_what_can_be_read_is_saved_and_goes_on(places):
    zero_a_page(places.database)
    report = salvage.salvage(places)
    assert salvage.find_damage(places.database) == []
    assert report.rows["conversations"] == CHATS
    assert CHATS * TURNS - 60 < report.rows["messages"] < CHATS * TURNS
    assert sqlite3.connect(report.aside)
    with open_store(places.store) as store:
        rows = store.log.recent(Scope(), CHATS)
        assert len(rows) == CHATS
        assert all(store.log.path(row.head) for row in rows)
        damaged = min(rows, key=lambda row: len(store.log.path(row.head)))
        more = [NewMessage(Message.of("user", "On we go"))]
        store.log.append(damaged.id, more, parent=damaged.head, expect=damaged.head)


def test_a_title_that_is_no_text_is_found_and_mended(places):
    with closing(sqlite3.connect(places.database)) as connection:
        connection.execute("UPDATE conversations SET title = CAST(x'ff41' AS TEXT) WHERE title = 'chat 3'")
        connection.commit()
    with open_store(places.store) as store, pytest.raises(StoreError, match="doctor"):
        store.log.recent(Scope(), CHATS)
    assert "conversations" in salvage.find_damage(places.database)[0]
    salvage.salvage(places)
    with open_store(places.store) as store:
        assert "\ufffdA" in {row.title for row in store.log.recent(Scope(), CHATS)}


@pytest.mark.parametrize("empty", [True, False])
def test_a_missing_database_beside_notes_is_said(places, caplog, empty):
    note = places.workspace / "default" / "MEMORY.md"
    note.parent.mkdir(parents=True)
    note.write_text("- tea")
    settings = Settings(home=places.home, store=places.store)
    check_data(settings)
    assert not caplog.records
    places.database.unlink()
    if empty:
        places.database.touch()
    check_data(settings)
    assert "although there are notes" in caplog.text
    assert salvage.describe_missing(places, FolderWorkspace(places.workspace))


def test_a_message_that_is_none_is_said_and_left_out(places):
    content = places.database.read_bytes().replace(b'"7/11 tea', b'"7/11"tea')
    key = content.rindex(b'"parts"', 0, content.index(b'"8/11 tea'))
    places.database.write_bytes(content[:key] + b'"partz"' + content[key + 7 :])
    with open_store(places.store) as store:
        heads = {row.title: row.head for row in store.log.recent(Scope(), CHATS)}
        for title in ("chat 7", "chat 8"):
            with pytest.raises(StoreError, match=r"doctor"):
                store.log.path(heads[title])
    assert "messages: 1" in salvage.find_damage(places.database)[0]
    assert salvage.salvage(places).lost == {"messages": 2}
    with open_store(places.store) as store:
        for row in store.log.recent(Scope(), CHATS):
            assert len(store.log.path(row.head)) == TURNS - (row.title in ("chat 7", "chat 8"))


def test_what_is_left_of_a_cut_database_is_saved(places):
    size = places.database.stat().st_size
    os.truncate(places.database, size - size // 4)
    assert salvage.find_damage(places.database)
    report = salvage.salvage(places)
    assert 0 < report.rows["messages"] < CHATS * TURNS
    with open_store(places.store) as store:
        assert all(store.log.path(row.head) for row in store.log.recent(Scope(), CHATS) if row.head)


def test_damaged_words_in_the_list_of_tables_are_said(places):
    content = places.database.read_bytes()
    at = content.index(b"(", content.index(b"CREATE TABLE drafts"))
    places.database.write_bytes(content[:at] + b"\xd5" + content[at + 1 :])
    with pytest.raises(StoreError, match="damaged"):
        check_data(Settings(home=places.home, store=places.store))
    assert "list of tables" in salvage.find_damage(places.database)[0]
    salvage.salvage(places)
    with open_store(places.store) as store:
        assert len(store.log.recent(Scope(), CHATS)) == CHATS
