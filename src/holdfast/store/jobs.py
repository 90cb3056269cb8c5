"""Requests to model servers, and the work around them.

Jobs (a job ends once; later reports change nothing), their prompts, drafts of answers (saved about once a
second, so that a crash loses next to nothing), the outbox of work promised in a commit, and leases on
background work.
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
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
from holdfast.i18n import lazy
from holdfast.messages import JsonObject, Message, Scope, Usage, canonical
from holdfast.store import log, tree
from holdfast.store.database import (
    Database,
    PreparedStatement,
    Repository,
    database_time,
    reads,
    upsert,
    writes,
)
from holdfast.store.schema import drafts, jobs, leases, outbox, prompts
from holdfast.store.values import (
    DraftRecord,
    JobKind,
    JobRecord,
    JobStatus,
    MessageRecord,
    NewMessage,
    OutboxItem,
    Prompt,
    new_id,
)

FinalStatus = Literal["done", "failed", "cut"]

_OPEN: tuple[JobStatus, ...] = ("queued", "running")
_NO_USAGE = Usage()
# The error of a job whose process was stopped.
STOPPED = "Holdfast was stopped before the answer was complete"


# Fields that are columns of the same name.
_PLAIN_FIELDS = [field.name for field in fields(JobRecord) if field.name != "usage"]
_NEW_JOB = PreparedStatement(
    insert(jobs),
    [
        "id", "conversation", "kind", "user", "project", "model", "upstream", "status", "prompt", "window",
        "queued_at", "started_at", "timings", "error",
    ],
)  # fmt: skip
# Columns set at the end; those in `_LATE` keep their value where None is given.
_RESULT = ("status", "error", "prompt_tokens", "completion_tokens", "cached_tokens", "timings", "finished_at")
_LATE = ("upstream", "window", "first_token_at")
_IS_OPEN = or_(*(jobs.c.status == literal_column(f"'{status}'") for status in _OPEN))
_END_JOB = PreparedStatement(
    update(jobs)
    .where(jobs.c.id == bindparam("ended"), _IS_OPEN)
    .values(
        {name: bindparam(name) for name in _RESULT}
        | {name: func.coalesce(bindparam(name, type_=jobs.c[name].type), jobs.c[name]) for name in _LATE}
    )
)


class JobRepository(Repository):
    """Jobs from the queue to their end."""

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
        """Create a job, running or, with `queued`, waiting for its turn."""
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
    def mark_queued(self, connection: Connection, job: str, upstream: str) -> None:
        """The job has to wait: others are before it at this server."""
        connection.execute(
            update(jobs)
            .where(jobs.c.id == job, jobs.c.status == "running")
            .values(status="queued", started_at=None, upstream=upstream)
        )

    @writes
    def mark_running(
        self,
        connection: Connection,
        job: str,
        *,
        upstream: str | None = None,
        prompt: str | None = None,
        window: int | None = None,
        now: float | None = None,
    ) -> None:
        """The job's turn has come; sets what was decided while it waited."""
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
        """End the job with its result. `cut`: the server stopped, or the client left."""
        end_job(
            connection,
            job,
            status,
            error=error,
            usage=usage,
            now=now,
            upstream=upstream,
            window=window,
            first_token_at=first_token_at,
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
        """Return the last jobs, newest first, optionally of one user, project, conversation or status."""
        filters = {"user": user, "project": project, "conversation": conversation, "status": status}
        query = select(jobs).order_by(jobs.c.queued_at.desc(), jobs.c.id.desc()).limit(limit)
        query = query.where(*(jobs.c[name] == value for name, value in filters.items() if value is not None))
        return [_read_job(row) for row in connection.execute(query)]

    @writes
    def abandon(self, connection: Connection, before: float, now: float | None = None) -> int:
        """End the open jobs from before that have no draft: nobody works on them. Return how many."""
        written = exists().where(drafts.c.job == jobs.c.id)
        lost = update(jobs).where(jobs.c.queued_at < before, jobs.c.status.in_(_OPEN), ~written)
        now = time.time() if now is None else now
        return connection.execute(lost.values(status="cut", error=STOPPED, finished_at=now)).rowcount

    @writes
    def forget(self, connection: Connection, before: float) -> int:
        """Delete older jobs outside conversations (there an answer is found by its job); return how many."""
        old = delete(jobs).where(jobs.c.queued_at < before, jobs.c.conversation.is_(None))
        return connection.execute(old).rowcount


def job_to_json(job: JobRecord) -> dict[str, Any]:
    """Return a job as JSON: when, where and how much, but nothing of its content."""
    values = asdict(job)
    usage = values.pop("usage")
    del values["prompt"], values["answer"]
    tokens = {name: usage[name] for name in ("prompt", "completion", "cached")}
    return {**values, "tokens": tokens, "timings": dict(usage["timings"])}


def parse_status(name: str) -> JobStatus:
    """Return the status of that name; a BadRequest lists those there are."""
    if name not in get_args(JobStatus):
        raise BadRequest(
            lazy("no job has the status {name!r}", name=name),
            hint=lazy("It is {names}.", names=", ".join(get_args(JobStatus))),
        )
    return cast(JobStatus, name)


def end_job(
    connection: Connection,
    job: str,
    status: FinalStatus,
    *,
    error: str = "",
    usage: Usage = _NO_USAGE,
    now: float | None = None,
    **late: float | str | None,
) -> None:
    """End a job in this transaction; `late` are columns that stay as they are for None."""
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
            **{name: late.get(name) for name in _LATE},
        },
    )


