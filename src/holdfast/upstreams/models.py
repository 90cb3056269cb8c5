"""What is known of each model on each server, cached and stored: windows, counters, a request's true size.

A counter is exact if the vocabulary of its model is available, else an estimate; both learn. Vocabularies
are fetched in the background and cached on disk; calibrations are stored in the database.
"""

import asyncio
import hashlib
import logging
import os
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Unpack

from holdfast.errors import (
    BadRequest,
    HoldfastError,
    ModelMissing,
    Overflow,
    ProviderError,
    StoreError,
    UpstreamError,
)
from holdfast.i18n import lazy
from holdfast.messages import ChatRequest, Image, JsonObject, Message, Usage
from holdfast.store import KnownModel, ModelChanges, Store
from holdfast.tokens.budget import SMALLEST
from holdfast.tokens.calibration import Calibration, PromptFeatures, is_truncated
from holdfast.tokens.counter import Count, EstimatingCounter, ExactCounter
from holdfast.tokens.estimate import Estimate, Family, family_of
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary, VocabularyError
from holdfast.upstreams.base import ModelInfo, Provider
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

# A tokenizer takes tens of megabytes of memory, and few models are used at a time.
_IN_MEMORY = 4
# Seconds that the first request after a restart waits for a vocabulary that was used before; from the disk
# it takes less than half of one.
_PATIENCE = 3.0


class VocabularyCache:
    """Tokenizers by server and model. `folder` is a cache that can be deleted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready: OrderedDict[ModelKey, Tokenizer] = OrderedDict()
        self._why_not: dict[ModelKey, str] = {}
        self._loading: dict[ModelKey, asyncio.Task[Tokenizer | None]] = {}

    def at_hand(self, provider: Provider, model: str) -> Tokenizer | None:
        """Returns the tokenizer if it is loaded; otherwise starts to load it and returns None."""
        key = model_key(provider, model)
        if key in self._ready:
            self._ready.move_to_end(key)
            return self._ready[key]
        if key not in self._why_not and key not in self._loading:
            self._loading[key] = asyncio.create_task(self._load(provider, model, key))
        return None

    async def tokenizer(
        self, provider: Provider, model: str, patience: float | None = None
    ) -> Tokenizer | None:
        """Waits for the tokenizer, `patience` seconds at most, and returns it; None if there is none, see
        `why_not`.
        """
        tokenizer = self.at_hand(provider, model)
        loading = self._loading.get(model_key(provider, model))
        if loading is None:
            return tokenizer
        await asyncio.wait({loading}, timeout=patience)
        return loading.result() if loading.done() else None

    def why_not(self, provider: Provider, model: str) -> str:
        """Returns why there is no tokenizer for this model; empty while that is unknown."""
        return self._why_not.get(model_key(provider, model), "")

    def forget(self, provider: Provider, model: str) -> None:
        """Removes a model from memory because its name has another meaning now. Files are named by digest."""
        key = model_key(provider, model)
        self._ready.pop(key, None)
        self._why_not.pop(key, None)

    async def aclose(self) -> None:
        for task in list(self._loading.values()):
            task.cancel()
        await asyncio.gather(*self._loading.values(), return_exceptions=True)

    async def _load(self, provider: Provider, model: str, key: ModelKey) -> Tokenizer | None:
        try:
            vocabulary = await self._vocabulary(provider, model)
            if vocabulary is None:
                self._why_not[key] = "the server does not give the model's vocabulary away"
                return None
            tokenizer = await asyncio.to_thread(Tokenizer, vocabulary)
        except VocabularyError as error:
            self._why_not[key] = error.message
            return None
        except HoldfastError:
            # The server is unavailable or has no such model; the next call tries again.
            return None
        finally:
            self._loading.pop(key, None)
        self._ready[key] = tokenizer
        while len(self._ready) > _IN_MEMORY:
            self._ready.popitem(last=False)
        return tokenizer

    async def _vocabulary(self, provider: Provider, model: str) -> Vocabulary | None:
        path = self._folder / f"{vocabulary_digest(await provider.describe(model), provider)}.gguf"
        with suppress(VocabularyError):
            return await asyncio.to_thread(Vocabulary.from_gguf, path)
        # The file is missing or damaged: the vocabulary is fetched.
        vocabulary = await provider.vocabulary(model)
        if vocabulary is not None:
            await asyncio.to_thread(save_vocabulary, vocabulary, path)
        return vocabulary


def vocabulary_digest(info: ModelInfo, provider: Provider) -> str:
    """Returns a file name: a hash of the digest the server reports, else of what identifies the model."""
    if info.digest:
        return hashlib.sha256(info.digest.encode()).hexdigest()[:32]
    identity = f"{provider.location}\n{info.name}\n{info.size}\n{info.modified_at}"
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


def save_vocabulary(vocabulary: Vocabulary, path: Path) -> None:
    """Writes a vocabulary to the cache atomically; errors are ignored, it is then fetched again next time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        os.close(descriptor)
        try:
            vocabulary.save(name)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError:
        return


