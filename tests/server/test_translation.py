"""Clients of OpenAI's responses and of Anthropic's messages with an Ollama server behind Holdfast."""

import anthropic
import openai
import pytest

from holdfast.messages import Scope
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply
from tests.server.conftest import running

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
MODELS = [FakeModel("plain:latest", capabilities=("completion", "tools")), FakeModel("clever:latest")]


def reply(call):
    """A call for every question, and an answer to every result."""
    asked = call.body["messages"][-1]
    if asked["role"] == "tool":
        return FakeReply(f"It says: {asked['content']}")
    return FakeReply("Looking.", thinking="hm", calls=[("look", {"path": "a"})])


@pytest.fixture(scope="module")
def fake():
    server = FakeOllama(reply, models=MODELS)
    with server.served() as url:
        server.url = url
        yield server


@pytest.fixture(scope="module")
def holdfast(fake, tmp_path_factory):
    with running(tmp_path_factory.mktemp("translation"), Ollama(Connection(fake.url))) as server:
        yield server


@pytest.fixture
def headers(request):
    """A project of its own for every test."""
    return {"X-Holdfast-Project": str(abs(hash(request.node.name)))}


def asked(fake):
    """The chats that the model server was asked for."""
    return [body for path, body in fake.requests if path == "/api/chat" and "_debug_render_only" not in body]


def roles(holdfast, headers):
    (row,) = holdfast.store.log.recent(Scope(project=headers["X-Holdfast-Project"]))
    return [stored.message.role for stored in holdfast.store.log.path(row.head)]


@pytest.mark.parametrize("model", ["plain", "clever"])
def test_an_anthropic_agent_calls_tools_and_thinks_where_the_model_can(holdfast, fake, headers, model):
    fields = {
        "model": model,
        "max_tokens": 50,
        "tools": [{"name": "look", "input_schema": SCHEMA}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    history = [{"role": "user", "content": "Look."}]
    with anthropic.Anthropic(
        base_url=holdfast.url, api_key="none", max_retries=0, default_headers=headers
    ) as client:
        first = client.messages.create(**fields, messages=history)
        thinking, _, call = first.content
        assert (thinking.thinking, call.input, first.stop_reason) == ("hm", {"path": "a"}, "tool_use")
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "nothing"}
        history += [
            {"role": "assistant", "content": [block.to_dict() for block in first.content]},
            {"role": "user", "content": [result]},
        ]
        last = client.messages.create(**fields, messages=history)
    assert [block.text for block in last.content] == ["It says: nothing"]
    assert roles(holdfast, headers) == ["user", "assistant", "tool", "assistant"]
    sent = asked(fake)[-1]
    assert sent.get("think") is (True if model == "clever" else None)
    assert sent["messages"][1]["tool_calls"][0]["function"]["arguments"] == {"path": "a"}
    assert sent["options"]["num_predict"] == 50


@pytest.mark.parametrize("model", ["plain", "clever"])
def test_a_client_of_responses_leaves_the_history_to_us(holdfast, fake, headers, model):
    fields = {
        "model": model,
        "tools": [{"type": "function", "name": "look", "parameters": SCHEMA}],
        "reasoning": {"effort": "minimal"},
    }
    with openai.OpenAI(
        base_url=f"{holdfast.url}/v1", api_key="none", max_retries=0, default_headers=headers
    ) as client:
        first = client.responses.create(**fields, input="Look.")
        call = first.output[-1]
        assert (call.name, call.arguments) == ("look", '{"path":"a"}')
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "nothing"}
        last = client.responses.create(**fields, input=[result], previous_response_id=first.id)
    assert last.output_text == "It says: nothing"
    assert roles(holdfast, headers) == ["user", "assistant", "tool", "assistant"]
    assert asked(fake)[-1].get("think") == ("low" if model == "clever" else None)


def test_switched_off_a_server_that_speaks_the_dialect_answers_by_itself(holdfast):
    off = {"X-Holdfast": "off"}
    for path in ("/v1/responses", "/v1/messages"):
        # This Ollama is from before it knew these routes: its own words come through.
        response = holdfast.client.post(path, json={"model": "plain", "input": "hi"}, headers=off)
        assert (response.status_code, response.text) == (404, "404 page not found")
    assert holdfast.store.log.recent(Scope()) == []
