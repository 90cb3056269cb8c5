"""The promises of a window, on random conversations: tools, pictures, thinking, Unicode, empty, enormous."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import Overflow
from holdfast.messages import ChatRequest, Message, Thinking
from holdfast.thinking import without_thinking
from holdfast.tokens.budget import budget_for
from holdfast.tokens.counter import ExactCounter
from holdfast.window.decisions import LAST
from holdfast.window.fit import fit
from holdfast.window.items import question_of
from holdfast.window.report import chain_of, prefix_of
from holdfast.window.view import Draft, render
from tests.window.talks import RULES, THOUGHT, Pennies, gauges, items_of, orphans_of, rounds, talks, texts

pytestmark = pytest.mark.slow

# A hundred each by default; `pytest --hypothesis-profile=thorough` makes a thousand of it.
many = settings(
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
windows = st.sampled_from([512, 1_024, 2_048, 4_096, 8_192])


@st.composite
def drafts(draw, orphans=False):
    items = draw(talks(orphans=orphans))
    ids = [item.id for item in items]
    system = (Message.of("system", draw(texts)),) if draw(st.booleans()) else ()
    return Draft(
        items,
        budget_for(draw(windows)),
        draw(gauges()),
        system=system,
        tools=tuple(
            {"type": "function", "function": {"name": f"tool_{at}"}} for at in range(draw(st.integers(0, 3)))
        ),
        pins=frozenset(draw(st.lists(st.sampled_from(ids), max_size=2))),
        rules={
            item.id: rules
            for item in items
            if item.is_question and (rules := [rule for rule in RULES if rule in item.message.text])
        },
    )


def kept(result, fired=None):
    """The draft as it is after its decisions were kept."""
    return replace(
        result.view.draft,
        decisions=result.view.decisions,
        seen=frozenset(shown.item.id for shown in result.view.shown),
        fired=result.fired if fired is None else fired,
    )


def request_of(result):
    return ChatRequest("m", result.messages, tools=result.view.draft.tools)


def used_last(result):
    return any(batch.level == LAST for batch in result.batches)


@many
@given(drafts(orphans=True))
def test_whatever_comes_in_it_fits_in_order_and_in_pairs(draft):
    result = fit(draft)
    count = draft.gauge.count_request(request_of(result))
    # With nothing left to take away, what probably fits is sent, and the report says that it is not sure.
    assert count.high <= draft.budget.room or (not result.view.fits and count.tokens <= draft.budget.room)
    shown = [entry.item.id for entry in result.view.shown]
    assert question_of(draft.items).id in shown
    assert shown == [item.id for item in draft.items if item.id in set(shown)]
    assert orphans_of(result.messages) == []
    check_said_only(draft, result)
    check_made_again(draft, result)


def check_said_only(draft, result):
    """What was thought before the question never goes out; of an answer that is whole, all that was said."""
    names = [entry.item.id for entry in result.view.shown]
    for item in result.view.shown[: names.index(question_of(draft.items).id)]:
        assert THOUGHT not in item.message.text
        assert not item.message.thinking
        if set(item.rules) <= {"thinking"} and not item.additions and item.message.role == "assistant":
            assert item.message.text == without_thinking(item.item.message.text)


def check_made_again(draft, result):
    """The same input gives the same window, and keeping what was decided changes nothing more."""
    same = fit(draft)
    assert [message.encode() for message in same.messages] == [
        message.encode() for message in result.messages
    ]
    assert same.view.proposals == result.view.proposals
    again = fit(kept(result))
    assert again.view.proposals == ()
    assert again.messages == result.messages
    assert again.fired == result.fired


@many
@given(drafts())
def test_turns_pins_and_rules_stay_and_undoing_gives_back_what_was(draft):
    result = fit(draft)
    talk = [message.role for message in result.messages if message.role in ("user", "assistant")]
    rounds_ = [role for at, role in enumerate(talk) if role == "user" or at == 0 or talk[at - 1] != role]
    assert all(item != other for item, other in pairwise(rounds_))
    assert not talk or talk[0] == "user"
    if not used_last(result):
        check_protected(draft, result)
    if result.batches:
        check_undone(draft, result)


def check_protected(draft, result):
    shown = {item.item.id: item for item in result.view.shown}
    for name in result.view.pins:
        # Thinking of earlier turns never goes out; that is no cut.
        assert set(shown[name].rules) <= {"thinking"} or draft.items[-1].id == name
    instructions = " ".join(message.text for message in result.view.system)
    for name in result.view.rendered.out:
        for rule in draft.rules.get(name, ()):
            assert rule in instructions


def check_undone(draft, result):
    """Without its last batch the window is the one before, and the same is not done again."""
    last = result.batches[-1].proposals
    rest = tuple(proposal for proposal in result.view.proposals if proposal not in last)
    before = render(draft.items, rest)
    undone = render(draft.items, [decision for decision in kept(result).decisions if decision not in last])
    assert [entry.message.encode() for entry in undone.shown] == [
        value.message.encode() for value in before.shown
    ]
    seen = frozenset(item.id for item in draft.items)
    again = fit(replace(draft, decisions=rest, vetoes=last, fired={1: -1, 2: -1}, seen=seen))
    if not used_last(result) and not used_last(again):
        assert again.view.proposals == ()


@many
@given(st.data(), windows, gauges())
def test_between_two_levels_each_request_begins_with_the_one_before(data, window, gauge):
    messages, before = [], None
    draft = Draft((), budget_for(window), gauge, system=(Message.of("system", "Be kind."),))
    for _ in range(data.draw(st.integers(2, 8))):
        messages.append(Message.of("user", data.draw(texts) or "And?"))
        for _ in range(data.draw(st.integers(0, 2))):
            messages += data.draw(rounds())
        draft = replace(draft, items=items_of(messages))
        result = fit(draft)
        now = chain_of(result.view)
        if before is not None:
            prefix = prefix_of(result, before, now)
            worked = any(batch.level > 0 for batch in result.batches)
            assert prefix.is_kept or worked or prefix.cause == "thinking"
            if prefix.is_kept:
                assert now[: len(before)] == before
        before = now
        draft = kept(result)
        messages.append(
            Message(
                "assistant", (Thinking("Hm."), *Message.of("assistant", data.draw(texts) or "Yes.").parts)
            )
        )


@settings(deadline=None)
@given(st.integers(1, 40), windows)
def test_oversized_tool_definitions_raise_error_with_token_counts(number, window):
    tools = tuple({"name": "x" * window * 8, "at": at} for at in range(number))
    draft = Draft(
        items_of([Message.of("user", "Hi")]), budget_for(window), ExactCounter(Pennies()), tools=tools
    )
    with pytest.raises(Overflow) as refused:
        fit(draft)
    assert f"{budget_for(window).room:,}" in str(refused.value)
    assert refused.value.prompt_tokens > budget_for(window).room
