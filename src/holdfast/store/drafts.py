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
from holdfast.store.database import Topic, clock, reads, upsert, writes
from holdfast.store.schema import drafts
from holdfast.store.statements import Statement
from holdfast.store.values import Draft, NewMessage, Stored

_TAKE = delete(drafts).where(drafts.c.job == bindparam("taken")).returning(*drafts.columns)
_TAKEN = Statement(_TAKE)
_STALE = Statement(_TAKE.where(drafts.c.beat_at <= bindparam("until")))


class Drafts(Topic):
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
            "beat_at": clock(connection) if now is None else now,
        }
        upsert(connection, drafts, row)

    @writes
    def finish(
        self, connection: Connection, job: str, message: NewMessage, now: float | None = None
    ) -> Stored | None:
        """Turn the draft into a message; None if there is no such draft (any more).

        The head moves to it if nothing else happened since the question; otherwise the answer is kept beside
        what did happen.
        """
        draft = _take(connection, job)
        if draft is None:
            return None
        return _append(connection, draft, message, time.time() if now is None else now)

    @writes
    def discard(self, connection: Connection, job: str) -> None:
        _take(connection, job)

    @reads
    def of(self, connection: Connection, conversation: str) -> list[Draft]:
        query = select(drafts).where(drafts.c.conversation == conversation)
        return [_draft(row) for row in connection.execute(query.order_by(drafts.c.beat_at, drafts.c.job))]

    @writes
    def recover(
        self, connection: Connection, now: float | None = None, stale_after: float = 5.0
    ) -> list[Stored]:
        """Keep the answers whose writers have gone silent, marked as cut off. Empty ones are dropped."""
        now = clock(connection) if now is None else now
        stale = select(drafts.c.job).where(drafts.c.beat_at <= now - stale_after)
        kept: list[Stored] = []
        for job in connection.scalars(stale.order_by(drafts.c.beat_at, drafts.c.job)).all():
            draft = _take(connection, job, beat_until=now - stale_after)
            # Another process may have recovered it, or its writer may have woken up.
            if draft is None:
                continue
            if draft.message.parts:
                kept.append(_append(connection, draft, NewMessage(draft.message, finish="cut"), now))
            jobs.end(connection, job, "cut", error=jobs.STOPPED, now=now)
        return kept


def _draft(row: Row[Any]) -> Draft:
    return Draft(
        job=row.job,
        conversation=row.conversation,
        parent=row.parent,
        message=Message.decode(row.body),
        model=row.model,
        beat_at=row.beat_at,
    )


def _take(connection: Connection, job: str, *, beat_until: float | None = None) -> Draft | None:
    """Remove the draft and give it to the caller: of several who try, one gets it."""
    if beat_until is None:
        row = _TAKEN.first(connection, taken=job)
    else:
        row = _STALE.first(connection, taken=job, until=beat_until)
    return None if row is None else _draft(row)


def _gives_way(head: Stored, draft: Draft, new: NewMessage) -> bool:
    """Whether the head is only an earlier state of this answer, or a fragment of another to its question."""
    fragment = head.parent == draft.parent and head.finish == "cut" and new.finish != "cut"
    return head.job == draft.job or fragment


def _append(connection: Connection, draft: Draft, new: NewMessage, now: float) -> Stored:
    new = replace(new, job=new.job or draft.job, model=new.model or draft.model)
    conversation = heads.locked(connection, draft.conversation)
    parent = None if draft.parent is None else tree.get(connection, draft.parent, tree=conversation.tree)
    found = tree.known(connection, conversation.tree, parent, [new])
    (answer,) = found or tree.grow(connection, conversation.tree, parent, [new], now)
    untouched = conversation.head == draft.parent or (
        conversation.head is not None and _gives_way(tree.get(connection, conversation.head), draft, new)
    )
    if untouched and conversation.head != answer.id:
        heads.move(connection, conversation, answer.id, now)
    return answer
