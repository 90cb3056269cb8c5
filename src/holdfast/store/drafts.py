"""Answers that are being written, saved about once a second so that a crash loses next to nothing.

A draft becomes a message when it is finished, or when whoever wrote it has gone silent. It does not know who
streams, nor where to.
"""

import time
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, select

from holdfast.messages import Message
from holdfast.store import heads, jobs, tree
from holdfast.store.database import Repository, database_time, reads, upsert, writes
from holdfast.store.schema import drafts
from holdfast.store.statements import PreparedStatement
from holdfast.store.values import DraftRecord, MessageRecord, NewMessage

_TAKE_QUERY = delete(drafts).where(drafts.c.job == bindparam("taken")).returning(*drafts.columns)
_TAKE_DRAFT = PreparedStatement(_TAKE_QUERY)
_TAKE_STALE_DRAFT = PreparedStatement(_TAKE_QUERY.where(drafts.c.beat_at <= bindparam("until")))


class DraftRepository(Repository):
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
        """Keep what has arrived so far. Saving is also the sign that the writer is alive."""
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

        The head moves to it if nothing else happened since the question; otherwise the answer is kept beside
        what did happen.
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
        """Keep the answers whose writers have gone silent, marked as cut off. Empty ones are dropped."""
        now = database_time(connection) if now is None else now
        stale = select(drafts.c.job).where(drafts.c.beat_at <= now - stale_after)
        kept: list[MessageRecord] = []
        for job in connection.scalars(stale.order_by(drafts.c.beat_at, drafts.c.job)).all():
            draft = _take_draft(connection, job, beat_until=now - stale_after)
            # Another process may have recovered it, or its writer may have woken up.
            if draft is None:
                continue
            if draft.message.parts:
                kept.append(_append_draft(connection, draft, NewMessage(draft.message, finish="cut"), now))
            jobs.end_job(connection, job, "cut", error=jobs.STOPPED, now=now)
        return kept


def _read_draft(row: Row[Any]) -> DraftRecord:
    return DraftRecord(
        job=row.job,
        conversation=row.conversation,
        parent=row.parent,
        message=Message.decode(row.body),
        model=row.model,
        beat_at=row.beat_at,
    )


def _take_draft(connection: Connection, job: str, *, beat_until: float | None = None) -> DraftRecord | None:
    """Remove the draft and give it to the caller: of several who try, one gets it."""
    if beat_until is None:
        row = _TAKE_DRAFT.first(connection, taken=job)
    else:
        row = _TAKE_STALE_DRAFT.first(connection, taken=job, until=beat_until)
    return None if row is None else _read_draft(row)


def _is_superseded(head: MessageRecord, draft: DraftRecord, new: NewMessage) -> bool:
    """Whether the head is only an earlier state of this answer, or a fragment of another to its question."""
    fragment = head.parent == draft.parent and head.finish == "cut" and new.finish != "cut"
    return head.job == draft.job or fragment


def _append_draft(connection: Connection, draft: DraftRecord, new: NewMessage, now: float) -> MessageRecord:
    new = replace(new, job=new.job or draft.job, model=new.model or draft.model)
    conversation = heads.lock_conversation(connection, draft.conversation)
    parent = None if draft.parent is None else tree.get(connection, draft.parent, tree=conversation.tree)
    found = tree.find_existing(connection, conversation.tree, parent, [new])
    (answer,) = found or tree.append(connection, conversation.tree, parent, [new], now)
    untouched = conversation.head == draft.parent or (
        conversation.head is not None and _is_superseded(tree.get(connection, conversation.head), draft, new)
    )
    if untouched and conversation.head != answer.id:
        heads.move_head(connection, conversation, answer.id, now)
    return answer
