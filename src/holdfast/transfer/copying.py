"""Copies everything from one store into another, whatever the two are: table by table, as of one moment.

What can be made again from it (full text) is not copied, and neither is who works on what just now. In the
target all of it is one transaction. Knows tables, and nothing of what is in them.
"""

from sqlalchemy import Column, Connection, Table, delete, func, insert, select

from holdfast.errors import Conflict
from holdfast.language import say
from holdfast.store import Store
from holdfast.store.schema import branches, leases, messages, metadata
from holdfast.transfer.telling import Tell, untold

# In the order in which one refers to the other.
TABLES: tuple[Table, ...] = tuple(table for table in metadata.sorted_tables if table is not leases)
# Rows that refer to others of their own table come after those.
_ORDER: dict[Table, Column[int]] = {branches: branches.c.fork_depth, messages: messages.c.depth}
_PORTION = 500


def counted(store: Store) -> dict[str, int]:
    """How many rows each table has, all of one moment."""
    return store.database.read(_counts)


def is_empty(store: Store) -> bool:
    return not any(counted(store).values())


def copied(source: Store, target: Store, *, replace: bool = False, tell: Tell = untold) -> dict[str, int]:
    """Copy all rows, and say how many there were of each table. A target that has some is refused, unless
    `replace` lets them go.
    """
    if not replace and not is_empty(target):
        raise Conflict(
            say("There is something in the database already.", "In der Datenbank ist schon etwas."),
            hint=say("Copy into an empty one.", "In eine leere kopieren."),
        )

    def work(reading: Connection, writing: Connection) -> dict[str, int]:
        if replace:
            for table in reversed(TABLES):
                writing.execute(delete(table))
        return {table.name: _copy(table, reading, writing, tell) for table in TABLES}

    return source.database.read(lambda reading: target.database.write(lambda writing: work(reading, writing)))


def _copy(table: Table, reading: Connection, writing: Connection, tell: Tell) -> int:
    total = reading.scalar(select(func.count()).select_from(table)) or 0
    query = select(table).execution_options(yield_per=_PORTION)
    if table in _ORDER:
        query = query.order_by(_ORDER[table])
    done, what = 0, say(f"database, {table.name}", f"Datenbank, {table.name}")
    tell(what, done, total)
    for rows in reading.execute(query).mappings().partitions():
        writing.execute(insert(table), [dict(row) for row in rows])
        done += len(rows)
        tell(what, done, total)
    return done


def _counts(connection: Connection) -> dict[str, int]:
    return {table.name: connection.scalar(select(func.count()).select_from(table)) or 0 for table in TABLES}
