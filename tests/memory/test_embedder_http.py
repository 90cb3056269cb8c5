"""Servers of embeddings, with all that they get wrong: each failure says what happened and what to do."""

import logging
from contextlib import ExitStack

import pytest

from holdfast.errors import ConfigError, EmbedderError
from holdfast.memory.embedder_http import EmbeddingClient, OllamaEmbedder, OpenAIEmbedder
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.upstreams.fake_servers import server
from tests.upstreams.hostile import SILENCE, hostile, response

GOOD = response(b'{"embeddings": [[1, 2, 3]]}')
KEY = "sk-very-secret"


@pytest.fixture
def to():
    """A connection to an address, closed after the test."""
    with ExitStack() as stack:

        def connection(url, **options):
            client = EmbeddingClient(url, **options)
            stack.callback(client.close)
            return client

        yield connection


def refused(call, *says):
    with pytest.raises(EmbedderError) as caught:
        call()
    assert all(word in str(caught.value) for word in says), str(caught.value)
    assert caught.value.hint


def test_the_dimensions_are_learned_by_asking_once(to):
    with hostile([GOOD]) as server:
        opened = OllamaEmbedder.open(to(server.url), "small")
        assert opened.identity.dimensions == 3
        assert opened.identity.endpoint == server.url
        assert len(server.requests) == 1


def test_a_model_that_is_not_there_is_to_be_pulled(to):
    with FakeOllama(models=[FakeModel("chat")]).served() as url:
        refused(
            lambda: OllamaEmbedder.open(to(url), "nomic-embed-text"), "404", "`ollama pull nomic-embed-text`"
        )


def test_a_model_that_cannot_embed_is_named_as_that(to):
    body = b'{"error": "this model does not support embeddings"}'
    with hostile([response(body, "501 Not Implemented")]) as server:
        refused(
            lambda: OllamaEmbedder.open(to(server.url), "chat"),
            "does not support",
            "Is chat an embedding model?",
        )


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"embeddings": []}', "nothing"),
        (b"{}", "nothing"),
        (b"[]", "nothing"),
        (b'{"embeddings": [[0, 0, 0]]}', "zeros"),
        (b'{"embeddings": [[1, NaN, 3]]}', "NaN"),
        (b'{"embeddings": [[1, 1e999, 3]]}', "infinite"),
        (b'{"embeddings": [[1, 2], [3, 4]]}', "2 vectors for 1 texts"),
        (b"<html>", "no JSON"),
        (b"[" * 100_000, "no JSON"),
    ],
)
def test_a_server_that_answers_nonsense_is_refused_when_it_is_opened(to, body, says):
    with hostile([response(body)]) as server:
        refused(lambda: OllamaEmbedder.open(to(server.url), "small"), says)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "nothing"),
        ([{"index": 0}], "no table"),
        (["x"], "nothing"),
        ([{"index": 0, "embedding": [1, 2]}], "2 dimensions in the place of 3"),
        ([{"index": 0, "embedding": [0, 0, 0]}], "zeros"),
    ],
)
def test_a_server_that_begins_to_answer_nonsense_is_refused_then(to, data, says):
    answers = [{"data": [{"index": 0, "embedding": [1, 2, 3]}]}, {"data": data}]
    with server({"/v1/embeddings": lambda _: answers.pop(0)}) as value:
        opened = OpenAIEmbedder.open(to(value.url), model="m")
        refused(lambda: opened.embed(["text"]), says)


def test_a_server_that_hangs_is_given_up(to):
    with hostile([SILENCE]) as server:
        refused(
            lambda: OllamaEmbedder.open(to(server.url, timeout=0.2), "small"), "silent", "embedder_timeout"
        )
        assert len(server.requests) == 1


def test_nobody_there_is_said_after_a_second_try(to):
    pauses = []
    http = to("http://127.0.0.1:1", sleep=pauses.append)
    refused(lambda: OllamaEmbedder.open(http, "small"), "no server of embeddings answers", "Start it")
    assert len(pauses) == 1


def test_a_connection_that_breaks_is_tried_once_more(to):
    with hostile([], [GOOD]) as server:
        http = to(server.url, sleep=lambda _: None)
        assert OllamaEmbedder.open(http, "small").identity.dimensions == 3
    with hostile([]) as server:
        refused(lambda: OllamaEmbedder.open(to(server.url, sleep=lambda _: None), "small"), "hung up")
        assert len(server.requests) == 2


def test_busy_server_is_retried_after_stated_delay_within_limit(to):
    pauses = []
    busy = response(b"{}", "503 Service Unavailable", retry_after="3600")
    with hostile([busy], [GOOD]) as server:
        OllamaEmbedder.open(to(server.url, sleep=pauses.append), "small")
    assert pauses == [5.0]


def test_key_headers_and_password_go_to_the_server_and_nowhere_else(to, caplog):
    caplog.set_level(logging.DEBUG)
    angry = response(f'{{"error": {{"message": "bad key {KEY} of pass-word"}}}}'.encode(), "401 Unauthorized")
    with hostile([angry]) as server:
        url = server.url.replace("//", "//me:pass-word@")
        http = to(url, headers={"X-Team": "team-secret"})
        refused(lambda: OpenAIEmbedder.open(http, model="m"), "401", "embedder_key", "bad key")
        with pytest.raises(EmbedderError) as caught:
            OpenAIEmbedder.open(to(server.url, key=KEY), model="m")
        sent = b"".join(server.requests).lower()
        assert b"authorization: basic bwu6cgfzcy13b3jk" in sent
        assert b"x-team: team-secret" in sent
        assert f"authorization: bearer {KEY}".encode() in sent
        assert KEY not in str(caught.value)
        assert "•••• of" in str(caught.value)
        assert "@" not in http.url
    assert not any(secret in caplog.text for secret in (KEY, "pass-word", "team-secret"))


@pytest.mark.parametrize(
    "bad", [{"key": "line\nbreak"}, {"headers": {"X-Team": "ä"}}, {"headers": {"ä": "x"}}]
)
def test_what_http_cannot_carry_is_said_without_telling_it(to, bad):
    with pytest.raises(ConfigError) as caught:
        to("http://127.0.0.1:1", **bad)
    assert "break" not in caught.value.message


def test_a_redirect_is_not_followed(to):
    with hostile([response(b"", "301 Moved Permanently", location="http://127.0.0.1:1/")]) as server:
        refused(lambda: OllamaEmbedder.open(to(server.url), "small"), "elsewhere")


def test_once_closed_it_says_so(to):
    with hostile([GOOD]) as server:
        opened = OllamaEmbedder.open(to(server.url), "small")
        opened.close()
        with pytest.raises(EmbedderError, match="closed"):
            opened.embed(["late"])
