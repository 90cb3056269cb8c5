"""Vectors from a server that speaks OpenAI's way: OpenAI, llama.cpp, LM Studio, vLLM and many more.

Knows that one endpoint; how requests travel is in `http`.
"""

from collections.abc import Sequence
from typing import Any, Self

from holdfast.memory.embedders.base import Identity
from holdfast.memory.embedders.checked import Checked, dimensions_of, verified
from holdfast.memory.embedders.http import Http

MODEL = "text-embedding-3-small"

_HINTS = {404: "Check the model in the setting `embedder_model`, and the address in `embedder`."}


class OpenAI(Checked):
    batch = 64

    def __init__(self, http: Http, prefix: str, model: str, dimensions: int) -> None:
        super().__init__(Identity("openai", model, dimensions, http.url + prefix))
        self._http = http
        self._prefix = prefix

    @classmethod
    def open(cls, http: Http, prefix: str = "/v1", model: str = MODEL) -> Self:
        """Asks for one vector, for only that tells how many dimensions there are."""
        answer = _ask(http, prefix, model, ["?"])
        opened = cls(http, prefix, model, dimensions_of(answer))
        verified(answer, 1, opened.identity)
        return opened

    def close(self) -> None:
        self._http.close()

    def _vectors(self, texts: Sequence[str]) -> Any:
        return _ask(self._http, self._prefix, self.identity.model, texts)


def _ask(http: Http, prefix: str, model: str, texts: Sequence[str]) -> Any:
    body = {"model": model, "input": list(texts), "encoding_format": "float"}
    answer = http.post(f"{prefix}/embeddings", body, hints=_HINTS)
    match answer:
        case {"data": list(items)} if all(isinstance(item, dict) for item in items):
            # They may come in any order; a server that does not number them keeps ours.
            if all(isinstance(item.get("index"), int) for item in items):
                items = sorted(items, key=lambda item: item["index"])
            return [item.get("embedding") for item in items]
        case _:
            return None
