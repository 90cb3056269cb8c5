"""From a location to a provider, and what is found on a machine where this or that is running."""

import socket

import pytest

from holdfast.errors import ConfigError, Unreachable
from holdfast.messages import Answer, ChatRequest, Message
from holdfast.upstreams.discovery import CANDIDATES, Options, connect, discover, parse_location
from holdfast.upstreams.http import Patience
from tests.fakes.ollama import FakeOllama
from tests.upstreams.fake_servers import server
from tests.upstreams.hostile import SILENCE, hostile, response
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio

QUICK = Options(patience=Patience(connect=10, answer=30, tries=1))
LM_STUDIO = {"error": "Unexpected endpoint or method."}

LLAMACPP = {"/props": {"default_generation_settings": {"n_ctx": 512}}, "/v1/models": {"data": []}}
ROUTER = {"/props": {"role": "router"}, "/v1/models": {"data": []}}
VLLM = {"/v1/models": {"data": [{"id": "m", "max_model_len": 4096}]}}


@pytest.fixture
def nowhere():
    """An address where nobody listens, and nobody else can: the port is taken, but not listened on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


async def kind_of(location, options=QUICK):
    provider = await connect(location, options)
    await provider.aclose()
    return provider.name


@pytest.mark.parametrize(
    ("location", "parsed"),
    [
        ("http://h:1", (None, "http://h:1")),
        ("h:11434", (None, "http://h:11434")),
        (" https://h/v1/ ", (None, "https://h/v1")),
        ("ollama+http://h:1", ("ollama", "http://h:1")),
        ("openai+https://h/v1", ("openai", "https://h/v1")),
        ("llamacpp+http://h", ("llamacpp", "http://h")),
        ("lmstudio+http://h", ("lmstudio", "http://h")),
        ("http://anna:a+b@h", (None, "http://anna:a+b@h")),
    ],
)
def test_a_location_may_name_the_kind_of_server(location, parsed):
    assert parse_location(location) == parsed


@pytest.mark.parametrize(
    "location",
    [
        "gemini+https://h",
        "ftp://h",
        "ollama+ftp://h",
        "http://",
        "http://h:port",
        "http://[half",
        "http://h:99999",
    ],
)
def test_a_location_that_makes_no_sense_says_so(location):
    with pytest.raises(ConfigError):
        parse_location(location)


async def test_a_fake_ollama_is_an_ollama():
    with FakeOllama().served() as url:
        assert await kind_of(url) == "ollama"
        assert await kind_of(f"{url}/v1") == "ollama"


@pytest.mark.parametrize(
    ("routes", "unknown", "kind"),
    [
        (LLAMACPP, (404, {}), "llamacpp"),
        (ROUTER, (404, {}), "llamacpp"),
        ({"/api/v0/models": {"data": []}}, LM_STUDIO, "lmstudio"),
        ({"/api/v1/models": {"models": []}}, LM_STUDIO, "lmstudio"),
        (VLLM, (404, {}), "openai"),
        ({}, (404, {}), "openai"),
        ({}, (401, {"error": "key?"}), "openai"),
        ({}, (503, {"error": {"message": "Loading model", "code": 503}}), "llamacpp"),
    ],
)
async def test_a_server_is_recognised_by_what_only_it_answers(routes, unknown, kind):
    with server(routes, unknown) as known:
        assert await kind_of(known.url) == kind


@pytest.mark.real
async def test_the_real_llamacpp_is_recognised(child):
    assert await kind_of(child.url, Options(key=child.key)) == "llamacpp"


async def test_an_address_with_its_kind_is_not_asked(nowhere):
    assert await kind_of(f"ollama+{nowhere}") == "ollama"
    assert await kind_of(f"lmstudio+{nowhere}") == "lmstudio"


async def test_unanswered_address_error_says_what_to_do(nowhere):
    with pytest.raises(Unreachable, match="Start it, or check the address"):
        await connect(nowhere, QUICK)


async def test_a_connected_provider_answers():
    with FakeOllama(lambda call: "Yes.").served() as url:
        provider = await connect(url)
        answer = Answer()
        async for chunk in provider.chat(ChatRequest("fake", (Message.of("user", "Hi"),))):
            answer.add(chunk)
        await provider.aclose()
    assert answer.message.text == "Yes."


async def test_embedded_takes_the_fetched_weights_or_any_file(tmp_path):
    options = Options(models_dir=tmp_path, log=tmp_path / "log")
    assert (
        await connect("embedded", options)
    ).location == f"embedded:{tmp_path}/SmolLM2-135M-Instruct.Q4_1.gguf"
    assert (await connect("embedded:/models/other.gguf", options)).location == "embedded:/models/other.gguf"
    own = Options(models_dir=tmp_path, model_file=tmp_path / "mine.gguf")
    assert (await connect("embedded", own)).location == f"embedded:{tmp_path}/mine.gguf"


async def test_the_usual_places_are_on_this_machine():
    assert [url.rpartition(":")[2] for url in CANDIDATES] == ["11434", "8080", "1234"]
    assert all(url.startswith("http://127.0.0.1:") for url in CANDIDATES)


async def test_nothing_found_tells_where_it_looked(nowhere):
    results = await discover([nowhere], QUICK)
    assert results.provider is None
    assert results.tried == [(nowhere, "no server is listening")]


async def test_the_first_of_several_is_taken_and_all_are_told(nowhere):
    with FakeOllama().served() as first, server(LLAMACPP) as second:
        results = await discover([nowhere, second.url, first], QUICK, seconds=PATIENCE)
        await results.provider.aclose()
    assert results.provider.name == "llamacpp"
    assert [report for _, report in results.tried] == ["no server is listening", "llamacpp", "ollama"]


async def test_web_site_on_port_is_not_taken_for_model_server():
    page = response(b"<html>Jenkins</html>", content_type="text/html")
    with hostile([page]) as site, hostile([b"SSH-2.0-OpenSSH\r\n"]) as shell:
        results = await discover([site.url, shell.url], QUICK, seconds=PATIENCE)
    assert results.provider is None
    assert [report for _, report in results.tried] == [
        "something else is there, no model server",
        "no server is listening",
    ]


async def test_nobody_waits_long_for_something_that_says_nothing():
    with hostile([SILENCE]) as silent:
        results = await discover([silent.url], QUICK, seconds=0.2)
    assert (results.provider, results.tried) == (None, [(silent.url, "no server is listening")])


async def test_a_key_is_never_sent_to_whoever_happens_to_listen():
    with hostile([response(b"{}", "404 Not Found")]) as stranger:
        await discover([stranger.url], Options(key="secret", headers={"X-Secret": "secret"}))
    assert stranger.requests
    assert not [request for request in stranger.requests if b"secret" in request]
