"""What the server does and did: `/metrics` for Prometheus, daily statistics, jobs, and the stream of events.

Figures contain numbers only, no texts, names or addresses except those of model servers. `/metrics` is for
administrators (see the guard); statistics show everybody their own numbers, and administrators all.
"""

import time
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.errors import Conflict, NotFound
from holdfast.events import LAGGED, Event
from holdfast.i18n import lazy
from holdfast.messages import JsonObject, canonical
from holdfast.server.endpoint import engine_of, scope_of
from holdfast.server.guard import access_of
from holdfast.store import JobRecord
from holdfast.store.jobs import job_to_json
from holdfast.store.statistics import (
    DAY,
    DayOfCompactions,
    DayOfJobs,
    DayOfWaiting,
    Statistics,
    StatisticsPeriod,
)
from holdfast.store.values import JobStatus
from holdfast.turn import TurnEngine

router = APIRouter(tags=["Server"])

_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
# The level that has events of its own.
_SUMMARY_LEVEL = 3


class Metrics:
    """The metrics of one application: `observe` takes events, `count_response` every response."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._requests = Counter(
            "holdfast_requests", "HTTP requests, by route and status.", ["door", "status"], registry=registry
        )
        self._jobs = Counter(
            "holdfast_jobs", "Requests to model servers that ended.", ["kind", "status"], registry=registry
        )
        self._first = Histogram(
            "holdfast_first_token_seconds",
            "From a request to the first piece of its answer, waiting included.",
            ["upstream"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self._duration = Histogram(
            "holdfast_job_seconds",
            "From a request to the end of its answer, waiting included.",
            ["upstream"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self._waited = Histogram(
            "holdfast_wait_seconds",
            "From a request to its turn.",
            ["upstream"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self._tokens = Counter(
            "holdfast_tokens",
            "Tokens as model servers counted them; cached are those of a prompt that were not read anew.",
            ["kind"],
            registry=registry,
        )
        self._overflows = Counter(
            "holdfast_overflow_retries", "Requests sent again because they were too long.", registry=registry
        )
        self._compactions = Counter(
            "holdfast_compactions", "Histories made shorter, by level.", ["level"], registry=registry
        )
        self._memories = Counter(
            "holdfast_memories", "Memories that changed, by how.", ["change"], registry=registry
        )
        self._errors = Counter(
            "holdfast_errors",
            "Answers that failed or were cut off, by reason.",
            ["reason"],
            registry=registry,
        )

    def count_response(self, route: str, status: int) -> None:
        self._requests.labels(route, str(status)).inc()

    def observe(self, event: Event) -> None:
        data = event.data
        match event.kind:
            case "job" if data.get("status") in ("done", "failed", "cut"):
                self._count_job(data)
            case "overflow":
                self._overflows.inc()
            case "window":
                for batch in data.get("batches", ()):
                    if batch["level"] != _SUMMARY_LEVEL:
                        self._compactions.labels(str(batch["level"])).inc()
            case "compaction" if data.get("phase") == "done":
                self._compactions.labels(str(_SUMMARY_LEVEL)).inc()
            case "memory" if "change" in data:
                self._memories.labels(data["change"]).inc()

    def _count_job(self, data: JsonObject) -> None:
        upstream = data.get("upstream", "")
        self._jobs.labels(data["kind"], data["status"]).inc()
        for name, histogram in (
            ("waited", self._waited),
            ("first", self._first),
            ("seconds", self._duration),
        ):
            if data[name] is not None:
                histogram.labels(upstream).observe(data[name])
        for kind in ("prompt", "completion", "cached"):
            if data[kind]:
                self._tokens.labels(kind).inc(data[kind])
        if "reason" in data:
            self._errors.labels(data["reason"]).inc()


def create_metrics(engine: TurnEngine) -> Metrics:
    """Create the metrics of an engine, and subscribe to its events."""
    metrics = Metrics()
    metrics.registry.register(_QueueCollector(engine))
    engine.events.listeners.append(metrics.observe)
    return metrics


class _QueueCollector:
    """Collects the current lengths of the queues of model servers."""

    def __init__(self, engine: TurnEngine) -> None:
        self._engine = engine

    def collect(self) -> Iterator[GaugeMetricFamily]:
        running = GaugeMetricFamily("holdfast_running", "Requests being answered.", labels=["upstream"])
        waiting = GaugeMetricFamily("holdfast_waiting", "Requests waiting.", labels=["upstream"])
        for upstream, length in self._engine.queue.lengths.items():
            running.add_metric([upstream], length.running)
            waiting.add_metric([upstream], length.waiting)
        yield running
        yield waiting


class MetricsMiddleware:
    """Counts every request by route and status."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # The usual status for a client that disconnected before the response.
        status = 499

        async def watch_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watch_status)
        finally:
            # Unknown paths share one label, since there is no end of them.
            path = str(getattr(scope.get("route"), "path", "")) or "none"
            self._metrics.count_response(path, status)


@router.get("/metrics", include_in_schema=False)
async def show_metrics(request: Request) -> Response:
    metrics: Metrics = request.app.state.metrics
    return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_PLAIN_1_0_0)


statistics_router = APIRouter(prefix="/api/statistics", tags=["Jobs"])


