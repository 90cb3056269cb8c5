"""Rows of conversations: finding one in its scope, taking it for a change, moving its head.

Functions on a connection, like those of `tree`; whether a head may move is decided by those who call them.
"""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, func, select, update
from sqlalchemy import insert as insert_into

from holdfast.errors import BadRequest, NotFound
from holdfast.messages import Scope
from holdfast.store.schema import conversations
from holdfast.store.statements import PreparedStatement
from holdfast.store.values import ConversationRecord

# An id that was typed by hand may be cut short, but not so short that it means many.
_BEGINNING = re.compile(r"c_[0-9a-z]{6,25}")

_TREE_OF_CONVERSATION = (
    select(conversations.c.tree).where(conversations.c.id == bindparam("id")).scalar_subquery()
)
_LOCK_TREE = PreparedStatement(
    select(conversations)
    .where(conversations.c.tree == _TREE_OF_CONVERSATION)
    .order_by(conversations.c.id)
    .with_for_update(key_share=True)
)
_MOVE_HEAD = PreparedStatement(
    update(conversations)
    .where(conversations.c.id == bindparam("moved"))
    .values(
        head=bindparam("head"),
        version=bindparam("version"),
        updated_at=bindparam("updated_at"),
    )
)
_CONVERSATION_BY_ID = PreparedStatement(select(conversations).where(conversations.c.id == bindparam("id")))
_NEW_CONVERSATION = PreparedStatement(insert_into(conversations), conversations.columns.keys())


def read_conversation(row: Row[Any]) -> ConversationRecord:
    return ConversationRecord(
        id=row.id,
        tree=row.tree,
        scope=Scope(row.user, row.project, row.kind),
        title=row.title,
        head=row.head,
        version=row.version,
        client=row.client,
        external_id=row.external_id,
        settings=row.settings,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def in_scope(scope: Scope) -> ColumnElement[bool]:
    return and_(
        conversations.c.user == scope.user,
        conversations.c.project == scope.project,
        conversations.c.kind == scope.kind,
    )


def get_conversation(
    connection: Connection, conversation_id: str, scope: Scope | None = None
) -> ConversationRecord:
    row = _CONVERSATION_BY_ID.first(connection, id=conversation_id)
    if row is not None and (scope is None or read_conversation(row).scope == scope):
        return read_conversation(row)
    query = select(conversations)
    if scope is not None:
        query = query.where(in_scope(scope))
    beginning = conversation_id.lower()
    if not _BEGINNING.fullmatch(beginning):
        raise _not_found(conversation_id)
    starts = func.substr(conversations.c.id, 1, len(beginning)) == beginning
    rows = connection.execute(query.where(starts).limit(2)).all()
    if not rows:
        raise _not_found(conversation_id)
    if len(rows) > 1:
        raise BadRequest(
            f"Several conversations begin with '{conversation_id}'.", hint="Give more of the id."
        )
    return read_conversation(rows[0])


def conversations_on(connection: Connection, trees: Collection[str]) -> list[ConversationRecord]:
    """Those on any of these trees, few enough for one statement, oldest first."""
    query = select(conversations).where(conversations.c.tree.in_(sorted(trees)))
    rows = connection.execute(query.order_by(conversations.c.created_at, conversations.c.id))
    return [read_conversation(row) for row in rows]


def lock_conversation(connection: Connection, conversation_id: str) -> ConversationRecord:
    """The conversation, for a change: until the transaction ends nobody else can change its tree.

    On SQLite there is only one writer anyway. On PostgreSQL all heads of the tree are locked, in one order,
    since two conversations may grow the same branch.
    """
    for row in _LOCK_TREE.all(connection, id=conversation_id):
        if row.id == conversation_id:
            return read_conversation(row)
    raise _not_found(conversation_id)


def lock_trees(connection: Connection, trees: Collection[str]) -> None:
    """Let nobody else change these trees until the transaction ends; locked in the same order as above."""
    query = select(conversations.c.id).where(conversations.c.tree.in_(trees)).order_by(conversations.c.id)
    connection.execute(query.with_for_update(key_share=True)).all()


def insert_conversation(connection: Connection, new: ConversationRecord) -> ConversationRecord:
    row = {
        "id": new.id,
        "tree": new.tree,
        "user": new.scope.user,
        "project": new.scope.project,
        "kind": new.scope.kind,
        "title": new.title,
        "head": new.head,
        "version": new.version,
        "client": new.client,
        "external_id": new.external_id,
        "settings": new.settings,
        "created_at": new.created_at,
        "updated_at": new.updated_at,
    }
    _NEW_CONVERSATION.run(connection, row)
    return new


def change_conversation(connection: Connection, conversation_id: str, **values: Any) -> ConversationRecord:
    connection.execute(update(conversations).where(conversations.c.id == conversation_id).values(**values))
    return get_conversation(connection, conversation_id)


def move_head(
    connection: Connection, moved: ConversationRecord, head: str | None, now: float
) -> ConversationRecord:
    values = {"head": head, "version": moved.version + 1, "updated_at": now}
    _MOVE_HEAD.run(connection, {"moved": moved.id, **values})
    return replace(moved, head=head, version=moved.version + 1, updated_at=now)


def _not_found(conversation_id: str) -> NotFound:
    return NotFound(f"conversation '{conversation_id}' not found")
