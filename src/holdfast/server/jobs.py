"""Requests to model servers (jobs) over REST, and the stream of server-sent events.

Everybody sees their own jobs, an administrator sees all. They contain no text of questions or answers.
"""

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from holdfast.errors import Conflict, NotFound
from holdfast.events import LAGGED, Event
from holdfast.messages import canonical
from holdfast.server.endpoint import engine_of, scope_of
from holdfast.server.guard import access_of
from holdfast.store import JobRecord
from holdfast.store.jobs import job_to_json
from holdfast.store.values import JobStatus

router = APIRouter(prefix="/api/jobs", tags=["Jobs"])


@router.get("")
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


@router.get("/{name}")
async def show_job(request: Request, name: str) -> dict[str, Any]:
    """Return one job."""
    return serialize_job(request, await find_job(request, name))


@router.delete("/{name}")
async def cancel_job(request: Request, name: str) -> dict[str, Any]:
    """Cancel a job that waits or runs. Its client gets an error; what was answered so far is recorded."""
    job = await find_job(request, name)
    if not engine_of(request).cancel(job.id):
        if job.status not in ("queued", "running"):
            raise Conflict(f"job '{name}' is over", hint="There is nothing left to end.")
        raise Conflict(
            f"job '{name}' does not run in this server", hint="Ask the server that its client asked."
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
        raise NotFound(f"job '{name}' not found")
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
