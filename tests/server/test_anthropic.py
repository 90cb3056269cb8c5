"""Anthropic's messages with the unmodified client: blocks, events, and agents with tools."""

import json
from contextlib import closing

import anthropic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import CutOff, Overflow, Unreachable, UpstreamError
from holdfast.messages import Answer, CallPiece, Chunk, Thinking, ToolCall
from holdfast.protocols.anthropic import AnthropicWriter, parse_message
from holdfast.testing.provider import ScriptedProvider
from tests.server.shared_server import doors

TOOL = {
    "name": "Read",
    "description": "Reads a file.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}
BUSY = [Thinking("hm"), "Looking. ", ToolCall("Read", '{"path":"a"}', "t1"), ToolCall("Read", "{}", "t2")]
ASKED = {"model": "scripted", "max_tokens": 100}
HI = [{"role": "user", "content": "hi"}]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with doors(tmp_path_factory.mktemp("anthropic")) as client:
        yield client


@pytest.fixture
def door(shared):
    return shared()


def test_a_message_is_answered_and_kept(door):
    door.answers.extend(["It is called notes.md"])
    answer = door.anthropic.messages.create(**ASKED, messages=[{"role": "user", "content": "Called?"}])
    assert [(block.type, block.text) for block in answer.content] == [("text", "It is called notes.md")]
    assert (answer.stop_reason, answer.role, answer.model) == ("end_turn", "assistant", "scripted")
    assert answer.usage.output_tokens == 4
    assert door.kept() == [[("user", "Called?", ()), ("assistant", "It is called notes.md", ())]]


def test_what_is_asked_for_reaches_the_model_in_its_own_words(door):
    picture = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    door.anthropic.messages.create(
        **ASKED,
        system=[{"type": "text", "text": "Be kind."}, {"type": "text", "text": "Be brief."}],
        messages=[
            {
                "role": "user",
                "content": [{"type": "image", "source": picture}, {"type": "text", "text": "What is it?"}],
            }
        ],
        tools=[TOOL, {"type": "web_search_20250305", "name": "web_search"}],
        tool_choice={"type": "any", "disable_parallel_tool_use": True},
        stop_sequences=["END"],
        thinking={"type": "enabled", "budget_tokens": 1024},
        extra_body={"temperature": 0.5, "top_k": 3},
    )
    (request,) = door.requests
    assert [(message.role, message.text) for message in request.messages] == [
        ("system", "Be kind.\n\nBe brief."),
        ("user", "What is it?"),
    ]
    assert request.messages[1].images[0].data == PIXEL
    assert [tool["function"]["name"] for tool in request.tools] == ["Read"]
    assert request.options == {"max_tokens": 100, "temperature": 0.5, "top_k": 3, "stop": ["END"]}
    assert request.think is True
    assert request.extra["openai"] == {"tool_choice": "required", "parallel_tool_calls": False}


def test_stream_emits_complete_event_sequence_for_every_block(door):
    door.answers.extend([BUSY])
    body = {**ASKED, "messages": HI, "tools": [TOOL], "stream": True}
    lines = door.http.post("/v1/messages", json=body).text.split("\n\n")
    events = [json.loads(line.partition("\ndata: ")[2]) for line in lines if line]
    assert [line.partition("\n")[0] for line in lines if line] == [
        f"event: {event['type']}" for event in events
    ]
    block = ("content_block_start", "content_block_delta", "content_block_stop")
    assert [event["type"] for event in events] == [
        *("message_start", "ping"),
        *(*block, *block, *block, *block),
        *("message_delta", "message_stop"),
    ]
    assert events[0]["message"]["usage"]["input_tokens"] > 0
    assert events[-2]["delta"]["stop_reason"] == "tool_use"
    assert [event["delta"]["type"] for event in events if event["type"] == block[1]] == [
        *("thinking_delta", "text_delta", "input_json_delta", "input_json_delta")
    ]


def test_the_clients_own_helper_puts_a_stream_together(door):
    door.answers.extend([BUSY])
    with door.anthropic.messages.stream(**ASKED, messages=HI, tools=[TOOL]) as stream:
        assert "".join(stream.text_stream) == "Looking. "
        final = stream.get_final_message()
    thinking, text, *calls = final.content
    assert (thinking.thinking, text.text) == ("hm", "Looking. ")
    assert [(call.id, call.name, call.input) for call in calls] == [
        ("t1", "Read", {"path": "a"}),
        ("t2", "Read", {}),
    ]
    assert (final.stop_reason, final.usage.output_tokens) == ("tool_use", 4)


@pytest.mark.parametrize("stream", [False, True])
def test_three_turns_of_an_agent_are_one_conversation(door, stream):
    steps = [BUSY, "Both are empty.", [ToolCall("Read", '{"path":"b"}', "t3")], "Full.", "Bye."]
    door.answers.extend(steps)
    system = [{"type": "text", "text": "You are an agent. " * 60, "cache_control": {"type": "ephemeral"}}]
    history = []

    def turn(*blocks):
        history.append({"role": "user", "content": list(blocks)})
        asked = {**ASKED, "system": system, "tools": [TOOL], "messages": history}
        if stream:
            with door.anthropic.messages.stream(**asked) as events:
                final = events.get_final_message()
        else:
            final = door.anthropic.messages.create(**asked)
        # As agents do it: the newest question had a mark for the cache, which the next request lacks.
        history.append({"role": "assistant", "content": [block.to_dict() for block in final.content]})

    reminder = {"type": "text", "text": "<system-reminder>\nToday is Sunday.\n</system-reminder>"}
    turn(reminder, {"type": "text", "text": "Look into both.", "cache_control": {"type": "ephemeral"}})
    history[0]["content"][1].pop("cache_control")
    turn(
        {"type": "tool_result", "tool_use_id": "t1", "content": "empty"},
        {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "empty too"}]},
    )
    turn({"type": "text", "text": "And b?"})
    turn({"type": "tool_result", "tool_use_id": "t3", "content": "full"})
    turn({"type": "text", "text": "Thanks."})
    assert door.kept() == [
        [
            ("user", reminder["text"] + "Look into both.", ()),
            ("assistant", "Looking. ", ("t1", "t2")),
            ("tool", "empty", ()),
            ("tool", "empty too", ()),
            ("assistant", "Both are empty.", ()),
            ("user", "And b?", ()),
            ("assistant", "", ("t3",)),
            ("tool", "full", ()),
            ("assistant", "Full.", ()),
            ("user", "Thanks.", ()),
            ("assistant", "Bye.", ()),
        ]
    ]


