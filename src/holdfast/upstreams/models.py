"""What is known of each model on each server, cached and stored, and the check of a request's true size."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Unpack

from holdfast.errors import BadRequest, ModelMissing, Overflow, UpstreamError
from holdfast.i18n import lazy
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
    ModelKey,
    Windows,
    has_fixed_window,
    model_key,
    resolve_windows,
)

log = logging.getLogger("holdfast.models")

# After so many answers to similar requests it is known what the template leaves out.
_MANY_SAMPLES = 8
# A count below this share of the lower bound is not an error of counting.
_TOO_FEW = 0.8
# Windows that servers commonly run with, whatever is requested.
_COMMON_WINDOWS = tuple(1024 << doublings for doublings in range(11))


class UsageWatch:
    """Compares the expected size of one request with the server's count.

    A count either teaches the counter, or shows that the server silently truncated the request. `expected` is
    the estimate with which the request was fitted.
    """

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
                lazy(
                    "the model server cut the request to {reported} of about {tokens} tokens",
                    reported=reported,
                    tokens=self._expected.tokens,
                ),
                hint=lazy(
                    "Its window should be {window}: see what it runs with, or start a new chat.",
                    window=self._window,
                ),
                window=self._window,
            )
        self._reported = reported

    async def _is_cut(self, reported: int) -> bool:
        expected = self._expected
        # No request is fitted to fill the window to its last token: one that does was longer.
        if reported >= self._window - 1:
            return True
        if expected.high >= self._window and is_truncated(expected, reported, self._window):
            return True
        # A server with a smaller window than requested truncates a request that should fit. A low count alone
        # may come from a template that leaves text out, until the template is known.
        if any(
            # As a server with such a window would report a truncated request.
            is_truncated(Estimate(window + 1, 1, window + 1), reported, window)
            for window in (self._window, *_COMMON_WINDOWS)
            if window <= self._window
        ):
            return reported < expected.low
        return reported < _TOO_FEW * expected.low and await self._is_known()

    async def _is_known(self) -> bool:
        """Whether there are enough samples of similar requests; never with thinking: templates differ."""
        if any(message.thinking for message in self._request.messages):
            return False
        counter = await self._counters.counter(self._provider, self._request.model)
        kind = template_features(await asyncio.to_thread(counter.request_features, self._request))
        return (
            sum(template_features(sample.features) == kind for sample in counter.calibration.samples)
            >= _MANY_SAMPLES
        )

    def close(self) -> None:
        """Lets the counter learn from the reported count; whoever counts for this model next waits for it."""
        if self._reported is not None:
            self._counters.learn_soon(self._provider, self._request, self._reported, self._window)


def template_features(features: PromptFeatures) -> tuple[bool, ...]:
    """Returns which things that templates may leave out are there: instructions, tools, calls, history."""
    return features.unprompted, features.tools > 0, features.calls > 0, features.messages > 2


def has_images(request: ChatRequest) -> bool:
    """Whether a request has images, whose cost is unknown, so that its count says nothing."""
    results = (result for message in request.messages for result in message.tool_results)
    inside = any(isinstance(part, Image) for result in results for part in result.parts)
    return inside or any(message.images for message in request.messages)


# Size and maximum age of the cache of descriptions: they rarely change, and few models are used at a time.
_REMEMBERED, _SECONDS = 10, 600.0
# Seconds after which changes by another process are noticed.
_NOTICED = 2.0


class ModelRegistry:
    """Windows and counters of all models. `cache` is a folder for what can be fetched again."""

    def __init__(self, store: Store, cache: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.vocabularies = VocabularyCache(cache / "vocabularies")
        self.counters = Counters(store, self.vocabularies)
        self._store = store
        self._clock = clock
        self._rows: dict[ModelKey, tuple[float, KnownModel | None]] = {}
        self._described: OrderedDict[ModelKey, tuple[float, ModelInfo]] = OrderedDict()
        # The windows last resolved for each model, and what they were resolved from.
        self._resolved: dict[ModelKey, tuple[ModelInfo, KnownModel | None, int | None, Windows]] = {}

    async def windows(self, provider: Provider, model: str, *, asked: int | None = None) -> Windows:
        """Returns the windows of `model`; `asked` is the window a client named. Stores nothing."""
        windows, _ = await self._figures(provider, model, asked)
        return windows

    async def settle_windows(self, provider: Provider, model: str, *, asked: int | None = None) -> Windows:
        """Returns the windows and stores the one in use, which stays until somebody sets another.

        A server reloads its model and loses its cache when another window is requested; a client that names
        a different one in every request must not cause that.
        """
        windows, row = await self._figures(provider, model, asked)
        if not has_fixed_window(provider):
            settled = read_facts(row).settled
            if settled is None or settled.tokens < SMALLEST:
                figure = {"tokens": windows.used.tokens, "source": windows.used.source}
                row = await self._read(provider, model)
                info = {**(row.info if row else {}), "settled": figure}
                await self._put(provider, model, **window_changes(windows, info))
        return windows

    async def set_window(
        self, provider: Provider, model: str, *, num_ctx: int | None = None, recommended: int | None = None
    ) -> Windows:
        """Sets the window of a model, or the one recommended for it; 0 restores the default."""
        for tokens in (num_ctx, recommended):
            if tokens and tokens < SMALLEST:
                raise BadRequest(
                    lazy("a window of {tokens} tokens holds no conversation", tokens=tokens),
                    hint=lazy("Give at least {smallest}.", smallest=SMALLEST),
                    param="num_ctx",
                )
        await self._info(provider, model)
        row = await self._read(provider, model)
        info = dict(row.info) if row else {}
        changes: ModelChanges = {"info": info}
        if num_ctx is not None:
            info.pop("settled", None)
            changes["num_ctx"] = num_ctx or None
        if recommended is not None:
            info["recommended"] = recommended or None
        await self._put(provider, model, **changes)
        return await self.windows(provider, model)

    async def aclose(self) -> None:
        await self.counters.aclose()
        await self.vocabularies.aclose()

    def watch(self, provider: Provider, request: ChatRequest, window: int, expected: Estimate) -> UsageWatch:
        """Returns a watch that compares this request's true size with the expected one."""
        return UsageWatch(self.counters, provider, request, window, expected)

    def look_again(self, provider: Provider, model: str) -> None:
        """Drops the cached description, because after a load or an overflow it may have changed."""
        self._described.pop(model_key(provider, model), None)

    def invalidate(self, provider: Provider, model: str) -> None:
        """Drops all that was read of a model, because its name means another model now, or none."""
        self.look_again(provider, model)
        self.vocabularies.forget(provider, model)

    async def _figures(
        self, provider: Provider, model: str, asked: int | None
    ) -> tuple[Windows, KnownModel | None]:
        """Returns the windows and the stored row. Servers accept names that they do not list."""
        try:
            info = await self._info(provider, model)
        except ModelMissing:
            info = ModelInfo(model)
        except UpstreamError as error:
            if error.status not in NO_SUCH_ROUTE:
                raise
            info = ModelInfo(model)
        key = model_key(provider, model)
        cached = self._rows.get(key)
        fresh = cached is not None and self._clock() - cached[0] <= _NOTICED
        row = cached[1] if cached is not None and fresh else await self._read(provider, model)
        last = self._resolved.get(key)
        if last is None or last[0] is not info or last[1:3] != (row, asked):
            windows = resolve_windows(info, read_facts(row), asked, fixed=has_fixed_window(provider))
            last = self._resolved[key] = info, row, asked, windows
        return last[3], row

    async def _read(self, provider: Provider, model: str) -> KnownModel | None:
        key = model_key(provider, model)
        row = await self._store.run(self._store.models.get, *key)
        self._rows[key] = self._clock(), row
        return row

    async def _put(self, provider: Provider, model: str, **changes: Unpack[ModelChanges]) -> None:
        key = model_key(provider, model)
        row = await self._store.run(self._store.models.put, *key, **changes)
        self._rows[key] = self._clock(), row

    async def _info(self, provider: Provider, model: str) -> ModelInfo:
        key, now = model_key(provider, model), self._clock()
        cached = self._described.get(key)
        if cached is None or now - cached[0] > _SECONDS:
            cached = now, await provider.describe(model)
            self._described[key] = cached
        self._described.move_to_end(key)
        while len(self._described) > _REMEMBERED:
            self._described.popitem(last=False)
        return cached[1]


def read_facts(row: KnownModel | None) -> ModelFacts:
    """Returns the facts in a stored row."""
    if row is None:
        return ModelFacts()
    settled = row.info.get("settled")
    return ModelFacts(
        num_ctx=row.num_ctx,
        recommended=row.info.get("recommended"),
        settled=Figure(settled["tokens"], settled["source"]) if settled else None,
    )


def window_changes(windows: Windows, info: JsonObject) -> ModelChanges:
    return {
        "info": info,
        "trained_window": windows.trained.tokens if windows.trained else None,
        "recommended_ctx": windows.recommended.tokens,
    }
