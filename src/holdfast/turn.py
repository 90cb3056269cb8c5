"""One turn, end to end: read this first.

An endpoint passes in an `Ask` and reads the chunks of the `Turn` it gets. The way goes down this file:

    TurnEngine.turn     finds the conversation, records the question, loads the files and findings for it
    TurnEngine._answer  relays the answer to the client and records it, until it ends, fails or is cancelled
    TurnEngine._ask     for each server that could answer: waits in its queue, fits, sends, retries
    _Relay              looks at each chunk of a server: was the request cut, did the model only think?
    TurnEngine._finish  publishes how the turn ended, and starts background work
    QuestionRecorder    where `turn` finds conversations and appends to them

Words used here: a `job` is the stored row of one request. A draft is an answer that is still being written;
it is stored, so a crash loses little of it. A `Placement` says where a request belongs in the log. A side
request is one that a client sends beside the conversation (for a title, tags): its messages are not stored.
A `Finding` is a result of research that is attached to a question. A conversation that is `off` is relayed
without being recorded.

`Fitter` makes the request that fits the window (`context/fitter.py`), `Recorder` stores the answer
(`conversations/recorder.py`). Wire formats belong to the endpoints and providers, SQL to the store.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, Self

from holdfast.background.jobs import BackgroundJobs
from holdfast.background.projector import Projector
from holdfast.compaction.compactor import Compactor, enqueue_memory_requests
from holdfast.compaction.summariser import PromptTemplates
from holdfast.context import Fitter, RecordedQuestion
from holdfast.context.attachments import read_named_files
from holdfast.context.evidence import RecallService
from holdfast.context.findings import FindingAttacher, FindingSummariser, live_notes
from holdfast.context.fitter import OutgoingRequest
from holdfast.context.loading import Attachments, ConversationLocks, stored_path
from holdfast.context.message_state import note_sentences
from holdfast.context.summaries import CompactionService, SummaryOptions
from holdfast.context.titles import TitleWriter, title_of
from holdfast.conversations import (
    Hints,
    Placement,
    RecentConversation,
    RecentConversationCache,
    Recorder,
    SideRequestCache,
    locate,
    locate_at_end,
    locate_in_cache,
    read_hints,
)
from holdfast.conversations.hints import RESEARCH_SETTING, split_context
from holdfast.errors import BadRequest, Conflict, HoldfastError, NotFound, Overflow, ProviderError, StoreError
from holdfast.events import Events, TurnProgress
from holdfast.files.roots import Roots
from holdfast.i18n import banner, lazy
from holdfast.i18n import gettext as _
from holdfast.memory.base import Memory, MemoryRepository
from holdfast.memory.private import MemoryGate
from holdfast.memory.service import MemoryService
from holdfast.messages import BoundScope, ChatRequest, Chunk, Message, Scope, Usage
from holdfast.protocols.wire import check_request
from holdfast.recall import recall_over
from holdfast.research.finding import Finding
from holdfast.research.library import Research
from holdfast.store import Store
from holdfast.store.values import ConversationRecord, MessageRecord
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.queue import Queue, QueueSlot
from holdfast.upstreams.routing import Upstreams
from holdfast.upstreams.windows import was_loaded
from holdfast.window.presets import Preset, preset_named

log = logging.getLogger("holdfast.turn")

# Seconds between two looks for answers whose process died while writing them.
RECOVER_EVERY = 5.0
# Seconds after which an open job counts as abandoned: the process that ran it has died.
ABANDONED = 6 * 3600.0
# The fields of the report that are published when the turn ends.
_EVENT_FIELDS = (
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
    """A request as an endpoint passes it in: what is asked, in whose name, and what the client says about it.

    `continues` names a conversation whose history the client leaves to us. `context` are texts for the
    question, `research` names a finding for it, and `files` says where the files that it names may be read.
    Without `memory`, nothing is recalled in the conversation and nothing in it is remembered.
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
class Turn:
    """A request under way. The model is asked when the first chunk is read.

    `off`: the conversation is switched off, so the request is relayed unchanged and nothing is recorded.
    """

    model: str
    chunks: AsyncGenerator[Chunk, None]
    conversation: str | None = None
    # The job under which the answer is stored, by which a client may name it later; empty if it is not.
    job: str = ""
    off: bool = False
    # The report of the window, from the first chunk on.
    report: Mapping[str, Any] = field(default_factory=dict)