def _get_job(connection: Connection, job: str) -> JobRecord:
    row = connection.execute(select(jobs).where(jobs.c.id == job)).first()
    if row is None:
        raise NotFound(lazy("job '{job}' not found", job=job))
    return _read_job(row)


def _read_job(row: Row[Any]) -> JobRecord:
    usage = Usage(row.prompt_tokens, row.completion_tokens, row.cached_tokens, row.timings)
    return JobRecord(usage=usage, **{name: getattr(row, name) for name in _PLAIN_FIELDS})


_TAKE_QUERY = delete(drafts).where(drafts.c.job == bindparam("taken")).returning(*drafts.columns)
_TAKE_DRAFT = PreparedStatement(_TAKE_QUERY)
_TAKE_STALE_DRAFT = PreparedStatement(_TAKE_QUERY.where(drafts.c.beat_at <= bindparam("until")))


class DraftRepository(Repository):
    """Answers that are being written.

    A draft becomes a message when it is finished, or when its writer has gone silent.
    """

    __slots__ = ()

    @writes
    def save(
        self,
        connection: Connection,
        job: str,
        conversation: str,
        parent: str | None,
        message: Message,
        model: str = "",
        now: float | None = None,
    ) -> None:
        """Save what has arrived so far. This is also the writer's heartbeat."""
        row = {
            "job": job,
            "conversation": conversation,
            "parent": parent,
            "body": message.encode(),
            "model": model,
            "beat_at": database_time(connection) if now is None else now,
        }
        upsert(connection, drafts, row)

    @writes
    def finish(
        self, connection: Connection, job: str, message: NewMessage, now: float | None = None
    ) -> MessageRecord | None:
        """Turn the draft into a message; None if there is no such draft (any more).

        The head moves to it if nothing else happened since the question; otherwise the answer becomes a side
        branch.
        """
        draft = _take_draft(connection, job)
        if draft is None:
            return None
        return _append_draft(connection, draft, message, time.time() if now is None else now)

    @writes
    def discard(self, connection: Connection, job: str) -> None:
        _take_draft(connection, job)

    @reads
    def of(self, connection: Connection, conversation: str) -> list[DraftRecord]:
        query = select(drafts).where(drafts.c.conversation == conversation)
        return [
            _read_draft(row) for row in connection.execute(query.order_by(drafts.c.beat_at, drafts.c.job))
        ]

    @writes
    def recover(
        self, connection: Connection, now: float | None = None, stale_after: float = 5.0
    ) -> list[MessageRecord]:
        """Turn drafts whose writers have gone silent into messages cut short. Empty ones are dropped."""
        now = database_time(connection) if now is None else now
        stale = select(drafts.c.job).where(drafts.c.beat_at <= now - stale_after)
        messages: list[MessageRecord] = []
        for job in connection.scalars(stale.order_by(drafts.c.beat_at, drafts.c.job)).all():
            draft = _take_draft(connection, job, beat_until=now - stale_after)
            # Another process may have recovered it, or its writer may have woken up.
            if draft is None:
                continue
            if draft.message.parts:
                messages.append(
                    _append_draft(connection, draft, NewMessage(draft.message, finish="cut"), now)
                )
            end_job(connection, job, "cut", error=STOPPED, now=now)
        return messages


def _read_draft(row: Row[Any]) -> DraftRecord:
    return DraftRecord(
        row.job, row.conversation, row.parent, Message.decode(row.body), row.model, row.beat_at
    )


def _take_draft(connection: Connection, job: str, *, beat_until: float | None = None) -> DraftRecord | None:
    """Delete the draft and return it: of several callers, one gets it."""
    if beat_until is None:
        row = _TAKE_DRAFT.first(connection, taken=job)
    else:
        row = _TAKE_STALE_DRAFT.first(connection, taken=job, until=beat_until)
    return None if row is None else _read_draft(row)


def _is_superseded(head: MessageRecord, draft: DraftRecord, new: NewMessage) -> bool:
    """Whether the head is an earlier state of this answer, or a fragment of another to its question."""
    fragment = head.parent == draft.parent and head.finish == "cut" and new.finish != "cut"
    return head.job == draft.job or fragment


