"""Numbers for what is searched: every scope and every container in it is a range of row ids.

Functions on a connection. A container is the tree of a conversation or a file with notes; what is in its rows
is not known here.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, insert, select, update

from holdfast.messages import Scope, canonical
from holdfast.store import fulltext, tree
from holdfast.store.fulltext import Ids, containers
from holdfast.store.ids import new_id
from holdfast.store.statements import Statement


@dataclass(frozen=True, slots=True)
class NotesOf:
    """The notes in a folder, which belongs to one scope; a scope alone means its conversations."""

    folder: str

    @property
    def key(self) -> str:
        return _key("notes", self.folder)


# The conversations of a scope, its notes, or one container by its name.
Where = Scope | NotesOf | str


class Container(NamedTuple):
    """One container as the index has it. Equal values mean that nothing in it has changed.

    A tuple, since every question compares all of a scope's with those it knows.
    """

    name: str
    number: int
    stamp: str
    next: int
    rows: int
    length: int

    @property
    def ids(self) -> Ids:
        first = self.number * fulltext.ROWS_OF_CONTAINER
        return first, first + fulltext.ROWS_OF_CONTAINER - 1


_columns = (
    containers.c.container,
    containers.c.number,
    containers.c.stamp,
    containers.c.next,
    containers.c.rows,
    containers.c.length,
)
_IN_SCOPE = Statement(select(*_columns).where(containers.c.scope == bindparam("key")))
_NAMED = Statement(select(*_columns).where(containers.c.container == bindparam("name")))
_EVERY = Statement(select(*_columns))


def scope_key(scope: Scope) -> str:
    return _key(scope.user, scope.project, scope.kind)


def number_of(row: int) -> int:
    """The number of the container that a row is in."""
    return row // fulltext.ROWS_OF_CONTAINER


def listed(connection: Connection, places: Collection[Where] | None) -> list[Container]:
    """The containers in these places, everywhere for None, by number."""
    found: dict[int, Container] = {}
    if places is None:
        found.update((row.number, Container._make(row)) for row in _EVERY.all(connection))
    for place in places or ():
        if isinstance(place, str):
            rows = _NAMED.all(connection, name=place)
        else:
            key = place.key if isinstance(place, NotesOf) else scope_key(place)
            rows = _IN_SCOPE.all(connection, key=key)
        found.update((row.number, Container._make(row)) for row in rows)
    return [found[number] for number in sorted(found)]


def ranges(found: Sequence[Container]) -> list[Ids]:
    """The ids of their rows: one range for each scope, since the containers of a scope lie together."""
    spans: list[Ids] = []
    for _, group in groupby(found, key=lambda one: one.number // fulltext.CONTAINERS_OF_SCOPE):
        near = list(group)
        spans.append((near[0].ids[0], near[-1].ids[1]))
    return spans


def numbered(connection: Connection, rows: Sequence[dict[str, Any]], scope: str) -> list[dict[str, Any]]:
    """The rows with their ids, and the books of their containers brought up to date."""
    by_container = itemgetter("container")
    groups = {name: list(group) for name, group in groupby(sorted(rows, key=by_container), key=by_container)}
    known = _known(connection, list(groups))
    free = None if len(known) == len(groups) else _next_number(connection, scope)
    found: list[dict[str, Any]] = []
    made: list[dict[str, Any]] = []
    for name, several in groups.items():
        length = sum(row["length"] for row in several)
        if name in known:
            number, first = known[name]
            changes = {
                "next": first + len(several),
                "rows": containers.c.rows + len(several),
                "length": containers.c.length + length,
            }
            connection.execute(update(containers).where(containers.c.container == name).values(changes))
        else:
            assert free is not None
            number, first, free = free, 0, free + 1
            books = {"next": len(several), "rows": len(several), "length": length, "stamp": new_id("x")}
            made.append({"container": name, "scope": scope, "number": number, **books})
        start = number * fulltext.ROWS_OF_CONTAINER + first
        found += ({**row, "id": place} for place, row in enumerate(several, start))
    if made:
        connection.execute(insert(containers), made)
    # FTS5 takes rows in the order of their ids; every step back would cost it a write.
    return sorted(found, key=itemgetter("id"))


def _known(connection: Connection, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The numbers of those containers that have one, and the next free place in each."""
    columns = (containers.c.container, containers.c.number, containers.c.next)
    found: dict[str, tuple[int, int]] = {}
    for portion in tree.portions(names):
        query = select(*columns).where(containers.c.container.in_(portion))
        found.update({row.container: (row.number, row.next) for row in connection.execute(query)})
    return found


def _next_number(connection: Connection, scope: str) -> int:
    """The number for a new container: after the last one of its scope, and scopes lie far apart."""
    last: int | None = connection.scalar(
        select(func.max(containers.c.number)).where(containers.c.scope == scope)
    )
    if last is not None:
        return last + 1
    highest: int | None = connection.scalar(select(func.max(containers.c.number)))
    scopes = 0 if highest is None else highest // fulltext.CONTAINERS_OF_SCOPE + 1
    return scopes * fulltext.CONTAINERS_OF_SCOPE


@lru_cache
def _key(*told: str) -> str:
    return hashlib.sha256(canonical(told).encode(errors="replace")).hexdigest()[:24]
