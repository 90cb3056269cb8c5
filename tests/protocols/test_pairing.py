"""Calls and results find each other in the other dialect too, the same way in every longer history."""

from holdfast.messages import ChatRequest
from holdfast.protocols import ollama, openai_chat
from holdfast.protocols.wire import add_call_ids, add_tool_names


def calls(*names, ids=()):
    result = [{"function": {"name": name, "arguments": {}}} for name in names]
    for call, given in zip(result, ids, strict=False):
        call["id"] = given
    return {"role": "assistant", "content": "", "tool_calls": result}


def result(text, **fields):
    return {"role": "tool", "content": text, **fields}


def serialize(*messages):
    read = tuple(ollama.parse_message(message) for message in messages)
    return openai_chat.serialize_request(add_call_ids(ChatRequest("m", read)))["messages"]


def pairs(messages):
    """What each result answers, by the name of its call."""
    names = {
        call["id"]: call["function"]["name"] for message in messages for call in message.get("tool_calls", ())
    }
    return [
        (message["content"], names.get(message.get("tool_call_id")))
        for message in messages
        if message["role"] == "tool"
    ]


def test_results_without_id_pair_by_call_name_then_by_order():
    by_name = serialize(calls("a", "b"), result("of b", tool_name="b"), result("of a", tool_name="a"))
    assert pairs(by_name) == [("of b", "b"), ("of a", "a")]
    in_order = serialize(calls("a", "b"), result("first"), result("second"))
    assert pairs(in_order) == [("first", "a"), ("second", "b")]


def test_two_calls_of_one_name_have_ids_of_their_own():
    messages = serialize(calls("a", "a"), result("1", tool_name="a"), result("2", tool_name="a"))
    ids = [call["id"] for call in messages[0]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [message["tool_call_id"] for message in messages[1:]] == ids


def test_ids_that_are_there_stay():
    messages = serialize(calls("a", "b", ids=["x"]), result("of a", tool_call_id="x"), result("of b"))
    assert messages[0]["tool_calls"][0]["id"] == messages[1]["tool_call_id"] == "x"
    assert pairs(messages) == [("of a", "a"), ("of b", "b")]


def test_a_result_of_nothing_that_was_called_stays_alone():
    assert pairs(serialize(calls("a"), result("?", tool_name="z"))) == [("?", None)]
    assert pairs(serialize(result("?"))) == [("?", None)]


def test_a_longer_history_begins_with_the_same_bytes():
    first = [calls("a"), result("1", tool_name="a")]
    more = [*first, calls("a", "b"), result("2", tool_name="a"), result("3", tool_name="b")]
    assert serialize(*more)[:2] == serialize(*first)


def test_result_with_id_reaches_ollama_with_its_call_name():
    call = {"id": "x", "type": "function", "function": {"name": "a", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "x", "content": "1"},
        {"role": "tool", "tool_call_id": "y", "content": "2"},
    ]
    request = ChatRequest("m", tuple(openai_chat.parse_message(message) for message in messages))
    _, known, unknown = ollama.serialize_request(add_tool_names(request))["messages"]
    assert (known["tool_name"], known["tool_call_id"]) == ("a", "x")
    assert "tool_name" not in unknown
