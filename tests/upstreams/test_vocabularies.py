"""Where a server cuts texts, or gives its model's vocabulary away, we get the same tokens from it."""

import json

import pytest

from holdfast.errors import ModelMissing
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary, VocabularyError
from holdfast.upstreams.http import Connection, Patience
from holdfast.upstreams.ollama import Ollama
from holdfast.upstreams.openai import OpenAI
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.upstreams.fake_servers import server

pytestmark = pytest.mark.anyio

TEXT = "Straße Nr. 7: »Größe« — 你好 🚀\n\tdef f(x): return x**2  # <|im_end|>"


@pytest.mark.real
async def test_the_real_server_and_the_models_vocabulary_cut_alike(llamacpp, weights):
    tokens = await llamacpp.tokenize("embedded", TEXT)
    assert tokens == Tokenizer(Vocabulary.from_gguf(weights)).encode(TEXT)
    assert await llamacpp.detokenize("embedded", tokens) == TEXT
    assert await llamacpp.vocabulary("embedded") is None


async def vocabulary_of(facts, model="fake"):
    with FakeOllama(models=[FakeModel(facts=facts)]).served() as url:
        provider = Ollama(Connection(url, patience=Patience(tries=1)))
        try:
            return await provider.vocabulary(model)
        finally:
            await provider.aclose()


async def test_ollama_gives_the_whole_vocabulary_away(weights):
    known = Vocabulary.from_gguf(weights)
    assert await vocabulary_of(json.loads(json.dumps(known.to_metadata()))) == known


async def test_a_vocabulary_that_is_none_is_said_to_be_none():
    with pytest.raises(VocabularyError):
        await vocabulary_of({})
    with pytest.raises(VocabularyError):
        await vocabulary_of({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": "many"})
    with pytest.raises(ModelMissing):
        await vocabulary_of({}, model="nobody")


async def test_ollama_itself_cuts_no_texts():
    provider = Ollama(Connection("http://127.0.0.1:9"))
    assert await provider.tokenize("fake", TEXT) is None
    assert await provider.detokenize("fake", [1]) is None
    await provider.aclose()


async def test_vllm_cuts_texts_and_others_are_asked_only_once():
    routes = {
        "/v1/models": {"data": [{"id": "m", "max_model_len": 4096}]},
        "/tokenize": lambda body: {"tokens": [len(word) for word in body["prompt"].split()], "count": 2},
        "/detokenize": lambda body: {"prompt": " ".join("x" * token for token in body["tokens"])},
    }
    with server(routes) as known:
        provider = OpenAI(Connection(known.url, patience=Patience(tries=1)))
        assert await provider.tokenize("m", "ab cde") == [2, 3]
        assert await provider.detokenize("m", [2, 3]) == "xx xxx"
        assert known.asked("/tokenize")[0]["add_special_tokens"] is False
        await provider.aclose()
    with server({"/v1/models": {"data": [{"id": "m"}]}}) as known:
        provider = OpenAI(Connection(known.url, patience=Patience(tries=1)))
        assert await provider.tokenize("m", "ab") is None
        assert await provider.detokenize("m", [1]) is None
        assert known.asked("/tokenize") == []
        await provider.aclose()
