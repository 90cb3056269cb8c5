"""Building the index of notes anew, beside everything else the server does: one at a time, in a thread.

Whoever asked follows it by events. Knows how far it is, nothing of how an index is made.
"""

import asyncio
import logging
import threading
from dataclasses import asdict, dataclass
from typing import Any, Literal

from holdfast.errors import EmbedderError, HoldfastError
from holdfast.events import Events
from holdfast.memory.remembering import Remembering
from holdfast.messages import Scope

log = logging.getLogger("holdfast.server")

Phase = Literal["idle", "files", "vectors", "done", "failed"]

# Rows whose vectors are made before it is asked again whether to go on.
_PORTION = 64
# Events are few, since each scope remembers only its last ones.
_STEP = 5


@dataclass(frozen=True, slots=True)
class State:
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


class _StoppedError(Exception):
    """The server ends."""


class Reindexing:
    def __init__(self, events: Events) -> None:
        self.state = State()
        self._events = events
        self._followers: set[Scope] = set()
        self._task: asyncio.Task[None] | None = None
        self._stop = threading.Event()

    def start(self, remembering: Remembering, scope: Scope) -> None:
        """Begin, unless it is under way already; either way this scope hears how it goes."""
        if self._task is None or self._task.done():
            self._followers.clear()
            self.state = State("files")
            self._task = asyncio.create_task(asyncio.to_thread(self._work, remembering))
            self._task.add_done_callback(_report)
        self._followers.add(scope)

    async def finished(self) -> None:
        """Wait for what is under way. Whoever gives up waiting does not end it."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        self._stop.set()
        await self.finished()

    def _work(self, remembering: Remembering) -> None:
        ended = State("failed", trouble="It was broken off.")
        try:
            remembering.index.rebuild(lambda done, total: self._tell(State("files", done, total)))
            ended = State("done", trouble=self._make_vectors(remembering))
        except _StoppedError:
            log.info("the index was not finished; it is caught up with later")
        except HoldfastError as error:
            ended = State("failed", trouble=str(error))
        finally:
            self._publish(ended)

    def _make_vectors(self, remembering: Remembering) -> str:
        """Without vectors there are words; why there are none is part of the result."""
        meaning = remembering.meaning
        total = meaning.waiting()
        try:
            while meaning.catch_up(_PORTION):
                self._tell(State("vectors", max(0, total - meaning.waiting()), total))
        except EmbedderError as error:
            return str(error)
        return remembering.embedder.trouble

    def _tell(self, state: State) -> None:
        if self._stop.is_set():
            raise _StoppedError
        step = state.phase, state.percent // _STEP
        if step != (self.state.phase, self.state.percent // _STEP):
            self._publish(state)
        self.state = state

    def _publish(self, state: State) -> None:
        self.state = state
        for scope in tuple(self._followers):
            self._events.publish("memory", {"work": "reindex", **state.to_json()}, scope)


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("the index could not be built", exc_info=error)
