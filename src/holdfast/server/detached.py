"""Turns that run to their end independently of the client, and the event channels to follow them.

The routes that start and follow them are in `turns`.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import Conflict, HoldfastError, NotFound
from holdfast.i18n import lazy, translate
from holdfast.messages import Answer, Chunk, JsonObject, Scope
from holdfast.server.pages.markdown import MarkdownBlocks
from holdfast.thinking import without_thinking
from holdfast.turn import Turn, TurnEngine
from holdfast.window import sentences


@dataclass(frozen=True, slots=True)
class PublishedEvent:
    """An event of a channel. Ids rise; some are missing where a newer event replaced an older one."""

    id: int
    kind: str
    data: JsonObject


class EventChannel:
    """Events that are published once and read by any number of followers, each at its own speed.

    Late followers start at the beginning or after the last id they saw. Everything runs on one event loop.
    """

    def __init__(self) -> None:
        self.over = False
        # Events in the order of their ids, keyed by what they are the newest of.
        self._events: dict[str, PublishedEvent] = {}
        self._last = 0
        self._news = asyncio.Event()

    def publish(self, kind: str, data: JsonObject, *, newest_of: str = "") -> None:
        """Publish an event; with `newest_of` it replaces the previous event of that name."""
        self._last += 1
        name = newest_of or f"#{self._last}"
        self._events.pop(name, None)
        self._events[name] = PublishedEvent(self._last, kind, data)
        self._wake()

    def end(self) -> None:
        self.over = True
        self._wake()

    def since(self, after: int = 0) -> list[PublishedEvent]:
        events = []
        for event in reversed(self._events.values()):
            if event.id <= after:
                break
            events.append(event)
        return events[::-1]

    async def follow(self, after: int = 0) -> AsyncGenerator[PublishedEvent, None]:
        """Yield all events after that id until the channel ends."""
        while True:
            news, over = self._news, self.over
            for event in self.since(after):
                after = event.id
                yield event
            if over:
                return
            await news.wait()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


log = logging.getLogger("holdfast.server")

# Seconds between two flushes of an answer; a long paragraph is flushed less often.
_FLUSH_SECONDS, _CHARACTERS_PER_SECOND = 0.1, 200_000
# Seconds between two events about the speed, and between two looks at the queue.
_PACE_SECONDS, _QUEUE_SECONDS = 1.0, 1.0
# How many ended turns can still be followed, and for how many seconds: a page may have been loading.
_MAX_ENDED, _ENDED_SECONDS = 100, 60.0
# The fields of a window report that are published.
_REPORT_FIELDS = (
    "window", "reserve", "room", "tokens", "at_most", "sure", "method", "utilisation", "level", "history",
    "sections", "batches", "prefix", "model",
)  # fmt: skip
# The level that makes a summary.
_SUMMARY_LEVEL = 3

# Returns what was recorded of a turn; None, after cleaning up, if nothing was.
ResultLoader = Callable[[], Awaitable[JsonObject | None]]


@dataclass(slots=True)
class DetachedTurn:
    """One running turn, published on its channel. `load_result` returns what was recorded of it."""

    engine: TurnEngine
    scope: Scope
    turn: Turn
    load_result: ResultLoader
    channel: EventChannel = field(default_factory=EventChannel)
    ended_at: float | None = None
    _answer: Answer = field(default_factory=Answer)
    _blocks: MarkdownBlocks = field(default_factory=MarkdownBlocks)
    # The HTML of each block as last published.
    _shown: dict[int, str] = field(default_factory=dict)
    _pending_thinking: str = ""
    _pending_text: str = ""
    _timer: asyncio.TimerHandle | None = None
    _started_at: float = field(default_factory=time.monotonic)
    _first: float | None = None
    _pieces: int = 0
    _pace_at: float = 0.0

    async def run(self, events: AsyncGenerator[Any, None]) -> None:
        """Run the turn to its end. `events` are those of its scope, followed since before it started."""
        hearing = asyncio.create_task(self._follow_events(events))
        waiting = asyncio.create_task(self._watch_queue())
        try:
            trouble = await error_of(self._read_chunks())
        finally:
            hearing.cancel()
            waiting.cancel()
            self._flush()
        if failed := await error_of(self._finish(trouble)):
            self.channel.publish("error", serialize_error(trouble or failed))

    async def _read_chunks(self) -> None:
        async with aclosing(self.turn.chunks) as chunks:
            async for chunk in chunks:
                self._add_chunk(chunk)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.ended_at = time.monotonic()
        self.channel.end()

    def _add_chunk(self, chunk: Chunk) -> None:
        if self._first is None:
            self._first = time.monotonic()
            self.channel.publish("report", serialize_report(self.turn.report))
        self._answer.add(chunk)
        self._pieces += bool(chunk.text or chunk.thinking)
        self._pending_thinking += chunk.thinking
        self._pending_text += chunk.text
        if (self._pending_thinking or self._pending_text) and self._timer is None:
            newest = next(reversed(self._shown.values()), "")
            pause = _FLUSH_SECONDS + len(newest) / _CHARACTERS_PER_SECOND
            self._timer = asyncio.get_running_loop().call_later(pause, self._flush)

    def _flush(self) -> None:
        """Publish what arrived since the last flush: thousands of small chunks become a few events."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        thought, self._pending_thinking = self._pending_thinking, ""
        text, self._pending_text = self._pending_text, ""
        if thought:
            self.channel.publish("thinking", {"text": thought})
        for number, html in self._blocks.add(text) if text else ():
            self._shown[number] = html
            self.channel.publish("html", {"block": number, "html": html}, newest_of=f"block {number}")
        now = time.monotonic()
        if self._first is not None and now - self._pace_at >= _PACE_SECONDS and now > self._first:
            self._pace_at = now
            pace = {"pieces": self._pieces, "seconds": round(now - self._first, 2)}
            self.channel.publish("pace", pace, newest_of="pace")

    async def _follow_events(self, events: AsyncGenerator[Any, None]) -> None:
        """Publish the engine's events about this turn: queued, running, summarising."""
        async with aclosing(events):
            async for event in events:
                data = event.data
                if event.kind == "job" and data.get("job") == self.turn.job:
                    state = {name: data.get(name) for name in ("status", "position", "upstream")}
                    self._publish_state(state)
                elif event.kind == "compaction" and data.get("conversation") == self.turn.conversation:
                    state = {"status": "summarising", "phase": data["phase"], "percent": data["percent"]}
                    self._publish_state(state)

    async def _watch_queue(self) -> None:
        """Publish the position in the queue when it changes, since no event announces that."""
        known: int | None = None
        while self._first is None:
            position = self.engine.position(self.turn.job)
            if position != known and position is not None:
                self._publish_state({"status": "queued", "position": position})
            known = position
            await asyncio.sleep(_QUEUE_SECONDS)

    def _publish_state(self, state: JsonObject) -> None:
        if self._first is None and state["status"] in ("queued", "running", "summarising"):
            self.channel.publish("state", state, newest_of="state")

    async def _finish(self, trouble: HoldfastError | None) -> None:
        message = self._answer.message
        for call in message.tool_calls:
            self.channel.publish("tool", {"id": call.id, "name": call.name, "arguments": call.arguments})
        result = await self.load_result()
        if result is None:
            error = trouble or HoldfastError(lazy("the model said nothing"), hint=lazy("Ask again."))
            self.channel.publish("error", serialize_error(error))
            return
        self.channel.publish(
            "done",
            {
                **result,
                "text": without_thinking(message.text),
                "finish": self._answer.finish or "cut",
                **self._numbers(),
                "trouble": serialize_error(trouble) if trouble else None,
            },
        )

    def _numbers(self) -> dict[str, Any]:
        now, tokens = time.monotonic(), self._answer.usage.completion
        writing = now - self._first if self._first is not None else 0.0
        return {
            "tokens": tokens,
            "prompt_tokens": self._answer.usage.prompt,
            "cached_tokens": self._answer.usage.cached,
            "seconds": round(now - self._started_at, 2),
            "tokens_per_second": round(tokens / writing, 1) if tokens and writing > 0 else None,
        }


