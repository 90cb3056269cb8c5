"""Vectors from Google's Gemini API: other ones for a question than for what it finds.

Knows that one endpoint; how requests travel is in `http`, what takes hours in `gemini_batches`.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

from holdfast.backends.gemini_batches import GeminiBatches
from holdfast.memory.embedders.base import EmbedderIdentity, Vectors
from holdfast.memory.embedders.checked import ValidatedEmbedder, dimensions_of, validate_vectors
from holdfast.memory.embedders.http import EmbeddingClient

MODEL = "gemini-embedding-001"
# Of the 3,072 the model has, the first 768 do nearly as well, in a quarter of the room.
DIMENSIONS = 768

GeminiTask = Literal["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]

_HINTS = {
    # Google says so of a wrong key, too.
    400: "Check the settings `embedder_key`, `embedder_model` and `embedder_dimensions`.",
    404: "Check the model in the setting `embedder_model`.",
    429: "The quota is used up for now: try again later, or raise it in Google's console.",
}


class GeminiEmbedder(ValidatedEmbedder):
    batch = 100
    # The model reads 2,048 tokens; no writing has more of them than characters, by much.
    longest = 2_000

    def __init__(self, http: EmbeddingClient, prefix: str, model: str, dimensions: int) -> None:
        super().__init__(EmbedderIdentity("gemini", model, dimensions, http.url + prefix))
        self._http = http
        self._prefix = prefix

    @classmethod
    def open(
        cls, http: EmbeddingClient, prefix: str = "/v1beta", model: str = MODEL, dimensions: int = 0
    ) -> Self:
        """Asks for one vector: whether the key and the model are right is known only then."""
        opened = cls(http, prefix, model.removeprefix("models/"), dimensions or DIMENSIONS)
        answer = opened._ask(["?"], "RETRIEVAL_QUERY")
        given = dimensions_of(answer, dimensions)
        # A model that leaves no choice has the number that it has.
        opened = cls(http, prefix, opened.identity.model, given)
        validate_vectors(answer, 1, opened.identity)
        return opened

    @property
    def batches(self) -> GeminiBatches:
        return GeminiBatches(self._http, self._prefix, self.identity.model, self.request)

    def question(self, text: str) -> Vectors:
        return self._made([text], lambda texts: self._ask(texts, "RETRIEVAL_QUERY"))

    def close(self) -> None:
        self._http.close()

    def request(self, text: str, task: GeminiTask = "RETRIEVAL_DOCUMENT") -> dict[str, Any]:
        """What is asked about one text."""
        return {
            "model": f"models/{self.identity.model}",
            "content": {"parts": [{"text": self._fit(text)}]},
            "taskType": task,
            "outputDimensionality": self.identity.dimensions,
        }

    def _vectors(self, texts: Sequence[str]) -> Any:
        return self._ask(texts, "RETRIEVAL_DOCUMENT")

    def _ask(self, texts: Sequence[str], task: GeminiTask) -> Any:
        path = f"{self._prefix}/models/{self.identity.model}:batchEmbedContents"
        body = {"requests": [self.request(text, task) for text in texts]}
        match self._http.post(path, body, hints=_HINTS):
            case {"embeddings": list(items)} if all(isinstance(item, dict) for item in items):
                return [item.get("values") for item in items]
            case _:
                return None
