"""The outbox becomes notes: in order, once, and whatever fails is tried again without holding up the rest."""

import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from holdfast.background.projector import LEASE, LEASE_SECONDS, Projector
from holdfast.errors import StoreError
from holdfast.memory.base import MEMORY_TOPIC, SUMMARY_TOPIC, Memory, SummaryNote
from holdfast.memory.notes import Notes
from holdfast.messages import Scope
from holdfast.store import open_store

NOTE = SummaryNote("s_1", "c_1", "Title", "The summary.", Scope(), 3, "n_1", "n_3", 1000.0, "en")


@pytest.fixture
def location(tmp_path):
    return f"sqlite:///{tmp_path / 'holdfast.db'}"


@pytest.fixture
def store(location):
    with open_store(location) as store:
        yield store


@pytest.fixture
def notes(tmp_path):
    return Notes(tmp_path / "workspace")


@pytest.fixture
def projector(store, notes):
    return Projector(store, notes)


def note_in(store):
    """A summary of a conversation that is there."""
    return replace(NOTE, conversation=store.log.create(Scope()).id)


def promise(store, *names, now=1000.0, **changes):
    memories = [Memory(name, "fact", f"Fact {name}.", Scope(), **changes).to_json() for name in names]
    return store.outbox.put(MEMORY_TOPIC, {"memories": memories}, now=now)


def ids(notes):
    return [memory.id for memory in notes.read(Scope())]


def test_what_was_promised_is_written_in_order_and_once(store, notes, projector, tmp_path):
    note = note_in(store)
    promise(store, "m_1", "m_2", now=1.0)
    store.outbox.put(SUMMARY_TOPIC, note.to_json(), now=2.0)
    promise(store, "m_3", messages=("n_1",), importance=0.9, now=3.0)
    assert projector.project() == 3
    assert store.outbox.pending() == []
    assert ids(notes) == ["m_1", "m_2", "m_3"]
    assert (notes.read(Scope())[-1].messages, notes.read(Scope())[-1].importance) == (("n_1",), 0.9)
    folder = tmp_path / "workspace" / "default" / "conversations" / note.conversation
    assert "The summary." in (folder / "summary.md").read_text()
    assert projector.project() == 0
    assert projector.problem == ""


def test_other_topics_are_left_alone_and_in_nobodys_way(store, notes, projector):
    for n in range(30):
        store.outbox.put("vectors", {"n": n}, now=float(n))
    promise(store, "m_1")
    assert projector.project(limit=2) == 1
    assert ids(notes) == ["m_1"]
    assert {(item.topic, item.attempts) for item in store.outbox.pending()} == {("vectors", 0)}


def test_no_more_is_done_than_was_asked_for(store, notes, projector):
    for n in range(5):
        promise(store, f"m_{n}", now=float(n))
    assert [(projector.project(limit=2), projector.has_more) for _ in range(4)] == [
        (2, True),
        (2, True),
        (1, False),
        (0, False),
    ]
    assert ids(notes) == [f"m_{n}" for n in range(5)]


def test_trouble_is_kept_told_and_over_when_it_is_over(store, notes, projector, tmp_path, caplog):
    workspace = tmp_path / "workspace"
    workspace.write_text("in the way")
    promise(store, "m_1")
    assert projector.project() == 0
    assert "cannot be read or written" in projector.problem
    (item,) = store.outbox.pending()
    assert (item.attempts, item.error) == (1, projector.problem)
    assert projector.project() == 0
    # The same trouble is logged once, however often it is tried.
    assert len(caplog.records) == 1
    assert projector.has_more
    workspace.unlink()
    assert projector.project() == 1
    assert (projector.problem, projector.has_more, ids(notes)) == ("", False, ["m_1"])


def test_one_failure_does_not_stop_the_rest(store, notes, projector, tmp_path):
    (tmp_path / "workspace" / "default").mkdir(parents=True)
    (tmp_path / "workspace" / "default" / "conversations").write_text("in the way")
    store.outbox.put(SUMMARY_TOPIC, note_in(store).to_json(), now=1.0)
    promise(store, "m_1", now=2.0)
    assert projector.project() == 1
    assert ids(notes) == ["m_1"]
    assert "conversations" in projector.problem


