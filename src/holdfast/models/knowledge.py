"""What is known of each model on each server: asked once, remembered for a while, settled for good.

Knows providers and the store. How figures follow from what they say is decided in `windows`.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from holdfast.errors import BadRequest, ModelMissing
from holdfast.messages import ChatRequest
from holdfast.models.counting import Counters
from holdfast.models.vocabularies import Vocabularies
from holdfast.models.watch import Watch
from holdfast.models.windows import Figure, Memory, Windows, decides_itself, windows_of
from holdfast.providers.base import ModelInfo, Provider
from holdfast.store import KnownModel, Store

# What a model was trained for does not change under us, and people use few models at a time.
_REMEMBERED, _SECONDS = 10, 600.0
_SMALLEST_SETTING = 512


class Models:
    """`cache` is a folder for what can be fetched again."""

    def __init__(self, store: Store, cache: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.vocabularies = Vocabularies(cache / "vocabularies")
        self.counters = Counters(store, self.vocabularies)
        self._store = store
        self._clock = clock
        self._described: OrderedDict[tuple[str, str], tuple[float, ModelInfo]] = OrderedDict()

    async def windows(self, provider: Provider, model: str, *, asked: int | None = None) -> Windows:
        """The figures for `model`; `asked` is the window a client named. Nothing is settled by asking.

        Servers answer to names they do not list, so a model that nobody described is none the worse for it.
        """
        try:
            info = await self._info(provider, model)
        except ModelMissing:
            info = ModelInfo(model)
        known = await self._store.run(self._store.models.get, provider.location, model)
        return windows_of(info, _memory(known), asked, fixed=decides_itself(provider))

    async def settled(self, provider: Provider, model: str, *, asked: int | None = None) -> Windows:
        """The same, and from now on the window for this model is that one, until somebody sets another.

        A server that is asked for another window loads its model anew and loses its cache; a client that
        names a different one in every request must not cause that.
        """
        windows = await self.windows(provider, model, asked=asked)
        if not decides_itself(provider):
            known = await self._store.run(self._store.models.get, provider.location, model)
            if known is None or "settled" not in known.info:
                figure = {"tokens": windows.used.tokens, "source": windows.used.source}
                info = {**(known.info if known else {}), "settled": figure}
                await self._store.run(
                    self._store.models.put, provider.location, model, info=info, **_columns(windows)
                )
        return windows

    async def set_window(self, provider: Provider, model: str, tokens: int | None) -> Windows:
        """Fixes the window of a model; None leaves it to us again."""
        if tokens is not None and tokens < _SMALLEST_SETTING:
            raise BadRequest(
                f"a window of {tokens} tokens holds no conversation",
                hint=f"Give at least {_SMALLEST_SETTING}.",
                param="num_ctx",
            )
        await self._info(provider, model)
        known = await self._store.run(self._store.models.get, provider.location, model)
        info = {name: value for name, value in (known.info if known else {}).items() if name != "settled"}
        await self._store.run(self._store.models.put, provider.location, model, num_ctx=tokens, info=info)
        return await self.windows(provider, model)

    async def aclose(self) -> None:
        await self.vocabularies.aclose()

    def watch(self, provider: Provider, request: ChatRequest, window: int) -> Watch:
        """Somebody to compare this request's true cost with what it should have been."""
        return Watch(self.counters, provider, request, window)

    def look_again(self, provider: Provider, model: str) -> None:
        """After a load, a reload or an overflow what runs may be something else."""
        self._described.pop((provider.location, model), None)

    async def _info(self, provider: Provider, model: str) -> ModelInfo:
        key, now = (provider.location, model), self._clock()
        found = self._described.get(key)
        if found is None or now - found[0] > _SECONDS:
            found = now, await provider.describe(model)
            self._described[key] = found
        self._described.move_to_end(key)
        while len(self._described) > _REMEMBERED:
            self._described.popitem(last=False)
        return found[1]


def _memory(known: KnownModel | None) -> Memory:
    if known is None:
        return Memory()
    settled = known.info.get("settled")
    return Memory(
        num_ctx=known.num_ctx,
        recommended=None,
        settled=Figure(settled["tokens"], settled["source"]) if settled else None,
    )


def _columns(windows: Windows) -> dict[str, int | None]:
    return {
        "trained_window": windows.trained.tokens if windows.trained else None,
        "recommended_ctx": windows.recommended.tokens,
    }
