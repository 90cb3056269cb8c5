"""What happens inside, told to whoever follows: kept for a moment, never stored.

Each scope has a short memory of its last events, and a follower is a place in it: one that comes back late or
reads too slowly is told how many it missed. Scopes in which nothing happened for long, and that nobody
follows, are forgotten. Knows no transport, and nothing of what the events mean.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from holdfast.errors import HoldfastError
from holdfast.messages import Chunk, JsonObject, Scope, Usage

LAGGED = "lagged"

# So many events of so many scopes.
_REMEMBERED, _SCOPES = 256, 256
_DEFAULT = Scope()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. Ids rise by one within a scope, and go on rising in the next process."""

    kind: str
    data: JsonObject
    scope: Scope
    at: float
    id: int


@dataclass(slots=True)
class _Recent:
    """The last events of a scope, and what wakes its followers. Its first event ever has the id `first`."""

    first: int
    events: deque[Event]
    wakers: set[Callable[[], None]] = field(default_factory=set)

    @property
    def newest(self) -> int:
        return self.events[-1].id if self.events else self.first - 1

    @property
    def oldest(self) -> int:
        return self.events[0].id if self.events else self.first


class Events:
    """Publish from any thread, follow on any event loop. Only events of one's own scope are seen.

    `listeners` hear of everything at once, in the thread in which it happens: they must be quick.
    """

    def __init__(self, remembered: int = _REMEMBERED, scopes: int = _SCOPES) -> None:
        self.listeners: list[Callable[[Event], None]] = []
        self._remembered = remembered
        self._scopes = scopes
        self._lock = threading.Lock()
        # The scope in which something happened last is the last.
        self._recent: dict[Scope, _Recent] = {}
        self._closed = False
        # Counted from the clock, so that a place in an earlier process is never taken for one in this; and
        # beyond whatever was forgotten.
        self._first = int(time.time() * 1000)

    def publish(
        self, kind: str, data: JsonObject, scope: Scope = _DEFAULT, now: float | None = None
    ) -> Event:
        at = time.time() if now is None else now
        with self._lock:
            recent = self._known(scope)
            event = Event(kind, data, scope, at, recent.newest + 1)
            recent.events.append(event)
            _wake(recent)
        for listener in self.listeners:
            listener(event)
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
            for recent in self._recent.values():
                _wake(recent)

    @property
    def followers(self) -> int:
        with self._lock:
            return sum(len(recent.wakers) for recent in self._recent.values())

    async def _follow(self, scope: Scope, seen: int) -> AsyncGenerator[Event, None]:
        news = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wake() -> None:
            # One that is awake looks again by itself.
            if not news.is_set():
                loop.call_soon_threadsafe(news.set)

        with self._lock:
            recent = self._known(scope)
            recent.wakers.add(wake)
        try:
            while True:
                # Cleared before looking: what is published after the look wakes us.
                news.clear()
                over = self._closed
                event = self._next(recent, scope, seen)
                if event is not None:
                    seen = event.id
                    yield event
                elif over:
                    return
                else:
                    await news.wait()
        finally:
            with self._lock:
                recent.wakers.discard(wake)

    def _known(self, scope: Scope) -> _Recent:
        """To be asked for with the lock. Whatever is used becomes the last to be forgotten."""
        recent = self._recent.pop(scope, None) or _Recent(self._first, deque(maxlen=self._remembered))
        if len(self._recent) >= self._scopes:
            self._forget_one()
        self._recent[scope] = recent
        return recent

    def _forget_one(self) -> None:
        for scope, recent in self._recent.items():
            if not recent.wakers:
                # Whoever comes back to that scope must not take a new event for one it has seen.
                self._first = max(self._first, recent.newest + 1)
                del self._recent[scope]
                return

    def _last(self, scope: Scope) -> int:
        with self._lock:
            return self._known(scope).newest

    def _next(self, recent: _Recent, scope: Scope, seen: int) -> Event | None:
        """The event after the one last seen, or the word that it is gone."""
        with self._lock:
            oldest, newest = recent.oldest, recent.newest
            if oldest - 1 <= seen <= newest:
                return recent.events[seen + 1 - oldest] if seen < newest else None
            ours = recent.first - 1 <= seen < oldest
            missed = oldest - 1 - seen if ours else None
            return Event(LAGGED, {"missed": missed}, scope, time.time(), oldest - 1)


def _wake(recent: _Recent) -> None:
    for wake in tuple(recent.wakers):
        try:
            wake()
        except RuntimeError:
            # Its event loop was closed without a word to us.
            recent.wakers.discard(wake)


Ended = Literal["done", "failed", "cut"]

JOB, OVERFLOW = "job", "overflow"
# The reason of a job whose client disconnected; otherwise it is the name of an error.
CLIENT_GONE = "Gone"


class TurnProgress:
    """Publishes the progress of one job, with `about` in every event. Times are seconds since it came."""

    def __init__(
        self,
        events: Events,
        scope: Scope,
        about: JsonObject,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._events = events
        self._scope = scope
        self._about: dict[str, Any] = dict(about)
        self._clock = clock
        self._started = clock()
        self._run_started: float | None = None
        self._first: float | None = None
        self._usage = Usage()
        self._complete = False

    def report_queued(self, upstream: str, position: int) -> None:
        self._about["upstream"] = upstream
        self._publish("queued", position=position)

    def report_running(self, upstream: str) -> None:
        self._about["upstream"] = upstream
        self._run_started = self._clock()
        self._publish("running", waited=self._since(self._run_started))

    def report_overflow(self) -> None:
        """Reports that the server refused the request as too long; it is shortened and sent again."""
        self._events.publish(OVERFLOW, dict(self._about), self._scope)

    def note_chunk(self, chunk: Chunk) -> None:
        if self._first is None:
            self._first = self._clock()
        if chunk.finish is not None:
            self._complete = True
        if chunk.usage is not None:
            self._usage = chunk.usage

    def finish(self, error: BaseException | None = None, *, answered: bool = True) -> None:
        """Reports the end of the job; `answered` is whether the model had produced any output."""
        whole = self._complete or error is None
        status: Ended = "done" if whole else "cut" if answered else "failed"
        details: dict[str, Any] = {
            "waited": self._since(self._run_started),
            "first": self._since(self._first),
            "seconds": self._since(self._clock()),
            "prompt": self._usage.prompt,
            "completion": self._usage.completion,
            "cached": self._usage.cached,
        }
        if not whole:
            details["reason"] = type(error).__name__ if isinstance(error, Exception) else CLIENT_GONE
            details["error"] = error.message if isinstance(error, HoldfastError) else None
        self._publish(status, **details)

    def _publish(self, status: str, **more: Any) -> None:
        self._events.publish(JOB, {**self._about, "status": status, **more}, self._scope)

    def _since(self, moment: float | None) -> float | None:
        return None if moment is None else round(moment - self._started, 4)
