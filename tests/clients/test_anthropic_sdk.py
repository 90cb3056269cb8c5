"""Anthropic's own Python library, unmodified, with an Ollama behind Holdfast."""

import anthropic
import pytest

from tests.clients.sdk_server import LOOKED, MODEL, PICTURE, tables
from tests.fakes.ollama_runner import FakeReply

pytestmark = pytest.mark.slow

CALLS = (("look", {"path": "a"}), ("look", {"path": "b"}))
TOOLS = [
    {"name": "look", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}},
]


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    with tables(tmp_path_factory.mktemp("anthropic")) as store:
        yield store


@pytest.fixture(scope="module")
def one(make):
    with anthropic.Anthropic(base_url=make().url, api_key="none", max_retries=0) as result:
        yield result


@pytest.mark.parametrize("stream", [False, True])
def test_a_picture_two_tools_at_once_and_what_they_found(make, one, stream):
    table = make()
    client = one.with_options(default_headers=table.headers)
    table.answers += [
        FakeReply("Looking.", thinking="Two files.", calls=CALLS),
        "Both are empty.",
        "You are welcome.",
    ]
    picture = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    asked = {
        "model": MODEL,
        "max_tokens": 2000,
        "system": "Be brief.",
        "tools": TOOLS,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }

    def answer():
        if not stream:
            return client.messages.create(**asked, messages=history)
        with client.messages.stream(**asked, messages=history) as events:
            return events.get_final_message()

    words = {"type": "text", "text": "Look into a and b."}
    history = [{"role": "user", "content": [words, {"type": "image", "source": picture}]}]
    first = answer()
    assert first.stop_reason == "tool_use"
    thinking, text, *calls = first.content
    assert (thinking.thinking, text.text) == ("Two files.", "Looking.")
    assert [(call.name, call.input) for call in calls] == list(CALLS)
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": f"{call.input['path']} is empty"}
        for call in calls
    ]
    history += [
        {"role": "assistant", "content": [block.to_dict() for block in first.content]},
        {"role": "user", "content": results},
    ]
    second = answer()
    assert second.stop_reason == "end_turn"
    history += [
        {"role": "assistant", "content": second.content[-1].text},
        {"role": "user", "content": "Thanks!"},
    ]
    last = answer()
    assert last.content[-1].text == "You are welcome."
    assert last.usage.input_tokens + (last.usage.cache_read_input_tokens or 0) > 0
    assert table.kept() == [[("user", "Look into a and b.", 1), *LOOKED]]
    sent = table.asked()[-1]["messages"]
    assert (sent[0]["content"], sent[1]["images"]) == ("Be brief.", [PICTURE])


def test_what_is_not_there_is_told_as_the_library_knows_it(make, one):
    question = [{"role": "user", "content": "Hi"}]
    with pytest.raises(anthropic.NotFoundError):
        one.messages.create(model="nobody", max_tokens=5, messages=question)
    with pytest.raises(anthropic.BadRequestError):
        one.messages.create(model=MODEL, max_tokens=5, messages=[])
    assert one.messages.count_tokens(model=MODEL, messages=question).input_tokens > 0
