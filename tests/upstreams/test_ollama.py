"""The Ollama provider against a server that speaks Ollama's protocol, over real HTTP."""

import asyncio
import base64
import json

import pytest

from holdfast.config import load
from holdfast.errors import ConfigError, CutOff, ModelMissing, Overflow, Unreachable, UpstreamError
from holdfast.messages import Answer, ChatRequest, Image, Message, Text, Thinking, ToolCall
from holdfast.upstreams.http import Connection, Patience
from holdfast.upstreams.ollama import Ollama, parse_keep_alive
from holdfast.wiring import build_upstreams
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply, ModelLoad
from tests.upstreams.hostile import END, begin_response, hostile, piece, response

pytestmark = pytest.mark.anyio

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


@pytest.fixture
async def to():
    result = []

    def provider(url):
        result.append(Ollama(Connection(url, patience=Patience(tries=1, stall=5))))
        return result[-1]

    yield provider
    for item in result:
        await item.aclose()


def asking(text="Hello there", *, model="fake", **rest):
    return ChatRequest(model, (Message.of("user", text),), **rest)


async def collect_answer(provider, request, answer=None):
    answer = answer or Answer()
    async for chunk in provider.chat(request):
        answer.add(chunk)
    return answer


async def test_answer_streams_in_chunks_and_ends_with_server_counts(to):
    with FakeOllama(lambda call: "One two three.").served() as url:
        chunks = [chunk async for chunk in to(url).chat(asking())]
    assert [chunk.text for chunk in chunks] == ["One", " two", " three.", ""]
    assert [chunk.finish for chunk in chunks] == [None, None, None, "stop"]
    assert (chunks[-1].usage.prompt, chunks[-1].usage.completion) == (5, 3)
    assert all(chunk.wire[0] == "ollama" for chunk in chunks)


async def test_every_chat_forbids_the_server_to_cut_or_to_shift(to):
    fake = FakeOllama()
    with fake.served() as url:
        await collect_answer(
            to(url), asking(stream=False, extra={"ollama": {"truncate": True, "keep_alive": "5m"}})
        )
    _, body = fake.requests[0]
    assert (body["truncate"], body["shift"], body["stream"]) == (False, False, True)
    assert body["keep_alive"] == "5m"


async def test_keep_alive_uses_setting_unless_client_overrides_it(tmp_path):
    fake = FakeOllama()
    with fake.served() as url:
        upstreams = build_upstreams(load({"home": tmp_path, "upstream": url, "keep_alive": "2h"}).settings)
        provider = await upstreams.main()
        await collect_answer(provider, asking())
        await collect_answer(provider, asking(extra={"ollama": {"keep_alive": 0}}))
        await provider.embed("fake", ["Hello"])
        await provider.render(asking())
        await upstreams.aclose()
    assert [body["keep_alive"] for path, body in fake.requests if "model" in body] == ["2h", 0, "2h", "2h"]


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("", None),
        (" ", None),
        ("30m", "30m"),
        ("1h30m", "1h30m"),
        ("1.5h", "1.5h"),
        ("-1m", "-1m"),
        ("300", 300),
        ("-1", -1),
        ("0", 0),
    ],
)
def test_times_are_told_in_ollamas_ways(setting, told):
    assert parse_keep_alive(setting) == told


@pytest.mark.parametrize("setting", ["for ever", "30 m", "m", "30min", "1d", "1e9", "--1", "30m; rm"])
def test_what_ollama_would_refuse_is_refused_before(setting):
    with pytest.raises(ConfigError, match="keep_alive"):
        parse_keep_alive(setting)


async def test_the_window_is_sent_only_when_the_request_has_one(to):
    fake = FakeOllama()
    with fake.served() as url:
        await collect_answer(to(url), asking(options={"temperature": 0}))
        await collect_answer(to(url), asking(options={"num_ctx": 2048}))
    assert [body["options"] for _, body in fake.requests] == [{"temperature": 0}, {"num_ctx": 2048}]
    assert fake.loads == [ModelLoad("fake:latest", 4096, False), ModelLoad("fake:latest", 2048, False)]


async def test_oversized_prompt_raises_overflow_with_counts_and_is_never_truncated(to):
    with FakeOllama().served() as url, pytest.raises(Overflow) as caught:
        await collect_answer(to(url), asking("word " * 3000, options={"num_ctx": 2048}))
    assert (caught.value.prompt_tokens, caught.value.window) == (3003, 2048)