@statistics_router.get("")
async def show_statistics(
    request: Request,
    days: int = Query(30, ge=1, le=366),
    utc_offset: int = Query(0, ge=-840, le=840),
) -> dict[str, Any]:
    """Return figures day by day, today last; `utc_offset` is the reader's offset from UTC in minutes.

    `cached` are tokens of prompts that were not read again; `freed` is what compactions took out of windows,
    by level. A day on which no answer began has no times.
    """
    store, access = engine_of(request).store, access_of(request)
    offset = utc_offset * 60
    today = (int(time.time()) + offset) // DAY
    first = today - days + 1
    who = {} if access.admin else {"user": access.user, "project": access.project or None}
    span, repository = (
        StatisticsPeriod(float(first * DAY - offset), offset, **who),
        Statistics(store.database),
    )

    def work() -> dict[str, Any]:
        waiting = {row.day: row for row in repository.waiting(span)}
        compactions: dict[int, list[DayOfCompactions]] = defaultdict(list)
        for row in repository.compactions(span):
            compactions[row.day].append(row)
        jobs = {row.day: row for row in repository.jobs(span)}
        return {
            "days": [
                serialize_day(day, jobs.get(day), waiting.get(day), compactions[day])
                for day in range(first, today + 1)
            ],
            "models": [
                {"model": row.model, "jobs": row.jobs, "prompt": row.prompt, "completion": row.completion}
                for row in repository.models(span)
            ],
        }

    return await store.run(store.read_snapshot, work)


def serialize_day(
    day: int, jobs: DayOfJobs | None, waiting: DayOfWaiting | None, compactions: list[DayOfCompactions]
) -> dict[str, Any]:
    speed = round(jobs.written / jobs.writing, 2) if jobs and jobs.writing else None
    return {
        "day": time.strftime("%Y-%m-%d", time.gmtime(day * DAY)),
        "jobs": jobs.jobs if jobs else 0,
        "failed": jobs.failed if jobs else 0,
        "tokens": {
            "prompt": jobs.prompt if jobs else 0,
            "cached": jobs.cached if jobs else 0,
            "completion": jobs.completion if jobs else 0,
        },
        "first_token_seconds": {
            "median": round(waiting.median, 3) if waiting else None,
            "slow": round(waiting.slow, 3) if waiting else None,
        },
        "tokens_per_second": speed,
        "compactions": {str(row.level): row.times for row in compactions},
        "freed": {str(row.level): row.freed for row in compactions},
    }


jobs_router = APIRouter(prefix="/api/jobs", tags=["Jobs"])


@jobs_router.get("")
async def list_jobs(
    request: Request,
    status: JobStatus | None = None,
    conversation: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, Any]:
    """List the last jobs, newest first."""
    store = engine_of(request).store
    rows = await store.run(
        lambda: store.jobs.recent(limit, status=status, conversation=conversation, **visible_to(request))
    )
    return {"jobs": [serialize_job(request, job) for job in rows]}


@jobs_router.get("/{name}")
async def show_job(request: Request, name: str) -> dict[str, Any]:
    """Return one job."""
    return serialize_job(request, await find_job(request, name))


@jobs_router.delete("/{name}")
async def cancel_job(request: Request, name: str) -> dict[str, Any]:
    """Cancel a job that waits or runs. Its client gets an error; what was answered so far is recorded."""
    job = await find_job(request, name)
    if not engine_of(request).cancel(job.id):
        if job.status not in ("queued", "running"):
            raise Conflict(
                lazy("job '{name}' is over", name=name), hint=lazy("There is nothing left to end.")
            )
        raise Conflict(
            lazy("job '{name}' does not run in this server", name=name),
            hint=lazy("Ask the server that its client asked."),
        )
    return {"cancelled": job.id}


def visible_to(request: Request) -> dict[str, str | None]:
    """Return the filter for the jobs that the sender may see."""
    access = access_of(request)
    return {} if access.admin else {"user": access.user, "project": access.project or None}


async def find_job(request: Request, name: str) -> JobRecord:
    store = engine_of(request).store
    job = await store.run(store.jobs.get, name)
    seen = visible_to(request)
    if seen.get("user") not in (None, job.user) or seen.get("project") not in (None, job.project):
        raise NotFound(lazy("job '{name}' not found", name=name))
    return job


def serialize_job(request: Request, job: JobRecord) -> dict[str, Any]:
    position = engine_of(request).position(job.id) if job.status == "queued" else None
    return {**job_to_json(job), "position": position}


events_router = APIRouter(prefix="/api/events", tags=["Events"])


def follow_events(
    request: Request,
    after: int | None = None,
    last_event_id: Annotated[int | None, Header()] = None,
    project: str | None = None,
    kind: Literal["private", "group"] | None = None,
) -> AsyncGenerator[Event, None]:
    """Return the events of a scope; runs before the response starts, so that errors get a status."""
    # A client that reconnects repeats its first URL, with the last id it saw in the header.
    place = after if last_event_id is None else last_event_id
    # A browser's EventSource sends no headers of ours, so project and kind can be in the query.
    scope = scope_of(request, project)
    return engine_of(request).events.follow(replace(scope, kind=kind) if kind else scope, place)


# Events that tell what is remembered.
_MEMORY_EVENTS = ("memory", "kept")


@events_router.get("", response_class=EventSourceResponse)
async def stream_events(
    request: Request,
    followed: Annotated[AsyncGenerator[Event, None], Depends(follow_events)],
    conversation: str | None = None,
) -> AsyncIterable[ServerSentEvent]:
    """Stream the events of this scope, or of one conversation, from now on or after an event's id."""
    closed = () if access_of(request).memory else _MEMORY_EVENTS
    async with aclosing(followed):
        async for event in followed:
            if event.kind in closed:
                continue
            if conversation is None or event.kind == LAGGED or event.data.get("conversation") == conversation:
                data = canonical({**event.data, "at": event.at})
                yield ServerSentEvent(raw_data=data, event=event.kind, id=str(event.id))
