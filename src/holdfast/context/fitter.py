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
from holdfast.context.attachments import context_for, files_for, files_in
from holdfast.context.evidence import RecallService, make_way
from holdfast.context.findings import FindingAttacher
from holdfast.context.loading import (
    Attachments,
    ConversationLocks,
    FitRequest,
    LoadedLane,
    MayReadMemory,
    RecordedQuestion,
    draft_of,
    in_order,
    leading_system,
    load_lane_for,
    may_always_read,
    recalls,
)
from holdfast.context.outcome import outcome_of
from holdfast.context.summaries import CompactionService
from holdfast.conversations import lanes
from holdfast.errors import HoldfastError, Overflow, StoreError
from holdfast.messages import ChatRequest
from holdfast.recall import Evidence
from holdfast.store import Decision, Store, new_id
from holdfast.tokens.estimate import Estimate
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.windows import has_fixed_window
from holdfast.window.additions import propose_addition, propose_profile
from holdfast.window.decisions import Add, Proposal, read_decision
from holdfast.window.fit import FittedWindow, fit, fit_view
from holdfast.window.items import Item
from holdfast.window.presets import Preset
from holdfast.window.report import Link, chain_of, prefix_of, report_of
from holdfast.window.view import Draft, View

_SECTIONS = ("files", "research")


def carry_over(store: Store, view: View, lane: lanes.Lane) -> list[Proposal]:
    """What a lane that is new has from the one before it; nothing where the conversation is new as well."""
    before = next(
        (decision for decision in store.lanes.of(lane.conversation) if decision.id != lane.id), None
    )
    if before is None:
        return []
    decisions = store.decisions.of(before.id)
    instead: dict[str, str] = {}
    for decision in decisions:
        instead |= decision.data.get("instead", {})
    shown_ids = {shown.item.id for shown in view.shown}
    return [
        _propose_again(view, decision, instead.get(decision.id))
        for decision in decisions
        if decision.kind == "add"
        and decision.data["section"] in _SECTIONS
        # What bears on the question is looked for anew, for whoever may be told.
        and not recalls(decision)
        and shown_ids.issuperset(decision.messages)
        and instead.get(decision.id) != ""
    ]


def _propose_again(view: View, decision: Decision, instead: str | None) -> Proposal:
    add = read_decision(decision)
    assert isinstance(add, Add)
    if instead is not None:
        add = replace(add, text=instead, short="")
    tokens, reason = view.text_tokens(add.text), "it stood in another window"
    return replace(add, tokens_before=0, tokens_after=tokens, reason=reason, id=new_id("d"))


log = logging.getLogger("holdfast.window")

