"""OpenAI's responses with the unmodified client: items, events, and going on from an answer of ours."""

import json
from contextlib import closing

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import CutOff, Overflow
from holdfast.messages import Answer, CallPiece, Chunk, Thinking, ToolCall
from holdfast.protocols import openai_responses
from tests.server.shared_server import doors

TOOL = {
    "type": "function",
    "name": "look",
    "description": "Looks into a file.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
}
BUSY = [Thinking("hm"), "Looking. ", ToolCall("look", '{"path":"a"}', "c1"), ToolCall("look", "{}", "c2")]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with doors(tmp_path_factory.mktemp("responses")) as client:
        yield client


@pytest.fixture
def door(shared):
    return shared()


def test_a_text_is_answered_and_the_answer_can_be_fetched_again(door):
    door.answers.extend(["It is called notes.md"])
    client = door.openai
    response = client.responses.create(
        model="scripted", input="What is it called?", instructions="Be brief.", metadata={"a": "b"}
    )
    assert response.output_text == "It is called notes.md"
    assert (response.status, response.instructions, response.metadata) == (
        "completed",
        "Be brief.",
        {"a": "b"},
    )
    assert response.usage.output_tokens == 4
    assert response.usage.total_tokens == response.usage.input_tokens + 4
    again = client.responses.retrieve(response.id)
    assert again.output == response.output
    assert (again.status, again.usage, again.instructions) == ("completed", response.usage, "Be brief.")
    assert door.kept() == [[("user", "What is it called?", ()), ("assistant", response.output_text, ())]]


def test_what_is_asked_for_reaches_the_model_in_its_own_words(door):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    door.openai.responses.create(
        model="scripted",
        input=[{"role": "developer", "content": "Be kind."}, {"role": "user", "content": "hi"}],
        tools=[TOOL, {"type": "web_search"}],
        tool_choice={"type": "function", "name": "look"},
        parallel_tool_calls=False,
        max_output_tokens=7,
        temperature=0.5,
        reasoning={"effort": "low"},
        text={"format": {"type": "json_schema", "name": "number", "schema": schema}},
    )
    (request,) = door.requests
    assert [message.role for message in request.messages] == ["system", "user"]
    assert [tool["function"]["name"] for tool in request.tools] == ["look"]
    assert request.options == {"max_tokens": 7, "temperature": 0.5}
    assert (request.think, request.format) == ("low", schema)
    assert request.extra["openai"]["tool_choice"] == {"type": "function", "function": {"name": "look"}}
    assert request.extra["openai"]["parallel_tool_calls"] is False


def test_stream_emits_complete_event_sequence_for_every_item(door):
    door.answers.extend([BUSY])
    with closing(
        door.openai.responses.create(model="scripted", input="Look.", tools=[TOOL], stream=True)
    ) as stream:
        events = list(stream)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type.removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        *("output_item.added", "content_part.added", "reasoning_text.delta"),
        *("reasoning_text.done", "content_part.done", "output_item.done"),
        *("output_item.added", "content_part.added", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done"),
        *("output_item.added", "function_call_arguments.delta", "function_call_arguments.done"),
        "output_item.done",
        *("output_item.added", "function_call_arguments.delta", "function_call_arguments.done"),
        "output_item.done",
        "completed",
    ]
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert done == events[-1].response.output
    assert [item.type for item in done] == ["reasoning", "message", "function_call", "function_call"]
    assert [(item.call_id, item.arguments) for item in done[2:]] == [("c1", '{"path":"a"}'), ("c2", "{}")]
    whole = door.openai.responses.retrieve(events[-1].response.id)
    assert whole.output == done


def test_the_clients_own_helper_puts_a_stream_together(door):
    door.answers.extend([[Thinking("hm"), "Two words."]])
    client = door.openai
    reasoning = {"summary": "auto"}
    with client.responses.stream(model="scripted", input="hi", reasoning=reasoning) as stream:
        types = {event.type for event in stream}
        final = stream.get_final_response()
    assert "response.reasoning_summary_text.delta" in types
    assert final.output[0].summary[0].text == "hm"
    assert final.output_text == "Two words."


def test_previous_response_id_continues_newest_or_branches_from_older_response(door):
    door.answers.extend(["one", "two", "other", "three"])
    client = door.openai

    def say(text, previous=None):
        return client.responses.create(model="scripted", input=text, previous_response_id=previous)

    def seen():
        return [message.text for message in door.requests[-1].messages]

    first = say("first?")
    second = say("second?", first.id)
    assert seen() == ["first?", "one", "second?"]
    say("instead?", first.id)
    assert seen() == ["first?", "one", "instead?"]
    third = say("third?", second.id)
    assert seen() == ["first?", "one", "second?", "two", "third?"]
    assert third.previous_response_id == second.id
    assert len(door.kept()) == 1
    assert client.responses.retrieve(first.id).output_text == "one"


