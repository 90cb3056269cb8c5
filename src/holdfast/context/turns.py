"""Two requests of one conversation take turns: each builds on what the other decided.

Knows conversations by their ids, and that what was decided for them may not be written yet.
"""

import asyncio
from collections.abc import Awaitable, Callable
from weakref import WeakValueDictionary


class Turns:
    """`hurry` has what was decided for a conversation written, if it is not."""

    def __init__(self, hurry: Callable[[str], Awaitable[None]]) -> None:
        self._hurry = hurry
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, conversation: str) -> asyncio.Lock:
        return self._locks.setdefault(conversation, asyncio.Lock())

    async def settle(self, conversation: str) -> None:
        """Waits until what was decided for a conversation's last window is kept, or could not be."""
        await self._hurry(conversation)