class Cancellation:
    """Lets another task stop one stream: its chunks are read with `next`, and `cancel` interrupts that."""

    def __init__(self) -> None:
        self.error: HoldfastError | None = None
        # The task that waits for the next chunk; several tasks may read one stream, one after the other.
        self._waiting: asyncio.Task[object] | None = None

    def cancel(self, error: HoldfastError) -> None:
        if self.error is None:
            self.error = error
            if self._waiting is not None:
                self._waiting.cancel()

    async def next(self, chunks: AsyncGenerator[Chunk, None]) -> Chunk | None:
        """Returns the next chunk, None at the end; raises the error of `cancel`."""
        self._raise_error()
        task = self._waiting = asyncio.current_task()
        try:
            return await anext(chunks, None)
        except asyncio.CancelledError:
            # `cancel` cancelled the task only to wake it; if nobody else did, it goes on with the error.
            if self.error is not None and task is not None and not task.uncancel():
                raise self.error from None
            raise
        finally:
            self._waiting = None

    def _raise_error(self) -> None:
        if self.error is not None:
            raise self.error


@dataclass(slots=True)
class _Run:
    """The state of one recorded turn, from the question to the end of the answer."""

    ask: Ask
    hints: Hints
    question: RecordedQuestion
    attachments: Attachments
    recorder: Recorder
    progress: TurnProgress
    turn: Turn = field(init=False)
    cancellation: Cancellation = field(default_factory=Cancellation)
    # The server whose queue has let this request through, and the slot in its queue.
    provider: Provider | None = None
    slot: QueueSlot | None = None
    # Whether the client has got a part of the answer: there are no retries after that.
    began: bool = False


