"""Runs background tasks one at a time while no user request is active.

A user request interrupts the running task at once; it starts again from the beginning when the server is
idle. Everything happens on one event loop.
"""

import asyncio
import contextvars
import heapq
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from holdfast.errors import HoldfastError

log = logging.getLogger("holdfast.background")

Work = Callable[[], Coroutine[Any, Any, None]]

# Most stale heap entries before the heap is rebuilt.
_MOST_STALE = 100


@dataclass(frozen=True, slots=True, eq=False)
class _IdleTask:
    name: str
    work: Work
    due: float
    # Starts only after so many seconds without a user's request.
    calm: float = 0.0
    # Work runs in the context (and language) of whoever scheduled it.
    context: contextvars.Context = field(default_factory=contextvars.copy_context)


class IdleScheduler:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._foreground_requests = 0
        # When the last foreground request ended.
        self._last_activity = float("-inf")
        self._closed = False
        self._waiting: dict[str, _IdleTask] = {}
        # A heap of the same by due time; also has entries that were cancelled or replaced since.
        self._due: list[tuple[float, int, _IdleTask]] = []
        self._numbers = count()
        self._running: tuple[_IdleTask, asyncio.Task[None]] | None = None
        # Whether the running task was interrupted and should be started again later.
        self._interrupted = False
        self._timer: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Interrupts the running task; nothing starts until the context (a user's request) ends."""
        self._foreground_requests += 1
        if self._running is not None:
            self._interrupted = True
            self._running[1].cancel()
        try:
            yield
        finally:
            self._foreground_requests -= 1
            self._last_activity = self._clock()
            self._advance()

    def schedule(self, name: str, work: Work, *, after: float = 0.0, calm: float = 0.0) -> None:
        """Schedules `work` in `after` seconds or later; replaces waiting work of the same name.

        With `calm`, it starts only after so many seconds without a user's request.
        """
        if self._closed:
            return
        self._enqueue(_IdleTask(name, work, self._clock() + after, calm))
        self._advance()

    def cancel(self, name: str) -> None:
        """Cancels the work of this name, waiting or running."""
        self._waiting.pop(name, None)
        if self._running is not None and self._running[0].name == name:
            self._interrupted = False
            self._running[1].cancel()
        self._advance()

    async def close(self) -> None:
        """Cancels everything; nothing is started any more."""
        self._closed = True
        self._waiting.clear()
        self._advance()
        if self._running is not None:
            task = self._running[1]
            task.cancel()
            await asyncio.wait({task})

    @property
    def waiting(self) -> tuple[str, ...]:
        """The names of waiting work, in the order in which it will run."""
        return tuple(piece.name for _, _, piece in sorted(self._due) if self._is_current(piece))

    def is_waiting(self, name: str) -> bool:
        return name in self._waiting

    @property
    def running(self) -> str | None:
        return None if self._running is None else self._running[0].name

    async def wait_until_idle(self) -> None:
        """Waits until nothing runs and nothing is due."""
        while self._running is not None or self._next_due() is not None:
            await self._changed.wait()

    def _enqueue(self, task: _IdleTask) -> None:
        """Adds a task to the heap; tasks due at the same time run in the order they were added."""
        self._waiting[task.name] = task
        if len(self._due) > 2 * len(self._waiting) + _MOST_STALE:
            self._due = [entry for entry in self._due if self._is_current(entry[2])]
            heapq.heapify(self._due)
        heapq.heappush(self._due, (task.due, next(self._numbers), task))

    def _is_current(self, task: _IdleTask) -> bool:
        return self._waiting.get(task.name) is task

    def _next_task(self) -> _IdleTask | None:
        while self._due:
            task = self._due[0][2]
            quiet = self._last_activity + task.calm
            if not self._is_current(task):
                heapq.heappop(self._due)
            elif task.due <= self._clock() < quiet:
                self._enqueue(replace(task, due=quiet))
            else:
                return task
        return None

    def _next_due(self) -> _IdleTask | None:
        first = self._next_task()
        return first if first is not None and first.due <= self._clock() else None

    def _advance(self) -> None:
        """Starts the next task if possible. Called after every change, so there is no loop that could die."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        first = self._next_task()
        if first is not None and self._running is None and not self._foreground_requests:
            if first.due <= self._clock():
                self._begin(first)
            else:
                pause = first.due - self._clock()
                self._timer = asyncio.get_running_loop().call_later(pause, self._advance)
        self._changed.set()
        self._changed = asyncio.Event()

    def _begin(self, piece: _IdleTask) -> None:
        del self._waiting[piece.name]
        self._interrupted = False
        loop = asyncio.get_running_loop()
        task = loop.create_task(_run(piece), name=f"idle: {piece.name}", context=piece.context)
        self._running = piece, task
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        assert self._running is not None
        piece, _ = self._running
        self._running = None
        error = None if task.cancelled() else task.exception()
        if self._interrupted and (task.cancelled() or error is not None):
            # An interruption may surface as any error. Work scheduled under this name since then is newer.
            if not self._closed and piece.name not in self._waiting:
                self._enqueue(piece)
        elif isinstance(error, HoldfastError):
            log.warning("%s: %s", piece.name, error)
        elif error is not None:
            log.error("%s failed", piece.name, exc_info=error)
        self._advance()


async def _run(task: _IdleTask) -> None:
    """Calls the work inside the task, so that an error in creating the coroutine is handled there, too."""
    await task.work()
