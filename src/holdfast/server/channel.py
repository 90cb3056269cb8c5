"""What is told of something under way: once, and read by as many as want to, each as fast as they can.

Whoever comes later is told from the beginning, or from where they were. Knows nothing of what is told, and no
transport; everything happens on one event loop.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from holdfast.messages import JsonObject


@dataclass(frozen=True, slots=True)
class Told:
    """Ids rise; some are missing where something newer took the place of what was told before."""

    id: int
    kind: str
    data: JsonObject


class Channel:
    def __init__(self) -> None:
        self.over = False
        # In the order of their ids, by what they are the newest of.
        self._told: dict[str, Told] = {}
        self._last = 0
        self._news = asyncio.Event()

    def tell(self, kind: str, data: JsonObject, *, newest_of: str = "") -> None:
        """With `newest_of`, what was told before under that name need not be read any more."""
        self._last += 1
        name = newest_of or f"#{self._last}"
        self._told.pop(name, None)
        self._told[name] = Told(self._last, kind, data)
        self._wake()

    def end(self) -> None:
        self.over = True
        self._wake()

    def since(self, after: int = 0) -> list[Told]:
        found = []
        for told in reversed(self._told.values()):
            if told.id <= after:
                break
            found.append(told)
        return found[::-1]

    async def follow(self, after: int = 0) -> AsyncGenerator[Told, None]:
        """Everything after that id, until there is no more to come."""
        while True:
            news, over = self._news, self.over
            for told in self.since(after):
                after = told.id
                yield told
            if over:
                return
            await news.wait()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
