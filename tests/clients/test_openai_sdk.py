"""OpenAI's own Python library, unmodified, with an Ollama behind Holdfast."""

import asyncio
import json

import openai
import pytest
from pydantic import BaseModel

from tests.clients.sdk_server import LOOKED, MODEL, PICTURE, tables
from tests.fakes.ollama_runner import FakeReply

pytestmark = pytest.mark.slow

CALLS = (("look", {"path": "a"}), ("look", {"path": "b"}))
PARAMETERS = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS, "strict": True}}]


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    with tables(tmp_path_factory.mktemp("openai")) as store:
        yield store


@pytest.fixture
def table(make):
    return make()


@pytest.fixture(scope="module")
def one(make):
    """Making a client takes longer than a test."""
    with openai.OpenAI(base_url=f"{make().url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def client(one, table):
    return one.with_options(default_headers=table.headers)


def answer_of(client, stream, **asked):
    """The answer, whole or put together by the library's own helper."""
    if not stream:
        return client.chat.completions.create(model=MODEL, **asked)
    with client.chat.completions.stream(
        model=MODEL, stream_options={"include_usage": True}, **asked
    ) as pieces:
        return pieces.get_final_completion()


def sent_back(message):
    """As people put an answer into their history."""
    return message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"})


@pytest.mark.parametrize("stream", [False, True])
def test_two_tools_at_once_and_what_they_found(table, client, stream):
    table.answers += [FakeReply("Looking.", calls=CALLS), "Both are empty.", "You are welcome."]
    asked = {"tools": TOOLS, "parallel_tool_calls": True, "tool_choice": "auto"}
    history = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look into a and b."},
    ]
    first = answer_of(client, stream, messages=history, **asked)
    assert first.choices[0].finish_reason == "tool_calls"
    calls = first.choices[0].message.tool_calls
    assert [(call.function.name, json.loads(call.function.arguments)) for call in calls] == list(CALLS)
    assert len({call.id for call in calls}) == 2
    history.append(sent_back(first.choices[0].message))
    for call in calls:
        path = json.loads(call.function.arguments)["path"]
        history.append({"role": "tool", "tool_call_id": call.id, "content": f"{path} is empty"})
    second = answer_of(client, stream, messages=history, **asked)
    assert second.choices[0].finish_reason == "stop"
    history += [sent_back(second.choices[0].message), {"role": "user", "content": "Thanks!"}]
    last = answer_of(client, stream, messages=history, **asked)
    assert last.choices[0].message.content == "You are welcome."
    assert last.usage.prompt_tokens > 0
    assert last.usage.total_tokens == last.usage.prompt_tokens + last.usage.completion_tokens
    assert table.kept() == [[("user", "Look into a and b."), *LOOKED]]
    sent = table.asked()[-1]["messages"]
    assert sent[2]["tool_calls"][0]["function"]["arguments"] == {"path": "a"}
    assert [message["content"] for message in sent[3:5]] == ["a is empty", "b is empty"]


@pytest.mark.parametrize("stream", [False, True])
def test_responses_with_parallel_tools_and_server_side_history(table, client, stream):
    table.answers += [FakeReply("", thinking="Hm.", calls=CALLS), "Both are empty."]
    asked = {
        "model": MODEL,
        "tools": [{"type": "function", "name": "look", "parameters": PARAMETERS, "strict": True}],
        "reasoning": {"effort": "low"},
    }

    def response(**more):
        if not stream:
            return client.responses.create(**asked, **more)
        with client.responses.stream(**asked, **more) as events:
            return events.get_final_response()

    first = response(input="Look into a and b.", instructions="Be brief.")
    calls = [item for item in first.output if item.type == "function_call"]
    assert [(call.name, json.loads(call.arguments)) for call in calls] == list(CALLS)
    results = [
        {"type": "function_call_output", "call_id": call.call_id, "output": f"{path} is empty"}
        for call, path in zip(calls, "ab", strict=True)
    ]
    last = response(input=results, previous_response_id=first.id)
    assert last.output_text == "Both are empty."
    assert client.responses.retrieve(last.id).output_text == "Both are empty."
    assert table.kept() == [
        [
            ("user", "Look into a and b."),
            ("assistant", "", (("look", '{"path":"a"}'), ("look", '{"path":"b"}'))),
            ("tool", "a is empty"),
            ("tool", "b is empty"),
            ("assistant", "Both are empty."),
        ]
    ]


class Colour(BaseModel):
    name: str


def test_a_picture_and_an_answer_in_a_form(table, client):
    table.answers.append('{"name":"red"}')
    parts = [
        {"type": "text", "text": "Which colour?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
    ]
    answer = client.chat.completions.parse(
        model=MODEL, messages=[{"role": "user", "content": parts}], response_format=Colour
    )
    assert answer.choices[0].message.parsed == Colour(name="red")
    (sent,) = table.asked()
    assert (sent["messages"][0]["images"], sent["format"]["required"]) == ([PICTURE], ["name"])
    assert table.kept() == [[("user", "Which colour?", 1), ("assistant", '{"name":"red"}')]]


def test_reasoning_comes_beside_the_answer(table, client):
    table.answers.append(FakeReply("Four.", thinking="Two and two."))
    question = [{"role": "user", "content": "2 + 2?"}]
    answer = client.chat.completions.create(model=MODEL, messages=question, reasoning_effort="high")
    message = answer.choices[0].message
    assert (message.content, message.reasoning_content) == ("Four.", "Two and two.")
    assert table.asked()[0]["think"] == "high"
    assert table.kept() == [[("user", "2 + 2?"), ("assistant", "Four.")]]


@pytest.mark.anyio
async def test_a_client_that_waits_for_several_answers_at_once(table):
    async with openai.AsyncOpenAI(
        base_url=f"{table.url}/v1", api_key="none", max_retries=0, default_headers=table.headers
    ) as client:

        async def ask(word):
            question = [{"role": "user", "content": word}]
            pieces = await client.chat.completions.create(model=MODEL, messages=question, stream=True)
            return "".join([piece.choices[0].delta.content or "" async for piece in pieces])

        words = ["one", "two", "three"]
        assert await asyncio.gather(*map(ask, words)) == [f"You said: {word}" for word in words]
    assert sorted(table.kept()) == sorted(
        [("user", word), ("assistant", f"You said: {word}")] for word in words
    )


def test_what_there_is_and_what_is_not(table, client):
    assert [model.id for model in client.models.list()] == [MODEL, "use-multilingual"]
    assert client.models.retrieve(MODEL).id == MODEL
    vectors = client.embeddings.create(model=MODEL, input=["one", "two"]).data
    assert [len(row.embedding) for row in vectors] == [16, 16]
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="nobody", messages=[{"role": "user", "content": "Hi"}])
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model=MODEL, messages=[])
