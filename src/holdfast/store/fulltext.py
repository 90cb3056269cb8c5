"""Full-text engines (FTS5, tsvector, plain scan), the tables they search, and the numbering of rows.

An engine stores rows of tokens and finds the rows that have some. Every scope, and every container in it (the
tree of a conversation, a file with notes), is a range of row ids. The tables have a version of their own and
no migrations: they can be rebuilt from the log and the notes.
"""

import hashlib
import string
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Double,
    MetaData,
    Table,
    Text,
    bindparam,
    func,
    insert,
    select,
    update,
)

from holdfast.messages import Scope, canonical
from holdfast.store.database import Listed, PreparedStatement, WordsColumn
from holdfast.store.values import new_id

# Increase it when tables or triggers change: they are then rebuilt.
_LAYOUT = 4

# Groups of tokens: a row must have one token of every group.
TokenGroups = Sequence[Sequence[str]]
IdRange = tuple[int, int]

metadata = MetaData()

# One row a passage: a message, or a chunk of a note; more for a message of enormous size. A passage has a
# container (the tree of a conversation, a file) and a place in it: `place` is the depth on the `branch`, or
# the number of the chunk. The words of a note and their lines are kept here, those of a message in the log.
row_table = Table(
    "text_rows",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("passage", WordsColumn),
    Column("container", WordsColumn),
    Column("branch", Text),
    Column("place", BigInteger),
    Column("role", Text),
    Column("at", Double),
    Column("length", BigInteger),
    # Properties of the text itself: flags of `Trait`, and the day it names.
    Column("traits", BigInteger),
    Column("tokens", Text),
    Column("body", WordsColumn),
    Column("first", BigInteger),
    Column("last", BigInteger),
)
# A row's id is made of the number of its container and a running one, and a container's number begins with
# that of its scope. So a container and a scope are each a range of ids, and no search looks at the words of
# another. `stamp` tells a container from an earlier one that had its name and number.
container_table = Table(
    "text_containers",
    metadata,
    Column("container", WordsColumn, primary_key=True),
    Column("scope", Text),
    Column("number", BigInteger),
    Column("stamp", Text),
    Column("next", BigInteger),
    Column("rows", BigInteger),
    Column("length", BigInteger),
)
ROWS_OF_CONTAINER = 1 << 23
CONTAINERS_OF_SCOPE = 1 << 22
# The short pieces that a row's vectors are made of, each by a digest of its words.
piece_table = Table(
    "text_pieces",
    metadata,
    Column("row", BigInteger, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("digest", Text),
)
# The notes that are in the index, as they were when they were read; `trouble` says why one could not be.
file_table = Table(
    "text_files",
    metadata,
    Column("container", WordsColumn, primary_key=True),
    Column("scope", Text),
    Column("path", WordsColumn),
    Column("tag", Text),
    Column("version", BigInteger),
    Column("indexed_at", Double),
    Column("trouble", Text),
)
# Messages that are in the log and not in the index yet, in the order they came.
waiting_table = Table(
    "text_waiting",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("message", Text),
    Column("tree", Text),
)
state_table = Table("text_state", metadata, Column("name", Text, primary_key=True), Column("value", Text))

# Engines split text at ASCII punctuation; mapped to private-use characters it stays in its token.
_SIGNS = str.maketrans({sign: chr(0xE000 + ord(sign)) for sign in string.punctuation})


def encode(term: str) -> str:
    """Return a term as a token that no engine splits."""
    return term.translate(_SIGNS)


@dataclass(frozen=True, slots=True)
class Fts5Engine:
    """FTS5. The rows are its content table; triggers keep both in step."""

    name: str = "fts5"
    # All ids of a query as one text.
    joined: str = "group_concat(id)"

    def match_sql(self, groups: TokenGroups, ids: IdRange, values: dict[str, str]) -> str:
        """Return SQL for the rows in a range of ids that have a token of every group; fills `values`."""
        name = _bind(values, _expression(groups, " AND ", " OR ", '"'))
        return (
            f"SELECT rowid AS id FROM text_index WHERE text_index MATCH {name} AND {_between('rowid', ids)}"  # noqa: S608
        )

    def create(self) -> list[str]:
        return [
            *_tables("INTEGER PRIMARY KEY AUTOINCREMENT"),
            (
                "CREATE VIRTUAL TABLE text_index USING fts5(tokens, content='text_rows', content_rowid='id',"
                " tokenize='ascii', detail='none', columnsize=0)"
            ),
            (
                "CREATE TRIGGER text_indexed AFTER INSERT ON text_rows BEGIN"
                " INSERT INTO text_index (rowid, tokens) VALUES (NEW.id, NEW.tokens); END"
            ),
            (
                "CREATE TRIGGER text_unindexed AFTER DELETE ON text_rows BEGIN"
                " INSERT INTO text_index (text_index, rowid, tokens) VALUES ('delete', OLD.id, OLD.tokens);"
                " END"
            ),
            *_SQLITE_TRIGGERS,
        ]

    def drop(self) -> list[str]:
        return [*_DROP_SQLITE, "DROP TABLE IF EXISTS text_index", *_DROP_TABLES]


@dataclass(frozen=True, slots=True)
class ScanEngine:
    """No engine, for a SQLite without FTS5: every row is looked at. Correct, but slow for long logs."""

    name: str = "scan"
    joined: str = "group_concat(id)"

    def match_sql(self, groups: TokenGroups, ids: IdRange, values: dict[str, str]) -> str:
        either = (
            " OR ".join(f"instr(' ' || tokens || ' ', {_bind(values, f' {token} ')})" for token in group)
            for group in groups
        )
        return f"SELECT id FROM text_rows WHERE ({') AND ('.join(either)}) AND {_between('id', ids)}"  # noqa: S608

    def create(self) -> list[str]:
        return [*_tables("INTEGER PRIMARY KEY AUTOINCREMENT"), *_SQLITE_TRIGGERS]

    def drop(self) -> list[str]:
        return [*_DROP_SQLITE, *_DROP_TABLES]


@dataclass(frozen=True, slots=True)
class TsvectorEngine:
    """PostgreSQL's tsvector with a GIN index. It gets lexemes, so no configuration splits them."""

    name: str = "tsvector"
    joined: str = "string_agg(CAST(id AS text), ',')"

    def match_sql(self, groups: TokenGroups, ids: IdRange, values: dict[str, str]) -> str:
        name = _bind(values, _expression(groups, " & ", " | ", "'"))
        return f"SELECT id FROM text_rows WHERE vector @@ CAST({name} AS tsquery) AND {_between('id', ids)}"  # noqa: S608

    def create(self) -> list[str]:
        return [
            *_tables("BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"),
            (
                "ALTER TABLE text_rows ADD COLUMN vector tsvector"
                " GENERATED ALWAYS AS (array_to_tsvector(string_to_array(tokens, ' '))) STORED"
            ),
            "CREATE INDEX text_rows_vector ON text_rows USING gin (vector)",
            *_POSTGRES_TRIGGERS,
        ]

    def drop(self) -> list[str]:
        return [*_DROP_TABLES, *_DROP_POSTGRES]


TextEngine = Fts5Engine | ScanEngine | TsvectorEngine


def choose_engine(connection: Connection) -> TextEngine:
    """Return the best engine this database has."""
    if connection.dialect.name == "postgresql":
        return TsvectorEngine()
    known = connection.exec_driver_sql("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").first()
    return Fts5Engine() if known else ScanEngine()


def is_ready(connection: Connection, engine: TextEngine, version: int) -> bool:
    """Whether the tables exist in this version, with the triggers that report every message."""
    if connection.dialect.name == "postgresql":
        query = (
            "SELECT to_regclass('text_state') IS NOT NULL"
            " AND EXISTS (SELECT 1 FROM pg_trigger WHERE tgname = 'text_said')"
        )
    else:
        # A migration that recreates the table of messages drops its triggers.
        names = ["text_state", "text_said", *(["text_index"] if isinstance(engine, Fts5Engine) else [])]
        listed = ", ".join(f"'{name}'" for name in names)
        query = f"SELECT count(*) = {len(names)} FROM sqlite_master WHERE name IN ({listed})"  # noqa: S608
    if not connection.exec_driver_sql(query).scalar():
        return False
    return connection.scalar(
        select(state_table.c.value).where(state_table.c.name == "version")
    ) == _version_tag(engine, version)


def lock_index(connection: Connection) -> None:
    """Lock the tables until this transaction ends; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


def build_index(connection: Connection, engine: TextEngine, version: int) -> None:
    """Create the tables anew, with every message of the log waiting to be indexed."""
    lock_index(connection)
    if is_ready(connection, engine, version):
        return
    for statement in (*engine.drop(), *engine.create()):
        connection.exec_driver_sql(statement)
    connection.execute(state_table.insert(), {"name": "version", "value": _version_tag(engine, version)})


# Any number will do, as long as every Holdfast uses the same.
_LOCK = 4_065_201_108

_DROP_TABLES = [
    f"DROP TABLE IF EXISTS {name}"
    for name in (
        "text_pieces",
        "text_rows",
        "text_containers",
        "text_trees",
        "text_files",
        "text_waiting",
        "text_state",
    )
]
_DROP_SQLITE = [
    f"DROP TRIGGER IF EXISTS {name}"
    for name in ("text_said", "text_gone", "text_left", "text_cut", "text_indexed", "text_unindexed")
]
_GONE = "DELETE FROM text_waiting WHERE message = OLD.id; DELETE FROM text_rows WHERE passage = OLD.id;"
_LEFT = (
    "DELETE FROM text_pieces WHERE row = OLD.id;"
    " UPDATE text_containers SET rows = rows - 1, length = length - OLD.length"
    " WHERE container = OLD.container;"
    " DELETE FROM text_containers WHERE container = OLD.container AND rows = 0;"
)
# A vector is deleted with the last piece that has its words.
_CUT = (
    "DELETE FROM embeddings WHERE digest = OLD.digest"
    " AND NOT EXISTS (SELECT 1 FROM text_pieces WHERE digest = OLD.digest);"
)
_SQLITE_TRIGGERS = [
    f"CREATE TRIGGER text_left AFTER DELETE ON text_rows BEGIN {_LEFT} END",
    f"CREATE TRIGGER text_cut AFTER DELETE ON text_pieces BEGIN {_CUT} END",
    (
        "CREATE TRIGGER text_said AFTER INSERT ON messages BEGIN"
        " INSERT INTO text_waiting (message, tree) VALUES (NEW.id, NEW.tree); END"
    ),
    f"CREATE TRIGGER text_gone AFTER DELETE ON messages BEGIN {_GONE} END",
]
_DROP_POSTGRES = [
    *(f"DROP TRIGGER IF EXISTS {name} ON messages" for name in ("text_said", "text_gone", "text_emptied")),
    "DROP FUNCTION IF EXISTS text_said, text_gone, text_emptied, text_left, text_cut",
]
_POSTGRES_TRIGGERS = [
    (
        "CREATE FUNCTION text_said() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO text_waiting (message, tree) VALUES (NEW.id, NEW.tree); RETURN NULL; END $$"
    ),
    f"CREATE FUNCTION text_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {_GONE} RETURN NULL; END $$",
    (
        "CREATE FUNCTION text_emptied() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " DELETE FROM text_waiting; DELETE FROM text_rows; DELETE FROM text_files; RETURN NULL; END $$"
    ),
    f"CREATE FUNCTION text_left() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {_LEFT} RETURN NULL; END $$",
    f"CREATE FUNCTION text_cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {_CUT} RETURN NULL; END $$",
    "CREATE TRIGGER text_left AFTER DELETE ON text_rows FOR EACH ROW EXECUTE FUNCTION text_left()",
    "CREATE TRIGGER text_cut AFTER DELETE ON text_pieces FOR EACH ROW EXECUTE FUNCTION text_cut()",
    "CREATE TRIGGER text_said AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION text_said()",
    "CREATE TRIGGER text_gone AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION text_gone()",
    "CREATE TRIGGER text_emptied AFTER TRUNCATE ON messages EXECUTE FUNCTION text_emptied()",
]


def _tables(identity: str) -> list[str]:
    return [
        "CREATE TABLE text_state (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        f"CREATE TABLE text_waiting (id {identity}, message TEXT NOT NULL UNIQUE, tree TEXT NOT NULL)",
        "CREATE INDEX text_waiting_tree ON text_waiting (tree, id)",
        (
            f"CREATE TABLE text_rows (id {identity}, passage TEXT NOT NULL, container TEXT NOT NULL,"
            " branch TEXT NOT NULL, place BIGINT NOT NULL, role TEXT NOT NULL, at DOUBLE PRECISION NOT NULL,"
            " length BIGINT NOT NULL, traits BIGINT NOT NULL, tokens TEXT NOT NULL, body TEXT NOT NULL,"
            " first BIGINT NOT NULL,"
            " last BIGINT NOT NULL)"
        ),
        "CREATE INDEX text_rows_passage ON text_rows (passage)",
        "CREATE INDEX text_rows_container ON text_rows (container)",
        (
            "CREATE TABLE text_containers (container TEXT PRIMARY KEY, scope TEXT NOT NULL,"
            " number BIGINT NOT NULL UNIQUE, stamp TEXT NOT NULL, next BIGINT NOT NULL,"
            " rows BIGINT NOT NULL, length BIGINT NOT NULL)"
        ),
        "CREATE INDEX text_containers_scope ON text_containers (scope, number)",
        (
            "CREATE TABLE text_pieces (row BIGINT NOT NULL, number BIGINT NOT NULL, digest TEXT NOT NULL,"
            " PRIMARY KEY (row, number))"
        ),
        "CREATE INDEX text_pieces_digest ON text_pieces (digest)",
        (
            "CREATE TABLE text_files (container TEXT PRIMARY KEY, scope TEXT NOT NULL, path TEXT NOT NULL,"
            " tag TEXT NOT NULL, version BIGINT NOT NULL, indexed_at DOUBLE PRECISION NOT NULL,"
            " trouble TEXT NOT NULL)"
        ),
        "CREATE INDEX text_files_scope ON text_files (scope)",
        "INSERT INTO text_waiting (message, tree) SELECT id, tree FROM messages ORDER BY created_at, id",
    ]


def _bind(values: dict[str, str], value: str) -> str:
    """Add the value to `values` and return its placeholder."""
    name = f"v{len(values)}"
    values[name] = value
    return f":{name}"


def _between(name: str, ids: IdRange) -> str:
    return f"{name} BETWEEN {ids[0]:d} AND {ids[1]:d}"


def _expression(groups: TokenGroups, both: str, either: str, quote: str) -> str:
    """Return the groups in an engine's query language. Tokens have no ASCII signs, so quoting is enough."""
    return both.join("(" + either.join(f"{quote}{token}{quote}" for token in group) + ")" for group in groups)


def _version_tag(engine: TextEngine, version: int) -> str:
    return f"{_LAYOUT}.{version} {engine.name}"


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
    """One container of the index. Equal values mean that nothing in it has changed.

    A tuple, since every search compares all containers of a scope with those it has cached.
    """

    name: str
    number: int
    stamp: str
    next: int
    rows: int
    length: int

    @property
    def ids(self) -> IdRange:
        first = self.number * ROWS_OF_CONTAINER
        return first, first + ROWS_OF_CONTAINER - 1

    def continues(self, before: "Container") -> bool:
        """Whether all rows of `before` are still there, and others were only added."""
        added = self.next - before.next
        # Less than none where `before` was listed later, by another reader.
        return self.stamp == before.stamp and self.rows - before.rows == added and added >= 0


class ContainerList(tuple[Container, ...]):
    """Containers by number, with what is worked out once for all of them."""

    @cached_property
    def rows(self) -> int:
        return sum(container.rows for container in self)

    @cached_property
    def average(self) -> float:
        """How many terms a row has on average, at least 1."""
        return max(1.0, sum(container.length for container in self) / max(1, self.rows))

    @cached_property
    def ranges(self) -> list[IdRange]:
        return id_ranges(self)


# In the order of the fields of `Container`.
_CONTAINER_COLUMNS = [
    container_table.c[name] for name in ("container", "number", "stamp", "next", "rows", "length")
]
_NAMED = PreparedStatement(
    select(*_CONTAINER_COLUMNS).where(container_table.c.container == bindparam("name")), row=Container
)
_EVERY = PreparedStatement(select(*_CONTAINER_COLUMNS).order_by(container_table.c.number), row=Container)
# Containers with numbers that are the same but for these are looked at together.
_CONTAINERS_OF_PART = 256
_PART = container_table.c.number // _CONTAINERS_OF_PART
_TOTALS: tuple[ColumnElement[Any], ...] = (
    func.count().label("number"),
    func.sum(container_table.c.next).label("added"),
    func.sum(container_table.c.rows).label("rows"),
    func.sum(container_table.c.length).label("length"),
    func.max(container_table.c.stamp).label("newest"),
)
_STATE = PreparedStatement(
    select(_PART.label("part"), *_TOTALS).where(container_table.c.scope == bindparam("key")).group_by(_PART)
)
_IN_PART = PreparedStatement(
    select(*_CONTAINER_COLUMNS).where(
        container_table.c.scope == bindparam("key"),
        container_table.c.number.between(bindparam("low"), bindparam("high")),
    ),
    row=Container,
)
# Sets of places whose containers are cached; the least recently used are dropped.
_CACHED_PLACES = 8


def scope_key(scope: Scope) -> str:
    return _digest_key(scope.user, scope.project, scope.kind)


def container_number(row: int) -> int:
    """Return the number of the container that a row is in."""
    return row // ROWS_OF_CONTAINER


def list_every_container(connection: Connection) -> ContainerList:
    return ContainerList(_EVERY.all(connection))


class ContainerCache:
    """Lists the containers of places, and reads only those again that may have changed.

    The totals of every part of a place are compared: added rows increase `next`, removed rows decrease
    `rows`, and the stamp of a new container is the highest.
    """

    def __init__(self) -> None:
        self._held: dict[tuple[SearchPlace, ...], tuple[_Parts, ContainerList]] = {}

    def list(self, connection: Connection, places: Collection[SearchPlace]) -> ContainerList:
        """Return the containers in these places, by number."""
        key = tuple(places)
        known, containers = self._held.pop(key, ({}, ContainerList()))
        states = dict(_list_states(connection, key))
        if {part: state for part, (state, _) in known.items()} != states:
            known = {
                part: known[part]
                if part in known and known[part][0] == state
                else (state, _list_part(connection, part, state))
                for part, state in states.items()
            }
            by_number = {each.number: each for _, members in known.values() for each in members}
            containers = ContainerList(by_number[number] for number in sorted(by_number))
        self._held[key] = known, containers
        for oldest in [*self._held][:-_CACHED_PLACES]:
            self._held.pop(oldest, None)
        return containers


# The parts of places, each with its state and its containers. A container that is named is a part of its own.
_Part = tuple[str, int]
_Parts = dict[_Part, tuple[tuple[Any, ...], Sequence[Container]]]
_ALONE = -1


def _list_states(
    connection: Connection, places: Sequence[SearchPlace]
) -> Iterator[tuple[_Part, tuple[Any, ...]]]:
    for place in places:
        if isinstance(place, str):
            yield (place, _ALONE), tuple(_NAMED.all(connection, name=place))
            continue
        key = _place_key(place)
        for state in _STATE.all(connection, key=key):
            yield (key, state.part), state


def _list_part(connection: Connection, part: _Part, state: tuple[Any, ...]) -> Sequence[Container]:
    key, number = part
    if number == _ALONE:
        return state
    low = number * _CONTAINERS_OF_PART
    rows: list[Container] = _IN_PART.all(connection, key=key, low=low, high=low + _CONTAINERS_OF_PART - 1)
    return rows


def _place_key(place: Scope | NotesFolder) -> str:
    return place.key if isinstance(place, NotesFolder) else scope_key(place)


class RowChanges(NamedTuple):
    """Rows that are gone or changed, and rows to read, as ranges of ids."""

    gone: list[IdRange]
    new: list[IdRange]


def diff_containers(before: Sequence[Container], after: Sequence[Container]) -> RowChanges:
    """Return what to drop and what to read to bring cached rows of some containers up to date.

    A conversation that goes on has more rows, and only those are new.
    """
    # Nearly always one of thousands has changed or is new: what is the same before and behind it is left out.
    start = _count_same(before, after)
    before, after = before[start:], after[start:]
    end = _count_same(before[::-1], after[::-1])
    before, after = before[: len(before) - end], after[: len(after) - end]
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


def _count_same(before: Sequence[Container], after: Sequence[Container]) -> int:
    """Return how many containers both begin with."""
    same = 0
    for old, now in zip(before, after, strict=False):
        if old != now:
            break
        same += 1
    return same


def rows_within(containers: Sequence[Container], rows: Iterable[R]) -> Iterator[R]:
    """Of rows that begin with their id, in order, yield those that existed when the containers were listed.

    Later ones are new at the next look.
    """
    for number, group in groupby(rows, key=lambda row: container_number(row[0])):
        at = bisect_left(containers, number, key=attrgetter("number"))
        if at < len(containers) and containers[at].number == number:
            end = containers[at].ids[0] + containers[at].next
            yield from (row for row in group if row[0] < end)


def id_ranges(containers: Sequence[Container]) -> list[IdRange]:
    """Return the row ids of containers: one range per scope, since those of a scope are adjacent."""
    if not containers:
        return []
    first, last = containers[0], containers[-1]
    if first.number // CONTAINERS_OF_SCOPE == last.number // CONTAINERS_OF_SCOPE:
        return [(first.ids[0], last.ids[1])]
    spans: list[IdRange] = []
    for _, group in groupby(containers, key=lambda one: one.number // CONTAINERS_OF_SCOPE):
        near = list(group)
        spans.append((near[0].ids[0], near[-1].ids[1]))
    return spans


_NUMBERS = PreparedStatement(
    select(container_table.c.container, container_table.c.number, container_table.c.next).where(
        Listed(container_table.c.container, "names")
    )
)
_NEW_CONTAINER = PreparedStatement(insert(container_table), container_table.columns.keys())
_LAST_IN_SCOPE = PreparedStatement(
    select(func.max(container_table.c.number).label("number")).where(
        container_table.c.scope == bindparam("scope")
    )
)
_GROW_CONTAINER = PreparedStatement(
    update(container_table)
    .where(container_table.c.container == bindparam("name"))
    .values(
        next=container_table.c.next + bindparam("more"),
        rows=container_table.c.rows + bindparam("more"),
        length=container_table.c.length + bindparam("longer"),
    )
)


def number_rows(connection: Connection, rows: Sequence[dict[str, Any]], scope: str) -> list[dict[str, Any]]:
    """Return the rows with ids, and update the counts of their containers."""
    by_container = itemgetter("container")
    groups = {name: list(group) for name, group in groupby(sorted(rows, key=by_container), key=by_container)}
    known = _find_numbers(connection, list(groups))
    free = None if len(known) == len(groups) else _next_number(connection, scope)
    numbered: list[dict[str, Any]] = []
    new_containers: list[dict[str, Any]] = []
    for name, group in groups.items():
        length = sum(row["length"] for row in group)
        if name in known:
            number, first = known[name]
            _GROW_CONTAINER.run(connection, {"name": name, "more": len(group), "longer": length})
        else:
            assert free is not None
            number, first, free = free, 0, free + 1
            books = {"next": len(group), "rows": len(group), "length": length, "stamp": new_id("x")}
            new_containers.append({"container": name, "scope": scope, "number": number, **books})
        start = number * ROWS_OF_CONTAINER + first
        numbered += ({**row, "id": place} for place, row in enumerate(group, start))
    for container in new_containers:
        _NEW_CONTAINER.run(connection, container)
    # FTS5 takes rows in the order of their ids; every step back would cost it a write.
    return sorted(numbered, key=itemgetter("id"))


def _find_numbers(connection: Connection, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return number and next free place of those containers that exist."""
    rows = _NUMBERS.all(connection, names=list(names))
    return {row.container: (row.number, row.next) for row in rows}


def _next_number(connection: Connection, scope: str) -> int:
    """Return the number for a new container: after the last of its scope; scopes are far apart."""
    last: int | None = _LAST_IN_SCOPE.first(connection, scope=scope).number
    if last is not None:
        return last + 1
    highest: int | None = connection.scalar(select(func.max(container_table.c.number)))
    scopes = 0 if highest is None else highest // CONTAINERS_OF_SCOPE + 1
    return scopes * CONTAINERS_OF_SCOPE


@lru_cache
def _digest_key(*told: str) -> str:
    return hashlib.sha256(canonical(told).encode(errors="replace")).hexdigest()[:24]
