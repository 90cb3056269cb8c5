"""Settings changed while running, presets and prompts of people, and what is known of each model.

Which settings there are, and what overrides what, is in `config`.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from sqlalchemy import Connection, bindparam, delete, select

from holdfast.errors import NotFound
from holdfast.i18n import lazy
from holdfast.store.database import PreparedStatement, Repository, reads, upsert, writes
from holdfast.store.schema import models, presets, saved_prompts, settings
from holdfast.store.values import KnownModel, ModelChanges


class SettingsRepository(Repository):
    """Settings by name."""

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


class PresetRepository(Repository):
    """Options for chats, by user and name."""

    __slots__ = ()

    @reads
    def all(self, connection: Connection, user: str) -> dict[str, dict[str, Any]]:
        """Return the presets of a user, by name."""
        query = select(presets.c.name, presets.c.options).where(presets.c.user == user)
        return {row.name: row.options for row in connection.execute(query.order_by(presets.c.name))}

    @writes
    def put(
        self,
        connection: Connection,
        user: str,
        name: str,
        options: Mapping[str, Any],
        now: float | None = None,
    ) -> None:
        updated_at = time.time() if now is None else now
        row = {"user": user, "name": name, "options": dict(options), "updated_at": updated_at}
        upsert(connection, presets, row)

    @writes
    def delete(self, connection: Connection, user: str, name: str) -> None:
        gone = connection.execute(delete(presets).where(presets.c.user == user, presets.c.name == name))
        if not gone.rowcount:
            raise NotFound(lazy("There is no preset {name}.", name=name))


_MODEL = PreparedStatement(
    select(models).where(models.c.upstream == bindparam("at"), models.c.name == bindparam("called"))
)


class ModelRepository(Repository):
    """Models by server and name: their windows, and the `num_ctx` in use."""

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
        """Save what is known now. Fields not given stay; None removes a value."""
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


@dataclass(frozen=True, slots=True)
class SavedPrompt:
    """A text; `{{word}}` in it is asked for when it is used."""

    name: str
    text: str
    updated_at: float


class SavedPromptRepository(Repository):
    __slots__ = ()

    @reads
    def all(self, connection: Connection, user: str) -> list[SavedPrompt]:
        """Return the prompts of a user by name."""
        query = select(saved_prompts).where(saved_prompts.c.user == user).order_by(saved_prompts.c.name)
        return [SavedPrompt(row.name, row.text, row.updated_at) for row in connection.execute(query)]

    @writes
    def put(
        self, connection: Connection, user: str, name: str, text: str, now: float | None = None
    ) -> SavedPrompt:
        """Save a prompt, in the place of one with the same name."""
        saved = SavedPrompt(name, text, time.time() if now is None else now)
        row = {"user": user, "name": name, "text": text, "updated_at": saved.updated_at}
        upsert(connection, saved_prompts, row)
        return saved

    @writes
    def delete(self, connection: Connection, user: str, name: str) -> None:
        ours = (saved_prompts.c.user == user, saved_prompts.c.name == name)
        if not connection.execute(delete(saved_prompts).where(*ours)).rowcount:
            raise NotFound(lazy("There is no prompt '{name}'.", name=name))
