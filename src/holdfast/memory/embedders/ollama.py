"""Vectors from an Ollama, by its `/api/embed`.

Knows that one endpoint; how requests travel is in `http`.
"""

from collections.abc import Sequence
from typing import Any, Self

from holdfast.memory.embedders.base import EmbedderIdentity
from holdfast.memory.embedders.checked import ValidatedEmbedder, dimensions_of, validate_vectors
from holdfast.memory.embedders.http import EmbeddingClient
from holdfast.memory.embedders.prompts import NO_PROMPTS, EmbeddingPrompts
from holdfast.upstreams.ollama import KeepAlive

OLLAMA_MODEL = "nomic-embed-text"


class OllamaEmbedder(ValidatedEmbedder):
    def __init__(
        self,
        http: EmbeddingClient,
        model: str,
        dimensions: int,
        chosen: int = 0,
        prompts: EmbeddingPrompts = NO_PROMPTS,
        keep_alive: KeepAlive = None,
    ) -> None:
        """`chosen` is the number of dimensions to ask for; 0 leaves it to the model."""
        super().__init__(EmbedderIdentity("ollama", model, dimensions, http.url, str(prompts)), prompts)
        self._http = http
        self._chosen = chosen
        self._keep_alive = keep_alive

    @classmethod
    def open(
        cls,
        http: EmbeddingClient,
        model: str = OLLAMA_MODEL,
        dimensions: int = 0,
        prompts: EmbeddingPrompts = NO_PROMPTS,
        keep_alive: KeepAlive = None,
    ) -> Self:
        """Asks for one vector, for only that tells how many dimensions there are."""
        answer = cls(http, model, 0, dimensions, keep_alive=keep_alive)._vectors(["?"])
        opened = cls(http, model, dimensions_of(answer, dimensions), dimensions, prompts, keep_alive)
        validate_vectors(answer, 1, opened.identity)
        return opened

    def close(self) -> None:
        self._http.close()

    def _vectors(self, texts: Sequence[str]) -> Any:
        model = self.identity.model
        # The server cuts what is longer than the model's window, which only it knows.
        body: dict[str, Any] = {"model": model, "input": list(texts), "truncate": True}
        if self._chosen:
            body["dimensions"] = self._chosen
        if self._keep_alive is not None:
            body["keep_alive"] = self._keep_alive
        other = f"Is {model} an embedding model? `ollama pull {OLLAMA_MODEL}` fetches one."
        answer = self._http.post(
            "/api/embed",
            body,
            hints={404: f"`ollama pull {model}` fetches it.", 400: other, 500: other, 501: other},
        )
        return answer.get("embeddings") if isinstance(answer, dict) else None