async def test_thinking_and_tool_calls_arrive_as_parts_of_the_answer(to):
    reply = FakeReply("I look.", thinking="The weather?", calls=[("weather", {"city": "Köln"})])
    with FakeOllama(lambda call: reply).served() as url:
        answer = await collect_answer(to(url), asking(tools=(TOOL,), think=True))
    thinking, text, call = answer.message.parts
    assert thinking == Thinking("The weather?")
    assert text == Text("I look.")
    assert isinstance(call, ToolCall)
    assert (call.name, json.loads(call.arguments)) == ("weather", {"city": "Köln"})
    assert answer.finish == "tool_calls"


async def test_tools_images_and_format_reach_the_server(to):
    fake = FakeOllama()
    seen = Message("user", (Text("What is this?"), Image(data=PNG)))
    with fake.served() as url:
        await collect_answer(to(url), ChatRequest("fake", (seen,), tools=(TOOL,), format="json", think="low"))
    _, body = fake.requests[0]
    assert body["messages"] == [{"role": "user", "content": "What is this?", "images": [PNG]}]
    assert (body["tools"], body["format"], body["think"]) == ([TOOL], "json", "low")


async def test_a_request_without_messages_only_loads_the_model(to):
    with FakeOllama().served() as url:
        answer = await collect_answer(to(url), ChatRequest("fake", ()))
    assert (answer.finish, not answer.message.parts) == ("load", True)


async def test_closing_the_answer_makes_the_server_stop(to):
    fake = FakeOllama(lambda call: FakeReply("la", endless=True))
    with fake.served() as url:
        answer = to(url).chat(asking())
        assert (await anext(answer)).text == "la"
        await answer.aclose()
        assert await asyncio.to_thread(fake.abandoned.wait, 20)


async def test_a_cancelled_reader_makes_the_server_stop(to):
    begun = asyncio.Event()

    async def read(provider):
        async for _ in provider.chat(asking()):
            begun.set()

    fake = FakeOllama(lambda call: FakeReply("la", endless=True))
    with fake.served() as url:
        reading = asyncio.create_task(read(to(url)))
        await begun.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await asyncio.to_thread(fake.abandoned.wait, 20)


async def test_a_model_the_server_does_not_have_is_missing(to):
    with FakeOllama().served() as url:
        provider = to(url)
        for question in (
            collect_answer(provider, asking(model="nope")),
            provider.describe("nope"),
            provider.embed("nope", ["a"]),
        ):
            with pytest.raises(ModelMissing, match="nope"):
                await question


async def test_what_a_model_cannot_do_is_refused_in_the_servers_words(to):
    with (
        FakeOllama(models=[FakeModel(capabilities=("completion",))]).served() as url,
        pytest.raises(UpstreamError, match="does not support tools") as caught,
    ):
        await collect_answer(to(url), asking(tools=(TOOL,)))
    assert caught.value.status == 400
    assert "does not support tools" in caught.value.body["error"]


async def test_an_answer_that_breaks_off_is_a_cut_after_its_pieces(to):
    with FakeOllama(lambda call: FakeReply("one two", breaks=True)).served() as url:
        answer = Answer()
        with pytest.raises(CutOff):
            await collect_answer(to(url), asking(), answer)
    assert answer.message.text == "one two"


async def test_error_line_in_stream_is_cut_off_with_server_message(to):
    with (
        FakeOllama(lambda call: FakeReply("one", error="out of memory")).served() as url,
        pytest.raises(CutOff, match="out of memory"),
    ):
        await collect_answer(to(url), asking())


async def test_an_error_line_at_the_very_beginning_is_a_refusal(to):
    with (
        FakeOllama(lambda call: FakeReply(error="model runner crashed")).served() as url,
        pytest.raises(UpstreamError, match="model runner crashed") as caught,
    ):
        await collect_answer(to(url), asking())
    assert caught.value.status == 502


LINE = b'{"model":"m","message":{"role":"assistant","content":"Hi"},"done":false}\n'
DONE = b'{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n'
NDJSON = "application/x-ndjson"


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param(END, id="no last line"),
        pytest.param(piece(b'{"model":"m","mess') + END, id="half a line"),
        pytest.param(piece(b"<html>gateway</html>\n") + END, id="garbage"),
        pytest.param(piece(b"[1, 2]\n") + END, id="no object"),
    ],
)
async def test_stream_without_end_is_cut_off_and_keeps_partial_answer(to, rest):
    with hostile([begin_response(NDJSON), piece(LINE), rest]) as server:
        answer = Answer()
        with pytest.raises(CutOff):
            await collect_answer(to(server.url), asking(), answer)
    assert answer.message.text == "Hi"