LearningCounter = ExactCounter | EstimatingCounter

_MAX_COUNTERS = 16
# Learning costs some milliseconds and a write: all of the first answers are used, later only some.
_EVERY_ANSWER_UNTIL, _THEN_EVERY = 24, 32


class Counters:
    """The counters of recently used models, with their calibrations in the store."""

    def __init__(self, store: Store, vocabularies: VocabularyCache) -> None:
        self._store = store
        self._vocabularies = vocabularies
        self._counters: OrderedDict[tuple[str, str, str], LearningCounter] = OrderedDict()
        self._seen: dict[tuple[str, str, str], int] = {}
        # The last lesson of each model that is not over yet.
        self._lessons: dict[ModelKey, asyncio.Task[None]] = {}

    async def counter(self, provider: Provider, model: str, *families: str) -> LearningCounter:
        """Returns the best counter available now, with all that the answers before have taught it.

        `families` are other names to find the family by.
        """
        if lesson := self._lessons.get(model_key(provider, model)):
            await asyncio.wait({lesson})
        return await self._counter(provider, model, *families)

    async def _counter(self, provider: Provider, model: str, *families: str) -> LearningCounter:
        tokenizer = self._vocabularies.at_hand(provider, model)
        if tokenizer is None and await self._has_counted(provider, model):
            # After a restart it is read from the disk. An estimate has learned nothing of this model, and
            # its first questions would get less room than those before.
            tokenizer = await self._vocabularies.tokenizer(provider, model, _PATIENCE)
        key = (*model_key(provider, model), "estimate" if tokenizer is None else "exact")
        counter = self._counters.get(key)
        if counter is None:
            family = family_of(model, *families)
            calibration = await self._calibration(key, family)
            counter = (
                EstimatingCounter(family, calibration)
                if tokenizer is None
                else ExactCounter(tokenizer, calibration)
            )
            # Somebody else may have been faster: there is one for all, or what one learned were lost.
            counter = self._counters.setdefault(key, counter)
        self._counters.move_to_end(key)
        while len(self._counters) > _MAX_COUNTERS:
            self._counters.popitem(last=False)
        return counter

    async def count_text(self, provider: Provider, model: str, text: str, *families: str) -> Count:
        """Counts plain text in the most exact way: by vocabulary, by the server, else by estimate."""
        tokenizer = await self._vocabularies.tokenizer(provider, model)
        if tokenizer is None:
            try:
                tokens = await provider.tokenize(model, text)
            except (UpstreamError, ModelMissing):
                # Not every server, or proxy before one, has the route that its kind should have.
                tokens = None
            if tokens is not None:
                return Count.from_server(len(tokens), f"{provider.name} at {provider.location}")
        counter = await self.counter(provider, model, *families)
        return await asyncio.to_thread(counter.count_text, text)

    async def count_request(self, provider: Provider, request: ChatRequest) -> Count:
        """Counts a whole request: by the server if it can, else by the model's counter."""
        tokens = await provider.count(request)
        if tokens is not None:
            return Count.from_server(tokens, f"{provider.name} at {provider.location}")
        counter = await self.counter(provider, request.model)
        return await asyncio.to_thread(counter.count_request, request)

    def learn_soon(self, provider: Provider, request: ChatRequest, reported: int, num_ctx: int) -> None:
        """Learns from a reported count in a task of its own, after the lessons before it.

        Nobody waits for it but those who count for this model next, so their windows do not depend on timing.
        """
        key = model_key(provider, request.model)
        earlier = self._lessons.get(key)

        async def learn() -> None:
            if earlier is not None:
                await asyncio.wait({earlier})
            try:
                await self.learn(provider, request, reported, num_ctx)
            except StoreError as error:
                log.warning("what an answer taught about counting could not be kept: %s", error)

        def forget(ended: asyncio.Task[None]) -> None:
            if self._lessons.get(key) is ended:
                del self._lessons[key]

        lesson = self._lessons[key] = asyncio.create_task(learn())
        lesson.add_done_callback(forget)

    async def aclose(self) -> None:
        """Waits for what is being learned."""
        await asyncio.gather(*self._lessons.values(), return_exceptions=True)

    async def learn(self, provider: Provider, request: ChatRequest, reported: int, num_ctx: int) -> None:
        """Learns from the count that a server reported for a request, and stores the calibration."""
        model = request.model
        counter = await self._counter(provider, model)
        key = (*model_key(provider, model), counter.method)
        number = self._seen[key] = self._seen.get(key, 0) + 1
        if number > _EVERY_ANSWER_UNTIL and number % _THEN_EVERY:
            return
        features, before = await asyncio.to_thread(counter.request_features, request), counter.calibration
        counter.calibration = await asyncio.to_thread(before.learn, features, reported, num_ctx=num_ctx)
        if counter.calibration is before:
            return
        if len(before.samples) == 0:
            await self._probe(provider, model, counter, num_ctx)
        await self._store.run(self._store.atomically, self._save, key, counter.calibration.to_json())

    async def _probe(self, provider: Provider, model: str, counter: LearningCounter, num_ctx: int) -> None:
        """Learns what the template adds from small chats that the server only renders.

        Done after the first answer, because rendering loads the model, and with the window of that answer,
        because another one would reload it.
        """
        tokenizer = self._vocabularies.at_hand(provider, model)
        if tokenizer is None:
            return
        for request in template_probes(model):
            try:
                text = await provider.render(request.with_options(num_ctx=num_ctx))
            except ProviderError:
                return
            if text is None:
                return
            tokens = await asyncio.to_thread(tokenizer.count, text, special=True)
            counter.calibration = counter.calibration.learn(counter.request_features(request), tokens)

    async def _has_counted(self, provider: Provider, model: str) -> bool:
        """Whether this model's vocabulary was used before and may be so again."""
        if self._vocabularies.why_not(provider, model):
            return False
        return "exact" in await self._stored(*model_key(provider, model))

    async def _calibration(self, key: tuple[str, str, str], family: Family) -> Calibration:
        location, model, method = key
        text = (await self._stored(location, model)).get(method, "")
        return Calibration.from_json("exact" if method == "exact" else "estimate", family.name, text)

    async def _stored(self, location: str, model: str) -> Mapping[str, str]:
        """The calibrations of a model that were saved, by the method of counting."""
        row = await self._store.run(self._store.models.get, location, model)
        return (row.info.get("calibration") if row else None) or {}

    def _save(self, key: tuple[str, str, str], calibration: str) -> None:
        location, model, method = key
        row = self._store.models.get(location, model)
        info = dict(row.info) if row else {}
        info["calibration"] = {**(info.get("calibration") or {}), method: calibration}
        self._store.models.put(location, model, info=info)


def template_probes(model: str) -> list[ChatRequest]:
    """Returns chats that differ in one thing each: another message, instructions, a tool."""
    question, answer = Message.of("user", "Name a colour."), Message.of("assistant", "Blue.")
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    function = {"name": "weather", "description": "The weather of a city.", "parameters": parameters}
    system = Message.of("system", "You are brief.")
    return [
        ChatRequest(model, (question,)),
        ChatRequest(model, (question, answer, question)),
        ChatRequest(model, (system, question, answer, question)),
        ChatRequest(model, (system, question), tools=({"type": "function", "function": function},)),
    ]


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

    async def see(self, usage: Usage) -> None:
        """Raises Overflow if the server's count shows that it read less than it was sent."""
        reported = usage.prompt
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