@pytest.mark.parametrize(
    "payload",
    [
        {},
        [],
        None,
        {"memories": [{"id": "m_1"}]},
        {"memories": ["words"]},
        {"memories": [{**Memory("m", "fact", "t", Scope()).to_json(), "kind": "rumour"}]},
        {"memories": [{**Memory("m", "fact", "t", Scope()).to_json(), "unknown": 1}]},
        {"memories": [{**Memory("m", "fact", "t", Scope()).to_json(), "valid_from": 1e300}]},
    ],
)
def test_what_cannot_be_read_never_holds_up_what_can(store, notes, projector, payload):
    for n in range(4):
        store.outbox.put(MEMORY_TOPIC, payload, now=float(n))
    promise(store, "m_1", now=10.0)
    projects = [projector.project(limit=2) for _ in range(3)]
    assert sum(projects) == 1
    assert ids(notes) == ["m_1"]
    assert "cannot be read" in projector.problem
    assert len(store.outbox.pending()) == 4


def test_a_failure_that_is_not_tried_this_time_is_still_trouble(store, projector):
    store.outbox.put(MEMORY_TOPIC, {}, now=1.0)
    projector.project()
    promise(store, "m_1", now=2.0)
    assert projector.project(limit=1) == 1
    assert "cannot be read" in projector.problem


def test_an_old_summary_that_comes_late_does_not_replace_the_newer(store, projector, tmp_path):
    note = note_in(store)
    store.outbox.put(SUMMARY_TOPIC, replace(note, id="s_2", text="Newer.", at=2000.0).to_json(), now=1.0)
    store.outbox.put(SUMMARY_TOPIC, note.to_json(), now=2.0)
    assert projector.project() == 2
    folder = tmp_path / "workspace" / "default" / "conversations" / note.conversation
    assert "Newer." in (folder / "summary.md").read_text()


def test_projector_waits_until_lease_of_other_process_expires(store, notes, projector):
    promise(store, "m_1")
    assert store.leases.take(LEASE, "another", 60.0, now=1000.0)
    assert (projector.project(now=1059.0), projector.has_more) == (0, True)
    assert (ids(notes), len(store.outbox.pending())) == ([], 1)
    assert projector.project(now=1060.0) == 1
    # It was given back.
    assert store.leases.take(LEASE, "another", 60.0, now=1061.0)


def test_who_loses_the_lease_stops(store, projector):
    """Memories that, while they are written, lose the lease to somebody else."""

    class Thief:
        def write(self, memories):
            store.leases.take(LEASE, "thief", 60.0, now=1000.0 + 2 * LEASE_SECONDS)

        def write_summary(self, note):
            raise StoreError("must not be reached")

    promise(store, "m_1", now=1.0)
    store.outbox.put(SUMMARY_TOPIC, NOTE.to_json(), now=2.0)
    assert Projector(store, Thief()).project(now=1000.0) == 1
    (left,) = store.outbox.pending()
    assert (left.topic, left.attempts) == (SUMMARY_TOPIC, 0)
    assert not store.leases.take(LEASE, "another", 60.0, now=1000.0 + 2 * LEASE_SECONDS)


DIES = """
import os, signal, sys
from pathlib import Path
from holdfast.memory.notes import Notes
from holdfast.store import open_store
from holdfast.background.projector import Projector

class Dies(Notes):
    def write(self, memories):
        super().write(memories)
        if any(memory.id == "m_2" for memory in memories):
            os.kill(os.getpid(), signal.SIGKILL)

Projector(open_store(sys.argv[1]), Dies(Path(sys.argv[2]))).project(now=1000.0)
"""


def test_a_crash_between_writing_and_marking_writes_nothing_twice(location, notes, tmp_path):
    with open_store(location) as store:
        for n in range(1, 4):
            promise(store, f"m_{n}", now=float(n))
    died = subprocess.run([sys.executable, "-c", DIES, location, str(tmp_path / "workspace")], timeout=60)
    assert died.returncode == -signal.SIGKILL
    assert ids(notes) == ["m_1", "m_2"]
    with open_store(location) as store:
        projector = Projector(store, notes)
        assert len(store.outbox.pending()) == 2
        # The dead process still has the lease, for a moment.
        assert projector.project(now=1000.0) == 0
        assert projector.project(now=1000.0 + LEASE_SECONDS) == 2
    assert ids(notes) == ["m_1", "m_2", "m_3"]
