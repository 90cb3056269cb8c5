"""Lines before model servers: so many at once, and everybody else in turn.

Of those who wait, whoever was served longest ago is next, and of one person's requests the oldest. All of it
happens on one event loop. Knows neither models nor what is done at a place.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType

from holdfast.errors import ConfigError, Stopped


@dataclass(frozen=True, slots=True)
class QueueLength:
    """How many are at work in a line, and how many wait."""

    running: int
    waiting: int


class QueueSlot:
    """A place in a line, taken or waited for. Whoever enters leaves again, served or not: it is a context."""

    __slots__ = ("_event", "_queue", "served", "user")

    def __init__(self, line: "_ServerQueue", user: str) -> None:
        self.user = user
        # Whether its turn has come.
        self.served = False
        self._queue: _ServerQueue | None = line
        # Made for those who have to wait.
        self._event: asyncio.Event | None = None

    @property
    def position(self) -> int:
        """Its turn comes after so many, itself counted, if nobody else comes or goes; 0 once it has come."""
        return 0 if self.served or self._queue is None else self._queue.position(self)

    async def wait(self) -> None:
        """Wait until its turn has come."""
        if not self.served and self._queue is not None and not self._queue.closed:
            self._event = asyncio.Event()
            await self._event.wait()
        if not self.served:
            raise Stopped(
                "Holdfast was stopped before it was this request's turn.", hint="Ask again once it runs."
            )

    def wake(self) -> None:
        """Whoever waits for it looks again."""
        if self._event is not None:
            self._event.set()

    def leave(self) -> None:
        """Whoever is next takes over. A second time changes nothing."""
        line, self._queue = self._queue, None
        if line is not None:
            line.release(self)

    def __enter__(self) -> "QueueSlot":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()


class Queue:
    """A line for each name; `capacity` says how many may be at work in one, 0 for as many as come."""

    def __init__(self, capacity: Callable[[str], int] = lambda _: 1) -> None:
        self._capacity = capacity
        self._queues: dict[str, _ServerQueue] = {}
        self._closed = False

    def enter(self, name: str, user: str) -> QueueSlot:
        """A place in the line: at work at once if there is room, else behind whoever came before."""
        line = self._queues.get(name)
        if line is None or line.empty:
            # An empty line remembers nobody, and begins with whatever capacity it is to have now.
            line = self._queues[name] = _ServerQueue(self._capacity(name), closed=self._closed)
        return line.enter(user)

    def close(self) -> None:
        """Nobody's turn comes any more; whoever waits is told so."""
        self._closed = True
        for line in self._queues.values():
            line.close()

    @property
    def lengths(self) -> Mapping[str, QueueLength]:
        """Every line that somebody ever stood in."""
        return {name: QueueLength(line.running, line.waiting) for name, line in self._queues.items()}


class _ServerQueue:
    """Somebody waits only while as many are at work as may be."""

    def __init__(self, capacity: int, *, closed: bool = False) -> None:
        self.running = 0
        self.closed = closed
        self._capacity = capacity
        # Those who wait, by user. A user is in it only while they wait.
        self._waiting: dict[str, deque[QueueSlot]] = {}
        # When each user was served last, counted in services.
        self._served: dict[str, int] = {}
        self._services = 0

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @property
    def empty(self) -> bool:
        return not self.running and not self._waiting

    def enter(self, user: str) -> QueueSlot:
        place = QueueSlot(self, user)
        if self._has_room:
            self._serve(place)
        else:
            self._waiting.setdefault(user, deque()).append(place)
        return place

    def release(self, place: QueueSlot) -> None:
        if place.served:
            self.running -= 1
        else:
            self._remove(place)
        self._serve_next()

    def position(self, place: QueueSlot) -> int:
        order = self._users_in_order()
        ours = self._waiting[place.user].index(place)
        at = order.index(place.user)
        # Everybody is served once in each round; who comes before us, once more than those behind us.
        rounds = {user: ours + 1 if number < at else ours for number, user in enumerate(order)}
        before = (min(len(self._waiting[user]), rounds[user]) for user in order if user != place.user)
        return sum(before) + ours + 1

    def close(self) -> None:
        self.closed = True
        for places in self._waiting.values():
            for place in places:
                place.wake()

    @property
    def _has_room(self) -> bool:
        return not self.closed and (not self._capacity or self.running < self._capacity)

    def _users_in_order(self) -> list[str]:
        return sorted(self._waiting, key=lambda user: self._served.get(user, 0))

    def _serve_next(self) -> None:
        while self._waiting and self._has_room:
            first = self._waiting[self._users_in_order()[0]][0]
            self._remove(first)
            self._serve(first)
            first.wake()

    def _serve(self, place: QueueSlot) -> None:
        place.served = True
        self.running += 1
        self._services += 1
        self._served[place.user] = self._services

    def _remove(self, place: QueueSlot) -> None:
        places = self._waiting[place.user]
        places.remove(place)
        if not places:
            del self._waiting[place.user]


def parse_parallel(text: str) -> dict[str, int]:
    """How many may be at work at each server, from `NAME=NUMBER` with commas."""
    limits = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = (part.strip() for part in entry.partition("="))
        if not name or not equals or not number.isdecimal():
            raise ConfigError(
                f"upstream_parallel has {entry!r}.", hint="It is NAME=NUMBER, several with commas."
            )
        limits[name] = int(number)
    return limits
