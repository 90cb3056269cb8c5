"""The tree of messages: reading the path to a message, and appending to it.

Functions on a connection, so that they can be part of any transaction. Conversations and their heads are in
`log`.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import (
    CTE,
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    func,
    insert,
    literal_column,
    select,
)

from holdfast.errors import NotFound, StoreError
from holdfast.i18n import lazy
from holdfast.messages import Message
from holdfast.store.database import DAMAGE_HINT, Listed, PreparedStatement, batches
from holdfast.store.schema import branches, messages
from holdfast.store.values import MessageRecord, NewMessage, new_id

# In the order of `MessageRecord`: access by name would cost a third of the time of a long path.
_COLUMNS = [messages.c["body" if field.name == "message" else field.name] for field in fields(MessageRecord)]
_PLAIN_FIELDS = [field.name for field in fields(MessageRecord) if field.name != "message"]


def _chain(low: BindParameter[int]) -> CTE:
    """A branch and its ancestors, down to depth `low`, each with the depth up to which it is followed."""
    links = (
        select(branches, bindparam("depth", type_=BigInteger).label("upto"))
        .where(branches.c.id == bindparam("branch"))
        .cte("links", recursive=True)
    )
    return links.union_all(
        select(branches, links.c.fork_depth)
        .join(links, branches.c.id == links.c.parent_branch)
        .where(links.c.fork_depth >= low)
    )


def _path_query(*columns: ColumnElement[Any]) -> Select[Any]:
    """The messages from `low` to `depth` of a branch and its ancestors, in any order."""
    low = bindparam("low", type_=BigInteger)
    links = _chain(low)
    return (
        select(*columns)
        .join_from(links, messages, messages.c.branch == links.c.id)
        .where(messages.c.depth <= links.c.upto, messages.c.depth >= low)
    )


_BY_ID = PreparedStatement(select(*_COLUMNS).where(messages.c.id == bindparam("id")))
_BY_IDS = PreparedStatement(select(*_COLUMNS).where(Listed(messages.c.id, "ids")))
_CHILDREN = (
    select(*_COLUMNS)
    .where(messages.c.parent == bindparam("parent"))
    .order_by(messages.c.created_at, messages.c.id)
)
# The empty string is a literal, as in the index: with a parameter the index would not be used.
_SAME_WORDS = PreparedStatement(
    select(*_COLUMNS).where(
        messages.c.tree == bindparam("tree"),
        func.coalesce(messages.c.parent, literal_column("''")) == bindparam("parent"),
        messages.c.digest == bindparam("digest"),
    )
)
# A message that was repeated on another branch has the job of the first one.
_OF_JOB = (
    select(*_COLUMNS)
    .where(messages.c.tree == bindparam("tree"), messages.c.job == bindparam("job"))
    .order_by(messages.c.created_at, messages.c.id)
    .limit(1)
)
_AT = PreparedStatement(
    select(messages.c.id).where(
        messages.c.branch == bindparam("branch"), messages.c.depth == bindparam("depth")
    )
)
_NEW = PreparedStatement(insert(messages), messages.columns.keys())
_NEW_BRANCH = PreparedStatement(insert(branches), branches.columns.keys())
_PATH = PreparedStatement(_path_query(*_COLUMNS))
_PATH_IDS = _path_query(messages.c.id, messages.c.depth)
_PATH_SIZES = _path_query(
    messages.c.id, messages.c.depth, messages.c.role, func.length(messages.c.body).label("size")
)
_WAY = _chain(bindparam("low", type_=BigInteger))
_LINKS = select(_WAY.c.id, _WAY.c.upto)
# By id first, then by place: with both at once, a planner may scan the whole path to find a few.
_BY_NAME = messages.c.id.in_(bindparam("names", expanding=True))
_NAMED = select(*_COLUMNS).where(_BY_NAME)
_PLACES = select(messages.c.id, messages.c.branch, messages.c.depth).where(_BY_NAME)


def read_message(row: Sequence[Any]) -> MessageRecord:
    name, tree, branch, depth, parent, body, *details = row
    try:
        message = Message.decode(body)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            lazy("The message {name} in the database is none: {why}.", name=name, why=str(error)),
            hint=DAMAGE_HINT,
        ) from error
    return MessageRecord(name, tree, branch, depth, parent, message, *details)


def get(connection: Connection, message_id: str, *, tree: str | None = None) -> MessageRecord:
    """Return the message; it must be in `tree` if that is given."""
    row = _BY_ID.first(connection, id=message_id)
    if row is None or tree not in (None, row.tree):
        raise NotFound(lazy("message '{message}' not found", message=message_id))
    return read_message(row)


def find(connection: Connection, names: Sequence[str]) -> dict[str, MessageRecord]:
    """Return the messages with these ids by id, in their order; deleted ones are missing."""
    rows = {row.id: row for batch in batches(names) for row in _BY_IDS.all(connection, ids=batch)}
    return {name: read_message(rows[name]) for name in names if name in rows}


def answer(connection: Connection, tree: str, job: str) -> MessageRecord | None:
    """Return the message that a job wrote in a tree."""
    row = connection.execute(_OF_JOB, {"tree": tree, "job": job}).first()
    return None if row is None else read_message(row)


def path(connection: Connection, message_id: str, *, limit: int | None = None) -> list[MessageRecord]:
    """Return the path from the root to the message, or its last `limit` messages."""
    end = get(connection, message_id)
    if limit == 1:
        return [end]
    low = 0 if limit is None else max(0, end.depth - limit + 1)
    rows = _PATH.all(connection, branch=end.branch, depth=end.depth, low=low)
    return sorted(map(read_message, rows), key=lambda message: message.depth)


def part(connection: Connection, message_id: str, *, below: int, keep: Sequence[str]) -> list[MessageRecord]:
    """Return the messages of the path that are deeper than `below` or named in `keep`."""
    end = get(connection, message_id)
    rows = _PATH.all(connection, branch=end.branch, depth=end.depth, low=below + 1)
    messages_below = [read_message(row) for row in rows]
    upto = _links(connection, end)
    for names in batches(keep):
        named = map(read_message, connection.execute(_NAMED, {"names": names}))
        messages_below += [
            message for message in named if message.depth <= min(below, upto.get(message.branch, -1))
        ]
    return sorted(messages_below, key=lambda message: message.depth)


def depths(connection: Connection, end: MessageRecord, names: Sequence[str]) -> dict[str, int]:
    """Return those of the messages that are on the path to `end`, each with its depth."""
    upto = _links(connection, end) if names else {}
    return {
        row.id: row.depth
        for portion in batches(names)
        for row in connection.execute(_PLACES, {"names": portion})
        if row.depth <= upto.get(row.branch, -1)
    }


def _links(connection: Connection, end: MessageRecord) -> dict[str, int]:
    """Return the branches on the path to a message, and the depth up to which each is followed."""
    rows = connection.execute(_LINKS, {"branch": end.branch, "depth": end.depth, "low": 0})
    return {row.id: row.upto for row in rows}


def sizes(connection: Connection, message_id: str, *, limit: int) -> list[tuple[str, int, str, int]]:
    """Return id, depth, role and length of the last messages of the path, newest first."""
    end = get(connection, message_id)
    low = max(0, end.depth - limit + 1)
    rows = connection.execute(_PATH_SIZES, {"branch": end.branch, "depth": end.depth, "low": low})
    sizes_found = [(row.id, row.depth, row.role, row.size) for row in rows]
    return sorted(sizes_found, key=lambda one: one[1], reverse=True)


def path_ids(connection: Connection, message_id: str) -> list[str]:
    """Return the ids of the messages on the path from the root to this one."""
    end = get(connection, message_id)
    rows = connection.execute(_PATH_IDS, {"branch": end.branch, "depth": end.depth, "low": 0})
    return [row.id for row in sorted(rows, key=lambda row: int(row.depth))]


def children(connection: Connection, message_id: str) -> list[MessageRecord]:
    return [read_message(row) for row in connection.execute(_CHILDREN, {"parent": message_id})]


def find_existing(
    connection: Connection, tree: str, parent: MessageRecord | None, new: Sequence[NewMessage]
) -> list[MessageRecord]:
    """Return the leading messages of `new` that already follow `parent`, word for word."""
    existing: list[MessageRecord] = []
    for item in new:
        tip = existing[-1] if existing else parent
        wanted = {"tree": tree, "parent": tip.id if tip else "", "digest": item.message.digest}
        row = _SAME_WORDS.first(connection, **wanted)
        if row is None:
            break
        existing.append(read_message(row))
    return existing


def append(
    connection: Connection, tree: str, tip: MessageRecord | None, new: Sequence[NewMessage], now: float
) -> list[MessageRecord]:
    """Append `new` after `tip`, in order. None of them may exist there yet (see `find_existing`)."""
    if not new:
        return []
    branch, depth = _place_after(connection, tree, tip)
    records: list[MessageRecord] = []
    for item in new:
        before = records[-1] if records else tip
        records.append(
            MessageRecord(
                id=new_id("m"),
                tree=tree,
                branch=branch,
                depth=depth + len(records),
                parent=before.id if before else None,
                message=item.message,
                anchor=item.anchor,
                model=item.model,
                finish=item.finish,
                job=item.job,
                created_at=now,
            )
        )
    for record in records:
        message = record.message
        row = {name: getattr(record, name) for name in _PLAIN_FIELDS}
        row |= {"role": message.role, "digest": message.digest, "body": message.encode()}
        _NEW.run(connection, row)
    return records


def _place_after(connection: Connection, tree: str, tip: MessageRecord | None) -> tuple[str, int]:
    """Return branch and depth for a child of `tip`: its branch if `tip` is its last, else a new one."""
    if tip is not None and _AT.first(connection, branch=tip.branch, depth=tip.depth + 1) is None:
        return tip.branch, tip.depth + 1
    branch = new_id("b")
    fork_depth = -1 if tip is None else tip.depth
    _NEW_BRANCH.run(
        connection,
        {
            "id": branch,
            "tree": tree,
            "parent_branch": None if tip is None else tip.branch,
            "fork_depth": fork_depth,
        },
    )
    return branch, fork_depth + 1
