"""OpenAI's older completions: passed on where the server speaks them, put into Ollama's words where not."""

import json
from contextlib import ExitStack

import openai
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from holdfast.messages import Scope
from holdfast.testing.provider import serve_app
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from holdfast.upstreams.openai import OpenAI
from tests.fakes.ollama import FakeOllama
from tests.server.conftest import running

PATH = "/v1/completions"


@pytest.fixture(scope="module")
def fake():
    server = FakeOllama()
    with server.served() as url:
        server.url = url
        yield server


@pytest.fixture(scope="module")
def holdfast(fake, tmp_path_factory):
    with running(tmp_path_factory.mktemp("completions"), Ollama(Connection(fake.url))) as server:
        yield server


@pytest.fixture(scope="module")
def client(holdfast):
    with openai.OpenAI(base_url=f"{holdfast.url}/v1", api_key="none", max_retries=0) as result:
        yield result


def test_ollama_is_asked_in_its_own_words_and_nothing_is_kept(holdfast, client, fake):
    fake.requests.clear()
    answer = client.completions.create(
        model="fake", prompt="Once upon", max_tokens=3, temperature=0, stop=["\n"], echo=True
    )
    assert answer.choices[0].text.startswith("Once upon")
    assert len(answer.choices[0].text) > len("Once upon")
    assert answer.usage.completion_tokens > 0
    (asked,) = [body for path, body in fake.requests if path == "/api/generate"]
    assert (asked["prompt"], asked["raw"], asked["truncate"], asked["shift"]) == (
        *("Once upon", True),
        *(False, False),
    )
    assert asked["options"] == {
        "num_predict": 3,
        "temperature": 0,
        "stop": ["\n"],
        "num_ctx": asked["options"]["num_ctx"],
    }
    assert not [path for path, _ in fake.requests if path.startswith("/v1")]
    assert holdfast.store.log.recent(Scope()) == []


def test_a_stream_has_the_same_words_and_its_usage(client):
    whole = client.completions.create(model="fake", prompt=["Once upon"])
    pieces = list(
        client.completions.create(
            model="fake", prompt="Once upon", stream=True, stream_options={"include_usage": True}
        )
    )
    text = "".join(piece.choices[0].text for piece in pieces if piece.choices)
    assert text == whole.choices[0].text
    assert [piece.choices[0].finish_reason for piece in pieces if piece.choices][-1] == "stop"
    assert pieces[-1].usage == whole.usage


@pytest.mark.parametrize(
    "fields",
    [
        {"n": 2},
        {"best_of": 3},
        {"logprobs": 5},
        {"prompt": ["a", "b"]},
        {"prompt": [1, 2]},
        {"prompt": None},
        {"max_tokens": []},
    ],
    ids=str,
)
def test_what_cannot_be_done_is_refused_clearly(holdfast, fields):
    response = holdfast.client.post(PATH, json={"model": "fake", "prompt": "hi", **fields})
    assert response.status_code == 400
    assert response.json()["error"]["param"] == next(iter(fields))


def test_prompt_larger_than_window_is_rejected_instead_of_truncated(holdfast, client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.completions.create(model="fake", prompt="word " * 9000)
    assert caught.value.code == "context_length_exceeded"


def test_a_model_that_is_not_there_is_missing(client):
    with pytest.raises(openai.NotFoundError):
        client.completions.create(model="nobody", prompt="hi")


def test_a_server_that_speaks_them_answers_by_itself(serve, upstream_of):
    url, asked = upstream_of({"id": "cmpl-1", "choices": [{"text": "their own", "index": 0}], "x": 1})
    holdfast = serve(OpenAI(Connection(url)))
    body = {"model": "m", "prompt": ["a", "b"], "n": 2, "unknown": True}
    assert holdfast.client.post(PATH, json=body).json()["x"] == 1
    assert json.loads(asked[-1]) == body


@pytest.fixture
def upstream_of():
    """A server that gives the same answer to every request for a completion."""
    with ExitStack() as stack:

        def start(answer):
            asked = []

            async def complete(request: Request) -> JSONResponse:
                asked.append(await request.body())
                return JSONResponse(answer)

            app = Starlette(routes=[Route(PATH, complete, methods=["POST"])])
            return stack.enter_context(serve_app(app)), asked

        yield start
