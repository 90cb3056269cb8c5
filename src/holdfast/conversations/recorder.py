"""Keeps an answer while it is being written: saved every second, kept whole before its last piece goes out.

Whatever happens (the server breaks off, the client leaves, the task is cancelled), what had arrived becomes a
message, marked as cut off, and the job gets its end. Knows no provider and no door.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from holdfast.conversations.likeness import anchor
from holdfast.errors import HoldfastError, StoreError
from holdfast.messages import Answer, Chunk, FinishReason, Message
from holdfast.store import NewMessage, Store

log = logging.getLogger("holdfast.conversations")

# A crash costs this many seconds of an answer at most. Saving is also the sign of life that keeps others from
# taking the draft for abandoned.
SAVE_EVERY = 1.0


class Recorder:
    """One answer of one job; without a conversation (a side request) only the job is kept."""

    def __init__(
        self, store: Store, *, job: str, model: str, conversation: str | None, parent: str | None
    ) -> None:
        self._store = store
        self._job = job
        self._model = model
        self._conversation = conversation
        self._parent = parent
        self._answer = Answer()
        self._saver: asyncio.Task[None] | None = None

    @property
    def answer(self) -> Message:
        """What has been answered so far."""
        return self._answer.message

    async def record(self, chunks: AsyncGenerator[Chunk, None]) -> AsyncGenerator[Chunk, None]:
        """Passes the chunks on, and sees to it that nothing of them is lost."""
        self._saver = asyncio.create_task(self._save_often())
        trouble: str | None = "the client went away before the answer was complete"
        try:
            async with aclosing(chunks):
                async for chunk in chunks:
                    if self._answer.empty:
                        await self._store.run(self._store.jobs.first_token, self._job)
                    self._answer.add(chunk)
                    if chunk.finish is not None:
                        await self._keep(chunk.finish)
                    yield chunk
            trouble = None
        except HoldfastError as error:
            trouble = error.message
            raise
        finally:
            # The end must be written even if this task is being cancelled, so another one writes it.
            await asyncio.shield(self._end(trouble))

    async def _save_often(self) -> None:
        while self._conversation is not None:
            try:
                await self._store.run(
                    self._store.drafts.save,
                    self._job, self._conversation, self._parent, self._answer.message, self._model,
                )  # fmt: skip
            except StoreError as error:
                log.warning("an answer that is being written could not be saved: %s", error)
            await asyncio.sleep(SAVE_EVERY)

    async def _keep(self, finish: FinishReason) -> None:
        """Makes the answer a message of the log; from then on it is safe."""
        if self._saver is not None:
            self._saver.cancel()
        conversation, self._conversation = self._conversation, None
        if conversation is not None:
            # Shielded, because a write that still waits for its turn would be dropped with a cancelled task.
            await asyncio.shield(self._store.run(self._store.atomically, self._put, conversation, finish))

    def _put(self, conversation: str, finish: FinishReason) -> None:
        message, drafts = self._answer.message, self._store.drafts
        if not message.parts:
            drafts.discard(self._job)
            return
        # Saved once more first: there is no draft yet if the answer was quick.
        drafts.save(self._job, conversation, self._parent, message, self._model)
        drafts.finish(self._job, NewMessage(message, anchor(message), self._model, finish, self._job))

    async def _end(self, trouble: str | None) -> None:
        begun = not self._answer.empty
        await self._keep("cut")
        jobs, usage = self._store.jobs, self._answer.usage
        if trouble is None or self._answer.finish is not None:
            await self._store.run(jobs.done, self._job, usage)
        elif begun:
            await self._store.run(jobs.cut, self._job, trouble, usage)
        else:
            await self._store.run(jobs.failed, self._job, trouble, usage)
