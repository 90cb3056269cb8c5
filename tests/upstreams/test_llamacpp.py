"""llama.cpp's server: the real one, and beside it the older and larger ones that are not at hand."""

import asyncio
from dataclasses import replace

import pytest

from holdfast.errors import Overflow, UpstreamError
from holdfast.messages import Answer, ChatRequest, Image, Message, Text
from holdfast.upstreams.http import Connection, Patience
from holdfast.upstreams.openai import LlamaCpp
from tests.upstreams.conftest import WINDOW
from tests.upstreams.fake_servers import server

pytestmark = pytest.mark.anyio

INPUT_TOKENS = "/v1/chat/completions/input_tokens"
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def asking(text="Say hello.", **options):
    return ChatRequest(
        "embedded",
        (Message.of("system", "You are brief."), Message.of("user", text)),
        options={"temperature": 0, "max_tokens": 8, **options},
    )


async def collect_answer(provider, request):
    answer = Answer()
    async for chunk in provider.chat(request):
        answer.add(chunk)
    return answer


@pytest.fixture
async def to():
    result = []

    def provider(url):
        result.append(LlamaCpp(Connection(url, patience=Patience(tries=1))))
        return result[-1]

    yield provider
    for item in result:
        await item.aclose()


@pytest.mark.real
async def test_the_real_server_streams_an_answer_with_its_counts(llamacpp):
    chunks = [chunk async for chunk in llamacpp.chat(asking())]
    assert len([chunk for chunk in chunks if chunk.text]) > 1
    usage = next(chunk.usage for chunk in chunks if chunk.usage and chunk.usage.prompt)
    assert usage.completion == 8
    assert "prompt_ms" in usage.timings


@pytest.mark.real
async def test_its_count_is_what_the_answer_says_it_was(llamacpp):
    conversation = ChatRequest(
        "embedded",
        (
            Message.of("system", "Du bist höflich."),
            Message.of("user", "Grüße aus Köln! 👋\n\n```python\nprint(1)\n```"),
            Message.of("assistant", "Ja?"),
            Message.of("user", "Wie geht es?"),
        ),
        tools=(TOOL,),
        options={"max_tokens": 1},
    )
    for request in (asking(), conversation):
        counted = await llamacpp.count(request)
        assert counted == (await collect_answer(llamacpp, request)).usage.prompt


@pytest.mark.real
async def test_the_way_of_older_servers_counts_the_same(llamacpp):
    assert await llamacpp._count_rendered(asking()) == await llamacpp.count(asking())


@pytest.mark.real
async def test_a_prompt_seen_before_is_told_as_cached(llamacpp):
    first = asking("Tell me something about the sea and the ships on it, and about the wind.")
    await collect_answer(llamacpp, first)
    usage = (await collect_answer(llamacpp, first)).usage
    assert usage.cached > usage.prompt // 2


@pytest.mark.real
async def test_oversized_prompt_raises_overflow_with_token_counts(llamacpp):
    request = asking("word " * 3000)
    with pytest.raises(Overflow) as caught:
        await collect_answer(llamacpp, request)
    assert caught.value.window == WINDOW
    assert caught.value.prompt_tokens == await llamacpp.count(request)


@pytest.mark.real
async def test_giving_up_an_answer_frees_the_server_at_once(llamacpp):
    long = replace(asking(max_tokens=1900), extra={"openai": {"ignore_eos": True}})
    endless = llamacpp.chat(long)
    await anext(endless)
    await endless.aclose()
    # There is one slot: without the abort, this would wait for 1,900 tokens.
    async with asyncio.timeout(60):
        assert (await collect_answer(llamacpp, asking(max_tokens=1))).usage.completion == 1


@pytest.mark.real
async def test_the_real_server_describes_its_model(llamacpp):
    (info,) = await llamacpp.models()
    assert (info.name, info.trained_window, info.running_window) == ("embedded", 8192, WINDOW)
    assert (info.parameter_size, info.quantization) == ("134.52M", "Q4_1")
    assert info.capabilities == ("completion",)
    # What the server says itself has the second of the answer in it.
    described = await llamacpp.describe("whatever a client calls it")
    assert replace(described, raw={}) == replace(info, raw={})


@pytest.mark.real
async def test_what_the_real_server_cannot_do_is_refused(llamacpp):
    with pytest.raises(UpstreamError, match="embeddings") as caught:
        await llamacpp.embed("embedded", ["a"])
    assert caught.value.status == 501
    picture = Message("user", (Text("What?"), Image(data="iVBORw0KGgo=")))
    with pytest.raises(UpstreamError, match="image"):
        await collect_answer(llamacpp, asking().with_messages([picture]))


@pytest.mark.real
async def test_the_real_server_lets_nobody_in_without_the_key(child):
    stranger = LlamaCpp(Connection(child.url))
    with pytest.raises(UpstreamError) as caught:
        await collect_answer(stranger, asking())
    assert caught.value.status == 401
    await stranger.aclose()


async def test_a_server_without_input_tokens_renders_and_tokenizes(to):
    routes = {
        "/apply-template": lambda body: {"prompt": body["messages"][0]["content"]},
        "/tokenize": lambda body: {"tokens": body["content"].split()},
    }
    with server(routes) as known:
        provider = to(known.url)
        assert await provider.count(ChatRequest("m", (Message.of("user", "one two three"),))) == 3
        assert await provider.count(ChatRequest("m", (Message.of("user", "one"),))) == 1
    assert len(known.asked(INPUT_TOKENS)) == 1
    assert known.asked("/tokenize")[0]["parse_special"] is True


async def test_a_picture_cannot_be_counted_by_rendering(to):
    picture = Message("user", (Image(data="iVBORw0KGgo="),))
    with server({"/apply-template": {"prompt": ""}, "/tokenize": {"tokens": []}}) as known:
        assert await to(known.url).count(ChatRequest("m", (picture,))) is None


async def test_a_server_that_can_neither_is_asked_only_once(to):
    with server({}) as known:
        provider = to(known.url)
        for _ in range(3):
            assert await provider.count(asking()) is None
    assert [path for _, path, _ in known.requests] == [INPUT_TOKENS, "/apply-template"]


async def test_an_error_while_counting_is_an_error_and_not_an_inability(to):
    with server({INPUT_TOKENS: (500, {"error": "broken template"})}) as known:
        provider = to(known.url)
        for _ in range(2):
            with pytest.raises(UpstreamError, match="broken template"):
                await provider.count(asking())


async def test_router_is_queried_only_about_loaded_models(to):
    loaded = {
        "id": "a/b:Q4",
        "status": {"value": "loaded"},
        "meta": {"n_ctx_train": 32768, "n_params": 7_620_000_000},
    }
    listed = {"data": [loaded, {"id": "other", "status": {"value": "unloaded"}}]}
    props = {"default_generation_settings": {"n_ctx": 4096}, "modalities": {"vision": True}}
    with server({"/v1/models": listed, "/props?model=a%2Fb%3AQ4": props}) as known:
        first, second = await to(known.url).models()
    assert (first.trained_window, first.running_window, first.parameter_size) == (32768, 4096, "7.6B")
    assert "vision" in first.capabilities
    assert (second.name, second.running_window) == ("other", None)
    assert {path for _, path, _ in known.requests} == {"/v1/models", "/props?model=a%2Fb%3AQ4"}
