"""How long conversations are kept: those in which nobody spoke for so long are deleted, word for word.

What was learned in them stays, unless it is to be forgotten too. Knows the log and memory, and no schedule.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast.errors import NotFound
from holdfast.memory.remembering import Remembering
from holdfast.messages import Scope
from holdfast.store import Conversation, Store

log = logging.getLogger("holdfast.background")

DAY = 86_400.0

_BATCH = 50


@dataclass(frozen=True, slots=True)
class Retention:
    """`days` is how long, 0 for ever; with `forget` what was learned in a conversation goes with it."""

    store: Store
    remembering: Remembering | None = None
    days: float = 0
    forget: bool = False

    def prune(
        self, now: float, scope: Scope | None = None, stop: Callable[[], bool] = lambda: False
    ) -> list[tuple[Conversation, int]]:
        """Delete what is too old, of all scopes or of one: each conversation, and how many memories went."""
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

    def _find_expired(self, now: float, scope: Scope | None) -> Iterator[Conversation]:
        seen: set[str] = set()
        while True:
            rows = self.store.log.unused_since(now - self.days * DAY, scope, _BATCH)
            new = [row for row in rows if row.id not in seen]
            if not new:
                return
            seen.update(row.id for row in new)
            yield from new

    def _delete(self, name: str, now: float) -> bool:
        """Somebody may have gone on with it, or deleted it, since it was looked at."""

        def work() -> bool:
            # Locked: on a server others may speak in it, or delete it, between a look and a deed.
            row = self.store.log.taken(name)
            if row.updated_at >= now - self.days * DAY:
                return False
            self.store.log.delete(row.id)
            return True

        try:
            return self.store.atomically(work)
        except NotFound:
            return False

    def _forget_memories(self, row: Conversation) -> int:
        if self.remembering is None:
            return 0
        return self.remembering.conversation_deleted(row.scope, row.id, forget=self.forget)
