"""Settings changed while running, from the page or the command line, by name.

Which names there are, and what overrides what, is said in `config`.
"""

import time
from typing import Any

from sqlalchemy import Connection, delete, select

from holdfast.store.database import Repository, reads, upsert, writes
from holdfast.store.schema import settings


class SettingsRepository(Repository):
    __slots__ = ()

    @reads
    def get(self, connection: Connection, name: str, default: Any = None) -> Any:
        row = connection.execute(select(settings.c.value).where(settings.c.name == name)).first()
        return default if row is None else row.value

    @writes
    def set(self, connection: Connection, name: str, value: Any, now: float | None = None) -> None:
        updated_at = time.time() if now is None else now
        upsert(connection, settings, {"name": name, "value": value, "updated_at": updated_at})

    @writes
    def forget(self, connection: Connection, name: str) -> None:
        connection.execute(delete(settings).where(settings.c.name == name))

    @reads
    def all(self, connection: Connection) -> dict[str, Any]:
        rows = connection.execute(select(settings.c.name, settings.c.value).order_by(settings.c.name))
        return {row.name: row.value for row in rows}
