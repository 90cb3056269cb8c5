"""The table of optional backends: each is loaded by its name, when it is chosen and not before.

A new backend is one module in `holdfast.backends` and one line here.
"""

from importlib import import_module
from typing import Any

# The module in `holdfast.backends`, and what opens the backend there.
BACKENDS = {
    "batches": "hosted_embedders:open_batches",
    "gemini": "hosted_embedders:GeminiEmbedder",
    "openai-batches": "hosted_embedders:OpenAIBatches",
    "pgvector": "pgvector:open_pgvector",
    "qdrant": "qdrant:open_qdrant",
    "qmd": "qmd:open_qmd",
    "s3": "s3:open_bucket",
    "sqlite-vec": "sqlite_vec:open_sqlite_vec",
    "voyage": "hosted_embedders:VoyageEmbedder",
}


def load_backend(name: str) -> Any:
    """Import a backend's module and return the class or function that opens it."""
    module, _, attribute = BACKENDS[name].partition(":")
    return getattr(import_module(f"holdfast.backends.{module}"), attribute)
