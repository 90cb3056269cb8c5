"""Vectors from Voyage AI. Questions and texts have different vectors."""

from collections.abc import Sequence
from typing import Any, Literal, Self

from holdfast.memory.embedder_http import EmbeddingClient, parse_rows
from holdfast.memory.embedders import (
    EmbedderIdentity,
    ValidatedEmbedder,
    Vectors,
    dimensions_of,
    validate_vectors,
)

MODEL = "voyage-4"

VoyageInput = Literal["document", "query"]

_HINTS = {
    400: "Check the model in `embedder_model` and the number in `embedder_dimensions`.",
    429: "The limit of requests or tokens a minute is reached: try again later.",
}


class VoyageEmbedder(ValidatedEmbedder):
    # A thousand texts are allowed, and for the largest models 120,000 tokens in all. Smaller requests are
    # answered sooner, and no writing has more tokens than characters, by much.
    batch = 128
    together = 80_000

    def __init__(
        self, http: EmbeddingClient, prefix: str, model: str, dimensions: int, chosen: int = 0
    ) -> None:
        """`chosen` is the number of dimensions to ask for; 0 leaves it to the model."""
        super().__init__(EmbedderIdentity("voyage", model, dimensions, http.url + prefix))
        self._http = http
        self._prefix = prefix
        self._chosen = chosen

    @classmethod
    def open(
        cls, http: EmbeddingClient, prefix: str = "/v1", model: str = MODEL, dimensions: int = 0
    ) -> Self:
        """Asks for one vector, for only that tells how many dimensions there are."""
        model = model or MODEL
        answer = cls(http, prefix, model, 0, dimensions)._ask(["?"], "query")
        opened = cls(http, prefix, model, dimensions_of(answer, dimensions), dimensions)
        validate_vectors(answer, 1, opened.identity)
        return opened

    def question(self, text: str) -> Vectors:
        return self._embed_parts([text], lambda texts: self._ask(texts, "query"))

    def close(self) -> None:
        self._http.close()

    def _vectors(self, texts: Sequence[str]) -> Any:
        return self._ask(texts, "document")

    def _ask(self, texts: Sequence[str], kind: VoyageInput) -> Any:
        body: dict[str, Any] = {
            "model": self.identity.model,
            "input": list(texts),
            "input_type": kind,
            "truncation": True,
        }
        if self._chosen:
            body["output_dimension"] = self._chosen
        return parse_rows(self._http.post(f"{self._prefix}/embeddings", body, hints=_HINTS))
