"""Writes memories and summary notes from the outbox to where they are stored.

Items that fail stay in the outbox and are tried again; the others are not held up.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from holdfast.errors import HoldfastError, NotFound
from holdfast.memory.base import MEMORY_TOPIC, SUMMARY_TOPIC, Memory, MemoryRepository, SummaryNote
from holdfast.messages import Scope
from holdfast.store import OutboxItem, Store
from holdfast.store.values import new_id

log = logging.getLogger("holdfast.background")

LEASE = "projector"
# Renewed with every item. Short, since after a crash no other process can continue before it expires.
LEASE_SECONDS = 10.0


class Projector:
    def __init__(self, store: Store, memories: MemoryRepository) -> None:
        # The last error as text; empty if there is none.
        self.problem = ""
        # Whether to call again soon: there is more, something failed, or another process holds the lease.
        self.has_more = False
        # Whether another process holds the lease; it may have died, which shows when the lease expires.
        self.runs_elsewhere = False
        self._store = store
        self._memories = memories
        self._write: Mapping[str, Callable[[Any], None]] = {
            MEMORY_TOPIC: self._write_memories,
            SUMMARY_TOPIC: self._write_summary,
        }

    def project(self, limit: int = 100, now: float | None = None) -> int:
        """Processes up to `limit` outbox items; returns how many succeeded, 0 if another process does it."""
        if not self._pending(1):
            # Every process checks regularly in case another one died, so this must be cheap.
            self.problem, self.has_more, self.runs_elsewhere = "", False, False
            return 0
        owner = new_id("p")
        self.runs_elsewhere = not self._store.leases.take(LEASE, owner, LEASE_SECONDS, now)
        if self.runs_elsewhere:
            self.has_more = True
            return 0
        try:
            return self._project(limit, owner, now)
        finally:
            self._store.leases.release(LEASE, owner)

    def _project(self, limit: int, owner: str, now: float | None) -> int:
        items = self._pending(limit)
        written = 0
        problem = next((item.error for item in items[limit:] if item.error), "")
        for item in items[:limit]:
            if not self._store.leases.renew(LEASE, owner, LEASE_SECONDS, now):
                break
            error = self._carry_out(item)
            if error:
                problem = error
                self._store.outbox.record_failure(item.id, error)
                if error != item.error:
                    log.warning("a memory is still to be written: %s", error)
            else:
                self._store.outbox.complete(item.id, now)
                written += 1
        self.problem = problem
        self.has_more = written < len(items) or written == limit
        return written

    def _pending(self, limit: int) -> list[OutboxItem]:
        """Returns our items by number of attempts, so that items that always fail do not block the rest."""
        look = limit
        while True:
            pending = self._store.outbox.pending(look)
            ours = [item for item in pending if item.topic in self._write]
            untried = sum(not item.attempts for item in ours)
            if untried >= limit or len(pending) < look:
                return sorted(ours, key=lambda item: item.attempts)
            look *= 2

    def _carry_out(self, item: OutboxItem) -> str:
        """Processes one item; returns the error as text, empty on success."""
        try:
            self._write[item.topic](item.payload)
        except HoldfastError as error:
            return str(error)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            return f"What was promised as {item.id} cannot be read: {type(error).__name__}: {error}"
        return ""

    def _write_memories(self, payload: Any) -> None:
        memories = [Memory.from_json(value) for value in payload["memories"]]
        for withdrawal in payload.get("taken_back", ()):
            self._memories.withdraw(
                Scope(**withdrawal["scope"]), withdrawal["conversation"], withdrawal["sentence"]
            )
        if payload.get("asked"):
            self._memories.allow(memories)
        self._memories.write(memories)

    def _write_summary(self, payload: Any) -> None:
        note = SummaryNote.from_json(payload)
        # Nothing is written for a conversation that was deleted in the meantime.
        with suppress(NotFound):
            self._store.log.get(note.conversation)
            self._memories.write_summary(note)
