"""Which model server answers for which model: those that were named, else one that runs here, else our own.

With several, a model goes to the first that has it and is well; `name/model` names the server. Knows
providers by their protocol only; how they are found and made is handed in.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from holdfast.errors import BadRequest, HoldfastError, ModelMissing, ProviderError
from holdfast.messages import Chunk
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.discovery import EMBEDDED
from holdfast.upstreams.place import LOOK_AGAIN, FindProvider, UpstreamSlot, UpstreamState
from holdfast.upstreams.watched import is_unavailable

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
