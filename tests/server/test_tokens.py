"""The routes that cut texts into a model's own tokens and back."""

import pytest

from holdfast.testing.provider import ScriptedProvider
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.base import ModelInfo

TEXT = "Straße Nr. 7: »Größe« 你好 🚀"


@pytest.fixture(scope="module")
def vocabulary(weights) -> Vocabulary:
    return Vocabulary.from_gguf(weights)


def test_a_text_is_cut_and_put_together_again(serve, vocabulary):
    client = serve(ScriptedProvider(vocabulary=vocabulary)).client
    cut = client.post("/api/tokenize", json={"model": "scripted", "content": TEXT}).json()
    assert cut["tokens"] == Tokenizer(vocabulary).encode(TEXT)
    assert cut["model"] == "scripted"
    assert cut["total_duration"] >= cut["load_duration"] > 0
    back = client.post("/api/detokenize", json={"model": "scripted", "tokens": cut["tokens"]}).json()
    assert back["content"] == TEXT
    assert client.post("/api/tokenize", json={"model": "scripted", "content": ""}).json()["tokens"] == []


def test_nonsense_is_refused(serve, vocabulary):
    client = serve(ScriptedProvider(vocabulary=vocabulary)).client
    for path, body, status in [
        ("/api/tokenize", {"model": "nobody", "content": TEXT}, 404),
        ("/api/tokenize", {"model": "scripted"}, 400),
        ("/api/tokenize", {"content": TEXT}, 400),
        ("/api/tokenize", {"model": "scripted", "content": [TEXT]}, 400),
        ("/api/detokenize", {"model": "scripted", "tokens": "many"}, 400),
        ("/api/detokenize", {"model": "scripted", "tokens": [-1]}, 400),
        ("/api/detokenize", {"model": "scripted", "tokens": [10**9]}, 400),
        ("/api/detokenize", {"model": "scripted", "tokens": [True]}, 400),
    ]:
        response = client.post(path, json=body)
        assert (response.status_code, isinstance(response.json()["error"], str)) == (status, True), body


def test_a_server_that_tells_nothing_of_its_tokens_is_said_to(serve):
    client = serve(ScriptedProvider(models=[ModelInfo("scripted")])).client
    for path, body in (("/api/tokenize", {"content": TEXT}), ("/api/detokenize", {"tokens": [1]})):
        response = client.post(path, json={"model": "scripted", **body})
        assert response.status_code == 501
        assert "does not give" in response.json()["error"]
