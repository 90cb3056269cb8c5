"""What a client gets through Holdfast and directly is the same, and what it sends arrives: field by field."""

import base64
import json
import re
from contextlib import contextmanager

import httpx
import pytest

from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from holdfast.upstreams.openai import OpenAI
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply
from tests.upstreams.fake_servers import delta, events, server

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 16).decode()
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
TOOL = {
    "type": "function",
    "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {}}},
}
LOGPROBS = {"logprobs": [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]}


def chat(text, **fields):
    return {"model": "fake", "messages": [{"role": "user", "content": text}], **fields}


# Requests as clients send them, with the path they go to.
RECORDED = [
    ("/api/chat", chat("Hello there")),
    ("/api/chat", chat("Hello there", stream=False, keep_alive="5m")),
    ("/api/chat", chat("think", think=True, options={"temperature": 0, "seed": 7, "mirostat": 2})),
    ("/api/chat", chat("call", tools=[TOOL])),
    ("/api/chat", chat("call", tools=[TOOL], stream=False)),
    ("/api/chat", chat("logprobs", logprobs=True, top_logprobs=2, a_field_of_tomorrow={"x": [1]})),
    ("/api/chat", chat("logprobs", logprobs=True, top_logprobs=2, stream=False)),
    ("/api/chat", chat("json", format=SCHEMA)),
    ("/api/chat", chat("json", format="json", stream=False)),
    ("/api/chat", {"model": "fake", "messages": [{"role": "user", "content": "see", "images": [PNG]}]}),
    ("/api/chat", chat("limit", options={"num_predict": 2})),
    ("/api/generate", {"model": "fake", "prompt": "Hello there", "system": "Be brief.", "stream": False}),
    ("/api/generate", {"model": "fake", "prompt": "think", "think": True}),
    ("/api/generate", {"model": "fake", "prompt": "see", "images": [PNG], "format": "json"}),
    ("/api/generate", {"model": "fake", "prompt": "logprobs", "logprobs": True, "top_logprobs": 1}),
    ("/api/generate", {"model": "fake", "prompt": "Hello there", "raw": True}),
    ("/api/generate", {"model": "fake", "prompt": "a", "suffix": "b", "stream": False}),
    ("/api/generate", {"model": "fake", "prompt": "a", "template": "{{ .Prompt }}"}),
    ("/api/generate", {"model": "fake", "prompt": "a", "context": [1, 2, 3], "stream": False}),
]
RECORDED_OPENAI = [
    ("/v1/chat/completions", chat("Hello there")),
    ("/v1/chat/completions", chat("think", stream=True, stream_options={"include_usage": True})),
    ("/v1/chat/completions", chat("call", stream=True, tools=[TOOL], a_field_of_tomorrow=1)),
]
REFUSED = [
    ("/api/chat", chat("Hello", model="nobody")),
    ("/api/generate", {"model": "nobody", "prompt": "Hello"}),
    ("/api/chat", {"messages": [{"role": "user", "content": "Hello"}]}),
    ("/api/generate", {"prompt": "Hello"}),
    ("/api/chat", {"model": "fake", "messages": "Hello"}),
    ("/api/chat", {"model": "fake", "messages": [{"role": "user", "content": "x", "images": ["???"]}]}),
    ("/api/show", {"model": "nobody"}),
    ("/api/show", {}),
]


def react(call):
    return {
        "think": FakeReply("An answer.", thinking="Let me see."),
        "call": FakeReply(calls=[("add", {"a": 1, "b": {"c": "ü"}}), ("add", {})]),
        "logprobs": FakeReply("a a a", fields=LOGPROBS),
        "json": FakeReply('{"n": 1}'),
        "limit": FakeReply("one two three four"),
    }.get(call.said, FakeReply("Plain words, ünd more."))


@pytest.fixture
def upstream():
    fake = FakeOllama(react, models=[FakeModel(trained_window=8192)])
    with fake.served() as address, httpx.Client(base_url=address, trust_env=False) as own:
        yield fake, address, own


def shape(response, *volatile):
    """The lines of an answer without what differs from one to the next."""
    lines = [json.loads(line) for line in response.text.splitlines()]
    return [{name: value for name, value in line.items() if name not in volatile} for line in lines]


# Times, and what depends on what the model read before.
TIMES = ("created_at", "total_duration", "load_duration", "prompt_eval_duration", "prompt_eval_cached_count")


def settled(response):
    """The bytes of an answer, with a dot for every time in it."""
    names = "|".join((*TIMES, "created"))
    return re.sub(rf'"({names})":("[^"]*"|\d+)', r'"\1":.', response.text)


