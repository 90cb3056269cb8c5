"""System messages and tools as they were sent, each set kept once however often it goes out.

They are large and rarely change, and belong to no conversation's log: clients put clocks into them.
"""

import hashlib
import time
from collections.abc import Sequence

from sqlalchemy import Connection, select

from holdfast.errors import NotFound
from holdfast.messages import JsonObject, Message, canonical
from holdfast.store.database import Repository, reads, upsert, writes
from holdfast.store.schema import prompts
from holdfast.store.values import Prompt


class PromptRepository(Repository):
    __slots__ = ()

    @writes
    def keep(
        self,
        connection: Connection,
        system: Sequence[Message],
        tools: Sequence[JsonObject] = (),
        now: float | None = None,
    ) -> str:
        """Keep them if they are new; the digest that comes back names them."""
        body = {"system": [message.encode() for message in system], "tools": list(tools)}
        digest = hashlib.sha256(canonical(body).encode()).hexdigest()[:32]
        created_at = time.time() if now is None else now
        upsert(connection, prompts, {"digest": digest, "body": body, "created_at": created_at}, update=())
        return digest

    @reads
    def get(self, connection: Connection, digest: str) -> Prompt:
        row = connection.execute(select(prompts).where(prompts.c.digest == digest)).first()
        if row is None:
            raise NotFound(f"prompt '{digest}' not found")
        return Prompt(
            digest=row.digest,
            system=tuple(Message.decode(message) for message in row.body["system"]),
            tools=tuple(row.body["tools"]),
        )
