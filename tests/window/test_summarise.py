"""Where a summary takes over, and when: nothing is torn apart, what must stay stays, and haste has limits."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import Overflow
from holdfast.messages import Message, Text, ToolCall, ToolResult
from holdfast.tokens.budget import budget_for
from holdfast.tokens.counter import ExactCounter
from holdfast.window.decisions import Add, LeaveOut, Summarise
from holdfast.window.fit import fit
from holdfast.window.summarise import (
    FRUITLESS,
    GROWTH,
    TARGET,
    Cooldown,
    SummaryAttempts,
    border,
    clear_quotes,
    is_due,
    may_try,
    propose_summary,
    room_for_text,
    talk,
)
from holdfast.window.view import Draft, View
from tests.window.talks import RULES, Pennies, gauges, items_of, orphans_of, talks

many = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
GAUGE = ExactCounter(Pennies())


def view_of(messages, window=2_048, **more):
    return View(Draft(items_of(messages), budget_for(window), GAUGE, **more))


def exchanges(number, size=120):
    return [
        message
        for at in range(number)
        for message in (
            Message.of("user", f"q{at} " + "x" * size),
            Message.of("assistant", f"a{at} " + "y" * size),
        )
    ]


def rounds(number, size=400):
    results = [Message.of("user", "Read all files.")]
    for at in range(number):
        results.append(Message("assistant", (ToolCall("read", f'{{"f": {at}}}', id=f"c{at}"),)))
        results.append(Message("tool", (ToolResult((Text("z" * size),), call_id=f"c{at}", name="read"),)))
    return results


def test_as_many_exchanges_stay_as_fit_into_their_share():
    view = view_of([*exchanges(6), Message.of("user", "And now?")])
    boundary = border(view)
    stay = [shown.message for shown in view.shown if shown.item.id not in boundary.gone]
    left = view.cost(stay).high - view.fixed_cost.high
    assert left <= TARGET * view.thresholds.full < left + 2 * view.tokens(view.shown[0].message)
    assert border(view_of([*exchanges(2), Message.of("user", "And now?")])) is None, "it all fits"


def test_when_somebody_asks_for_it_only_the_last_two_exchanges_stay():
    boundary = border(view_of([*exchanges(6), Message.of("user", "And now?")]), fills=False)
    assert (boundary.through, boundary.depth, boundary.keep) == ("m_9", 9, ())
    assert boundary.gone == tuple(f"m_{at}" for at in range(10))


def test_window_filled_by_two_exchanges_keeps_no_older_exchange():
    long = [*exchanges(2), *exchanges(1, 1_500), Message.of("user", "And now?")]
    assert border(view_of(long)).gone == tuple(f"m_{at}" for at in range(6))


def test_long_tool_loop_drops_oldest_rounds_and_keeps_question():
    boundary = border(view_of(rounds(10)))
    assert boundary.gone == tuple(f"m_{at}" for at in range(1, boundary.depth + 1))
    assert boundary.keep == ("m_0",)
    assert boundary.depth % 2 == 0, "no call without its result"
    assert boundary.depth <= 16


@pytest.mark.parametrize("messages", [[], exchanges(1), [Message.of("user", "Hello?")], rounds(1)])
def test_where_nothing_may_leave_there_is_no_border(messages):
    assert border(view_of(messages)) is None


def test_it_goes_no_deeper_than_the_summary_that_is_there():
    view = view_of(exchanges(8))
    assert border(view, 5).gone == tuple(f"m_{at}" for at in range(6))
    assert border(view, 4).gone == tuple(f"m_{at}" for at in range(4)), "half an exchange does not go"
    assert border(view, 0) is None


def test_pinned_and_vetoed_messages_stay_with_what_belongs_to_them():
    veto = Summarise("summary", ("m_4", "m_5"), 0, 0)
    boundary = border(view_of(exchanges(8), pins=frozenset({"m_1"}), vetoes=(veto,)))
    assert boundary.keep == ("m_0", "m_1", "m_4", "m_5")
    assert not set(boundary.gone) & set(boundary.keep)
    other = LeaveOut("relevance", ("m_4", "m_5"), 0, 0)
    assert border(view_of(exchanges(8), vetoes=(other,))).keep == (), "that was another matter"


def test_what_was_left_out_since_the_last_summary_counts_as_well():
    view = view_of(exchanges(6))
    mark = view.draft.budget.thresholds(view.cost(()).high).ahead
    assert talk(view) < mark
    assert not is_due(view, mark - talk(view) - 1)
    assert is_due(view, mark - talk(view))


@pytest.mark.parametrize(
    ("seconds", "messages", "holds"), [(29.9, 9, True), (31.0, 1, True), (31.0, 2, False), (29.9, 1, True)]
)
def test_after_a_success_time_and_messages_must_pass(seconds, messages, holds):
    tried = SummaryAttempts(at=1_000.0, depth=10)
    assert Cooldown().holds(tried, 1_000.0 + seconds, 10 + messages) is holds


def test_before_the_first_success_nothing_has_to_pass():
    assert not Cooldown().holds(SummaryAttempts(), 0.0, 0)
    assert not Cooldown().holds(SummaryAttempts(fruitless=1), 0.0, 0)


def test_after_a_success_history_must_have_grown_by_a_tenth():
    view, none = view_of(exchanges(10)), Cooldown(0.0, 0)
    grown = int(GROWTH * view.thresholds.full)
    assert may_try(view, SummaryAttempts(depth=0, talk=talk(view) - grown - 1), none, 9.0, 19)
    assert not may_try(view, SummaryAttempts(depth=0, talk=talk(view) - grown + 2), none, 9.0, 19)
    assert not may_try(view, SummaryAttempts(depth=0, talk=0), Cooldown(30.0, 2), 9.0, 19), (
        "the cooldown comes first"
    )


def test_what_came_to_nothing_twice_is_tried_again_only_after_growth():
    view, none = view_of(exchanges(10)), Cooldown(0.0, 0)
    for fruitless in range(FRUITLESS):
        assert may_try(view, SummaryAttempts(talk=talk(view), fruitless=fruitless), none, 0.0, 19)
    assert not may_try(view, SummaryAttempts(talk=talk(view), fruitless=FRUITLESS), none, 0.0, 19)
    assert may_try(view, SummaryAttempts(talk=0, fruitless=FRUITLESS), none, 0.0, 19)


def test_summary_follows_instructions_with_rules_verbatim():
    messages = [Message.of("user", f"Hello. {RULES[0]}"), Message.of("assistant", "Yes."), *exchanges(6)]
    view = view_of(messages, rules={"m_0": [RULES[0]]}, system=(Message.of("system", "Be kind."),))
    boundary = border(view)
    summary = propose_summary(view, boundary, "Summary: much was said.", "s_1", "because")
    after = view.having(summary)
    assert after.messages[0].text.startswith("Be kind.\n\nSummary: much was said.")
    assert RULES[0] in after.messages[0].text
    assert [message.text for message in after.messages[1:]] == [
        item.text for item in messages[boundary.depth + 1 :]
    ]
    assert (summary.data["summary"], summary.reason) == ("s_1", "because")
    room, report = room_for_text(view, boundary, 100_000)
    assert room < view.draft.budget.summary
    assert report == (RULES[0],)
    again = replace(view.draft, decisions=(replace(summary, id="d_1"),))
    assert View(again).messages == after.messages


def test_figures_of_every_summary_are_what_the_window_holds():
    messages = [Message.of("user", f"Hello. {RULES[0]}"), Message.of("assistant", "Yes."), *exchanges(6)]
    view = view_of(messages, rules={"m_0": [RULES[0]]}, system=(Message.of("system", "Be kind."),))
    first = propose_summary(view, border(view), "Summary: much was said.", "s_1", "")
    summarised = view.having(first)
    gone = sum(GAUGE.count_message(message).high for message in messages[: first.depth + 1])
    assert first.tokens_before == gone
    stands = summarised.messages[0].text.removeprefix("Be kind.\n\n")
    assert first.tokens_after == GAUGE.count_text(stands).high, "the rule is part of it"
    draft = replace(
        view.draft,
        items=items_of([*messages, *exchanges(6, size=200)]),
        decisions=(replace(first, id="d_1"),),
    )
    later = View(draft)
    second = propose_summary(later, border(later), "Summary: more was said.", "s_2", "")
    newly = [item.message for item in draft.items[first.depth + 1 : second.depth + 1]]
    newly_gone = sum(GAUGE.count_message(message).high for message in newly)
    assert second.tokens_before == newly_gone + first.tokens_after, "the first summary is replaced with them"


def test_quotes_for_earlier_questions_leave_with_it():
    quote = Add("recalled", ("m_10",), 0, 9, "recalled", "[quote]", id="d_1")
    view = view_of([*exchanges(6), Message.of("user", "And now?")], decisions=(quote,))
    assert any("[quote]" in message.text for message in view.messages)
    boundary = border(view)
    after = view.having(propose_summary(view, boundary, "Much.", "s_1", ""), *clear_quotes(view, boundary))
    assert not any("[quote]" in message.text for message in after.messages)


@st.composite
def views(draw):
    items = draw(talks(orphans=True))
    ids = [item.id for item in items]
    return View(
        Draft(
            items,
            budget_for(draw(st.sampled_from([512, 1_024, 2_048, 8_192]))),
            draw(gauges()),
            pins=frozenset(draw(st.lists(st.sampled_from(ids), max_size=2))),
            vetoes=tuple(
                Summarise("summary", (name,), 0, 0)
                for name in draw(st.lists(st.sampled_from(ids), max_size=2))
            ),
        )
    )


@pytest.mark.slow
@many
@given(view=views(), upto=st.none() | st.integers(0, 40))
def test_a_border_tears_nothing_apart_and_keeps_what_must_stay(view, upto):
    boundary = border(view, upto)
    if boundary is None:
        return
    items = {item.id: item for item in view.draft.items}
    staying = view.pins | view.list_vetoes("summarise") | {item.id for item in view.newest}
    assert not staying.intersection(boundary.gone)
    assert items[boundary.through].depth == boundary.depth
    assert upto is None or boundary.depth <= upto
    below = {entry.item.id for entry in view.shown if entry.item.depth <= boundary.depth}
    assert below == {*boundary.gone, *boundary.keep}
    after = view.having(propose_summary(view, boundary, "Much was said.", "s_1", ""))
    shown = [value.item.id for value in after.shown]
    assert not set(boundary.gone).intersection(shown)
    assert staying.intersection(one.item.id for one in view.shown) <= set(shown)
    assert orphans_of(after.messages) == []
    talking = [message.role for message in after.messages if message.role in ("user", "assistant")]
    assert not talking or talking[0] == "user" or view.messages[0].role != "user"


@pytest.mark.slow
@many
@given(view=views(), words=st.integers(0, 4_000))
def test_window_with_summary_never_exceeds_its_room(view, words):
    boundary = border(view)
    if boundary is None:
        return
    summary = propose_summary(view, boundary, "word " * words, "s_1", "")
    try:
        fitted = fit(replace(view.draft, vetoes=()), [summary])
    except Overflow:
        return
    assert fitted.total.tokens <= view.room
    assert orphans_of(fitted.messages) == []