class DetachedTurns:
    """The turns that are running, and those that ended recently."""

    def __init__(self) -> None:
        # Held while a turn starts, so that no two start in one conversation.
        self.starting = asyncio.Lock()
        self._known: dict[str, DetachedTurn] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def running_in(self, conversation: str) -> str | None:
        """Return the job that is running in a conversation; None if there is none here."""
        # A copy, because this may be called from a thread.
        running = ((job, self._known.get(job)) for job in list(self._tasks))
        return next((job for job, turn in running if turn and turn.turn.conversation == conversation), None)

    def check_free(self, conversation: str) -> None:
        if job := self.running_in(conversation):
            raise Conflict(
                lazy("an answer is being written in {conversation}", conversation=conversation),
                hint=lazy("Wait for it, or end it: DELETE /api/jobs/{job}.", job=job),
            )

    def start(self, detached: DetachedTurn, events: AsyncGenerator[Any, None]) -> None:
        self._forget()
        job = detached.turn.job
        self._known[job] = detached
        task = self._tasks[job] = asyncio.create_task(detached.run(events))

        def over(_: asyncio.Task[None]) -> None:
            del self._tasks[job]
            detached.close()

        task.add_done_callback(over)

    def project_of(self, job: str) -> str:
        """Return the project of a turn; empty if it is not followed here."""
        turn = self._known.get(job)
        return turn.scope.project if turn else ""

    def follow(self, job: str, scope: Scope, after: int = 0) -> AsyncGenerator[PublishedEvent, None]:
        turn = self._known.get(job)
        if turn is None or turn.scope != scope:
            raise NotFound(
                lazy("the turn '{job}' is not followed here", job=job),
                hint=lazy("It may be over: what was answered is among the conversation's messages."),
            )
        return turn.channel.follow(after)

    async def close(self) -> None:
        """Cancel all running turns; what was answered so far is recorded."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self) -> None:
        now = time.monotonic()
        ended = [(job, turn.ended_at) for job, turn in self._known.items() if turn.ended_at is not None]
        for number, (job, at) in enumerate(ended):
            if now - at > _ENDED_SECONDS or number < len(ended) - _MAX_ENDED:
                del self._known[job]


async def error_of(work: Awaitable[None]) -> HoldfastError | None:
    """Return the error that `work` ended with, so that it can be published to followers."""
    try:
        await work
    except HoldfastError as error:
        log.info("a turn of the page ended early: %s", error)
        return error
    except Exception as error:
        log.exception("a turn of the page failed")
        return HoldfastError(
            lazy("internal error: {name}", name=type(error).__name__), hint=lazy("See the server's log.")
        )
    return None


def serialize_error(trouble: HoldfastError) -> dict[str, str]:
    return {"message": translate(trouble.message), "hint": translate(trouble.hint)}


def serialize_report(report: JsonObject) -> dict[str, Any]:
    """Serialize the parts of a window report that a meter shows, without the list of messages."""
    fields = {name: report[name] for name in _REPORT_FIELDS if name in report}
    notices = report.get("notices", ())
    return {
        **fields,
        "notices": [{"name": name, "text": sentences.notice(name)} for name in notices],
        "files": [file for file in report.get("files", ()) if file["trouble"]],
        "summarised": any(batch["level"] == _SUMMARY_LEVEL for batch in report.get("batches", ())),
    }
