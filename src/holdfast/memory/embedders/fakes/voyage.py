"""Voyage's `/v1/embeddings`, with its limits by count and by tokens.

Knows that one endpoint. Tokens are counted as quarters of characters.
"""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from holdfast.memory.embedders.fakes.base import FakeServer, Handler, Refusal, read_bearer

_VOYAGE_FIELDS = {
    "model",
    "input",
    "input_type",
    "truncation",
    "output_dimension",
    "output_dtype",
    "encoding_format",
}
_VOYAGE_DIMENSIONS = (256, 512, 1024, 2048)


class FakeVoyage(FakeServer):
    """`most` texts with `tokens` in all go into one request."""

    most = 1_000
    tokens = 120_000

    def _routes(self) -> Sequence[tuple[str, str, Handler]]:
        return [("POST", "/v1/embeddings", self._embeddings)]

    async def _embeddings(self, request: Request) -> Any:
        body = await request.json()
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        if unknown := body.keys() - _VOYAGE_FIELDS:
            raise Refusal(400, f"Argument '{min(unknown)}' is not supported by our API.")
        if body.get("input_type") not in (None, "query", "document"):
            raise Refusal(400, "Value provided for input_type is invalid.")
        if not body["model"].startswith("voyage-"):
            raise Refusal(400, f"Model {body['model']} is not supported.")
        if not texts or len(texts) > self.most:
            raise Refusal(400, f"The batch size limit is {self.most}. Your batch size is {len(texts)}.")
        if not all(texts):
            raise Refusal(400, "Input cannot contain empty strings or empty lists.")
        used = sum(len(text) // 4 + 1 for text in texts)
        if used > self.tokens:
            raise Refusal(
                400, f"The max allowed tokens per submitted batch is {self.tokens}: yours has {used}."
            )
        wanted = body.get("output_dimension")
        if wanted is not None and wanted not in _VOYAGE_DIMENSIONS:
            raise Refusal(400, f"output_dimension {wanted} is not one of {_VOYAGE_DIMENSIONS}.")
        rows = self.vectors(texts, wanted or 0)
        data = [{"object": "embedding", "embedding": row, "index": place} for place, row in enumerate(rows)]
        return {"object": "list", "data": data[::-1], "model": body["model"], "usage": {"total_tokens": used}}

    def _key_of(self, request: Request) -> str:
        return read_bearer(request)

    def _unknown_key(self) -> Refusal:
        return Refusal(401, "Provided API key is invalid.")

    def _refused(self, refusal: Refusal) -> Any:
        return {"detail": refusal.message}
