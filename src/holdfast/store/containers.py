"""Numbers for what is searched: every scope and every container in it is a range of row ids.

Functions on a connection. A container is the tree of a conversation or a file with notes; what is in its rows
is not known here.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, select, update

from holdfast.messages import Scope, canonical
from holdfast.store import fulltext, tree
from holdfast.store.fulltext import IdRange, container_table
from holdfast.store.ids import new_id
from holdfast.store.statements import PreparedStatement

R = TypeVar("R", bound=tuple[Any, ...])


@dataclass(frozen=True, slots=True)
class NotesFolder:
    """The notes in a folder, which belongs to one scope; a scope alone means its conversations."""

    folder: str

    @property
    def key(self) -> str:
        return _digest_key("notes", self.folder)


# The conversations of a scope, its notes, or one container by its name.
SearchPlace = Scope | NotesFolder | str


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
    def ids(self) -> IdRange:
        first = self.number * fulltext.ROWS_OF_CONTAINER
        return first, first + fulltext.ROWS_OF_CONTAINER - 1

    def continues(self, before: "Container") -> bool:
        """Whether all rows of the one before are still there, and others only came after them."""
        return self.stamp == before.stamp and self.rows - before.rows == self.next - before.next


_CONTAINER_COLUMNS = (
    container_table.c.container,
    container_table.c.number,
    container_table.c.stamp,
    container_table.c.next,
    container_table.c.rows,
    container_table.c.length,
)
_IN_SCOPE = PreparedStatement(
    select(*_CONTAINER_COLUMNS).where(container_table.c.scope == bindparam("key")), row=Container
)
_NAMED = PreparedStatement(
    select(*_CONTAINER_COLUMNS).where(container_table.c.container == bindparam("name")), row=Container
)
_EVERY = PreparedStatement(select(*_CONTAINER_COLUMNS), row=Container)
_TOTALS: tuple[ColumnElement[Any], ...] = (
    func.count().label("number"),
    func.sum(container_table.c.next).label("added"),
    func.sum(container_table.c.rows).label("rows"),
    func.sum(container_table.c.length).label("length"),
    func.max(container_table.c.stamp).label("newest"),
)
_STATE = PreparedStatement(select(*_TOTALS).where(container_table.c.scope == bindparam("key")))


def scope_key(scope: Scope) -> str:
    return _digest_key(scope.user, scope.project, scope.kind)


def container_number(row: int) -> int:
    """The number of the container that a row is in."""
    return row // fulltext.ROWS_OF_CONTAINER


def list_containers(connection: Connection, places: Collection[SearchPlace] | None) -> list[Container]:
    """The containers in these places, everywhere for None, by number."""
    found: dict[int, Container] = {}
    if places is None:
        found.update((row.number, row) for row in _EVERY.all(connection))
    for place in places or ():
        if isinstance(place, str):
            rows = _NAMED.all(connection, name=place)
        else:
            rows = _IN_SCOPE.all(connection, key=_place_key(place))
        found.update((row.number, row) for row in rows)
    return [found[number] for number in sorted(found)]


def fingerprint(connection: Connection, places: Collection[SearchPlace]) -> tuple[Any, ...]:
    """Equal where the list of containers is, and quicker to come by.

    Rows that come count up what was added, rows that go count down what is there, and the stamp of a new
    container is above all others'.
    """
    return tuple(
        tuple(_NAMED.all(connection, name=place))
        if isinstance(place, str)
        else _STATE.first(connection, key=_place_key(place))
        for place in places
    )


def _place_key(place: Scope | NotesFolder) -> str:
    return place.key if isinstance(place, NotesFolder) else scope_key(place)


class RowChanges(NamedTuple):
    """Rows that are not there any more, or not as they were, and rows to read, as ranges of ids."""

    gone: list[IdRange]
    new: list[IdRange]


def diff_containers(before: Sequence[Container], after: Sequence[Container]) -> RowChanges:
    """What to do to rows held of some containers, for them to be those of the containers now.

    A conversation that goes on has rows more, and only those are new.
    """
    if len(before) == len(after):
        # Nearly always one of thousands has changed, and both lists are in one order.
        pairs = [(old, now) for old, now in zip(before, after, strict=True) if old != now]
        before, after = [old for old, _ in pairs], [now for _, now in pairs]
    known = {container.number: container for container in before}
    gone: list[IdRange] = []
    new: list[IdRange] = []
    unknown: list[Container] = []
    for container in after:
        old = known.pop(container.number, None)
        if old is not None and old != container and not container.continues(old):
            gone.append(old.ids)
            old = None
        if old is None:
            unknown.append(container)
            continue
        # Neighbours are read together: a place has thousands of containers, most of them small.
        new += id_ranges(unknown)
        unknown = []
        if old != container:
            first = container.ids[0]
            new.append((first + old.next, first + container.next - 1))
    new += id_ranges(unknown)
    gone += (container.ids for container in known.values())
    return RowChanges(sorted(gone), sorted(new))


def rows_within(containers: Sequence[Container], rows: Iterable[R]) -> Iterator[R]:
    """Of rows that begin with their id, in order, those that were there when the containers were looked at.

    What came since is new when somebody looks again.
    """
    for number, several in groupby(rows, key=lambda row: container_number(row[0])):
        at = bisect_left(containers, number, key=attrgetter("number"))
        if at < len(containers) and containers[at].number == number:
            end = containers[at].ids[0] + containers[at].next
            yield from (row for row in several if row[0] < end)


def id_ranges(found: Sequence[Container]) -> list[IdRange]:
    """The ids of their rows: one range for each scope, since the containers of a scope lie together."""
    spans: list[IdRange] = []
    for _, group in groupby(found, key=lambda one: one.number // fulltext.CONTAINERS_OF_SCOPE):
        near = list(group)
        spans.append((near[0].ids[0], near[-1].ids[1]))
    return spans


def number_rows(connection: Connection, rows: Sequence[dict[str, Any]], scope: str) -> list[dict[str, Any]]:
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
                "rows": container_table.c.rows + len(several),
                "length": container_table.c.length + length,
            }
            connection.execute(
                update(container_table).where(container_table.c.container == name).values(changes)
            )
        else:
            assert free is not None
            number, first, free = free, 0, free + 1
            books = {"next": len(several), "rows": len(several), "length": length, "stamp": new_id("x")}
            made.append({"container": name, "scope": scope, "number": number, **books})
        start = number * fulltext.ROWS_OF_CONTAINER + first
        found += ({**row, "id": place} for place, row in enumerate(several, start))
    if made:
        connection.execute(insert(container_table), made)
    # FTS5 takes rows in the order of their ids; every step back would cost it a write.
    return sorted(found, key=itemgetter("id"))


def _known(connection: Connection, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The numbers of those containers that have one, and the next free place in each."""
    columns = (container_table.c.container, container_table.c.number, container_table.c.next)
    found: dict[str, tuple[int, int]] = {}
    for portion in tree.batches(names):
        query = select(*columns).where(container_table.c.container.in_(portion))
        found.update({row.container: (row.number, row.next) for row in connection.execute(query)})
    return found


def _next_number(connection: Connection, scope: str) -> int:
    """The number for a new container: after the last one of its scope, and scopes lie far apart."""
    last: int | None = connection.scalar(
        select(func.max(container_table.c.number)).where(container_table.c.scope == scope)
    )
    if last is not None:
        return last + 1
    highest: int | None = connection.scalar(select(func.max(container_table.c.number)))
    scopes = 0 if highest is None else highest // fulltext.CONTAINERS_OF_SCOPE + 1
    return scopes * fulltext.CONTAINERS_OF_SCOPE


@lru_cache
def _digest_key(*told: str) -> str:
    return hashlib.sha256(canonical(told).encode(errors="replace")).hexdigest()[:24]
