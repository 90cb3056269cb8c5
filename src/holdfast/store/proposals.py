"""What the profile might learn: values for its fields, each with the words it was taken from, until decided.

Knows no profile. What was dismissed stays, so that it is not proposed again.
"""

import time
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, RowMapping, delete, select, update

from holdfast.errors import NotFound
from holdfast.store.database import Repository, reads, upsert, writes
from holdfast.store.ids import new_id
from holdfast.store.schema import proposals

ProposalStatus = Literal["open", "accepted", "dismissed"]


@dataclass(frozen=True, slots=True)
class ProfileProposal:
    """`field` of a user's profile may be `value`: `text` says so, which was said in `messages`."""

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
        """Propose a value, unless it waits already or was not wanted."""
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
        """Whoever forgets what was said does not want to be asked about it."""
        connection.execute(delete(proposals).where(proposals.c.user == user, proposals.c.text == text))

    @reads
    def open(self, connection: Connection, user: str) -> list[ProfileProposal]:
        """What still waits for the user, oldest first."""
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
        raise NotFound(f"There is no proposal {name}.", hint="See which ones are open.")
    return _read_proposal(row._mapping)


def _read_proposal(row: RowMapping) -> ProfileProposal:
    return ProfileProposal(**{**row, "messages": tuple(row["messages"])})
