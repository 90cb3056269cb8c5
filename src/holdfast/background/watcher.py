"""Watches a folder for changes, or polls a state that cannot be watched.

The callback runs after a change, once writing has settled. A missed change loses nothing, since every search
looks for itself.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from watchfiles import awatch

from holdfast.errors import HoldfastError

log = logging.getLogger("holdfast.background")

# Editors write a file in several steps: a change is reported after so many quiet milliseconds.
_DEBOUNCE_MILLISECONDS = 1_500
# Seconds between two checks of what cannot be watched.
_POLL_SECONDS = 15.0


class FolderWatcher:
    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    def watch(self, folder: Path, changed: Callable[[], None]) -> None:
        """Calls `changed` after every change below `folder`, which is created if it does not exist."""
        self._task = asyncio.create_task(self._watch(folder, changed))

    def poll(
        self, state: Callable[[], object], changed: Callable[[], None], every: float = _POLL_SECONDS
    ) -> None:
        """Calls `changed` whenever the result of `state` (which may be slow) changes or was unavailable."""
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
                # Changes may have been missed.
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
            # Some file systems cannot be watched; then changes are noticed at the next search.
            log.info("%s cannot be watched: %s", folder, error)