class TurnEngine:
    """Answers requests; one per process, shared by all endpoints.

    Each server answers up to `parallel` requests at a time, or what `parallel_at` has for its name; 0 means
    no limit. `gate` decides which servers may be sent memories.
    """

    def __init__(
        self,
        store: Store,
        upstreams: Upstreams,
        models: ModelRegistry,
        preset: Preset | None = None,
        *,
        memories: MemoryRepository | None = None,
        remembering: MemoryService | None = None,
        research: Research | None = None,
        gate: MemoryGate = MemoryGate(),  # noqa: B008 - frozen
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
        self.locks = ConversationLocks(store.flush)
        self._runs: dict[str, _Run] = {}
        self._recovering: asyncio.Task[None] | None = None
        options = options or SummaryOptions()
        preset, prompts = preset or preset_named("balanced"), prompts or PromptTemplates()
        memory = remembering if options.memory else None
        may_read_memory = gate.allows if options.memory else _never
        self.compaction = CompactionService(
            store,
            models,
            upstreams,
            preset,
            Compactor(prompts),
            locks=self.locks,
            events=self.events,
            options=options,
            may_read_memory=may_read_memory,
        )
        library = memories or (remembering.library if remembering else None)
        projector = Projector(store, library) if library else None
        self.background = BackgroundJobs(
            store, self.compaction, projector, options.pause, remembering, research
        )
        if options.titles:
            self.background.titles = TitleWriter(
                store, self.compaction.helpers, upstreams, prompts, self.events
            )
        self._questions = QuestionRecorder(store, memory=options.memory)
        self._findings: FindingAttacher | None = None
        if research:
            summariser = FindingSummariser(research, self.compaction.helpers, prompts, self.events)
            self._findings = FindingAttacher(research, summariser)
        self._recall = RecallService(store, recall_over(store, memory, partial(live_notes, research)), memory)
        context = (self.locks, self.compaction, self._recall, self.background.notices)
        self.fitter = Fitter(store, models, preset, *context, may_read_memory, self._findings)
        if remembering is not None:
            remembering.followers.append(self.publish_memory_change)

    async def turn(self, ask: Ask) -> Turn:
        """Records the question and returns its turn; the model is asked when the first chunk is read."""
        hints = read_hints(ask.headers, ask.request)
        check_request(ask.request, continues=bool(ask.continues or hints.explicit or hints.previous))
        context, request = split_context(ask.request)
        ask = replace(ask, request=request, context=(*ask.context, *context))
        # Before anything is stored: a finding that does not exist is the client's error.
        finding = await self._load_finding(ask.scope, ask.research or hints.research)
        question = await self._questions.record(ask, hints)
        if question is None:
            # The conversation is switched off.
            return Turn(request.model, self.relay_unrecorded(request, ask.scope.user), off=True)
        finding = finding or await self._load_finding(ask.scope, question.research, missing_ok=True)
        # Files are read before the request takes a slot that others wait for.
        files = await read_named_files(request, ask.files) if ask.files else ()
        attachments = Attachments(ask.context, ask.files, finding, files)
        return self._start(ask, hints, question, attachments)

    def _start(self, ask: Ask, hints: Hints, question: RecordedQuestion, attachments: Attachments) -> Turn:
        conversation, model = question.conversation.id if question.conversation else None, ask.request.model
        recorder = Recorder(
            self.store,
            job=question.job,
            model=model,
            conversation=conversation,
            parent=question.parent,
            on_saved=partial(self._questions.note_answer, ask, question),
        )
        about = {
            "job": question.job,
            "conversation": conversation,
            "kind": question.placement.kind,
            "model": model,
        }
        progress = TurnProgress(self.events, ask.scope, about)
        run = _Run(ask, hints, question, attachments, recorder, progress)
        run.turn = Turn(model, self._answer(run), conversation, question.job)
        return run.turn

    async def _answer(self, run: _Run) -> AsyncGenerator[Chunk, None]:
        """Relays the answer and records it; `cancel` and `close` know the run as long as this lasts."""
        # Stays for an exception that is not expected here, whose text is not for clients.
        error: BaseException | None = HoldfastError(lazy("something went wrong inside Holdfast"))
        self._runs[run.question.job] = run
        try:
            with self.background.pause():
                async with run.recorder, aclosing(self._ask(run)) as chunks:
                    while (chunk := await run.cancellation.next(chunks)) is not None:
                        await run.recorder.add(chunk)
                        run.progress.note_chunk(chunk)
                        yield chunk
            if run.question.placement.kind == "side":
                self._questions.note_side_answer(run.ask, run.hints, run.question, run.recorder.answer)
            error = None
        except (HoldfastError, GeneratorExit, asyncio.CancelledError) as caught:
            error = caught
            raise
        finally:
            del self._runs[run.question.job]
            self._finish(run, error)

    async def _ask(self, run: _Run) -> AsyncGenerator[Chunk, None]:
        """Yields the answer of the first server that gives one.

        All retries are here, and none once the client has got a part of the answer (but see the last):

        - the server is unavailable (`ProviderError`): the next server, with a queue and a window of its own;
        - the request was too long for it (`Overflow`): once per server with a smaller window;
        - the model thought until its limit and said nothing: the same request without thinking. The client
          may have got the thinking by then, but no text.
        """
        model = run.ask.request.model
        tried = [await self.upstreams.route(model)]
        outgoing: OutgoingRequest | None = None
        refitted = False
        try:
            while True:
                provider = tried[-1]
                try:
                    if outgoing is None:
                        await self._wait_in_queue(run, provider)
                        outgoing = await self._fit(run, provider)
                    relay = _Relay(self.models, self.fitter, run, outgoing)
                    async with relay, aclosing(provider.chat(outgoing.request)) as chunks:
                        async for chunk in chunks:
                            if chunk.usage is not None:
                                await relay.check_usage(chunk.usage)
                            for ready in relay.take(chunk):
                                yield ready
                            if relay.only_thought:
                                break
                    for ready in relay.release():
                        yield ready
                    if not relay.only_thought:
                        return
                    outgoing = replace(outgoing, request=replace(outgoing.request, think=False))
                except Overflow as error:
                    if run.began or refitted or outgoing is None:
                        raise
                    refitted = True
                    log.warning("%s refused a request that should have fitted: %s", provider.location, error)
                    run.progress.report_overflow()
                    await self.fitter.note_refusal(outgoing, provider, error)
                    outgoing = None
                except ProviderError as error:
                    if run.began:
                        raise
                    tried.append(await self.upstreams.next_provider(error, tried, model))
                    outgoing, refitted = None, False
        finally:
            if run.slot is not None:
                run.slot.leave()

    async def _wait_in_queue(self, run: _Run, provider: Provider) -> None:
        """Takes a slot in the server's queue and waits until it may run; a retry there keeps its slot."""
        if run.provider is provider:
            return
        if run.slot is not None:
            run.slot.leave()
        run.recorder.upstream = provider.location
        slot = run.slot = self.queue.enter(provider.location, run.ask.scope.user)
        if not slot.served:
            await self.store.run(self.store.jobs.mark_queued, run.question.job, provider.location)
            # Published after it is stored, so that who looks finds it; the slot may be free by now.
            if not slot.served:
                run.progress.report_queued(provider.location, slot.position)
            await slot.wait()
            await self.store.run(self.store.jobs.mark_running, run.question.job)
        run.progress.report_running(provider.location)
        run.provider = provider

    async def _fit(self, run: _Run, provider: Provider) -> OutgoingRequest:
        """Loads the conversation and makes the request that fits the server's window."""
        outgoing = await self.fitter.fit(run.ask.request, run.question, provider, run.attachments)
        run.turn.report, run.recorder.window = outgoing.report, outgoing.window
        return outgoing

    def _finish(self, run: _Run, error: BaseException | None) -> None:
        """Publishes how the turn ended, and leaves the rest to the background."""
        report = run.turn.report
        if run.turn.conversation is not None and report:
            window = {name: report[name] for name in _EVENT_FIELDS}
            window["prefix"] = "kept" if report["prefix"]["kept"] else report["prefix"]["cause"]
            self.events.publish("window", window, run.ask.scope)
        answer = run.recorder.answer
        run.progress.finish(error, answered=bool(answer.parts))
        self.background.after_answer(run.turn.conversation, near=self.compaction.may_be_due(report, answer))
        finding = run.attachments.finding
        if self._findings is not None and finding is not None and run.provider is not None:
            work = self._findings.summariser.job_for(finding, run.ask.request.model, run.provider)
            self.background.after_finding(finding.id, work)

    async def _load_finding(self, scope: Scope, name: str, *, missing_ok: bool = False) -> Finding | None:
        """Returns the finding of this name; None without a name or without research."""
        return await self._findings.load(scope, name, missing_ok=missing_ok) if self._findings else None

    async def relay_unrecorded(
        self, request: ChatRequest, user: str, provider: Provider | None = None
    ) -> AsyncGenerator[Chunk, None]:
        """Yields the answer to a request that is sent unchanged, queued like others, and not recorded."""
        tried = [provider or await self.upstreams.route(request.model)]
        began = False
        while True:
            try:
                with self.enter_queue(tried[-1], user) as slot:
                    await slot.wait()
                    async with aclosing(tried[-1].chat(request)) as chunks:
                        async for chunk in chunks:
                            began = True
                            yield chunk
            except ProviderError as error:
                if began:
                    raise
                tried.append(await self.upstreams.next_provider(error, tried, request.model))
            else:
                return

    @contextmanager
    def enter_queue(self, provider: Provider, user: str) -> Iterator[QueueSlot]:
        """Takes a slot in a server's queue for a request that is no turn; call `wait` before sending."""
        with self.background.pause(), self.queue.enter(provider.location, user) as slot:
            yield slot

    def cancel(self, job: str) -> bool:
        """Cancels a job that waits or runs in this process; False if there is none."""
        run = self._runs.get(job)
        if run is not None:
            run.cancellation.cancel(
                BadRequest(lazy("this request was cancelled"), hint=lazy("Ask again if that was a mistake."))
            )
        return run is not None

    def position(self, job: str) -> int | None:
        """Returns the job's place in its queue, 1 for the next; None if it does not wait."""
        run = self._runs.get(job)
        return (run.slot.position or None) if run is not None and run.slot is not None else None

    def publish_memory_change(self, memories: Sequence[Memory], change: str) -> None:
        """Publishes a change of memories to their scope, and to the conversation they were taken from."""
        for memory in memories:
            data = {"change": change, "id": memory.id, "kind": memory.kind, "text": memory.text}
            if memory.may_replace:
                data["may_replace"] = memory.may_replace
            self.events.publish("memory", data, memory.scope)
            source = memory.sources[-1] if memory.sources else None
            scope = self._scope_of(source.conversation) if source else None
            if source is not None and scope is not None:
                origin: dict[str, Any] = {
                    "conversation": source.conversation,
                    "messages": list(source.messages),
                }
                if change == "forgotten":
                    # With it whoever took it back can undo that.
                    origin["memory"] = memory.to_json()
                self.events.publish("kept", {**data, **origin}, scope)

    def _scope_of(self, conversation: str) -> Scope | None:
        """Returns the scope of a conversation, which may differ from that of a memory taken from it."""
        try:
            return self.store.log.get(conversation).scope
        except HoldfastError:
            return None

    def _capacity(self, location: str) -> int:
        return self._parallel_at.get(self.upstreams.find_label(location), self._parallel)

    async def start(self) -> None:
        """Closes jobs and recovers answers that a dead process left open, and starts background work."""
        if self.store.opened_alone:
            # Nobody else works on anything here, whatever it looks like.
            await self.store.run(self.store.drafts.recover, stale_after=0.0)
        left = 0.0 if self.store.opened_alone else ABANDONED
        await self.store.run(self.store.jobs.abandon, time.time() - left)
        self._recovering = asyncio.create_task(self._recover())
        self.background.start()

    async def _recover(self) -> None:
        while True:
            try:
                await self.store.run(self.store.drafts.recover)
            except StoreError as error:
                log.warning("unfinished answers could not be recovered: %s", error)
            await asyncio.sleep(RECOVER_EVERY)

    def prepare_stop(self) -> None:
        """Ends waiting requests and event streams before the server shuts down; running turns finish."""
        self.queue.close()
        self.events.close()

    async def close(self) -> None:
        """Stops all work; answers under way are stored as far as they came."""
        if self._recovering is not None:
            self._recovering.cancel()
        self.queue.close()
        for run in list(self._runs.values()):
            await run.recorder.stop()
        await self.store.flush()
        await self.background.close()
        self.events.close()
        await self.models.aclose()
        await self.upstreams.aclose()
        self._recall.close()
        if self.remembering is not None:
            await asyncio.to_thread(self.remembering.close)
        self.store.close()


def _never(_: str) -> bool:
    return False


class _Relay:
    """Checks the chunks of one server's answer on their way to the client.

    A server may have cut the request silently, and a model may think until its limit and say nothing. If the
    client wants no stream, the chunks are held back until the end, so that `_ask` can still retry.
    """

    def __init__(self, models: ModelRegistry, fitter: Fitter, run: _Run, outgoing: OutgoingRequest) -> None:
        assert run.provider is not None
        self._models, self._fitter, self._run, self._outgoing = models, fitter, run, outgoing
        self._provider = run.provider
        self._watch = models.watch(run.provider, outgoing.request, outgoing.window, outgoing.expected)
        self._ready: list[Chunk] = []
        self._said = self._thought = False
        self.only_thought = False

    async def check_usage(self, usage: Usage) -> None:
        """Looks at what the server counted; raises Overflow if the request was cut and can be sent again."""
        request = self._outgoing.request
        try:
            await self._watch.see(usage)
        except Overflow as cut:
            if not self._run.began:
                raise
            # Too late for a retry: the client has part of the answer. The next request will be smaller.
            log.warning("%s", cut)
            self._models.look_again(self._provider, request.model)
            await self._fitter.note_refusal(self._outgoing, self._provider, cut)
            if request.format is None:
                self._ready.append(Chunk(text=f"\n\n{_cut_notice()}"))
        if was_loaded(usage):
            # The server has just loaded the model, perhaps with another window.
            self._models.look_again(self._provider, request.model)

    def take(self, chunk: Chunk) -> Sequence[Chunk]:
        """Returns the chunks to yield now."""
        request = self._outgoing.request
        self._said = self._said or bool(chunk.text)
        self._thought = self._thought or bool(chunk.thinking)
        stopped = chunk.finish == "length" and request.think is not False
        if stopped and self._thought and not self._said:
            log.warning("%s thought until its limit; it is asked to answer without", request.model)
            self.only_thought = True
            if request.format is None:
                # A notice in front would break JSON.
                self._ready.append(Chunk(text=_thought_notice()))
        else:
            self._ready.append(chunk)
        return self.release() if request.stream else ()

    def release(self) -> Sequence[Chunk]:
        """Returns the chunks that were held back; from here on the client has part of the answer."""
        ready, self._ready = self._ready, []
        self._run.began = self._run.began or bool(ready)
        return ready

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Overflow):
            self._models.look_again(self._provider, self._outgoing.request.model)
        self._watch.close()


