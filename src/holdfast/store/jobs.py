"""Requests to model servers, from the queue to the end: who was asked, how long it took, what it cost.

A job ends once; what comes later changes nothing. It does not know how to send anything.
"""

import time
from typing import Any, Literal

from sqlalchemy import Connection, Row, insert, select, update

from holdfast.errors import NotFound
from holdfast.messages import Scope, Usage
from holdfast.store.database import Topic, reads, writes
from holdfast.store.ids import new_id
from holdfast.store.schema import jobs
from holdfast.store.values import Job, JobKind, JobStatus

Ended = Literal["done", "failed", "cut"]

_OPEN: tuple[JobStatus, ...] = ("queued", "running")
_NO_USAGE = Usage()


class Jobs(Topic):
    __slots__ = ()

    @writes
    def start(
        self,
        connection: Connection,
        scope: Scope,
        *,
        kind: JobKind = "main",
        model: str = "",
        upstream: str = "",
        conversation: str | None = None,
        prompt: str | None = None,
        window: int | None = None,
        queued: bool = False,
        now: float | None = None,
    ) -> Job:
        """A new job, running at once or, with `queued`, waiting for its turn."""
        now = time.time() if now is None else now
        job = new_id("j")
        row: dict[str, Any] = {
            "id": job,
            "conversation": conversation,
            "kind": kind,
            "user": scope.user,
            "project": scope.project,
            "model": model,
            "upstream": upstream,
            "status": "queued" if queued else "running",
            "prompt": prompt,
            "window": window,
            "queued_at": now,
            "started_at": None if queued else now,
            "timings": {},
            "error": "",
        }
        connection.execute(insert(jobs), row)
        return _get(connection, job)

    @writes
    def running(
        self,
        connection: Connection,
        job: str,
        *,
        upstream: str | None = None,
        prompt: str | None = None,
        window: int | None = None,
        now: float | None = None,
    ) -> None:
        """The job's turn has come; what was decided while it waited can be said now."""
        decided = {"upstream": upstream, "prompt": prompt, "window": window}
        connection.execute(
            update(jobs)
            .where(jobs.c.id == job, jobs.c.status == "queued")
            .values(
                status="running",
                started_at=time.time() if now is None else now,
                **{name: value for name, value in decided.items() if value is not None},
            )
        )

    @writes
    def end(
        self,
        connection: Connection,
        job: str,
        status: Ended,
        *,
        error: str = "",
        usage: Usage = _NO_USAGE,
        upstream: str | None = None,
        window: int | None = None,
        first_token_at: float | None = None,
        now: float | None = None,
    ) -> None:
        """The job is over, and this is what came of it. `cut`: the server stopped, or the client left."""
        known = {"upstream": upstream, "window": window, "first_token_at": first_token_at}
        end(
            connection,
            job,
            status,
            error=error,
            usage=usage,
            now=now,
            **{name: value for name, value in known.items() if value is not None},
        )

    @reads
    def get(self, connection: Connection, job: str) -> Job:
        return _get(connection, job)

    @reads
    def recent(
        self,
        connection: Connection,
        limit: int = 50,
        *,
        conversation: str | None = None,
        status: JobStatus | None = None,
    ) -> list[Job]:
        """The last jobs, newest first."""
        query = select(jobs).order_by(jobs.c.queued_at.desc(), jobs.c.id.desc()).limit(limit)
        if conversation is not None:
            query = query.where(jobs.c.conversation == conversation)
        if status is not None:
            query = query.where(jobs.c.status == status)
        return [_job(row) for row in connection.execute(query)]


def end(
    connection: Connection,
    job: str,
    status: Ended,
    *,
    error: str = "",
    usage: Usage = _NO_USAGE,
    now: float | None = None,
    **known: float | str,
) -> None:
    connection.execute(
        update(jobs)
        .where(jobs.c.id == job, jobs.c.status.in_(_OPEN))
        .values(
            status=status,
            error=error,
            prompt_tokens=usage.prompt,
            completion_tokens=usage.completion,
            cached_tokens=usage.cached,
            timings=usage.timings,
            finished_at=time.time() if now is None else now,
            **known,
        )
    )


def _get(connection: Connection, job: str) -> Job:
    row = connection.execute(select(jobs).where(jobs.c.id == job)).first()
    if row is None:
        raise NotFound(f"job '{job}' not found")
    return _job(row)


def _job(row: Row[Any]) -> Job:
    return Job(
        id=row.id,
        conversation=row.conversation,
        kind=row.kind,
        user=row.user,
        project=row.project,
        model=row.model,
        upstream=row.upstream,
        status=row.status,
        prompt=row.prompt,
        usage=Usage(row.prompt_tokens, row.completion_tokens, row.cached_tokens, row.timings),
        window=row.window,
        queued_at=row.queued_at,
        started_at=row.started_at,
        first_token_at=row.first_token_at,
        finished_at=row.finished_at,
        error=row.error,
    )
