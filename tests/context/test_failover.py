"""When another server answers in the place of one that is away, it gets a request of its own."""

import pytest

from holdfast.errors import Unreachable
from holdfast.messages import ChatRequest, Message, Scope
from holdfast.testing.provider import ScriptedProvider
from holdfast.turn import Ask
from holdfast.upstreams.routing import Upstreams, UpstreamSlot
from tests.context.engine_client import Client, provider
from tests.context.memory_engine import last, remembering

pytestmark = pytest.mark.anyio

PORT = "The gateway listens on port 4711."


def at(server, name):
    async def find():
        return server

    return UpstreamSlot(find, name=name)


async def test_failover_to_remote_server_fits_its_window_and_omits_memory(tmp_path):
    home = provider(["Yes.", Unreachable("nobody there")], window=8_192)
    elsewhere = provider(window=2_048)
    elsewhere.location = "https://api.example.com/v1"
    async with remembering(home, tmp_path) as engine:
        engine.upstreams = Upstreams([at(home, "home"), at(elsewhere, "elsewhere")], ScriptedProvider())
        engine.remembering.library.add(Scope(), PORT)
        client = Client(engine)
        await client.say("Which port does the gateway listen on?")
        assert PORT in last(home)[0].text
        await client.say("Look at this. " + "The weather is fine in May. " * 400)
        assert "4711" in str(home.requests[-1]), "the one that is away would have been told"
        assert elsewhere.requests
        assert "4711" not in str(elsewhere.requests)
        assert client.report["window"] == 2_048
        await engine.upstreams.aclose()


async def test_one_question_is_kept_once_whoever_answers(tmp_path):
    first, second = provider([Unreachable("nobody there")]), provider()
    async with remembering(first, tmp_path) as engine:
        engine.upstreams = Upstreams([at(first, "one"), at(second, "two")], ScriptedProvider())
        client = Client(engine)
        assert await client.say("Hello?") == "Noted."
        log = engine.store.log
        texts = [stored.message.text for stored in log.path(log.get(client.conversation).head)]
        assert texts == ["Hello?", "Noted."]
        await engine.upstreams.aclose()


async def test_failover_stops_after_first_chunk_and_partial_answer_is_kept(tmp_path):
    first, second = provider([["Half", Unreachable("broke")]]), provider()
    async with remembering(first, tmp_path) as engine:
        engine.upstreams = Upstreams([at(first, "one"), at(second, "two")], ScriptedProvider())
        question = ChatRequest("small", (Message.of("user", "Hello?"),))
        turn = await engine.turn(Ask(question))
        assert (await anext(turn.chunks)).text == "Half"
        with pytest.raises(Unreachable, match="broke"):
            await anext(turn.chunks)
        assert second.requests == []
        log = engine.store.log
        answer = log.message(log.get(turn.conversation).head)
        assert (answer.message.text, answer.finish) == ("Half", "cut")
        assert engine.store.jobs.get(turn.job).status == "cut"
        await engine.upstreams.aclose()


async def test_relayed_request_fails_over_only_before_first_chunk(tmp_path):
    first, second = provider([Unreachable("away"), ["Half", Unreachable("broke")]]), provider()
    async with remembering(first, tmp_path) as engine:
        engine.upstreams = Upstreams([at(first, "one"), at(second, "two")], ScriptedProvider())
        question = ChatRequest("small", (Message.of("user", "Hello?"),))
        assert (
            "".join([chunk.text async for chunk in engine.relay_unrecorded(question, "default")]) == "Noted."
        )
        relayed = engine.relay_unrecorded(question, "default", first)
        assert (await anext(relayed)).text == "Half"
        with pytest.raises(Unreachable, match="broke"):
            await anext(relayed)
        assert len(second.requests) == 1
        await engine.upstreams.aclose()
