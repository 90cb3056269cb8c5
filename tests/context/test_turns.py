"""Conversations that outgrow their window, turn by turn, through the engine and on a real SQLite file."""

import pytest

from holdfast.context.message_state import pin
from holdfast.conversations import lanes
from holdfast.errors import BadRequest, Overflow
from holdfast.messages import CallPiece, ChatRequest, Chunk, Message, Text, ToolCall, ToolResult
from holdfast.testing.provider import ScriptedProvider
from holdfast.turn import Ask
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.discovery import connect
from tests.context.engine_client import WINDOW, Client, engine_with, filler, long_talk, provider, sent, texts
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.window.talks import orphans_of

pytestmark = pytest.mark.anyio


async def test_a_long_conversation_always_fits_and_loses_nothing(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine, "Be kind.")
        await long_talk(client)
        head = engine.store.log.get(client.conversation).head
        assert len(engine.store.log.path(head)) == 80
        assert len(sent(server)) < 40
        assert sent(server)[-1].text.startswith(filler(39))
        batches = engine.store.compactions.of(client.conversation)
        assert {row.level for row in batches} <= {1, 2}, "with two levels there is no need of the last resort"
        assert all(row.tokens_freed > 0 for row in batches)
        assert client.report["level"] == 2


async def test_what_was_left_out_comes_back_when_it_is_asked_for(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Mister Okonkwo lives behind the mill." + " It rained all day long." * 15)
        await long_talk(client)
        assert "behind the mill" not in texts(server)
        await client.say("Where does Okonkwo live?")
        question = sent(server)[-1].text
        assert question.startswith("Where does Okonkwo live?")
        assert "behind the mill" in question
        await client.say("Thanks.")
        assert "behind the mill" in texts(server), "it stays while there is room"
        assert client.report["prefix"]["kept"]
        await long_talk(client)
        assert "behind the mill" not in texts(server), "and leaves when a level works"


async def test_rules_outlive_the_message_they_were_given_in(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine, "You are a gardener.")
        await client.say("Hello! Never push to main. My roses have black spots on their leaves.")
        await long_talk(client)
        assert sent(server)[0].role == "system"
        assert sent(server)[0].text.startswith("You are a gardener.")
        assert "Never push to main." in texts(server)


async def test_each_request_begins_with_the_one_before_or_says_why_not(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client, lost = Client(engine, "Be kind."), []
        for at in range(60):
            await client.say(filler(at))
            if at == 0:
                continue
            before = [message.encode() for message in sent(server, -2)]
            now = [message.encode() for message in sent(server)]
            prefix = client.report["prefix"]
            assert prefix["kept"] == (now[: len(before)] == before)
            if not prefix["kept"]:
                lost.append(prefix["cause"])
        assert set(lost) <= {"level 1", "level 2", "recall"}
        assert len([cause for cause in lost if cause != "recall"]) < 15, "levels work in batches"


async def test_a_clock_in_the_instructions_does_not_cost_the_prefix(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        for minute in range(3):
            client.history.append(Message.of("user", f"Question {minute}"))
            await client.send(system=f"Be kind.\nCurrent time: 2026-11-15 10:4{minute}:00")
        assert {sent(server, at)[0].text for at in range(-3, 0)} == {
            "Be kind.\nCurrent time: 2026-11-15 10:40:00"
        }
        assert client.report["prefix"]["kept"]
        assert "10:42:00" in sent(server)[-1].text
        client.history.append(Message.of("user", "Question 3"))
        await client.send(system="Be rude.\nCurrent time: 2026-11-15 10:43:00")
        assert sent(server)[0].text.startswith("Be rude.")
        assert client.report["prefix"]["cause"] == "system"


async def test_client_context_is_sent_with_question_and_stays(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        extra = {"openai": {"metadata": {"context": ["Lisbon has 545,000 inhabitants."], "tag": "x"}}}
        await client.say("How large is Lisbon?", extra=extra)
        assert sent(server)[-1].text.startswith("How large is Lisbon?")
        assert "545,000" in sent(server)[-1].text
        assert server.requests[-1].extra["openai"]["metadata"] == {"tag": "x"}
        sections = {row["name"]: row["tokens"] for row in client.report["sections"]}
        assert sections["research"] > 0
        message = engine.store.log.path(engine.store.log.get(client.conversation).head)
        assert message[0].message.text == "How large is Lisbon?"
        await client.say("And Porto?")
        assert "545,000" in sent(server)[0].text
        assert client.report["prefix"]["kept"]


async def test_a_refused_request_is_made_smaller_and_sent_once_more(tmp_path):
    refusal = Overflow("too large", prompt_tokens=3_000, window=WINDOW)
    server = provider([*["Noted."] * 5, refusal, "Now it fits.", refusal, refusal])
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await long_talk(client, 5)
        assert await client.say("Does it fit?") == "Now it fits."
        assert client.report["tokens"] < client.report["room"]
        assert sent(server)[-1].text.startswith("Does it fit?")
        client.history.append(Message.of("user", "And this?"))
        with pytest.raises(Overflow):
            await client.send()
        path = engine.store.log.path(engine.store.log.get(client.conversation).head)
        assert path[-1].message.text == "And this?", "what the user said is kept whatever happens"


@pytest.mark.parametrize("stream", [True, False])
async def test_server_that_filled_its_window_triggers_notice_or_retry(tmp_path, stream):
    fake = FakeOllama(models=[FakeModel("small", trained_window=WINDOW)], old=True)
    with fake.served() as address:
        # What an answer taught is kept when the engine has ended.
        async with engine_with(await connect(address), tmp_path) as before:
            await Client(before).say("a", stream=stream)
        async with engine_with(await connect(address), tmp_path) as engine:
            # This server has a token for every letter, which nobody can know who has not seen it count.
            question = "a " * (WINDOW - len(fake.calls[-1].prompt) + 1)
            client = Client(engine)
            await client.say(question, stream=stream)
            assert len(fake.calls) == (2 if stream else 3)
            if stream:
                assert "⟦Holdfast: " in client.history[-1].text
                await client.say("And?")
                assert "⟦Holdfast: " not in str(fake.requests[-1])
            assert len(fake.calls[-1].prompt) < WINDOW - 1
            path = engine.store.log.path(engine.store.log.get(client.conversation).head)
            assert path[0].message.text == question


async def test_a_model_that_only_thought_is_asked_once_more_without_thinking(tmp_path):
    thought = [Chunk(thinking="Hmm, let me see. "), Chunk(finish="length")]
    server = provider([thought, "Four."], capabilities=("completion", "thinking"))
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        say = await client.say("2 + 2?")
        assert say.endswith("Four.")
        assert say.startswith("⟦Holdfast: ")
        assert server.requests[-1].think is False
        await client.say("And 3 + 3?")
        assert sent(server)[1].text == "Four.", "what we told the person is not sent to the model"


async def test_long_server_side_history_is_loaded_only_as_needed(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await long_talk(client, 30)
        resent = [message.encode() for message in sent(server)]
        turn = await engine.turn(
            Ask(ChatRequest("small", (Message.of("user", "Go on."),)), continues=client.conversation)
        )
        [chunk async for chunk in turn.chunks]
        now = [message.encode() for message in sent(server)]
        assert now[: len(resent)] == resent, "the log gives the same window as the client's own history did"
        assert turn.report["prefix"]["kept"]


@pytest.mark.parametrize("resent", [True, False])
async def test_a_first_question_larger_than_any_window_is_cut_and_there(tmp_path, resent):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Hello!")
        enormous = "Begin. " + "word " * 40_000 + "What is it?"
        if resent:
            await client.say(enormous)
        else:
            chat = ChatRequest("small", (Message.of("user", enormous),))
            turn = await engine.turn(Ask(chat, continues=client.conversation))
            [chunk async for chunk in turn.chunks]
        assert sent(server)[-1].text.startswith("Begin.")
        assert sent(server)[-1].text.endswith("What is it?")


async def test_undoing_brings_back_what_was_left_out_and_it_stays(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client, store = Client(engine), engine.store
        at = 0
        while not store.compactions.of(client.conversation or ""):
            await client.say(filler(at))
            at += 1
        conversation = store.log.get(client.conversation)
        undone = lanes.undo(store, conversation)
        assert undone
        await client.say("Short.")
        names = {row["id"] for row in client.report["messages"] if row["state"] == "in"}
        assert {name for decision in undone for name in decision.messages} <= names
        assert client.report["batches"] == []


async def test_pins_stay_whole_and_only_so_many_are_allowed(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client, store = Client(engine), engine.store
        await client.say("The door code is 8842, says the caretaker.")
        conversation = store.log.get(client.conversation)
        first = store.log.path(conversation.head)[0]
        pin(store, engine.fitter.preset, conversation, first.id)
        await long_talk(client)
        assert sent(server)[0].text == first.message.text
        conversation = store.log.get(client.conversation)
        path = store.log.path(conversation.head)
        with pytest.raises(BadRequest, match="at most"):
            [pin(store, engine.fitter.preset, conversation, stored.id) for stored in path[2:]]


async def test_a_pin_brings_back_what_had_been_left_out(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client, store = Client(engine), engine.store
        text = "The door opens with a heron, says the caretaker." + " It rained all day long." * 15
        await client.say(text)
        await long_talk(client)
        assert "heron" not in texts(server)
        conversation = store.log.get(client.conversation)
        answer = store.log.path(conversation.head)[1]
        pin(store, engine.fitter.preset, conversation, answer.id)
        await client.say("Hm.")
        assert [message.text for message in sent(server)[:2]] == [text, "Noted."]
        await long_talk(client)
        assert sent(server)[0].text.startswith("The door opens")


async def test_tool_loops_stay_paired_and_large_results_are_shortened_on_entry(tmp_path):
    tool = {"type": "function", "function": {"name": "read", "parameters": {}}}
    pieces = [CallPiece(0, f"call_{at}", "read", f'{{"path": "f{at}"}}') for at in range(31)]
    server = provider([[Chunk(calls=(piece,)), Chunk(finish="tool_calls")] for piece in pieces])
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Read all files.", tools=(tool,))
        for at, piece in enumerate(pieces[:-1]):
            size = 4_000 if at % 7 == 3 else 40
            result = ToolResult((Text(f"line of file {at}\n" * size),), call_id=piece.id)
            call = ToolCall(piece.name, piece.arguments, piece.id)
            client.history[-1:] = [Message("assistant", (call,)), Message("tool", (result,))]
            await client.send(tools=(tool,))
            assert orphans_of(sent(server)) == []
            assert sent(server)[-1].tool_results[0].call_id == piece.id
            assert "Read all files." in texts(server)
        assert client.report["level"] in (1, 2)


async def test_a_side_request_is_made_to_fit_and_nothing_is_decided(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        title = (
            "### Task:\nGenerate a concise, 3-5 word title.\n### Output:\nJSON\n"
            f"<chat_history>\nUSER: {'long ' * 9_000}\n</chat_history>"
        )
        turn = await engine.turn(Ask(ChatRequest("small", (Message.of("user", title),))))
        [chunk async for chunk in turn.chunks]
        assert turn.conversation is None
        assert len(texts(server)) < 9_000
        assert "[shortened: " in texts(server)


async def test_two_windows_of_one_conversation_are_two_lanes(tmp_path):
    large = ModelInfo("large", running_window=32_768)
    server = ScriptedProvider(models=[ModelInfo("small", running_window=WINDOW), large], fallback="Noted.")
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await long_talk(client, 20)
        small = len(sent(server))
        chat = ChatRequest("large", (*client.history, Message.of("user", "Now you.")))
        turn = await engine.turn(Ask(chat))
        [chunk async for chunk in turn.chunks]
        assert turn.conversation == client.conversation
        assert len(sent(server)) == 41 > small
        assert {lane.window for lane in engine.store.lanes.of(turn.conversation)} == {WINDOW, 32_768}
