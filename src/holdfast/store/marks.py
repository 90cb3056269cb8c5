"""What is special about messages: pins, and sentences in them that bind what is said later.

It keeps them by message, so that they go where the message goes. What they are good for is known in `window`.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, delete, select

from holdfast.store import tree
from holdfast.store.database import Repository, reads, upsert, writes
from holdfast.store.schema import marks, messages
from holdfast.store.statements import PreparedStatement
from holdfast.store.values import Mark

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
        found = [row for row in rows if row.message in depths]
        found.sort(key=lambda row: (depths[row.message], row.kind, row.number))
        return [Mark(row.message, row.kind, row.text, depths[row.message]) for row in found]
