"""What went out turn by turn comes back from log and decisions, and what does not is said."""

import pytest

from holdfast.context.message_state import lane_of
from holdfast.context.replay import last_sent, turns_of
from holdfast.conversations import lanes
from holdfast.messages import Message
from tests.context.engine_client import Client, engine_with, filler, provider, sent

pytestmark = pytest.mark.anyio

TOOLS = ({"type": "function", "function": {"name": "water", "parameters": {}}},)


def kept(engine, client):
    row = engine.store.log.get(client.conversation)
    return engine.store, row, lane_of(engine.store, row)


async def test_the_request_comes_back_byte_for_byte_after_every_turn(tmp_path):
    server = provider(window=1_024)
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine, "You are a gardener. Always answer in one sentence.")
        for at in range(12):
            await client.say(filler(at), tools=TOOLS)
            request = last_sent(*kept(engine, client))
            assert request.exact, (at, request.differs, request.missing)
            assert [message.encode() for message in request.request.messages] == [
                message.encode() for message in sent(server)
            ]
            assert request.request.tools == server.requests[-1].tools
        assert client.report["level"] == 2


async def test_later_undo_does_not_change_replayed_request(tmp_path):
    server = provider(window=1_024)
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        for at in range(12):
            await client.say(filler(at))
        row = engine.store.log.get(client.conversation)
        assert lanes.undo(engine.store, row)
        request = last_sent(*kept(engine, client))
        assert request.exact
        assert request.request.messages == sent(server)


async def test_what_only_the_client_has_is_named_as_missing(tmp_path):
    server = provider(window=1_024)
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Hello, how are the roses?")
        client.history.append(Message.of("system", "In the middle, where no log keeps it."))
        await client.say("And the tulips?")
        request = last_sent(*kept(engine, client))
        (name,) = request.missing
        assert not request.exact
        assert name.startswith("x_")
        assert request.request.messages[-1] == sent(server)[-1]


async def test_each_replayed_turn_has_its_originally_reported_prefix(tmp_path):
    server, reported = provider(window=1_024), []
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine, "Be kind. It is 10:00 on 2026-03-01.")
        for at in range(12):
            await client.say(filler(at), system=f"Be kind. It is 10:{at:02} on 2026-03-01.")
            reported.append(client.report["prefix"])
        turns = [turn.to_json()["prefix"] for turn in turns_of(*kept(engine, client), limit=50)]
        assert turns == reported
        assert {report["cause"] for report in reported} >= {"first", "", "level 2"}
        few = turns_of(*kept(engine, client), limit=5)
        assert [turn.to_json()["prefix"] for turn in few] == reported[-5:]


async def test_an_answer_on_another_branch_has_a_turn_without_a_prefix(tmp_path):
    async with engine_with(provider(["Red.", "Blue.", "Green."]), tmp_path) as engine:
        client = Client(engine)
        await client.say("Which colour have the roses in the garden?")
        await client.say("Are you sure about that?")
        del client.history[-2:]
        await client.say("And which colour do tulips have?")
        first, second, third = turns_of(*kept(engine, client), limit=50)
        assert (first.prefix.cause, second.answer, second.prefix) == ("first", None, None)
        # What it follows is not what is read now, but of the last request it is known all the same.
        assert third.prefix.cause == "history"
        assert third.answer is not None
