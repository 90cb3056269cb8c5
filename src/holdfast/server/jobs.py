"""Requests to model servers, over REST: which wait, which run, what came of the others, and ending one.

Everybody sees their own; an administrator sees all. Nothing of what was asked or answered is here.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request

from holdfast.errors import Conflict, NotFound
from holdfast.server.endpoint import engine_of
from holdfast.server.guard import access_of
from holdfast.store import Job
from holdfast.store.jobs import job_out
from holdfast.store.values import JobStatus

router = APIRouter(prefix="/api/jobs", tags=["Jobs"])


@router.get("")
async def jobs(
    request: Request,
    status: JobStatus | None = None,
    conversation: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, Any]:
    """The last jobs, newest first."""
    store = engine_of(request).store
    rows = await store.run(
        lambda: store.jobs.recent(limit, status=status, conversation=conversation, **_seen_by(request))
    )
    return {"jobs": [_told(request, job) for job in rows]}


@router.get("/{name}")
async def job(request: Request, name: str) -> dict[str, Any]:
    return _told(request, await _named(request, name))


@router.delete("/{name}")
async def cancel(request: Request, name: str) -> dict[str, Any]:
    """End a job that waits or runs. Its client is told, and what was answered so far is kept."""
    found = await _named(request, name)
    if not engine_of(request).cancel(found.id):
        if found.status not in ("queued", "running"):
            raise Conflict(f"job '{name}' is over", hint="There is nothing left to end.")
        raise Conflict(
            f"job '{name}' does not run in this server", hint="Ask the server that its client asked."
        )
    return {"cancelled": found.id}


def _seen_by(request: Request) -> dict[str, str | None]:
    access = access_of(request)
    return {} if access.admin else {"user": access.user, "project": access.project or None}


async def _named(request: Request, name: str) -> Job:
    store = engine_of(request).store
    found = await store.run(store.jobs.get, name)
    seen = _seen_by(request)
    if seen.get("user") not in (None, found.user) or seen.get("project") not in (None, found.project):
        raise NotFound(f"job '{name}' not found")
    return found


def _told(request: Request, job: Job) -> dict[str, Any]:
    position = engine_of(request).position(job.id) if job.status == "queued" else None
    return {**job_out(job), "position": position}
