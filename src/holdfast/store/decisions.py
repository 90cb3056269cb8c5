"""What was done to the window of a conversation: decisions, compactions, summaries, lanes, and marks.

A lane is a conversation in windows of one size. What a window looks like under its decisions is computed in
`window`.
"""

import re
import time
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    or_,
    select,
    type_coerce,
    update,
)

from holdfast.errors import Conflict, NotFound
from holdfast.i18n import lazy
from holdfast.messages import JsonObject
from holdfast.store import log, tree
from holdfast.store.database import PreparedStatement, Repository, reads, upsert, writes
from holdfast.store.schema import compactions, decisions, lanes, marks, messages, summaries
from holdfast.store.values import Compaction, Decision, LaneRecord, Mark, SummaryRecord, new_id

# With more names than this, all decisions that quote anything are read instead of filtered by name.
_NAMES = 50


_IN_LANE = (
    select(decisions)
    .where(decisions.c.lane == bindparam("lane"))
    .order_by(decisions.c.created_at, decisions.c.id)
)
_IN_FORCE, _VETOED = (
    PreparedStatement(_IN_LANE.where(decisions.c.vetoed_at.is_(None))),
    PreparedStatement(_IN_LANE.where(decisions.c.vetoed_at.is_not(None))),
)
_BY_RULE = PreparedStatement(
    select(decisions)
    .where(
        decisions.c.conversation == bindparam("conversation"),
        decisions.c.rule == bindparam("rule"),
        decisions.c.vetoed_at.is_(None),
    )
    .order_by(decisions.c.created_at, decisions.c.id)
)
# A new decision is in force: `vetoed_at` stays empty.
_NEW_DECISION = PreparedStatement(
    insert(decisions), [column.name for column in decisions.columns if column.name != "vetoed_at"]
)


class DecisionRepository(Repository):
    """Decisions by lane; one that was undone stays as a veto."""

    __slots__ = ()

    @writes
    def record(
        self,
        connection: Connection,
        lane: str,
        conversation: str,
        *,
        kind: str,
        rule: str,
        messages: Sequence[str],
        tokens_before: int,
        tokens_after: int,
        reason: str = "",
        data: JsonObject | None = None,
        batch: str = "",
        name: str = "",
        now: float | None = None,
    ) -> Decision:
        """Save a decision; `name` is its id where others already refer to it."""
        decision = name or new_id("d")
        row: dict[str, Any] = {
            "id": decision,
            "lane": lane,
            "conversation": conversation,
            "kind": kind,
            "rule": rule,
            "messages": list(messages),
            "tokens_before": tokens_before,
            "tokens_after": tokens_after,
            "reason": reason,
            "data": data or {},
            "batch": batch,
            "created_at": time.time() if now is None else now,
        }
        _NEW_DECISION.run(connection, row)
        return Decision(**row)

    @reads
    def of(self, connection: Connection, lane: str) -> list[Decision]:
        """Return the decisions in force in a lane, oldest first."""
        return [Decision(**row._asdict()) for row in _IN_FORCE.all(connection, lane=lane)]

    @reads
    def get_many(self, connection: Connection, names: Sequence[str]) -> list[Decision]:
        """Return decisions by their ids, oldest first, without those that were undone."""
        if not names:
            return []
        query = select(decisions).where(decisions.c.id.in_(names), decisions.c.vetoed_at.is_(None))
        rows = connection.execute(query.order_by(decisions.c.created_at, decisions.c.id))
        return [Decision(**row._mapping) for row in rows]

    @reads
    def by_rule(self, connection: Connection, conversation: str, rule: str) -> list[Decision]:
        """Return the decisions in force that one rule made in a conversation, in all windows."""
        rows = _BY_RULE.all(connection, conversation=conversation, rule=rule)
        return [Decision(**row._asdict()) for row in rows]

    @reads
    def quoting(self, connection: Connection, sources: Collection[str]) -> list[Decision]:
        """Return the decisions of all lanes, vetoed ones too, that added one of these memories or names."""
        if not sources:
            return []
        names = sources if len(sources) <= _NAMES else ("memories", "name")
        data = type_coerce(decisions.c.data, Text)
        named = or_(*(data.like(f'%"{_escape_like(name)}"%', escape="\\") for name in names))
        query = select(decisions).where(decisions.c.kind == "add", named)
        rows = connection.execute(query.order_by(decisions.c.created_at, decisions.c.id))
        additions = (Decision(**row._mapping) for row in rows)
        return [
            decision
            for decision in additions
            if decision.data.get("name") in sources
            or not set(sources).isdisjoint(decision.data.get("memories", ()))
        ]

    @writes
    def rewrite(self, connection: Connection, decision: str, *, data: JsonObject, tokens_after: int) -> None:
        """Replace the contents of a decision: what was forgotten must not stay in it."""
        change = update(decisions).where(decisions.c.id == decision)
        connection.execute(change.values(data=data, tokens_after=tokens_after))

    @reads
    def vetoes(self, connection: Connection, lane: str) -> list[Decision]:
        """Return the decisions that were undone and should not be made again."""
        return [Decision(**row._asdict()) for row in _VETOED.all(connection, lane=lane)]

    @writes
    def remove(self, connection: Connection, decision: str, now: float | None = None) -> Decision:
        """Undo a decision. It stays as a veto, with the time it was first undone."""
        connection.execute(
            update(decisions)
            .where(decisions.c.id == decision, decisions.c.vetoed_at.is_(None))
            .values(vetoed_at=time.time() if now is None else now)
        )
        return _get(connection, decision)

    @writes
    def restore(self, connection: Connection, decision: str) -> Decision:
        """Put a decision that was undone in force again."""
        connection.execute(update(decisions).where(decisions.c.id == decision).values(vetoed_at=None))
        return _get(connection, decision)


