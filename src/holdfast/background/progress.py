"""Publishes the progress of a request as events: queued, running, finished, with times and token counts."""

import time
from collections.abc import Callable
from typing import Any, Literal

from holdfast.errors import HoldfastError
from holdfast.events import Events
from holdfast.messages import Chunk, JsonObject, Scope, Usage

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
