"""How a request gets on, told to whoever follows: it waits, it runs, it is over, and what it took.

Knows times and tokens, nothing of what was asked or answered.
"""

import time
from collections.abc import Callable
from typing import Any, Literal

from holdfast.errors import HoldfastError
from holdfast.events import Events
from holdfast.messages import Chunk, JsonObject, Scope, Usage

Ended = Literal["done", "failed", "cut"]

JOB, OVERFLOW = "job", "overflow"
# Why a job ended whose client left; else it is the name of an error.
CLIENT_GONE = "Gone"


class TurnProgress:
    """Of one job; `about` is what is said of it in every event. Times are seconds since it came."""

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
        self._came = clock()
        self._began: float | None = None
        self._first: float | None = None
        self._usage = Usage()
        self._whole = False

    def queued(self, upstream: str, position: int) -> None:
        self._about["upstream"] = upstream
        self._tell("queued", position=position)

    def running(self, upstream: str) -> None:
        self._about["upstream"] = upstream
        self._began = self._clock()
        self._tell("running", waited=self._since(self._began))

    def refused(self) -> None:
        """The server found it too long: it is made smaller and sent once more."""
        self._events.publish(OVERFLOW, dict(self._about), self._scope)

    def saw(self, chunk: Chunk) -> None:
        if self._first is None:
            self._first = self._clock()
        if chunk.finish is not None:
            self._whole = True
        if chunk.usage is not None:
            self._usage = chunk.usage

    def ended(self, error: BaseException | None = None, *, said: bool = True) -> None:
        """It is over, with an error unless all is well; `said` is whether the model had said anything."""
        whole = self._whole or error is None
        status: Ended = "done" if whole else "cut" if said else "failed"
        told: dict[str, Any] = {
            "waited": self._since(self._began),
            "first": self._since(self._first),
            "seconds": self._since(self._clock()),
            "prompt": self._usage.prompt,
            "completion": self._usage.completion,
            "cached": self._usage.cached,
        }
        if not whole:
            told["reason"] = type(error).__name__ if isinstance(error, Exception) else CLIENT_GONE
            told["error"] = error.message if isinstance(error, HoldfastError) else None
        self._tell(status, **told)

    def _tell(self, status: str, **more: Any) -> None:
        self._events.publish(JOB, {**self._about, "status": status, **more}, self._scope)

    def _since(self, moment: float | None) -> float | None:
        return None if moment is None else round(moment - self._came, 4)
