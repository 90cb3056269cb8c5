"""What a GGUF file tells about its model."""

import pytest

from holdfast.tokens.vocabulary import VocabularyError, encode_metadata
from holdfast.upstreams.model_file import describe_model_file


def test_a_file_tells_family_size_storage_and_window(tmp_path):
    facts = {
        "general.architecture": "qwen3",
        "general.size_label": "4B",
        "general.file_type": 15,
        "qwen3.context_length": 40960,
        "tokenizer.chat_template": "{% if tools %}{{ tools }}{% endif %}",
        "tokenizer.ggml.tokens": ["a", "b"],
    }
    path = tmp_path / "model.gguf"
    path.write_bytes(encode_metadata(facts))
    info = describe_model_file(path, "mine")
    assert (info.name, info.family, info.parameter_size) == ("mine", "qwen3", "4B")
    assert (info.quantization, info.trained_window) == ("Q4_K_M", 40960)
    assert info.capabilities == ("completion", "tools")
    assert "tokenizer.ggml.tokens" not in info.raw


def test_a_file_that_tells_nothing_is_described_by_nothing(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(encode_metadata({}))
    info = describe_model_file(path, "mine")
    assert (info.family, info.parameter_size, info.quantization, info.trained_window) == ("", "", "", None)


@pytest.mark.parametrize("content", [b"", b"GGUF", b"not a model"])
def test_something_else_is_no_model(tmp_path, content):
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(VocabularyError):
        describe_model_file(path, "mine")
