"""When another server answers in the place of one that is away, it gets a request of its own."""

import pytest

from holdfast.errors import Unreachable
from holdfast.messages import Scope
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.routing import Upstreams, UpstreamSlot
from tests.context.remembering import last, remembering
from tests.context.talking import Client, provider

pytestmark = pytest.mark.anyio

PORT = "The gateway listens on port 4711."


def at(server, name):
    async def find():
        return server

    return UpstreamSlot(find, name=name)


async def test_it_is_fitted_for_its_window_and_not_told_what_it_may_not_hear(tmp_path):
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
        said = [stored.message.text for stored in log.path(log.get(client.conversation).head)]
        assert said == ["Hello?", "Noted."]
        await engine.upstreams.aclose()
