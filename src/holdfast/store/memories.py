"""What the database knows of memories, whose text is in files: their use, tombstones, and profile proposals.

The scope is in every key, since the id of a hand-written memory is made of its words. Of what was forgotten
only digests are stored.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, delete, select, update

from holdfast.errors import NotFound
from holdfast.i18n import lazy
from holdfast.messages import Scope
from holdfast.store.database import Repository, batches, reads, upsert, writes
from holdfast.store.schema import memory_uses, proposals, tombstones
from holdfast.store.values import new_id


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """How often a memory was recalled, and when last."""

    recalls: int = 0
    used_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The digests of the words of something forgotten, and the messages it was taken from."""

    memory: str
    words: frozenset[str]
    messages: frozenset[str]
    created_at: float


class RecollectionRepository(Repository):
    """Counts the use of memories and remembers which ones are forgotten."""

    __slots__ = ()

    @writes
    def record_uses(
        self, connection: Connection, scope: Scope, memories: Sequence[str], now: float | None = None
    ) -> None:
        """Count that these memories went into a window."""
        moment = time.time() if now is None else now
        known = _uses(connection, scope, memories)
        rows = [
            {
                **asdict(scope),
                "memory": name,
                "recalls": known.get(name, MemoryUse()).recalls + 1,
                "used_at": moment,
            }
            for name in dict.fromkeys(memories)
        ]
        if rows:
            upsert(connection, memory_uses, rows)

    @reads
    def uses(
        self, connection: Connection, scope: Scope, memories: Collection[str] | None = None
    ) -> dict[str, MemoryUse]:
        """Return the use of these memories, or of all, without those never used."""
        return _uses(connection, scope, memories)

    @writes
    def forget(self, connection: Connection, scope: Scope, stones: Collection[Tombstone]) -> None:
        """Delete what is known of memories, and add their tombstones."""
        for stone in stones:
            known = memory_uses.c.memory == stone.memory
            connection.execute(delete(memory_uses).where(*_scope_filter(memory_uses, scope), known))
            _bury(connection, scope, stone)

    @writes
    def bury(self, connection: Connection, scope: Scope, stone: Tombstone) -> None:
        """Add a tombstone for words of which no memory exists."""
        _bury(connection, scope, stone)

    @reads
    def find_forgotten(self, connection: Connection, scope: Scope, memories: Collection[str]) -> set[str]:
        """Return which of these memories are forgotten."""
        ours = *_scope_filter(tombstones, scope), tombstones.c.memory.in_(sorted(memories))
        return set(connection.scalars(select(tombstones.c.memory).where(*ours)))

    @reads
    def list_tombstones(self, connection: Connection, scope: Scope) -> list[Tombstone]:
        query = select(tombstones).where(*_scope_filter(tombstones, scope)).order_by(tombstones.c.created_at)
        return [
            Tombstone(row.memory, frozenset(row.words), frozenset(row.messages), row.created_at)
            for row in connection.execute(query)
        ]

    @writes
    def lift(self, connection: Connection, scope: Scope, memories: Sequence[str]) -> None:
        """Remove tombstones: somebody asked to remember these again."""
        connection.execute(
            delete(tombstones).where(*_scope_filter(tombstones, scope), tombstones.c.memory.in_(memories))
        )


def _bury(connection: Connection, scope: Scope, stone: Tombstone) -> None:
    row = {
        **asdict(scope),
        "memory": stone.memory,
        "words": sorted(stone.words),
        "messages": sorted(stone.messages),
        "created_at": stone.created_at,
    }
    upsert(connection, tombstones, row)


def _uses(
    connection: Connection, scope: Scope, memories: Collection[str] | None = None
) -> dict[str, MemoryUse]:
    query = select(memory_uses.c.memory, memory_uses.c.recalls, memory_uses.c.used_at)
    query = query.where(*_scope_filter(memory_uses, scope))
    queries = (
        [query]
        if memories is None
        else [query.where(memory_uses.c.memory.in_(batch)) for batch in batches(sorted(memories))]
    )
    return {name: MemoryUse(*use) for query in queries for name, *use in connection.execute(query)}


def _scope_filter(table: Table, scope: Scope) -> list[ColumnElement[bool]]:
    return [table.c[name] == value for name, value in asdict(scope).items()]


ProposalStatus = Literal["open", "accepted", "dismissed"]


@dataclass(frozen=True, slots=True)
class ProfileProposal:
    """A value for a field of a user's profile: `text` says so, which was said in `messages`."""

    id: str
    user: str
    field: str
    value: str
    text: str
    conversation: str
    messages: tuple[str, ...]
    status: ProposalStatus
    created_at: float


class ProposalRepository(Repository):
    """Values the profile might learn, until decided. Dismissed ones stay, so as not to be proposed again."""

    __slots__ = ()

    @writes
    def put(
        self,
        connection: Connection,
        user: str,
        field: str,
        value: str,
        *,
        text: str,
        conversation: str = "",
        messages: tuple[str, ...] = (),
        now: float | None = None,
    ) -> ProfileProposal | None:
        """Propose a value, unless it is open already or was dismissed."""
        same = (proposals.c.user == user, proposals.c.field == field, proposals.c.value == value)
        if connection.execute(select(proposals.c.id).where(*same, proposals.c.status != "accepted")).first():
            return None
        row = {
            "id": new_id("o"),
            "user": user,
            "field": field,
            "value": value,
            "text": text,
            "conversation": conversation,
            "messages": list(messages),
            "status": "open",
            "created_at": time.time() if now is None else now,
        }
        upsert(connection, proposals, row)
        return _get_proposal(connection, user, row["id"])

    @writes
    def withdraw(self, connection: Connection, user: str, text: str) -> None:
        """Delete proposals made from this text: whoever forgets it is not asked about it."""
        connection.execute(delete(proposals).where(proposals.c.user == user, proposals.c.text == text))

    @reads
    def open(self, connection: Connection, user: str) -> list[ProfileProposal]:
        """Return the user's open proposals, oldest first."""
        mine = (proposals.c.user == user, proposals.c.status == "open")
        rows = connection.execute(
            select(proposals).where(*mine).order_by(proposals.c.created_at, proposals.c.id)
        )
        return [_read_proposal(row._mapping) for row in rows]

    @reads
    def get(self, connection: Connection, user: str, name: str) -> ProfileProposal:
        return _get_proposal(connection, user, name)

    @writes
    def decide(self, connection: Connection, user: str, name: str, status: ProposalStatus) -> ProfileProposal:
        mine = (proposals.c.user == user, proposals.c.id == name)
        connection.execute(update(proposals).where(*mine).values(status=status))
        return _get_proposal(connection, user, name)


def _get_proposal(connection: Connection, user: str, name: object) -> ProfileProposal:
    row = connection.execute(
        select(proposals).where(proposals.c.user == user, proposals.c.id == name)
    ).first()
    if row is None:
        raise NotFound(lazy("There is no proposal {name}.", name=name), hint=lazy("See which ones are open."))
    return _read_proposal(row._mapping)


def _read_proposal(row: RowMapping) -> ProfileProposal:
    return ProfileProposal(**{**row, "messages": tuple(row["messages"])})
