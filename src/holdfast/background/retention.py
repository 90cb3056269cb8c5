"""Deletes conversations that have not been used for a number of days.

Memories learned in them stay, unless they are to be forgotten as well.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast.errors import NotFound
from holdfast.memory.service import MemoryService
from holdfast.messages import Scope
from holdfast.store import ConversationRecord, Store

log = logging.getLogger("holdfast.background")

DAY = 86_400.0

_BATCH = 50


@dataclass(frozen=True, slots=True)
class Retention:
    """Deletes conversations unused for `days` (0: never); with `forget` their memories, too."""

    store: Store
    remembering: MemoryService | None = None
    days: float = 0
    forget: bool = False

    def prune(
        self, now: float, scope: Scope | None = None, stop: Callable[[], bool] = lambda: False
    ) -> list[tuple[ConversationRecord, int]]:
        """Deletes expired conversations of one scope or all; returns each with the memories lost."""
        gone = []
        if self.days:
            for row in self._find_expired(now, scope):
                if stop():
                    break
                if self._delete(row.id, now):
                    gone.append((row, self._forget_memories(row)))
        if gone:
            log.info("%d conversations were deleted: nobody spoke in them for %g days", len(gone), self.days)
        return gone

    def _find_expired(self, now: float, scope: Scope | None) -> Iterator[ConversationRecord]:
        seen: set[str] = set()
        while True:
            rows = self.store.log.list_unused_since(now - self.days * DAY, scope, _BATCH)
            new = [row for row in rows if row.id not in seen]
            if not new:
                return
            seen.update(row.id for row in new)
            yield from new

    def _delete(self, name: str, now: float) -> bool:
        """Deletes a conversation unless it was used since it was listed; returns whether it was deleted."""

        def work() -> bool:
            # Locked: another process may use or delete it between the check and the deletion.
            row = self.store.log.lock(name)
            if row.updated_at >= now - self.days * DAY:
                return False
            self.store.log.delete(row.id)
            return True

        try:
            return self.store.atomically(work)
        except NotFound:
            return False

    def _forget_memories(self, row: ConversationRecord) -> int:
        if self.remembering is None:
            return 0
        return self.remembering.remove_conversation(row.scope, row.id, forget=self.forget)