def test_results_follow_the_calls_of_the_answer_that_is_continued(door):
    door.answers.extend([BUSY, "Both are empty."])
    client = door.openai
    first = client.responses.create(model="scripted", input="Look.", tools=[TOOL])
    results = [
        {"type": "function_call_output", "call_id": name, "output": f"empty {name}"} for name in ("c1", "c2")
    ]
    client.responses.create(
        model="scripted", input=results, tools=[TOOL], previous_response_id=first.id, stream=False
    )
    assert door.kept() == [
        [
            ("user", "Look.", ()),
            ("assistant", "Looking. ", ("c1", "c2")),
            ("tool", "empty c1", ()),
            ("tool", "empty c2", ()),
            ("assistant", "Both are empty.", ()),
        ]
    ]
    assert [message.role for message in door.requests[-1].messages] == [
        *("user", "assistant", "tool", "tool"),
    ]


def test_three_turns_of_an_agent_that_resends_everything_are_one_conversation(door):
    steps = [BUSY, "Both are empty.", [ToolCall("look", '{"path":"b"}', "c3")], "Full.", "Bye."]
    door.answers.extend(steps)
    client = door.openai
    report, history = [], []

    def turn(*items):
        history.extend(items)
        with client.responses.stream(
            model="scripted", input=history, instructions="You are an agent. " * 40, tools=[TOOL], store=False
        ) as stream:
            final = stream.get_final_response()
        report.extend(items)
        history.extend(item.to_dict() for item in final.output)

    turn({"role": "user", "content": [{"type": "input_text", "text": "Look into both."}]})
    turn(
        {"type": "function_call_output", "call_id": "c1", "output": "empty"},
        {"type": "function_call_output", "call_id": "c2", "output": "empty too"},
    )
    turn({"role": "user", "content": "And b?"})
    turn({"type": "function_call_output", "call_id": "c3", "output": "full"})
    turn({"role": "user", "content": "Thanks."})
    assert door.kept() == [
        [
            ("user", "Look into both.", ()),
            ("assistant", "Looking. ", ("c1", "c2")),
            ("tool", "empty", ()),
            ("tool", "empty too", ()),
            ("assistant", "Both are empty.", ()),
            ("user", "And b?", ()),
            ("assistant", "", ("c3",)),
            ("tool", "full", ()),
            ("assistant", "Full.", ()),
            ("user", "Thanks.", ()),
            ("assistant", "Bye.", ()),
        ]
    ]


def test_items_that_are_only_named_are_looked_up(door):
    door.answers.extend([BUSY, "Empty."])
    client = door.openai
    first = client.responses.create(model="scripted", input="Look.", tools=[TOOL])
    named = [{"type": "item_reference", "id": item.id} for item in first.output]
    results = [{"type": "function_call_output", "call_id": name, "output": "-"} for name in ("c1", "c2")]
    given = [{"role": "user", "content": "Look."}, *named, *results]
    client.responses.create(model="scripted", input=given, tools=[TOOL])
    asked = door.requests[-1].messages[1]
    assert (asked.text, [call.id for call in asked.tool_calls]) == ("Looking. ", ["c1", "c2"])
    assert len(door.kept()) == 1
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="scripted", input=[{"type": "item_reference", "id": "msg_x"}])


def test_what_is_not_to_be_stored_cannot_be_named(door):
    client = door.openai
    response = client.responses.create(model="scripted", input="hi", store=False)
    assert response.store is False
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


def test_an_unknown_answer_is_not_continued(door):
    client = door.openai
    with pytest.raises(openai.NotFoundError) as caught:
        client.responses.create(model="scripted", input="hi", previous_response_id="resp_j_nobody")
    assert "resp_j_nobody" in caught.value.body["message"]
    response = client.responses.create(model="scripted", input="hi")
    other = {"x-holdfast-project": "elsewhere"}
    with pytest.raises(openai.NotFoundError):
        client.responses.create(
            model="scripted", input="hi", previous_response_id=response.id, extra_headers=other
        )
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id, extra_headers=other)
    assert len(door.requests) == 1


