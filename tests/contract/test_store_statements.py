"""Statements that run on the driver's own cursor: the same rows, types and errors as by the usual way."""

import pytest
from sqlalchemy import bindparam, insert, select

from holdfast.errors import Conflict
from holdfast.messages import Scope
from holdfast.store.database import PreparedStatement
from holdfast.store.schema import conversations, settings

BY_ID = select(conversations).where(conversations.c.id == bindparam("id"))


def test_rows_are_the_same_as_by_the_usual_way(store):
    row = store.log.create(Scope("anna", "gärten"), title="Ä\x00 \ud800", client="c")
    row = store.log.update_settings(row.id, {"off": True, "list": [1, "zwei", None]})

    def both(connection):
        usual = connection.execute(BY_ID, {"id": row.id}).one()
        return usual._asdict(), PreparedStatement(BY_ID).first(connection, id=row.id)._asdict()

    usual, quick = store.database.read(both)
    assert quick == usual
    assert quick["settings"] == {"list": [1, "zwei", None], "off": True}


def test_missing_value_is_an_error_and_never_null(store):
    with pytest.raises(KeyError):
        store.database.read(lambda connection: PreparedStatement(BY_ID).first(connection))


def test_constraint_violation_is_a_conflict_and_writes_nothing(store):
    new = PreparedStatement(insert(settings), ["name", "value", "updated_at"])
    row = {"name": "colour", "value": "blue", "updated_at": 1.0}
    store.database.write(lambda connection: new.run(connection, row))

    def twice(connection):
        new.run(connection, {**row, "name": "taste"})
        new.run(connection, row)

    with pytest.raises(Conflict):
        store.database.write(twice)
    assert store.settings.all() == {"colour": "blue"}
