"""Records an answer while it is streamed: a draft every second, the whole before its last chunk goes out.

Whatever happens (the server breaks off, the client leaves, the task is cancelled), what had arrived becomes
a message, marked as cut off, and the job ends. Only if the conversation is deleted meanwhile is nothing
stored.

Revisions delete a message, or put it into other words, without asking a model. The log only grows: a
revision is another branch, on which what follows is repeated, so that it can be undone. A deleted message is
marked, and is no version any more.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from holdfast.conversations.alignment import anchor
from holdfast.errors import BadRequest, Conflict, HoldfastError, NotFound, StoreError
from holdfast.i18n import lazy
from holdfast.messages import Answer, Chunk, FinishReason, Message
from holdfast.store import ConversationRecord, MessageRecord, NewMessage, Store

log = logging.getLogger("holdfast.conversations")

# A crash costs this many seconds of an answer at most. Saving is also the sign of life that keeps others from
# taking the draft for abandoned.
SAVE_EVERY = 1.0


class Recorder:
    """Records one answer of one job; without a conversation (a side request) only the job.

    A context manager around the chunks, each of which is passed to `add`. The draft exists already: it was
    created in the same commit as the question. `on_saved` is called with the
    stored message, or None if there is none, before the last chunk goes out.
    """

    def __init__(
        self,
        store: Store,
        *,
        job: str,
        model: str,
        conversation: str | None,
        parent: str | None,
        on_saved: Callable[[MessageRecord | None], None] = lambda _: None,
    ) -> None:
        self._on_saved = on_saved
        # Which server was asked, and the window that the request was made for, once that is known.
        self.window: int | None = None
        self.upstream: str | None = None
        self._store = store
        self._job = job
        self._model = model
        self._conversation = conversation
        self._parent = parent
        self._answer = Answer()
        self._first_token_at: float | None = None
        self._over = False
        # Whether the answer is indexed where it is stored; not once that has failed.
        self._indexes = True
        self._saver: asyncio.Task[None] | None = None

    @property
    def answer(self) -> Message:
        """The answer so far."""
        return self._answer.message

    async def add(self, chunk: Chunk) -> None:
        """Takes the next chunk; the whole answer is stored before its last chunk goes out."""
        if self._first_token_at is None:
            self._first_token_at = time.time()
        self._answer.add(chunk)
        if chunk.finish is not None:
            await self._commit(chunk.finish, over=chunk.usage is not None)

    async def __aenter__(self) -> Self:
        self._saver = asyncio.create_task(self._save_often())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        match error:
            case None:
                trouble = ""
            case HoldfastError():
                trouble = error.message
            case GeneratorExit() | asyncio.CancelledError():
                trouble = "the client went away before the answer was complete"
            case _:
                trouble = "something went wrong inside Holdfast"
        await self._commit("cut", over=True, trouble=trouble)

    async def stop(self) -> None:
        """Store what has arrived so far: there will be no more."""
        await self._commit("cut", over=True, trouble="Holdfast was stopped before the answer was complete")

    async def _save_often(self) -> None:
        while self._conversation is not None:
            await asyncio.sleep(SAVE_EVERY)
            try:
                await self._store.run(
                    self._store.drafts.save,
                    self._job, self._conversation, self._parent, self._answer.message, self._model,
                )  # fmt: skip
            except Conflict:
                # The conversation was deleted; handled when the answer is complete.
                return
            except StoreError as error:
                log.warning("an answer that is being written could not be saved: %s", error)

    async def _commit(self, finish: FinishReason, *, over: bool, trouble: str = "") -> None:
        """Store the answer as a message, once, and end the job when it is `over`, once."""
        if self._saver is not None:
            self._saver.cancel()
        conversation, self._conversation = self._conversation, None
        ends, self._over = over and not self._over, self._over or over
        if conversation is not None or ends:
            # Shielded, because a write that still waits for its turn would be dropped with a cancelled task.
            await asyncio.shield(self._write_or_drop(conversation, finish, ends, trouble))

    async def _write_or_drop(
        self, conversation: str | None, finish: FinishReason, ends: bool, trouble: str
    ) -> None:
        """Write the answer; drop it if its conversation was deleted meanwhile."""
        run, atomically = self._store.run, self._store.atomically
        try:
            try:
                stored = await run(atomically, self._write, conversation, finish, ends, trouble)
            except StoreError as error:
                if self._indexes:
                    raise
                # A broken index must not cost the answer.
                log.warning("an answer is stored without being indexed: %s", error)
                stored = await run(atomically, self._write, conversation, finish, ends, trouble)
            if conversation is not None:
                self._on_saved(stored)
        except (Conflict, NotFound):
            if conversation is None or await self._store.run(self._exists, conversation):
                raise
            # Deleted meanwhile: the client still gets the answer, but there is nowhere to store it.
            await run(atomically, self._write, None, finish, ends, trouble)

    def _exists(self, conversation: str) -> bool:
        try:
            self._store.log.get(conversation)
        except NotFound:
            return False
        return True

    def _write(
        self, conversation: str | None, finish: FinishReason, ends: bool, trouble: str
    ) -> MessageRecord | None:
        message, drafts, stored = self._answer.message, self._store.drafts, None
        if conversation is not None and message.parts:
            new = NewMessage(message, anchor(message), self._model, finish, self._job)
            stored = drafts.finish(self._job, new)
            if stored is None:
                # Another process took the draft for abandoned while this one was asleep.
                drafts.save(self._job, conversation, self._parent, message, self._model)
                stored = drafts.finish(self._job, new)
            if stored is not None and self._indexes:
                self._indexes = False
                self._store.texts.index_exchange(stored.tree)
                self._indexes = True
        elif conversation is not None:
            drafts.discard(self._job)
        if ends:
            whole = self._answer.finish is not None or not trouble
            self._store.jobs.end(
                self._job,
                "done" if whole else "cut" if message.parts else "failed",
                error="" if whole else trouble,
                usage=self._answer.usage,
                upstream=self.upstream,
                window=self.window,
                first_token_at=self._first_token_at,
            )
        return stored


# The mark of a message that somebody deleted.
DELETED = "deleted"


def delete_message(store: Store, row: ConversationRecord, stored: MessageRecord) -> ConversationRecord:
    """Take a message out of a conversation; what follows it stays."""
    moved = _rewrite(store, row, stored, None)
    store.marks.put(stored.id, DELETED)
    return moved


def restore_message(store: Store, row: ConversationRecord, stored: MessageRecord) -> ConversationRecord:
    """Undo a deletion: the conversation is as it was before."""
    store.marks.remove(stored.id, DELETED)
    return follow_to_end(store, row, stored)


def replace_message(
    store: Store, row: ConversationRecord, stored: MessageRecord, message: Message
) -> ConversationRecord:
    """Put another message in the place of one; both are versions of the same."""
    return _rewrite(store, row, stored, message)


def follow_to_end(store: Store, row: ConversationRecord, stored: MessageRecord) -> ConversationRecord:
    """Move the head of a conversation to the newest end that follows a message."""
    end = stored
    while after := without_deleted(store, store.log.children(end.id)):
        end = after[-1]
    return store.log.set_head(row.id, end.id, expect=row.head)


def without_deleted(store: Store, siblings: list[MessageRecord]) -> list[MessageRecord]:
    """Return those of some messages with the same parent that were not deleted."""
    return [message for message in siblings if not is_deleted(store, message.id)]


def is_deleted(store: Store, message: str) -> bool:
    return any(mark.message == message and mark.kind == DELETED for mark in store.marks.of(message))


def _rewrite(
    store: Store, row: ConversationRecord, stored: MessageRecord, message: Message | None
) -> ConversationRecord:
    """Continue the conversation before a message with another one, or none, and what followed it."""
    if stored.message.tool_calls or stored.message.tool_results:
        raise BadRequest(
            lazy("a call of a tool and its result belong together, and stay as they are"), param="message"
        )
    path = store.log.path(row.head) if row.head else []
    if stored.id not in {entry.id for entry in path}:
        raise BadRequest(lazy("this message is not in the conversation as it stands"), param="message")
    after = [
        NewMessage(entry.message, anchor(entry.message), entry.model, entry.finish, entry.job)
        for entry in path[stored.depth + 1 :]
    ]
    if message is not None:
        finish = "stop" if stored.message.role == "assistant" else ""
        after.insert(0, NewMessage(message, anchor(message), stored.model, finish, stored.job))
    if not after:
        return store.log.set_head(row.id, stored.parent, expect=row.head)
    store.log.append(row.id, after, parent=stored.parent, expect=row.head)
    return store.log.get(row.id)
