"""Summaries of conversations: the text of each, and which messages it stands for.

They belong to a tree and form a chain along it: each continues where the previous one ends, so no message is
covered twice. Their contents are defined in `compaction`.
"""

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from holdfast.errors import Conflict
from holdfast.messages import JsonObject
from holdfast.store import log, tree
from holdfast.store.database import Repository, reads, writes
from holdfast.store.schema import summaries
from holdfast.store.values import SummaryRecord, new_id


class SummaryRepository(Repository):
    """Summaries along the trees of messages."""

    __slots__ = ()

    @writes
    def put(
        self,
        connection: Connection,
        *,
        covers: Sequence[str],
        previous: str | None,
        body: JsonObject,
        tokens: int,
        model: str = "",
        path: str = "",
        name: str = "",
        now: float | None = None,
    ) -> SummaryRecord:
        """Save a summary of the messages in `covers`, which follow what `previous` covers; `name` is its id.

        Raises Conflict if another summary has covered any of them meanwhile.
        """
        end = tree.get(connection, covers[-1])
        # Two processes that check at the same time would both find nothing.
        log.lock_trees(connection, [end.tree])
        last = _latest(connection, end.id)
        if (last.id if last else None) != previous:
            raise Conflict("these messages were summarised meanwhile", hint="Read the last summary again.")
        new = SummaryRecord(
            id=name or new_id("s"),
            tree=end.tree,
            previous=previous,
            through=end.id,
            depth=end.depth,
            covers=tuple(covers),
            body=body,
            tokens=tokens,
            model=model,
            path=path,
            created_at=time.time() if now is None else now,
        )
        row = {column.name: getattr(new, column.name) for column in summaries.columns}
        connection.execute(insert(summaries), row)
        return new

    @reads
    def latest(self, connection: Connection, message: str) -> SummaryRecord | None:
        """Return the summary that reaches furthest on the path to this message."""
        return _latest(connection, message)

    @reads
    def get(self, connection: Connection, summary: str) -> SummaryRecord | None:
        row = connection.execute(select(summaries).where(summaries.c.id == summary)).first()
        return None if row is None else _read_summary(row)

    @reads
    def of(self, connection: Connection, message: str) -> list[SummaryRecord]:
        """Return all summaries on the path to this message, in order."""
        query = select(summaries).where(summaries.c.through.in_(list(_summary_ends(connection, message))))
        query = query.order_by(summaries.c.depth)
        return [_read_summary(row) for row in connection.execute(query)]


def _latest(connection: Connection, message: str) -> SummaryRecord | None:
    depths = _summary_ends(connection, message)
    if not depths:
        return None
    through = max(depths, key=lambda name: depths[name])
    row = connection.execute(select(summaries).where(summaries.c.through == through)).one()
    return _read_summary(row)


def _summary_ends(connection: Connection, message: str) -> dict[str, int]:
    """Return the messages on the path to this one at which a summary ends, each with its depth."""
    end = tree.get(connection, message)
    ends = select(summaries.c.through).where(summaries.c.tree == end.tree, summaries.c.depth <= end.depth)
    return tree.depths(connection, end, list(connection.scalars(ends)))


def _read_summary(row: Row[Any]) -> SummaryRecord:
    return SummaryRecord(**{**row._mapping, "covers": tuple(row.covers)})
