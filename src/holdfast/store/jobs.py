"""Requests to model servers, from the queue to the end: who was asked, how long it took, what it cost.

A job ends once; what comes later changes nothing. It does not know how to send anything.
"""

import time
from dataclasses import asdict
from typing import Any, Literal, cast, get_args

from sqlalchemy import (
    Connection,
    Row,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from holdfast.errors import BadRequest, NotFound
from holdfast.messages import Scope, Usage
from holdfast.store.database import Repository, reads, writes
from holdfast.store.ids import new_id
from holdfast.store.schema import drafts, jobs
from holdfast.store.statements import PreparedStatement
from holdfast.store.values import JobKind, JobRecord, JobStatus

FinalStatus = Literal["done", "failed", "cut"]

_OPEN: tuple[JobStatus, ...] = ("queued", "running")
_NO_USAGE = Usage()
# Why a job ended that its process did not end.
STOPPED = "Holdfast was stopped before the answer was complete"


_NEW_JOB = PreparedStatement(
    insert(jobs),
    [
        "id", "conversation", "kind", "user", "project", "model", "upstream", "status", "prompt", "window",
        "queued_at", "started_at", "timings", "error",
    ],
)  # fmt: skip
# What a job came to, and what may become known only on the way: that stays as it was where nothing is said.
_OUTCOME = (
    "status",
    "error",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "timings",
    "finished_at",
)
_LATE = ("upstream", "window", "first_token_at")
_IS_OPEN = or_(*(jobs.c.status == literal_column(f"'{status}'") for status in _OPEN))
_END_JOB = PreparedStatement(
    update(jobs)
    .where(jobs.c.id == bindparam("ended"), _IS_OPEN)
    .values(
        {name: bindparam(name) for name in _OUTCOME}
        | {name: func.coalesce(bindparam(name, type_=jobs.c[name].type), jobs.c[name]) for name in _LATE}
    )
)


class JobRepository(Repository):
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
    ) -> JobRecord:
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
        _NEW_JOB.run(connection, row)
        named = {name: value for name, value in row.items() if name != "timings"}
        return JobRecord(**named, usage=Usage(), first_token_at=None, finished_at=None)

    @writes
    def waits(self, connection: Connection, job: str, upstream: str) -> None:
        """It cannot begin yet: others are before it at this server."""
        connection.execute(
            update(jobs)
            .where(jobs.c.id == job, jobs.c.status == "running")
            .values(status="queued", started_at=None, upstream=upstream)
        )

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
        status: FinalStatus,
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
        end_job(
            connection,
            job,
            status,
            error=error,
            usage=usage,
            now=now,
            **{name: value for name, value in known.items() if value is not None},
        )

    @reads
    def get(self, connection: Connection, job: str) -> JobRecord:
        return _get_job(connection, job)

    @reads
    def recent(
        self,
        connection: Connection,
        limit: int = 50,
        *,
        conversation: str | None = None,
        status: JobStatus | None = None,
        user: str | None = None,
        project: str | None = None,
    ) -> list[JobRecord]:
        """The last jobs, newest first: all of them, or of one user, project, conversation or status."""
        query = select(jobs).order_by(jobs.c.queued_at.desc(), jobs.c.id.desc()).limit(limit)
        if user is not None:
            query = query.where(jobs.c.user == user)
        if project is not None:
            query = query.where(jobs.c.project == project)
        if conversation is not None:
            query = query.where(jobs.c.conversation == conversation)
        if status is not None:
            query = query.where(jobs.c.status == status)
        return [_read_job(row) for row in connection.execute(query)]

    @writes
    def abandon(self, connection: Connection, before: float, now: float | None = None) -> int:
        """End what began before and has no answer being written: nobody works on it any more; how many."""
        written = exists().where(drafts.c.job == jobs.c.id)
        lost = update(jobs).where(jobs.c.queued_at < before, jobs.c.status.in_(_OPEN), ~written)
        now = time.time() if now is None else now
        return connection.execute(lost.values(status="cut", error=STOPPED, finished_at=now)).rowcount

    @writes
    def forget(self, connection: Connection, before: float) -> int:
        """Remove what is older; how many. In a conversation, an answer may be asked for by its job's name."""
        old = delete(jobs).where(jobs.c.queued_at < before, jobs.c.conversation.is_(None))
        return connection.execute(old).rowcount


def job_to_json(job: JobRecord) -> dict[str, Any]:
    """A job for people and programs: when, where and how much, and no word of what it was about."""
    told = asdict(job)
    usage = told.pop("usage")
    del told["prompt"]
    tokens = {name: usage[name] for name in ("prompt", "completion", "cached")}
    return {**told, "tokens": tokens, "timings": dict(usage["timings"])}


def parse_status(name: str) -> JobStatus:
    for status in get_args(JobStatus):
        if status == name:
            return cast(JobStatus, status)
    raise BadRequest(f"no job has the status {name!r}", hint=f"It is {', '.join(get_args(JobStatus))}.")


def end_job(
    connection: Connection,
    job: str,
    status: FinalStatus,
    *,
    error: str = "",
    usage: Usage = _NO_USAGE,
    now: float | None = None,
    **known: float | str,
) -> None:
    _END_JOB.run(
        connection,
        {
            "ended": job,
            "status": status,
            "error": error,
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "cached_tokens": usage.cached,
            "timings": usage.timings,
            "finished_at": time.time() if now is None else now,
            **{name: known.get(name) for name in _LATE},
        },
    )


def _get_job(connection: Connection, job: str) -> JobRecord:
    row = connection.execute(select(jobs).where(jobs.c.id == job)).first()
    if row is None:
        raise NotFound(f"job '{job}' not found")
    return _read_job(row)


def _read_job(row: Row[Any]) -> JobRecord:
    return JobRecord(
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
