"""Research in windows: whole sources for the question they are for, notes of all others, on any turn."""

import asyncio

import pytest

from holdfast.engine import Ask
from holdfast.errors import NotFound
from holdfast.messages import ChatRequest, Message, Scope
from holdfast.providers.base import ModelInfo
from holdfast.providers.fake import ScriptedProvider
from holdfast.research.finding import Source
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from tests.fitting.remembering import last, remembering
from tests.fitting.talking import Client, provider, sent, texts
from tests.research.making import NOW

pytestmark = pytest.mark.anyio

ME = Scope()
WEATHER = (
    "Wetter in Niestetal: Am Wochenende wird es regnerisch, Samstag und Sonntag mit 65 bis 90 % Regen. "
    "Temperaturen zwischen 6 und 17 Grad. Am Dienstag ist es trocken. "
)
BITCOIN = "Bitcoin steht bei 67.000 USD, ein Anstieg um 5 % seit gestern. Das Handelsvolumen wächst. "
GOLD = "Gold kostet 2.400 USD je Unze. Die Nachfrage der Zentralbanken ist hoch. "


@pytest.fixture
def anyio_backend():
    return "asyncio"


def pages(text, number, times):
    name = text.split()[0].lower()
    return [
        Source(f"https://{name}-{at}.example/seite", f"{name} {at}", text * times, NOW)
        for at in range(number)
    ]


async def found(engine, question, text, number=3, times=4):
    return await asyncio.to_thread(engine.research.add, ME, question, pages(text, number, times))


