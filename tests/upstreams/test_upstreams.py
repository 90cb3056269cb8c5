"""Which server answers: the one that is found, looked for again while there is none, else our own."""

import asyncio

import pytest

from holdfast.config import load
from holdfast.errors import ConfigError, ModelMissing
from holdfast.messages import ChatRequest, Message, Text
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.routing import Upstreams
from holdfast.wiring import build_upstreams, look_around
from tests.fakes.ollama import FakeOllama

pytestmark = pytest.mark.anyio


class Finder:
    """Finds what it was told to, one after the other; counts how often it was sent."""

    def __init__(self, *results):
        self.found = list(results)
        self.sent = 0

    async def __call__(self):
        self.sent += 1
        await asyncio.sleep(0)
        return self.found.pop(0) if self.found else None


async def answer_of(provider, model="scripted"):
    request = ChatRequest(model, (Message("user", (Text("Hello"),)),))
    return "".join([chunk.text async for chunk in provider.chat(request)])


async def test_a_found_server_answers_for_every_model_but_the_embedded_one():
    server, embedded = ScriptedProvider(), ScriptedProvider()
    upstreams = Upstreams(Finder(server), embedded)
    await answer_of(await upstreams.route("scripted"))
    assert (len(server.requests), len(embedded.requests)) == (1, 0)
    assert await upstreams.route("embedded") is embedded
    assert await upstreams.route("embedded:latest") is embedded


async def test_without_a_server_only_the_embedded_model_is_there():
    embedded = ScriptedProvider()
    upstreams = Upstreams(Finder(), embedded)
    assert await upstreams.main() is embedded
    with pytest.raises(ModelMissing, match="No model server"):
        await upstreams.route("llama3")


async def test_later_started_server_is_found_without_constant_probing():
    embedded = ScriptedProvider()
    eager = Upstreams(Finder(None, ScriptedProvider()), embedded, look_again=-1.0)
    assert await eager.main() is embedded
    assert await eager.main() is not embedded
    patient = Upstreams(Finder(None, ScriptedProvider()), embedded)
    assert await patient.main() is embedded
    assert await patient.main() is embedded


async def test_many_at_once_look_only_once():
    finder = Finder(ScriptedProvider())
    upstreams = Upstreams(finder, ScriptedProvider())
    results = await asyncio.gather(*(upstreams.main() for _ in range(5)))
    assert finder.sent == 1
    assert len(set(map(id, results))) == 1


def settings(tmp_path, **given):
    return load({"home": tmp_path, **given}, {}).settings


async def test_holdfast_does_not_look_for_a_server_at_its_own_address(tmp_path):
    results = await look_around(settings(tmp_path, port=11434))
    assert all("11434" not in place for place, _ in results.tried)
    upstreams = build_upstreams(settings(tmp_path, upstream="http://127.0.0.1:11435"))
    with pytest.raises(ConfigError, match="own address"):
        await upstreams.main()


async def test_a_named_model_file_is_the_embedded_model(tmp_path):
    upstreams = build_upstreams(settings(tmp_path, upstream=f"embedded:{tmp_path / 'my.gguf'}"))
    assert "my.gguf" in (await upstreams.route("embedded")).location
    assert await upstreams.main() is await upstreams.route("embedded")


async def test_a_named_server_is_connected_to(tmp_path):
    with FakeOllama().served() as address:
        upstreams = build_upstreams(settings(tmp_path, upstream=address))
        assert (await upstreams.main()).name == "ollama"
        await upstreams.aclose()


async def test_embedding_models_come_last_and_are_never_the_default():
    models = [
        ModelInfo("nomic-embed-text:latest", family="nomic-bert", running_window=2048),
        ModelInfo("bge-m3", family="bert"),
        ModelInfo("both", capabilities=("completion", "embedding")),
        ModelInfo("gemma-vectors", family="gemma3", capabilities=("embedding",)),
        ModelInfo("qwen3:4b", family="qwen3"),
    ]
    upstreams = Upstreams(Finder(ScriptedProvider(models=models)), ScriptedProvider())
    names = [model.name for model in await upstreams.models()]
    assert names == ["both", "qwen3:4b", "nomic-embed-text:latest", "bge-m3", "gemma-vectors"]
    assert await upstreams.usual_model() == "both"
