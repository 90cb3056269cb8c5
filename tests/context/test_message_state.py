"""What is told of a window is what a request would show."""

import asyncio

import pytest

from holdfast.context.message_state import (
    changed_states,
    lane_of,
    load_states,
    message_account,
    window_account,
)
from holdfast.conversations import lanes
from holdfast.errors import NotFound
from holdfast.messages import Message, Text, Thinking
from holdfast.testing.provider import ScriptedProvider
from tests.talks import carry, engine_on, long_talk


@pytest.fixture
def talked(tmp_path):
    """A store, a conversation in it that did not fit, and the request that was sent for it."""

    async def talk(engine):
        return await carry(engine, *long_talk())

    provider = ScriptedProvider(fallback="Of course.")
    with asyncio.Runner() as runner:
        engine = engine_on(tmp_path, provider)
        row = engine.store.log.get(runner.run(talk(engine)))
        yield engine.store, row, provider.requests[-1]
        runner.run(engine.close())


def test_messages_stand_as_they_were_sent(talked):
    store, row, sent = talked
    states = load_states(store, row, lane_of(store, row))
    shown = [state.shown for state in states if state.shown is not None]
    # The answer came after the request.
    assert tuple(shown[:-1]) == sent.messages
    assert [item.stored.id for item in states] == store.log.path_ids(row.head)


def test_each_change_names_its_rule_and_its_decision(talked):
    store, row, _ = talked
    results = changed_states(load_states(store, row, lane_of(store, row)))
    assert {item.state for item in results} == {"shortened", "out"}
    for result in results:
        assert result.rules
        assert {decision.rule for decision in result.decisions} >= set(result.rules)
        assert all(result.stored.id in output.messages for output in result.decisions)


def test_what_was_undone_stands_whole_again(talked):
    store, row, _ = talked
    undone = store.atomically(lanes.undo, store, row)
    names = {name for result in undone for name in result.messages}
    after = {state.stored.id: state for state in load_states(store, row, lane_of(store, row))}
    assert names
    assert all(after[name].state != "out" for name in names)
    vetoes = window_account(store, row)["vetoes"]
    assert [veto["id"] for veto in vetoes] == [output.id for output in undone]
    assert all(veto["undone_at"] for veto in vetoes)


def test_a_message_beyond_the_horizon_is_out_by_that_decision(talked):
    store, row, _ = talked
    ids = store.log.path_ids(row.head)
    lane = lanes.lane_id(row.id, 1024)
    store.lanes.put(lane, row.id, window=1024, state={}, report={"tokens": 1}, expect=0)
    data = {"through": ids[3], "depth": 3, "keep": [ids[1]]}
    result = store.decisions.record(
        lane,
        row.id,
        kind="leave_out",
        rule="horizon",
        messages=[],
        tokens_before=0,
        tokens_after=0,
        data=data,
    )
    results = load_states(store, row, lane_of(store, row, 1024))
    states = [item.state for item in results[:5]]
    assert states == ["out", "in", "out", "out", "in"]
    assert results[0].decisions == (result,)
    assert results[4].decisions == ()


def test_a_message_on_another_branch_is_elsewhere_and_names_its_siblings(talked):
    store, row, _ = talked
    answer = store.log.message(row.head)
    asked = answer.parent
    store.log.set_head(row.id, asked, expect=row.head)
    account = message_account(store, store.log.get(row.id), answer)
    assert [window["state"] for window in account["windows"]] == ["elsewhere"]
    assert account["content"] == answer.message.text
    assert message_account(store, row, store.log.message(asked))["children"] == [answer.id]


def test_a_conversation_that_was_never_sent_has_no_window(talked):
    store, row, _ = talked
    fresh = store.log.create(row.scope)
    with pytest.raises(NotFound) as caught:
        window_account(store, fresh)
    assert "once something was asked" in caught.value.hint
    with pytest.raises(NotFound, match="8192"):
        window_account(store, row, 4711)


@pytest.mark.anyio
async def test_thinking_that_never_goes_out_is_not_told_as_a_change(tmp_path):
    thought = Message("assistant", (Thinking("Hm."), Text("Yes.")))
    engine = engine_on(tmp_path, ScriptedProvider())
    asked = Message.of("user", "One?"), thought, Message.of("user", "Two?")
    row = engine.store.log.get(await carry(engine, *asked))
    states = load_states(engine.store, row, lane_of(engine.store, row))
    assert states[1].rules == ("thinking",)
    assert changed_states(states) == []
    await engine.close()


@pytest.mark.anyio
async def test_what_was_added_behind_a_question_is_told_apart_from_it(tmp_path):
    engine = engine_on(tmp_path, ScriptedProvider())
    asked = Message.of("user", "Which gateway?")
    row = engine.store.log.get(await carry(engine, asked, context=("It is bluefin.",)))
    question, _ = load_states(engine.store, row, lane_of(engine.store, row))
    report = question.to_json()
    assert (report["state"], report["shown"]) == ("in", None)
    assert [(item["section"], "bluefin" in item["text"]) for item in report["added"]] == [("research", True)]
    assert [decision["rule"] for decision in report["decisions"]] == ["context"]
    assert "bluefin" not in message_account(engine.store, row, question.stored)["content"]
    await engine.close()