# What is believed of the room after a server refused a request that should have fitted.
_TIGHTER = 0.85
_TRUST, _LEAST_TRUST = 0.02, 0.25


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request that fits, and what there is to say about it."""

    request: ChatRequest
    kept: RecordedQuestion
    window: int
    expected: Estimate
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _FirstFit:
    """A window before anything is summarised or brought back; `recalls` says if there are memories at all."""

    lot: LoadedLane
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
        turns: ConversationLocks,
        compacting: CompactionService,
        recalling: RecallService,
        notices: Callable[[], Sequence[str]] = tuple,
        tells: MayReadMemory = may_always_read,
        findings_attacher: FindingAttacher | None = None,
    ) -> None:
        self.preset = preset
        self._store = store
        self._models = models
        self._turns = turns
        self._compaction = compacting
        self._notices = notices
        self._recall = recalling
        self._tells = tells
        self._findings = findings_attacher
        # Conversations whose last request was refused: the share of their room that is still believed in, and
        # the share of the window that the server says is there.
        self._refused: dict[str, tuple[float, float]] = {}
        # Conversations whose last decisions could not be written, and the notice that says so.
        self._unsaved: dict[str, str] = {}

    async def fit(
        self,
        request: ChatRequest,
        question: RecordedQuestion,
        provider: Provider,
        attachments: Attachments = Attachments(),  # noqa: B008 - frozen
    ) -> OutgoingRequest:
        """The request as it goes out."""
        if question.placement.kind == "main":
            asked = request.options.get("num_ctx")
            windows = await self._models.settle_windows(provider, request.model, asked=asked)
        else:
            # What a client asks for on the side decides nothing for the conversations.
            windows = await self._models.windows(provider, request.model)
        budget = self.preset.budget(windows.used.tokens, thinks=windows.thinks)
        counter = await self._models.counters.counter(provider, request.model)
        request = replace(request, tools=in_order(request.tools))
        case = FitRequest(request, question, provider, budget, counter, attachments)
        case = replace(case, tells=case.remembers and self._tells(provider.location))
        fitted, report = await self._fit_request(case)
        options: dict[str, int] = {}
        if not has_fixed_window(provider):
            options["num_ctx"] = budget.window
        if (limit := request.options.get("max_tokens")) and limit > 0:
            options["max_tokens"] = max(1, budget.for_answer(fitted.total.high, limit))
        ready = request.with_messages(fitted.messages).with_options(**options)
        return OutgoingRequest(ready, question, budget.window, fitted.total, report)

    async def note_refusal(self, sent: OutgoingRequest, provider: Provider, error: Overflow) -> None:
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
            window_share = min(1.0, error.window / sent.window) if error.window else 1.0
            self._refused[sent.kept.conversation.id] = share, window_share

    async def _fit_request(self, case: FitRequest) -> tuple[FittedWindow, dict[str, Any]]:
        if case.kept.conversation is None:
            fitted = await asyncio.to_thread(_fit_side_request, case)
            return fitted, report_of(fitted, prefix_of(fitted, (), ()), case.counter).to_json()
        async with self._turns.of(case.kept.conversation.id):
            await self._turns.settle(case.kept.conversation.id)
            return await self._fit_in_lane(case)

    async def _fit_in_lane(self, case: FitRequest) -> tuple[FittedWindow, dict[str, Any]]:
        began = time.perf_counter()
        begun = await asyncio.to_thread(self._fit_first, case)
        lot, fitted, believed, notices = begun.lot, begun.made, begun.believed, begun.notices
        summary: CompactionRecord | None = None
        if fitted.view.history >= fitted.view.thresholds.summarise:
            fitted, summary, believed = await self._summarise(case, lot, fitted, believed)
        notices += self._notices()
        if lot.lane.conversation in self._unsaved:
            notices.append(self._unsaved.pop(lot.lane.conversation))
        evidence = Evidence()
        try:
            proposals, evidence, trouble = await self._bring(fitted.view, case, begun)
            notices += trouble
        except StoreError as error:
            log.warning("what the window leaves out could not be searched: %s", error)
            notices.append("not_searched")
        else:
            fitted = await asyncio.to_thread(self._fit_again, fitted, proposals) if proposals else fitted
        if self._findings is not None:
            notices += self._findings.notices(fitted.view, case.along.finding)
        chain = chain_of(fitted.view)
        outcome = outcome_of(lot, fitted, believed, chain)
        sent = [Link(*link) for link in lot.lane.state.sent]
        prefix = prefix_of(fitted, sent, chain, lot.lane.state.summary)
        report = {
            **report_of(fitted, prefix, case.counter, outcome.names).to_json(),
            "lane": lot.lane.id,
            "conversation": lot.lane.conversation,
            "model": case.request.model,
            "files": files_in(fitted.view),
            "recall": evidence.to_json(),
            "notices": notices,
        }
        duration = int((time.perf_counter() - began) * 1000)
        keep = partial(outcome.keep, self._store, report, duration, summary)
        self._store.defer_write(
            lot.lane.conversation, keep, partial(self._note_unsaved, lot.lane.conversation)
        )
        names = [name for proposal in outcome.others for name in proposal.data.get("memories", ())]
        if names:
            self._recall.count(case, names)
        _log_report(report)
        return fitted, report

    async def _summarise(
        self, case: FitRequest, lot: LoadedLane, fitted: FittedWindow, believed: lanes.LaneState
    ) -> tuple[FittedWindow, CompactionRecord | None, lanes.LaneState]:
        """The other levels were not enough: the older part becomes a summary now, if that helps."""
        inline = await self._compaction.inline(case, lot, fitted)
        if inline is None:
            return fitted, None, believed
        fitted = (
            await asyncio.to_thread(self._fit_again, inline.made, ()) if inline.made is not fitted else fitted
        )
        return fitted, inline.keeping, replace(believed, tried=inline.tried)

    def _note_unsaved(self, conversation: str, error: HoldfastError) -> None:
        """Another process was faster, or the disk is full: the next window is made without this."""
        log.warning("what was decided for a window could not be kept: %s", error)
        self._unsaved[conversation] = "not_kept"

    def _fit_first(self, case: FitRequest) -> "_FirstFit":
        lot = self._store.read_snapshot(
            load_lane_for, self._store, case.request, case.kept, case.budget, case.count
        )
        refused = self._refused.pop(lot.lane.conversation, None)
        believed = _trusted_room(lot.lane.state, refused)
        draft = draft_of(case, lot, min(believed.slack, believed.most))
        profile = self._recall.profile(case)
        view = self._attach(case, lot, _add_attachments(case, lot, draft, profile.text))
        if view.history >= view.thresholds.leave_out:
            view = view.knowing(nearness=self._recall.nearness(view))
        fitted = self._apply_levels(view, 2 if refused else 0)
        notices = ["profile_broken"] if profile.trouble else []
        if any(proposal.data.get("trouble") for proposal in view.proposals):
            notices.append("files_missing")
        notices += {
            proposal.data["cut"]: None
            for proposal in view.proposals
            if proposal.data.get("cut") == "context_cut"
        }
        recalls = self._recall.has_any(case)
        return _FirstFit(lot, fitted, believed, notices, recalls)

    async def _bring(
        self, view: View, case: FitRequest, begun: "_FirstFit"
    ) -> tuple[list[Proposal], Evidence, list[str]]:
        """What is put behind the question: earlier findings, then evidence from all that was said and
        noted.
        """
        findings: list[Proposal] | None = []
        if self._findings is not None and begun.recalls:
            findings = await self._recall.in_time(self._findings.find_related, view, case)
        notices = ["not_recalled"] if findings is None else []
        view = view.having(*findings) if findings else view
        proposals, evidence, more = await self._recall.bring(view, case, begun.lot)
        return [*(findings or ()), *proposals], evidence, [*dict.fromkeys((*notices, *more))]

    def _attach(self, case: FitRequest, lot: LoadedLane, view: View) -> View:
        """With the files that the question points at, and the sources that were found for it."""
        question = view.question
        if question is None or question is not lot.items[-1]:
            return view
        if not lot.lane.version and (taken := carry_over(self._store, view, lot.lane)):
            view = view.having(*taken)
        files = files_for(self._store, view, question, lot.lane.conversation, case.along)
        view = view.having(*files) if files else view
        if self._findings is None:
            return view
        return self._findings.attach(view, question, case.along.finding, case.scope)

    def _apply_levels(self, view: View, at_least: int = 0) -> FittedWindow:
        return fit_view(view, every_turn=self.preset.prune_every_turn, at_least=at_least)

    def _fit_again(self, fitted: FittedWindow, more: Sequence[Proposal]) -> FittedWindow:
        """The window once more, with what was found for it."""
        again = self._apply_levels(
            View(replace(fitted.view.draft, fired=fitted.fired), [*fitted.view.proposals, *more])
        )
        return replace(again, batches=(*fitted.batches, *again.batches))


def _fit_side_request(case: FitRequest) -> FittedWindow:
    """A side request: nothing is kept of it, so nothing is decided but what must be."""
    system = leading_system(case.request.messages)
    talk = case.request.messages[len(system) :]
    items = tuple(Item(f"x_{at}", message) for at, message in enumerate(talk))
    draft = Draft(items, case.budget, case.counter, system=system, tools=case.request.tools)
    return fit(draft, levels=False)


def _add_attachments(case: FitRequest, lot: LoadedLane, draft: Draft, profile: str = "") -> View:
    """With what is decided before any level looks at the window: a question brings things along."""
    view = View(draft, [] if lot.horizon is None else [lot.horizon])
    # Before any level looks: evidence for an earlier question must not push out what was said.
    if leaving := make_way(view):
        view = view.having(*leaving)
    if changed := propose_profile(view, profile):
        view = view.having(*changed)
    question = view.question
    if question is None or question is not lot.items[-1]:
        return view
    proposals = context_for(view, question, case.along.context)
    clocks = [
        addition.text for shown in view.shown for addition in shown.additions if addition.section == "clock"
    ]
    if lot.told and clocks[-1:] != [lot.told]:
        proposals.append(propose_addition(view, question, "clock", lot.told, new_id("d")))
    return view.having(*proposals) if proposals else view


def _trusted_room(state: lanes.LaneState, refused: tuple[float, float] | None) -> lanes.LaneState:
    """How much of the room is there, after what the server said to the last request."""
    if refused is None:
        # Trust comes back slowly: counts have been learned since, or the trouble was a passing one.
        return replace(state, slack=min(1.0, state.slack + _TRUST))
    share, window_share = refused
    return replace(state, slack=max(_LEAST_TRUST, state.slack * share), most=min(state.most, window_share))


def _log_report(report: Mapping[str, Any]) -> None:
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
