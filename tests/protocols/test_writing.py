"""Answers go out in the words of the client's dialect, whichever server they came from."""

import json

from holdfast.messages import Answer, CallPiece, Chunk, Usage
from holdfast.protocols import ollama, openai_chat
from holdfast.upstreams.base import AnswerReader


def line(message, *, done=False, **rest):
    text = {"role": "assistant", "content": "", **message}
    return {"model": "m", "created_at": "t", "message": text, "done": done, **rest}


def event(delta, finish=None, logprobs=None, **rest):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    if logprobs:
        choice["logprobs"] = {"content": logprobs}
    return {**ENVELOPE, "choices": [choice], **rest}


def piece(**function):
    return {
        "tool_calls": [{"index": 0, **({"id": "c0"} if "name" in function else {}), "function": function}]
    }


ENVELOPE = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}}
CALLS = [{"function": {"name": "f", "arguments": {"a": 1}}}, {"function": {"name": "g", "arguments": {}}}]
METRICS = {"prompt_eval_count": 7, "eval_count": 3, "total_duration": 5}

OLLAMA_STREAM = [
    line({"thinking": "hm"}),
    line({"content": "Hal"}, logprobs=[1]),
    line({"content": "lo", "x": 1}, logprobs=[2]),
    line({"tool_calls": CALLS}),
    line({}, done=True, done_reason="stop", new_field="kept", **METRICS),
]
OPENAI_STREAM = [
    event({"role": "assistant", "content": None}),
    event({"reasoning_content": "hm"}),
    event({"content": "Hal"}, logprobs=[1]),
    event({"content": "lo"}, logprobs=[2]),
    event(piece(name="f", arguments='{"a"')),
    event(piece(arguments=":1}")),
    event({}, "tool_calls", usage=None),
    {**ENVELOPE, "choices": [], "usage": USAGE, "timings": {"cache_n": 2}},
]


def stream_payloads(writer, chunks):
    payloads = [payload for chunk in chunks for payload in writer.chunk(chunk)] + writer.end()
    return [json.loads(payload) if isinstance(payload, str) else payload for payload in payloads]


def collect(chunks):
    answer = Answer()
    for chunk in chunks:
        answer.add(chunk)
    return answer


def test_both_streams_say_the_same():
    theirs = collect(map(ollama.parse_chunk, OLLAMA_STREAM))
    ours = collect(map(openai_chat.parse_chunk, OPENAI_STREAM))
    assert theirs.message.text == ours.message.text == "Hallo"
    assert theirs.message.thinking == ours.message.thinking == "hm"
    assert [(call.name, call.arguments) for call in theirs.message.tool_calls] == [
        ("f", '{"a":1}'),
        ("g", "{}"),
    ]
    assert [(call.id, call.name, call.arguments) for call in ours.message.tool_calls] == [
        ("c0", "f", '{"a":1}')
    ]
    assert theirs.usage == Usage(7, 3, None, {"total_duration": 5})
    assert ours.usage == Usage(7, 3, 2, {"cache_n": 2})
    assert (theirs.finish, ours.finish) == ("stop", "tool_calls")


def test_the_same_dialect_is_passed_on_as_it_came():
    chunks = [ollama.parse_chunk(payload) for payload in OLLAMA_STREAM]
    assert stream_payloads(ollama.OllamaWriter("m"), chunks) == OLLAMA_STREAM
    chunks = [openai_chat.parse_chunk(payload) for payload in OPENAI_STREAM]
    assert stream_payloads(openai_chat.OpenAIChatWriter("m", include_usage=True), chunks) == OPENAI_STREAM


def test_usage_is_hidden_from_clients_that_did_not_request_it():
    chunks = [openai_chat.parse_chunk(payload) for payload in OPENAI_STREAM]
    events = stream_payloads(openai_chat.OpenAIChatWriter("m"), chunks)
    assert len(events) == len(OPENAI_STREAM) - 1
    assert all("usage" not in event for event in events)


def test_an_openai_answer_becomes_lines_of_ollama():
    chunks = [openai_chat.parse_chunk(payload) for payload in OPENAI_STREAM]
    lines = stream_payloads(ollama.OllamaWriter("m"), chunks)
    assert [line["message"]["content"] for line in lines if line["message"]["content"]] == ["Hal", "lo"]
    calls = [line["message"]["tool_calls"] for line in lines if "tool_calls" in line["message"]]
    assert calls == [[{"id": "c0", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}]]
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    assert lines[-1]["prompt_eval_count"] == 7
    assert lines[-1]["done_reason"] == "stop"


