"""Vectors from a server that speaks OpenAI's way: OpenAI, llama.cpp, LM Studio, vLLM and many more.

Knows that one endpoint; how requests travel is in `http`, what takes hours in `openai_batches`.
"""

from collections.abc import Sequence
from typing import Any, Self

from holdfast.backends.openai_batches import OpenAIBatches
from holdfast.memory.embedders.base import EmbedderIdentity
from holdfast.memory.embedders.checked import ValidatedEmbedder, dimensions_of, validate_vectors
from holdfast.memory.embedders.http import EmbeddingClient
from holdfast.memory.embedders.prompts import NO_PROMPTS, EmbeddingPrompts

OPENAI_MODEL = "text-embedding-3-small"

_HINTS = {404: "Check the model in the setting `embedder_model`, and the address in `embedder`."}


class OpenAIEmbedder(ValidatedEmbedder):
    batch = 64

    def __init__(
        self,
        http: EmbeddingClient,
        prefix: str,
        model: str,
        dimensions: int,
        chosen: int = 0,
        prompts: EmbeddingPrompts = NO_PROMPTS,
    ) -> None:
        """`chosen` is the number of dimensions to ask for; 0 leaves it to the model."""
        super().__init__(
            EmbedderIdentity("openai", model, dimensions, http.url + prefix, str(prompts)), prompts
        )
        self._http = http
        self._prefix = prefix
        self._chosen = chosen

    @classmethod
    def open(
        cls,
        http: EmbeddingClient,
        prefix: str = "/v1",
        model: str = OPENAI_MODEL,
        dimensions: int = 0,
        prompts: EmbeddingPrompts = NO_PROMPTS,
    ) -> Self:
        """Asks for one vector, for only that tells how many dimensions there are."""
        answer = cls(http, prefix, model, 0, dimensions)._vectors(["?"])
        opened = cls(http, prefix, model, dimensions_of(answer, dimensions), dimensions, prompts)
        validate_vectors(answer, 1, opened.identity)
        return opened

    @property
    def batches(self) -> OpenAIBatches:
        return OpenAIBatches(self._http, self._prefix, self._request_of)

    def close(self) -> None:
        self._http.close()

    def request(self, texts: Sequence[str]) -> dict[str, Any]:
        chosen = {"dimensions": self._chosen} if self._chosen else {}
        return {"model": self.identity.model, "input": list(texts), "encoding_format": "float", **chosen}

    def _request_of(self, text: str) -> dict[str, Any]:
        """What is asked about one text in a batch job."""
        return self.request([self._prompts.text + self._fit(text)])

    def _vectors(self, texts: Sequence[str]) -> Any:
        return parse_rows(self._http.post(f"{self._prefix}/embeddings", self.request(texts), hints=_HINTS))


def parse_rows(answer: Any) -> Any:
    """The rows in an answer, as they came, in the order in which they were asked for."""
    match answer:
        case {"data": list(items)} if all(isinstance(item, dict) for item in items):
            # They may come in any order; a server that does not number them keeps ours.
            if all(isinstance(item.get("index"), int) for item in items):
                items = sorted(items, key=lambda item: item["index"])
            return [item.get("embedding") for item in items]
        case _:
            return None
