"""A stream that another task can stop, while it waits for the next piece or before it is asked for one.

The consumer gets an error, as if the source had failed.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from holdfast.errors import HoldfastError

T = TypeVar("T")


class StreamStop:
    """Stops the one stream that it wraps."""

    def __init__(self) -> None:
        self.error: HoldfastError | None = None
        # The task that waits for the next piece; several tasks may read one stream in turn.
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
                    # If only the stream was cancelled, the task goes on.
                    if self.error is not None and task is not None and not task.uncancel():
                        raise self.error from None
                    raise
                finally:
                    self._waiting = None
                yield piece

    def _check(self) -> None:
        if self.error is not None:
            raise self.error
