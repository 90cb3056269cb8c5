"""LM Studio's two lists of models. It says 200 to every path, also to those it does not have."""

import pytest

from holdfast.errors import ModelMissing
from holdfast.messages import ChatRequest, Message
from holdfast.upstreams.http import Connection, Patience
from holdfast.upstreams.openai import LMStudio
from tests.upstreams.fake_servers import server

pytestmark = pytest.mark.anyio

NEW = {
    "models": [
        {
            "key": "qwen/qwen3-4b",
            "type": "llm",
            "architecture": "qwen3",
            "quantization": {"name": "Q4_K_M", "bits_per_weight": 4},
            "params_string": "4B",
            "size_bytes": 2_500_000_000,
            "max_context_length": 32768,
            "loaded_instances": [
                {"id": "qwen/qwen3-4b", "config": {"context_length": 8192}},
                {"id": "qwen/qwen3-4b:2", "config": {"context_length": 4096}},
            ],
            "capabilities": {"vision": False, "trained_for_tool_use": True},
        },
        {"key": "nomic", "type": "embedding", "max_context_length": 2048, "loaded_instances": []},
    ]
}
OLD = {
    "data": [
        {
            "id": "qwen2-vl-7b",
            "type": "vlm",
            "arch": "qwen2_vl",
            "quantization": "4bit",
            "state": "loaded",
            "max_context_length": 32768,
            "loaded_context_length": 4096,
        },
        {"id": "llama", "type": "llm", "arch": "llama", "state": "not-loaded", "max_context_length": 131072},
    ]
}


def nothing(path):
    return {"error": f"Unexpected endpoint or method. ({path})"}


@pytest.fixture
async def to():
    result = []

    def provider(url):
        result.append(LMStudio(Connection(url, patience=Patience(tries=1))))
        return result[-1]

    yield provider
    for item in result:
        await item.aclose()


async def test_newer_versions_tell_what_is_loaded_and_the_smallest_window_counts(to):
    with server({"/api/v1/models": NEW}, unknown=nothing("GET")) as known:
        provider = to(known.url)
        chat, embedding = await provider.models()
        by_instance = await provider.describe("qwen/qwen3-4b:2")
    assert (chat.trained_window, chat.running_window) == (32768, 4096)
    assert (chat.family, chat.parameter_size, chat.quantization) == ("qwen3", "4B", "Q4_K_M")
    assert chat.capabilities == ("completion", "tools")
    assert (embedding.running_window, embedding.capabilities) == (None, ("embedding",))
    assert by_instance == chat


async def test_older_versions_have_the_other_list(to):
    with server({"/api/v0/models": OLD}, unknown=nothing("GET")) as known:
        seeing, other = await to(known.url).models()
    assert (seeing.trained_window, seeing.running_window) == (32768, 4096)
    assert seeing.capabilities == ("completion", "vision")
    assert (other.family, other.running_window) == ("llama", None)


async def test_missing_model_is_reported_without_attempting_to_count(to):
    with server({"/api/v1/models": NEW}) as known:
        provider = to(known.url)
        with pytest.raises(ModelMissing):
            await provider.describe("nope")
        assert await provider.count(ChatRequest("m", (Message.of("user", "x"),))) is None
    assert [path for _, path, _ in known.requests] == ["/api/v1/models"]
