"""One turn, end to end: read this first.

A door hands over an `Ask`; the engine keeps what was said, brings in what belongs to it, makes it fit, sends
it, and keeps the answer. It knows no wire format (that is the doors' business) and no SQL (the store's).
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

from holdfast.conversations import Asides, Hints, Placement, Recorder, hints_from, locate
from holdfast.dialects.checks import check_request
from holdfast.errors import Conflict, Overflow, StoreError
from holdfast.messages import ChatRequest, Chunk, Message, Scope
from holdfast.models.knowledge import Models
from holdfast.models.windows import decides_itself, was_loaded
from holdfast.providers.base import Provider
from holdfast.providers.upstreams import Upstreams
from holdfast.store import Store

log = logging.getLogger("holdfast.engine")

# Answers whose writer died are looked for this often.
RECOVER_EVERY = 5.0


@dataclass(frozen=True, slots=True)
class Ask:
    """A request as it came through a door: what is asked, whose it is, and what the client said about it."""

    request: ChatRequest
    scope: Scope = Scope()
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a request belongs: the job it is, and the message its answer will follow."""

    job: str
    placement: Placement
    conversation: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A request under way. The model is asked when the first chunk is."""

    model: str
    chunks: AsyncGenerator[Chunk, None]
    conversation: str | None = None


class Engine:
    def __init__(self, store: Store, upstreams: Upstreams, models: Models) -> None:
        self.store = store
        self.upstreams = upstreams
        self.models = models
        self._asides = Asides()
        self._recorders: set[Recorder] = set()
        self._chores: set[asyncio.Task[None]] = set()
        self._recovering: asyncio.Task[None] | None = None

    async def turn(self, ask: Ask) -> Turn:
        """Carries one request from a door to the model, and its answer back."""
        check_request(ask.request)
        hints = hints_from(ask.headers, ask.request)
        kept = await self.keep(ask, hints)
        recorder = Recorder(
            self.store,
            job=kept.job,
            model=ask.request.model,
            conversation=kept.conversation,
            parent=kept.parent,
        )
        chunks = self._recorded(recorder, self._answer(ask.request, kept, recorder))
        if kept.placement.kind == "side":
            chunks = self._noted(chunks, recorder, ask, hints, kept)
        return Turn(ask.request.model, chunks, kept.conversation)

    async def _answer(
        self, request: ChatRequest, kept: Kept, recorder: Recorder
    ) -> AsyncGenerator[Chunk, None]:
        """What happens between keeping the question and keeping the answer; trouble in it ends the job."""
        provider = await self.upstreams.route(request.model)
        recorder.upstream = provider.location
        request = await self.fetch(request, kept)
        request = await self.recall(request, kept)
        request, recorder.window = await self.fit(request, kept, provider)
        async with aclosing(self.send(request, provider, recorder.window)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def keep(self, ask: Ask, hints: Hints) -> Kept:
        """Finds the conversation and appends what is new in the request. Side requests are not kept."""
        try:
            placement = await self.store.run(locate, self.store, ask.scope, ask.request, hints, self._asides)
            return await self.store.run(self.store.atomically, self._kept, ask, placement)
        except Conflict:
            # Somebody else went on with the conversation in between: now nobody can.
            return await self.store.run(self.store.atomically, self._placed_and_kept, ask, hints)

    async def fetch(self, request: ChatRequest, kept: Kept) -> ChatRequest:
        """Brings in the files and sources that the newest message names."""
        del kept
        return request

    async def recall(self, request: ChatRequest, kept: Kept) -> ChatRequest:
        """Adds what is remembered and bears on the newest message."""
        del kept
        return request

    async def fit(self, request: ChatRequest, kept: Kept, provider: Provider) -> tuple[ChatRequest, int]:
        """Makes the request fit the window that is really there, the same one in everything we send."""
        if kept.placement.kind == "main":
            asked = request.options.get("num_ctx")
            windows = await self.models.settled(provider, request.model, asked=asked)
        else:
            # What a client asks for on the side decides nothing for the conversations.
            windows = await self.models.windows(provider, request.model)
        window = windows.used.tokens
        return request if decides_itself(provider) else request.with_options(num_ctx=window), window

    async def send(
        self, request: ChatRequest, provider: Provider, window: int
    ) -> AsyncGenerator[Chunk, None]:
        """Asks the model; the recorder around it keeps the answer as it comes."""
        watch = self.models.watch(provider, request, window)
        try:
            async with aclosing(provider.chat(request)) as chunks:
                async for chunk in chunks:
                    await watch.see(chunk)
                    if chunk.usage is not None and was_loaded(chunk.usage):
                        self.models.look_again(provider, request.model)
                    yield chunk
        except Overflow:
            self.models.look_again(provider, request.model)
            raise
        finally:
            # Learning is for the next time; this answer need not wait for it.
            self._chores.add(chore := asyncio.create_task(watch.close()))
            chore.add_done_callback(self._chores.discard)

    async def _recorded(
        self, recorder: Recorder, chunks: AsyncGenerator[Chunk, None]
    ) -> AsyncGenerator[Chunk, None]:
        """Records an answer, known to `close` as long as it is being written."""
        self._recorders.add(recorder)
        try:
            async with aclosing(recorder.record(chunks)) as recorded:
                async for chunk in recorded:
                    yield chunk
        finally:
            self._recorders.discard(recorder)

    async def _noted(
        self, chunks: AsyncGenerator[Chunk, None], recorder: Recorder, ask: Ask, hints: Hints, kept: Kept
    ) -> AsyncGenerator[Chunk, None]:
        """A side request's answer is remembered for a while: the client may come back with it."""
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk
        placement = kept.placement
        self._asides.note(
            ask.scope, placement.side, recorder.answer, sender=hints.sender, conversation=placement.beside
        )

    def _placed_and_kept(self, ask: Ask, hints: Hints) -> Kept:
        """Both in one transaction: slower for others, but sure."""
        placement = locate(self.store, ask.scope, ask.request, hints, self._asides)
        return self._kept(ask, placement)

    def _kept(self, ask: Ask, placement: Placement) -> Kept:
        """One transaction: conversation, new messages, the prompt as sent, and the job."""
        log, request = self.store.log, ask.request
        conversation, parent = placement.conversation, placement.parent
        if placement.kind == "main":
            if conversation is None:
                created = log.create(
                    ask.scope,
                    title=title_of(placement.messages),
                    client=placement.client,
                    external_id=placement.external_id,
                )
                conversation = created.id
            if placement.new:
                parent = log.append(conversation, placement.new, parent=parent, expect=placement.head)[-1].id
            elif parent != placement.head:
                # An answer is wanted once more: until it comes, the conversation ends at its question.
                log.set_head(conversation, parent, expect=placement.head)
        system = [message for message in request.messages if message.role == "system"]
        job = self.store.jobs.start(
            ask.scope,
            kind=placement.kind,
            model=request.model,
            conversation=conversation,
            prompt=self.store.prompts.keep(system, request.tools) if placement.kind == "main" else None,
        )
        if conversation is not None:
            # From here on a crash leaves a trace of the answer that was wanted.
            self.store.drafts.save(job.id, conversation, parent, Message("assistant", ()), request.model)
        return Kept(job.id, placement, conversation, parent)

    async def going_on(self, request: ChatRequest, scope: Scope, conversation: str) -> ChatRequest:
        """The request with the history in front of it that its client leaves to us."""
        row = await self.store.run(self.store.log.get, conversation, scope)
        path = await self.store.run(self.store.log.path, row.head) if row.head else []
        system = [message for message in request.messages if message.role == "system"]
        if not system:
            system = await self.store.run(self._last_system, row.id)
        rest = [message for message in request.messages if message.role != "system"]
        return request.with_messages([*system, *(stored.message for stored in path), *rest])

    def _last_system(self, conversation: str) -> list[Message]:
        """The instructions that the conversation's last request had."""
        jobs = self.store.jobs.recent(1, conversation=conversation)
        return list(self.store.prompts.get(jobs[0].prompt).system) if jobs and jobs[0].prompt else []

    async def start(self) -> None:
        """Takes up what an earlier process left behind."""
        self._recovering = asyncio.create_task(self._recover())

    async def _recover(self) -> None:
        while True:
            try:
                await self.store.run(self.store.drafts.recover, time.time())
            except StoreError as error:
                log.warning("answers that were left behind could not be taken up: %s", error)
            await asyncio.sleep(RECOVER_EVERY)

    async def close(self) -> None:
        """Ends in good order: what was being answered is kept as far as it came."""
        if self._recovering is not None:
            self._recovering.cancel()
        for recorder in list(self._recorders):
            await recorder.stop()
        await asyncio.gather(*self._chores, return_exceptions=True)
        await self.models.aclose()
        await self.upstreams.aclose()
        self.store.close()


def title_of(messages: tuple[Message, ...], length: int = 80) -> str:
    """A conversation is called by the first line a person said in it, until somebody renames it."""
    said = next((message.text for message in messages if message.role == "user" and message.text.strip()), "")
    line = " ".join(said.strip().splitlines()[0].split()) if said else ""
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"