def test_switched_off_the_answer_is_the_servers_own_byte_for_byte(serve, upstream):
    fake, address, own = upstream
    client = serve(Ollama(Connection(address))).client
    for path, body in RECORDED + RECORDED_OPENAI:
        expected = own.post(path, json=body)
        sent = json.dumps(body, indent=1).encode()
        passed = client.post(path, content=sent, headers={"X-Holdfast": "off"})
        assert passed.headers["content-type"] == expected.headers["content-type"]
        assert settled(passed) == settled(expected)
        assert fake.requests[-1] == (path, body)


def test_short_chat_through_engine_matches_server_output_field_by_field(serve, upstream):
    _, address, own = upstream
    client = serve(Ollama(Connection(address))).client
    for path, body in RECORDED:
        expected, passed = own.post(path, json=body), client.post(path, json=body)
        assert passed.status_code == expected.status_code
        assert passed.headers["content-type"] == expected.headers["content-type"]
        # The prompt of `/api/generate` goes on as a chat, in a template of its own; its context is ours.
        own_way = (*TIMES, "context", "prompt_eval_count") if path == "/api/generate" else TIMES
        assert calls_unnamed(shape(passed, *own_way)) == calls_unnamed(shape(expected, *own_way)), body


def calls_unnamed(lines):
    """Without the ids of tool calls, which Ollama need not give and we make."""
    for line in lines:
        for call in line.get("message", {}).get("tool_calls", ()):
            call.pop("id", None)
            call["function"].pop("index", None)
    return lines


def test_what_a_client_sends_arrives_whoever_knows_it(serve, upstream):
    fake, address, _ = upstream
    client = serve(Ollama(Connection(address))).client
    for path, body in RECORDED:
        client.post(path, json=body)
        arrived_at, arrived = [sent for sent in fake.requests if "_debug_render_only" not in sent[1]][-1]
        passed_on = [name for name in body if name not in ("stream", "options", "prompt", "system", "images")]
        if arrived_at == path:
            passed_on = [name for name in passed_on if name != "messages"]
        assert {name: arrived.get(name) for name in passed_on if name != "messages"} == {
            name: body[name] for name in passed_on if name != "messages"
        }
        for name, value in body.get("options", {}).items():
            assert arrived["options"][name] == value


def test_refusals_have_ollamas_status_and_shape(serve, upstream):
    _, address, own = upstream
    client = serve(Ollama(Connection(address))).client
    for path, body in REFUSED:
        expected, passed = own.post(path, json=body), client.post(path, json=body)
        assert passed.status_code == expected.status_code, body
        assert passed.json().keys() == expected.json().keys() == {"error"}
        assert isinstance(passed.json()["error"], str)


def test_a_context_of_ours_goes_on_with_the_conversation(serve, upstream):
    fake, address, _ = upstream
    client = serve(Ollama(Connection(address))).client
    first = client.post("/api/generate", json={"model": "fake", "prompt": "My cat is Mia.", "stream": False})
    again = {"model": "fake", "prompt": "What is she called?", "context": first.json()["context"]}
    second = client.post("/api/generate", json={**again, "stream": False})
    assert second.headers["x-holdfast-conversation"] == first.headers["x-holdfast-conversation"]
    contents = [message["content"] for message in fake.calls[-1].body["messages"]]
    assert any("Mia" in text for text in contents)
    assert second.json()["context"] == first.json()["context"]


def test_probabilities_of_an_ollama_come_to_an_openai_client(serve, upstream):
    _, address, _ = upstream
    client = serve(Ollama(Connection(address))).client
    asked = {"model": "fake", "messages": [{"role": "user", "content": "logprobs"}], "logprobs": True}
    (choice,) = client.post("/v1/chat/completions", json=asked).json()["choices"]
    assert choice["logprobs"]["content"] == LOGPROBS["logprobs"] * 3


# One request in each dialect with everything in it that both know.
OPENAI = {
    "model": "fake",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Hm.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        {"role": "user", "content": "call"},
    ],
    "tools": [TOOL],
    "max_tokens": 50,
    "stop": "END",
    "reasoning_effort": "low",
    "logprobs": True,
    "top_logprobs": 2,
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
}
OLLAMA = {
    "model": "fake",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look", "images": [PNG]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "Hm.",
            "tool_calls": [{"function": {"name": "add", "arguments": {"a": 1}}}],
        },
        {"role": "tool", "tool_name": "add", "content": "2"},
        {"role": "user", "content": "call"},
    ],
    "tools": [TOOL],
    "options": {"num_predict": 50, "stop": ["END"], "temperature": 0.5},
    "think": "low",
    "logprobs": True,
    "top_logprobs": 2,
    "format": SCHEMA,
}


@contextmanager
def an_openai(*payloads):
    listed = {"object": "list", "data": [{"id": "fake", "object": "model", "max_model_len": 8192}]}
    routes = {"/v1/models": listed, "/v1/chat/completions": lambda body: events(*payloads)}
    with server(routes) as known:
        yield known


