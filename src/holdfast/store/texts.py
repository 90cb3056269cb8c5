"""Full text over the messages of the log: keeping it up to date, and finding messages by terms.

Indexing is lazy: a message waits until somebody searches or `catch_up` is called, so a turn pays nothing for
it, and a search never misses what is in the log. All branches are indexed, the ones that were edited away
too; `head` narrows a search to what leads to one message. Ranking is the same on every engine.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text, update

from holdfast import words
from holdfast.errors import NotFound
from holdfast.language import without_banners
from holdfast.messages import Message, Scope, canonical
from holdfast.store import fulltext, heads, tree
from holdfast.store.database import Database, Topic, reads, writes
from holdfast.store.fulltext import Engine, Ids, encoded
from holdfast.store.ranking import Found, Lookup, Worth, asked_for, rarity_of
from holdfast.store.schema import branches, conversations, messages
from holdfast.store.values import Stored

# Messages indexed in one transaction: others wait for the writer no longer than these take to write.
_PORTION = 100
# A row of tokens stays well under what PostgreSQL can hold in one.
_ROW_SIZE = 200_000


class Texts(Topic):
    """`plain` does without an engine for full text, as on a SQLite that has none."""

    __slots__ = ("_engine", "_plain")

    def __init__(self, database: Database, *, plain: bool = False) -> None:
        super().__init__(database)
        self._plain = plain
        self._engine: Engine | None = None

    def catch_up(self, limit: int | None = None, *, where: Scope | str | None = None) -> int:
        """Index messages that wait for it, oldest first, at most `limit`; says how many were indexed.

        `where` narrows it to a scope or a tree. The reading of texts is done on the caller's thread.
        """
        self._prepared()
        done = 0
        while limit is None or done < limit:
            portion = _PORTION if limit is None else min(_PORTION, limit - done)
            waiting = self._waiting(where, portion)
            if not waiting:
                break
            self._index([row for message in waiting for row in _rows_of(*message)], waiting)
            done += len(waiting)
        return done

    def find(
        self,
        where: Scope | str,
        terms: Sequence[str],
        parts: Sequence[str] = (),
        *,
        head: str | None = None,
        without: Collection[str] = (),
        limit: int = 50,
    ) -> Found:
        """The messages of a scope, or of the tree of that name, that have most of the rarest terms.

        `parts` are what compounds in the question may be made of. With `head`, only messages on the way to it
        are found; those named in `without` never are.
        """
        self.catch_up(where=where)
        return self._find(where, terms, parts, head, without, limit)

    @reads
    def read(self, connection: Connection, names: Sequence[str]) -> dict[str, Stored]:
        """The messages of these names; one that was deleted meanwhile is not among them."""
        found: dict[str, Stored] = {}
        for name in names:
            with suppress(NotFound):
                found[name] = tree.get(connection, name)
        return found

    @reads
    def way_to(self, connection: Connection, message_id: str) -> Mapping[str, int]:
        """The branches on the way from the root to a message, each with the depth it is followed to."""
        return _path_to(connection, message_id)

    @property
    def engine(self) -> str:
        """What full text is done with: `fts5`, `tsvector`, or `scan` where there is nothing better."""
        return self._prepared().name

    def _prepared(self) -> Engine:
        if self._engine is None:
            engine, ready = self._look()
            if not ready:
                self._build(engine)
            self._engine = engine
        return self._engine

    @reads
    def _look(self, connection: Connection) -> tuple[Engine, bool]:
        engine = fulltext.Scan() if self._plain else fulltext.engine_for(connection)
        return engine, fulltext.is_ready(connection, engine, words.VERSION)

    @writes
    def _build(self, connection: Connection, engine: Engine) -> None:
        if not fulltext.is_ready(connection, engine, words.VERSION):
            fulltext.build(connection, engine, words.VERSION)

    @reads
    def _waiting(self, connection: Connection, where: Scope | str | None, limit: int) -> list[Any]:
        waiting = fulltext.waiting
        columns = (messages.c.id, messages.c.tree, messages.c.branch, messages.c.depth, messages.c.body)
        query = select(*columns).join(waiting, waiting.c.message == messages.c.id)
        if isinstance(where, Scope):
            query = query.where(waiting.c.tree.in_(select(conversations.c.tree).where(heads.within(where))))
        elif where is not None:
            query = query.where(waiting.c.tree == where)
        rows = connection.execute(query.order_by(waiting.c.id).limit(limit)).all()
        scopes = _scopes(connection, {row.tree for row in rows}) if rows else {}
        return [(row, scopes.get(row.tree, "")) for row in rows]

    @writes
    def _index(self, connection: Connection, rows: list[dict[str, Any]], done: list[Any]) -> None:
        waiting = fulltext.waiting
        ids = [row.id for row, _ in done]
        _hold(connection, {row.tree for row, _ in done})
        # Only what still waits: it may have been deleted, or indexed by another process, meanwhile.
        taken = delete(waiting).where(waiting.c.message.in_(ids)).returning(waiting.c.message)
        ours = set(connection.scalars(taken))
        kept = [row for row in rows if row["message"] in ours]
        if kept:
            connection.execute(insert(fulltext.rows), _numbered(connection, kept))

    @reads
    def _find(
        self,
        connection: Connection,
        where: Scope | str,
        terms: Sequence[str],
        parts: Sequence[str],
        head: str | None,
        without: Collection[str],
        limit: int,
    ) -> Found:
        engine = self._prepared()
        ids, total, average = _range(connection, where)
        looked_up = Lookup(connection, engine, ids)
        counts = looked_up.counts(asked_for(terms, parts))
        rarity = {asked: rarity_of(total, count) for asked, count in counts.items()}
        pairs = looked_up.pairs(sorted(counts, key=lambda asked: (counts[asked], -asked.weight)), counts)
        worth = Worth(pairs, rarity)
        rows = _details(connection, worth.best())
        if head is not None:
            on_path = _path_to(connection, head)
            rows = {row: it for row, it in rows.items() if it.depth <= on_path.get(it.branch, -1)}
        rows = {row: it for row, it in rows.items() if it.message not in without}
        hits = worth.ranked(rows, average, limit)
        weights = dict.fromkeys(terms, 0.0)
        for asked, value in rarity.items():
            weights[asked.term] = max(weights.get(asked.term, 0.0), asked.weight * value)
        return Found(tuple(hits), weights, rarity_of(total, 1), engine.name)


def searchable(message: Message) -> str:
    """The text a message is found by: what was said, and what tools were called with.

    No thinking, and nothing that we ourselves told people in an answer.
    """
    said = without_banners(message.text) if message.role == "assistant" else message.text
    calls = (f"{call.name} {call.arguments}" for call in message.tool_calls)
    return "\n".join((said, *calls)) if message.tool_calls else said


def _scope_key(scope: Scope) -> str:
    named = canonical([scope.user, scope.project, scope.kind])
    return hashlib.sha256(named.encode(errors="replace")).hexdigest()[:24]


def _hold(connection: Connection, trees: Collection[str]) -> None:
    """Let nobody delete from these trees or number new ones meanwhile. Deleting locks in the same order."""
    heads_of = select(conversations.c.id).where(conversations.c.tree.in_(trees)).order_by(conversations.c.id)
    connection.execute(heads_of.with_for_update(key_share=True)).all()
    fulltext.lock(connection)


def _scopes(connection: Connection, trees: Collection[str]) -> dict[str, str]:
    """The scope of each tree. All conversations on a tree have the same one."""
    columns = (conversations.c.tree, conversations.c.user, conversations.c.project, conversations.c.kind)
    rows = connection.execute(select(*columns).where(conversations.c.tree.in_(trees)).distinct())
    return {row.tree: _scope_key(Scope(row.user, row.project, row.kind)) for row in rows}


def _range(connection: Connection, where: Scope | str) -> tuple[Ids, int, float]:
    """The ids of the rows of a scope or tree, how many there are, and how long they are on average."""
    trees = fulltext.trees
    ours = trees.c.scope == _scope_key(where) if isinstance(where, Scope) else trees.c.tree == where
    columns = (trees.c.number, trees.c.rows, trees.c.length)
    found = connection.execute(select(*columns).where(ours)).all()
    if not found:
        return (0, -1), 0, 1.0
    low, high = min(row.number for row in found), max(row.number for row in found)
    total = sum(row.rows for row in found)
    ids = (low * fulltext.ROWS_OF_TREE, (high + 1) * fulltext.ROWS_OF_TREE - 1)
    return ids, total, max(1.0, sum(row.length for row in found) / total)


def _numbered(connection: Connection, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with their ids, and the books of their trees brought up to date."""
    trees = fulltext.trees
    numbered: list[dict[str, Any]] = []
    for tree_id, group in groupby(sorted(rows, key=itemgetter("tree")), key=itemgetter("tree")):
        new = list(group)
        number, first = _place_in(connection, tree_id, new[0]["scope"])
        for place, row in enumerate(new, number * fulltext.ROWS_OF_TREE + first):
            numbered.append({"id": place, **{name: row[name] for name in row if name != "scope"}})
        changes = {
            "next": first + len(new),
            "rows": trees.c.rows + len(new),
            "length": trees.c.length + sum(row["length"] for row in new),
        }
        connection.execute(update(trees).where(trees.c.tree == tree_id).values(changes))
    # FTS5 takes rows in the order of their ids; every step back would cost it a write.
    return sorted(numbered, key=itemgetter("id"))


