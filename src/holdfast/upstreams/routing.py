"""Which server answers for which model: a configured one, else one that runs here, else the embedded one.

With several servers, a model goes to the first healthy one that has it; `name/model` names the server.
`LabelledProvider` wraps a provider with that name, and tracks its health.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar

from holdfast.errors import (
    BadRequest,
    ConfigError,
    CutOff,
    HoldfastError,
    KeyRefused,
    ModelMissing,
    ProviderError,
    Unreachable,
    UpstreamError,
)
from holdfast.i18n import lazy
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
from holdfast.upstreams.discovery import EMBEDDED

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


# Seconds between two searches for a server that is not there.
LOOK_AGAIN = 10.0

FindProvider = Callable[[], Awaitable[Provider | None]]


@dataclass(frozen=True, slots=True)
class UpstreamState:
    """The state of a slot, for display. Times are Unix times, None for never; `well` None: never asked."""

    name: str
    location: str
    kind: str | None
    well: bool | None
    last_seen: float | None
    last_failure: float | None
    error: str
    models: int | None


class UpstreamSlot:
    """A location where a model server is or may be started: finds it, and caches its list of models.

    `find` returns the provider, None while no server is there, or raises an error.
    """

    def __init__(
        self, find: FindProvider, *, name: str = "", location: str = "", look_again: float = LOOK_AGAIN
    ) -> None:
        self.name = name
        self.health = Health()
        # The provider, once it was found, and the models it listed last.
        self.provider: LabelledProvider | None = None
        self.model_list: list[ModelInfo] | None = None
        self._location = location
        self._find = find
        self._look_again = look_again
        self._searched_at = self._listed_at = float("-inf")
        self._finding = asyncio.Lock()
        self._refreshing: asyncio.Task[None] | None = None

    async def server(self) -> LabelledProvider | None:
        """Returns the provider; searches for it if there is none, or again if it is unwell."""
        async with self._finding:
            wanted = self.provider is None or not self.health.well
            if wanted and time.monotonic() - self._searched_at > self._look_again:
                await (self._find_first() if self.provider is None else self._find_again(self.provider))
        return self.provider

    async def _find_first(self) -> None:
        try:
            provider = await self._find()
        except ProviderError as error:
            self.health.note_error(error)
            raise
        self._searched_at = time.monotonic()
        self.provider = LabelledProvider(provider, self.name, self.health) if provider is not None else None

    async def _find_again(self, current: LabelledProvider) -> None:
        """Replaces the provider if a server of another kind is there now."""
        self._searched_at = time.monotonic()
        try:
            provider = await self._find()
        except ProviderError:
            return
        if provider is None or provider is current.provider:
            return
        same = (provider.name, provider.location) == (current.name, current.location)
        if not same:
            self.provider, self.model_list = LabelledProvider(provider, self.name, self.health), None
        await (provider if same else current).aclose()

    async def models(self) -> list[ModelInfo]:
        """Asks the server for its models; returns an empty list if there is no server."""
        server = await self.server()
        if server is None:
            return []
        self.model_list = await server.models()
        self._listed_at = time.monotonic()
        return self.model_list

    def has(self, model: str) -> bool:
        """Whether the last list has `model`. A name without a tag means the latest."""
        return any(info.name in (model, f"{model}:latest") for info in self.model_list or ())

    def refresh(self, older_than: float) -> "asyncio.Task[None] | None":
        """Starts to refresh the list if it is too old, and returns the task, which all callers share.

        After a failure it waits before the next try.
        """
        age = time.monotonic() - self._listed_at
        failed = self.health.failed
        resting = not self.health.well and failed is not None and time.time() - failed < self._look_again
        if self._refreshing is None and not resting and (age > older_than or not self.health.well):
            self._refreshing = asyncio.create_task(self._refresh())
        return self._refreshing

    def invalidate(self) -> None:
        """Marks the list as outdated."""
        self._listed_at = float("-inf")

    def state(self) -> UpstreamState:
        server, health = self.provider, self.health
        return UpstreamState(
            self.name or "default",
            server.location if server else self._location,
            server.name if server else None,
            None if health.seen is None and health.failed is None else health.well,
            health.seen,
            health.failed,
            health.trouble,
            None if self.model_list is None else len(self.model_list),
        )

    async def aclose(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.wait({self._refreshing})
        if self.provider is not None:
            await self.provider.aclose()

    async def _refresh(self) -> None:
        try:
            await self.models()
        except ConfigError as error:
            self.health.trouble = str(error)
        except HoldfastError:
            # `LabelledProvider` has noted it.
            pass
        finally:
            self._refreshing = None


log = logging.getLogger("holdfast.upstreams")

# Seconds after which a list of models is refreshed, and how long to wait for it.
LIST_MAX_AGE = 30.0
LIST_TIMEOUT = 3.0


class Upstreams:
    """Routes models to providers. `embedded` is the fallback while no server is found.

    There is no fallback for configured servers: their `find` returns a provider or raises. With several
    servers, a request waits at most `patience` seconds for their lists of models.
    """

    def __init__(
        self,
        slots: FindProvider | Sequence[UpstreamSlot],
        embedded: Provider,
        *,
        look_again: float = LOOK_AGAIN,
        patience: float = LIST_TIMEOUT,
    ) -> None:
        self._slots = [UpstreamSlot(slots, look_again=look_again)] if callable(slots) else list(slots)
        self._embedded = embedded
        self._patience = patience
        # Servers that were used before; a request to one of them may still be running.
        self._retired: list[Upstreams] = []

    async def main(self) -> Provider:
        """Returns the default provider, for requests that name no model: the first that answers."""
        first_error: HoldfastError | None = None
        for slot in sorted(self._slots, key=lambda slot: not slot.health.well):
            try:
                return await slot.server() or self._embedded
            except HoldfastError as error:
                first_error = first_error or error
        raise first_error or AssertionError("there is always a slot")

    async def servers(self) -> list[Provider]:
        """Returns all providers that answer; raises the first one's error if none does."""
        if len(self._slots) > 1:
            await self.refresh()
        well: list[Provider] = [slot.provider for slot in self._slots if slot.provider and slot.health.well]
        return well or [await self.main()]

    async def route(self, model: str) -> Provider:
        """Returns the provider for `model`, without asking it whether it really has the model."""
        if model in (EMBEDDED, f"{EMBEDDED}:latest"):
            return self._embedded
        if (named := self._find_named(model)) is not None:
            return await named.server() or self._embedded
        if len(self._slots) > 1:
            return await self._route_by_list(model)
        main = await self.main()
        if main is self._embedded:
            raise ModelMissing(
                model,
                hint=lazy("No model server was found; the only model here is '{model}'.", model=EMBEDDED),
            )
        return main

    async def call(self, model: str, ask: Callable[[Provider], Awaitable[T]]) -> T:
        """Returns the result of `ask` for the provider of `model`, or another one that has it if it is
        unavailable.
        """
        tried = [await self.route(model)]
        while True:
            try:
                return await ask(tried[-1])
            except ProviderError as error:
                tried.append(await self.next_provider(error, tried, model))

    async def next_provider(self, error: ProviderError, tried: Collection[Provider], model: str) -> Provider:
        """Returns the provider to try after an error; raises the error if no other one could help."""
        alternative = await self.find_alternative(tried, model) if is_unavailable(error) else None
        if alternative is None:
            raise error
        log.warning("%s Now %s is asked.", error, alternative.location)
        return alternative

    async def find_alternative(self, tried: Collection[Provider], model: str) -> Provider | None:
        """Returns another provider for `model` after those that were `tried`, or None.

        A model with a server's name in front has no alternative.
        """
        if len(self._slots) == 1 or self._find_named(model) is not None or self._embedded in tried:
            return None
        for slot in await self._slots_with(model):
            server = await slot.server()
            if server is not None and server not in tried:
                return server
        return None

    async def models(self) -> list[ModelInfo]:
        """Lists the models of all servers; one that an earlier server has, too, gets its server's name.

        Those that can chat come first: many clients take the first of a list.
        """
        return sorted(await self._list_models(), key=lambda model: not model.can_chat)

    async def _list_models(self) -> list[ModelInfo]:
        if len(self._slots) == 1:
            server = await self._slots[0].server()
            return await (self._slots[0].models() if server else self._embedded.models())
        await self._refresh(0.0, self._slots)
        merged: dict[str, ModelInfo] = {}
        for slot in self._slots:
            for model in (slot.model_list or ()) if slot.health.well else ():
                name = f"{slot.name}/{model.name}" if model.name in merged else model.name
                merged[name] = model if name == model.name else rename_model(name, model)
        if not merged:
            # Either there are no models, or this raises the error of the first server.
            await self.main()
        return list(merged.values())

    async def usual_model(self) -> str:
        """Returns the default model: one that is loaded, since it answers at once, else the first."""
        models = await self.models()
        if not models:
            raise BadRequest(
                lazy("The model server has no models."), hint=lazy("Get one first: `ollama pull qwen3:4b`.")
            )
        loaded = (model.name for model in models if model.running_window and model.can_chat)
        return next(loaded, models[0].name)

    async def describe(self, model: str) -> ModelInfo:
        return await (await self.route(model)).describe(model)

    def find_label(self, location: str) -> str:
        """Returns the name of the server at this location as the settings have it; empty if none is there."""
        here = (slot for slot in self._slots if slot.provider and slot.provider.location == location)
        return next((slot.name or "default" for slot in here), "")

    def states(self) -> list[UpstreamState]:
        """Returns the state of each server as of the last contact."""
        return [slot.state() for slot in self._slots]

    async def refresh(self) -> None:
        """Asks the servers whose lists are old."""
        await self._refresh(LIST_MAX_AGE, self._slots)

    def names_server(self, model: str) -> bool:
        """Whether `model` has the name of a configured server in front."""
        return self._find_named(model) is not None

    def invalidate(self) -> None:
        """Marks all lists of models as outdated, after models were added or removed."""
        for slot in self._slots:
            slot.invalidate()

    def adopt(self, other: "Upstreams") -> None:
        """Uses the servers of `other` from now on; those of before are closed at the end."""
        before = Upstreams(self._slots, self._embedded)
        self._retired.append(before)
        self._slots, self._embedded = other._slots, other._embedded

    async def aclose(self) -> None:
        await self._embedded.aclose()
        for slot in self._slots:
            await slot.aclose()
        for before in self._retired:
            await before.aclose()

    def _find_named(self, model: str) -> UpstreamSlot | None:
        """Returns the slot whose name is in front of the model's. Model names may have slashes, too."""
        label, slash, _ = model.partition("/")
        return next((slot for slot in self._slots if slash and slot.name == label), None)

    async def _slots_with(self, model: str) -> list[UpstreamSlot]:
        """Returns the slots that list `model`, healthy ones first, else in their configured order."""
        # Only servers without a list are waited for; the others are refreshed in the background.
        await self._refresh(LIST_MAX_AGE, [slot for slot in self._slots if slot.model_list is None])
        candidates = [slot for slot in self._slots if slot.has(model)]
        if not candidates:
            await self._refresh(1.0, self._slots)
            candidates = [slot for slot in self._slots if slot.has(model)]
        return sorted(candidates, key=lambda slot: not slot.health.well)

    async def _route_by_list(self, model: str) -> Provider:
        candidates = await self._slots_with(model)
        for slot in candidates:
            # A slot with a list has a provider.
            if (server := await slot.server()) is not None:
                return server
        if away := [slot.name for slot in self._slots if slot.model_list is None]:
            hint = f"No server that answers has it, and there is no answer from {', '.join(away)}."
            raise ModelMissing(model, hint=hint)
        return await self.main()

    async def _refresh(self, older_than: float, awaited: Sequence[UpstreamSlot]) -> None:
        refreshes = {slot: slot.refresh(older_than) for slot in self._slots}
        tasks = [task for slot in awaited if (task := refreshes[slot]) is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=self._patience)


def rename_model(name: str, model: ModelInfo) -> ModelInfo:
    """Returns the model under another name, also in its server's own record."""
    renamed = {field: name for field in ("name", "model", "id", "key") if field in model.raw}
    return replace(model, name=name, raw={**model.raw, **renamed})
