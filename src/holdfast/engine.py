"""One turn, end to end: read this first.

A door hands over an `Ask`; the engine keeps what was said, brings in what belongs to it, makes it fit, sends
it, and keeps the answer. It knows no wire format (that is the doors' business) and no SQL (the store's).
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.compaction.compactor import Compactor
from holdfast.compaction.keeping import remember
from holdfast.compaction.prompts import Prompts
from holdfast.conversations import Asides, Hints, Placement, Recorder, going_on, hints_from, locate
from holdfast.conversations.context import context_of
from holdfast.dialects.checks import check_request
from holdfast.errors import Conflict, Overflow, StoreError
from holdfast.events import Events
from holdfast.fitting import Fit, Fitter, Kept, marks
from holdfast.fitting.afterwards import Afterwards
from holdfast.fitting.compacting import Compacting
from holdfast.fitting.helpers import SummaryOptions
from holdfast.fitting.recalling import Recalling
from holdfast.fitting.turns import Turns
from holdfast.language import banner, say
from holdfast.memory.base import Memories
from holdfast.memory.gate import Gate
from holdfast.memory.remembering import Remembering
from holdfast.messages import Answer, ChatRequest, Chunk, Message, Scope
from holdfast.models.knowledge import Models
from holdfast.models.windows import was_loaded
from holdfast.providers.base import Provider
from holdfast.providers.upstreams import Upstreams
from holdfast.store import Store, Stored
from holdfast.window.presets import Preset, preset_named
from holdfast.work.projector import Projector

log = logging.getLogger("holdfast.engine")

# Answers whose writer died are looked for this often.
RECOVER_EVERY = 5.0


@dataclass(frozen=True, slots=True)
class Ask:
    """A request as it came through a door: what is asked, whose it is, and what the client said about it.

    `continues` names a conversation whose history the client leaves to us. `context` are texts that were
    found for the question.
    """

    request: ChatRequest
    scope: Scope = Scope()
    headers: Mapping[str, str] = field(default_factory=dict)
    continues: str | None = None
    context: tuple[str, ...] = ()


@dataclass(slots=True)
class Facts:
    """What becomes known of a turn on its way: `report` is there before its first chunk is."""

    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """A request under way. The model is asked when the first chunk is."""

    model: str
    chunks: AsyncGenerator[Chunk, None]
    conversation: str | None = None
    facts: Facts = field(default_factory=Facts)


class Engine:
    def __init__(
        self,
        store: Store,
        upstreams: Upstreams,
        models: Models,
        preset: Preset | None = None,
        *,
        memories: Memories | None = None,
        remembering: Remembering | None = None,
        gate: Gate = Gate(),  # noqa: B008 - frozen
        prompts: Prompts | None = None,
        options: SummaryOptions | None = None,
    ) -> None:
        self.store = store
        self.upstreams = upstreams
        self.models = models
        self.remembering = remembering
        self.events = Events()
        self.turns = Turns()
        self._options = options or SummaryOptions()
        preset = preset or preset_named("balanced")
        tells = gate.lets_pass if self._options.memory else _tells_nobody
        self.compacting = Compacting(
            store,
            models,
            upstreams,
            preset,
            Compactor(prompts or Prompts()),
            turns=self.turns,
            events=self.events,
            options=self._options,
            tells=tells,
        )
        memories = memories or (remembering.library if remembering else None)
        projector = Projector(store, memories) if memories else None
        self.afterwards = Afterwards(store, self.compacting, projector, self._options.pause, remembering)
        self._recalling = Recalling(remembering) if remembering and self._options.memory else None
        self.fitter = Fitter(
            store,
            models,
            preset,
            self.turns,
            self.compacting,
            self.afterwards.notices,
            self._recalling,
            tells,
        )
        self._asides = Asides()
        self._recorders: set[Recorder] = set()
        self._chores: set[asyncio.Task[Any]] = set()
        self._recovering: asyncio.Task[None] | None = None

    async def turn(self, ask: Ask) -> Turn:
        """Carries one request from a door to the model, and its answer back."""
        hints = hints_from(ask.headers, ask.request)
        check_request(ask.request, continues=bool(ask.continues or hints.explicit or hints.previous))
        context, request = context_of(ask.request)
        ask = replace(ask, request=request, context=(*ask.context, *context))
        kept = await self.keep(ask, hints)
        conversation = kept.conversation.id if kept.conversation else None
        recorder = Recorder(
            self.store, job=kept.job, model=request.model, conversation=conversation, parent=kept.parent
        )
        facts = Facts()
        chunks = self._recorded(recorder, conversation, self._answer(ask, kept, recorder, facts))
        if kept.placement.kind == "side":
            chunks = self._noted(chunks, recorder, ask, hints, kept)
        return Turn(request.model, chunks, conversation, facts)

    async def _answer(
        self, ask: Ask, kept: Kept, recorder: Recorder, facts: Facts
    ) -> AsyncGenerator[Chunk, None]:
        """What happens between keeping the question and keeping the answer; trouble in it ends the job."""
        provider = await self.upstreams.route(ask.request.model)
        recorder.upstream = provider.location
        for attempt in (1, 2):
            fitted = await self.fitter.fit(ask.request, kept, provider, ask.context)
            facts.report, recorder.window = fitted.report, fitted.window
            begun = False
            try:
                async with aclosing(self.send(fitted, provider)) as chunks:
                    async for chunk in chunks:
                        if not begun and kept.conversation is not None:
                            await self.turns.settle(kept.conversation.id)
                        begun = True
                        yield chunk
            except Overflow as refused:
                if begun or attempt == 2:
                    raise
                log.warning("%s refused a request that should have fitted: %s", provider.location, refused)
                await self.fitter.refused(fitted, provider, refused)
            else:
                return

    async def keep(self, ask: Ask, hints: Hints) -> Kept:
        """Finds the conversation and appends what is new in the request. Side requests are not kept."""
        try:
            placement = await self.store.run(self._placed, ask, hints)
            return await self.store.run(self.store.atomically, self._kept, ask, placement)
        except Conflict:
            # Somebody else went on with the conversation in between: now nobody can.
            return await self.store.run(self.store.atomically, self._placed_and_kept, ask, hints)

    async def send(self, fitted: Fit, provider: Provider) -> AsyncGenerator[Chunk, None]:
        """Asks the model; the recorder around it keeps the answer as it comes.

        A model that thought until its limit and said nothing is asked once more, to answer without thinking.
        """
        so_far = Answer()
        async with aclosing(self._asked(fitted, provider)) as chunks:
            async for chunk in chunks:
                so_far.add(chunk)
                if chunk.finish == "length" and not so_far.message.text and so_far.thinking:
                    break
                yield chunk
            else:
                return
        yield Chunk(text=_no_answer())
        without = replace(fitted, request=replace(fitted.request, think=False))
        async with aclosing(self._asked(without, provider)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _asked(self, fitted: Fit, provider: Provider) -> AsyncGenerator[Chunk, None]:
        """One request to the server, with somebody watching whether it really read all of it.

        Who does not want a stream gets nothing before the end, so that a cut can still be mended.
        """
        request, begun, held = fitted.request, False, list[Chunk]()
        watch = self.models.watch(provider, request, fitted.window)
        try:
            async with aclosing(provider.chat(request)) as chunks:
                async for chunk in chunks:
                    try:
                        await watch.see(chunk)
                    except Overflow as cut:
                        if not begun:
                            raise
                        # Too late to ask again: the answer is out.
                        log.warning("%s", cut)
                        self.models.look_again(provider, request.model)
                        await self.fitter.refused(fitted, provider, cut)
                        yield Chunk(text=f"\n\n{_cut_notice()}")
                    if chunk.usage is not None and was_loaded(chunk.usage):
                        self.models.look_again(provider, request.model)
                    if request.stream:
                        begun = True
                        yield chunk
                    else:
                        held.append(chunk)
            for chunk in held:
                yield chunk
        except Overflow:
            self.models.look_again(provider, request.model)
            raise
        finally:
            # Learning is for the next time; this answer need not wait for it.
            self._later(watch.close())

    def _later(self, work: Coroutine[Any, Any, Any]) -> None:
        self._chores.add(chore := asyncio.create_task(work))
        chore.add_done_callback(self._chores.discard)

    async def _recorded(
        self, recorder: Recorder, conversation: str | None, chunks: AsyncGenerator[Chunk, None]
    ) -> AsyncGenerator[Chunk, None]:
        """Records an answer, known to `close` as long as it is being written."""
        self._recorders.add(recorder)
        try:
            with self.afterwards.person():
                async with aclosing(recorder.record(chunks)) as recorded:
                    async for chunk in recorded:
                        yield chunk
        finally:
            self._recorders.discard(recorder)
            self.afterwards.answered(conversation)

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
        return self._kept(ask, self._placed(ask, hints))

    def _placed(self, ask: Ask, hints: Hints) -> Placement:
        if ask.continues is not None:
            return going_on(self.store, ask.scope, ask.request, ask.continues)
        return locate(self.store, ask.scope, ask.request, hints, self._asides)

    def _kept(self, ask: Ask, placement: Placement) -> Kept:
        """One transaction: conversation, new messages, the prompt as sent, and the job."""
        log, request = self.store.log, ask.request
        conversation, parent = placement.conversation, placement.parent
        appended: list[Stored] = []
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
                appended = log.append(conversation, placement.new, parent=parent, expect=placement.head)
                parent = appended[-1].id
                marks.note(self.store, appended)
                if self._options.memory:
                    remember(self.store, log.get(conversation), appended)
            elif parent != placement.head:
                # An answer is wanted once more: until it comes, the conversation ends at its question.
                log.set_head(conversation, parent, expect=placement.head)
        system = [message for message in request.messages if message.role == "system"]
        prompt = self.store.prompts.keep(system, request.tools) if placement.kind == "main" else None
        job = self.store.jobs.start(
            ask.scope,
            kind=placement.kind,
            model=request.model,
            conversation=conversation,
            prompt=prompt,
        )
        if conversation is None:
            return Kept(job.id, placement)
        # From here on a crash leaves a trace of the answer that was wanted.
        self.store.drafts.save(job.id, conversation, parent, Message("assistant", ()), request.model)
        row = log.get(conversation)
        return Kept(job.id, placement, row, parent, tuple(appended), prompt or "")

    async def start(self) -> None:
        """Takes up what an earlier process left behind."""
        self._recovering = asyncio.create_task(self._recover())
        self.afterwards.start()

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
        await self.turns.close()
        await self.afterwards.close()
        self.events.close()
        await self.models.aclose()
        await self.upstreams.aclose()
        if self._recalling is not None:
            self._recalling.close()
        if self.remembering is not None:
            await asyncio.to_thread(self.remembering.close)
        self.store.close()


def _tells_nobody(_: str) -> bool:
    return False


def title_of(messages: tuple[Message, ...], length: int = 80) -> str:
    """A conversation is called by the first line a person said in it, until somebody renames it."""
    said = next((message.text for message in messages if message.role == "user" and message.text.strip()), "")
    line = " ".join(said.strip().splitlines()[0].split()) if said else ""
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def _no_answer() -> str:
    return (
        banner(
            say(
                "the model thought until its limit; this answer is without thinking",
                "das Modell hat bis zu seiner Grenze nachgedacht; diese Antwort ist ohne Nachdenken",
            )
        )
        + "\n\n"
    )


def _cut_notice() -> str:
    return banner(
        say(
            "the model server read only part of this conversation; the next request will be smaller",
            "der Modell-Server hat nur einen Teil des Gesprächs gelesen; die nächste Anfrage wird kleiner",
        )
    )