def _place_in(connection: Connection, tree_id: str, scope: str) -> tuple[int, int]:
    """The number of a tree and the next free place in it; a tree that is new is numbered."""
    trees = fulltext.trees
    known = connection.execute(select(trees.c.number, trees.c.next).where(trees.c.tree == tree_id)).first()
    if known is not None:
        return known.number, known.next
    number: int | None = connection.scalar(select(func.max(trees.c.number)).where(trees.c.scope == scope))
    if number is None:
        highest = connection.scalar(select(func.max(trees.c.number)))
        number = 0 if highest is None else (highest // fulltext.TREES_OF_SCOPE + 1) * fulltext.TREES_OF_SCOPE
    else:
        number += 1
    new = {"tree": tree_id, "scope": scope, "number": number, "next": 0, "rows": 0, "length": 0}
    connection.execute(insert(trees), new)
    return number, 0


def _details(connection: Connection, ids: Collection[int]) -> dict[int, Any]:
    if not ids:
        return {}
    # Numbers of our own, spelled out: binding hundreds of them takes longer than the query.
    query = (
        f"SELECT id, message, tree, branch, depth, role, length FROM text_rows WHERE id IN ({_listed(ids)})"  # noqa: S608
    )
    return {row.id: row for row in connection.execute(text(query)).all()}


def _listed(ids: Collection[int]) -> str:
    return ", ".join(str(int(number)) for number in ids)


def _path_to(connection: Connection, head: str) -> dict[str, int]:
    """How far each branch belongs to the way from the root to this message."""
    end = connection.execute(
        select(messages.c.tree, messages.c.branch, messages.c.depth).where(messages.c.id == head)
    ).first()
    if end is None:
        return {}
    known = {row.id: row for row in connection.execute(select(branches).where(branches.c.tree == end.tree))}
    upto = {end.branch: end.depth}
    branch = known[end.branch]
    while branch.parent_branch is not None:
        upto[branch.parent_branch] = branch.fork_depth
        branch = known[branch.parent_branch]
    return upto


def _rows_of(row: Any, scope: str) -> Iterator[dict[str, Any]]:
    """What is kept of a message: its terms and the parts of its compounds, in rows that engines can hold."""
    message = Message.decode(row.body)
    said = searchable(message)
    found = words.terms(said)
    tokens = map(encoded, dict.fromkeys((*found, *(f"~{part}" for part in words.parts(said)))))
    kept = {
        "message": row.id,
        "tree": row.tree,
        "scope": scope,
        "branch": row.branch,
        "depth": row.depth,
        "role": message.role,
        "length": len(found),
    }
    for portion in _portions(tokens):
        yield {**kept, "tokens": portion}


def _portions(tokens: Iterator[str]) -> Iterator[str]:
    size, portion = 0, list[str]()
    for token in tokens:
        portion.append(token)
        size += len(token) + 1
        if size >= _ROW_SIZE:
            yield " ".join(portion)
            size, portion = 0, []
    if portion:
        yield " ".join(portion)
