"""One turn, end to end: read this first.

A door hands over an `Ask`; the engine keeps what was said, brings in what belongs to it, makes it fit, sends
it, and keeps the answer. It knows no wire format (that is the doors' business) and no SQL (the store's).
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from holdfast.background.progress import TurnProgress
from holdfast.background.projector import Projector
from holdfast.background.queue import Queue, QueueSlot
from holdfast.background.stopping import StreamStop
from holdfast.compaction.compactor import Compactor
from holdfast.compaction.summary_model import PromptTemplates
from holdfast.conversations import Recorder, read_hints
from holdfast.conversations.hints import split_context
from holdfast.errors import BadRequest, HoldfastError, Overflow, StoreError
from holdfast.events import Events
from holdfast.files.roots import Roots
from holdfast.fitting import Fitter, Kept
from holdfast.fitting.afterwards import Afterwards
from holdfast.fitting.case import Along
from holdfast.fitting.compacting import Compacting
from holdfast.fitting.filing import pointed_at
from holdfast.fitting.helpers import SummaryOptions
from holdfast.fitting.intake import Incoming, Intake
from holdfast.fitting.noting import Noting
from holdfast.fitting.recalling import Recalling
from holdfast.fitting.researching import Researching, live_notes
from holdfast.fitting.sending import Sending
from holdfast.fitting.turns import Turns
from holdfast.memory.base import Memories, Memory
from holdfast.memory.gate import Gate
from holdfast.memory.remembering import Remembering
from holdfast.messages import ChatRequest, Chunk, Scope
from holdfast.protocols.requests import check_request
from holdfast.recall import recall_over
from holdfast.research.library import Research
from holdfast.store import Store
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.window.presets import Preset, preset_named

log = logging.getLogger("holdfast.engine")

# Answers whose writer died are looked for this often.
RECOVER_EVERY = 5.0
# No request is under way for so long: one that is still open then was left by a process that died.
ABANDONED = 6 * 3600.0
# What an event says of a window; its report says more.
_TOLD_OF_WINDOW = (
    "conversation",
    "model",
    "level",
    "tokens",
    "window",
    "room",
    "utilisation",
    "batches",
    "notices",
)


@dataclass(frozen=True, slots=True)
class Ask:
    """A request as it came through a door: what is asked, whose it is, and what the client said about it.

    `continues` names a conversation whose history the client leaves to us. `context` are texts that were
    found for the question, `research` names a finding for it, and `files` says where the files it points at
    may be read. Without `memory` nothing is remembered in the conversation, nor of it.
    """

    request: ChatRequest
    scope: Scope = Scope()
    headers: Mapping[str, str] = field(default_factory=dict)
    continues: str | None = None
    context: tuple[str, ...] = ()
    research: str = ""
    files: Roots | None = None
    memory: bool = True


@dataclass(slots=True)
class Facts:
    """What becomes known of a turn on its way: `report` is there before its first chunk is."""

    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """A request under way. The model is asked when the first chunk is.

    `off`: its conversation is switched off, so it goes out as it came, and nothing of it is kept.
    """

    model: str
    chunks: AsyncGenerator[Chunk, None]
    conversation: str | None = None
    facts: Facts = field(default_factory=Facts)
    off: bool = False
    # The job under which the answer is kept, by which a client may name it later; empty if it is not.
    job: str = ""


@dataclass(slots=True)
class _Run:
    """A turn that was kept, on its way to its end."""

    ask: Ask
    kept: Kept
    recorder: Recorder
    progress: TurnProgress
    facts: Facts = field(default_factory=Facts)
    stop: StreamStop = field(default_factory=StreamStop)
    # Where it stands in the line before the server it is for, and that server once it has its turn.
    place: QueueSlot | None = None
    provider: Provider | None = None
    along: Along = Along()

    @property
    def conversation(self) -> str | None:
        return self.kept.conversation.id if self.kept.conversation else None


class Engine:
    """`parallel` requests are answered at a time by each server, or as many as `parallel_at` has by its name;
    0 is as many as come.
    """

    def __init__(
        self,
        store: Store,
        upstreams: Upstreams,
        models: ModelRegistry,
        preset: Preset | None = None,
        *,
        memories: Memories | None = None,
        remembering: Remembering | None = None,
        research: Research | None = None,
        gate: Gate = Gate(),  # noqa: B008 - frozen
        prompts: PromptTemplates | None = None,
        options: SummaryOptions | None = None,
        parallel: int = 0,
        parallel_at: Mapping[str, int] | None = None,
    ) -> None:
        self.store, self.upstreams, self.models = store, upstreams, models
        self.remembering, self.research = remembering, research
        self.events = Events()
        self.queue = Queue(self._capacity)
        self._parallel, self._parallel_at = parallel, parallel_at or {}
        self.turns = Turns(store.hurry)
        options = options or SummaryOptions()
        preset, prompts = preset or preset_named("balanced"), prompts or PromptTemplates()
        tells = gate.lets_pass if options.memory else _tells_nobody
        self.compacting = Compacting(
            store,
            models,
            upstreams,
            preset,
            Compactor(prompts),
            turns=self.turns,
            events=self.events,
            options=options,
            tells=tells,
        )
        library = memories or (remembering.library if remembering else None)
        projector = Projector(store, library) if library else None
        self.afterwards = Afterwards(store, self.compacting, projector, options.pause, remembering, research)
        memory = remembering if options.memory else None
        self._recalling = Recalling(store, recall_over(store, memory, partial(live_notes, research)), memory)
        noting = Noting(research, self.compacting.helpers, prompts, self.events) if research else None
        self._researching = Researching(research, noting) if research and noting else None
        self.fitter = Fitter(
            store,
            models,
            preset,
            self.turns,
            self.compacting,
            self._recalling,
            self.afterwards.notices,
            tells,
            self._researching,
        )
        if remembering is not None:
            remembering.followers.append(self.remembered)
        self._sending = Sending(models, self.fitter)
        self._intake = Intake(store, memory=options.memory)
        self._runs: dict[str, _Run] = {}
        self._recovering: asyncio.Task[None] | None = None

    async def turn(self, ask: Ask) -> Turn:
        """Carries one request from a door to the model, and its answer back."""
        hints = read_hints(ask.headers, ask.request)
        check_request(ask.request, continues=bool(ask.continues or hints.explicit or hints.previous))
        context, request = split_context(ask.request)
        ask = replace(ask, request=request, context=(*ask.context, *context))
        incoming = Incoming(request, ask.scope, hints, ask.continues, ask.memory)
        found = self._researching.found if self._researching else _nothing_found
        finding = await found(ask.scope, ask.research or hints.research)
        kept = await self._intake.keep(incoming)
        if kept is None:
            passed = partial(self.passed, request, ask.scope.user)
            return Turn(request.model, self.upstreams.stream(request.model, passed), off=True)
        run = self._begun(ask, kept, incoming)
        bound = finding or await found(ask.scope, kept.research, sure=False)
        # Files are read before the request takes a place that others wait for.
        brought = await pointed_at(request, ask.files) if ask.files else ()
        run.along = Along(ask.context, ask.files, bound, brought)
        answer = self.upstreams.stream(request.model, partial(self._answer, run))
        chunks = self._recorded(run, run.stop.wrap(answer))
        if kept.placement.kind == "side":
            chunks = self._noted(chunks, run.recorder, incoming, kept)
        return Turn(request.model, chunks, run.conversation, run.facts, job=kept.job)

    def _begun(self, ask: Ask, kept: Kept, incoming: Incoming) -> _Run:
        conversation, model = kept.conversation.id if kept.conversation else None, ask.request.model
        recorder = Recorder(
            self.store,
            job=kept.job,
            model=model,
            conversation=conversation,
            parent=kept.parent,
            on_saved=self._intake.answering(incoming, kept),
        )
        about = {"job": kept.job, "conversation": conversation, "kind": kept.placement.kind, "model": model}
        return _Run(ask, kept, recorder, TurnProgress(self.events, ask.scope, about))

    async def _answer(self, run: _Run, provider: Provider) -> AsyncGenerator[Chunk, None]:
        """What happens between keeping the question and keeping the answer; trouble in it ends the job."""
        ask, kept, recorder = run.ask, run.kept, run.recorder
        recorder.upstream = provider.location
        with self.queue.enter(provider.location, ask.scope.user) as run.place:
            if not run.place.served:
                await self._waited(run, run.place, provider)
            run.progress.report_running(provider.location)
            run.provider = provider
            for attempt in (1, 2):
                fitted = await self.fitter.fit(ask.request, kept, provider, run.along)
                run.facts.report, recorder.window = fitted.report, fitted.window
                begun = False
                try:
                    async with aclosing(self._sending.send(fitted, provider)) as chunks:
                        async for chunk in chunks:
                            begun = True
                            yield chunk
                except Overflow as refused:
                    if begun or attempt == 2:
                        raise
                    log.warning(
                        "%s refused a request that should have fitted: %s", provider.location, refused
                    )
                    run.progress.report_overflow()
                    await self.fitter.refused(fitted, provider, refused)
                else:
                    return

    async def _waited(self, run: _Run, place: QueueSlot, provider: Provider) -> None:
        """Others are before it: only then is it worth a note in the store."""
        await self.store.run(self.store.jobs.waits, run.kept.job, provider.location)
        # Whoever hears of it finds it waiting.
        if not place.served:
            run.progress.report_queued(provider.location, place.position)
        await place.wait()
        await self.store.run(self.store.jobs.running, run.kept.job)

    async def passed(
        self, request: ChatRequest, user: str, provider: Provider
    ) -> AsyncGenerator[Chunk, None]:
        """The server's own answer to a request as it is, in its turn like any other. Nothing is kept."""
        with self.serving(provider, user) as place:
            await place.wait()
            async with aclosing(provider.chat(request)) as chunks:
                async for chunk in chunks:
                    yield chunk

    @contextmanager
    def serving(self, provider: Provider, user: str) -> Iterator[QueueSlot]:
        """A place before a server for what does not go through the engine; its turn is to be waited for."""
        with self.afterwards.person(), self.queue.enter(provider.location, user) as place:
            yield place

    def cancel(self, job: str) -> bool:
        """Ends a job that waits or runs in this process; whether it did."""
        run = self._runs.get(job)
        if run is not None:
            run.stop.stop(BadRequest("this request was cancelled", hint="Ask again if that was a mistake."))
        return run is not None

    def position(self, job: str) -> int | None:
        """How many are to be served until it is this job's turn, itself counted; None if it does not wait."""
        run = self._runs.get(job)
        return (run.place.position or None) if run is not None and run.place is not None else None

    def remembered(self, memories: Sequence[Memory], change: str) -> None:
        """To be told of every change of a memory: whoever follows its scope hears of it.

        What was said in a conversation is told there, too, with the messages that it comes from.
        """
        for memory in memories:
            told = {"change": change, "id": memory.id, "kind": memory.kind, "text": memory.text}
            if memory.may_replace:
                told["may_replace"] = memory.may_replace
            self.events.publish("memory", told, memory.scope)
            source = memory.sources[-1] if memory.sources else None
            scope = self._scope_of(source.conversation) if source else None
            if source is not None and scope is not None:
                said = {"conversation": source.conversation, "messages": list(source.messages)}
                self.events.publish("kept", {**told, **said}, scope)

    def _scope_of(self, conversation: str) -> Scope | None:
        """Whose a conversation is; a preference that is said in a project belongs to the person."""
        try:
            return self.store.log.get(conversation).scope
        except HoldfastError:
            return None

    def _capacity(self, location: str) -> int:
        named = next((one.name for one in self.upstreams.states() if one.location == location), "")
        return self._parallel_at.get(named, self._parallel)

    async def _recorded(self, run: _Run, chunks: AsyncGenerator[Chunk, None]) -> AsyncGenerator[Chunk, None]:
        """Records an answer, known to `close` and `cancel` as long as it is waited for or written."""
        recorder = run.recorder
        trouble: BaseException | None = HoldfastError("something went wrong inside Holdfast")
        self._runs[run.kept.job] = run
        try:
            with self.afterwards.person():
                async with aclosing(recorder.record(chunks)) as recorded:
                    async for chunk in recorded:
                        run.progress.note_chunk(chunk)
                        yield chunk
            trouble = None
        except (HoldfastError, GeneratorExit, asyncio.CancelledError) as error:
            trouble = error
            raise
        finally:
            del self._runs[run.kept.job]
            self._tell_end(run, trouble)
            near = self.compacting.may_be_due(run.facts.report, recorder.answer)
            self.afterwards.answered(run.conversation, near=near)
            finding, provider = run.along.finding, run.provider
            if self._researching is not None and finding is not None and provider is not None:
                work = self._researching.noting.about(finding, run.ask.request.model, provider)
                self.afterwards.found(finding.id, work)

    def _tell_end(self, run: _Run, trouble: BaseException | None) -> None:
        report = run.facts.report
        if run.conversation is not None and report:
            told = {name: report[name] for name in _TOLD_OF_WINDOW}
            told["prefix"] = "kept" if report["prefix"]["kept"] else report["prefix"]["cause"]
            self.events.publish("window", told, run.ask.scope)
        run.progress.finish(trouble, answered=bool(run.recorder.answer.parts))

    async def _noted(
        self, chunks: AsyncGenerator[Chunk, None], recorder: Recorder, incoming: Incoming, kept: Kept
    ) -> AsyncGenerator[Chunk, None]:
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk
        self._intake.note_aside(incoming, kept, recorder)

    async def start(self) -> None:
        """Takes up what an earlier process left behind."""
        await self.store.run(self.store.jobs.abandon, time.time() - ABANDONED)
        self._recovering = asyncio.create_task(self._recover())
        self.afterwards.start()

    async def _recover(self) -> None:
        while True:
            try:
                await self.store.run(self.store.drafts.recover)
            except StoreError as error:
                log.warning("answers that were left behind could not be taken up: %s", error)
            await asyncio.sleep(RECOVER_EVERY)

    def stopping(self) -> None:
        """The end is near: whoever waits for their turn or follows events is let go; others get done."""
        self.queue.close()
        self.events.close()

    async def close(self) -> None:
        """Ends in good order: what was being answered is kept as far as it came."""
        if self._recovering is not None:
            self._recovering.cancel()
        self.queue.close()
        for run in list(self._runs.values()):
            await run.recorder.stop()
        await self.store.hurry()
        await self.afterwards.close()
        self.events.close()
        await self.models.aclose()
        await self.upstreams.aclose()
        self._recalling.close()
        if self.remembering is not None:
            await asyncio.to_thread(self.remembering.close)
        self.store.close()


async def _nothing_found(scope: Scope, name: str, *, sure: bool = True) -> None:
    """Where there is no research, there are no findings."""


def _tells_nobody(_: str) -> bool:
    return False
