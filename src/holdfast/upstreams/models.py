"""What is known of each model on each server: asked once, remembered for a while, settled for good.

Knows providers and the store. How figures follow from what they say is decided in `windows`.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Unpack

from holdfast.errors import BadRequest, ModelMissing, Overflow, StoreError, UpstreamError
from holdfast.messages import ChatRequest, Chunk, Image, JsonObject
from holdfast.store import KnownModel, ModelChanges, Store
from holdfast.tokens.budget import SMALLEST
from holdfast.tokens.calibration import PromptFeatures, is_truncated
from holdfast.tokens.estimate import Estimate
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.counting import Counters, VocabularyCache
from holdfast.upstreams.openai import NO_SUCH_ROUTE
from holdfast.upstreams.windows import (
    Figure,
    ModelFacts,
    Windows,
    full_name,
    has_fixed_window,
    resolve_windows,
)

log = logging.getLogger("holdfast.models")

# After so many answers to requests of a kind it is known what its template leaves out.
_MANY_SAMPLES = 8
# A count that is so much smaller than the least we expect is no matter of counting.
_TOO_FEW = 0.8
# Windows that servers run with, whatever they are asked for.
_COMMON_WINDOWS = tuple(1024 << doublings for doublings in range(11))


class UsageWatch:
    """`expected` is what the request was counted as when it was made to fit."""

    def __init__(
        self, counters: Counters, provider: Provider, request: ChatRequest, window: int, expected: Estimate
    ) -> None:
        self._counters = counters
        self._provider = provider
        self._request = request
        self._window = window
        self._expected = expected
        self._reported: int | None = None

    async def see(self, chunk: Chunk) -> None:
        """Raises Overflow if the server's count in this chunk shows that it read less than it was sent."""
        reported = chunk.usage.prompt if chunk.usage is not None else None
        if reported is None or has_images(self._request):
            return
        if await self._is_cut(reported) and not has_fixed_window(self._provider):
            raise Overflow(
                f"the model server cut the request to {reported} of about {self._expected.tokens} tokens",
                hint=f"Its window should be {self._window}: see what it runs with, or start a new chat.",
                window=self._window,
            )
        self._reported = reported

    async def _is_cut(self, reported: int) -> bool:
        expected = self._expected
        # No request is meant to fill the window to its last token: one that does was longer.
        if reported >= self._window - 1:
            return True
        if expected.high >= self._window and is_truncated(expected, reported, self._window):
            return True
        # What should have fitted is cut by a server that has less room than it was asked for. Few tokens
        # alone may be the work of a template that leaves text out, as long as we do not know the template.
        if any(
            looks_truncated(window, reported)
            for window in (self._window, *_COMMON_WINDOWS)
            if window <= self._window
        ):
            return reported < expected.low
        return reported < _TOO_FEW * expected.low and await self._is_known()

    async def _is_known(self) -> bool:
        """Whether enough was learned from requests like this one. Templates differ most about thinking."""
        if any(message.thinking for message in self._request.messages):
            return False
        counter = await self._counters.counter(self._provider, self._request.model)
        kind = template_features(await asyncio.to_thread(counter.request_features, self._request))
        return (
            sum(template_features(sample.features) == kind for sample in counter.calibration.samples)
            >= _MANY_SAMPLES
        )

    async def close(self) -> None:
        """Learns from what was seen. By now the answer is out, so nobody waits for it."""
        if self._reported is None:
            return
        try:
            await self._counters.learn(self._provider, self._request, self._reported, self._window)
        except StoreError as error:
            log.warning("what an answer taught about counting could not be kept: %s", error)


def template_features(parts: PromptFeatures) -> tuple[bool, ...]:
    """What templates may leave out: instructions, tools, calls, all but the newest message."""
    return parts.unprompted, parts.tools > 0, parts.calls > 0, parts.messages > 2


def looks_truncated(window: int, reported: int) -> bool:
    """Whether this is what a server with such a window leaves of a request that is too long for it."""
    return is_truncated(Estimate(window + 1, 1, window + 1), reported, window)


def has_images(request: ChatRequest) -> bool:
    """What a picture costs is the server's secret: such a request teaches nothing and proves nothing."""
    results = (result for message in request.messages for result in message.tool_results)
    inside = any(isinstance(part, Image) for result in results for part in result.parts)
    return inside or any(message.images for message in request.messages)


# What a model was trained for does not change under us, and people use few models at a time.
_REMEMBERED, _SECONDS = 10, 600.0
# What another process sets for a model is noticed after so many seconds.
_NOTICED = 2.0


