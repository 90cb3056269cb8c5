"""Several processes on one SQLite file, and processes that are killed: what was acknowledged is there."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from holdfast.messages import Scope
from holdfast.store import open_store

pytestmark = pytest.mark.slow

# Appends in a loop and prints the id of each message once it is stored.
APPENDER = """if True:
    import sys
    from holdfast.errors import Conflict
    from holdfast.messages import Message
    from holdfast.store import NewMessage, open_store

    location, conversation, name, turns = sys.argv[1:]
    with open_store(location) as store:
        for turn in range(int(turns)):
            new = [NewMessage(Message.of("user", f"{name}.{turn} " + "word " * 200))]
            while True:
                head = store.log.get(conversation).head
                try:
                    (kept,) = store.log.append(conversation, new, parent=head, expect=head)
                except Conflict:
                    continue
                break
            print(kept.id, flush=True)
    """


def start(location: str, conversation: str, name: str, turns: int) -> subprocess.Popen:
    command = [sys.executable, "-c", APPENDER, location, conversation, name, str(turns)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "holdfast.db"


@pytest.fixture
def conversation(path):
    with open_store(f"sqlite:///{path}") as store:
        return store.log.create(Scope()).id


def list_ids(path, conversation: str) -> list[str]:
    with open_store(f"sqlite:///{path}") as store:
        return [message.id for message in store.log.path(store.log.get(conversation).head)]


def test_two_processes_that_append_keep_every_message_once_and_in_order(path, conversation):
    processes = [start(f"sqlite:///{path}", conversation, name, 40) for name in ("one", "two")]
    acknowledged = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    record = list_ids(path, conversation)
    assert sorted(record) == sorted([*acknowledged[0], *acknowledged[1]])
    assert len(record) == 80
    for names in acknowledged:
        assert names == [name for name in record if name in set(names)]


def test_a_killed_process_loses_nothing_it_acknowledged(path, conversation):
    acknowledged = []
    for turns in (1, 3, 8, 20):
        process = start(f"sqlite:///{path}", conversation, f"until {turns}", 1_000_000)
        seen = [process.stdout.readline().strip() for _ in range(turns)]
        process.send_signal(signal.SIGKILL)
        # What was printed before the signal came is acknowledged too, what was read ahead among it.
        acknowledged += [*seen, *process.stdout.read().split()]
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        record = list_ids(path, conversation)
        # The last append of each round may have been stored just before the word of it got out.
        assert [name for name in record if name in set(acknowledged)] == acknowledged
        assert len(record) <= len(acknowledged) + 4
