"""The routes that cut texts into a model's own tokens and back."""

import heapq
import inspect
import re
import textwrap

import pytest

from holdfast.testing.provider import ScriptedProvider
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.server.conftest import running

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


def split_pieces(text):
    """A tokenizer of its own: words in pieces of up to five letters."""
    return [word[at : at + 5] for word in re.findall(r"\w+|[^\w\s]", text) for at in range(0, len(word), 5)]


def test_after_twenty_answers_the_estimate_is_within_three_percent(tmp_path):
    texts = [part for module in (textwrap, heapq) for part in inspect.getsource(module).split("\n\n") if part]
    fake = FakeOllama(
        lambda call: texts[len(call.prompt) % len(texts)][:300] or "Yes.",
        models=[FakeModel(num_ctx=32_768)],
        tokenize=split_pieces,
    )
    text, errors = [{"role": "system", "content": "You know the project."}], []
    with fake.served() as url, running(tmp_path, Ollama(Connection(url))) as holdfast:
        for number in range(25):
            text.append({"role": "user", "content": texts[7 * number % len(texts)][:800]})
            body = {"model": "fake:latest", "messages": text, "stream": False}
            response = holdfast.client.post("/api/chat", json=body)
            assert response.status_code == 200, response.text
            counted = response.json()["prompt_eval_count"]
            errors.append(int(response.headers["x-holdfast-tokens"]) / counted - 1)
            text.append(response.json()["message"])
    assert max(map(abs, errors[:3])) > 0.03, "the tokenizer is none that is known"
    assert max(map(abs, errors[20:])) < 0.03
