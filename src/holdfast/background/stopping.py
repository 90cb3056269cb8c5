"""A stream that somebody else may end: while it waits for its next piece, or before it is asked for it.

Its consumer gets an error in its place, as if the source had failed. Knows nothing of what is streamed.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from holdfast.errors import HoldfastError

T = TypeVar("T")


class StreamStop:
    """Ends the one stream it is put `over`."""

    def __init__(self) -> None:
        self.error: HoldfastError | None = None
        # Whoever waits for the next piece; one stream may be read by several tasks, one after the other.
        self._waiting: asyncio.Task[object] | None = None

    def stop(self, error: HoldfastError) -> None:
        if self.error is None:
            self.error = error
            if self._waiting is not None:
                self._waiting.cancel()

    async def wrap(self, pieces: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        async with aclosing(pieces):
            while True:
                self._check()
                task = self._waiting = asyncio.current_task()
                try:
                    piece = await anext(pieces)
                except StopAsyncIteration:
                    return
                except asyncio.CancelledError:
                    # If it was for the stream alone, the task goes on.
                    if self.error is not None and task is not None and not task.uncancel():
                        raise self.error from None
                    raise
                finally:
                    self._waiting = None
                yield piece

    def _check(self) -> None:
        if self.error is not None:
            raise self.error
