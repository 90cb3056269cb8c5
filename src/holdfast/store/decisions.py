"""What was done to the messages of a window, by lane, and the compactions that took place.

It keeps and returns them; how a window looks under these decisions is worked out in `window`.
"""

import re
import time
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, Text, bindparam, delete, insert, or_, select, type_coerce, update

from holdfast.errors import Conflict, NotFound
from holdfast.messages import JsonObject
from holdfast.store import tree
from holdfast.store.database import PreparedStatement, Repository, reads, upsert, writes
from holdfast.store.schema import compactions, decisions, lanes, marks, messages
from holdfast.store.values import Compaction, Decision, LaneRecord, Mark, new_id

# More names than these are not put into one question: all that quotes anything is looked through instead.
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


class DecisionRepository(Repository):
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
        """Keep a decision; `name` is the id it has where others already speak of it."""
        decision = name or new_id("d")
        row = {
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
        connection.execute(insert(decisions), row)
        return _get(connection, decision)

    @reads
    def of(self, connection: Connection, lane: str) -> list[Decision]:
        """The decisions in force in a lane, in the order they were made."""
        return [Decision(**row._asdict()) for row in _IN_FORCE.all(connection, lane=lane)]

    @reads
    def get_many(self, connection: Connection, names: Sequence[str]) -> list[Decision]:
        """Some decisions by their ids, in the order they were made; those undone meanwhile are left out."""
        if not names:
            return []
        query = select(decisions).where(decisions.c.id.in_(names), decisions.c.vetoed_at.is_(None))
        rows = connection.execute(query.order_by(decisions.c.created_at, decisions.c.id))
        return [Decision(**row._mapping) for row in rows]

    @reads
    def by_rule(self, connection: Connection, conversation: str, rule: str) -> list[Decision]:
        """The decisions in force that one rule made, in whatever window, whether they still show or not."""
        rows = _BY_RULE.all(connection, conversation=conversation, rule=rule)
        return [Decision(**row._asdict()) for row in rows]

    @reads
    def quoting(self, connection: Connection, sources: Collection[str]) -> list[Decision]:
        """The decisions of all lanes that put one of these memories, or what is called so, into a window.

        Those that were undone are among them.
        """
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
        """Keep other contents under a decision: what was forgotten must not stay in it."""
        change = update(decisions).where(decisions.c.id == decision)
        connection.execute(change.values(data=data, tokens_after=tokens_after))

    @reads
    def vetoes(self, connection: Connection, lane: str) -> list[Decision]:
        """The decisions that were undone, and should not be made again."""
        return [Decision(**row._asdict()) for row in _VETOED.all(connection, lane=lane)]

    @writes
    def remove(self, connection: Connection, decision: str, now: float | None = None) -> Decision:
        """Undo a decision. It stays as a veto, dated by the first time it was undone."""
        connection.execute(
            update(decisions)
            .where(decisions.c.id == decision, decisions.c.vetoed_at.is_(None))
            .values(vetoed_at=time.time() if now is None else now)
        )
        return _get(connection, decision)


class CompactionRepository(Repository):
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
        """Note what was done; `tokens_freed` where that is not the difference of the two others."""
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
        row = {column.name: getattr(new, column.name) for column in compactions.columns}
        connection.execute(insert(compactions), row)
        return new

    @reads
    def of(self, connection: Connection, conversation: str) -> list[Compaction]:
        """The compactions of a conversation, oldest first."""
        query = select(compactions).where(compactions.c.conversation == conversation)
        rows = connection.execute(query.order_by(compactions.c.created_at, compactions.c.id))
        return [Compaction(**row._mapping) for row in rows]

    @writes
    def forget(self, connection: Connection, before: float) -> None:
        """Old statistics go; the decisions and summaries they are about stay."""
        connection.execute(delete(compactions).where(compactions.c.created_at < before))


def _get(connection: Connection, decision: str) -> Decision:
    row = connection.execute(select(decisions).where(decisions.c.id == decision)).first()
    if row is None:
        raise NotFound(f"decision '{decision}' not found")
    return Decision(**row._mapping)


def _escape_like(text: str) -> str:
    """A text in which no sign stands for others."""
    return re.sub(r"([\\%_])", r"\\\1", text)


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
    def load_state(self, connection: Connection, lane: str) -> tuple[int, JsonObject]:
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
    def replace_report(self, connection: Connection, lane: str, report: JsonObject) -> None:
        """Put another report in the place of the last one; the lane itself is as it was."""
        connection.execute(update(lanes).where(lanes.c.id == lane).values(report=report))


_TREE = select(messages.c.tree).where(messages.c.id == bindparam("message")).scalar_subquery()
_MARKS_ON_TREE = PreparedStatement(
    select(marks.c.message, marks.c.kind, marks.c.text, marks.c.number).where(marks.c.tree == _TREE)
)


class MarkRepository(Repository):
    __slots__ = ()

    @writes
    def put(self, connection: Connection, message: str, kind: str, texts: Sequence[str] = ("",)) -> None:
        """Mark a message. The texts take the place of those it had before."""
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
        """Take a mark away; whether there was one."""
        gone = connection.execute(delete(marks).where(marks.c.message == message, marks.c.kind == kind))
        return gone.rowcount > 0

    @reads
    def of(self, connection: Connection, message: str) -> list[Mark]:
        """The marks on the way from the root to this message, in order."""
        rows = _MARKS_ON_TREE.all(connection, message=message)
        if not rows:
            return []
        end = tree.get(connection, message)
        depths = tree.depths(connection, end, [row.message for row in rows])
        on_path = [row for row in rows if row.message in depths]
        on_path.sort(key=lambda row: (depths[row.message], row.kind, row.number))
        return [Mark(row.message, row.kind, row.text, depths[row.message]) for row in on_path]
