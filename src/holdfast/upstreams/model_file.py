"""What a GGUF file says about the model in it.

Knows which of its keys mean what; reading the file is `tokens.gguf`'s work.
"""

from datetime import UTC, datetime
from pathlib import Path

from holdfast.tokens.gguf import read_metadata
from holdfast.upstreams.base import ModelInfo

# llama.cpp's numbers for the way most of a file's weights are stored.
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S",
    12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K",
    19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL",
    26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16",
    36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}  # fmt: skip
_TEMPLATE = "tokenizer.chat_template"


def describe_model_file(path: Path, name: str) -> ModelInfo:
    """The model in the file at `path`, under `name`; VocabularyError if it is no GGUF file."""
    facts = read_metadata(path, lambda key: not key.startswith("tokenizer.") or key == _TEMPLATE)
    family = str(facts.get("general.architecture", ""))
    file = path.stat()
    tools = ("tools",) if "tools" in str(facts.get(_TEMPLATE, "")) else ()
    return ModelInfo(
        name=name,
        family=family,
        parameter_size=str(facts.get("general.size_label", "")),
        quantization=_FILE_TYPES.get(facts.get("general.file_type", -1), ""),
        size=file.st_size,
        modified_at=datetime.fromtimestamp(file.st_mtime, UTC).isoformat(),
        trained_window=facts.get(f"{family}.context_length"),
        capabilities=("completion", *tools),
        raw=facts,
    )
