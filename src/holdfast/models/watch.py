"""Watches one request: compares what it should have cost with what the server says it did.

Every comparison either teaches the counter, or shows that the server cut the request and told nobody. Knows
counters and chunks; what becomes of an overflow is the engine's business.
"""

import asyncio
import logging

from holdfast.errors import Overflow, StoreError
from holdfast.messages import ChatRequest, Chunk, Image
from holdfast.models.counting import Counters
from holdfast.models.windows import has_fixed_window
from holdfast.tokens.calibration import PromptFeatures, is_truncated
from holdfast.tokens.estimate import Estimate
from holdfast.upstreams.base import Provider

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
