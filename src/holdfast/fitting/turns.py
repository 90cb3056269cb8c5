"""Two requests of one conversation take turns: each builds on what the other decided.

Knows conversations by their ids, and that something is being written for them.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any
from weakref import WeakValueDictionary


class Turns:
    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._writing: dict[str, asyncio.Task[None]] = {}

    def of(self, conversation: str) -> asyncio.Lock:
        return self._locks.setdefault(conversation, asyncio.Lock())

    def write(self, conversation: str, work: Coroutine[Any, Any, None]) -> None:
        """Written while the model reads; whoever builds on it waits for it."""
        self._writing = {name: task for name, task in self._writing.items() if not task.done()}
        self._writing[conversation] = asyncio.create_task(work)

    async def settle(self, conversation: str) -> None:
        """Waits until what was decided for a conversation's last window is kept."""
        writing = self._writing.get(conversation)
        if writing is not None and not writing.done():
            # Shielded: somebody who stops waiting must not stop the writing.
            await asyncio.shield(writing)

    async def close(self) -> None:
        await asyncio.gather(*(writing for writing in self._writing.values() if not writing.done()))
