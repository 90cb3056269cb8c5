"""What is known of the models of each server: their windows, and the `num_ctx` in use.

It keeps what others found out; it asks no server.
"""

import time
from typing import Unpack

from sqlalchemy import Connection, bindparam, select

from holdfast.store.database import Repository, reads, upsert, writes
from holdfast.store.schema import models
from holdfast.store.statements import PreparedStatement
from holdfast.store.values import KnownModel, ModelChanges

_MODEL = PreparedStatement(
    select(models).where(models.c.upstream == bindparam("at"), models.c.name == bindparam("called"))
)


class ModelRepository(Repository):
    __slots__ = ()

    @writes
    def put(
        self,
        connection: Connection,
        upstream: str,
        name: str,
        *,
        now: float | None = None,
        **changes: Unpack[ModelChanges],
    ) -> KnownModel:
        """Note what is known now. What is not mentioned stays; None takes a value back."""
        updated_at = time.time() if now is None else now
        row = {"info": {}, **changes, "upstream": upstream, "name": name, "updated_at": updated_at}
        upsert(connection, models, row, update=(*changes, "updated_at"))
        known = _get_model(connection, upstream, name)
        assert known is not None
        return known

    @reads
    def get(self, connection: Connection, upstream: str, name: str) -> KnownModel | None:
        return _get_model(connection, upstream, name)

    @reads
    def all(self, connection: Connection, upstream: str | None = None) -> list[KnownModel]:
        query = select(models).order_by(models.c.upstream, models.c.name)
        if upstream is not None:
            query = query.where(models.c.upstream == upstream)
        return [KnownModel(**row._mapping) for row in connection.execute(query)]


def _get_model(connection: Connection, upstream: str, name: str) -> KnownModel | None:
    row = _MODEL.first(connection, at=upstream, called=name)
    return None if row is None else KnownModel(**row._asdict())
