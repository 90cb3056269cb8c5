"""Wraps a provider with a label and health tracking; accepts `label/model`."""

import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar

from holdfast.errors import BadRequest, CutOff, HoldfastError, KeyRefused, Unreachable, UpstreamError
from holdfast.messages import ChatRequest, Chunk, canonical
from holdfast.protocols.wire import parse_json
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.base import (
    Ability,
    Dialect,
    EmbeddingResponse,
    ForwardedResponse,
    ModelInfo,
    Provider,
)

T = TypeVar("T")

# Statuses that concern the server, not the request.
_UNAVAILABLE = (429, 502, 503, 504)
# The fields in which requests name a model.
_NAMES = ("model", "name", "source", "destination", "from")


def is_unavailable(error: HoldfastError) -> bool:
    """Whether the error concerns the server, so that another one could help."""
    return isinstance(error, Unreachable) or (
        isinstance(error, UpstreamError) and error.status in _UNAVAILABLE
    )


@dataclass(slots=True)
class Health:
    """When a server last answered and failed (seconds of `clock`), and its current error (`trouble`)."""

    clock: Callable[[], float] = time.time
    seen: float | None = None
    failed: float | None = None
    trouble: str = ""

    @property
    def well(self) -> bool:
        return not self.trouble

    def note_success(self) -> None:
        self.seen, self.trouble = self.clock(), ""

    def note_error(self, error: HoldfastError) -> None:
        """Records a failure of the server; an error about the request counts as an answer."""
        if is_unavailable(error) or isinstance(error, CutOff | KeyRefused):
            self.failed, self.trouble = self.clock(), str(error)
        else:
            self.note_success()


class LabelledProvider:
    """A provider with a label and health tracking; a model may be requested as `label/model`."""

    def __init__(self, provider: Provider, label: str = "", health: Health | None = None) -> None:
        self.provider = provider
        self.label = label
        self.health = health or Health()

    @property
    def name(self) -> str:
        return self.provider.name

    @property
    def location(self) -> str:
        return self.provider.location

    @property
    def dialect(self) -> Dialect:
        return self.provider.dialect

    @property
    def abilities(self) -> frozenset[Ability]:
        return self.provider.abilities

    @property
    def paths(self) -> frozenset[str]:
        return self.provider.paths

    def plain(self, model: str) -> str:
        """Returns the server's own name of `model`, without the label."""
        return model.removeprefix(f"{self.label}/") if self.label else model

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        request = replace(request, model=self.plain(request.model))
        started = False
        try:
            async with aclosing(self.provider.chat(request)) as chunks:
                async for chunk in chunks:
                    if not started:
                        started = True
                        self.health.note_success()
                    yield chunk
        except HoldfastError as error:
            self.health.note_error(error)
            raise

    async def models(self) -> list[ModelInfo]:
        return await self._track(self.provider.models())

    async def describe(self, model: str) -> ModelInfo:
        return await self._track(self.provider.describe(self.plain(model)))

    async def embed(self, model: str, texts: Sequence[str]) -> EmbeddingResponse:
        return await self._track(self.provider.embed(self.plain(model), texts))

    async def count(self, request: ChatRequest) -> int | None:
        return await self.provider.count(replace(request, model=self.plain(request.model)))

    async def render(self, request: ChatRequest) -> str | None:
        return await self.provider.render(replace(request, model=self.plain(request.model)))

    async def tokenize(self, model: str, text: str) -> list[int] | None:
        return await self.provider.tokenize(self.plain(model), text)

    async def detokenize(self, model: str, tokens: Sequence[int]) -> str | None:
        return await self.provider.detokenize(self.plain(model), tokens)

    async def vocabulary(self, model: str) -> Vocabulary | None:
        return await self.provider.vocabulary(self.plain(model))

    async def forward(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | AsyncIterable[bytes] = b""
    ) -> ForwardedResponse:
        if self.label and isinstance(body, bytes) and f'"{self.label}/'.encode() in body:
            body = self._rename_models(body)
        return await self._track(self.provider.forward(method, path, headers, body))

    async def aclose(self) -> None:
        await self.provider.aclose()

    def _rename_models(self, body: bytes) -> bytes:
        """Removes the label from the models that a request body names."""
        try:
            fields = parse_json(body)
        except BadRequest:
            return body
        if not isinstance(fields, dict):
            return body
        models = {name: self.plain(fields[name]) for name in _NAMES if isinstance(fields.get(name), str)}
        return canonical(fields | models).encode()

    async def _track(self, work: Awaitable[T]) -> T:
        """Awaits the work and notes success or failure."""
        try:
            result = await work
        except HoldfastError as error:
            self.health.note_error(error)
            raise
        self.health.note_success()
        return result
