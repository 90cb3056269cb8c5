"""Another window size in the same conversation: what was found for its questions goes along."""

import asyncio

import pytest

from holdfast.messages import Scope
from holdfast.research.finding import ResearchSource
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.base import ModelInfo
from tests.context.engine_client import Client
from tests.context.memory_engine import last, remembering

pytestmark = pytest.mark.anyio

GOLD = "Gold kostet 2.400 USD je Unze. Die Nachfrage der Zentralbanken ist hoch. "


async def test_sources_and_notes_stand_in_the_window_of_another_model(tmp_path):
    models = [ModelInfo(name, running_window=size) for name, size in (("small", 8_192), ("tiny", 4_096))]
    server = ScriptedProvider(models=models, fallback="Noted.")
    async with remembering(server, tmp_path) as engine:
        source = ResearchSource("https://gold.example/", "Gold", GOLD * 8, 1.0)
        gold = await asyncio.to_thread(engine.research.add, Scope(), "Was kostet Gold?", [source])
        client = Client(engine)
        await client.say("Was kostet Gold?", research=gold.id)
        client.model = "tiny"
        await client.say("Und morgen?")
        assert client.report["window"] == 4_096
        assert "2.400 USD" in last(server)[0].text
        await client.say("Danke!")
        assert client.report["prefix"]["kept"]
        client.model = "small"
        await client.say("Wirklich?")
        assert last(server)[0].text.count("[1] Gold") == 1, "each window has it once"