async def test_weather_then_bitcoin_then_hiking_needs_no_third_research(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        client = Client(engine)
        weather = await found(engine, "Wie wird das Wetter am Wochenende in Niestetal?", WEATHER)
        await client.say("Wie wird das Wetter am Wochenende?", research=weather.id)
        assert "65 bis 90 %" in last(server)[-1].text
        bitcoin = await found(engine, "Wie steht der Bitcoin-Kurs?", BITCOIN)
        await client.say("Wie steht Bitcoin?", research=bitcoin.id)
        assert "67.000 USD" in last(server)[-1].text
        assert client.report["prefix"]["cause"] == "research"
        assert "Frühere Recherche" in last(server)[0].text, "its sources are a note by now"
        assert len(last(server)[0].text) < 1_000
        await client.say("Soll ich am Wochenende wandern gehen?")
        assert "Regen" in texts(server)
        assert client.report["prefix"]["kept"], "the window has the note already"

        other = Client(engine)
        await other.say("Soll ich am Wochenende wandern gehen?")
        told = last(server)[-1].text
        assert told.startswith("Soll ich am Wochenende wandern gehen?\n\n[Frühere Recherche vom ")
        assert "muss nicht wiederholt werden" in told
        assert "Regen" in told
        assert "Bitcoin" not in told, "only what bears on it"


async def test_the_seeds_example_three_findings_become_one_and_two_notes(tmp_path, weights):
    """30,000 tokens of sources in all: about 12,300 where the window can hold them, and fewer where not."""
    count = Tokenizer(Vocabulary.from_gguf(weights)).count
    told = {}
    for window in (65_536, 32_768, 8_192):
        folder = tmp_path / str(window)
        folder.mkdir()
        model = ModelInfo("small", running_window=window, trained_window=window)
        server = ScriptedProvider(models=[model], fallback="Noted.", count=count)
        async with remembering(server, folder) as engine:
            client, all_sources = Client(engine), 0
            for question, text, number, size in (
                ("Wie wird das Wetter in Niestetal?", WEATHER, 6, 10_000),
                ("Wie steht der Bitcoin-Kurs?", BITCOIN, 5, 8_000),
                ("Was kostet Gold?", GOLD, 7, 12_000),
            ):
                made = await found(engine, question, text, number, round(size / number / count(text)))
                all_sources += sum(count(source.text) for source in made.sources)
                await client.say(question, research=made.id)
            assert 28_500 < all_sources < 31_500
            assert client.report["tokens"] <= client.report["room"]
            assert client.report["notices"] == []
            assert "2.400 USD" in last(server)[-1].text
            assert "Frühere Recherche" in last(server)[0].text
            told[window] = sum(count(message.text) for message in last(server))
    assert 11_800 < told[65_536] < 12_900, "the newest is whole, the others are notes"
    assert told[32_768] == told[65_536]
    assert told[8_192] <= 8_192 - 2_048


async def test_in_a_small_window_sources_are_cut_to_the_passages_that_answer(tmp_path):
    server = provider(window=4_096)
    async with remembering(server, tmp_path) as engine:
        text = "Rosen mögen Sonne und wenig Wasser. " * 400 + WEATHER + "Tulpen blühen im Mai. " * 400
        sources = [Source("https://garten.example", "Garten", text, NOW)]
        made = await asyncio.to_thread(engine.research.add, ME, "Wie wird das Wetter?", sources)
        client = Client(engine)
        await client.say("Wie wird das Wetter in Niestetal?", research=made.id)
        assert "65 bis 90 %" in last(server)[-1].text
        assert client.report["tokens"] <= client.report["room"]


async def test_a_finding_is_named_by_header_metadata_or_bound_to_the_next_message(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        gold = await found(engine, "Was kostet Gold?", GOLD)
        chat = ChatRequest("small", (Message.of("user", "Gold?"),))
        turn = await engine.turn(Ask(chat, headers={"x-holdfast-research": gold.id}))
        _ = [chunk async for chunk in turn.chunks]
        assert "2.400 USD" in last(server)[-1].text
        named = ChatRequest(
            "small", (Message.of("user", "Gold!"),), extra={"openai": {"metadata": {"research_id": gold.id}}}
        )
        turn = await engine.turn(Ask(named))
        _ = [chunk async for chunk in turn.chunks]
        assert "2.400 USD" in last(server)[-1].text
        client = Client(engine)
        await client.say("Hallo!")
        engine.store.log.update_settings(client.conversation, {"research": gold.id})
        await client.say("Und der Preis?")
        assert "2.400 USD" in last(server)[-1].text
        await client.say("Danke.")
        assert sent(server)[-1].text == "Danke.", "it was for one message"
        with pytest.raises(NotFound):
            await engine.turn(Ask(chat, research="r_nothing"))
        assert len(engine.store.log.recent(ME, 10)) == 3, "a wrong name begins no conversation"


async def test_the_summary_is_written_by_the_model_after_the_answer(tmp_path):
    reply = "Gold kostet 2.400 USD je Unze, die Zentralbanken fragen viel nach.\nVolatility: weekly"
    server = provider(["Teuer.", reply], window=8_192)
    async with remembering(server, tmp_path) as engine:
        gold = await found(engine, "Was kostet Gold?", GOLD)
        assert gold.summary_by == "text"
        client = Client(engine)
        assert await client.say("Was kostet Gold?", research=gold.id) == "Teuer."
        await engine.afterwards.idle.quiet()
        known = engine.research.get(ME, gold.id)
        assert known.summary_by == "model"
        assert "Zentralbanken fragen viel nach" in known.summary
        assert known.volatility == "weekly"


async def test_a_forgotten_finding_leaves_the_windows_that_quote_it(tmp_path):
    server = provider(window=8_192)
    async with remembering(server, tmp_path) as engine:
        client = Client(engine)
        gold = await found(engine, "Was kostet Gold?", GOLD)
        await client.say("Was kostet Gold?", research=gold.id)
        await found(engine, "Wie steht der Bitcoin-Kurs?", BITCOIN)
        await asyncio.to_thread(engine.research.forget, ME, gold.id)
        await client.say("Danke!")
        assert "2.400" not in texts(server)
        assert "2.400" not in str(engine.store.lanes.of(client.conversation)[0].report)