def test_tokens_are_counted_for_the_whole_request(door):
    few = door.anthropic.messages.count_tokens(model="scripted", messages=HI)
    many = door.anthropic.messages.count_tokens(
        model="scripted", messages=[{"role": "user", "content": "hi " * 50}], system="Be brief.", tools=[TOOL]
    )
    # The scripted model counts words.
    assert (few.input_tokens, many.input_tokens) == (1, 52)
    assert not door.kept()


def test_an_answer_at_its_limit_says_so(door):
    door.answers.extend([["Half an", Chunk(finish="length")]])
    assert door.anthropic.messages.create(**ASKED, messages=HI).stop_reason == "max_tokens"


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (Overflow("too long", prompt_tokens=9, window=8), 400, "invalid_request_error"),
        (UpstreamError("no", status=429), 429, "rate_limit_error"),
        (UpstreamError("no", status=529), 529, "overloaded_error"),
        (Unreachable("nobody there"), 503, "api_error"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_error_before_first_byte_uses_protocol_status_and_shape(door, error, status, kind):
    door.answers.extend([error, error])
    with pytest.raises(anthropic.APIStatusError) as caught:
        door.anthropic.messages.create(**ASKED, messages=HI)
    assert caught.value.status_code == status
    assert (caught.value.body["type"], caught.value.body["error"]["type"]) == ("error", kind)
    if isinstance(error, Overflow):
        assert "prompt is too long" in str(caught.value)


def test_a_broken_answer_is_told_in_the_stream(door):
    door.answers.extend([["It is ", CutOff("the server died")]])
    with (
        pytest.raises(anthropic.APIStatusError, match="the server died"),
        closing(door.anthropic.messages.create(**ASKED, messages=HI, stream=True)) as stream,
    ):
        list(stream)
    assert door.kept() == [[("user", "hi", ()), ("assistant", "It is ", ())]]


BAD = [
    (b"{", 400),
    (b"[]", 400),
    (json.dumps({"model": "scripted", "messages": []}).encode(), 400),
    (json.dumps({"model": "scripted", "messages": HI, "system": 7}).encode(), 400),
    (json.dumps({"model": "scripted", "messages": HI, "max_tokens": "many"}).encode(), 400),
    (json.dumps({"model": "scripted", "messages": HI, "thinking": {"type": {}}}).encode(), 200),
    (json.dumps({"model": "scripted", "messages": HI, "tools": [7]}).encode(), 400),
    (
        json.dumps(
            {"model": "scripted", "messages": HI, "tools": [TOOL], "tool_choice": {"type": []}}
        ).encode(),
        400,
    ),
    (json.dumps({"model": "scripted", "messages": [{"role": "wizard", "content": "hi"}]}).encode(), 400),
    (json.dumps({"model": "nobody", "messages": HI}).encode(), 404),
]


@pytest.mark.parametrize(("body", "status"), BAD)
def test_bad_input_gets_the_error_that_the_protocol_expects(door, body, status):
    response = door.http.post("/v1/messages", content=body)
    assert response.status_code == status, response.text
    if status != 200:
        assert response.json()["type"] == "error"
        assert set(response.json()["error"]) == {"type", "message"}


def test_every_error_on_these_paths_has_their_shape(door, serve):
    for response in (
        door.http.get("/v1/messages"),
        door.http.post("/v1/messages/batches", json={}),
        door.http.post("/v1/messages", json={}, headers={"Host": "evil.example"}),
    ):
        assert 400 <= response.status_code < 500
        assert response.json()["type"] == "error", response.text
    locked = serve(ScriptedProvider(), key="secret")
    refused = locked.client.post("/v1/messages", json={**ASKED, "messages": HI})
    assert (refused.status_code, refused.json()["error"]["type"]) == (401, "authentication_error")
    with anthropic.Anthropic(base_url=locked.url, api_key="secret", max_retries=0) as client:
        assert client.messages.create(**ASKED, messages=HI).content[0].text == "Yes."


@given(
    st.lists(
        st.one_of(
            st.builds(Chunk, text=st.text(max_size=5)),
            st.builds(Chunk, thinking=st.text(max_size=5)),
            st.builds(
                lambda index, key: Chunk(calls=(CallPiece(index, f"c{index}", "f", f'{{"{key}":1}}'),)),
                st.integers(0, 50),
                st.sampled_from("abc"),
            ),
        ),
        max_size=8,
        unique_by=lambda chunk: chunk.calls[0].id if chunk.calls else object(),
    )
)
def test_the_events_of_any_answer_add_up_to_it(chunks):
    writer, answer, events = AnthropicWriter("m", "msg_x"), Answer(), []
    for chunk in chunks:
        answer.add(chunk)
        events += writer.chunk(chunk)
    events += writer.end()
    opened = [event["index"] for event in events if event["type"] == "content_block_start"]
    closed = [event["index"] for event in events if event["type"] == "content_block_stop"]
    assert opened == closed == list(range(len(opened)))
    text = "".join(
        event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta"
    )
    assert text == answer.message.text
    (back,) = parse_message(writer.whole())
    assert (back.text, back.thinking) == (answer.message.text, answer.message.thinking)
    rows = sorted((call.id, call.arguments) for call in answer.message.tool_calls)
    assert sorted((call.id, call.arguments) for call in back.tool_calls) == rows
