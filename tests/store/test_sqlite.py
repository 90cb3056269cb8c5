"""What only SQLite does: which index a query uses, and a disk that is full."""

import pytest
from sqlalchemy.dialects import sqlite

from holdfast.errors import StoreError
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage, embeddings, open_store, tree
from holdfast.store.database import PreparedStatement


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 'holdfast.db'}") as opened:
        opened.embeddings.ensure_ready()
        yield opened


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (tree._SAME_WORDS, "messages_once (tree=? AND <expr>=? AND digest=?)"),
        (tree._PATH, "messages_place (branch=? AND depth>? AND depth<?)"),
        (tree._CHILDREN, "messages_parent (parent=?)"),
        (tree._AT, "messages_place (branch=? AND depth=?)"),
        (embeddings._VECTORS, "text_pieces_1 (row>? AND row<?)"),
    ],
    ids=["same words", "path", "children", "place", "vectors"],
)
def test_the_queries_of_every_turn_use_their_index(store, query, index):
    clause = query.clause if isinstance(query, PreparedStatement) else query
    compiled = clause.compile(dialect=sqlite.dialect(paramstyle="named"))
    values = dict.fromkeys(compiled.params, 0)
    plan = store.database.read(
        lambda connection: connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", values).all()
    )
    assert any(index in step.detail for step in plan), [step.detail for step in plan]


def test_a_full_disk_is_said_and_loses_nothing(store):
    conversation = store.log.create(Scope())
    (first,) = store.log.append(
        conversation.id, [NewMessage(Message.of("user", "first"))], parent=None, expect=None
    )
    huge = [NewMessage(Message.of("user", "x" * 1_000_000))]

    def limit(pages: int) -> None:
        store.database.write(lambda db: db.exec_driver_sql(f"PRAGMA max_page_count = {pages}").all())

    limit(100)
    with pytest.raises(StoreError, match=r"full.*disk has room"):
        store.log.append(conversation.id, huge, parent=first.id, expect=first.id)
    assert store.log.get(conversation.id).head == first.id
    limit(1_000_000)
    (second,) = store.log.append(conversation.id, huge, parent=first.id, expect=first.id)
    assert store.log.path(second.id) == [first, second]
