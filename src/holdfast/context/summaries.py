"""Summarises conversations: when it is due, which model is asked, and what is recorded of it."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.compaction.compactor import (
    CompactionRecord,
    CompactionTask,
    Compactor,
    SummaryBody,
    enqueue_memories,
    extract_memories,
)
from holdfast.compaction.summariser import SummaryModel
from holdfast.context.loading import (
    ConversationLocks,
    FitRequest,
    LoadedLane,
    MayReadMemory,
    RestingConversation,
    RestingConversations,
    item_of,
    may_always_read,
)
from holdfast.context.outcome import SUMMARY, outcome_of
from holdfast.conversations import Recorder
from holdfast.errors import BadRequest, Conflict, HoldfastError, ModelMissing, ProviderError, StoreError
from holdfast.events import Events, TurnProgress
from holdfast.i18n import gettext as _
from holdfast.messages import ChatRequest, Chunk, Message, Scope
from holdfast.store import Store, new_id
from holdfast.store.values import ConversationRecord, MessageRecord, SummaryRecord
from holdfast.tokens.counter import EstimatingCounter
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import LabelledProvider, Upstreams
from holdfast.upstreams.windows import has_fixed_window
from holdfast.window.decisions import Proposal
from holdfast.window.fit import STRATEGIES, Batch, FittedWindow
from holdfast.window.presets import Preset
from holdfast.window.summarise import (
    FRUITLESS,
    LEAST_SAVED,
    Border,
    Cooldown,
    SummaryAttempts,
    border,
    clear_quotes,
    is_due,
    may_try,
    propose_summary,
    room_for_text,
    talk,
)
from holdfast.window.view import View


@dataclass(frozen=True, slots=True)
class CallLog:
    store: Store
    events: Events

    def over(self, provider: Provider, scope: Scope, window: int | None = None) -> Provider:
        """The same server; chats with it are written down as background work of this scope."""
        return _LoggedProvider(self, provider, scope, window)


class _LoggedProvider(LabelledProvider):
    def __init__(self, log: CallLog, provider: Provider, scope: Scope, window: int | None) -> None:
        super().__init__(provider)
        self._log = log
        self._scope = scope
        self._window = window

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        store, model = self._log.store, request.model
        job = await store.run(lambda: store.jobs.start(self._scope, kind="background", model=model))
        recorder = Recorder(store, job=job.id, model=model, conversation=None, parent=None)
        recorder.upstream, recorder.window = self.location, self._window
        about = {"job": job.id, "conversation": None, "kind": "background", "model": model}
        progress = TurnProgress(self._log.events, self._scope, about)
        progress.report_running(self.location)
        trouble: BaseException | None = None
        try:
            async with recorder, aclosing(self.provider.chat(request)) as chunks:
                async for chunk in chunks:
                    await recorder.add(chunk)
                    progress.note_chunk(chunk)
                    yield chunk
        except (HoldfastError, GeneratorExit, asyncio.CancelledError) as error:
            trouble = error
            raise
        finally:
            progress.finish(trouble, answered=bool(recorder.answer.parts))


logger = logging.getLogger("holdfast.compaction")

# A model that was of no use this often in a row is not asked for so many seconds.
_USELESS, _REST = 2, 600.0


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """What a person may set. `helper` is a model for this work, by default the one that is talked to."""

    helper: str = ""
    # Whether anything is remembered beyond a conversation, and whether memories are taken from what is said.
    memory: bool = True
    flush: bool = True
    # Whether conversations of the chat page get a title from the model.
    titles: bool = True
    # How long a model may be silent.
    stall: float = 120.0
    # Seconds of quiet before a model is asked: a server with one slot forgets the chat it has just read.
    pause: float = 5.0


class SummaryModels:
    def __init__(
        self,
        models: ModelRegistry,
        upstreams: Upstreams,
        preset: Preset,
        options: SummaryOptions,
        clock: Callable[[], float],
        log: CallLog | None = None,
    ) -> None:
        self._models = models
        self._upstreams = upstreams
        self._preset = preset
        self._options = options
        self._clock = clock
        self._log = log
        # How often in a row a model was of no use, and when it may be asked again.
        self._useless: dict[tuple[str, str], tuple[int, float]] = {}

    async def choose(
        self,
        model: str,
        provider: Provider,
        scope: Scope = Scope(),  # noqa: B008 - frozen
    ) -> SummaryModel | None:
        """The model to ask where `model` is talked to at `provider`, None while the one there is rests.

        What it is asked is written down as work for this scope.
        """
        try:
            return await self._choose(model, provider, scope)
        except (ProviderError, ModelMissing) as error:
            logger.warning("no model helps with summaries: %s", error)
            return None

    async def _choose(self, talked_to: str, provider: Provider, scope: Scope) -> SummaryModel | None:
        model = self._options.helper or talked_to
        if model != talked_to:
            provider = await self._upstreams.route(model)
        count, until = self._useless.get((provider.location, model), (0, 0.0))
        if count >= _USELESS and self._clock() < until:
            return None
        windows = await self._models.settle_windows(provider, model)
        window = windows.used.tokens
        return SummaryModel(
            self._log.over(provider, scope, window) if self._log else provider,
            model,
            self._preset.budget(window, thinks=windows.thinks),
            thinks=windows.thinks,
            sets_window=not has_fixed_window(provider),
            stall=self._options.stall,
        )

    def judge(self, helper: SummaryModel, *, useful: bool, why: str = "") -> None:
        """Remembers whether the model was of use."""
        key = helper.provider.location, helper.name
        if useful:
            self._useless.pop(key, None)
            return
        logger.warning("%s wrote no usable summary: %s", helper.name, why or "no reason")
        count, _ = self._useless.get(key, (0, 0.0))
        self._useless[key] = count + 1, self._clock() + _REST


# How a summary was made that was only written because the end had come.
_IN_PASSING = "in passing"
# A span shorter than so many summaries is not worth a model's time.
_SHORT = 2


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary that is there, new or from before; `record` is what is still to be kept of it."""

    id: str
    depth: int
    body: SummaryBody
    tokens: int
    record: CompactionRecord | None = None


