"""Gemini and Voyage: their protocols, their limits, and what is told when they refuse."""

import logging
from contextlib import ExitStack

import numpy as np
import pytest

from holdfast.backends.hosted_embedders import GeminiEmbedder, VoyageEmbedder
from holdfast.errors import EmbedderError
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions, open_embedder
from holdfast.memory.embedder_http import EmbeddingClient, OpenAIEmbedder
from holdfast.memory.embedders import EmbedderBusy
from holdfast.testing.embedders import FakeGemini, FakeOpenAI, FakeVoyage

KEY = "very-secret"


@pytest.fixture(scope="module")
def gemini():
    fake = FakeGemini(key=KEY)
    with fake.served() as fake.url:
        yield fake


@pytest.fixture(scope="module")
def voyage():
    fake = FakeVoyage(key=KEY, dimensions=1024)
    with fake.served() as fake.url:
        yield fake


@pytest.fixture
def to():
    """The embedder at a location, closed after the test."""
    with ExitStack() as stack:

        def open_checked(location, **options):
            embedder = open_embedder(EmbedderOptions(location, **{"key": KEY, **options}))
            stack.callback(embedder.close)
            return embedder

        yield open_checked


def check_refusal(call, *says):
    with pytest.raises(EmbedderError) as caught:
        call()
    assert all(word in str(caught.value) for word in says), str(caught.value)
    assert caught.value.hint
    assert KEY not in str(caught.value)


def test_gemini_is_asked_for_documents_and_questions_in_their_own_ways(gemini, to):
    embedder = to(f"gemini+{gemini.url}")
    assert (embedder.identity.provider, embedder.identity.model) == ("gemini", "gemini-embedding-001")
    assert embedder.identity.dimensions == 768
    assert embedder.identity.endpoint == f"{gemini.url}/v1beta"
    gemini.requests.clear()
    embedder.embed(["a note"])
    embedder.question("a question")
    assert [asked.path for asked in gemini.requests] == [
        "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    ] * 2
    sent = [asked.body["requests"][0] for asked in gemini.requests]
    assert [item["taskType"] for item in sent] == ["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
    assert all(entry["outputDimensionality"] == 768 for entry in sent)


def test_gemini_takes_a_hundred_texts_at_a_time(gemini, to):
    embedder = to(f"gemini+{gemini.url}/v1beta", dimensions=64)
    gemini.requests.clear()
    assert embedder.embed([f"note {number}" for number in range(101)]).shape == (101, 64)
    assert [len(asked.body["requests"]) for asked in gemini.requests] == [100, 1]


def test_gemini_says_what_is_wrong_with_key_model_and_dimensions(gemini, to):
    location = f"gemini+{gemini.url}"
    check_refusal(lambda: to(location, key="wrong"), "API key not valid", "embedder_key")
    check_refusal(lambda: to(location, model="gemini-2.5-flash"), "not found", "embedder_model")
    check_refusal(lambda: to(location, dimensions=4000), "invalid argument", "embedder_dimensions")


def test_voyage_is_asked_for_documents_and_questions_in_their_own_ways(voyage, to):
    embedder = to(f"voyage+{voyage.url}")
    assert (embedder.identity.model, embedder.identity.dimensions) == ("voyage-4", 1024)
    voyage.requests.clear()
    embedder.embed(["a note"])
    embedder.question("a question")
    assert [asked.body["input_type"] for asked in voyage.requests] == ["document", "query"]
    assert all("output_dimension" not in asked.body for asked in voyage.requests)
    assert to(f"voyage+{voyage.url}/v1", dimensions=256).identity.dimensions == 256
    check_refusal(
        lambda: to(f"voyage+{voyage.url}", dimensions=77), "output_dimension", "embedder_dimensions"
    )
    check_refusal(lambda: to(f"voyage+{voyage.url}", key="wrong"), "401", "embedder_key")
    check_refusal(lambda: to(f"voyage+{voyage.url}", model="other"), "not supported", "embedder_model")


def test_voyage_never_gets_more_texts_or_tokens_than_it_takes():
    fake = FakeVoyage()
    with fake.served() as url:
        fake.most, fake.tokens = VoyageEmbedder.batch, VoyageEmbedder.together // 4 + VoyageEmbedder.batch
        embedder = VoyageEmbedder.open(EmbeddingClient(url))
        fake.requests.clear()
        vectors = embedder.embed(["short"] * 200 + ["long " * 2_000] * 50)
        assert vectors.shape == (250, 64)
        assert vectors[0] == pytest.approx(vectors[199])
        assert len(fake.requests) == 4
        embedder.close()


@pytest.mark.parametrize(
    ("fake", "kind"),
    [(FakeGemini, GeminiEmbedder), (FakeVoyage, VoyageEmbedder), (FakeOpenAI, OpenAIEmbedder)],
)
def test_rate_limit_is_awaited_once_without_blaming_texts(fake, kind):
    fake, pauses = fake(), []
    with fake.served() as url:
        embedder = kind.open(EmbeddingClient(url, sleep=pauses.append))
        fake.busy, fake.retry_after = 1, "2"
        assert len(embedder.embed(["one"])) == 1
        fake.busy = 2
        with pytest.raises(EmbedderBusy, match="429"):
            embedder.embed(["two"])
        assert pauses == [2.0, 2.0]
        embedder.close()


def test_unsupported_number_of_dimensions_is_reported():
    stubborn = FakeOpenAI()
    stubborn.always = 64
    with stubborn.served() as url:
        options = EmbedderOptions(f"openai+{url}", dimensions=32)
        check_refusal(
            lambda: open_embedder(options), "64 dimensions, and 32 were asked for", "embedder_dimensions"
        )
    with FakeOpenAI().served() as url:
        embedder = open_embedder(EmbedderOptions(f"openai+{url}", dimensions=32))
        assert embedder.embed(["one"]).shape == (1, 32)
        embedder.close()


def test_the_chosen_embedder_hands_questions_on_and_notes_their_failures(gemini, caplog):
    caplog.set_level(logging.DEBUG)
    chosen = ChosenEmbedder(EmbedderOptions(f"gemini+{gemini.url}", key=KEY))
    embedder = chosen.current()
    assert np.linalg.norm(embedder.question("where?")) == pytest.approx(1, abs=1e-5)
    assert chosen.ready() is not None
    assert embedder.batches is not None
    gemini.key = "another"
    with pytest.raises(EmbedderError):
        embedder.question("where?")
    gemini.key = KEY
    assert "API key not valid" in chosen.trouble
    assert KEY not in caplog.text
    chosen.close()
