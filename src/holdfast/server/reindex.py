"""The job that rebuilds the index of the notes: one at a time, in a thread, reporting by events."""

import asyncio
import logging
import threading
from dataclasses import asdict, dataclass
from typing import Any, Literal

from holdfast.errors import HoldfastError
from holdfast.events import Events
from holdfast.memory.service import MemoryService
from holdfast.messages import Scope

log = logging.getLogger("holdfast.server")

Phase = Literal["idle", "files", "vectors", "done", "failed"]

# Percent between two events: few, since each scope keeps only its last ones.
_STEP = 5


@dataclass(frozen=True, slots=True)
class ReindexState:
    """The progress. `trouble` says why it failed, or why the index has no vectors."""

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
    """Rebuilds the index on request, and publishes its progress to the scopes that asked for it."""

    def __init__(self, events: Events) -> None:
        self.state = ReindexState()
        self._events = events
        self._followers: set[Scope] = set()
        self._task: asyncio.Task[None] | None = None
        self._stop = threading.Event()

    def start(self, remembering: MemoryService, scope: Scope) -> None:
        """Start, unless it is running already; in both cases this scope gets its events."""
        if self._task is None or self._task.done():
            self._followers.clear()
            self.state = ReindexState("files")
            self._task = asyncio.create_task(asyncio.to_thread(self._work, remembering))
            self._task.add_done_callback(log_failure)
        self._followers.add(scope)

    async def wait(self) -> None:
        """Wait until the running job ends; cancelling the wait does not cancel the job."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        self._stop.set()
        await self.wait()

    def _work(self, remembering: MemoryService) -> None:
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
