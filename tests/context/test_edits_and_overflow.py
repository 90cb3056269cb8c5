"""Conversations that do not simply go on: edited, left to us, at once, refused; on a real SQLite file."""

import asyncio

import pytest

from holdfast.conversations import lanes
from holdfast.errors import Overflow
from holdfast.messages import ChatRequest, Image, Message, Text, ToolCall, ToolResult
from holdfast.turn import Ask
from tests.context.engine_client import WINDOW, Client, engine_with, filler, long_talk, provider, sent, texts

pytestmark = pytest.mark.anyio


async def go_on(engine, conversation, text):
    """One more question of a client that leaves the history to us."""
    turn = await engine.turn(Ask(ChatRequest("small", (Message.of("user", text),)), continues=conversation))
    [chunk async for chunk in turn.chunks]
    return turn.report


async def test_instructions_stay_when_the_history_is_left_to_us(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine, "Answer in French.")
        await client.say("Hello!")
        for at in range(5):
            report = await go_on(engine, client.conversation, f"Question {at}")
            assert sent(server)[0].text == "Answer in French."
            assert report["prefix"]["kept"]


async def test_edited_away_message_takes_its_rules_and_frees_room(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine, "Be kind.")
        rain = " It rained all day long." * 15
        for text in ("Let us start.", f"Hello! Never use tabs in the code.{rain}", "And go on."):
            await client.say(text + rain)
        await long_talk(client)
        assert "Never use tabs in the code." in sent(server)[0].text
        assert "Let us start." not in texts(server)
        client.history = [*client.history[:2], Message.of("user", "Hello! Use tabs, please.")]
        await client.send()
        assert sent(server)[0].text == "Be kind."
        assert [message.text for message in sent(server)[1:]] == [
            f"Let us start.{rain}",
            "Noted.",
            "Hello! Use tabs, please.",
        ]
        assert client.report["prefix"]["cause"] in ("system", "history", "decisions")


async def test_the_oldest_message_looked_at_is_a_question(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine, "Be kind.")
        await client.say("Begin. " + "word " * 20_000)
        await go_on(engine, client.conversation, "What was that?")
        assert [message.role for message in sent(server)] == ["system", "user", "assistant", "user"]
        other = Client(engine)
        await long_talk(other, 30)
        # A lane of its own, and a long history that is new to it.
        engine.store.database.write(lambda connection: connection.exec_driver_sql("DELETE FROM lanes"))
        engine.store.database.write(lambda connection: connection.exec_driver_sql("DELETE FROM decisions"))
        report = await go_on(engine, other.conversation, "Go on.")
        assert sent(server)[0].role == "user"
        assert sent(server)[-1].text == "Go on."
        assert report["tokens"] <= report["room"]


