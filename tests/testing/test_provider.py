"""The scripted provider says what it is told to, waits for events only, and remembers what it was asked."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import CutOff, ModelMissing, Overflow, UpstreamError
from holdfast.messages import Answer, ChatRequest, Chunk, Message, Thinking, ToolCall, Usage
from holdfast.testing.provider import ScriptedProvider

pytestmark = pytest.mark.anyio


def asking(text="Hi", model="scripted"):
    return ChatRequest(model, (Message.of("user", text),))


async def collect_answer(provider, request=None, answer=None):
    answer = answer or Answer()
    async for chunk in provider.chat(request or asking()):
        answer.add(chunk)
    return answer


async def test_answers_come_in_their_order_and_then_the_fallback():
    provider = ScriptedProvider(["One.", "Two."], fallback="Enough.")
    texts = [(await collect_answer(provider)).message.text for _ in range(4)]
    assert texts == ["One.", "Two.", "Enough.", "Enough."]


async def test_an_answer_may_depend_on_the_request():
    provider = ScriptedProvider(fallback=lambda request: f"You said {request.messages[-1].text}.")
    assert (await collect_answer(provider, asking("hello"))).message.text == "You said hello."
    assert provider.requests == [asking("hello")]


async def test_thinking_and_calls_are_steps_too():
    call = ToolCall("weather", '{"city":"Köln"}', "c1")
    answer = await collect_answer(ScriptedProvider([[Thinking("Let me see. "), "I ask.", call]]))
    assert answer.message.thinking == "Let me see. "
    assert answer.message.tool_calls == (call,)
    assert answer.finish == "tool_calls"


async def test_a_chunk_is_given_as_it_is():
    last = Chunk(finish="length", usage=Usage(prompt=1, completion=2))
    answer = await collect_answer(ScriptedProvider([["Half", last]]))
    assert (answer.finish, answer.usage.completion) == ("length", 2)


async def test_an_error_is_raised_where_it_stands():
    provider = ScriptedProvider([Overflow("too long"), ["Half an", CutOff("gone")]])
    with pytest.raises(Overflow):
        await collect_answer(provider)
    answer = Answer()
    with pytest.raises(CutOff):
        await collect_answer(provider, answer=answer)
    assert answer.message.text == "Half an"


async def test_it_waits_for_an_event_and_for_no_clock():
    gate = asyncio.Event()
    provider = ScriptedProvider([["before", gate, " after"]])
    answer = provider.chat(asking())
    assert (await anext(answer)).text == "before"
    rest = asyncio.ensure_future(anext(answer))
    await asyncio.sleep(0)
    assert not rest.done()
    gate.set()
    assert (await rest).text == " after"
    await answer.aclose()
    assert provider.aborted == 1


async def test_it_knows_its_models_and_counts_words():
    provider = ScriptedProvider()
    assert (await provider.describe("scripted")).running_window == 8192
    assert [info.name for info in await provider.models()] == ["scripted"]
    assert await provider.count(asking("one two three")) == 3
    assert (await collect_answer(provider, asking("one two three"))).usage.prompt == 3
    for question in (
        provider.describe("nope"),
        provider.embed("nope", ["a"]),
        collect_answer(provider, asking(model="nope")),
    ):
        with pytest.raises(ModelMissing):
            await question


async def test_similar_texts_have_similar_vectors():
    results = await ScriptedProvider().embed("scripted", ["a cat", "a cat", "zebra"])
    assert results.vectors[0] == results.vectors[1] != results.vectors[2]
    assert results.tokens == 5


async def test_it_passes_nothing_on():
    with pytest.raises(UpstreamError):
        await ScriptedProvider().forward("GET", "/v1/models", {})


@given(st.text())
def test_whatever_it_is_told_to_say_arrives_letter_by_letter(text):
    answer = asyncio.run(collect_answer(ScriptedProvider([[text]])))
    assert answer.message.text == text
