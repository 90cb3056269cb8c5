"""Work promised in a commit and carried out after it: notes to write, vectors to make.

It keeps the promises in order until they are kept; it does not know what they mean.
"""

import time
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from holdfast.store.database import Database, Repository, reads, writes
from holdfast.store.ids import new_id
from holdfast.store.schema import outbox
from holdfast.store.values import OutboxItem


class Outbox(Repository):
    """`promised` counts what this process has put in, for who wonders whether there is anything to do."""

    __slots__ = ("promised",)

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.promised = 0

    @writes
    def put(self, connection: Connection, topic: str, payload: Any, now: float | None = None) -> str:
        """Promise some work. Inside `Store.atomically` it is promised only if all the rest is committed."""
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
        """What is still to be done, oldest first."""
        query = select(outbox).where(outbox.c.done_at.is_(None))
        rows = connection.execute(query.order_by(outbox.c.created_at, outbox.c.id).limit(limit))
        return [OutboxItem(**row._mapping) for row in rows]

    @writes
    def done(self, connection: Connection, item: str, now: float | None = None) -> None:
        """The promise is kept; what it was about stands where it belongs, and no longer here."""
        kept = {"done_at": time.time() if now is None else now, "payload": {}}
        connection.execute(update(outbox).where(outbox.c.id == item, outbox.c.done_at.is_(None)).values(kept))

    @writes
    def forget(self, connection: Connection, before: float) -> None:
        """Promises that were kept before this moment are of no more use."""
        connection.execute(delete(outbox).where(outbox.c.done_at < before))

    @writes
    def failed(self, connection: Connection, item: str, error: str) -> None:
        """An attempt went wrong; the item stays pending."""
        connection.execute(
            update(outbox).where(outbox.c.id == item).values(attempts=outbox.c.attempts + 1, error=error)
        )
