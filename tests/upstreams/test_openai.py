"""Servers that speak OpenAI's chat completions, each in its own way."""

import json

import pytest
from starlette.responses import Response

from holdfast.errors import CutOff, ModelMissing, Overflow, UpstreamError
from holdfast.messages import Answer, ChatRequest, Image, Message, Text
from holdfast.upstreams.http import Connection, Patience
from holdfast.upstreams.openai import OpenAI, split_url
from tests.upstreams.fake_servers import delta, events, server
from tests.upstreams.hostile import END, begin_response, hostile, piece, response

pytestmark = pytest.mark.anyio

CHAT = "/v1/chat/completions"
USAGE = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
REQUEST = ChatRequest("m", (Message.of("user", "Hi"),))
SSE = "text/event-stream"


@pytest.fixture
async def to():
    result = []

    def provider(url, **options):
        root, prefix = split_url(url)
        result.append(OpenAI(Connection(root, patience=Patience(tries=1, stall=5), **options), prefix))
        return result[-1]

    yield provider
    for item in result:
        await item.aclose()


async def collect_answer(provider, request=REQUEST, answer=None):
    answer = answer or Answer()
    async for chunk in provider.chat(request):
        answer.add(chunk)
    return answer


@pytest.mark.parametrize(
    ("url", "split"),
    [
        ("http://h:8000", ("http://h:8000", "/v1")),
        ("http://h:8000/", ("http://h:8000", "/v1")),
        ("http://h:8000/v1", ("http://h:8000", "/v1")),
        ("http://h:8000/v1/", ("http://h:8000", "/v1")),
        ("https://h/openai/v1", ("https://h/openai", "/v1")),
        ("https://h/v1beta/openai/", ("https://h/v1beta/openai", "")),
    ],
)
def test_the_address_may_end_in_v1_or_not(url, split):
    assert split_url(url) == split


async def test_usage_is_always_asked_for_and_arrives_after_the_reason(to):
    stream = events(delta(role="assistant", content=""), delta(content="Hi"), delta("stop"), USAGE)
    with server({CHAT: stream}) as known:
        asked = ChatRequest("m", REQUEST.messages, extra={"openai": {"stream_options": {"x": 1}}})
        answer = await collect_answer(to(known.url), asked)
    (body,) = known.asked(CHAT)
    assert body["stream"] is True
    assert body["stream_options"] == {"x": 1, "include_usage": True}
    assert (answer.message.text, answer.finish, answer.usage.prompt) == ("Hi", "stop", 9)


async def test_tools_and_pictures_reach_the_server(to):
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    seen = Message("user", (Text("What?"), Image(data="iVBORw0KGgo=", media_type="image/png")))
    with server({CHAT: events(delta("stop", content="x"))}) as known:
        await collect_answer(to(known.url), ChatRequest("m", (seen,), tools=(tool,)))
    (body,) = known.asked(CHAT)
    assert body["tools"] == [tool]
    assert body["messages"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="


async def test_tool_calls_in_pieces_become_whole(to):
    def call(**function):
        return delta(tool_calls=[{"index": 0, "id": "c1", "type": "function", "function": function}])

    stream = events(
        call(name="f", arguments=""), call(arguments='{"a"'), call(arguments=":1}"), delta("tool_calls")
    )
    with server({CHAT: stream}) as known:
        answer = await collect_answer(to(known.url))
    (result,) = answer.message.tool_calls
    assert (result.id, result.name, result.arguments) == ("c1", "f", '{"a":1}')
    assert answer.finish == "tool_calls"


async def test_the_end_mark_alone_ends_an_answer(to):
    with server({CHAT: events(delta(content="Hi"))}) as known:
        assert (await collect_answer(to(known.url))).finish == "stop"


async def test_a_reason_without_an_end_mark_ends_an_answer(to):
    with server({CHAT: events(delta("length", content="Hi"), done=False)}) as known:
        assert (await collect_answer(to(known.url))).finish == "length"


EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param(END, id="no end mark"),
        pytest.param(b"", id="connection broke"),
        pytest.param(piece(b'data: {"choi\n\n') + END, id="half an event"),
        pytest.param(piece(b'data: {"error":{"message":"boom"}}\n\n') + END, id="an error"),
    ],
)
async def test_answer_without_end_marker_is_cut_off_and_kept(to, rest):
    answer = Answer()
    with hostile([begin_response(SSE), piece(EVENT), rest]) as server_, pytest.raises(CutOff):
        await collect_answer(to(server_.url), answer=answer)
    assert answer.message.text == "Hi"


async def test_keep_alive_comments_are_not_part_of_answer(to):
    alive = piece(b": ping\n\n")
    with hostile(
        [begin_response(SSE), alive, piece(EVENT), alive, piece(b"data: [DONE]\n\n"), END]
    ) as server_:
        assert (await collect_answer(to(server_.url))).message.text == "Hi"


async def test_leading_error_event_is_a_refusal_with_its_code(to):
    error = {"error": {"code": 503, "message": "no slot"}}
    with server({CHAT: events(error)}) as known, pytest.raises(UpstreamError, match="no slot") as caught:
        await collect_answer(to(known.url))
    assert caught.value.status == 503


