"""A stream that another task can stop, while it waits for the next piece or before it is asked for one.

The consumer gets an error, as if the source had failed.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

from holdfast.errors import HoldfastError

T = TypeVar("T")


class StreamStop:
    """Stops the one stream whose pieces are read through it."""

    def __init__(self) -> None:
        self.error: HoldfastError | None = None
        # The task that waits for the next piece; several tasks may read one stream in turn.
        self._waiting: asyncio.Task[object] | None = None

    def stop(self, error: HoldfastError) -> None:
        if self.error is None:
            self.error = error
            if self._waiting is not None:
                self._waiting.cancel()

    async def next(self, pieces: AsyncGenerator[T, None]) -> T | None:
        """Returns the next piece, None at the end; raises the error it was stopped with."""
        self._check()
        task = self._waiting = asyncio.current_task()
        try:
            return await anext(pieces, None)
        except asyncio.CancelledError:
            # If only the stream was cancelled, the task goes on.
            if self.error is not None and task is not None and not task.uncancel():
                raise self.error from None
            raise
        finally:
            self._waiting = None

    def _check(self) -> None:
        if self.error is not None:
            raise self.error
