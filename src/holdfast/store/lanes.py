"""Lanes: how a conversation stands in windows of one size.

It keeps what `window` worked out; what that means is known there. Changes are by compare-and-swap, since two
requests of one conversation may be on their way at once.
"""

import time

from sqlalchemy import Connection, bindparam, insert, select, update

from holdfast.errors import Conflict
from holdfast.messages import JsonObject
from holdfast.store.database import Repository, reads, writes
from holdfast.store.schema import lanes
from holdfast.store.statements import PreparedStatement
from holdfast.store.values import LaneRecord

_LANE = PreparedStatement(select(lanes).where(lanes.c.id == bindparam("lane")))
_LANE_STATE = PreparedStatement(select(lanes.c.version, lanes.c.state).where(lanes.c.id == bindparam("lane")))
_CHANGE_LANE = PreparedStatement(
    update(lanes)
    .where(lanes.c.id == bindparam("lane"), lanes.c.version == bindparam("expected"))
    .values({name: bindparam(name) for name in ("state", "report", "version", "updated_at")})
)
_NEW_LANE = PreparedStatement(insert(lanes), lanes.columns.keys())


class LaneRepository(Repository):
    __slots__ = ()

    @reads
    def get(self, connection: Connection, lane: str) -> LaneRecord | None:
        row = _LANE.first(connection, lane=lane)
        return None if row is None else LaneRecord(**row._asdict())

    @reads
    def standing(self, connection: Connection, lane: str) -> tuple[int, JsonObject]:
        """Its version and its state, without its report, which is long; no version if there is none yet."""
        row = _LANE_STATE.first(connection, lane=lane)
        return (0, {}) if row is None else (row.version, row.state)

    @reads
    def of(self, connection: Connection, conversation: str) -> list[LaneRecord]:
        """The lanes of a conversation, the last used first."""
        query = select(lanes).where(lanes.c.conversation == conversation)
        rows = connection.execute(query.order_by(lanes.c.updated_at.desc(), lanes.c.id))
        return [LaneRecord(**row._mapping) for row in rows]

    @writes
    def put(
        self,
        connection: Connection,
        lane: str,
        conversation: str,
        *,
        window: int,
        state: JsonObject,
        report: JsonObject,
        expect: int,
        now: float | None = None,
    ) -> None:
        """Keep a lane, if its version still is `expect` (0: there is none yet); else it is a Conflict."""
        values = {
            "state": state,
            "report": report,
            "version": expect + 1,
            "updated_at": time.time() if now is None else now,
        }
        if expect:
            done = _CHANGE_LANE.run(connection, {"lane": lane, "expected": expect, **values}) == 1
        else:
            row = {"id": lane, "conversation": conversation, "window": window, **values}
            done = _NEW_LANE.run(connection, row) == 1
        if not done:
            raise Conflict(f"Lane {lane} was changed meanwhile.", hint="Read it again and repeat.")

    @writes
    def retell(self, connection: Connection, lane: str, report: JsonObject) -> None:
        """Put another report in the place of the last one; the lane itself is as it was."""
        connection.execute(update(lanes).where(lanes.c.id == lane).values(report=report))