async def test_an_overflow_may_also_come_as_the_first_event(to):
    text = (
        "This model's maximum context length is 4096 tokens. However, your prompt contains 5000 input tokens."
    )
    error = {"error": {"code": 400, "message": text}}
    with server({CHAT: events(error)}) as known, pytest.raises(Overflow) as caught:
        await collect_answer(to(known.url))
    assert (caught.value.prompt_tokens, caught.value.window) == (5000, 4096)


async def test_a_server_that_does_not_stream_is_understood_as_well(to):
    whole = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1},
    }
    with server({CHAT: whole}) as known:
        answer = await collect_answer(to(known.url))
    assert (answer.message.text, answer.finish, answer.usage.prompt) == ("Hi", "stop", 9)


async def test_error_body_with_status_200_raises_error(to):
    with (
        server({}, unknown={"error": f"Unexpected endpoint or method. (POST {CHAT})"}) as known,
        pytest.raises(UpstreamError, match="Unexpected endpoint"),
    ):
        await collect_answer(to(known.url))


async def test_a_web_page_is_not_taken_for_an_answer(to):
    with (
        server({CHAT: Response("<html>", media_type="text/html")}) as known,
        pytest.raises(UpstreamError, match="no answer of a model server"),
    ):
        await collect_answer(to(known.url))


@pytest.mark.parametrize(
    "error",
    [
        {"message": "The model `m` does not exist.", "code": "model_not_found"},
        {"message": "The model `m` does not exist.", "type": "NotFoundError", "code": 404},
    ],
)
async def test_a_missing_model_is_missing(to, error):
    with server({CHAT: (404, {"error": error})}) as known, pytest.raises(ModelMissing):
        await collect_answer(to(known.url))


async def test_a_wrong_key_says_what_to_check(to):
    body = b'{"error":{"message":"Incorrect API key provided"}}'
    with (
        hostile([response(body, "401 Unauthorized")]) as server_,
        pytest.raises(UpstreamError, match="key") as caught,
    ):
        await collect_answer(to(server_.url, key="wrong"))
    assert caught.value.status == 401
    assert "upstream_key" in caught.value.hint
    assert b"Bearer wrong" in server_.requests[0]


async def test_models_are_listed_with_the_window_where_the_server_tells_it(to):
    data = [{"id": "a", "max_model_len": 4096}, {"id": "b", "context_window": 8192}, {"id": "c"}]
    with server({"/v1/models": {"data": data}}) as known:
        provider = to(known.url)
        windows = {info.name: info.running_window for info in await provider.models()}
        assert windows == {"a": 4096, "b": 8192, "c": None}
        assert (await provider.describe("b")).running_window == 8192
        with pytest.raises(ModelMissing):
            await provider.describe("d")


async def test_vllm_is_recognised_and_counts(to):
    routes = {
        "/v1/models": {"data": [{"id": "m", "max_model_len": 4096}]},
        "/tokenize": lambda body: {"count": len(body["messages"]) * 10, "max_model_len": 4096},
    }
    with server(routes) as known:
        provider = to(known.url)
        assert await provider.count(REQUEST) == 10
        assert await provider.count(REQUEST) == 10
    assert len(known.asked("/v1/models")) == 1
    assert known.asked("/tokenize")[0]["model"] == "m"


async def test_other_servers_cannot_count_and_are_asked_only_once(to):
    with server({"/v1/models": {"data": [{"id": "m"}]}}) as known:
        provider = to(known.url)
        assert await provider.count(REQUEST) is None
        assert await provider.count(REQUEST) is None
    assert [path for _, path, _ in known.requests] == ["/v1/models"]


async def test_a_vllm_without_the_route_is_not_asked_again(to):
    with server({"/v1/models": {"data": [{"id": "m", "max_model_len": 1}]}}) as known:
        provider = to(known.url)
        assert await provider.count(REQUEST) is None
        assert await provider.count(REQUEST) is None
    assert len(known.asked("/tokenize")) == 1


async def test_vectors_come_in_the_order_of_the_texts(to):
    data = [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]
    with server({"/v1/embeddings": {"data": data, "usage": {"prompt_tokens": 4}}}) as known:
        results = await to(known.url).embed("m", ["a", "b"])
        assert (results.vectors, results.tokens) == (((1.0,), (2.0,)), 4)
        with pytest.raises(UpstreamError):
            await to(known.url).embed("m", ["a", "b", "c"])


async def test_routes_are_passed_on_below_the_servers_own_prefix(to):
    with server({"/deep/models": {"data": []}, "/v1/models": {"data": [1]}}) as known:
        provider = to(known.url)
        forwarded = await provider.forward("GET", "/v1/models", {})
        assert json.loads(b"".join([data async for data in forwarded.stream])) == {"data": [1]}
        deep = OpenAI(Connection(f"{known.url}/deep"), "")
        forwarded = await deep.forward("GET", "/v1/models", {})
        assert json.loads(b"".join([data async for data in forwarded.stream])) == {"data": []}
        await deep.aclose()
