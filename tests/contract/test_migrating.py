"""Moving: all of it arrives, what breaks off goes on, and nothing of somebody else's is touched."""

import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from holdfast.errors import Conflict
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.workspace import InMemoryWorkspace
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage, open_store
from holdfast.transfer.migrate import MARK, Migration, count_rows, migrate
from tests.contract.test_store import talk

NOTES = {
    "default/MEMORY.md": "# Memory\n\n- Ada sails.\n",
    "default/memory/2026-02-24.md": "Ünïcode, and bytes that are no text: \udcff\n",
    "groups/crew/MEMORY.md": "",
}


def fill(store, notes) -> None:
    # What one database takes and the other does not, where nobody sees to it.
    conversation, content = talk(store, "Where is \0 the Santa Maria?", title="A \0 title")
    fork = [NewMessage(Message.of("user", "And the Pinta?"))]
    store.log.append(conversation.id, fork, parent=content[0].id, expect=content[-1].id)
    store.settings.set("setup.done", True)
    store.outbox.put("memory", {"memories": []})
    store.embeddings.keep("model", {"digest": b"\x00\x01\xff\xfe"})
    store.leases.take("work", "somebody", 60.0)
    for path, text in NOTES.items():
        notes.write(path, text)


def texts(notes) -> dict[str, str]:
    return {str(entry.path): notes.read(entry.path).text for entry in notes.entries()}


@pytest.fixture
def here(tmp_path):
    notes = InMemoryWorkspace()
    with open_store(f"sqlite:///{tmp_path / 'here.db'}") as store:
        fill(store, notes)
        yield store, notes


@pytest.fixture
def there(shared_location):
    with open_store(shared_location) as store:
        yield store


def test_everything_arrives_and_comes_back_as_it_was(here, there, tmp_path):
    store, notes = here
    before, elsewhere = count_rows(store), InMemoryWorkspace()
    moved = migrate(Migration(store, notes, there, elsewhere, "here", "elsewhere"))
    assert moved.before == moved.after == before == count_rows(there) == count_rows(store)
    assert (texts(elsewhere), texts(notes)) == (NOTES, NOTES)
    assert (moved.notes.before, moved.notes.after, moved.notes.left_out) == (3, 3, ())
    assert there.leases.take("work", "another", 60.0), "who works on what stays behind"
    with open_store(f"sqlite:///{tmp_path / 'back.db'}") as back:
        migrate(Migration(there, elsewhere, back, InMemoryWorkspace(), "there", ""))
        assert count_rows(back) == before
        (row,), (again,) = store.log.recent(Scope()), back.log.recent(Scope())
        assert row == again
        assert store.log.path(row.head) == back.log.path(again.head)
        assert back.embeddings.get_vectors("model", ["digest"]) == {"digest": b"\x00\x01\xff\xfe"}
        assert back.settings.all() == store.settings.all()
        assert back.texts.catch_up() == before["messages"], "what was said can be found there"


def test_a_target_with_something_in_it_is_refused_and_left_alone(here, there):
    there.settings.set("mine", 1)
    with pytest.raises(Conflict, match="already"):
        migrate(Migration(*here, there))
    assert there.settings.all() == {"mine": 1}
    assert there.log.recent(Scope()) == []


@pytest.mark.parametrize("path", ["default/other.md", "default/MEMORY.md"])
def test_notes_of_somebody_else_are_refused_before_one_is_written(here, path):
    store, notes = here
    elsewhere = InMemoryWorkspace()
    elsewhere.write(path, "Somebody else's.")
    with pytest.raises(Conflict, match=path):
        migrate(Migration(store, notes, None, elsewhere))
    assert texts(elsewhere) == {path: "Somebody else's."}


class Broken(InMemoryWorkspace):
    """A place that is gone after one note."""

    def write(self, path, text, expect=None):
        if self.entries():
            raise Conflict("The disk is full.")
        return super().write(path, text, expect)