def _append_draft(connection: Connection, draft: DraftRecord, new: NewMessage, now: float) -> MessageRecord:
    new = replace(new, job=new.job or draft.job, model=new.model or draft.model)
    conversation = log.lock_conversation(connection, draft.conversation)
    parent = None if draft.parent is None else tree.get(connection, draft.parent, tree=conversation.tree)
    existing = tree.find_existing(connection, conversation.tree, parent, [new])
    (answer,) = existing or tree.append(connection, conversation.tree, parent, [new], now)
    if existing and answer.job != draft.job:
        # It is kept once, and known by both.
        connection.execute(update(jobs).where(jobs.c.id == draft.job).values(answer=answer.id))
    untouched = conversation.head == draft.parent or (
        conversation.head is not None and _is_superseded(tree.get(connection, conversation.head), draft, new)
    )
    if untouched and conversation.head != answer.id:
        log.update_head(connection, conversation, answer.id, now)
    return answer


class Outbox(Repository):
    """Work promised in a commit and carried out after it. `promised` counts what this process added."""

    __slots__ = ("promised",)

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.promised = 0

    @writes
    def put(self, connection: Connection, topic: str, payload: Any, now: float | None = None) -> str:
        """Add work. Inside `Store.atomically` it is added only if the transaction commits."""
        item = new_id("o")
        row = {
            "id": item,
            "topic": topic,
            "payload": payload,
            "created_at": time.time() if now is None else now,
            "attempts": 0,
            "error": "",
        }
        connection.execute(insert(outbox), row)
        self.promised += 1
        return item

    @reads
    def pending(self, connection: Connection, limit: int = 100) -> list[OutboxItem]:
        """Return what is still to be done, oldest first."""
        query = select(outbox).where(outbox.c.done_at.is_(None))
        rows = connection.execute(query.order_by(outbox.c.created_at, outbox.c.id).limit(limit))
        return [OutboxItem(**row._mapping) for row in rows]

    @writes
    def complete(self, connection: Connection, item: str, now: float | None = None) -> None:
        """Mark an item as done, and drop its payload."""
        values = {"done_at": time.time() if now is None else now, "payload": {}}
        connection.execute(
            update(outbox).where(outbox.c.id == item, outbox.c.done_at.is_(None)).values(values)
        )

    @writes
    def forget(self, connection: Connection, before: float) -> None:
        """Delete items that were done before this moment."""
        connection.execute(delete(outbox).where(outbox.c.done_at < before))

    @writes
    def record_failure(self, connection: Connection, item: str, error: str) -> None:
        """Count a failed attempt; the item stays pending."""
        connection.execute(
            update(outbox).where(outbox.c.id == item).values(attempts=outbox.c.attempts + 1, error=error)
        )


class LeaseRepository(Repository):
    """Who may do a piece of background work: server, command line and MCP may all run at once."""

    __slots__ = ()

    @writes
    def take(
        self, connection: Connection, name: str, owner: str, ttl: float, now: float | None = None
    ) -> bool:
        """Take the lease for `ttl` seconds, if it is free, has expired, or is ours already."""
        now = database_time(connection) if now is None else now
        mine = {"name": name, "owner": owner, "expires_at": now + ttl}
        # Inserting first makes sure that there is a row, so that of two takers one waits for the other.
        upsert(connection, leases, mine, update=())
        free = or_(leases.c.owner == owner, leases.c.expires_at <= now)
        taken = update(leases).where(leases.c.name == name, free).values(mine)
        return connection.execute(taken).rowcount == 1

    @writes
    def renew(
        self, connection: Connection, name: str, owner: str, ttl: float, now: float | None = None
    ) -> bool:
        """Extend the lease by `ttl` seconds. False: it has expired, and the work must stop."""
        now = database_time(connection) if now is None else now
        ours = leases.c.name == name, leases.c.owner == owner, leases.c.expires_at > now
        return connection.execute(update(leases).where(*ours).values(expires_at=now + ttl)).rowcount == 1

    @writes
    def release(self, connection: Connection, name: str, owner: str) -> None:
        connection.execute(delete(leases).where(leases.c.name == name, leases.c.owner == owner))


class PromptRepository(Repository):
    """System messages and tools as they were sent, each set stored once.

    They are large, rarely change, and are no part of a conversation's log: clients put clocks into them.
    """

    __slots__ = ()

    @writes
    def keep(
        self,
        connection: Connection,
        system: Sequence[Message],
        tools: Sequence[JsonObject] = (),
        now: float | None = None,
    ) -> str:
        """Save them if they are new; return their digest."""
        body = {"system": [message.encode() for message in system], "tools": list(tools)}
        digest = hashlib.sha256(canonical(body).encode()).hexdigest()[:32]
        created_at = time.time() if now is None else now
        upsert(connection, prompts, {"digest": digest, "body": body, "created_at": created_at}, update=())
        return digest

    @reads
    def get(self, connection: Connection, digest: str) -> Prompt:
        row = connection.execute(select(prompts).where(prompts.c.digest == digest)).first()
        if row is None:
            raise NotFound(lazy("prompt '{digest}' not found", digest=digest))
        return Prompt(
            digest=row.digest,
            system=tuple(Message.decode(message) for message in row.body["system"]),
            tools=tuple(row.body["tools"]),
        )
