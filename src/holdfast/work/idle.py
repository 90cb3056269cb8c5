"""Work that waits until nobody else does: one piece at a time, given up at once when a person comes.

Pieces have names, and one that was interrupted begins anew when it is quiet again. All of it happens on one
event loop. Knows neither models nor conversations.
"""

import asyncio
import contextvars
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import HoldfastError

log = logging.getLogger("holdfast.work")

Work = Callable[[], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    name: str
    work: Work
    due: float
    # Work speaks the language of whoever asked for it, not of whoever happened to be there when it began.
    context: contextvars.Context = field(default_factory=contextvars.copy_context)


class Idle:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._people = 0
        self._closed = False
        self._waiting: dict[str, _Piece] = {}
        self._running: tuple[_Piece, asyncio.Task[None]] | None = None
        # Whether what runs was told to stop, and is to begin again later.
        self._interrupted = False
        self._timer: asyncio.TimerHandle | None = None
        self._moved = asyncio.Event()

    @contextmanager
    def person(self) -> Iterator[None]:
        """A person's request is under way: what runs is interrupted, and nothing begins until it is done."""
        self._people += 1
        if self._running is not None:
            self._interrupted = True
            self._running[1].cancel()
        try:
            yield
        finally:
            self._people -= 1
            self._go_on()

    def put(self, name: str, work: Work, *, after: float = 0.0) -> None:
        """Have `work` done in `after` seconds or later. It takes the place of what waits under this name."""
        if self._closed:
            return
        # Taken out first, since what is due at the same time is done in the order it was asked for.
        self._waiting.pop(name, None)
        self._waiting[name] = _Piece(name, work, self._clock() + after)
        self._go_on()

    def drop(self, name: str) -> None:
        """Forget this work, also if it is being done."""
        self._waiting.pop(name, None)
        if self._running is not None and self._running[0].name == name:
            self._interrupted = False
            self._running[1].cancel()
        self._go_on()

    async def close(self) -> None:
        """Give up everything; nothing begins any more."""
        self._closed = True
        self._waiting.clear()
        self._go_on()
        if self._running is not None:
            task = self._running[1]
            task.cancel()
            await asyncio.wait({task})

    @property
    def waiting(self) -> tuple[str, ...]:
        """What waits, in the order in which it will be done."""
        return tuple(piece.name for piece in self._in_order())

    @property
    def running(self) -> str | None:
        return None if self._running is None else self._running[0].name

    async def quiet(self) -> None:
        """Wait until nothing runs, and nothing waits that could."""
        while self._running is not None or self._next_due() is not None:
            await self._moved.wait()

    def _in_order(self) -> list[_Piece]:
        return sorted(self._waiting.values(), key=lambda piece: piece.due)

    def _next_due(self) -> _Piece | None:
        first = next(iter(self._in_order()), None)
        return first if first is not None and first.due <= self._clock() else None

    def _go_on(self) -> None:
        """Begin what can begin now. Called after every change, so there is no loop that could die."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting and self._running is None and not self._people:
            piece = self._next_due()
            if piece is not None:
                self._begin(piece)
            else:
                pause = self._in_order()[0].due - self._clock()
                self._timer = asyncio.get_running_loop().call_later(pause, self._go_on)
        self._moved.set()
        self._moved = asyncio.Event()

    def _begin(self, piece: _Piece) -> None:
        del self._waiting[piece.name]
        self._interrupted = False
        loop = asyncio.get_running_loop()
        task = loop.create_task(_done(piece), name=f"idle: {piece.name}", context=piece.context)
        self._running = piece, task
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        assert self._running is not None
        piece, _ = self._running
        self._running = None
        error = None if task.cancelled() else task.exception()
        if self._interrupted and (task.cancelled() or error is not None):
            # An interruption may surface as any error. What was put under this name meanwhile is newer.
            if not self._closed:
                self._waiting.setdefault(piece.name, piece)
        elif isinstance(error, HoldfastError):
            log.warning("%s: %s", piece.name, error)
        elif error is not None:
            log.error("%s failed", piece.name, exc_info=error)
        self._go_on()


async def _done(piece: _Piece) -> None:
    """Asked for inside the task, so that work which cannot even begin fails there too."""
    await piece.work()
