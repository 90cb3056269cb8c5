"""Summaries in a window: made once, kept whole or not at all, undone, shared, and never in anybody's way."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from holdfast.compaction.compactor import SummaryBody
from holdfast.context.message_state import pin
from holdfast.conversations import lanes
from holdfast.errors import BadRequest, Conflict
from holdfast.messages import ChatRequest, Message, Scope, Text, ToolCall, ToolResult
from holdfast.turn import Ask
from holdfast.window.presets import preset_named
from tests.context.engine_client import Client
from tests.context.summary_engine import (
    EAGER,
    FIRST,
    GOOD,
    RULE,
    RequestScripts,
    Turns,
    chain,
    check_chain,
    decided,
    execute,
    head,
    said,
    shown,
    summing,
    talked,
)

pytestmark = pytest.mark.anyio


def texts_of(request):
    return [message.text for message in request.messages]


async def asked(server, kind="summary", number=1):
    """Waits until the server has been asked so often; it answers when it is told to."""
    async with asyncio.timeout(60):
        while len(server.asked(kind)) < number:  # noqa: ASYNC110 - nobody says when a request arrives
            await asyncio.sleep(0.001)


async def test_concurrent_compaction_is_refused_and_model_is_asked_once(tmp_path):
    go = asyncio.Event()
    server = RequestScripts(summary=[go, GOOD])
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        first = asyncio.create_task(engine.compaction.compact(client.conversation))
        await asked(server)
        with pytest.raises(Conflict, match="already"):
            await engine.compaction.compact(client.conversation)
        go.set()
        await first
        assert len(check_chain(engine, client)) == len(decided(engine, client)) == len(server.asked()) == 1


async def test_two_processes_on_one_store_never_cover_a_message_twice(tmp_path):
    go = asyncio.Event()
    server, other = RequestScripts(summary=[go, GOOD]), RequestScripts()
    async with summing(server, tmp_path) as engine, summing(other, tmp_path) as beside:
        client = await talked(engine)
        slow = asyncio.create_task(engine.compaction.compact(client.conversation))
        await asked(server)
        with pytest.raises(Conflict):
            await beside.compaction.compact(client.conversation)
        execute(engine, "UPDATE leases SET expires_at = 0")  # as if the first one had hung for too long
        await beside.compaction.compact(client.conversation)
        go.set()
        with pytest.raises(Conflict):
            await slow
        (row,) = check_chain(engine, client)
        assert [result.data["summary"] for result in decided(engine, client)] == [row.id]
        assert len([item for item in engine.store.outbox.pending() if item.topic == "summary"]) <= 1


async def test_cancelled_compaction_can_restart_immediately(tmp_path):
    server = RequestScripts(summary=Turns([asyncio.Event()], GOOD))
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        first = asyncio.create_task(engine.compaction.compact(client.conversation))
        await asked(server)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert (server.aborted, chain(engine, client), decided(engine, client)) == (1, [], [])
        await engine.compaction.compact(client.conversation)
        assert check_chain(engine, client)[0].path == "model"


async def test_what_is_said_meanwhile_stays_outside_and_is_not_lost(tmp_path):
    go = asyncio.Event()
    server = RequestScripts(summary=[go, GOOD])
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        work = asyncio.create_task(engine.compaction.compact(client.conversation))
        await asked(server)
        await client.say("Meanwhile I have bought three ladders.")
        assert texts_of(server.asked("talk")[-1])[1:] == [item.text for item in client.history[:-1]]
        go.set()
        await work
        (row,) = check_chain(engine, client)
        assert row.depth == 15
        await client.say("And now?")
        sent = texts_of(server.asked("talk")[-1])
        assert "The towns are still to be described" in sent[0]
        # Behind the question may stand what was recalled for it.
        said_since = [text.partition("\n\n[")[0] for text in sent[1:]]
        assert said_since == [entry.text for entry in client.history[16:-1]]


async def test_branch_switch_during_compaction_keeps_summary_of_previous_branch(tmp_path):
    go = asyncio.Event()
    server = RequestScripts(summary=[go, GOOD])
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        work = asyncio.create_task(engine.compaction.compact(client.conversation))
        await asked(server)
        before = head(engine, client)
        client.history[2:] = []
        await client.say("Let us rather talk about boats.")
        go.set()
        with pytest.raises(BadRequest):
            await work
        assert chain(engine, client) == [], "on the new way nothing is summarised"
        assert len(engine.store.summaries.of(before)) == 1
        await client.say("And now?")
        assert texts_of(server.asked("talk")[-1])[1:] == [item.text for item in client.history[:-1]]


async def test_undone_compaction_restores_window_exactly_and_is_not_repeated(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.warm(client.conversation)
        await engine.compaction.compact(client.conversation)
        await engine.compaction.warm(client.conversation)
        store = engine.store
        undone = store.atomically(lanes.undo, store, store.log.get(client.conversation))
        assert [result.kind for result in undone] == ["summarise"]
        await engine.compaction.warm(client.conversation)
        before, between, after = server.asked("warm")
        assert [message.encode() for message in after.messages] == [item.encode() for item in before.messages]
        assert len(between.messages) < len(before.messages)
        with pytest.raises(BadRequest):
            await engine.compaction.compact(client.conversation)
        await client.say("And now?")
        assert texts_of(server.asked("talk")[-1])[1:] == [entry.text for entry in client.history[:-1]]
        assert list(check_chain(engine, client)[0].covers) == list(undone[0].messages), "it is still there"


async def test_what_was_undone_comes_again_only_as_the_last_resort(tmp_path):
    server = RequestScripts(talk="Noted.")
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        store = engine.store
        (undone,) = store.atomically(lanes.undo, store, store.log.get(client.conversation))
        for at in range(20, 60):
            await client.say(said(at))
            await engine.background.idle.wait_until_idle()
            assert client.report["tokens"] <= client.report["room"]
            again = {name for result in decided(engine, client) for name in result.messages}
            assert not again.intersection(undone.messages)
        check_chain(engine, client)


async def test_a_fork_goes_on_with_the_summary_and_asks_nobody(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        store = engine.store
        fork = store.atomically(lanes.fork, store, store.log.get(client.conversation))
        number = len(server.asked())
        for name in (fork.id, client.conversation):
            turn = await engine.turn(
                Ask(ChatRequest("small", (Message.of("user", "Go on."),)), continues=name)
            )
            async with aclosing(turn.chunks) as chunks:
                [chunk async for chunk in chunks]
        in_fork, in_origin = server.asked("talk")[-2:]
        assert in_fork.messages == in_origin.messages
        assert "The towns are still to be described" in in_fork.messages[0].text
        assert len(server.asked()) == number


async def test_an_edit_above_the_summary_leaves_it_behind(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        old = chain(engine, client)
        client.history[4:] = []
        await client.say("No, let us begin anew from here.")
        assert "The towns are still" not in shown(server)
        assert texts_of(server.asked("talk")[-1])[1:] == [item.text for item in client.history[:-1]]
        assert chain(engine, client) == []
        for at in range(40, 50):
            await client.say(said(at))
        await engine.compaction.compact(client.conversation)
        (row,) = check_chain(engine, client)
        assert row.id != old[0].id
        assert not set(row.covers) & set(old[0].covers[4:]), "what was edited away is not in it"


async def test_a_smaller_window_uses_the_summary_that_is_there(tmp_path):
    server = RequestScripts(window={"small": 4_096, "smaller": 1_024})
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        assert await engine.compaction.at_rest(client.conversation)
        (row,) = check_chain(engine, client)
        number = len(server.asked())
        messages = (*client.system, *client.history, Message.of("user", "And in a small window?"))
        turn = await engine.turn(Ask(ChatRequest("smaller", messages)))
        async with aclosing(turn.chunks) as chunks:
            [chunk async for chunk in chunks]
        await engine.background.idle.wait_until_idle()
        if not decided(engine, client):  # it was done ahead of need, where it was time
            await engine.compaction.compact(client.conversation)
        assert {result.lane for result in decided(engine, client)} == {f"{client.conversation}:1024"}
        assert {output.data["summary"] for output in decided(engine, client)} == {row.id}
        assert len(server.asked()) == number
        assert engine.store.compactions.of(client.conversation)[-1].path == "reused"


async def test_pinned_messages_stay_where_they_were(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        conversation = engine.store.log.get(client.conversation)
        path = engine.store.log.path(conversation.head)
        pin(engine.store, engine.fitter.preset, conversation, path[4].id)
        await engine.compaction.compact(client.conversation)
        await client.say("And now?")
        sent = texts_of(server.asked("talk")[-1])
        assert sent[1:3] == [said(2), "Noted, the garden is fine."], "with its answer, before all that stayed"
        assert path[4].id in check_chain(engine, client)[0].covers
        pin(engine.store, engine.fitter.preset, engine.store.log.get(client.conversation), path[6].id)
        await client.say("And what was the third?")
        assert said(3) in texts_of(server.asked("talk")[-1]), "pinned afterwards it comes back"


async def test_rules_stay_verbatim_in_window_across_repeated_summaries(tmp_path):
    rules = [f"Never touch the {what}." for what in ("oak", "pond", "bees", "gate", "well")]
    server = RequestScripts(summary="")
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, first=f"Hello. {' '.join(rules)}", turns=8)
        for number in range(3):
            await engine.compaction.compact(client.conversation)
            for at in range(6):
                await client.say(said(10 * number + at))
        assert all(rule in shown(server) for rule in rules)


async def test_summary_uses_original_messages_instead_of_shortened_window(tmp_path):
    server, every_turn = RequestScripts(), replace(EAGER, prune_every_turn=True)
    long = f"{'The fence is old. ' * 120}The key lies under stone 4242. {'The shed is new. ' * 120}"
    async with summing(server, tmp_path, preset=every_turn) as engine:
        client = await talked(engine, turns=5, first=long)
        (seen,) = (each.text for each in server.asked("talk")[-1].messages if "[shortened: " in each.text)
        assert "stone 4242" not in seen
        await engine.compaction.compact(client.conversation)
    read = " ".join(request.messages[-1].text for request in server.asked())
    assert "stone 4242" in read
    assert "[shortened: " not in read


async def test_a_span_of_one_enormous_message_is_summarised(tmp_path):
    enormous = "The ledger of the garden says: " + " ".join(
        f"plot{number} has {number} trees." for number in range(9_000)
    )
    server = RequestScripts(summary="", talk="Read.")
    async with summing(server, tmp_path) as engine:
        client = Client(engine, "You are a gardener.")
        await client.say(enormous)
        await client.say("Thanks.")
        await client.say("What else?")
        await client.say("Go on.")
        await engine.background.idle.wait_until_idle()
        assert await engine.compaction.at_rest(client.conversation) or chain(engine, client)
        rows = check_chain(engine, client)
        body = SummaryBody.from_json(rows[-1].body)
        assert body.summary
        assert len(str(rows[-1].body)) < 60_000, "of an enormous message not everything is kept"
        await client.say("And now?")
        assert client.report["tokens"] <= client.report["room"]


async def test_span_of_only_tool_results_is_summarised_without_orphans(tmp_path):
    tools = ({"type": "function", "function": {"name": "read", "parameters": {}}},)
    server = RequestScripts(summary="", talk=[ToolCall("read", '{"path": "a.py"}', id="call_0")])
    # Nothing else makes room, so that one long loop fills the window.
    alone = replace(EAGER, levels=replace(EAGER.levels, prune=None, leave_out=None))
    async with summing(server, tmp_path, preset=alone) as engine:
        client = Client(engine, "You are a gardener.")
        client.history.append(Message.of("user", "Read all files."))
        for at in range(12):
            client.history.append(
                Message("assistant", (ToolCall("read", f'{{"path": "f{at}.py"}}', f"c{at}"),))
            )
            result = ToolResult((Text(f"def f{at}(): return {at}\n" * 20),), call_id=f"c{at}", name="read")
            client.history.append(Message("tool", (result,)))
        chat = ChatRequest("small", (*client.system, *client.history), tools)
        turn = await engine.turn(Ask(chat))
        async with aclosing(turn.chunks) as chunks:
            [chunk async for chunk in chunks]
        client.conversation = turn.conversation
        await engine.background.idle.wait_until_idle()
        if not decided(engine, client):  # it was done ahead of need, where it was time
            await engine.compaction.compact(client.conversation)
        check_chain(engine, client)
        await engine.compaction.warm(client.conversation)
        sent = server.asked("warm")[-1].messages
        assert sent[1].text == "Read all files."
        calls = [call.id for message in sent for call in message.tool_calls]
        assert calls == [result.call_id for message in sent for result in message.tool_results]
        assert 0 < len(calls) < 12
        assert "f0.py" in sent[0].text


async def test_the_next_request_begins_with_the_bytes_that_were_read_ahead(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        await engine.compaction.warm(client.conversation)
        await client.say("And now?")
        (warm,) = server.asked("warm")
        sent = server.asked("talk")[-1]
        assert warm.options["max_tokens"] == 1
        ahead = [message.encode() for message in warm.messages]
        assert [message.encode() for message in sent.messages][: len(ahead)] == ahead
        assert len(ahead) == len(sent.messages) - 1


async def test_warm_up_sends_tools_in_same_order_as_chat(tmp_path):
    tools = tuple({"type": "function", "function": {"name": name}} for name in ("write", "read", "ask"))
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = Client(engine)
        await client.say(FIRST, tools=tools)
        await engine.compaction.warm(client.conversation)
        await client.say("And now?", tools=tools)
        assert server.asked("warm")[0].tools == server.asked("talk")[-1].tools


async def test_new_conversation_has_nothing_to_summarise(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, turns=2)
        with pytest.raises(BadRequest, match="nothing to summarise"):
            await engine.compaction.compact(client.conversation)
        empty = engine.store.log.create(Scope())
        with pytest.raises(BadRequest, match="nothing of this conversation"):
            await engine.compaction.compact(empty.id)
        assert not server.asked()


async def test_who_follows_is_told_how_far_it_is(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)
        seen = []
        follower = engine.events.follow(Scope())

        async def follow():
            seen.extend([event.data async for event in follower if event.kind == "compaction"])

        following = asyncio.create_task(follow())
        await asyncio.sleep(0)
        batch = await engine.compaction.compact(client.conversation)
        engine.events.close()
        await following
    phases = [data["phase"] for data in seen]
    assert (phases[0], phases[-1], set(phases[1:-1])) == ("started", "done", {"working"})
    percents = [data["percent"] for data in seen]
    assert percents == sorted(percents)
    assert percents[-1] == 100
    report = batch
    assert (seen[-1]["tokens_before"], seen[-1]["tokens_after"]) == (
        report.tokens_before,
        report.tokens_after,
    )


async def test_a_rule_outlives_an_edit_after_its_message_was_left_out(tmp_path):
    server = RequestScripts(talk="Noted.", window=2_048)
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, turns=5)
        for at in range(20, 60):
            # Nothing that the message with the rule has to do with: it would stay for that.
            await client.say(
                f"Ship {at} came in with steel, coal and grain for the cranes of the harbour. " * 4
            )
            if RULE in shown(server):
                break
        assert RULE in shown(server)
        client.history[16:] = []
        await client.say("No, let us begin anew from here.")
        assert any(RULE in text for text in texts_of(server.asked("talk")[-1]))


async def test_a_talk_that_others_keep_short_is_summarised_all_the_same(tmp_path):
    """After a summary with much left beside it, leaving out alone would put the next one off for ever."""
    long = " ".join(f"House {number} has a garden with apples and a wall of stone." for number in range(140))
    server = RequestScripts(summary="", talk=Turns(*["Noted."] * 5, long, "Okay."))
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, turns=5)
        await client.say("Describe all houses.")
        await engine.background.idle.wait_until_idle()
        number = len(decided(engine, client))
        for at in range(20, 45):
            await client.say(said(at))
            await engine.background.idle.wait_until_idle()
        assert len(decided(engine, client)) > number
        check_chain(engine, client)


async def test_last_resort_summarises_in_the_same_turn(tmp_path):
    server = RequestScripts()
    preset = replace(preset_named("openclaw"), cooldown_seconds=0.0, cooldown_messages=0)
    async with summing(server, tmp_path, preset=preset) as engine:
        client = await talked(engine, turns=16)
        await client.say(" ".join(said(at) for at in range(50, 72)))
        assert decided(engine, client) == []
        # The level begins when the window is full, and so large a message leads past that in one step.
        await client.say(" ".join(said(at) for at in range(80, 102)))
        assert check_chain(engine, client)
        assert "4711" in shown(server)
        assert RULE.rstrip(".") in shown(server)