@dataclass(frozen=True, slots=True)
class SummarySpan:
    """What is to be summarised: all after the latest summary, up to a message."""

    conversation: ConversationRecord
    latest: SummaryRecord | None
    through: str
    target: int
    count: Callable[[str], int]


class SummaryBuilder:
    def __init__(
        self, store: Store, compactor: Compactor, helpers: SummaryModels, options: SummaryOptions
    ) -> None:
        self._store = store
        self._compactor = compactor
        self._helpers = helpers
        self._options = options

    async def build(
        self, span: SummarySpan, case: FitRequest | None, tell: Callable[[float], None] = lambda _: None
    ) -> WrittenSummary:
        """A new summary. Without a case no model is asked."""
        latest, row = span.latest, span.conversation
        messages = await self._store.run(
            self._store.log.part, span.through, below=latest.depth if latest else -1
        )
        tokens = await asyncio.to_thread(
            lambda: sum(span.count(_words(stored.message)) for stored in messages)
        )
        wanted = case if tokens > _SHORT * span.target else None
        helper = (
            await self._helpers.choose(wanted.request.model, wanted.provider, row.scope) if wanted else None
        )
        tell(0.0)
        before, again = await self._store.run(self._load_latest, latest) if helper else (latest, [])
        task = CompactionTask(
            tuple(item_of(stored) for stored in messages),
            SummaryBody.from_json(before.body) if before else None,
            span.target,
            span.count,
            flush=self._options.flush and row.memory,
            again=tuple(item_of(stored) for stored in again),
            ledger=SummaryBody.from_json(latest.body).ledger if latest else None,
        )
        summary = await self._compactor.compact(task, helper, tell)
        if helper is not None:
            self._helpers.judge(
                helper, useful=summary.method != "extractive", why=", ".join(summary.problems)
            )
        if case is None:
            summary = replace(summary, method=_IN_PASSING)
        record = CompactionRecord(
            new_id("s"),
            row,
            latest.id if latest else None,
            tuple(messages),
            summary,
            tokens,
            writes_notes=self._options.memory and row.memory,
        )
        return WrittenSummary(record.id, messages[-1].depth, summary.body, tokens, record)

    def _load_latest(self, latest: SummaryRecord | None) -> tuple[SummaryRecord | None, list[MessageRecord]]:
        """The last summary somebody took time for, and what was said since: a model reads that once more."""
        before = latest
        while before is not None and before.path == _IN_PASSING:
            before = self._store.summaries.get(before.previous) if before.previous else None
        if latest is None or before is latest:
            return latest, []
        return before, self._store.log.part(latest.through, below=before.depth if before else -1)


