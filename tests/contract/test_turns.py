"""A conversation that outgrows its window, on every backend of the store."""

import asyncio

import pytest

from holdfast.conversations import lanes
from holdfast.testing.provider import ScriptedProvider
from holdfast.turn import TurnEngine
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from tests.context.engine_client import Client, long_talk, provider, sent, texts
from tests.talks import without_summaries


@pytest.fixture
def first_talk(store, tmp_path):
    """The server that was asked, and the client that asked it: first of all about one file."""
    server = provider()

    async def main():
        async def find():
            return server

        # The fixture closes the store itself, and closing twice is harmless.
        engine = TurnEngine(
            store, Upstreams(find, ScriptedProvider()), ModelRegistry(store, tmp_path), without_summaries()
        )
        client = Client(engine, "Be kind.")
        rain = " It rained all day long." * 15
        await client.say(f"Never push to main. The plan is in notes_4711.md, which Ms Okonkwo wrote.{rain}")
        await long_talk(client, 24)
        await client.say("Who wrote notes_4711.md?")
        conversation = store.log.get(client.conversation)
        batches = store.compactions.of(conversation.id)
        undone = await store.run(store.atomically, lanes.undo, store, conversation)
        shown = len(sent(server))
        await client.say("And now?")
        await engine.close()
        return batches, undone, shown

    return server, asyncio.run(main())


def test_it_fits_comes_back_and_can_be_undone(first_talk):
    server, (batches, undone, shown) = first_talk
    assert {row.level for row in batches} & {1, 2}
    question = texts(server, -2)
    assert "Who wrote notes_4711.md?" in question
    assert "Okonkwo" in question
    assert "- Never push to main." in sent(server, -2)[0].text
    assert undone
    assert len(sent(server)) > shown + 1
