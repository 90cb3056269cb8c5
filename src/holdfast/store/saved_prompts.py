"""Prompts that people saved to ask with again, by user and name."""

import time
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from holdfast.errors import NotFound
from holdfast.i18n import lazy
from holdfast.store.database import Repository, reads, upsert, writes
from holdfast.store.schema import saved_prompts


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