def _words(message: Message) -> str:
    return " ".join((message.text, *(call.arguments for call in message.tool_calls)))


log = logging.getLogger("holdfast.compaction")

# Nobody else works on the conversation while this lasts; it is renewed as long as the work goes on.
_LEASE = 30.0
# With fewer messages there is nothing to look back at.
_EXCHANGE = 2
# So many characters are read and summed up, without a model, in about a second.
_SOON = 400_000
# So many messages are read again for memories where it is not known how far they were.
_RECENT = 400
# So many messages before those may be what they correct.
_BEFORE = 8

Phase = Literal["started", "working", "done", "failed"]


# When, at which depth, how much was said then, and how often in vain since: as lanes keep it.
Attempt = tuple[float, int, int, int]


@dataclass(frozen=True, slots=True)
class Inline:
    """What came of summarising at once: the window, a summary that is to be kept, and how it went."""

    fitted: FittedWindow
    record: CompactionRecord | None
    tried: Attempt


class CompactionService:
    def __init__(
        self,
        store: Store,
        models: ModelRegistry,
        upstreams: Upstreams,
        preset: Preset,
        compactor: Compactor,
        *,
        locks: ConversationLocks,
        events: Events,
        options: SummaryOptions = SummaryOptions(),  # noqa: B008 - frozen
        may_read_memory: MayReadMemory = may_always_read,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._preset = preset
        self._locks = locks
        self._events = events
        self._clock = clock
        self._cooldown = Cooldown(preset.cooldown_seconds, preset.cooldown_messages)
        self._places = RestingConversations(store, models, upstreams, preset, may_read_memory)
        self._log = CallLog(store, events)
        self.helpers = SummaryModels(models, upstreams, preset, options, clock, self._log)
        self._compactor = compactor
        self._options = options
        self._summing = SummaryBuilder(store, compactor, self.helpers, options)
        # The last message of each conversation that was read for memories since its last summary.
        self._read_through: dict[str, MessageRecord] = {}

    def may_be_due(self, report: Mapping[str, Any], answer: Message) -> bool:
        """Whether it is worth looking: with nothing shortened and much room, nothing is due."""
        if not report or report["level"]:
            return True
        share = self._preset.levels.ahead or 0.0
        # No text has more tokens than bytes.
        return bool(report["at_most"] + len(answer.encode()) >= share * report["room"])

    async def compact_ahead(self, conversation: str) -> bool:
        """Summarises if it is time to, while nobody waits; whether the window changed."""
        place = await self._places.of(conversation)
        if place is None or not is_due(place.view, place.left) or not self._may(place):
            return False
        return await self._compact(place, "ahead of need") is not None

    async def compact(self, conversation: str) -> Batch:
        """Summarises because somebody asked for it, however much room there is."""
        place = await self._places.of(conversation)
        if place is None:
            raise BadRequest(
                _("nothing of this conversation was sent to a model yet"),
                hint=_("Ask something in it first."),
            )
        batch = await self._compact(replace(place, fills=False), "somebody asked for it")
        if batch is None:
            raise BadRequest(
                _("there is nothing to summarise: the last two exchanges always stay"),
                hint=_("Go on talking, or look at the window: holdfast window ID."),
            )
        return batch

    async def inline(
        self, case: FitRequest, loaded: LoadedLane, fitted: FittedWindow, *, in_loop: bool = False
    ) -> Inline | None:
        """The window of a request that is nearly full, with a summary in it; None if none was to be had.

        The caller has the conversation's turn, and keeps what comes of it with its own decisions. With
        `in_loop`, rounds of tools have to leave now, however soon after the last summary.
        """
        place = RestingConversation(case, loaded, fitted.view)
        if not in_loop and not self._may(place):
            return None
        try:
            async with self._alone(place.conversation):
                border = _border(place)
                if border is None:
                    return Inline(fitted, None, _fruitless(place))
                # Nobody is kept waiting for a model where there is one ahead of need: it reads this later.
                ask = self._preset.levels.ahead is None
                written = await self._find_or_write(place, border, ask=ask)
                proposals = self._propose(place, written, "history was nearly full")
                if not proposals:
                    return Inline(fitted, written.record, _fruitless(place))
                batch, after = _batch(proposals), fitted.view.having(*proposals)
                self._tell(place.conversation, "done", 1.0, batch)
                shorter = replace(fitted, view=after, batches=(*fitted.batches, batch))
                return Inline(shorter, written.record, self._note_success(place, after))
        except HoldfastError as error:
            self._note_failure(place, str(error))
            return None

    async def warm(self, conversation: str) -> None:
        """Has the server read the window as it is now, so that the next question need not wait for that."""
        place = await self._places.of(conversation)
        if place is None:
            return
        case = place.case
        # Ollama takes 0 for no limit at all.
        options = {"max_tokens": 0 if "prefill" in case.provider.abilities else 1}
        if not has_fixed_window(case.provider):
            options["num_ctx"] = case.budget.window
        request = case.request.with_messages(place.view.messages).with_options(**options)
        try:
            provider = self._log.over(case.provider, place.conversation.scope, case.budget.window)
            async with aclosing(provider.chat(request)) as chunks:
                async for _ in chunks:
                    pass
        except ProviderError as error:
            log.info("%s could not be read ahead: %s", conversation, error)

    async def remember(self, conversation: str) -> None:
        """Writes down what is worth remembering of the last messages, without a model.

        So other chats know it at once; a summary, and what a model adds, come when the conversation rests.
        """
        if self._options.memory and self._options.flush:
            # One piece of work in one thread: whoever interrupts it loses nothing of it.
            await asyncio.to_thread(self._remember, conversation)

    def _remember(self, conversation: str) -> None:
        store, last = self._store, self._read_through.get(conversation)
        row, before, messages = store.read_snapshot(self._load_unread, conversation, last)
        if messages:
            memories, language = extract_memories(tuple(map(item_of, (*before, *messages))))
            unread = {message.id for message in messages}
            memories = tuple(memory for memory in memories if memory.messages[-1] in unread)
            if memories:
                at = messages[-1].created_at
                store.atomically(enqueue_memories, store, row, memories, at, language)
            self._read_through[conversation] = messages[-1]

    def _load_unread(
        self, conversation: str, last: MessageRecord | None
    ) -> tuple[ConversationRecord, list[MessageRecord], list[MessageRecord]]:
        """The messages behind the last one that was read, and a few before them, which they may correct.

        All since the last summary if it is not on this path, as after an edit. What is read twice is known by
        its message.
        """
        log, row = self._store.log, self._store.log.get(conversation)
        if row.head is None or not row.memory:
            return row, [], []
        depth = log.message(row.head).depth
        if last is not None and last.depth <= depth:
            count = depth - last.depth
            messages = log.tail(row.head, count + _BEFORE)
            before, new = messages[: len(messages) - count], messages[len(messages) - count :]
            if before[-1].id == last.id:
                return row, before, new
        latest = self._store.summaries.latest(row.head)
        new_depth = depth - (latest.depth if latest else -1)
        return row, [], log.tail(row.head, min(new_depth, _RECENT)) if new_depth > 0 else []

    async def at_rest(self, conversation: str, *, ask: bool = True) -> bool:
        """Memories and a summary of all that was said; the window stays as it is. Whether there was anything.

        Without `ask` no server is asked for anything, and what takes long is left for another time: somebody
        is waiting for the end.
        """
        store = self._store
        row = await store.run(store.log.get, conversation)
        lane = next(
            (row for row in await store.run(store.lanes.of, conversation) if row.report.get("model")), None
        )
        if row.head is None or lane is None:
            return False
        async with self._alone(row):
            latest = await store.run(store.summaries.latest, row.head)
            head = await store.run(store.log.message, row.head)
            new = head.depth - (latest.depth if latest else -1)
            if new < _EXCHANGE:
                return False
            if not ask and sum(size for *_, size in await store.run(store.log.sizes, row.head, new)) > _SOON:
                return False
            place = await self._reach(conversation) if ask else None
            counter = EstimatingCounter(lane.report["model"])
            count = place.case.count if place else lambda text: counter.count_text(text).high
            budget = self._preset.budget(lane.window)
            span = SummarySpan(row, latest, row.head, budget.summary // 2, count)
            written = await self._write(span, place.case if place else None)
            if written.record is not None:
                await store.run(store.atomically, written.record.save, store)
        self._read_through.pop(conversation, None)
        return True

    async def _reach(self, conversation: str) -> RestingConversation | None:
        """The place of a conversation; None while no model server answers: what was said is kept anyway."""
        try:
            return await self._places.of(conversation)
        except (ProviderError, ModelMissing) as error:
            log.info("%s is put at rest without a model: %s", conversation, error)
            return None

    async def _compact(self, place: RestingConversation, reason: str) -> Batch | None:
        try:
            async with self._alone(place.conversation):
                border = _border(place)
                if border is None:
                    await self._in_vain(place)
                    return None
                written = await self._find_or_write(place, border)
                return await self._apply(place, written, reason)
        except HoldfastError as error:
            self._note_failure(place, str(error))
            raise
        except asyncio.CancelledError:
            self._note_failure(place, _("another request came first"))
            raise

    async def _find_or_write(
        self, place: RestingConversation, border: Border, *, ask: bool = True
    ) -> WrittenSummary:
        """The summary up to a border: the one that reaches so far already, or a new one."""
        head = place.conversation.head
        assert head is not None
        latest = await self._store.run(self._store.summaries.latest, head)
        if latest is not None and latest.depth >= border.depth:
            return WrittenSummary(latest.id, latest.depth, SummaryBody.from_json(latest.body), latest.tokens)
        case = place.case
        span = SummarySpan(place.conversation, latest, border.through, case.budget.summary // 2, case.count)
        return await self._write(span, case if ask else None)

    async def _write(self, span: SummarySpan, case: FitRequest | None) -> WrittenSummary:
        def tell(share: float) -> None:
            self._tell(span.conversation, "working" if share else "started", share)

        return await self._summing.build(span, case, tell)

    async def _apply(self, before: RestingConversation, written: WrittenSummary, reason: str) -> Batch | None:
        """The decision, by what the window is now: others may have gone on talking meanwhile."""
        name = before.conversation.id
        async with self._locks.of(name):
            await self._locks.settle(name)
            place = await self._places.of(name)
            place = replace(place, fills=before.fills) if place else None
            proposals = self._propose(place, written, reason) if place else ()
            if place is None or not proposals:
                if written.record is not None:
                    await self._store.run(self._store.atomically, written.record.save, self._store)
                await self._in_vain(before)
                return None
            after = place.view.having(*proposals)
            batch = _batch(proposals)
            state = replace(place.loaded.lane.state, tried=self._note_success(place, after))
            outcome = outcome_of(place.loaded, FittedWindow(after, (batch,), dict(state.fired)), state, None)
            row = await self._store.run(self._store.lanes.get, outcome.lane.id)
            report = row.report if row else {}
            await self._store.run(
                self._store.atomically, outcome.keep, self._store, report, 0, written.record
            )
        self._tell(place.conversation, "done", 1.0, batch)
        return batch

    def _propose(
        self, place: RestingConversation, written: WrittenSummary, reason: str
    ) -> tuple[Proposal, ...]:
        """() where the window would not be smaller for it."""
        border = _border(place, written.depth)
        if border is None:
            return ()
        view, count = place.view, place.case.count
        room, current = room_for_text(view, border, max(written.tokens, place.left))
        text = written.body.text(count, room, current)
        proposals = (propose_summary(view, border, text, written.id, reason), *clear_quotes(view, border))
        # What was left out since the last summary is in this one too.
        before = view.total.high + place.left
        if view.having(*proposals).total.high > before * (1 - LEAST_SAVED):
            return ()
        return proposals

    def _note_success(self, place: RestingConversation, after: View) -> Attempt:
        return self._clock(), place.depth, talk(after), 0

    async def _in_vain(self, place: RestingConversation) -> None:
        """Remembered, so that what does not help is not tried on every turn."""
        lane = place.loaded.lane
        state = replace(lane.state, tried=_fruitless(place))
        row = await self._store.run(self._store.lanes.get, lane.id)
        if row is None or row.version != lane.version:
            return
        await self._store.run(
            self._store.lanes.put,
            lane.id,
            lane.conversation,
            window=lane.window,
            state=state.to_json(),
            report={**row.report, "notices": [*row.report.get("notices", ()), "not_smaller"]}
            if state.tried[3] >= FRUITLESS
            else row.report,
            expect=lane.version,
        )

    def _may(self, place: RestingConversation) -> bool:
        state = place.loaded.lane.state
        at, depth, so_far, fruitless = state.tried
        # What other levels left out since then was said as well: without it, a window that they keep small
        # would never have grown enough.
        tried = SummaryAttempts(at, depth, so_far - state.left, fruitless)
        return may_try(place.view, tried, self._cooldown, self._clock(), place.depth)

    @asynccontextmanager
    async def _alone(self, conversation: ConversationRecord) -> AsyncIterator[None]:
        """Single flight, in this process and in all others that share the store."""
        leases, name, owner = self._store.leases, f"compaction:{conversation.id}", new_id("w")
        holding: asyncio.Task[None] | None = None
        # Whoever is interrupted while taking it may have it: it is given back in any case.
        try:
            if not await self._store.run(leases.take, name, owner, _LEASE):
                raise Conflict(
                    _("this conversation is being summarised already"),
                    hint=_("Wait until that is done."),
                )
            holding = asyncio.create_task(self._hold_lease(name, owner))
            yield
        finally:
            if holding is not None:
                holding.cancel()
            await asyncio.shield(self._store.run(leases.release, name, owner))

    async def _hold_lease(self, name: str, owner: str) -> None:
        """A model may take its time; a process that died must not keep others waiting for long."""
        while True:
            await asyncio.sleep(_LEASE / 3)
            try:
                await self._store.run(self._store.leases.renew, name, owner, _LEASE)
            except StoreError as error:
                log.warning("%s could not be kept: %s", name, error)

    def _note_failure(self, place: RestingConversation, why: str) -> None:
        log.info("%s was not summarised: %s", place.conversation.id, why)
        self._tell(place.conversation, "failed", 0.0, error=why)

    def _tell(
        self, row: ConversationRecord, phase: Phase, share: float, batch: Batch | None = None, error: str = ""
    ) -> None:
        data: dict[str, Any] = {
            "conversation": row.id,
            "phase": phase,
            "percent": round(share * 100),
        }
        if batch is not None:
            data |= {"tokens_before": batch.tokens_before, "tokens_after": batch.tokens_after}
        if error:
            data["error"] = error
        self._events.publish("compaction", data, row.scope)


def _border(place: RestingConversation, upto: int | None = None) -> Border | None:
    """Where the summary takes over; where nothing more can leave, over what is out already and has none."""
    found, base = border(place.view, upto, fills=place.fills), place.loaded.lane.state.base
    if found is None and base is not None and place.left and (upto is None or base.depth <= upto):
        return Border(base.through, base.depth, base.keep, ())
    return found


def _fruitless(place: RestingConversation) -> Attempt:
    at, depth, _, fruitless = place.loaded.lane.state.tried
    return at, depth, talk(place.view) + place.left, fruitless + 1


def _batch(proposals: Sequence[Proposal]) -> Batch:
    """What is said of it: what leaves the window, and what stands for that."""
    proposal = proposals[0]
    return Batch(
        SUMMARY, STRATEGIES[SUMMARY], tuple(proposals), proposal.tokens_before, proposal.tokens_after
    )