@pytest.mark.parametrize("usage", [True, False])
def test_openai_compatible_events_pass_through_engine_unchanged(serve, usage):
    base = {"id": "c-1", "object": "chat.completion.chunk", "created": 7, "model": "fake", "new": {"x": 1}}
    counts = {"prompt_tokens": 11, "completion_tokens": 2, "new_details": {"y": 2}}
    payloads = [
        base | delta(role="assistant", content=""),
        base | delta(reasoning="Hm."),
        base | delta(content="Wörter.", refusal=None),
        base | delta("stop") | {"timings": {"prompt_n": 11}},
        base | {"choices": [], "usage": counts},
    ]
    with an_openai(*payloads) as known:
        client = serve(OpenAI(Connection(known.url))).client
        body = chat("Hello there", stream=True, stream_options={"include_usage": usage, "new": 3})
        answer = client.post("/v1/chat/completions", json=body)
        (sent,) = known.asked("/v1/chat/completions")
    *events_, done = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    assert done == "[DONE]"
    assert [json.loads(event) for event in events_] == (payloads if usage else payloads[:-1])
    assert sent["stream_options"] == {"include_usage": True, "new": 3}


@pytest.mark.parametrize("headers", [{}, {"X-Holdfast": "off"}])
def test_an_openai_client_with_everything_reaches_an_ollama(serve, upstream, headers):
    fake, address, _ = upstream
    client = serve(Ollama(Connection(address))).client
    # Switched off, Ollama's own imitation of OpenAI answers: then there is nothing to translate.
    answer = client.post("/v1/chat/completions", json=OPENAI, headers=headers).json()["choices"][0]
    assert answer["finish_reason"] == "tool_calls"
    assert json.loads(answer["message"]["tool_calls"][0]["function"]["arguments"]) == {
        "a": 1,
        "b": {"c": "ü"},
    }
    if headers:
        return
    sent = fake.calls[-1].body
    system, look, called, result, _ = sent["messages"]
    assert "Be brief." in system["content"]
    assert (look["content"], look["images"]) == ("Look", [PNG])
    assert called["tool_calls"][0]["function"]["arguments"] == {"a": 1}
    assert (result["role"], result["content"], result["tool_call_id"]) == ("tool", "2", "c1")
    assert result["tool_name"] == "add"
    assert (sent["format"], sent["think"], sent["tools"]) == (SCHEMA, "low", [TOOL])
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 2)
    assert (sent["options"]["num_predict"], sent["options"]["stop"]) == (50, ["END"])


@pytest.mark.parametrize("headers", [{}, {"X-Holdfast": "off"}])
def test_an_ollama_client_with_everything_reaches_an_openai_compatible_server(serve, headers):
    call = {"index": 0, "id": "c9", "type": "function", "function": {"name": "add", "arguments": '{"a":'}}
    more = {"index": 0, "function": {"arguments": "1}"}}
    payloads = [
        delta(reasoning_content="Let me see."),
        {
            "choices": [
                {"index": 0, "delta": {"content": "Well."}, "logprobs": {"content": LOGPROBS["logprobs"]}}
            ]
        },
        delta(tool_calls=[call]),
        delta(tool_calls=[more]),
        delta("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 5}},
    ]
    with an_openai(*payloads) as known:
        client = serve(OpenAI(Connection(known.url))).client
        lines = shape(client.post("/api/chat", json=OLLAMA, headers=headers))
        whole = client.post("/api/chat", json={**OLLAMA, "stream": False}, headers=headers).json()
        sent = known.asked("/v1/chat/completions")[0]
    thinking, text, calls, end = lines
    assert thinking["message"]["thinking"] == "Let me see."
    assert text["message"]["content"] == "Well."
    assert text["logprobs"] == LOGPROBS["logprobs"] == whole["logprobs"]
    assert calls["message"]["tool_calls"][0]["function"]["arguments"] == {"a": 1}
    assert (end["done"], end["done_reason"], end["prompt_eval_count"], end["eval_count"]) == (
        True,
        "stop",
        11,
        5,
    )
    assert whole["message"]["thinking"] == "Let me see."
    assert whole["message"]["tool_calls"][0]["function"]["name"] == "add"

    system, look, called, result, _ = sent["messages"]
    assert "Be brief." in system["content"]
    assert look["content"][1]["image_url"]["url"] == f"data:image/png;base64,{PNG}"
    (output,) = called["tool_calls"]
    assert (output["type"], json.loads(output["function"]["arguments"])) == ("function", {"a": 1})
    # Ollama pairs a call and its result by name and place; OpenAI's servers want the same id on both.
    assert output["id"]
    assert result["tool_call_id"] == output["id"]
    assert sent["tools"] == [TOOL]
    assert (sent["max_tokens"], sent["stop"], sent["temperature"]) == (50, ["END"], 0.5)
    assert (sent["reasoning_effort"], sent["logprobs"], sent["top_logprobs"]) == ("low", True, 2)
    assert sent["response_format"]["json_schema"]["schema"] == SCHEMA