async def test_what_was_told_is_kept_although_many_ask_at_once(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client, answer = Client(engine), 0
        await long_talk(client, 8)
        for at in range(4):
            ways = [go_on(engine, client.conversation, f"{filler(at)} {way}") for way in range(3)]
            reports = await asyncio.gather(*ways)
            answer += sum(len(report["batches"]) for report in reports)
            answer += len((await go_on(engine, client.conversation, "So?"))["batches"])
        rows = engine.store.compactions.of(client.conversation)
        assert answer > 0
        assert len(rows) >= answer


async def test_smaller_window_reported_by_server_is_respected(tmp_path):
    refusal = Overflow("too large", window=1_024)
    server = provider([*["Noted."] * 8, refusal])
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await long_talk(client, 9)
        assert client.report["room"] <= 768
        await long_talk(client, 30)
        assert client.report["room"] <= 768, "what the server said is not forgotten after some turns"
        assert len(server.requests) == 9 + 30 + 1


async def test_repeated_overflow_refusals_do_not_exhaust_room(tmp_path):
    refusal = Overflow("context length exceeded")
    server = provider([item for _ in range(30) for item in (refusal, "Noted.")])
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await long_talk(client, 30)
        assert client.report["room"] >= WINDOW * 3 // 4 // 4 - 1


async def test_tools_are_sent_in_one_order(tmp_path):
    first, second = ({"type": "function", "function": {"name": name}} for name in ("write", "read"))
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Hi", tools=(first, second))
        await client.say("Again", tools=(second, first))
        assert server.requests[-1].tools == server.requests[-2].tools == (second, first)
        assert client.report["prefix"]["kept"]


async def test_image_beside_oversized_tool_result_is_still_sent(tmp_path):
    server = provider([[ToolCall("look", "{}", id="c")], "I see."], window=4_096)
    tool = {"type": "function", "function": {"name": "look"}}
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("Look", tools=(tool,))
        result = ToolResult((Text("pixel " * 3_000), Image(data="R0lGODlh")), call_id="c")
        client.history[-1:] = [
            Message("assistant", (ToolCall("look", "{}", "c"),)),
            Message("tool", (result,)),
        ]
        await client.send(tools=(tool,))
        (seen,) = sent(server)[-1].tool_results
        assert [type(part) for part in seen.parts] == [Text, Image]
        assert "[shortened: " in seen.text


async def test_oversized_context_is_cut_and_question_is_kept(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        results = "First fact. " + "More about hills. " * 2_500 + "Rivers flow. " + "About lakes. " * 2_500
        await client.say("What about rivers?", extra={"openai": {"metadata": {"context": results}}})
        text = sent(server)[-1].text
        assert text.startswith("What about rivers?")
        assert "First fact." in text
        assert "Rivers flow." in text
        assert client.report["notices"] == ["context_cut"]
        assert client.report["at_most"] > 0.8 * client.report["room"], "as much of it as there is room for"


async def test_edited_question_with_same_answer_is_a_separate_branch(tmp_path):
    same = "Yes, the night ferry costs too much and needs a new owner."
    server = provider(
        ["The harbour wall stands.", same, same, "A green buoy it is.", "Not today.", "Perhaps."]
    )
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("What stands at the harbour?")
        await client.say("What about the dry dock?")
        client.history[2:] = [Message.of("user", "What about the night ferry?")]
        await client.send()
        await client.say("Who looks after the customs shed?")
        await client.say("And in winter?")
        client.history[6:] = [Message.of("user", "And in summer?")]
        await client.send()
        path = engine.store.log.path(engine.store.log.get(client.conversation).head)
        assert [stored.message.text for stored in path] == [message.text for message in client.history]
        assert "dry dock" not in texts(server)


async def forked(client):
    """A long talk, and then another way from near its beginning; the old way, as the client had it."""
    for text in ("Let us start.", "Hello there.", "And go on."):
        await client.say(text)
    await long_talk(client, 25)
    old = list(client.history)
    client.history = [*old[:2], Message.of("user", "Another way now.")]
    await client.send()
    return old


async def test_each_way_keeps_what_was_decided_on_it(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        old = await forked(client)
        before, new = sent(server, -2), list(client.history)
        assert len(before) < len(old)
        assert texts(server) == "Let us start.\nNoted.\nAnother way now."
        client.history = [*old, Message.of("user", "Back here.")]
        await client.send()
        assert sent(server)[: len(before)] == before, "what was left out on the old way is still out there"
        assert client.report["batches"] == []
        client.history = [*new, Message.of("user", "Here again.")]
        await client.send()
        assert texts(server) == "Let us start.\nNoted.\nAnother way now.\nNoted.\nHere again."


async def test_undo_after_early_edit_restores_messages_dropped_on_new_branch(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client, store = Client(engine), engine.store
        await forked(client)
        edited_away = len(store.compactions.of(client.conversation))
        at = 100
        while len(store.compactions.of(client.conversation)) == edited_away:
            await client.say(filler(at))
            at += 1
        undone = lanes.undo(store, store.log.get(client.conversation))
        names = {name for result in undone for name in result.messages}
        assert names
        assert names <= set(store.log.path_ids(store.log.get(client.conversation).head))
        await client.say("Short.")
        assert names <= {row["id"] for row in client.report["messages"] if row["state"] == "in"}
        assert client.report["batches"] == []
        assert [message.text for message in sent(server)] == [item.text for item in client.history[:-1]]
        assert client.report["at_most"] <= client.report["room"]


async def test_undo_immediately_after_early_edit_changes_nothing(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        old = await forked(client)
        before = sent(server)
        undone = lanes.undo(engine.store, engine.store.log.get(client.conversation))
        await client.say("So?")
        assert sent(server)[: len(before)] == before
        assert client.report["prefix"]["kept"]
        client.history = [*old, Message.of("user", "Back here.")]
        await client.send()
        back = {row["id"] for row in client.report["messages"]}
        assert {name for result in undone for name in result.messages} <= back
