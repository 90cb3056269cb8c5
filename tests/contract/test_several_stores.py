"""Several processes on one database: promises are kept by one, old talks go once, and clocks may differ."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from holdfast.background.projector import LEASE, LEASE_SECONDS, Projector
from holdfast.background.retention import DAY, Retention
from holdfast.context.loading import RecordedQuestion
from holdfast.errors import Conflict
from holdfast.memory.base import MEMORY_TOPIC, Memory
from holdfast.memory.notes import Notes
from holdfast.memory.workspace import InMemoryWorkspace
from holdfast.messages import Message, Scope
from holdfast.store import open_store
from holdfast.turn import QuestionRecorder
from tests.context.test_question_recorder import answered, incoming
from tests.contract.conftest import POSTGRES, place_for_a_store
from tests.contract.test_store import talk

HOUR = 3_600.0


@pytest.fixture(params=[POSTGRES])
def on_server(request):
    with place_for_a_store(request) as place:
        yield place


@pytest.fixture
def two(shared_location):
    with open_store(shared_location) as store, open_store(shared_location) as other:
        yield store, other


class CountingNotes(Notes):
    """Notes that know how often each memory was to be written."""

    def __init__(self, place):
        super().__init__(place)
        self.asked = []

    def write(self, memories):
        self.asked += [memory.id for memory in memories]
        super().write(memories)


def promise(store, name):
    memory = Memory(name, "fact", f"Fact {name}.", Scope())
    store.outbox.put(MEMORY_TOPIC, {"memories": [memory.to_json()]})


def test_two_who_keep_promises_at_once_keep_each_of_them_once(two):
    names = [f"m_{number}" for number in range(40)]
    notes = CountingNotes(InMemoryWorkspace())
    for name in names:
        promise(two[0], name)
    with ThreadPoolExecutor(2) as pool:
        projectors = [Projector(store, notes) for store in two]

        def drain(projector):
            return sum(projector.project(limit=3) for _ in iter(two[0].outbox.pending, []))

        total = sum(pool.map(drain, projectors))
    assert total == len(names)
    assert sorted(notes.asked) == sorted(names)
    assert sorted(memory.id for memory in notes.read(Scope())) == sorted(names)


def test_outbox_of_dead_process_is_delivered_after_lease_expires(two):
    dead, alive = two
    promise(dead, "m_1")
    assert dead.leases.take(LEASE, "dead", LEASE_SECONDS, now=1_000.0)
    projector = Projector(alive, notes := CountingNotes(InMemoryWorkspace()))
    assert (projector.project(now=1_000.0 + LEASE_SECONDS / 2), projector.has_more) == (0, True)
    assert (projector.project(now=1_001.0 + LEASE_SECONDS), notes.asked) == (1, ["m_1"])
    assert not dead.leases.renew(LEASE, "dead", LEASE_SECONDS, now=1_001.0 + LEASE_SECONDS)


def test_who_looks_for_promises_in_vain_takes_no_lease(two):
    projector = Projector(two[0], Notes(InMemoryWorkspace()))
    assert two[1].leases.take(LEASE, "another", LEASE_SECONDS)
    assert (projector.project(), projector.has_more) == (0, False)


def test_concurrent_retention_deletes_each_conversation_once(two):
    now = time.time()
    old = {talk(two[0], f"talk {number}")[0].id for number in range(12)}
    later = now + 3 * DAY
    with ThreadPoolExecutor(2) as pool:
        gone = list(pool.map(lambda store: Retention(store, days=1).prune(later), two))
    names = [row.id for item in gone for row, _ in item]
    assert sorted(names) == sorted(old)
    assert two[0].log.list_used_since(0.0) == []


def test_concurrent_summaries_of_same_span_report_conflict_to_second_server(on_server):
    with open_store(on_server) as store, open_store(on_server) as other, ThreadPoolExecutor(2) as pool:
        _, messages = talk(store, "What is that?", "A whale.")
        names = [message.id for message in messages]
        summary = {"previous": None, "body": {}, "tokens": 1}
        written, commit = threading.Event(), threading.Event()

        def slowly() -> None:
            store.summaries.put(covers=names[:1], **summary)
            written.set()
            assert commit.wait(60)

        first = pool.submit(store.atomically, slowly)
        assert written.wait(60)
        second = pool.submit(other.summaries.put, covers=names, **summary)
        while not second.done() and not waits_for_lock(store):
            pass
        commit.set()
        first.result()
        with pytest.raises(Conflict, match="summarised meanwhile"):
            second.result()


def waits_for_lock(store) -> bool:
    query = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    return store.database.read(lambda connection: connection.scalar(query)) > 0


def test_server_with_slow_clock_keeps_leases_and_answers(on_server, monkeypatch):
    now = time.time
    with open_store(on_server) as slow, open_store(on_server) as other:
        conversation, messages = talk(slow, "What is that?")
        job = slow.jobs.start(Scope(), conversation=conversation.id)
        with monkeypatch.context() as patched:
            patched.setattr(time, "time", lambda: now() - HOUR)
            assert slow.leases.take("work", "slow", 10.0)
            answer = Message.of("assistant", "That is")
            slow.drafts.save(job.id, conversation.id, messages[-1].id, answer)
        assert not other.leases.take("work", "other", 10.0)
        assert other.drafts.recover() == []
        with monkeypatch.context() as patched:
            patched.setattr(time, "time", lambda: now() - HOUR)
            assert slow.leases.renew("work", "slow", 10.0)


def test_conversations_with_same_start_on_two_servers_stay_separate(on_server):
    """What one server remembers of its own talks must not decide where another's belongs."""
    hello = (Message.of("user", "Hello there!"), Message.of("assistant", "Good morning to you."))
    next_question = Message.of("user", "What is for lunch?")
    with open_store(on_server) as here, open_store(on_server) as store:

        async def both() -> tuple[RecordedQuestion, RecordedQuestion, RecordedQuestion]:
            item, other = QuestionRecorder(here), QuestionRecorder(store)
            first = await answered(here, item, incoming(hello[0]), hello[1].text)
            second = await answered(store, other, incoming(hello[0]), hello[1].text)
            return first, second, await item.record(*incoming(*hello, next_question))

        first, second, third = asyncio.run(both())
        assert first.conversation.id != second.conversation.id
        # As one server with both of them decides: it is the talk that was last gone on with.
        assert third.conversation.id == second.conversation.id
        assert "word for word" not in third.placement.reason
