"""What may only be taken together, and what is mended when something is missing."""

import json

from holdfast.messages import Message, Text, ToolCall, ToolResult
from holdfast.window.items import NO_RESULT, newest_of, question_of, repair_arguments, repair_pairs, units_of
from tests.window.talks import items_of


def user(text="Q"):
    return Message.of("user", text)


def answer(text="A"):
    return Message.of("assistant", text)


def calls(*names, text="", ids=True):
    parts = tuple(ToolCall("read", "{}", id=f"call_{name}" if ids else "") for name in names)
    return Message("assistant", ((Text(text),) if text else ()) + parts)


def result(name, text="R", ids=True):
    return Message("tool", (ToolResult((Text(text),), call_id=f"call_{name}" if ids else "", name="read"),))


def test_unit_is_a_tool_round_or_its_surrounding_frame():
    talk = [
        user(),
        calls("a", "b"),
        result("a"),
        result("b"),
        calls("c"),
        result("c"),
        answer(),
        user("Next"),
    ]
    units = units_of(items_of(talk))
    assert [[item.id for item in unit.items] for unit in units] == [
        ["m_1", "m_2", "m_3"],
        ["m_4", "m_5"],
        ["m_0", "m_6"],
        ["m_7"],
    ]
    assert [(unit.exchange, unit.is_frame) for unit in units] == [
        (0, False),
        (0, False),
        (0, True),
        (1, True),
    ]


def test_history_starting_with_answer_gets_its_own_unit():
    units = units_of(items_of([answer("Welcome!"), user(), answer()]))
    assert [[item.id for item in unit.items] for unit in units] == [["m_0"], ["m_1", "m_2"]]


def test_the_newest_is_what_nobody_has_answered_yet():
    talk = [user(), answer(), user("Now?")]
    assert [item.id for item in newest_of(items_of(talk))] == ["m_2"]
    talk = [user(), calls("a", "b"), result("a"), result("b")]
    assert [item.id for item in newest_of(items_of(talk))] == ["m_2", "m_3"]
    assert [item.id for item in newest_of(items_of([user(), answer()]))] == ["m_1"]
    assert newest_of(()) == ()
    assert question_of(items_of(talk)).id == "m_0"
    assert question_of(items_of([answer()])) is None


def test_what_is_whole_is_left_as_it_is():
    talk = [user(), calls("a", "b"), result("b"), result("a"), answer()]
    assert repair_pairs(talk) == talk


def test_calls_without_results_and_results_without_calls_are_taken_out():
    talk = [
        result("x"),
        user(),
        calls("a", "b", text="Reading."),
        result("b"),
        result("y"),
        user(),
        calls("c"),
    ]
    mended = repair_pairs(talk)
    assert mended[0] is None
    assert [call.id for call in mended[2].tool_calls] == ["call_b"]
    assert mended[2].text == "Reading."
    assert mended[3] == result("b")
    assert mended[4] is None
    assert mended[6].text == NO_RESULT, "a message must stand there: questions and answers take turns"


def test_without_ids_results_belong_to_calls_in_their_order():
    talk = [user(), calls("a", "b", "c", ids=False), result("a", ids=False), result("b", ids=False), answer()]
    mended = repair_pairs(talk)
    assert len(mended[1].tool_calls) == 2
    assert mended[2:] == talk[2:]


def test_arguments_that_were_cut_off_are_made_readable():
    broken = Message("assistant", (ToolCall("read", '{"path": "a.p', id="c"), ToolCall("now", "", id="d")))
    first, second = repair_arguments(broken).tool_calls
    assert json.loads(first.arguments) == {"unreadable": '{"path": "a.p'}
    assert (first.name, first.id, second.arguments) == ("read", "c", "{}")
    whole = calls("a")
    assert repair_arguments(whole) is whole


def test_a_result_behind_another_question_has_lost_its_call():
    talk = [user(), calls("a"), user("Wait"), result("a"), answer()]
    mended = repair_pairs(talk)
    assert mended[1].text == NO_RESULT
    assert mended[3] is None