def test_interrupted_migration_resumes_with_messages_added_since(here, there):
    store, notes = here
    with pytest.raises(Conflict, match="full"):
        migrate(Migration(store, notes, there, half := Broken(), "here", "elsewhere"))
    assert there.settings.get(MARK) == {"from": "here", "notes": "elsewhere"}
    (path,) = texts(half)
    talk(store, "What else?")
    notes.write(path, "It was changed since.")
    with pytest.raises(Conflict, match="broke off"):
        migrate(Migration(store, notes, there, half, "another place", "elsewhere"))
    whole = InMemoryWorkspace()
    whole.write(path, texts(half)[path])
    moved = migrate(Migration(store, notes, there, whole, "here", "elsewhere"))
    assert moved.after == count_rows(store) == count_rows(there)
    assert texts(whole) == texts(notes)
    assert there.settings.get(MARK) is None


class Busy(InMemoryWorkspace):
    """Notes beside which somebody talks while they are read."""

    def __init__(self, store):
        super().__init__()
        self.store = store

    def read(self, path):
        talk(self.store, "Still here!")
        return super().read(path)


def test_messages_added_during_migration_are_noticed_and_it_can_be_repeated(here, there):
    store, _ = here
    notes, elsewhere = Busy(store), InMemoryWorkspace()
    notes.write("default/MEMORY.md", "One.")
    with pytest.raises(Conflict, match="While it was moved"):
        migrate(Migration(store, notes, there, elsewhere))
    notes.store = open_store("sqlite://")
    assert migrate(Migration(store, notes, there, elsewhere)).after == count_rows(store)
    notes.store.close()


def test_what_is_no_text_is_left_out_and_told(here, tmp_path):
    folder = FolderWorkspace(tmp_path / "notes")
    folder.write("default/MEMORY.md", "One.")
    (tmp_path / "notes" / "default" / "photo.md").write_bytes(b"\0\1")
    moved = migrate(Migration(here[0], folder, None, elsewhere := InMemoryWorkspace()))
    assert texts(elsewhere) == {"default/MEMORY.md": "One."}
    assert [line.split(":")[0] for line in moved.notes.left_out] == ["default/photo.md"]


# Dies when a table has come over by half, in the middle of everything.
KILLED = """if True:
    import os, signal, sys
    from holdfast.memory.workspace import InMemoryWorkspace
    from holdfast.transfer.migrate import Migration, migrate
    from holdfast.store import open_store

    def tell(what, done, total):
        if what.endswith("outbox") and done:
            os.kill(os.getpid(), signal.SIGKILL)

    with open_store(sys.argv[1]) as source, open_store(sys.argv[2]) as target:
        migrate(Migration(source, InMemoryWorkspace(), target), tell)
    """


def test_a_killed_move_leaves_an_empty_target_and_can_begin_again(here, shared_location, tmp_path):
    store, notes = here
    command = [sys.executable, "-c", KILLED, f"sqlite:///{tmp_path / 'here.db'}", shared_location]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    with open_store(shared_location) as target:
        assert set(count_rows(target).values()) == {0}
        assert migrate(Migration(store, notes, target)).after == count_rows(store)


class Finer(InMemoryWorkspace):
    """Tells the time of a change otherwise in every list, as MinIO does before and after a note is read."""

    lists = 0

    def entries(self, prefix=""):
        self.lists += 1
        return [replace(entry, mtime=entry.mtime + self.lists) for entry in super().entries(prefix)]


def test_a_time_that_is_told_otherwise_is_no_change(tmp_path):
    notes, elsewhere = Finer(), InMemoryWorkspace()
    with open_store(f"sqlite:///{tmp_path / 'here.db'}") as store:
        fill(store, notes)
        moved = migrate(Migration(store, notes, None, elsewhere))
    assert moved.notes is not None
    assert moved.notes.after == len(NOTES)
    assert texts(elsewhere) == NOTES
