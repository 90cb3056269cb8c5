"""A fork shares the words of its origin, and what was decided on them."""

import asyncio

import pytest

from holdfast.conversations import lanes
from holdfast.errors import BadRequest, NotFound
from holdfast.messages import Message
from holdfast.store import NewMessage
from holdfast.testing.provider import ScriptedProvider
from tests.talks import carry, engine_on, long_talk

NEXT = Message.of("user", "Where were we?")


def run(folder, work):
    """Runs `work(engine, provider)` on an engine of its own."""

    async def whole():
        provider = ScriptedProvider(fallback="Of course.")
        engine = engine_on(folder, provider)
        try:
            return await work(engine, provider)
        finally:
            await engine.close()

    return asyncio.run(whole())


def test_a_fork_goes_on_with_the_bytes_of_its_origin(tmp_path):
    async def work(engine, provider):
        origin = await carry(engine, *long_talk())
        row = engine.store.log.get(origin)
        fork = engine.store.atomically(lanes.fork, engine.store, row)
        await carry(engine, NEXT, continues=fork.id)
        await carry(engine, NEXT, continues=origin)
        first, in_fork, in_origin = provider.requests
        assert in_fork.messages == in_origin.messages
        *earlier, question = first.messages
        assert in_fork.messages[: len(earlier)] == tuple(earlier)
        assert question.text.startswith(in_fork.messages[len(earlier)].text), "evidence for it has left"

    run(tmp_path, work)


def test_undone_decisions_stay_undone_in_a_fork(tmp_path):
    async def work(engine, provider):
        store = engine.store
        row = store.log.get(await carry(engine, *long_talk()))
        undone = store.atomically(lanes.undo, store, row)
        fork = store.atomically(lanes.fork, store, row)
        (lane,) = store.lanes.of(fork.id)
        vetoes = store.decisions.vetoes(lane.id)
        assert [set(veto.messages) for veto in vetoes] == [set(result.messages) for result in undone]
        origin = lanes.lane_id(row.id, lane.window)
        assert len(store.decisions.of(lane.id)) == len(store.decisions.of(origin))

    run(tmp_path, work)


def test_fork_can_undo_inherited_decisions_without_changing_origin(tmp_path):
    async def work(engine, provider):
        store = engine.store
        row = store.log.get(await carry(engine, *long_talk()))
        fork = store.atomically(lanes.fork, store, row)
        before = store.decisions.of(store.lanes.of(row.id)[0].id)
        assert store.atomically(lanes.undo, store, fork)
        assert store.decisions.of(store.lanes.of(row.id)[0].id) == before

    run(tmp_path, work)


def test_decisions_on_messages_after_the_fork_are_left_behind(tmp_path):
    async def work(engine, provider):
        store = engine.store
        row = store.log.get(await carry(engine, *long_talk()))
        second = store.log.path_ids(row.head)[1]
        fork = store.atomically(lanes.fork, store, row, second)
        (lane,) = store.lanes.of(fork.id)
        assert store.decisions.of(lane.id) == []
        await carry(engine, NEXT, continues=fork.id)
        assert provider.requests[-1].messages == (*long_talk()[:2], NEXT)

    run(tmp_path, work)


def test_replaced_additions_are_replaced_in_a_fork_too(talk):
    store = talk.store
    row = store.log.create(talk.scope)
    (report,) = store.log.append(row.id, [NewMessage(Message.of("user", "Hi"))], parent=None, expect=None)
    lane = lanes.lane_id(row.id, 4096)
    common = {"messages": [report.id], "tokens_before": 9, "tokens_after": 0}
    added = store.decisions.record(lane, row.id, kind="add", rule="recalled", data={"text": "x"}, **common)
    store.decisions.record(
        lane, row.id, kind="replace", rule="recalled_full", data={"instead": {added.id: ""}}, **common
    )
    store.lanes.put(lane, row.id, window=4096, state={}, report={"tokens": 1}, expect=0)
    fork = store.atomically(lanes.fork, store, store.log.get(row.id))
    addition, replaced = store.decisions.of(lanes.lane_id(fork.id, 4096))
    assert addition.id != added.id
    assert replaced.data["instead"] == {addition.id: ""}


def test_what_has_no_messages_cannot_be_forked(talk):
    row = talk.store.log.create(talk.scope)
    with pytest.raises(BadRequest, match="no messages"):
        lanes.fork(talk.store, row)


def test_a_fork_from_a_message_of_another_conversation_is_refused(talk):
    _, item = talk.say(Message.of("user", "One"), answered="Yes.")
    _, two = talk.say(Message.of("user", "Two"), answered="Yes.")
    other = talk.store.log.get(two)
    with pytest.raises(NotFound):
        lanes.fork(talk.store, talk.store.log.get(item), other.head)
