"""What is done after an answer, when nobody waits: indexing, notes, summaries ahead of need, housekeeping.

Says what and in which order; how is known in the parts it is given. People always come first.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TypeVar

from holdfast.errors import HoldfastError, NotFound, ProviderError, StoreError
from holdfast.fitting.compacting import Compacting
from holdfast.memory.remembering import Remembering
from holdfast.store import Store
from holdfast.work.idle import Idle
from holdfast.work.projector import Projector
from holdfast.work.watching import Watching

log = logging.getLogger("holdfast.work")

R = TypeVar("R")

# A conversation that nobody went on with for so long is at rest.
REST = 15 * 60.0
# So many messages hold the one writer up for no longer than somebody would notice.
_INDEXED_AT_ONCE = 64
# So many texts keep the embedder busy for about a second; and while people talk, they wait so long.
_UNDERSTOOD_AT_ONCE, _SETTLED = 32, 20.0
# Notes that could not be written are tried again after this.
_AGAIN = 60.0
# Statistics, and promises that were kept, are forgotten after this.
_KEPT, _DAILY = 30 * 86_400.0, 86_400.0
# How far back a process looks for conversations that an earlier one did not put at rest.
_LEFT_BEHIND = 7 * 86_400.0


class Afterwards:
    def __init__(
        self,
        store: Store,
        compacting: Compacting,
        projector: Projector | None,
        pause: float = 0.0,
        remembering: Remembering | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.idle = Idle()
        self._store = store
        self._compacting = compacting
        self._projector = projector
        self._pause = pause
        self._remembering = remembering
        self._watching = Watching()
        self._clock = clock
        # Conversations that were talked in and are not at rest yet.
        self._talked: set[str] = set()

    def notices(self) -> tuple[str, ...]:
        """What people should know of work that did not go well."""
        return ("not_noted",) if self._projector is not None and self._projector.trouble else ()

    def person(self) -> AbstractContextManager[None]:
        """Somebody is being served: whatever else is done stops."""
        return self.idle.person()

    def start(self) -> None:
        """Takes up what an earlier process left behind."""
        self.idle.put("index", self._index)
        self.idle.put("notes", self._write_notes)
        self.idle.put("housekeeping", self._tidy)
        self.idle.put("left behind", self._take_up)
        if self._remembering is not None:
            self.idle.put("embedder", self._wake)
            self.noted()
            folder = self._remembering.workspace.folder
            if folder is not None:
                self._watching.start(folder, self.noted)

    def noted(self) -> None:
        """Notes have changed, or may have: they are read and understood when it is quiet."""
        self.idle.put("index of notes", self._index_notes)

    def answered(self, conversation: str | None) -> None:
        """An answer is kept: what follows from it is done as soon as it is quiet."""
        self.idle.put("index", self._index)
        self.idle.put("notes", self._write_notes)
        if conversation is not None:
            self._talked.add(conversation)
            self.idle.put(f"summary of {conversation}", partial(self._ahead, conversation), after=self._pause)
            self.idle.put(f"rest of {conversation}", partial(self._rest, conversation), after=REST)

    def compacted(self, conversation: str) -> None:
        """Somebody had it summarised: its notes are written, and the server reads the new window."""
        self.idle.put("notes", self._write_notes)
        self.idle.put(f"reading of {conversation}", partial(self._compacting.warm, conversation))

    async def close(self) -> None:
        await self._watching.close()
        await self._put_at_rest()

    async def _put_at_rest(self) -> None:
        """Nobody knows when somebody comes back: what should be remembered is taken down, without a model."""
        await self.idle.close()
        for conversation in self._talked:
            try:
                await self._compacting.at_rest(conversation, ask=False)
            except HoldfastError as error:
                log.warning("what was said in %s could not be taken down: %s", conversation, error)
        try:
            await self._write_notes()
        except HoldfastError as error:
            log.warning("notes could not be written: %s", error)

    async def _ahead(self, conversation: str) -> None:
        try:
            changed = await self._compacting.ahead(conversation)
            await self._write_notes()
            if changed:
                await self._compacting.warm(conversation)
        except NotFound:
            self._talked.discard(conversation)

    async def _rest(self, conversation: str) -> None:
        try:
            await self._compacting.at_rest(conversation)
        except NotFound:
            pass
        except ProviderError as error:
            log.warning("%s at rest: %s", conversation, error)
            return
        self._talked.discard(conversation)
        await self._write_notes()

    async def _take_up(self) -> None:
        """What was talked about when an earlier process ended is put at rest by this one."""
        now = self._clock()
        for row in await self._store.run(self._store.log.used_since, now - _LEFT_BEHIND):
            rest = partial(self._rest, row.id)
            self.idle.put(f"rest of {row.id}", rest, after=max(0.0, row.updated_at + REST - now))

    async def _index(self) -> None:
        """What was said becomes searchable now, so that no question has to wait for it.

        In portions: a backlog (an import, a search engine of a new version) must not keep anybody waiting.
        """
        try:
            indexed = await self._store.run(self._store.texts.catch_up, _INDEXED_AT_ONCE)
        except StoreError as error:
            log.warning("what was said could not be indexed: %s", error)
        else:
            if indexed == _INDEXED_AT_ONCE:
                self.idle.put("index", self._index)
            elif indexed and self._remembering is not None:
                self.idle.put("meaning", self._understand, after=_SETTLED)

    async def _index_notes(self) -> None:
        memory = self._remembering
        assert memory is not None
        try:
            await _stoppable(lambda stop: memory.index.sync(stop=stop))
        except HoldfastError as error:
            log.warning("notes could not be indexed: %s", error)
        self.idle.put("meaning", self._understand)

    async def _wake(self) -> None:
        """The embedder takes seconds to start; nobody's first question should wait for that."""
        assert self._remembering is not None
        try:
            if await asyncio.to_thread(self._remembering.index.everywhere):
                await asyncio.to_thread(self._remembering.meaning.vectors_of, ["."])
        except HoldfastError as error:
            log.warning("what was said is searched by words alone for now: %s", error)

    async def _understand(self) -> None:
        """What was written and said becomes findable by its meaning, a little at a time."""
        memory = self._remembering
        assert memory is not None
        try:
            more = await _stoppable(lambda stop: memory.understand(_UNDERSTOOD_AT_ONCE, stop))
        except HoldfastError as error:
            log.warning("what was said is searched by words alone for now: %s", error)
        else:
            if more:
                self.idle.put("meaning", self._understand)

    async def _write_notes(self) -> None:
        if self._projector is not None:
            await self._store.run(self._projector.project)
            if self._projector.left:
                # Another process was at it, or the disk is full: what is promised stays promised.
                self.idle.put("notes", self._write_notes, after=_AGAIN)

    async def _tidy(self) -> None:
        before = self._clock() - _KEPT
        await self._store.run(self._store.compactions.forget, before)
        await self._store.run(self._store.outbox.forget, before)
        self.idle.put("housekeeping", self._tidy, after=_DAILY)


async def _stoppable(work: Callable[[Callable[[], bool]], R]) -> R:
    """Work in a thread, which is told when nobody waits for it any more: a thread cannot be interrupted."""
    stop = threading.Event()
    try:
        return await asyncio.to_thread(work, stop.is_set)
    finally:
        stop.set()
