"""What every provider does, whichever server is behind it: one suite over all of them."""

from contextlib import ExitStack

import pytest

from holdfast.errors import HoldfastError
from holdfast.messages import Answer, ChatRequest, Message
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.base import format_count, handles_path
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from holdfast.upstreams.openai import LlamaCpp, OpenAI
from holdfast.upstreams.routing import LabelledProvider
from tests.fakes.ollama import FakeOllama

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(
    params=[
        "scripted",
        "ollama",
        "ollama, old",
        "ollama, watched",
        "openai",
        pytest.param("llamacpp", marks=pytest.mark.real),
    ]
)
def make(request):
    """Makes the provider; its server runs as long as the test."""
    with ExitStack() as stack:
        if request.param == "llamacpp":
            running = request.getfixturevalue("child")
            yield lambda: LlamaCpp(Connection(running.url, key=running.key))
        elif request.param == "scripted":
            yield lambda: ScriptedProvider(fallback="Yes, of course.")
        else:
            fake = FakeOllama(lambda call: "Yes, of course.", old="old" in request.param)
            url = stack.enter_context(fake.served())
            kind = OpenAI if request.param == "openai" else Ollama
            watched = "watched" in request.param
            yield (
                lambda: LabelledProvider(kind(Connection(url)), "here") if watched else kind(Connection(url))
            )


@pytest.fixture
async def provider(make):
    result = make()
    yield result
    await result.aclose()


@pytest.fixture
async def request_(provider):
    (model,) = await provider.models()
    return ChatRequest(model.name, (Message.of("user", "Are you there?"),), options={"max_tokens": 6})


async def test_an_answer_has_words_a_reason_to_end_and_counts(provider, request_):
    answer = Answer()
    async for chunk in provider.chat(request_):
        answer.add(chunk)
    assert answer.message.text
    assert answer.finish in ("stop", "length")
    assert answer.usage.prompt > 0
    assert answer.usage.completion > 0


async def test_chunks_carry_the_payload_in_the_providers_dialect_or_none(provider, request_):
    async for chunk in provider.chat(request_):
        assert chunk.wire is None or chunk.wire[0] == provider.dialect


async def test_whoever_stops_listening_can_ask_again(provider, request_):
    for _ in range(2):
        answer = provider.chat(request_)
        await anext(answer)
        await answer.aclose()


async def test_what_is_listed_can_be_described(provider):
    for listed in await provider.models():
        assert (await provider.describe(listed.name)).name == listed.name


async def test_a_count_is_a_number_or_unknown(provider, request_):
    counted = await provider.count(request_)
    assert counted is None or counted > 0


async def test_a_route_nobody_has_comes_back_as_the_servers_own_error(provider):
    try:
        forwarded = await provider.forward("GET", "/v1/there-is-no-such-thing", {})
    except HoldfastError:
        assert provider.name == "scripted"
    else:
        assert forwarded.status == 404
        await forwarded.close()


def test_paths_of_its_own_are_told_from_others():
    provider = LlamaCpp(Connection("http://127.0.0.1:1"))
    assert handles_path(provider, "/v1/embeddings")
    assert handles_path(provider, "/tokenize")
    assert not handles_path(provider, "/tokenize/more")
    assert not handles_path(provider, "/api/tags")
    assert not handles_path(ScriptedProvider(), "/v1/models")


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (134_515_008, "134.52M"),
        (7_615_616_512, "7.6B"),
        (8_030_261_312, "8.0B"),
        (999, "999"),
        (1500, "1.50K"),
    ],
)
def test_parameters_are_written_as_ollama_writes_them(number, told):
    assert format_count(number) == told
