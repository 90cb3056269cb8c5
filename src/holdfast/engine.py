"""One turn, end to end: read this first.

A door hands over an `Ask`; the engine keeps what was said, brings in what belongs to it, makes it fit, sends
it, and keeps the answer. It knows no wire format (that is the doors' business) and no SQL (the store's).
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

from holdfast.conversations import Asides, Hints, Placement, Recorder, hints_from, locate
from holdfast.dialects.checks import check_request
from holdfast.errors import Conflict, Overflow
from holdfast.messages import ChatRequest, Chunk, Message, Scope
from holdfast.models.knowledge import Models
from holdfast.models.windows import decides_itself
from holdfast.providers.base import Provider
from holdfast.providers.upstreams import Upstreams
from holdfast.store import Store

# How often a turn is placed anew when its conversation moved on in the meantime.
PLACEMENT_TRIES = 5
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
    job: str | None = None


class Engine:
    def __init__(self, store: Store, upstreams: Upstreams, models: Models) -> None:
        self.store = store
        self.upstreams = upstreams
        self.models = models
        self._asides = Asides()
        self._recovering: asyncio.Task[None] | None = None

    async def turn(self, ask: Ask) -> Turn:
        """Carries one request from a door to the model, and its answer back."""
        check_request(ask.request)
        provider = await self.upstreams.route(ask.request.model)
        hints = hints_from(ask.headers, ask.request)
        kept = await self.keep(ask, hints, provider)
        recorder = Recorder(
            self.store,
            job=kept.job,
            model=ask.request.model,
            conversation=kept.conversation,
            parent=kept.parent,
        )
        chunks = recorder.record(self._answer(ask.request, kept, provider, recorder))
        if kept.placement.kind == "side":
            chunks = self._noted(chunks, recorder, ask, hints, kept)
        return Turn(ask.request.model, chunks, kept.conversation, kept.job)

    async def _answer(
        self, request: ChatRequest, kept: Kept, provider: Provider, recorder: Recorder
    ) -> AsyncGenerator[Chunk, None]:
        """What happens between keeping the question and keeping the answer; trouble in it ends the job."""
        request = await self.fetch(request, kept)
        request = await self.recall(request, kept)
        request, recorder.window = await self.fit(request, kept, provider)
        async with aclosing(self.send(request, provider, recorder.window)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def keep(self, ask: Ask, hints: Hints, provider: Provider) -> Kept:
        """Finds the conversation and appends what is new in the request. Side requests are not kept."""
        for _ in range(PLACEMENT_TRIES):
            placement = await self.store.run(locate, self.store, ask.scope, ask.request, hints, self._asides)
            try:
                return await self.store.run(self.store.atomically, self._kept, ask, placement, provider)
            except Conflict as conflict:
                moved = conflict
        raise moved

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
        del kept
        windows = await self.models.settled(provider, request.model, asked=request.options.get("num_ctx"))
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
                    yield chunk
        except Overflow:
            self.models.look_again(provider, request.model)
            raise
        finally:
            await watch.close()

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

    def _kept(self, ask: Ask, placement: Placement, provider: Provider) -> Kept:
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
            upstream=provider.location,
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
        rest = [message for message in request.messages if message.role != "system"]
        return request.with_messages([*system, *(stored.message for stored in path), *rest])

    async def start(self) -> None:
        """Takes up what an earlier process left behind."""
        self._recovering = asyncio.create_task(self._recover())

    async def _recover(self) -> None:
        while True:
            await self.store.run(self.store.drafts.recover, time.time())
            await asyncio.sleep(RECOVER_EVERY)

    async def close(self) -> None:
        if self._recovering is not None:
            self._recovering.cancel()
        await self.models.aclose()
        await self.upstreams.aclose()
        self.store.close()


def title_of(messages: tuple[Message, ...], length: int = 80) -> str:
    """A conversation is called by the first line a person said in it, until somebody renames it."""
    said = next((message.text for message in messages if message.role == "user" and message.text.strip()), "")
    line = " ".join(said.strip().splitlines()[0].split()) if said else ""
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"
