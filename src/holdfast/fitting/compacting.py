"""Level 3: a summary takes the place of a conversation's older part, ahead of need or when it is full.

Decides if and when, has the summary made in `compaction`, and keeps summary, memories and decision in one
transaction. Two never work on one conversation at once. It sends nothing for people: that is the engine's.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.compaction.compactor import Compactor, SummaryBody
from holdfast.compaction.persistence import CompactionRecord
from holdfast.errors import BadRequest, Conflict, HoldfastError, ProviderError, StoreError
from holdfast.events import Events
from holdfast.fitting.call_log import CallLog
from holdfast.fitting.case import Case, Tells, tells_all
from holdfast.fitting.helpers import Helpers, SummaryOptions
from holdfast.fitting.lot import Lot
from holdfast.fitting.outcome import SUMMARY, outcome_of
from holdfast.fitting.places import Place, Places
from holdfast.fitting.summing import Span, Summing, Written
from holdfast.fitting.turns import Turns
from holdfast.i18n import say
from holdfast.messages import Message
from holdfast.store import Conversation, Store, new_id
from holdfast.tokens.counter import EstimatingCounter
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
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

log = logging.getLogger("holdfast.compaction")

# Nobody else works on the conversation while this lasts; it is renewed as long as the work goes on.
_LEASE = 30.0
# Servers that read a request and write nothing when they are asked for nothing.
_READS_ONLY = ("llamacpp", "embedded")
# With fewer messages there is nothing to look back at.
_EXCHANGE = 2
# So many characters are read and summed up, without a model, in about a second.
_SOON = 400_000

Phase = Literal["started", "working", "done", "failed"]


# When, at which depth, how much was said then, and how often in vain since: as lanes keep it.
Attempt = tuple[float, int, int, int]


@dataclass(frozen=True, slots=True)
class Inline:
    """What came of summarising at once: the window, a summary that is to be kept, and how it went."""

    made: FittedWindow
    keeping: CompactionRecord | None
    tried: Attempt


class Compacting:
    def __init__(
        self,
        store: Store,
        models: ModelRegistry,
        upstreams: Upstreams,
        preset: Preset,
        compactor: Compactor,
        *,
        turns: Turns,
        events: Events,
        options: SummaryOptions = SummaryOptions(),  # noqa: B008 - frozen
        tells: Tells = tells_all,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._preset = preset
        self._turns = turns
        self._events = events
        self._clock = clock
        self._cooldown = Cooldown(preset.cooldown_seconds, preset.cooldown_messages)
        self._places = Places(store, models, upstreams, preset, tells)
        self._log = CallLog(store, events)
        self.helpers = Helpers(models, upstreams, preset, options, clock, self._log)
        self._summing = Summing(store, compactor, self.helpers, options)

    def may_be_due(self, report: Mapping[str, Any], answer: Message) -> bool:
        """Whether it is worth looking: with nothing shortened and much room, nothing is due."""
        if not report or report["level"]:
            return True
        share = self._preset.levels.ahead or 0.0
        # No text has more tokens than bytes.
        return bool(report["at_most"] + len(answer.encode()) >= share * report["room"])

    async def ahead(self, conversation: str) -> bool:
        """Summarises if it is time to, while nobody waits; whether the window changed."""
        place = await self._places.of(conversation)
        if place is None or not is_due(place.view, place.left) or not self._may(place):
            return False
        return await self._done(place, "ahead of need") is not None

    async def compact(self, conversation: str) -> Batch:
        """Summarises because somebody asked for it, however much room there is."""
        place = await self._places.of(conversation)
        if place is None:
            raise BadRequest(
                say(
                    "nothing of this conversation was sent to a model yet",
                    "von diesem Gespräch wurde noch nichts an ein Modell geschickt",
                ),
                hint=say("Ask something in it first.", "Stellen Sie zuerst eine Frage darin."),
            )
        batch = await self._done(replace(place, fills=False), "somebody asked for it")
        if batch is None:
            raise BadRequest(
                say(
                    "there is nothing to summarise: the last two exchanges always stay",
                    "es gibt nichts zusammenzufassen: die letzten beiden Wortwechsel bleiben immer",
                ),
                hint=say(
                    "Go on talking, or look at the window: holdfast window ID.",
                    "Sprechen Sie weiter, oder sehen Sie sich das Fenster an: holdfast window ID.",
                ),
            )
        return batch

    async def inline(self, case: Case, lot: Lot, made: FittedWindow) -> Inline | None:
        """The window of a request that is nearly full, with a summary in it; None if none was to be had.

        The caller has the conversation's turn, and keeps what comes of it with its own decisions.
        """
        place = Place(case, lot, made.view)
        if not self._may(place):
            return None
        try:
            async with self._alone(place.conversation):
                found = _border(place)
                if found is None:
                    return Inline(made, None, _fruitless(place))
                # Nobody is kept waiting for a model where there is one ahead of need: it reads this later.
                ask = self._preset.levels.ahead is None
                written = await self._written(place, found, ask=ask)
                proposals = self._proposed(place, written, "history was nearly full")
                if not proposals:
                    return Inline(made, written.keeping, _fruitless(place))
                batch, after = _batch(written, proposals), made.view.having(*proposals)
                self._tell(place.conversation, "done", 1.0, batch)
                shorter = replace(made, view=after, batches=(*made.batches, batch))
                return Inline(shorter, written.keeping, self._succeeded(place, after))
        except HoldfastError as error:
            self._failed(place, str(error))
            return None

    async def warm(self, conversation: str) -> None:
        """Has the server read the window as it is now, so that the next question need not wait for that."""
        place = await self._places.of(conversation)
        if place is None:
            return
        case = place.case
        # Ollama takes 0 for no limit at all.
        options = {"max_tokens": 0 if case.provider.name in _READS_ONLY else 1}
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

    async def at_rest(self, conversation: str, *, ask: bool = True) -> bool:
        """Memories and a summary of all that was said; the window stays as it is. Whether there was anything.

        Without `ask` no server is asked for anything, and what takes long is left for another time: somebody
        is waiting for the end.
        """
        store = self._store
        row = await store.run(store.log.get, conversation)
        lane = next(
            (one for one in await store.run(store.lanes.of, conversation) if one.report.get("model")), None
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
            place = await self._places.of(conversation) if ask else None
            counter = EstimatingCounter(lane.report["model"])
            count = place.case.count if place else lambda text: counter.count_text(text).high
            budget = self._preset.budget(lane.window)
            span = Span(row, latest, row.head, budget.summary // 2, count)
            written = await self._made(span, place.case if place else None)
            if written.keeping is not None:
                await store.run(store.atomically, written.keeping.save, store)
        return True

    async def _done(self, place: Place, reason: str) -> Batch | None:
        try:
            async with self._alone(place.conversation):
                found = _border(place)
                if found is None:
                    await self._in_vain(place)
                    return None
                written = await self._written(place, found)
                return await self._applied(place, written, reason)
        except HoldfastError as error:
            self._failed(place, str(error))
            raise
        except asyncio.CancelledError:
            self._failed(place, say("somebody came first", "jemand ging vor"))
            raise

    async def _written(self, place: Place, found: Border, *, ask: bool = True) -> Written:
        """The summary up to a border: the one that reaches so far already, or a new one."""
        head = place.conversation.head
        assert head is not None
        latest = await self._store.run(self._store.summaries.latest, head)
        if latest is not None and latest.depth >= found.depth:
            return Written(latest.id, latest.depth, SummaryBody.from_json(latest.body), latest.tokens)
        case = place.case
        span = Span(place.conversation, latest, found.through, case.budget.summary // 2, case.count)
        return await self._made(span, case if ask else None)

    async def _made(self, span: Span, case: Case | None) -> Written:
        def tell(share: float) -> None:
            self._tell(span.conversation, "working" if share else "started", share)

        return await self._summing.made(span, case, tell)

    async def _applied(self, before: Place, written: Written, reason: str) -> Batch | None:
        """The decision, by what the window is now: others may have gone on talking meanwhile."""
        name = before.conversation.id
        async with self._turns.of(name):
            await self._turns.settle(name)
            place = await self._places.of(name)
            place = replace(place, fills=before.fills) if place else None
            proposals = self._proposed(place, written, reason) if place else ()
            if place is None or not proposals:
                if written.keeping is not None:
                    await self._store.run(self._store.atomically, written.keeping.save, self._store)
                await self._in_vain(before)
                return None
            after = place.view.having(*proposals)
            batch = _batch(written, proposals)
            state = replace(place.lot.lane.state, tried=self._succeeded(place, after))
            outcome = outcome_of(place.lot, FittedWindow(after, (batch,), dict(state.fired)), state, None)
            row = await self._store.run(self._store.lanes.get, outcome.lane.id)
            report = row.report if row else {}
            await self._store.run(
                self._store.atomically, outcome.keep, self._store, report, 0, written.keeping
            )
        self._tell(place.conversation, "done", 1.0, batch)
        return batch

    def _proposed(self, place: Place, written: Written, reason: str) -> tuple[Proposal, ...]:
        """() where the window would not be smaller for it."""
        found = _border(place, written.depth)
        if found is None:
            return ()
        view, count = place.view, place.case.count
        room, told = room_for_text(view, found, max(written.tokens, place.left))
        text = written.body.text(count, room, told)
        proposals = (propose_summary(view, found, text, written.id, reason), *clear_quotes(view, found))
        # What was left out since the last summary is in this one too.
        before = view.total.high + place.left
        if view.having(*proposals).total.high > before * (1 - LEAST_SAVED):
            return ()
        return proposals

    def _succeeded(self, place: Place, after: View) -> Attempt:
        return self._clock(), place.depth, talk(after), 0

    async def _in_vain(self, place: Place) -> None:
        """Remembered, so that what does not help is not tried on every turn."""
        lane = place.lot.lane
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

    def _may(self, place: Place) -> bool:
        state = place.lot.lane.state
        at, depth, so_far, fruitless = state.tried
        # What other levels left out since then was said as well: without it, a window that they keep small
        # would never have grown enough.
        tried = SummaryAttempts(at, depth, so_far - state.left, fruitless)
        return may_try(place.view, tried, self._cooldown, self._clock(), place.depth)

    @asynccontextmanager
    async def _alone(self, conversation: Conversation) -> AsyncIterator[None]:
        """Single flight, in this process and in all others that share the store."""
        leases, name, owner = self._store.leases, f"compaction:{conversation.id}", new_id("w")
        holding: asyncio.Task[None] | None = None
        # Whoever is interrupted while taking it may have it: it is given back in any case.
        try:
            if not await self._store.run(leases.take, name, owner, _LEASE):
                raise Conflict(
                    say(
                        "this conversation is being summarised already",
                        "dieses Gespräch wird schon zusammengefasst",
                    ),
                    hint=say("Wait until that is done.", "Bitte warten, bis das fertig ist."),
                )
            holding = asyncio.create_task(self._held(name, owner))
            yield
        finally:
            if holding is not None:
                holding.cancel()
            await asyncio.shield(self._store.run(leases.release, name, owner))

    async def _held(self, name: str, owner: str) -> None:
        """A model may take its time; a process that died must not keep others waiting for long."""
        while True:
            await asyncio.sleep(_LEASE / 3)
            try:
                await self._store.run(self._store.leases.renew, name, owner, _LEASE)
            except StoreError as error:
                log.warning("%s could not be kept: %s", name, error)

    def _failed(self, place: Place, why: str) -> None:
        log.info("%s was not summarised: %s", place.conversation.id, why)
        self._tell(place.conversation, "failed", 0.0, error=why)

    def _tell(
        self, row: Conversation, phase: Phase, share: float, made: Batch | None = None, error: str = ""
    ) -> None:
        data: dict[str, Any] = {
            "conversation": row.id,
            "phase": phase,
            "percent": round(share * 100),
        }
        if made is not None:
            data |= {"tokens_before": made.tokens_before, "tokens_after": made.tokens_after}
        if error:
            data["error"] = error
        self._events.publish("compaction", data, row.scope)


def _border(place: Place, upto: int | None = None) -> Border | None:
    """Where the summary takes over; where nothing more can leave, over what is out already and has none."""
    found, base = border(place.view, upto, fills=place.fills), place.lot.lane.state.base
    if found is None and base is not None and place.left and (upto is None or base.depth <= upto):
        return Border(base.through, base.depth, base.keep, ())
    return found


def _fruitless(place: Place) -> Attempt:
    at, depth, _, fruitless = place.lot.lane.state.tried
    return at, depth, talk(place.view) + place.left, fruitless + 1


def _batch(written: Written, proposals: Sequence[Proposal]) -> Batch:
    """What is said of it: what leaves the window, and what stands for that.

    Where all of it was out already, the summary stands for what was said.
    """
    made = proposals[0]
    before = made.tokens_before if made.messages else written.tokens
    return Batch(SUMMARY, STRATEGIES[SUMMARY], tuple(proposals), before, made.tokens_after)
