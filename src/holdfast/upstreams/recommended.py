"""Which models of Ollama's library suit a machine: a table of good ones, and how much memory there is."""

import os
import sys
from dataclasses import dataclass

from holdfast.i18n import LazyText, lazy

_GB = 1 << 30
# Beside the weights a model needs a window and some room to work in, and a machine has other things to do.
_OVERHEAD_GB, _SHARE = 1.0, 0.7


@dataclass(frozen=True, slots=True)
class RecommendedModel:
    """A model by its name in Ollama's library; `gigabytes` is its download, about what it needs to load."""

    name: str
    gigabytes: float
    good_for: LazyText


# From small to large; of those that fit, the last ones are the best.
MODELS = (
    RecommendedModel("gemma3:1b", 0.8, lazy("short answers on almost any machine")),
    RecommendedModel("qwen3:1.7b", 1.4, lazy("short answers, thinks when asked to")),
    RecommendedModel("qwen3:4b", 2.5, lazy("everyday questions on a laptop, tools")),
    RecommendedModel("gemma3:4b", 3.3, lazy("everyday questions and pictures, many languages")),
    RecommendedModel("qwen3:8b", 5.2, lazy("work with code and tools")),
    RecommendedModel("gemma3:12b", 8.1, lazy("writing in many languages, pictures")),
    RecommendedModel("qwen3:14b", 9.3, lazy("harder questions, code and tools")),
    RecommendedModel("gpt-oss:20b", 14.0, lazy("harder questions, quick for its size")),
    RecommendedModel("qwen3:30b", 19.0, lazy("the best of a large machine, quick for its size")),
    RecommendedModel("gpt-oss:120b", 65.0, lazy("the best of a workstation")),
)
# Finds memories by meaning in many languages, and is small enough to stay beside a chat model.
EMBEDDING_MODEL = "embeddinggemma"


def read_memory() -> float | None:
    """Return the memory of this machine in gigabytes; None if the system does not say."""
    if sys.platform == "win32":
        return None
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GB
    except (OSError, ValueError):
        return None


def recommend(memory: float | None, most: int = 3) -> tuple[RecommendedModel, ...]:
    """Return the models that suit a machine with so many gigabytes, the best first."""
    if memory is None:
        return MODELS[2:5]
    fitting = [model for model in MODELS if model.gigabytes + _OVERHEAD_GB <= memory * _SHARE]
    return tuple(reversed(fitting[-most:]))