class ModelRegistry:
    """`cache` is a folder for what can be fetched again."""

    def __init__(self, store: Store, cache: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.vocabularies = VocabularyCache(cache / "vocabularies")
        self.counters = Counters(store, self.vocabularies)
        self._store = store
        self._clock = clock
        self._rows: dict[tuple[str, str], tuple[float, KnownModel | None]] = {}
        self._described: OrderedDict[tuple[str, str], tuple[float, ModelInfo]] = OrderedDict()

    async def windows(self, provider: Provider, model: str, *, asked: int | None = None) -> Windows:
        """The figures for `model`; `asked` is the window a client named. Nothing is settled by asking."""
        windows, _ = await self._figures(provider, model, asked)
        return windows

    async def settled(self, provider: Provider, model: str, *, asked: int | None = None) -> Windows:
        """The same, and from now on the window for this model is that one, until somebody sets another.

        A server that is asked for another window loads its model anew and loses its cache; a client that
        names a different one in every request must not cause that.
        """
        windows, known = await self._figures(provider, model, asked)
        if not has_fixed_window(provider):
            settled = read_facts(known).settled
            if settled is None or settled.tokens < SMALLEST:
                figure = {"tokens": windows.used.tokens, "source": windows.used.source}
                known = await self._read(provider, model)
                info = {**(known.info if known else {}), "settled": figure}
                await self._put(provider, model, **window_changes(windows, info))
        return windows

    async def set_window(
        self, provider: Provider, model: str, *, num_ctx: int | None = None, recommended: int | None = None
    ) -> Windows:
        """Fixes the window of a model, or the one recommended for it; 0 leaves it to us again."""
        for tokens in (num_ctx, recommended):
            if tokens and tokens < SMALLEST:
                raise BadRequest(
                    f"a window of {tokens} tokens holds no conversation",
                    hint=f"Give at least {SMALLEST}.",
                    param="num_ctx",
                )
        await self._info(provider, model)
        known = await self._read(provider, model)
        info = dict(known.info) if known else {}
        changes: ModelChanges = {"info": info}
        if num_ctx is not None:
            info.pop("settled", None)
            changes["num_ctx"] = num_ctx or None
        if recommended is not None:
            info["recommended"] = recommended or None
        await self._put(provider, model, **changes)
        return await self.windows(provider, model)

    async def aclose(self) -> None:
        await self.vocabularies.aclose()

    def watch(self, provider: Provider, request: ChatRequest, window: int, expected: Estimate) -> UsageWatch:
        """Somebody to compare this request's true cost with what it should have been."""
        return UsageWatch(self.counters, provider, request, window, expected)

    def look_again(self, provider: Provider, model: str) -> None:
        """After a load, a reload or an overflow what runs may be something else."""
        self._described.pop((provider.location, full_name(provider, model)), None)

    def changed(self, provider: Provider, model: str) -> None:
        """Another model has this name now, or none: nothing that was read of it holds any more."""
        self.look_again(provider, model)
        self.vocabularies.forget(provider, model)

    async def _figures(
        self, provider: Provider, model: str, asked: int | None
    ) -> tuple[Windows, KnownModel | None]:
        """Servers answer to names they do not list: one that nobody described is none the worse for it."""
        try:
            info = await self._info(provider, model)
        except ModelMissing:
            info = ModelInfo(model)
        except UpstreamError as error:
            if error.status not in NO_SUCH_ROUTE:
                raise
            info = ModelInfo(model)
        known = await self._known(provider, model)
        return resolve_windows(info, read_facts(known), asked, fixed=has_fixed_window(provider)), known

    async def _known(self, provider: Provider, model: str) -> KnownModel | None:
        found = self._rows.get((provider.location, full_name(provider, model)))
        if found is not None and self._clock() - found[0] <= _NOTICED:
            return found[1]
        return await self._read(provider, model)

    async def _read(self, provider: Provider, model: str) -> KnownModel | None:
        key = provider.location, full_name(provider, model)
        row = await self._store.run(self._store.models.get, *key)
        self._rows[key] = self._clock(), row
        return row

    async def _put(self, provider: Provider, model: str, **changes: Unpack[ModelChanges]) -> None:
        key = provider.location, full_name(provider, model)
        row = await self._store.run(self._store.models.put, *key, **changes)
        self._rows[key] = self._clock(), row

    async def _info(self, provider: Provider, model: str) -> ModelInfo:
        key, now = (provider.location, full_name(provider, model)), self._clock()
        found = self._described.get(key)
        if found is None or now - found[0] > _SECONDS:
            found = now, await provider.describe(model)
            self._described[key] = found
        self._described.move_to_end(key)
        while len(self._described) > _REMEMBERED:
            self._described.popitem(last=False)
        return found[1]


def read_facts(known: KnownModel | None) -> ModelFacts:
    if known is None:
        return ModelFacts()
    settled = known.info.get("settled")
    return ModelFacts(
        num_ctx=known.num_ctx,
        recommended=known.info.get("recommended"),
        settled=Figure(settled["tokens"], settled["source"]) if settled else None,
    )


def window_changes(windows: Windows, info: JsonObject) -> ModelChanges:
    return {
        "info": info,
        "trained_window": windows.trained.tokens if windows.trained else None,
        "recommended_ctx": windows.recommended.tokens,
    }
