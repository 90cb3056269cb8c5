"""What comes in goes out again, unknown fields included, for every shape the wire allows."""

import pytest
from hypothesis import given

from holdfast.messages import Message
from holdfast.protocols import ollama, openai_chat
from tests.protocols.strategies import ollama_messages, ollama_requests, openai_messages, openai_requests

pytestmark = pytest.mark.slow


@given(ollama_messages)
def test_an_ollama_message_goes_out_as_it_came_in(wire):
    assert ollama.serialize_message(ollama.parse_message(wire)) == wire


@given(openai_messages)
def test_an_openai_message_goes_out_as_it_came_in(wire):
    assert openai_chat.serialize_message(openai_chat.parse_message(wire)) == wire


@given(ollama_requests)
def test_an_ollama_request_goes_out_as_it_came_in(wire):
    assert ollama.serialize_request(ollama.parse_request(wire)) == wire


@given(openai_requests)
def test_an_openai_request_goes_out_as_it_came_in(wire):
    assert openai_chat.serialize_request(openai_chat.parse_request(wire)) == wire


@given(ollama_messages)
def test_an_ollama_message_survives_being_stored(wire):
    assert_survives(ollama, ollama.parse_message(wire))


@given(openai_messages)
def test_an_openai_message_survives_being_stored(wire):
    assert_survives(openai_chat, openai_chat.parse_message(wire))


def assert_survives(dialect, message):
    stored = Message.decode(message.encode())
    assert stored == message
    assert stored.digest == message.digest
    assert dialect.serialize_message(stored) == dialect.serialize_message(message)


@given(ollama_requests)
def test_an_ollama_request_can_be_said_to_an_openai_server(wire):
    body = openai_chat.serialize_request(ollama.parse_request(wire))
    for theirs, ours in zip(body["messages"], wire["messages"], strict=True):
        assert theirs["role"] == ours["role"]
        assert "thinking" not in theirs
        assert all(isinstance(call["function"]["arguments"], str) for call in theirs.get("tool_calls", ()))
    assert "options" not in body
    assert "x_custom" not in body


@given(openai_requests)
def test_an_openai_request_can_be_said_to_an_ollama_server(wire):
    body = ollama.serialize_request(openai_chat.parse_request(wire))
    for message in body["messages"]:
        assert message["role"] in ("system", "user", "assistant", "tool")
        assert isinstance(message.get("content", ""), str | None)
        assert all(
            isinstance(call["function"]["arguments"], dict | None) for call in message.get("tool_calls", ())
        )
    assert set(body) <= {"model", "messages", "stream", "tools", "format", "think", "options"}
