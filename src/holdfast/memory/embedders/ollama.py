"""Vectors from an Ollama, by its `/api/embed`.

Knows that one endpoint; how requests travel is in `http`.
"""

from collections.abc import Sequence
from typing import Any, Self

from holdfast.memory.embedders.base import Identity
from holdfast.memory.embedders.checked import Checked, dimensions_of, verified
from holdfast.memory.embedders.http import Http
from holdfast.memory.embedders.prompts import NONE, Prompts
from holdfast.upstreams.ollama import KeepAlive

MODEL = "nomic-embed-text"


class Ollama(Checked):
    def __init__(
        self,
        http: Http,
        model: str,
        dimensions: int,
        chosen: int = 0,
        prompts: Prompts = NONE,
        keep_alive: KeepAlive = None,
    ) -> None:
        """`chosen` is the number of dimensions to ask for; 0 leaves it to the model."""
        super().__init__(Identity("ollama", model, dimensions, http.url, str(prompts)), prompts)
        self._http = http
        self._chosen = chosen
        self._keep_alive = keep_alive

    @classmethod
    def open(
        cls,
        http: Http,
        model: str = MODEL,
        dimensions: int = 0,
        prompts: Prompts = NONE,
        keep_alive: KeepAlive = None,
    ) -> Self:
        """Asks for one vector, for only that tells how many dimensions there are."""
        answer = cls(http, model, 0, dimensions, keep_alive=keep_alive)._vectors(["?"])
        opened = cls(http, model, dimensions_of(answer, dimensions), dimensions, prompts, keep_alive)
        verified(answer, 1, opened.identity)
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
        other = f"Is {model} an embedding model? `ollama pull {MODEL}` fetches one."
        answer = self._http.post(
            "/api/embed",
            body,
            hints={404: f"`ollama pull {model}` fetches it.", 400: other, 500: other, 501: other},
        )
        return answer.get("embeddings") if isinstance(answer, dict) else None