class CompactionRepository(Repository):
    """Statistics of the compactions of each conversation."""

    __slots__ = ()

    @writes
    def record(
        self,
        connection: Connection,
        conversation: str,
        *,
        lane: str,
        level: int,
        strategy: str,
        messages: int,
        tokens_before: int,
        tokens_after: int,
        tokens_freed: int | None = None,
        memories: int = 0,
        model: str = "",
        path: str = "",
        duration_ms: int = 0,
        now: float | None = None,
    ) -> Compaction:
        """Record a compaction; `tokens_freed` where that is not the difference of the two others."""
        new = Compaction(
            id=new_id("k"),
            conversation=conversation,
            lane=lane,
            level=level,
            strategy=strategy,
            messages=messages,
            tokens_before=tokens_before,
            tokens_after=tokens_after,
            tokens_freed=tokens_before - tokens_after if tokens_freed is None else tokens_freed,
            memories=memories,
            model=model,
            path=path,
            duration_ms=duration_ms,
            created_at=time.time() if now is None else now,
        )
        _insert(connection, compactions, new)
        return new

    @reads
    def of(self, connection: Connection, conversation: str) -> list[Compaction]:
        """Return the compactions of a conversation, oldest first."""
        query = select(compactions).where(compactions.c.conversation == conversation)
        rows = connection.execute(query.order_by(compactions.c.created_at, compactions.c.id))
        return [Compaction(**row._mapping) for row in rows]

    @writes
    def forget(self, connection: Connection, before: float) -> None:
        """Delete old statistics; their decisions and summaries stay."""
        connection.execute(delete(compactions).where(compactions.c.created_at < before))


def _get(connection: Connection, decision: str) -> Decision:
    row = connection.execute(select(decisions).where(decisions.c.id == decision)).first()
    if row is None:
        raise NotFound(lazy("decision '{decision}' not found", decision=decision))
    return Decision(**row._mapping)


def _escape_like(text: str) -> str:
    """Escape the wildcards of LIKE."""
    return re.sub(r"([\\%_])", r"\\\1", text)


_LANE = PreparedStatement(select(lanes).where(lanes.c.id == bindparam("lane")))
_LANES_OF = PreparedStatement(
    select(lanes)
    .where(lanes.c.conversation == bindparam("conversation"))
    .order_by(lanes.c.updated_at.desc(), lanes.c.id)
)
_LANE_STATE = PreparedStatement(select(lanes.c.version, lanes.c.state).where(lanes.c.id == bindparam("lane")))
_CHANGE_LANE = PreparedStatement(
    update(lanes)
    .where(lanes.c.id == bindparam("lane"), lanes.c.version == bindparam("expected"))
    .values({name: bindparam(name) for name in ("state", "report", "version", "updated_at")})
)
_NEW_LANE = PreparedStatement(insert(lanes), lanes.columns.keys())