def test_an_ollama_answer_becomes_events_of_openai():
    chunks = [ollama.parse_chunk(payload) for payload in OLLAMA_STREAM]
    events = stream_payloads(openai_chat.OpenAIChatWriter("m", include_usage=True), chunks)
    deltas = [event["choices"][0]["delta"] for event in events if event["choices"]]
    assert deltas[0]["role"] == "assistant"
    assert "".join(delta.get("content") or "" for delta in deltas) == "Hallo"
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert [(call["index"], call["function"]["name"]) for call in calls] == [(0, "f"), (1, "g")]
    assert events[-1]["usage"]["total_tokens"] == 10
    assert len({event["id"] for event in events}) == 1


def test_a_whole_ollama_answer_has_everything_that_was_streamed():
    writer = ollama.OllamaWriter("m")
    stream_payloads(writer, [ollama.parse_chunk(payload) for payload in OLLAMA_STREAM])
    whole = writer.whole()
    assert whole["message"]["content"] == "Hallo"
    assert whole["message"]["thinking"] == "hm"
    assert len(whole["message"]["tool_calls"]) == 2
    assert whole["logprobs"] == [1, 2]
    assert whole["new_field"] == "kept"
    assert whole["done"] is True


def test_a_whole_openai_answer_has_everything_that_was_streamed():
    writer = openai_chat.OpenAIChatWriter("m")
    stream_payloads(writer, [openai_chat.parse_chunk(payload) for payload in OPENAI_STREAM])
    whole = writer.whole()
    (choice,) = whole["choices"]
    assert whole["object"] == "chat.completion"
    assert choice["message"]["content"] == "Hallo"
    assert choice["message"]["reasoning_content"] == "hm"
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a":1}'}
    assert choice["finish_reason"] == "tool_calls"
    assert choice["logprobs"] == {"content": [1, 2]}
    assert whole["usage"]["prompt_tokens"] == 7
    assert whole["timings"] == {"cache_n": 2}


def test_generate_has_its_own_shape():
    writer = ollama.OllamaWriter("m", generate=True, context=[1, 2])
    lines = stream_payloads(
        writer, [Chunk(text="Hal"), Chunk(text="lo"), Chunk(finish="length", usage=Usage(5, 2))]
    )
    assert [line["response"] for line in lines] == ["Hal", "lo", ""]
    assert all("message" not in line for line in lines)
    assert lines[-1]["context"] == [1, 2]
    assert lines[-1]["done_reason"] == "length"
    assert writer.whole()["response"] == "Hallo"


def test_an_answer_that_is_empty_is_still_an_answer():
    for writer in (ollama.OllamaWriter("m"), openai_chat.OpenAIChatWriter("m")):
        stream_payloads(writer, [Chunk(finish="stop")])
        assert writer.whole()
    chunk = Chunk(calls=(CallPiece(index=0, id="c", name="f"),), finish="tool_calls")
    writer = ollama.OllamaWriter("m")
    assert stream_payloads(writer, [chunk])[0]["message"]["tool_calls"][0]["function"]["arguments"] == {}


def test_every_choice_of_several_is_whole():
    def choice(index, delta, finish=None):
        return {**ENVELOPE, "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}

    stream = [
        choice(0, {"content": "one"}),
        choice(1, piece(name="f", arguments='{"a"')),
        choice(1, piece(arguments=":1}"), "tool_calls"),
        choice(0, {"reasoning": "hm"}, "stop"),
    ]
    writer = openai_chat.OpenAIChatWriter("m")
    stream_payloads(writer, map(openai_chat.parse_chunk, stream))
    first, second = writer.whole()["choices"]
    assert first["message"] == {"role": "assistant", "content": "one", "reasoning": "hm"}
    assert second["message"]["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a":1}'}
    assert (first["index"], second["index"]) == (0, 1)


def test_calls_that_share_a_number_are_told_apart_by_their_ids():
    chunk = Chunk(calls=(CallPiece(0, "a", "look", "{}"), CallPiece(0, "b", "find", "{}")))
    assert [call.name for call in collect([chunk]).message.tool_calls] == ["look", "find"]


def test_a_payload_that_is_relayed_keeps_its_spelling():
    spelled = '{"message": {"content": "Gr\\u00fc\\u00dfe"},  "done": false}'
    with AnswerReader(ollama.parse_chunk, where="a server") as reader:
        chunks = [reader.read(spelled.encode()), reader.read(b'{"message":{"content":"\\ud800"},"x":NaN}')]
        reader.end()
    (relayed,), (repaired,) = map(ollama.OllamaWriter("m").chunk, chunks)
    assert relayed == spelled
    assert repaired == {"message": {"content": "\ufffd"}, "x": None}


def test_translated_text_is_the_same_event_but_for_its_words():
    writer = openai_chat.OpenAIChatWriter("m")
    (first,) = writer.chunk(Chunk("Hal"))
    (second,) = writer.chunk(Chunk('lo "Welt"'))
    expected = {**first, "choices": [{"index": 0, "delta": {"content": 'lo "Welt"'}, "finish_reason": None}]}
    assert json.loads(second) == expected
    writer.end()
    assert writer.whole()["choices"][0]["message"]["content"] == 'Hallo "Welt"'
