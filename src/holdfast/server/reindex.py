"""Building the index of notes anew, beside everything else the server does: one at a time, in a thread.

Whoever asked follows it by events. Knows how far it is, nothing of how an index is made.
"""

import asyncio
import logging
import threading
from dataclasses import asdict, dataclass
from typing import Any, Literal

from holdfast.errors import HoldfastError
from holdfast.events import Events
from holdfast.memory.remembering import Remembering
from holdfast.messages import Scope

log = logging.getLogger("holdfast.server")

Phase = Literal["idle", "files", "vectors", "done", "failed"]

# Events are few, since each scope remembers only its last ones.
_STEP = 5


@dataclass(frozen=True, slots=True)
class ReindexState:
    """How far it is. `trouble` says why it failed, or why it has words only."""

    phase: Phase = "idle"
    done: int = 0
    total: int = 0
    trouble: str = ""

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 100

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "percent": self.percent, "trouble": self.trouble or None}


class ReindexJob:
    def __init__(self, events: Events) -> None:
        self.state = ReindexState()
        self._events = events
        self._followers: set[Scope] = set()
        self._task: asyncio.Task[None] | None = None
        self._stop = threading.Event()

    def start(self, remembering: Remembering, scope: Scope) -> None:
        """Begin, unless it is under way already; either way this scope hears how it goes."""
        if self._task is None or self._task.done():
            self._followers.clear()
            self.state = ReindexState("files")
            self._task = asyncio.create_task(asyncio.to_thread(self._work, remembering))
            self._task.add_done_callback(log_failure)
        self._followers.add(scope)

    async def wait(self) -> None:
        """Wait for what is under way. Whoever gives up waiting does not end it."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        self._stop.set()
        await self.wait()

    def _work(self, remembering: Remembering) -> None:
        ended = ReindexState("failed", trouble="It was broken off.")
        try:
            _, trouble = remembering.rebuild(self._tell, self._stop.is_set)
            if self._stop.is_set():
                log.info("the index was not finished; it is caught up with later")
            else:
                ended = ReindexState("done", trouble=trouble)
        except HoldfastError as error:
            ended = ReindexState("failed", trouble=str(error))
        finally:
            self._publish(ended)

    def _tell(self, phase: Phase, done: int, total: int) -> None:
        state = ReindexState(phase, done, total)
        if (phase, state.percent // _STEP) != (self.state.phase, self.state.percent // _STEP):
            self._publish(state)
        self.state = state

    def _publish(self, state: ReindexState) -> None:
        self.state = state
        for scope in tuple(self._followers):
            self._events.publish("memory", {"work": "reindex", **state.to_json()}, scope)


def log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("the index could not be built", exc_info=error)