class LaneRepository(Repository):
    """Lanes, changed by compare-and-swap: two requests of one conversation may run at once."""

    __slots__ = ()

    @reads
    def get(self, connection: Connection, lane: str) -> LaneRecord | None:
        row = _LANE.first(connection, lane=lane)
        return None if row is None else LaneRecord(**row._asdict())

    @reads
    def load_state(self, connection: Connection, lane: str) -> tuple[int, JsonObject]:
        """Return version and state without the report, which is long; (0, {}) if there is none yet."""
        row = _LANE_STATE.first(connection, lane=lane)
        return (0, {}) if row is None else (row.version, row.state)

    @reads
    def of(self, connection: Connection, conversation: str) -> list[LaneRecord]:
        """Return the lanes of a conversation, the last used first."""
        rows = _LANES_OF.all(connection, conversation=conversation)
        return [LaneRecord(**row._asdict()) for row in rows]

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
        """Save a lane if its version still is `expect` (0: there is none yet), else raise Conflict."""
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
            raise Conflict(
                lazy("Lane {lane} was changed meanwhile.", lane=lane), hint=lazy("Read it again and repeat.")
            )

    @writes
    def replace_report(self, connection: Connection, lane: str, report: JsonObject) -> None:
        """Replace the last report; the lane itself does not change."""
        connection.execute(update(lanes).where(lanes.c.id == lane).values(report=report))


_TREE = select(messages.c.tree).where(messages.c.id == bindparam("message")).scalar_subquery()
_MARKS_ON_TREE = PreparedStatement(
    select(marks.c.message, marks.c.kind, marks.c.text, marks.c.number).where(marks.c.tree == _TREE)
)


class MarkRepository(Repository):
    """Pins, and sentences that bind what is said later; stored by message."""

    __slots__ = ()

    @writes
    def put(self, connection: Connection, message: str, kind: str, texts: Sequence[str] = ("",)) -> None:
        """Mark a message. The texts replace those it had before."""
        place = tree.get(connection, message).tree
        connection.execute(delete(marks).where(marks.c.message == message, marks.c.kind == kind))
        rows = [
            {"message": message, "kind": kind, "number": number, "tree": place, "text": text}
            for number, text in enumerate(texts)
        ]
        if rows:
            upsert(connection, marks, rows)

    @writes
    def remove(self, connection: Connection, message: str, kind: str) -> bool:
        """Remove a mark; return whether there was one."""
        gone = connection.execute(delete(marks).where(marks.c.message == message, marks.c.kind == kind))
        return gone.rowcount > 0

    @reads
    def of(self, connection: Connection, message: str) -> list[Mark]:
        """Return the marks on the path to this message, in order."""
        rows = _MARKS_ON_TREE.all(connection, message=message)
        if not rows:
            return []
        end = tree.get(connection, message)
        depths = tree.depths(connection, end, [row.message for row in rows])
        on_path = [row for row in rows if row.message in depths]
        on_path.sort(key=lambda row: (depths[row.message], row.kind, row.number))
        return [Mark(row.message, row.kind, row.text, depths[row.message]) for row in on_path]


_SUMMARY_ENDS = PreparedStatement(
    select(summaries.c.through).where(
        summaries.c.tree == bindparam("tree"), summaries.c.depth <= bindparam("depth")
    )
)


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
            raise Conflict(
                lazy("these messages were summarised meanwhile"), hint=lazy("Read the last summary again.")
            )
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
        _insert(connection, summaries, new)
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
    ends = _SUMMARY_ENDS.all(connection, tree=end.tree, depth=end.depth)
    return tree.depths(connection, end, [row.through for row in ends])


def _read_summary(row: Row[Any]) -> SummaryRecord:
    return SummaryRecord(**{**row._mapping, "covers": tuple(row.covers)})


def _insert(connection: Connection, table: Table, record: Compaction | SummaryRecord) -> None:
    """Insert a record whose fields have the names of the table's columns."""
    row = {column.name: getattr(record, column.name) for column in table.columns}
    connection.execute(insert(table), row)
