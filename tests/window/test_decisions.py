"""Decisions hold on the way they were made for, and nowhere else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.messages import Message
from holdfast.store import Decision
from holdfast.window.decisions import (
    Add,
    AppliedDecisions,
    Floor,
    Keep,
    LeaveOut,
    Replace,
    Shorten,
    Summarise,
    Tell,
    is_on_way,
    places_of,
    read_decision,
)
from holdfast.window.items import Item
from holdfast.window.view import render
from tests.window.talks import items_of


def talk(number):
    """Questions and answers in turn, m_0 the first."""
    return items_of(Message.of("assistant" if at % 2 else "user", f"Text {at}") for at in range(number))


def edited(items, at):
    """The same up to a place, and from there on another way of the same length."""
    return (*items[:at], *(Item(f"n_{item.depth}", item.message, item.depth, item.at) for item in items[at:]))


def left_out(*names, at):
    return LeaveOut("relevance", names, 10, 0, rules=(("m_0", "No."),), at=at)


@given(st.integers(2, 30), st.data())
def test_message_is_on_branch_if_no_edit_at_or_before_it(number, data):
    items = talk(number)
    at = data.draw(st.integers(0, number - 1))
    fork = data.draw(st.integers(0, number - 1))
    places = places_of(edited(items, fork))
    assert is_on_way(places, f"m_{at}", at) == (at < fork)


@given(st.integers(2, 30), st.data())
def test_what_a_client_no_longer_sends_is_still_on_the_way(number, data):
    at = data.draw(st.integers(0, number - 2))
    trimmed = talk(number)[at + 1 :]
    assert is_on_way(places_of(trimmed), f"m_{at}", at)


def test_a_message_behind_the_newest_is_not_on_the_way():
    assert not is_on_way(places_of(talk(4)), "m_9", 9)
    assert not is_on_way({}, "m_0", 0)


def test_messages_that_only_the_client_has_are_no_places():
    alone = Item("x_1", Message.of("user", "Hi"))
    assert places_of((alone, *talk(2))) == {0: "m_0", 1: "m_1"}


@pytest.mark.parametrize(("fork", "holds"), [(1, False), (9, False), (10, True)])
def test_what_was_left_out_is_back_on_another_way(fork, holds):
    """Decided when m_9 was the newest: an edit of m_9 or before it takes another way, one behind does not."""
    items = edited(talk(12), fork)
    decision = left_out("m_0", at=("m_9", 9))
    rendered = render(items, [decision])
    assert rendered.out == ({"m_0": "relevance"} if holds else {})
    assert rendered.rules == ((("m_0", "No."),) if holds else ())


def test_older_decision_still_applies_on_another_branch():
    before = left_out("m_0", "m_1", at=("m_3", 3))
    later = left_out("m_4", at=("m_9", 9))
    rendered = render(edited(talk(12), 6), [before, later])
    assert rendered.out.keys() == {"m_0", "m_1"}


def test_a_decision_without_a_place_holds_wherever_its_messages_are():
    cut = Shorten("long", ("m_2",), 10, 1, {"m_2": {0: "Short"}})
    shown = {item.item.id: item.message.text for item in render(edited(talk(12), 6), [cut]).shown}
    assert shown["m_2"] == "Short"
    assert shown["m_0"] == "Text 0"


@pytest.mark.parametrize(("fork", "holds"), [(2, False), (3, False), (4, True)])
def test_a_floor_holds_while_its_message_is_on_the_way(fork, holds):
    items = edited(talk(8), fork)
    floor = Floor("m_3", 3, frozenset({"m_1"}), "horizon")
    assert floor.holds(items) == holds
    applied = AppliedDecisions(floors=[floor])
    assert applied.left_out(items).keys() == ({"m_0", "m_2", "m_3"} if holds else set())


def test_what_somebody_wanted_back_is_not_below_a_floor():
    floor = LeaveOut("horizon", (), 0, 0, through="m_3", depth=3, keep=())
    back = Keep("pin", ("m_0", "m_1"), 0, 0)
    assert render(talk(6), [floor, back]).out.keys() == {"m_2", "m_3"}
    assert render(talk(6), [floor, back, left_out("m_0", "m_1", at=("m_5", 5))]).out.keys() == {
        "m_0",
        "m_1",
        "m_2",
        "m_3",
    }


PAIRS = (("m_0", "Never on Fridays."), ("m_2", "Nie freitags."))
STORED = [
    (Shorten("long", ("m_2",), 10, 1, {"m_2": {0: "Short"}}), '{"parts":{"m_2":{"0":"Short"}}}'),
    (
        Shorten("last", (), 10, 1, system={"5f": "Be kind."}),
        '{"parts":{},"system":{"5f":"Be kind."}}',
    ),
    (
        LeaveOut("horizon", (), 0, 0, through="m_3", depth=3, keep=("m_1",), rules=PAIRS[:1], agreed=()),
        '{"agreed":[],"depth":3,"keep":["m_1"],"rules":[["m_0","Never on Fridays."]],"through":"m_3"}',
    ),
    (LeaveOut("last", (), 9, 0, text=""), '{"text":""}'),
    (LeaveOut("relevance", ("m_0",), 9, 0, at=("m_5", 5)), '{"at":["m_5",5]}'),
    (
        Summarise("summary", ("m_0",), 9, 2, text="So.", summary="s_1", forbidden=PAIRS),
        '{"forbidden":[["m_0","Never on Fridays."],["m_2","Nie freitags."]],"summary":"s_1","text":"So."}',
    ),
    (Keep("pin", ("m_0",), 0, 0), "{}"),
    (Add("clock", ("m_0",), 0, 3, "clock", "10:43", id="d_1"), '{"section":"clock","text":"10:43"}'),
    (
        Add("files", ("m_0",), 0, 3, "files", "x", name="a.py", short="", size=1, changed=False, trouble=()),
        '{"changed":false,"name":"a.py","section":"files","short":"","size":1,"text":"x","trouble":[]}',
    ),
    (
        Add("recalled", ("m_0",), 0, 3, "recalled", "x", sources=({"message": "m_1", "why": "80%"},)),
        '{"section":"recalled","sources":[{"message":"m_1","why":"80%"}],"text":"x"}',
    ),
    (Replace("file", ("m_0",), 9, 2, {"d_1": "shorter"}), '{"instead":{"d_1":"shorter"}}'),
    (Tell("profile", (), 0, 9, "Likes tea.", reason="there is a profile"), '{"profile":"Likes tea."}'),
]


@pytest.mark.parametrize(("decision", "stored"), STORED, ids=lambda value: getattr(value, "rule", None))
def test_a_decision_is_stored_in_one_form_and_read_back(decision, stored):
    assert decision.data == json.loads(stored)
    common = {name: getattr(decision, name) for name in ("id", "kind", "rule", "reason")}
    row = Decision(
        lane="l_1",
        conversation="c_1",
        messages=list(decision.messages),
        tokens_before=decision.tokens_before,
        tokens_after=decision.tokens_after,
        data=json.loads(stored),
        created_at=0.0,
        **common,
    )
    assert read_decision(row) == decision
