"""What happens inside, told to whoever follows: kept for a moment, never stored.

Each scope has a short memory of its last events, and a follower is a place in it: one that comes back late or
reads too slowly is told how many it missed. Knows no transport, and nothing of what the events mean.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from holdfast.messages import JsonObject, Scope

LAGGED = "lagged"

_REMEMBERED = 256
_DEFAULT = Scope()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. Ids rise by one within a scope, and go on rising in the next process."""

    kind: str
    data: JsonObject
    scope: Scope
    at: float
    id: int


class Events:
    """Publish from any thread, follow on any event loop. Only events of one's own scope are seen."""

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._remembered = remembered
        self._lock = threading.Lock()
        self._recent: dict[Scope, deque[Event]] = {}
        self._wakers: set[Callable[[], None]] = set()
        self._closed = False
        # Counted from the clock, so that a place in an earlier process is never taken for one in this.
        self._first = int(time.time() * 1000)

    def publish(
        self, kind: str, data: JsonObject, scope: Scope = _DEFAULT, now: float | None = None
    ) -> Event:
        at = time.time() if now is None else now
        with self._lock:
            recent = self._recent.setdefault(scope, deque(maxlen=self._remembered))
            event = Event(kind, data, scope, at, recent[-1].id + 1 if recent else self._first)
            recent.append(event)
            self._wake()
        return event

    def follow(self, scope: Scope, after: int | None = None) -> AsyncGenerator[Event, None]:
        """All that happens from now on, or all after the event with the id `after` that is still known.

        What was missed is told by an event `lagged` in its place: how many as `missed`, None if nobody knows.
        """
        return self._follow(scope, self._last(scope) if after is None else after)

    def close(self) -> None:
        """Followers get what there still is for them, and end."""
        with self._lock:
            self._closed = True
            self._wake()

    @property
    def followers(self) -> int:
        return len(self._wakers)

    async def _follow(self, scope: Scope, seen: int) -> AsyncGenerator[Event, None]:
        news = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(news.set)

        with self._lock:
            self._wakers.add(wake)
        try:
            while True:
                # Cleared before looking: what is published after the look wakes us.
                news.clear()
                over = self._closed
                event = self._next(scope, seen)
                if event is not None:
                    seen = event.id
                    yield event
                elif over:
                    return
                else:
                    await news.wait()
        finally:
            with self._lock:
                self._wakers.discard(wake)

    def _last(self, scope: Scope) -> int:
        with self._lock:
            recent = self._recent.get(scope)
            return recent[-1].id if recent else self._first - 1

    def _next(self, scope: Scope, seen: int) -> Event | None:
        """The event after the one last seen, or the word that it is gone."""
        with self._lock:
            recent = self._recent.get(scope, ())
            oldest = recent[0].id if recent else self._first
            newest = recent[-1].id if recent else self._first - 1
            if oldest - 1 <= seen <= newest:
                return recent[seen + 1 - oldest] if seen < newest else None
            ours = self._first - 1 <= seen < oldest
            missed = oldest - 1 - seen if ours else None
            return Event(LAGGED, {"missed": missed}, scope, time.time(), oldest - 1)

    def _wake(self) -> None:
        for wake in tuple(self._wakers):
            try:
                wake()
            except RuntimeError:
                # Its event loop was closed without a word to us.
                self._wakers.discard(wake)
