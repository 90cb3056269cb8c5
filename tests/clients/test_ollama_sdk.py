"""The library that Ollama gives to Python people, unmodified, with an Ollama behind Holdfast."""

import base64

import ollama
import pytest

from tests.clients.sdk_server import MODEL, PICTURE, tables
from tests.fakes.ollama_runner import FakeReply

pytestmark = pytest.mark.slow

CALLS = (("look", {"path": "a"}), ("look", {"path": "b"}))


def look(path: str) -> str:
    """Read a file.

    Args:
      path: which one
    """
    return f"{path} is empty"


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    with tables(tmp_path_factory.mktemp("ollama")) as store:
        yield store


@pytest.fixture
def table(make):
    return make()


@pytest.fixture
def client(table):
    with ollama.Client(table.url, headers=table.headers, trust_env=False) as result:
        yield result


def answer_of(client, stream, **asked):
    """The answer, whole or put together from its pieces as people do it."""
    if not stream:
        return client.chat(MODEL, **asked).message
    pieces = list(client.chat(MODEL, stream=True, **asked))
    assert [piece.done for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    return ollama.Message(
        role="assistant",
        content="".join(piece.message.content or "" for piece in pieces),
        thinking="".join(piece.message.thinking or "" for piece in pieces),
        tool_calls=[call for piece in pieces for call in piece.message.tool_calls or ()],
    )


@pytest.mark.parametrize("stream", [False, True])
def test_thinking_and_a_picture(table, client, stream):
    table.answers += [FakeReply("A dot.", thinking="It is small."), "Red."]
    asked = {"role": "user", "content": "What is this?", "images": [base64.b64decode(PICTURE)]}
    first = answer_of(client, stream, messages=[asked], think=True)
    assert (first.content, first.thinking) == ("A dot.", "It is small.")
    history = [asked, first, {"role": "user", "content": "Which colour?"}]
    assert answer_of(client, stream, messages=history, think=False).content == "Red."
    assert table.kept() == [
        [
            ("user", "What is this?", 1),
            ("assistant", "A dot."),
            ("user", "Which colour?"),
            ("assistant", "Red."),
        ]
    ]
    first, second = table.asked()
    assert (first["think"], second["think"]) == (True, False)
    assert first["messages"][0]["images"] == second["messages"][0]["images"] == [PICTURE]


@pytest.mark.parametrize("stream", [False, True])
def test_two_tools_at_once_and_what_they_found(table, client, stream):
    table.answers += [FakeReply("Looking.", calls=CALLS), "Both are empty.", "You are welcome."]
    history = [{"role": "user", "content": "Look into a and b."}]
    first = answer_of(client, stream, messages=history, tools=[look])
    called = [(call.function.name, dict(call.function.arguments)) for call in first.tool_calls]
    assert called == list(CALLS)
    history.append(first)
    for name, arguments in called:
        history.append({"role": "tool", "tool_name": name, "content": look(**arguments)})
    second = answer_of(client, stream, messages=history, tools=[look])
    history += [second, {"role": "user", "content": "Thanks!"}]
    assert answer_of(client, stream, messages=history, tools=[look]).content == "You are welcome."
    calls = (("look", '{"path":"a"}'), ("look", '{"path":"b"}'))
    assert table.kept() == [
        [
            ("user", "Look into a and b."),
            ("assistant", "Looking.", calls),
            ("tool", "a is empty"),
            ("tool", "b is empty"),
            ("assistant", "Both are empty."),
            ("user", "Thanks!"),
            ("assistant", "You are welcome."),
        ]
    ]
    (tool,) = table.asked()[0]["tools"]
    assert tool["function"]["parameters"]["properties"]["path"]["description"] == "which one"


def test_generate_goes_on_with_the_context_it_was_given(table, client):
    table.answers += ["Hello Ada.", "Your name is Ada.", "Ada."]
    first = client.generate(MODEL, "I am Ada.")
    pieces = list(client.generate(MODEL, "Who am I?", context=first.context, stream=True))
    assert "".join(piece.response for piece in pieces) == "Your name is Ada."
    last = client.generate(MODEL, "Once more?", context=pieces[-1].context)
    assert last.response == "Ada."
    assert table.kept() == [
        [
            ("user", "I am Ada."), ("assistant", "Hello Ada."),
            ("user", "Who am I?"), ("assistant", "Your name is Ada."),
            ("user", "Once more?"), ("assistant", "Ada."),
        ]
    ]  # fmt: skip


def test_a_form_for_the_answer_and_options_reach_the_model(table, client):
    table.answers.append('{"colour":"red"}')
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    question = [{"role": "user", "content": "Which colour?"}]
    answer = client.chat(MODEL, question, format=schema, options={"temperature": 0.5}, keep_alive="2m")
    assert answer.message.content == '{"colour":"red"}'
    assert answer.prompt_eval_count > 0
    (sent,) = table.asked()
    assert (sent["format"], sent["options"]["temperature"], sent["keep_alive"]) == (schema, 0.5, "2m")
    assert table.kept() == [[("user", "Which colour?"), ("assistant", '{"colour":"red"}')]]


def test_newer_fields_pass_both_ways(table, client):
    table.answers += [
        FakeReply(
            "Four.", thinking="Two and two.", fields={"logprobs": [{"token": "Four", "logprob": -0.1}]}
        ),
        "Five.",
    ]
    question = {"role": "user", "content": "What is two and two?"}
    answer = client.chat(MODEL, [question], think="high", logprobs=True, top_logprobs=2)
    assert (answer.message.content, answer.message.thinking) == ("Four.", "Two and two.")
    assert answer.logprobs[0].token == "Four"
    # Fields that this library does not know; truncating and shifting is up to Holdfast.
    body = {
        "model": MODEL,
        "messages": [question],
        "truncate": True,
        "shift": True,
        "think": "max",
        "x_new": [1],
    }
    raw = client._client.post("/api/chat", json={**body, "stream": False})
    assert raw.json()["message"]["content"] == "Five."
    first, second = table.asked()
    assert (first["think"], first["logprobs"], first["top_logprobs"]) == ("high", True, 2)
    assert (second["think"], second["x_new"], second["truncate"], second["shift"]) == (
        "max",
        [1],
        False,
        False,
    )
    asked = {"query": "tide tables", "max_results": 3}
    searched = client._client.post("/api/experimental/web_search", json=asked).json()
    assert searched["results"][0] == {
        "title": "tide tables",
        "url": "https://example.org",
        "content": "A page.",
        "score": 0.5,
    }
    assert ("/api/experimental/web_search", asked) in table.fake.requests


def test_what_there_is_and_what_runs(table, client):
    assert [model.model for model in client.list().models] == [MODEL, "use-multilingual"]
    shown = client.show(MODEL)
    assert shown.modelinfo["fake.context_length"] == 32768
    assert {"tools", "vision", "thinking"} <= set(shown.capabilities)
    assert client.show("use-multilingual").capabilities == ["embedding"]
    client.chat(MODEL, [{"role": "user", "content": "Hello"}])
    (running,) = client.ps().models
    assert running.model == MODEL
    assert running.context_length == table.asked()[-1]["options"]["num_ctx"]
    with pytest.raises(ollama.ResponseError, match="try pulling it first") as caught:
        client.chat("nobody", [{"role": "user", "content": "Hello"}])
    assert caught.value.status_code == 404


@pytest.mark.parametrize(("model", "size"), [(MODEL, 16), ("use-multilingual", 512)])
def test_texts_become_vectors_by_the_server_and_by_the_encoder_inside(table, client, model, size):
    answer = client.embed(model, ["one", "two"])
    assert [len(vector) for vector in answer.embeddings] == [size, size]
    assert answer.embeddings[0] != answer.embeddings[1]
    assert list(client.embeddings(model, "one").embedding) == pytest.approx(answer.embeddings[0], abs=1e-6)
    assert table.kept() == [], "nobody talked"
