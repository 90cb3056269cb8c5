"""Watches a folder, so that what somebody writes there is noticed soon. Missing a change loses nothing.

What is no folder of this machine is looked at from time to time.

Knows no notes: whoever wants to know is called after a change, once things have settled.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from watchfiles import awatch

from holdfast.errors import HoldfastError

log = logging.getLogger("holdfast.background")

# Editors write a file in several steps: it is told of once they are quiet for so many milliseconds.
_DEBOUNCE_MILLISECONDS = 1_500
# Seconds between two looks at what cannot be watched.
_POLL_SECONDS = 15.0


class FolderWatcher:
    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    def watch(self, folder: Path, changed: Callable[[], None]) -> None:
        """Call `changed` after every change below `folder`, which is made if it is not there."""
        self._task = asyncio.create_task(self._watch(folder, changed))

    def poll(
        self, state: Callable[[], object], changed: Callable[[], None], every: float = _POLL_SECONDS
    ) -> None:
        """Call `changed` whenever `state`, which may take a while, is another one, or was away."""
        self._task = asyncio.create_task(self._poll(state, changed, every))

    async def close(self) -> None:
        self._stop.set()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _poll(self, state: Callable[[], object], changed: Callable[[], None], every: float) -> None:
        known, before = False, None
        while True:
            try:
                now = await asyncio.to_thread(state)
            except HoldfastError as error:
                log.info("what is there could not be looked at: %s", error)
                # Nobody knows what was missed.
                known, before = True, None
            else:
                if known and now != before:
                    changed()
                known, before = True, now
            await asyncio.sleep(every)

    async def _watch(self, folder: Path, changed: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
            async for _ in awatch(
                folder, debounce=_DEBOUNCE_MILLISECONDS, stop_event=self._stop, recursive=True
            ):
                changed()
        except (OSError, RuntimeError) as error:
            # Some file systems cannot be watched; then changes are noticed when somebody searches.
            log.info("%s cannot be watched: %s", folder, error)
