"""One suite over every embedder: the same can be relied on, wherever vectors come from."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from holdfast.backends.hosted_embedders import GeminiEmbedder, VoyageEmbedder
from holdfast.memory.embedder_http import EmbeddingClient, OllamaEmbedder, OpenAIEmbedder
from holdfast.memory.embedder_local import GgufEmbedder, HashingEmbedder, UniversalSentenceEncoder
from holdfast.memory.embedders import Embedder
from holdfast.testing.embedders import FakeGemini, FakeVoyage
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.memory.tiny_model import write_model
from tests.upstreams.fake_servers import server

ODD = ["", "  \n", "!!!", "🙂🙂", "a\0b", "half a \ud83d pair", "lang " * 30_000, "ohneleerzeichen" * 5_000]


def embeddings(body):
    """Right, but in another order than they were asked for."""
    vectors = HashingEmbedder(64).embed(body["input"]).tolist()
    return {"data": [{"index": index, "embedding": row} for index, row in enumerate(vectors)][::-1]}


@pytest.fixture(
    scope="module",
    params=[
        "hashing",
        "ollama",
        "openai",
        "gemini",
        "voyage",
        pytest.param("gguf", marks=pytest.mark.real),
        pytest.param("embedded", marks=pytest.mark.real),
    ],
)
def embedder(request, tmp_path_factory) -> Iterator[Embedder]:
    if request.param == "hashing":
        yield HashingEmbedder()
    elif request.param == "embedded":
        encoder = UniversalSentenceEncoder(log=tmp_path_factory.mktemp("embedder") / "log")
        yield encoder
        encoder.close()
    elif request.param == "gguf":
        folder = tmp_path_factory.mktemp("gguf")
        model = GgufEmbedder.open(write_model(folder / "tiny.gguf"), log=folder / "log")
        yield model
        model.close()
    elif request.param == "gemini":
        with FakeGemini().served() as url:
            opened = GeminiEmbedder.open(EmbeddingClient(url), dimensions=64)
            yield opened
            opened.close()
    elif request.param == "voyage":
        with FakeVoyage().served() as url:
            opened = VoyageEmbedder.open(EmbeddingClient(url))
            yield opened
            opened.close()
    elif request.param == "ollama":
        with FakeOllama(models=[FakeModel("nomic-embed-text:latest")]).served() as url:
            opened = OllamaEmbedder.open(EmbeddingClient(url))
            yield opened
            opened.close()
    else:
        with server({"/v1/embeddings": embeddings}) as known:
            yield (opened := OpenAIEmbedder.open(EmbeddingClient(known.url)))
            opened.close()


def test_each_text_has_one_row_of_length_one(embedder):
    vectors = embedder.embed(["The gateway runs on a Mac Studio.", "Der Bäcker öffnet um sechs."])
    assert vectors.shape == (2, embedder.identity.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)


def test_question_has_single_normalised_vector_close_to_same_text(embedder):
    (asked,) = embedder.question("where is the gateway server")
    same, other = embedder.embed(["where is the gateway server", "bake bread slowly"])
    assert np.linalg.norm(asked) == pytest.approx(1, abs=1e-5)
    assert asked @ same > asked @ other


def test_nothing_asked_is_nothing_answered(embedder):
    assert embedder.embed([]).shape == (0, embedder.identity.dimensions)


def test_batch_vectors_equal_single_vectors_in_order(embedder):
    texts = [f"note {number} about topic {number * 7}" for number in range(70)]
    together = embedder.embed(texts)
    for place in (0, 1, 15, 16, 31, 32, 63, 64, 69):
        assert together[place] == pytest.approx(embedder.embed([texts[place]])[0], abs=1e-5)


def test_texts_that_share_words_are_nearer_than_texts_that_share_none(embedder):
    item, near, far = embedder.embed(
        [
            "the gateway server in Kiel is called arion",
            "arion is the gateway server in Kiel",
            "bake bread slowly",
        ]
    )
    assert item @ near > item @ far


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text[:12]))
def test_odd_texts_have_vectors_too(embedder, text):
    (vector,) = embedder.embed([text])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_several_threads_may_ask_at_once(embedder):
    texts = [f"thread {number}" for number in range(8)]
    with ThreadPoolExecutor(4) as threads:
        rows = list(threads.map(lambda text: embedder.embed([text])[0], texts))
    assert np.stack(rows) == pytest.approx(embedder.embed(texts), abs=1e-5)


def test_the_identity_stays_and_names_no_secret(embedder):
    assert embedder.identity == embedder.identity
    assert len(embedder.identity.key) == 16
    assert "@" not in embedder.identity.endpoint
