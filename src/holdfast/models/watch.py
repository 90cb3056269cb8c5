"""Watches one request: compares what it should have cost with what the server says it did.

Every comparison either teaches the counter, or shows that the server cut the request and told nobody. Knows
counters and chunks; what becomes of an overflow is the engine's business.
"""

import asyncio
import logging

from holdfast.errors import Overflow, StoreError
from holdfast.messages import ChatRequest, Chunk, Image
from holdfast.models.counting import Counters, Learning
from holdfast.models.windows import decides_itself
from holdfast.providers.base import Provider
from holdfast.tokens.calibration import Parts, truncated

log = logging.getLogger("holdfast.models")


class Watch:
    def __init__(self, counters: Counters, provider: Provider, request: ChatRequest, window: int) -> None:
        self._counters = counters
        self._provider = provider
        self._request = request
        self._window = window
        self._reported: int | None = None
        # Counted beside the call to the server: the number is needed only when the server has given its own.
        self._counting = asyncio.create_task(self._count())

    async def see(self, chunk: Chunk) -> None:
        """Raises Overflow if the server's count in this chunk shows that it read less than it was sent."""
        reported = chunk.usage.prompt if chunk.usage is not None else None
        if reported is None or _has_images(self._request):
            return
        counter, parts = await self._counting
        expected = counter.calibration.expected(parts)
        # What certainly fits was not cut, however few tokens a template made of it. But no request is meant
        # to fill the window to its last token: one that does was longer.
        is_full = reported >= self._window - 1
        may_be_cut = expected.high >= self._window and truncated(expected, reported, self._window)
        if (is_full or may_be_cut) and not decides_itself(self._provider):
            raise Overflow(
                f"the model server cut the request to {reported} of about {expected.tokens} tokens",
                hint=f"Its window is {self._window}: start a new chat, or give the model a larger one.",
                window=self._window,
            )
        self._reported = reported

    async def close(self) -> None:
        """Learns from what was seen. By now the answer is out, so nobody waits for it."""
        if self._reported is None:
            self._counting.cancel()
            return
        counter, parts = await self._counting
        try:
            await self._counters.learn(
                self._provider, self._request.model, counter, parts, self._reported, self._window
            )
        except StoreError as error:
            log.warning("what an answer taught about counting could not be kept: %s", error)

    async def _count(self) -> tuple[Learning, Parts]:
        counter = await self._counters.counter(self._provider, self._request.model)
        return counter, await asyncio.to_thread(counter.parts, self._request)


def _has_images(request: ChatRequest) -> bool:
    """What a picture costs is the server's secret: such a request teaches nothing and proves nothing."""
    results = (result for message in request.messages for result in message.tool_results)
    inside = any(isinstance(part, Image) for result in results for part in result.parts)
    return inside or any(message.images for message in request.messages)
