"""The unmodified clients of OpenAI's responses and Anthropic's messages, with a real model behind them."""

import anthropic
import openai
import pytest

from holdfast.messages import Scope
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.embedded import EmbeddedProvider
from holdfast.upstreams.routing import Upstreams
from tests.server.conftest import running

pytestmark = [pytest.mark.slow, pytest.mark.real, pytest.mark.xdist_group("embedded")]

PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}}


@pytest.fixture(scope="module")
def holdfast(weights, tmp_path_factory):
    folder = tmp_path_factory.mktemp("doors")

    async def find():
        return ScriptedProvider()

    embedded = EmbeddedProvider(weights, log=folder / "log", ctx=2048)
    with running(folder, Upstreams(find, embedded)) as server:
        yield server


def kept(holdfast, project):
    (row,) = holdfast.store.log.recent(Scope(project=project))
    return [(item.message.role, item.message.text) for item in holdfast.store.log.path(row.head)]


def test_responses_with_and_without_a_stream_and_with_a_tool(holdfast):
    headers = {"X-Holdfast-Project": "responses"}
    asked = {"model": "embedded", "max_output_tokens": 6, "temperature": 0}
    tool = {"type": "function", "name": "look", "parameters": PARAMETERS}
    with openai.OpenAI(
        base_url=f"{holdfast.url}/v1", api_key="none", max_retries=0, default_headers=headers
    ) as client:
        first = client.responses.create(**asked, input="Name a colour.")
        assert first.usage.input_tokens > 0
        results = [
            {"type": "message", "role": "user", "content": "Look into a."},
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"path":"a"}'},
            {"type": "function_call_output", "call_id": "c1", "output": "empty"},
        ]
        with client.responses.create(
            **asked, input=results, tools=[tool], previous_response_id=first.id, stream=True
        ) as stream:
            second = list(stream)[-1].response
    assert kept(holdfast, "responses") == [
        ("user", "Name a colour."),
        ("assistant", first.output_text),
        ("user", "Look into a."),
        ("assistant", ""),
        ("tool", "empty"),
        ("assistant", second.output_text),
    ]


def test_messages_with_and_without_a_stream_and_with_a_tool(holdfast):
    headers = {"X-Holdfast-Project": "messages"}
    asked = {
        "model": "embedded",
        "max_tokens": 6,
        # Else it says nothing at all now and then.
        "extra_body": {"temperature": 0.0},
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}],
        "tools": [{"name": "look", "input_schema": PARAMETERS}],
    }
    history = [
        {"role": "user", "content": [{"type": "text", "text": "Look into a."}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "empty"}]},
    ]
    with anthropic.Anthropic(
        base_url=holdfast.url, api_key="none", max_retries=0, default_headers=headers
    ) as client:
        expected = client.messages.count_tokens(
            model="embedded", messages=history, system=asked["system"], tools=asked["tools"]
        )
        first = client.messages.create(**asked, messages=history)
        usage = first.usage
        assert usage.input_tokens + usage.cache_read_input_tokens == expected.input_tokens
        history += [
            {"role": "assistant", "content": [block.to_dict() for block in first.content]},
            {"role": "user", "content": "And b?"},
        ]
        with client.messages.stream(**asked, messages=history) as stream:
            second = stream.get_final_message()
    texts = [answer.content[0].text for answer in (first, second)]
    assert kept(holdfast, "messages") == [
        ("user", "Look into a."),
        ("assistant", ""),
        ("tool", "empty"),
        ("assistant", texts[0]),
        ("user", "And b?"),
        ("assistant", texts[1]),
    ]
