"""A model that thinks until its limit and says nothing is asked once more, whatever door the client uses."""

import json

import pytest

from holdfast.messages import Chunk, Thinking, Usage
from holdfast.testing.provider import ScriptedProvider

TOLD = "this answer is without thinking"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/api/chat", "/v1/chat/completions", "/v1/messages", "/v1/responses"])
def test_a_model_that_only_thought_answers_without_thinking(serve, path, stream):
    empty = [Thinking("hm hm"), Chunk(finish="length", usage=Usage(prompt=5, completion=2))]
    holdfast = serve(ScriptedProvider([empty, "Forty-two."]))
    text = [{"role": "user", "content": "What is it?"}]
    body = {"model": "scripted", "messages": text, "input": "What is it?", "max_tokens": 50, "stream": stream}
    answer = holdfast.client.post(path, json=body)
    assert answer.status_code == 200
    assert TOLD in answer.text
    assert "Forty-two." in answer.text
    assert [request.think for request in holdfast.provider.requests][-1] is False
    assert len(holdfast.provider.requests) == 2
    (job,) = holdfast.store.jobs.recent()
    assert job.status == "done"


@pytest.mark.parametrize(
    ("path", "wish"),
    [
        ("/api/chat", {"format": "json"}),
        ("/v1/chat/completions", {"response_format": {"type": "json_object"}}),
    ],
)
def test_whoever_wants_json_gets_nothing_in_front_of_it(serve, path, wish):
    empty = [Thinking("hm hm"), Chunk(finish="length", usage=Usage(prompt=5, completion=2))]
    holdfast = serve(ScriptedProvider([empty, '{"answer": 42}']))
    text = [{"role": "user", "content": "What is it?"}]
    answer = holdfast.client.post(path, json={"model": "scripted", "messages": text, "stream": False, **wish})
    message = answer.json().get("message") or answer.json()["choices"][0]["message"]
    assert json.loads(message["content"]) == {"answer": 42}


def test_it_is_not_asked_a_third_time(serve):
    empty = [Thinking("hm"), Chunk(finish="length", usage=Usage(prompt=5, completion=2))]
    holdfast = serve(ScriptedProvider([empty, empty]))
    body = {"model": "scripted", "messages": [{"role": "user", "content": "What is it?"}], "stream": True}
    lines = holdfast.client.post("/api/chat", json=body).text.splitlines()
    assert json.loads(lines[-1])["done_reason"] == "length"
    assert len(holdfast.provider.requests) == 2
