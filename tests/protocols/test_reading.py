"""Bad input is refused in words that say what is wrong; what is unusual but allowed is understood."""

import base64

import pytest

from holdfast.errors import BadRequest
from holdfast.messages import ChatRequest, Image, Message, Text, Thinking, ToolCall
from holdfast.protocols import anthropic, ollama, openai_chat, openai_responses
from holdfast.protocols.wire import check_request, classify_overflow, parse_json

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\x00" * 16).decode()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"a": ', "not valid JSON"),
        (b"\xff\xfe", "not valid UTF-8"),
        (b'{"a": NaN}', "NaN"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1" * 5_000, "too long"),
        (b"[1e400]", "larger than any number"),
    ],
)
def test_what_is_no_json_is_refused(body, says):
    with pytest.raises(BadRequest, match=says):
        parse_json(body)


def test_half_a_surrogate_pair_becomes_the_replacement_character():
    assert parse_json(rb'{"a\ud800": ["\udc00", "\ud83d\ude00"]}') == {"a\ufffd": ["\ufffd", "😀"]}


@pytest.mark.parametrize(
    ("dialect", "message", "says"),
    [
        (ollama, {"role": "wizard", "content": "hi"}, "wizard"),
        (ollama, {"content": "hi"}, "role"),
        (ollama, {"role": "user", "content": [{"type": "text", "text": "hi"}]}, "must be a string"),
        (ollama, {"role": "user", "content": "hi", "images": ["not base64!"]}, "base64"),
        (
            ollama,
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
            "object",
        ),
        (ollama, "hi", "must be an object"),
        (openai_chat, {"role": "wizard", "content": "hi"}, "wizard"),
        (openai_chat, {"role": ["user"], "content": "hi"}, "Invalid value"),
        (openai_chat, {"role": "user", "content": 7}, "a number"),
        (openai_chat, {"role": "user", "content": [{"text": "hi"}]}, "'type'"),
        (openai_chat, {"role": "assistant", "tool_calls": [{"function": {"arguments": "{}"}}]}, "name"),
    ],
)
def test_a_message_that_makes_no_sense_is_refused(dialect, message, says):
    with pytest.raises(BadRequest, match=says):
        dialect.parse_message(message)


def test_a_tool_result_needs_its_call():
    orphan = openai_chat.parse_request(
        {"model": "m", "messages": [{"role": "tool", "tool_call_id": "c1", "content": "4"}]}
    )
    with pytest.raises(BadRequest, match="c1"):
        check_request(orphan)


def test_tool_result_without_id_belongs_to_preceding_calls():
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": {}}}]}
    result = {"role": "tool", "tool_name": "add", "content": "4"}
    check_request(ollama.parse_request({"model": "m", "messages": [call, result]}))
    with pytest.raises(BadRequest):
        check_request(ollama.parse_request({"model": "m", "messages": [result, call]}))


def test_continuing_request_may_start_with_tool_results():
    first = {"role": "tool", "tool_call_id": "c1", "content": "4"}
    call = {"id": "c2", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    later = [{"role": "assistant", "tool_calls": [call]}, {**first, "tool_call_id": "c2"}]

    def request(*messages):
        return openai_chat.parse_request({"model": "m", "messages": list(messages)})

    check_request(request(first), continues=True)
    check_request(request({"role": "system", "content": "Be kind."}, first, first, *later), continues=True)
    with pytest.raises(BadRequest, match="c3"):
        check_request(request(first, *later, {**first, "tool_call_id": "c3"}), continues=True)


@pytest.mark.parametrize("name", ["max_tokens", "num_ctx"])
@pytest.mark.parametrize("value", ["x", "100", True, [1], {}])
def test_a_limit_that_is_no_number_is_refused_by_its_name(name, value):
    with pytest.raises(BadRequest, match=name) as caught:
        check_request(ChatRequest("m", (Message.of("user", "hi"),), options={name: value}))
    assert caught.value.param == name


def test_an_ollama_client_is_told_its_own_name_of_the_limit():
    options = {"num_predict": "x"}
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "options": options}
    with pytest.raises(BadRequest, match="num_predict"):
        check_request(ollama.parse_request(body))


@pytest.mark.parametrize("value", [None, -1, -2, 0, 100, 100.0, 10**15])
def test_limits_that_servers_understand_are_left_to_them(value):
    check_request(ChatRequest("m", (Message.of("user", "hi"),), options={"max_tokens": value}))


def test_an_image_must_be_a_picture():
    def request(data):
        return ollama.parse_request({"model": "m", "messages": [{"role": "user", "images": [data]}]})

    check_request(request(PNG))
    with pytest.raises(BadRequest, match="picture"):
        check_request(request(base64.b64encode(b"just some text").decode()))


def test_openai_image_reaches_ollama_server_as_base64():
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    message = openai_chat.parse_message(
        {"role": "user", "content": [{"type": "text", "text": "what?"}, part]}
    )
    assert ollama.serialize_message(message) == {"role": "user", "content": "what?", "images": [PNG]}