def _thought_notice() -> str:
    notice = _("the model thought until its limit; this answer is without thinking")
    return f"{banner(notice)}\n\n"


def _cut_notice() -> str:
    return banner(_("the model server read only part of this conversation; the next request will be smaller"))


class QuestionRecorder:
    """Finds the conversation of each request and appends its new messages, before the model is asked.

    Without `memory`, requests to remember something are not noted.
    """

    def __init__(self, store: Store, *, memory: bool = True) -> None:
        self._store = store
        self._memory = memory
        self._side_requests = SideRequestCache()
        self._recent = RecentConversationCache()

    async def record(self, ask: Ask, hints: Hints) -> RecordedQuestion | None:
        """Records a request, of a side request only its job; None if the conversation is switched off.

        Most requests continue a conversation that was just answered, which a cache in this process knows; all
        others are looked up in the log.
        """
        run, store = self._store.run, self._store
        placement = None
        if ask.continues is None:
            placement = locate_in_cache(ask.scope, ask.request, hints, self._side_requests, self._recent)
        if placement is not None:
            try:
                return await run(store.atomically, self._append_from_cache, ask, placement)
            except (Conflict, NotFound):
                # The cache is stale: the conversation went on elsewhere, is gone, or has a twin.
                self._recent.forget(placement.conversation or "")
        try:
            placement = await run(store.read_snapshot, self._locate, ask, hints)
            return await run(store.atomically, self._append, ask, placement)
        except Conflict:
            # The conversation went on between the two: once more, in one transaction.
            return await run(store.atomically, lambda: self._append(ask, self._locate(ask, hints)))

    def note_answer(self, ask: Ask, question: RecordedQuestion, answer: MessageRecord | None) -> None:
        """Caches the conversation with the stored answer, so that the next request finds it at once."""
        row, path = question.conversation, stored_path(ask.request, question)
        if row is not None and path:
            messages = (*path, answer) if answer else path
            recent = RecentConversation(row.id, row.client, row.external_id, messages)
            self._recent.add(ask.scope, recent)

    def note_side_answer(self, ask: Ask, hints: Hints, question: RecordedQuestion, answer: Message) -> None:
        """Caches a side request with its answer for a while: the client may come back with it."""
        side, beside = question.placement.side, question.placement.beside
        self._side_requests.add(ask.scope, side, answer, sender=hints.sender, conversation=beside)

    def _append_from_cache(self, ask: Ask, placement: Placement) -> RecordedQuestion | None:
        if self._store.database.on_server and self._has_twin(ask.scope, placement):
            raise Conflict(
                lazy("Another conversation has the same history."), hint=lazy("See which one is meant.")
            )
        return self._append(ask, placement)

    def _has_twin(self, scope: Scope, placement: Placement) -> bool:
        """Whether another process on this database has a conversation with the same history."""
        path = [stored for stored in placement.matched if stored is not None]
        if not path or path[-1].message.role != "assistant":
            return False
        ends = {stored.anchor for stored in (path[0], path[-1]) if stored.anchor}
        anchors: dict[str, set[str]] = {}
        for hit in self._store.log.find_anchors(scope, sorted(ends)):
            anchors.setdefault(hit.tree, set()).add(hit.anchor)
        return any(both == ends for tree, both in anchors.items() if tree != path[0].tree)

    def _locate(self, ask: Ask, hints: Hints) -> Placement:
        if ask.continues is not None:
            return locate_at_end(self._store, ask.scope, ask.request, ask.continues)
        return locate(self._store, ask.scope, ask.request, hints, self._side_requests)

    def _append(self, ask: Ask, placement: Placement) -> RecordedQuestion | None:
        """Stores conversation, new messages, prompt and job; to be called in one transaction."""
        store, request = self._store, ask.request
        if placement.kind == "side":
            job = store.jobs.start(ask.scope, kind="side", model=request.model)
            return RecordedQuestion(job.id, placement)
        row = store.log.lock(placement.conversation) if placement.conversation else None
        if row is not None and row.off:
            return None
        row, appended = self._append_messages(ask, placement, row)
        parent = appended[-1].id if appended else placement.parent
        if appended:
            note_sentences(store, appended)
            if self._memory and row.memory:
                enqueue_memory_requests(store, row, appended)
        elif parent != placement.head:
            # The client wants another answer to an old question: the conversation ends there until it comes.
            row = store.log.set_head(row.id, parent, expect=placement.head)
        elif row.head != placement.head:
            raise Conflict(
                lazy("Conversation {id} moved on.", id=row.id), hint=lazy("Read it again and repeat.")
            )
        research = row.settings.get(RESEARCH_SETTING, "") if appended else ""
        if research:
            row = store.log.update_settings(row.id, {RESEARCH_SETTING: None})
        system = [message for message in request.messages if message.role == "system"]
        prompt = store.prompts.keep(system, request.tools)
        job = store.jobs.start(
            ask.scope, kind="main", model=request.model, conversation=row.id, prompt=prompt
        )
        # An empty draft, so that after a crash the log shows that an answer was wanted.
        store.drafts.save(job.id, row.id, parent, Message("assistant", ()), request.model)
        return RecordedQuestion(job.id, placement, row, parent, tuple(appended), prompt, research)

    def _append_messages(
        self, ask: Ask, placement: Placement, row: ConversationRecord | None
    ) -> tuple[ConversationRecord, list[MessageRecord]]:
        log = self._store.log
        limits: dict[str, bool] = {} if ask.memory else {"memory": False}
        if isinstance(ask.scope, BoundScope):
            limits["bound"] = True
        if row is None:
            return log.begin(
                ask.scope,
                placement.new,
                title=title_of(placement.messages),
                client=placement.client,
                external_id=placement.external_id,
                settings=limits,
            )
        if any(row.settings.get(name) != value for name, value in limits.items()):
            row = log.update_settings(row.id, limits)
        if not placement.new:
            return row, []
        tip = next((at for at in placement.matched if at and at.id == placement.parent), placement.parent)
        return log.extend(row, placement.new, parent=tip, expect=placement.head)
