"""Fits one request after the other, each in its lane, and has what was decided kept beside the answer.

Knows the store, the models and `window`. Sending is the engine's business.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from holdfast.compaction.persistence import CompactionRecord
from holdfast.conversations import lanes
from holdfast.errors import HoldfastError, Overflow, StoreError
from holdfast.fitting.case import Along, Case, Tells, draft_of, in_order, tells_all
from holdfast.fitting.client_context import context_for
from holdfast.fitting.compacting import Compacting
from holdfast.fitting.filing import files_for, files_in
from holdfast.fitting.lot import Kept, Lot, leading_system, lot_of
from holdfast.fitting.outcome import outcome_of
from holdfast.fitting.recalling import Recalling, asks_anew
from holdfast.fitting.researching import Researching
from holdfast.fitting.taking_over import taken_over
from holdfast.fitting.turns import Turns
from holdfast.messages import ChatRequest
from holdfast.recall import Evidence
from holdfast.store import Store, new_id
from holdfast.tokens.estimate import Estimate
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.windows import has_fixed_window
from holdfast.window.additions import drop_evidence, propose_addition, propose_profile
from holdfast.window.decisions import Proposal
from holdfast.window.fit import FittedWindow, fit, fit_view
from holdfast.window.items import Item
from holdfast.window.presets import Preset
from holdfast.window.report import Link, chain_of, prefix_of, report_of
from holdfast.window.view import Draft, View

log = logging.getLogger("holdfast.window")

# What is believed of the room after a server refused a request that should have fitted.
_TIGHTER = 0.85
_TRUST, _LEAST_TRUST = 0.02, 0.25


@dataclass(frozen=True, slots=True)
class Fit:
    """A request that fits, and what there is to say about it."""

    request: ChatRequest
    kept: Kept
    window: int
    expected: Estimate
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Begun:
    """A window before anything is summarised or brought back; `recalls` says if there are memories at all."""

    lot: Lot
    made: FittedWindow
    believed: lanes.LaneState
    notices: list[str]
    recalls: bool


class Fitter:
    def __init__(
        self,
        store: Store,
        models: ModelRegistry,
        preset: Preset,
        turns: Turns,
        compacting: Compacting,
        recalling: Recalling,
        notices: Callable[[], Sequence[str]] = tuple,
        tells: Tells = tells_all,
        researching: Researching | None = None,
    ) -> None:
        self.preset = preset
        self._store = store
        self._models = models
        self._turns = turns
        self._compacting = compacting
        self._notices = notices
        self._recalling = recalling
        self._tells = tells
        self._researching = researching
        # Conversations whose last request was refused: the share of their room that is still believed in, and
        # the share of the window that the server says is there.
        self._refused: dict[str, tuple[float, float]] = {}
        # Conversations whose last decisions could not be written, and the notice that says so.
        self._unkept: dict[str, str] = {}

    async def fit(
        self,
        request: ChatRequest,
        kept: Kept,
        provider: Provider,
        along: Along = Along(),  # noqa: B008 - frozen
    ) -> Fit:
        """The request as it goes out."""
        if kept.placement.kind == "main":
            asked = request.options.get("num_ctx")
            windows = await self._models.settle_windows(provider, request.model, asked=asked)
        else:
            # What a client asks for on the side decides nothing for the conversations.
            windows = await self._models.windows(provider, request.model)
        budget = self.preset.budget(windows.used.tokens, thinks=windows.thinks)
        counter = await self._models.counters.counter(provider, request.model)
        request = replace(request, tools=in_order(request.tools))
        case = Case(request, kept, provider, budget, counter, along)
        case = replace(case, tells=case.remembers and self._tells(provider.location))
        made, report = await self._made(case)
        options: dict[str, int] = {}
        if not has_fixed_window(provider):
            options["num_ctx"] = budget.window
        if (limit := request.options.get("max_tokens")) and limit > 0:
            options["max_tokens"] = max(1, budget.for_answer(made.total.high, limit))
        ready = request.with_messages(made.messages).with_options(**options)
        return Fit(ready, kept, budget.window, made.total, report)

    async def refused(self, sent: Fit, provider: Provider, error: Overflow) -> None:
        """The server read less than was sent, or nothing: the next window of the conversation is smaller.

        Where the server says what it counted, that is learned; else less of the room is believed in.
        """
        counter = await self._models.counters.counter(provider, sent.request.model)
        known = counter.calibration
        if error.prompt_tokens is not None:
            learn = self._models.counters.learn
            await learn(provider, sent.request, error.prompt_tokens, sent.window)
        if sent.kept.conversation is not None:
            share = 1.0
            if counter.calibration is known:
                share = min(1.0, sent.report["at_most"] / sent.report["room"]) * _TIGHTER
            there = min(1.0, error.window / sent.window) if error.window else 1.0
            self._refused[sent.kept.conversation.id] = share, there

    async def _made(self, case: Case) -> tuple[FittedWindow, dict[str, Any]]:
        if case.kept.conversation is None:
            made = await asyncio.to_thread(_alone, case)
            return made, report_of(made, prefix_of(made, (), ()), case.counter).to_json()
        async with self._turns.of(case.kept.conversation.id):
            await self._turns.settle(case.kept.conversation.id)
            return await self._in_lane(case)

    async def _in_lane(self, case: Case) -> tuple[FittedWindow, dict[str, Any]]:
        began = time.perf_counter()
        begun = await asyncio.to_thread(self._begun, case)
        lot, made, believed, notices = begun.lot, begun.made, begun.believed, begun.notices
        summary: CompactionRecord | None = None
        if made.view.history >= made.view.thresholds.summarise:
            made, summary, believed = await self._summarised(case, lot, made, believed)
        notices += self._notices()
        if lot.lane.conversation in self._unkept:
            notices.append(self._unkept.pop(lot.lane.conversation))
        evidence = Evidence()
        try:
            proposals, evidence, trouble = await self._bring(made.view, case, begun)
            notices += trouble
        except StoreError as error:
            log.warning("what the window leaves out could not be searched: %s", error)
            notices.append("not_searched")
        else:
            made = await asyncio.to_thread(self._again, made, proposals) if proposals else made
        if self._researching is not None:
            notices += self._researching.notices(made.view, case.along.finding)
        chain = chain_of(made.view)
        outcome = outcome_of(lot, made, believed, chain)
        sent = [Link(*link) for link in lot.lane.state.sent]
        prefix = prefix_of(made, sent, chain, lot.lane.state.summary)
        report = {
            **report_of(made, prefix, case.counter, outcome.names).to_json(),
            "lane": lot.lane.id,
            "conversation": lot.lane.conversation,
            "model": case.request.model,
            "files": files_in(made.view),
            "recall": evidence.to_json(),
            "notices": notices,
        }
        duration = int((time.perf_counter() - began) * 1000)
        keep = partial(outcome.keep, self._store, report, duration, summary)
        self._store.along(lot.lane.conversation, keep, partial(self._not_kept, lot.lane.conversation))
        names = [name for one in outcome.others for name in one.data.get("memories", ())]
        if names:
            self._recalling.count(case, names)
        _say(report)
        return made, report

    async def _summarised(
        self, case: Case, lot: Lot, made: FittedWindow, believed: lanes.LaneState
    ) -> tuple[FittedWindow, CompactionRecord | None, lanes.LaneState]:
        """The other levels were not enough: the older part becomes a summary now, if that helps."""
        found = await self._compacting.inline(case, lot, made)
        if found is None:
            return made, None, believed
        made = await asyncio.to_thread(self._again, found.made, ()) if found.made is not made else made
        return made, found.keeping, replace(believed, tried=found.tried)

    def _not_kept(self, conversation: str, error: HoldfastError) -> None:
        """Another process was faster, or the disk is full: the next window is made without this."""
        log.warning("what was decided for a window could not be kept: %s", error)
        self._unkept[conversation] = "not_kept"

    def _begun(self, case: Case) -> "_Begun":
        lot = self._store.at_once(lot_of, self._store, case.request, case.kept, case.budget, case.count)
        refused = self._refused.pop(lot.lane.conversation, None)
        believed = _believed(lot.lane.state, refused)
        draft = draft_of(case, lot, min(believed.slack, believed.most))
        profile = self._recalling.profile(case)
        view = self._along(case, lot, _first(case, lot, draft, profile.text))
        if view.history >= view.thresholds.leave_out:
            view = view.knowing(nearness=self._recalling.nearness(view))
        made = self._fitted(view, 2 if refused else 0)
        notices = ["profile_broken"] if profile.trouble else []
        if any(one.data.get("trouble") for one in view.proposals):
            notices.append("files_missing")
        notices += {one.data["cut"]: None for one in view.proposals if one.data.get("cut") == "context_cut"}
        recalls = self._recalling.has_any(case)
        return _Begun(lot, made, believed, notices, recalls)

    async def _bring(
        self, view: View, case: Case, begun: "_Begun"
    ) -> tuple[list[Proposal], Evidence, list[str]]:
        """What is put behind the question: earlier findings, then evidence from all that was said and
        noted.
        """
        findings: list[Proposal] | None = []
        if self._researching is not None and begun.recalls:
            findings = await self._recalling.in_time(self._researching.beside, view, case)
        notices = ["not_recalled"] if findings is None else []
        view = view.having(*findings) if findings else view
        proposals, evidence, more = await self._recalling.bring(view, case, begun.lot)
        return [*(findings or ()), *proposals], evidence, [*dict.fromkeys((*notices, *more))]

    def _along(self, case: Case, lot: Lot, view: View) -> View:
        """With the files that the question points at, and the sources that were found for it."""
        question = view.question
        if question is None or question is not lot.items[-1]:
            return view
        if not lot.lane.version and (taken := taken_over(self._store, view, lot.lane)):
            view = view.having(*taken)
        files = files_for(self._store, view, question, lot.lane.conversation, case.along)
        view = view.having(*files) if files else view
        if self._researching is None:
            return view
        return self._researching.along(view, question, case.along.finding, case.scope)

    def _fitted(self, view: View, at_least: int = 0) -> FittedWindow:
        return fit_view(view, every_turn=self.preset.prune_every_turn, at_least=at_least)

    def _again(self, made: FittedWindow, more: Sequence[Proposal]) -> FittedWindow:
        """The window once more, with what was found for it."""
        again = self._fitted(View(replace(made.view.draft, fired=made.fired), [*made.view.proposals, *more]))
        return replace(again, batches=(*made.batches, *again.batches))


def _alone(case: Case) -> FittedWindow:
    """A side request: nothing is kept of it, so nothing is decided but what must be."""
    system = leading_system(case.request.messages)
    talk = case.request.messages[len(system) :]
    items = tuple(Item(f"x_{at}", message) for at, message in enumerate(talk))
    draft = Draft(items, case.budget, case.counter, system=system, tools=case.request.tools)
    return fit(draft, levels=False)


def _first(case: Case, lot: Lot, draft: Draft, profile: str = "") -> View:
    """With what is decided before any level looks at the window: a question brings things along."""
    view = View(draft, [] if lot.horizon is None else [lot.horizon])
    if asks_anew(view) and (leaving := drop_evidence(view)):
        # Before any level looks: evidence for an earlier question must not push out what was said.
        view = view.having(*leaving)
    if changed := propose_profile(view, profile):
        view = view.having(*changed)
    question = view.question
    if question is None or question is not lot.items[-1]:
        return view
    proposals = context_for(view, question, case.along.context)
    clocks = [one.text for shown in view.shown for one in shown.additions if one.section == "clock"]
    if lot.told and clocks[-1:] != [lot.told]:
        proposals.append(propose_addition(view, question, "clock", lot.told, new_id("d")))
    return view.having(*proposals) if proposals else view


def _believed(state: lanes.LaneState, refused: tuple[float, float] | None) -> lanes.LaneState:
    """How much of the room is there, after what the server said to the last request."""
    if refused is None:
        # Trust comes back slowly: counts have been learned since, or the trouble was a passing one.
        return replace(state, slack=min(1.0, state.slack + _TRUST))
    share, there = refused
    return replace(state, slack=max(_LEAST_TRUST, state.slack * share), most=min(state.most, there))


def _say(report: Mapping[str, Any]) -> None:
    prefix = report["prefix"]
    log.info(
        "%s: %d of %d tokens (%s), level %d, prefix %s",
        report["lane"],
        report["tokens"],
        report["room"],
        report["method"],
        report["level"],
        "kept" if prefix["kept"] else f"lost: {prefix['cause']}",
    )