def test_broken_tool_arguments_reach_an_ollama_server_as_they_were_written():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{broken"}}
    message = openai_chat.parse_message({"role": "assistant", "content": None, "tool_calls": [call]})
    sent = ollama.serialize_message(message)["tool_calls"][0]
    assert sent["function"] == {"name": "f", "arguments": {"arguments": "{broken"}}


def test_what_a_server_cannot_take_is_named_in_the_text():
    parts = [{"type": "text", "text": "hear "}, {"type": "input_audio", "input_audio": {"data": "x"}}]
    message = openai_chat.parse_message({"role": "user", "content": parts})
    assert ollama.serialize_message(message)["content"] == "hear [not shown: input_audio]"


def test_options_keep_their_meaning_between_dialects():
    wire = {"model": "m", "messages": [], "max_completion_tokens": 5, "temperature": 0.5, "stop": "END",
            "reasoning_effort": "none", "response_format": {"type": "json_object"}}  # fmt: skip
    body = ollama.serialize_request(openai_chat.parse_request(wire))
    assert body["options"] == {"num_predict": 5, "temperature": 0.5, "stop": ["END"]}
    assert body["think"] is False
    assert body["format"] == "json"


def test_anthropic_tool_results_become_messages_of_their_own():
    wire = {
        "model": "m",
        "max_tokens": 10,
        "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "tool_use", "id": "t1", "name": "look", "input": {"path": "a"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": [{"type": "text", "text": "found"}],
                    },
                    {"type": "text", "text": "and?"},
                ],
            },
        ],
        "tools": [{"name": "look", "description": "looks", "input_schema": {"type": "object"}}],
    }
    request = anthropic.parse_request(wire)
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "tool", "user"]
    assert request.messages[2].parts[0] == Thinking("hm", {"anthropic": {"signature": "s"}})
    assert request.messages[2].tool_calls == (ToolCall("look", '{"path":"a"}', "t1"),)
    assert request.messages[3].text == "found"
    assert request.options == {"max_tokens": 10}
    assert request.tools[0]["function"]["name"] == "look"
    check_request(request)


def test_the_items_of_one_responses_turn_become_one_message():
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
    text = [{"type": "output_text", "text": "Looking."}]
    wire = {
        "model": "m",
        "instructions": "be brief",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}, picture]},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "message", "role": "assistant", "content": text},
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "found"},
        ],
    }
    request = openai_responses.parse_request(wire)
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "tool"]
    assert request.messages[1].parts[1] == Image(data=PNG, media_type="image/png")
    kinds = [type(part) for part in request.messages[2].parts]
    assert kinds == [Thinking, Text, ToolCall]
    check_request(request)


LLAMA_CPP = '{"error":{"type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}'
VLLM = "This model's maximum context length is 4096 tokens. Your prompt contains at least 5000 input tokens"
OLLAMA = "the input length exceeds the context length"


@pytest.mark.parametrize(
    ("text", "tokens", "window"), [(LLAMA_CPP, 9000, 8192), (VLLM, 5000, 4096), (OLLAMA, None, None)]
)
def test_an_overflow_is_recognised_with_its_numbers(text, tokens, window):
    overflow = classify_overflow(400, text)
    assert overflow is not None
    assert (overflow.prompt_tokens, overflow.window) == (tokens, window)


def test_other_refusals_are_no_overflow():
    assert classify_overflow(400, "string_above_max_length: maximum context length is") is None
    assert classify_overflow(400, "model not found") is None
    assert classify_overflow(200, "prompt is too long") is None


def test_a_call_without_a_name_survives_being_stored():
    call = {"id": "c", "type": "function", "function": {"name": "", "arguments": "{}"}}
    message = openai_chat.parse_message({"role": "assistant", "content": None, "tool_calls": [call, {}]})
    assert Message.decode(message.encode()) == message


def test_a_data_url_with_parameters_is_a_picture():
    url = f"data:image/png;charset=utf-8;base64,{PNG}"
    part = {"type": "image_url", "image_url": {"url": url}}
    message = openai_chat.parse_message({"role": "user", "content": [part]})
    assert message.images[0].data == PNG
    assert openai_chat.serialize_message(message)["content"] == [part]


def test_the_way_before_tools_is_passed_on():
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    result = {"role": "function", "name": "f", "content": "4"}
    check_request(openai_chat.parse_request({"model": "m", "messages": [call, result]}))


def test_text_that_is_null_and_arguments_without_end_do_no_harm():
    message = {"role": "assistant", "content": None, "thinking": None}
    chunk = ollama.parse_chunk({"model": "m", "message": message, "done": True})
    assert chunk.text == ""
    assert chunk.wire[1]["message"] == {"role": "assistant", "content": "", "thinking": ""}
    for deep in ("[" * 5_000, "[" * 900 + "]" * 900):
        assert ollama.parse_arguments(deep) == {"arguments": deep}
    assert ollama.parse_arguments('{"a": NaN}') == {"a": None}


def test_functions_in_namespaces_are_read_and_answered_by_their_names():
    tools = [{"type": "namespace", "name": "mcp__notes", "tools": [{"type": "function", "name": "find"}]}]
    call = {
        "type": "function_call",
        "namespace": "mcp__notes",
        "name": "find",
        "arguments": "{}",
        "call_id": "c",
    }
    request = openai_responses.parse_request({"model": "m", "input": [call], "tools": tools})
    assert [tool["function"]["name"] for tool in request.tools] == ["mcp__notes--find"]
    assert [part.name for part in request.messages[0].tool_calls] == ["mcp__notes--find"]
    (item,) = openai_responses.serialize_items("resp_1", request.messages[0])
    assert (item["namespace"], item["name"]) == ("mcp__notes", "find")