def test_an_answer_stays_in_its_conversation(door):
    client = door.openai
    response = client.responses.create(model="scripted", input="hi")
    with pytest.raises(openai.BadRequestError, match="/api/chats/c_"):
        client.responses.delete(response.id)
    assert client.responses.retrieve(response.id).id == response.id


IMPOSSIBLE = [
    {"background": True},
    {"conversation": "conv_1"},
    {"prompt": {"id": "pmpt_1"}},
    {"top_logprobs": 2},
    {"input": []},
    {"input": None},
    {"input": [{"role": {}, "content": "hi"}]},
    {"input": [{"type": "function_call_output", "call_id": "c9", "output": "-"}]},
    {"instructions": 7},
    {"reasoning": "much"},
    {"reasoning": {"effort": 7}},
    {"text": {"format": "json"}},
    {"tools": [TOOL], "tool_choice": {"type": "web_search"}},
    {"stream": "yes"},
    {"previous_response_id": 7},
]


@pytest.mark.parametrize("fields", IMPOSSIBLE, ids=str)
def test_what_cannot_be_done_is_refused_clearly(door, fields):
    response = door.http.post("/v1/responses", json={"model": "scripted", "input": "hi", **fields})
    assert response.status_code == 400, response.text
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}
    assert not door.requests


def test_tokens_are_counted_without_asking_the_model(door):
    # The scripted model counts words.
    counted = door.openai.responses.input_tokens.count(model="scripted", input="one two", instructions="Be.")
    assert counted.input_tokens == 3
    assert not door.requests


def test_the_same_answer_once_more_can_be_continued_too(door):
    door.answers.extend(["one", "two", "two", "three"])
    client = door.openai

    def say(text, previous=None):
        return client.responses.create(model="scripted", input=text, previous_response_id=previous)

    first = say("first?")
    say("second?", first.id)
    again = say("second?", first.id)
    assert client.responses.retrieve(again.id).output_text == "two"
    say("third?", again.id)
    assert client.responses.retrieve(again.id).output_text == "two"
    assert [text for _, text, _ in door.kept()[0]] == ["first?", "one", "second?", "two", "third?", "three"]


def test_an_answer_at_its_limit_is_incomplete(door):
    door.answers.extend([["Half an", Chunk(finish="length")]] * 2)
    client = door.openai
    response = client.responses.create(model="scripted", input="hi")
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert client.responses.retrieve(response.id).status == "incomplete"
    with closing(client.responses.create(model="scripted", input="again", stream=True)) as stream:
        assert list(stream)[-1].type == "response.incomplete"


def test_broken_answer_fails_in_stream_or_with_status_before_it(door):
    long = Overflow("too long", prompt_tokens=9, window=8)
    door.answers.extend([["It is ", CutOff("the server died")], long, long])
    client = door.openai
    with closing(client.responses.create(model="scripted", input="hi", stream=True)) as stream:
        last = list(stream)[-1]
    assert (last.type, last.response.status) == ("response.failed", "failed")
    assert "the server died" in last.response.error.message
    assert last.response.output[0].content[0].text == "It is "
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="scripted", input="something else", stream=True)
    assert caught.value.code == "context_length_exceeded"


CHUNKS = st.lists(
    st.one_of(
        st.builds(Chunk, text=st.text(max_size=5)),
        st.builds(Chunk, thinking=st.text(max_size=5)),
        st.builds(
            lambda index, text: Chunk(calls=(CallPiece(index, f"c{index}", "", text),)),
            st.integers(0, 2),
            st.text(max_size=5),
        ),
    ),
    max_size=8,
)


@given(CHUNKS)
def test_the_events_of_any_answer_add_up_to_it(chunks):
    settings = openai_responses.echo_settings(openai_responses.parse_request({"model": "m", "input": "hi"}))
    writer, answer = openai_responses.ResponsesWriter("resp_x", settings), Answer()
    events = []
    for chunk in chunks:
        answer.add(chunk)
        events += writer.chunk(chunk)
    events += writer.end()
    opened = [event["output_index"] for event in events if event["type"] == "response.output_item.added"]
    closed = [event["output_index"] for event in events if event["type"] == "response.output_item.done"]
    assert opened == closed == list(range(len(opened)))
    text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    assert text == answer.message.text
    assert json.loads(json.dumps(events[-1]["response"])) == writer.whole()
    (back,) = openai_responses.parse_items(events[-1]["response"]["output"]) or [answer.message]
    assert (back.text, back.thinking.replace("\n", "")) == (
        answer.message.text,
        answer.message.thinking.replace("\n", ""),
    )
