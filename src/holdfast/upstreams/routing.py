"""Which model server answers for which model: those that were named, else one that runs here, else our own.

With several, a model goes to the first that has it and is well; `name/model` names the server. Knows
providers by their protocol only; how they are found and made is handed in.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar

from holdfast.errors import BadRequest, ConfigError, HoldfastError, ModelMissing, ProviderError
from holdfast.messages import Chunk
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.discovery import EMBEDDED
from holdfast.upstreams.health import Health, LabelledProvider, is_unavailable

# Where no server is, we look this often (in seconds) whether one was started meanwhile.
LOOK_AGAIN = 10.0

FindProvider = Callable[[], Awaitable[Provider | None]]


@dataclass(frozen=True, slots=True)
class UpstreamState:
    """How a place is, for people. Times are seconds since 1970, None for never; `well` None: never asked."""

    name: str
    location: str
    kind: str | None
    well: bool | None
    last_seen: float | None
    last_failure: float | None
    error: str
    models: int | None


class UpstreamSlot:
    """`find` gives the server, None while nobody is there, or raises what hinders."""

    def __init__(
        self, find: FindProvider, *, name: str = "", location: str = "", look_again: float = LOOK_AGAIN
    ) -> None:
        self.name = name
        self.health = Health()
        # The server that was found here, and the list it gave last; None if there was none yet.
        self.found: LabelledProvider | None = None
        self.listed: list[ModelInfo] | None = None
        self._location = location
        self._find = find
        self._look_again = look_again
        self._looked_at = self._listed_at = float("-inf")
        self._finding = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None

    async def server(self) -> LabelledProvider | None:
        async with self._finding:
            wanted = self.found is None or not self.health.well
            if wanted and time.monotonic() - self._looked_at > self._look_again:
                await (self._find_first() if self.found is None else self._find_again(self.found))
        return self.found

    async def _find_first(self) -> None:
        try:
            found = await self._find()
        except ProviderError as error:
            self.health.note(error)
            raise
        self._looked_at = time.monotonic()
        self.found = LabelledProvider(found, self.name, self.health) if found is not None else None

    async def _find_again(self, known: LabelledProvider) -> None:
        """Where a server went away, one of another kind may have come."""
        self._looked_at = time.monotonic()
        try:
            found = await self._find()
        except ProviderError:
            return
        if found is None or found is known.provider:
            return
        same = (found.name, found.location) == (known.name, known.location)
        if not same:
            self.found, self.listed = LabelledProvider(found, self.name, self.health), None
        await (found if same else known).aclose()

    async def models(self) -> list[ModelInfo]:
        """What the server has now; nothing where there is none."""
        server = await self.server()
        if server is None:
            return []
        self.listed = await server.models()
        self._listed_at = time.monotonic()
        return self.listed

    def has(self, model: str) -> bool:
        """Whether it listed `model`, as far as we know. A name without a tag means the latest."""
        return any(known.name in (model, f"{model}:latest") for known in self.listed or ())

    def look(self, older_than: float) -> "asyncio.Task[None] | None":
        """Asks for its list if what we have is older, once for all who want to know. A failure waits."""
        age = time.monotonic() - self._listed_at
        failed = self.health.failed
        resting = not self.health.well and failed is not None and time.time() - failed < self._look_again
        if self._looking is None and not resting and (age > older_than or not self.health.well):
            self._looking = asyncio.create_task(self._look())
        return self._looking

    def forget(self) -> None:
        """What it listed may be true no more."""
        self._listed_at = float("-inf")

    def state(self) -> UpstreamState:
        server, health = self.found, self.health
        return UpstreamState(
            self.name or "default",
            server.location if server else self._location,
            server.name if server else None,
            None if health.seen is None and health.failed is None else health.well,
            health.seen,
            health.failed,
            health.trouble,
            None if self.listed is None else len(self.listed),
        )

    async def aclose(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})
        if self.found is not None:
            await self.found.aclose()

    async def _look(self) -> None:
        try:
            await self.models()
        except ConfigError as error:
            self.health.trouble = str(error)
        except HoldfastError:
            # What a server said or failed to say was noted where that happened.
            pass
        finally:
            self._looking = None


T = TypeVar("T")

log = logging.getLogger("holdfast.upstreams")

# A list of models is believed for so many seconds.
LIST_MAX_AGE = 30.0
LIST_TIMEOUT = 3.0


class Upstreams:
    """`places` are where servers are; `embedded` stands in while none is.

    Where servers were named, nothing stands in for them: each `find` of theirs gives one, or raises. With
    several, nobody waits longer than `patience` for one of them to say what it has.
    """

    def __init__(
        self,
        places: FindProvider | Sequence[UpstreamSlot],
        embedded: Provider,
        *,
        look_again: float = LOOK_AGAIN,
        patience: float = LIST_TIMEOUT,
    ) -> None:
        self._places = [UpstreamSlot(places, look_again=look_again)] if callable(places) else list(places)
        self._embedded = embedded
        self._patience = patience

    async def main(self) -> Provider:
        """The server to speak of when no model is named: the first that answers."""
        trouble: HoldfastError | None = None
        for place in sorted(self._places, key=lambda place: not place.health.well):
            try:
                return await place.server() or self._embedded
            except HoldfastError as error:
                trouble = trouble or error
        raise trouble or AssertionError("there is always a place")

    async def servers(self) -> list[Provider]:
        """All that answer; the first one's trouble if none does."""
        if len(self._places) > 1:
            await self.look()
        well: list[Provider] = [place.found for place in self._places if place.found and place.health.well]
        return well or [await self.main()]

    async def route(self, model: str) -> Provider:
        """The server for `model`. Whether it really has that model is for the server to say."""
        if model in (EMBEDDED, f"{EMBEDDED}:latest"):
            return self._embedded
        if (named := self._named(model)) is not None:
            return await named.server() or self._embedded
        if len(self._places) > 1:
            return await self._one_of_several(model)
        main = await self.main()
        if main is self._embedded:
            raise ModelMissing(
                model,
                hint=f"No model server was found; the only model here is '{EMBEDDED}'.",
            )
        return main

    async def asked(
        self, model: str, ask: Callable[[Provider], AsyncGenerator[Chunk, None]]
    ) -> AsyncGenerator[Chunk, None]:
        """What the server for `model` answers, or another that has it if that one does not answer at all.

        Another one has another window, and may be told other things: so `ask` begins anew with it.
        """
        tried = [await self.route(model)]
        while True:
            begun = False
            try:
                async with aclosing(ask(tried[-1])) as chunks:
                    async for chunk in chunks:
                        begun = True
                        yield chunk
            except ProviderError as error:
                if begun:
                    raise
                tried.append(await self._after(error, tried, model))
            else:
                return

    async def reached(self, model: str, ask: Callable[[Provider], Awaitable[T]]) -> T:
        """The same for what has an answer of one piece."""
        tried = [await self.route(model)]
        while True:
            try:
                return await ask(tried[-1])
            except ProviderError as error:
                tried.append(await self._after(error, tried, model))

    async def instead(self, tried: Collection[Provider], model: str) -> Provider | None:
        """Another server for `model`, after those that were `tried` did not answer; None if there is none.

        Who named a server wants that one.
        """
        if len(self._places) == 1 or self._named(model) is not None or self._embedded in tried:
            return None
        for place in await self._having(model):
            server = await place.server()
            if server is not None and server not in tried:
                return server
        return None

    async def models(self) -> list[ModelInfo]:
        """The models of all servers. One that an earlier server has too is listed with its server's name."""
        if len(self._places) == 1:
            server = await self._places[0].server()
            return await (self._places[0].models() if server else self._embedded.models())
        await self._look(0.0, self._places)
        merged: dict[str, ModelInfo] = {}
        for place in self._places:
            for model in (place.listed or ()) if place.health.well else ():
                name = f"{place.name}/{model.name}" if model.name in merged else model.name
                merged[name] = model if name == model.name else rename_model(name, model)
        if not merged:
            # Either they really have none, or somebody's trouble is the reason.
            await self.main()
        return list(merged.values())

    async def usual_model(self) -> str:
        """The one to ask where none is named: one that is in memory, which answers at once, or the first."""
        models = await self.models()
        if not models:
            raise BadRequest("The model server has no models.", hint="Get one first: `ollama pull qwen3:4b`.")
        return next((model.name for model in models if model.running_window), models[0].name)

    async def describe(self, model: str) -> ModelInfo:
        return await (await self.route(model)).describe(model)

    def states(self) -> list[UpstreamState]:
        """How each server is, as far as we have heard."""
        return [place.state() for place in self._places]

    async def look(self) -> None:
        """Asks those of which we have not heard for a while how they are."""
        await self._look(LIST_MAX_AGE, self._places)

    def names_server(self, model: str) -> bool:
        """Whether `model` has the name of one of our servers before it."""
        return self._named(model) is not None

    def changed(self) -> None:
        """The models of some server are others now."""
        for place in self._places:
            place.forget()

    async def aclose(self) -> None:
        await self._embedded.aclose()
        for place in self._places:
            await place.aclose()

    async def _after(self, error: ProviderError, tried: Collection[Provider], model: str) -> Provider:
        """Who is asked after an error; the error itself if there is nobody, or another could not help."""
        other = await self.instead(tried, model) if is_unavailable(error) else None
        if other is None:
            raise error
        log.warning("%s Now %s is asked.", error, other.location)
        return other

    def _named(self, model: str) -> UpstreamSlot | None:
        """The place whose name stands before the model's. A server's own names may have slashes too."""
        label, slash, _ = model.partition("/")
        return next((place for place in self._places if slash and place.name == label), None)

    async def _having(self, model: str) -> list[UpstreamSlot]:
        """The places that list `model`, those that are well first, each in the order they were named in."""
        # Only who never said what it has is waited for; others are asked beside the request.
        await self._look(LIST_MAX_AGE, [place for place in self._places if place.listed is None])
        having = [place for place in self._places if place.has(model)]
        if not having:
            await self._look(1.0, self._places)
            having = [place for place in self._places if place.has(model)]
        return sorted(having, key=lambda place: not place.health.well)

    async def _one_of_several(self, model: str) -> Provider:
        having = await self._having(model)
        for place in having:
            # Who listed a model was found once, and stays.
            if (server := await place.server()) is not None:
                return server
        if away := [place.name for place in self._places if place.listed is None]:
            hint = f"No server that answers has it, and there is no answer from {', '.join(away)}."
            raise ModelMissing(model, hint=hint)
        return await self.main()

    async def _look(self, older_than: float, awaited: Sequence[UpstreamSlot]) -> None:
        looks = {place: place.look(older_than) for place in self._places}
        tasks = [task for place in awaited if (task := looks[place]) is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=self._patience)


def rename_model(name: str, model: ModelInfo) -> ModelInfo:
    """The same model under another name, in its server's own record too."""
    renamed = {field: name for field in ("name", "model", "id", "key") if field in model.raw}
    return replace(model, name=name, raw={**model.raw, **renamed})
