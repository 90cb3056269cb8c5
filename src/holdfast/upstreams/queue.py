"""Queues in front of model servers: a limited number of requests at once, the others in turn.

The user who was served longest ago is next; requests of one user are served in order. Everything happens on
one event loop.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType

from holdfast.errors import ConfigError, Stopped
from holdfast.i18n import lazy


@dataclass(frozen=True, slots=True)
class QueueLength:
    """How many requests of a queue are running, and how many wait."""

    running: int
    waiting: int


class QueueSlot:
    """A slot in a queue, running or waiting. It is a context manager that leaves the queue at its end."""

    __slots__ = ("_event", "_queue", "served", "user")

    def __init__(self, line: "_ServerQueue", user: str) -> None:
        self.user = user
        # Whether the slot is running.
        self.served = False
        self._queue: _ServerQueue | None = line
        # Created only for those who have to wait.
        self._event: asyncio.Event | None = None

    @property
    def position(self) -> int:
        """The place in the queue, counted from 1 if nobody else enters or leaves; 0 once it is running."""
        return 0 if self.served or self._queue is None else self._queue.position(self)

    async def wait(self) -> None:
        """Waits until the slot is running; raises Stopped if the queue is closed before."""
        if not self.served and self._queue is not None and not self._queue.closed:
            self._event = asyncio.Event()
            await self._event.wait()
        if not self.served:
            raise Stopped(
                lazy("Holdfast was stopped before it was this request's turn."),
                hint=lazy("Ask again once it runs."),
            )

    def wake(self) -> None:
        """Wakes up the waiting task."""
        if self._event is not None:
            self._event.set()

    def leave(self) -> None:
        """Leaves the queue, so that the next one can run. A second call does nothing."""
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
    """A queue per name; `capacity` returns how many may run at once in one, 0 for no limit."""

    def __init__(self, capacity: Callable[[str], int] = lambda _: 1) -> None:
        self._capacity = capacity
        self._queues: dict[str, _ServerQueue] = {}
        self._closed = False

    def enter(self, name: str, user: str) -> QueueSlot:
        """Returns a slot: running at once if there is room, otherwise waiting."""
        line = self._queues.get(name)
        if line is None or line.empty:
            # An empty queue is replaced, so that it takes on the current capacity.
            line = self._queues[name] = _ServerQueue(self._capacity(name), closed=self._closed)
        return line.enter(user)

    def close(self) -> None:
        """Closes all queues: nothing is started any more, and waiting slots raise Stopped."""
        self._closed = True
        for line in self._queues.values():
            line.close()

    @property
    def lengths(self) -> Mapping[str, QueueLength]:
        """The lengths of all queues used so far."""
        return {name: QueueLength(line.running, line.waiting) for name, line in self._queues.items()}


class _ServerQueue:
    """The queue of one server: slots wait only while the capacity is used up."""

    def __init__(self, capacity: int, *, closed: bool = False) -> None:
        self.running = 0
        self.closed = closed
        self._capacity = capacity
        # Waiting slots by user; a user is in it only while waiting.
        self._waiting: dict[str, deque[QueueSlot]] = {}
        # When each user was served last, as a running number.
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
        while self._waiting and self._has_room:
            first = self._waiting[self._users_in_order()[0]][0]
            self._remove(first)
            self._serve(first)
            first.wake()

    def position(self, place: QueueSlot) -> int:
        order = self._users_in_order()
        ours = self._waiting[place.user].index(place)
        at = order.index(place.user)
        # Each user is served once per round; those ahead of us once more than those behind us.
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
    """Parses `NAME=NUMBER,…`, how many requests may run at once at each server."""
    limits = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = (part.strip() for part in entry.partition("="))
        if not name or not equals or not number.isdecimal():
            raise ConfigError(
                lazy("upstream_parallel has {entry!r}.", entry=entry),
                hint=lazy("It is NAME=NUMBER, several with commas."),
            )
        limits[name] = int(number)
    return limits