async def test_a_transfer_that_breaks_the_rules_of_http_is_told(to):
    with (
        hostile([begin_response(NDJSON), piece(LINE), b"zzz\r\n"]) as server,
        pytest.raises((CutOff, Unreachable)),
    ):
        await collect_answer(to(server.url), asking())


async def test_a_connection_that_breaks_after_the_last_line_has_broken_nothing(to):
    with hostile([begin_response(NDJSON), piece(LINE), piece(DONE)]) as server:
        answer = await collect_answer(to(server.url), asking())
    assert (answer.message.text, answer.finish) == ("Hi", "stop")


async def test_a_line_may_come_in_any_pieces(to):
    whole = LINE + DONE
    single = [piece(whole[index : index + 1]) for index in range(len(whole))]
    with hostile([begin_response(NDJSON), *single, END]) as server:
        answer = await collect_answer(to(server.url), asking())
    assert answer.message.text == "Hi"


async def test_a_web_page_is_not_taken_for_an_answer(to):
    with (
        hostile([response(b"<html>Welcome</html>", content_type="text/html")]) as server,
        pytest.raises(UpstreamError, match="no answer of a model server"),
    ):
        await collect_answer(to(server.url), asking())


async def test_a_count_that_is_missing_stays_unknown(to):
    with hostile([begin_response(NDJSON), piece(LINE), piece(DONE), END]) as server:
        answer = await collect_answer(to(server.url), asking())
    assert (answer.usage.prompt, answer.usage.completion) == (None, None)


async def test_models_are_listed_with_the_window_that_runs(to):
    models = [FakeModel("big:7b", family="qwen", parameter_size="7.6B"), FakeModel("small:latest")]
    with FakeOllama(models=models).served() as url:
        provider = to(url)
        await collect_answer(provider, asking(model="small", options={"num_ctx": 1024}))
        big, small = await provider.models()
    assert (big.name, big.family, big.parameter_size, big.running_window) == ("big:7b", "qwen", "7.6B", None)
    assert (small.name, small.running_window) == ("small:latest", 1024)
    assert len(small.digest) == 64


async def test_model_description_includes_trained_running_and_modelfile_windows(to):
    model = FakeModel(
        "small:latest", trained_window=8192, num_ctx=2048, facts={"tokenizer.ggml.tokens": ["a"]}
    )
    with FakeOllama(models=[model]).served() as url:
        provider = to(url)
        before = await provider.describe("small")
        await collect_answer(provider, asking(model="small"))
        after = await provider.describe("small")
    assert (before.trained_window, before.running_window, before.default_num_ctx) == (8192, None, 2048)
    assert after.running_window == 2048
    assert before.name == "small"
    assert "tools" in before.capabilities
    assert before.raw["model_info"]["general.architecture"] == "fake"


async def test_older_servers_do_not_say_which_window_runs(to):
    with FakeOllama(old=True).served() as url:
        provider = to(url)
        await collect_answer(provider, asking())
        assert (await provider.describe("fake")).running_window is None


async def test_texts_become_vectors_in_their_order(to):
    with FakeOllama().served() as url:
        results = await to(url).embed("fake", ["one", "two words"])
        alone = await to(url).embed("fake", ["two words"])
    assert results.vectors[1] == alone.vectors[0]
    assert results.vectors[0] != results.vectors[1]
    assert results.tokens == 3


async def test_text_too_long_to_embed_raises_overflow(to):
    with FakeOllama(default_num_ctx=512).served() as url, pytest.raises(Overflow):
        await to(url).embed("fake", ["word " * 600])


async def test_it_cannot_count_and_says_so(to):
    assert await to("http://127.0.0.1:1").count(asking()) is None


async def test_other_routes_are_passed_on(to):
    with FakeOllama().served() as url:
        forwarded = await to(url).forward("GET", "/api/version", {})
        assert json.loads(b"".join([data async for data in forwarded.stream])) == {"version": "0.30.0"}


@pytest.mark.parametrize("body", [b"[]", b'{"models": 5}', b'{"models": ["a"]}', b"{}"])
async def test_a_list_that_is_none_is_refused(to, body):
    with hostile([response(body)]) as server, pytest.raises(UpstreamError):
        await to(server.url).models()


async def test_null_model_list_is_read_as_empty(to):
    with hostile([response(b'{"models": null}')]) as server:
        assert await to(server.url).models() == []
