import pytest

from holdfast.conversations import Hints, read_hints
from holdfast.conversations.hints import read_person
from holdfast.messages import ChatRequest
from holdfast.protocols import anthropic, openai_chat, openai_responses
from tests.conversations.builders import user

PLAIN = ChatRequest("m", (user("Hi"),))


def test_our_own_header_and_field_name_the_conversation():
    assert read_hints({"x-holdfast-conversation": " c_1 "}, PLAIN).explicit == "c_1"
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "metadata": {"conversation_id": "x"},
    }
    assert read_hints({}, openai_chat.parse_request(body)).explicit == "x"


@pytest.mark.parametrize(
    ("headers", "external_id", "one_chat"),
    [
        ({"x-openwebui-chat-id": "abc"}, "open-webui:abc", True),
        ({"x-session-id": "ses_1", "x-session-affinity": "ses_1"}, "session:ses_1", False),
        ({"x-claude-code-session-id": "cc"}, "claude-code:cc", False),
        ({"thread-id": "t", "session-id": "s"}, "codex:t", False),
        ({"x-openwebui-chat-id": "local:xyz"}, "", False),
        ({"x-openwebui-chat-id": "temporary:xyz"}, "", False),
        ({"x-openwebui-chat-id": "local"}, "", False),
        ({}, "", False),
    ],
)
def test_the_ids_of_other_tools_are_found(headers, external_id, one_chat):
    hints = read_hints(headers, PLAIN)
    assert (hints.external_id, hints.one_chat) == (external_id, one_chat)


def test_ids_in_the_body_are_found():
    body = {"model": "m", "input": "Hi", "prompt_cache_key": "key", "previous_response_id": "resp_1"}
    hints = read_hints({}, openai_responses.parse_request(body))
    assert (hints.external_id, hints.previous) == ("session:key", "resp_1")
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "metadata": {"session_id": "s"}}
    assert read_hints({}, anthropic.parse_request(body)).external_id == "session:s"


def test_a_client_is_known_without_its_version():
    old = read_hints({"user-agent": "OpenAI/JS 6.49.0"}, PLAIN)
    new = read_hints({"user-agent": "OpenAI/JS 7.0.0"}, PLAIN)
    other = read_hints({"user-agent": "OpenAI/Python 2.1.0"}, PLAIN)
    assert old.client == new.client != other.client


def test_the_person_behind_a_shared_key_is_kept_with_the_client():
    hints = read_hints({"user-agent": "Python/3.11 aiohttp/3.13", "x-openwebui-user-id": "u-1"}, PLAIN)
    assert read_person(hints.sender) == "u-1"
    assert read_person(Hints(client="curl").sender) == ""


def test_nonsense_in_a_header_says_nothing():
    assert read_hints({"x-codex-turn-metadata": "{broken"}, PLAIN).kind == ""
    assert read_hints({"x-codex-turn-metadata": "[1]"}, PLAIN).kind == ""
    assert read_hints({"x-codex-turn-metadata": '{"request_kind": "compaction"}'}, PLAIN).kind == "compaction"
