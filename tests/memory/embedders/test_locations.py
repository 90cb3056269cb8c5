"""What the setting `embedder` can say: nothing outside of this machine unless it is named."""

from pathlib import Path

import pytest

from holdfast.config import load
from holdfast.errors import ConfigError
from holdfast.memory.embedders.locations import EmbedderLocation, parse_embedder_location
from holdfast.server.settings import find_problems


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("", EmbedderLocation("auto")),
        (" auto ", EmbedderLocation("auto")),
        ("off", EmbedderLocation("off")),
        ("embedded", EmbedderLocation("embedded")),
        ("ollama", EmbedderLocation("ollama", "http://127.0.0.1:11434", "/v1")),
        ("openai", EmbedderLocation("openai", "https://api.openai.com", "/v1")),
        ("gemini", EmbedderLocation("gemini", "https://generativelanguage.googleapis.com", "/v1beta")),
        ("voyage", EmbedderLocation("voyage", "https://api.voyageai.com", "/v1")),
        ("gemini+http://h/g/v1alpha/", EmbedderLocation("gemini", "http://h/g", "/v1alpha")),
        ("gemini+http://h:1", EmbedderLocation("gemini", "http://h:1", "/v1beta")),
        ("voyage+http://h:1", EmbedderLocation("voyage", "http://h:1", "/v1")),
        ("http://h:1", EmbedderLocation("server", "http://h:1", "/v1")),
        ("lmstudio+http://h:1", EmbedderLocation("openai", "http://h:1", "/v1")),
        ("/models/e5.gguf", EmbedderLocation("gguf", file=Path("/models/e5.gguf"))),
        ("gguf:models/e5", EmbedderLocation("gguf", file=Path("models/e5"))),
        ("~/e5.gguf", EmbedderLocation("gguf", file=Path.home() / "e5.gguf")),
    ],
)
def test_a_location_means_one_thing(text, means):
    assert parse_embedder_location(text) == means


@pytest.mark.parametrize(
    "text", ["gemini+telnet://x", "voyage+", "cohere+https://x", "http://", "http://h:0"]
)
def test_nonsense_is_refused_with_a_remedy(text):
    with pytest.raises(ConfigError) as caught:
        parse_embedder_location(text)
    assert caught.value.hint


def test_the_page_of_settings_takes_no_nonsense(tmp_path):
    for text, wrong in [("cohere+https://x", {"embedder"}), ("gemini", set()), ("~/e5.gguf", set())]:
        settings = load(environ={"HOLDFAST_HOME": str(tmp_path), "HOLDFAST_EMBEDDER": text}).settings
        assert find_problems(settings, {"embedder"}, password=False).keys() == wrong
