"""Makes the request that goes to a model server: loads the conversation and fits it into the window.

    Fitter.fit           the window and budget of the model; the request with its options
    Fitter._fit_in_lane  load, fit, summarise if need be, add evidence, report, save
    Fitter._fit_first    the window without a new summary and without evidence
    Fitter._bring        earlier findings and evidence for the question

A lane is a conversation in a window of one size, with the decisions that were made for it. What stays,
is shortened or goes is decided in `window`; here is what that needs from store and models. Decisions are
written while the server already answers (`Store.defer_write`); the next request waits for that.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from holdfast.compaction.compactor import CompactionRecord
from holdfast.context.attachments import context_for, files_for, files_in
from holdfast.context.evidence import RecallService, leaving_evidence
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
from holdfast.tokens.budget import NEVER
from holdfast.tokens.estimate import Estimate
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.windows import has_fixed_window
from holdfast.window.additions import drop_evidence, propose_addition, propose_profile
from holdfast.window.decisions import Add, LeaveOut, Proposal, read_decision
from holdfast.window.fit import FittedWindow, fit, fit_view
from holdfast.window.items import Item
from holdfast.window.presets import Preset
from holdfast.window.report import Link, chain_of, prefix_of, report_of
from holdfast.window.view import Draft, View

log = logging.getLogger("holdfast.window")

# After a server refused a request that should have fitted, the next one uses this share of its tokens.
_TIGHTER = 0.85
# How much of the room is trusted again with every turn after that, and the share it never falls below.
_TRUST, _LEAST_TRUST = 0.02, 0.25
# What a new lane takes over from the conversation's lane for another window.
_SECTIONS = ("files", "research")


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request that fits, the question it answers, and the report of its window.

    `expected` is how many tokens the server should count.
    """

    request: ChatRequest
    question: RecordedQuestion
    window: int
    expected: Estimate
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _FirstFit:
    """A window without a new summary and without evidence; `recalls` says whether there are any memories."""

    loaded: LoadedLane
    fitted: FittedWindow
    state: lanes.LaneState
    notices: list[str]
    recalls: bool


class Fitter:
    """Fits requests; `notices` returns what the background wants said in every report."""

    def __init__(
        self,
        store: Store,
        models: ModelRegistry,
        preset: Preset,
        locks: ConversationLocks,
        compaction: CompactionService,
        recall: RecallService,
        notices: Callable[[], Sequence[str]] = tuple,
        may_read_memory: MayReadMemory = may_always_read,
        findings: FindingAttacher | None = None,
    ) -> None:
        self.preset = preset
        self._store = store
        self._models = models
        self._locks = locks
        self._compaction = compaction
        self._notices = notices
        self._recall = recall
        self._may_read_memory = may_read_memory
        self._findings = findings
        # Conversations whose last request was refused: the share of their room that is still trusted, and
        # the share of the window that the server says it has.
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
        """Returns the request to send to this server, and the report of its window."""
        if question.placement.kind == "main":
            asked = request.options.get("num_ctx")
            windows = await self._models.settle_windows(provider, request.model, asked=asked)
        else:
            # A side request must not change the window that the conversations use.
            windows = await self._models.windows(provider, request.model)
        budget = self.preset.budget(windows.used.tokens, thinks=windows.thinks)
        counter = await self._models.counters.counter(provider, request.model)
        request = replace(request, tools=in_order(request.tools))
        case = FitRequest(request, question, provider, budget, counter, attachments)
        case = replace(case, may_read_memory=case.remembers and self._may_read_memory(provider.location))
        fitted, report = await self._fit_request(case)
        options: dict[str, int] = {}
        if not has_fixed_window(provider):
            options["num_ctx"] = budget.window
        if (limit := request.options.get("max_tokens")) and limit > 0:
            options["max_tokens"] = max(1, budget.for_answer(fitted.total.high, limit))
        ready = request.with_messages(fitted.messages).with_options(**options)
        return OutgoingRequest(ready, question, budget.window, fitted.total, report)

    async def note_refusal(self, sent: OutgoingRequest, provider: Provider, error: Overflow) -> None:
        """Makes the next window of the conversation smaller: the server read less than was sent, or nothing.

        If the server says how many tokens it counted, the counter learns that; else less of the room is used.
        """
        counter = await self._models.counters.counter(provider, sent.request.model)
        known = counter.calibration
        if error.prompt_tokens is not None:
            learn = self._models.counters.learn
            await learn(provider, sent.request, error.prompt_tokens, sent.window)
        if sent.question.conversation is not None:
            share = 1.0
            if counter.calibration is known:
                share = min(1.0, sent.report["at_most"] / sent.report["room"]) * _TIGHTER
            window_share = min(1.0, error.window / sent.window) if error.window else 1.0
            self._refused[sent.question.conversation.id] = share, window_share

    async def _fit_request(self, case: FitRequest) -> tuple[FittedWindow, dict[str, Any]]:
        if case.question.conversation is None:
            fitted = await asyncio.to_thread(_fit_side_request, case)
            return fitted, report_of(fitted, prefix_of(fitted, (), ()), case.counter).to_json()
        async with self._locks.of(case.question.conversation.id):
            await self._locks.settle(case.question.conversation.id)
            return await self._fit_in_lane(case)

    async def _fit_in_lane(self, case: FitRequest) -> tuple[FittedWindow, dict[str, Any]]:
        """Makes the window of a conversation and saves what was decided; its lock is held."""
        began = time.perf_counter()
        first = await asyncio.to_thread(self._fit_first, case)
        loaded, fitted, state, notices = first.loaded, first.fitted, first.state, first.notices
        summary: CompactionRecord | None = None
        # What the last resort would take out is summarised first, if levels summarise at all.
        nearly = fitted.before_last_resort().view
        if (whole := with_open_rounds(fitted)) is not None:
            # In a loop of tools nothing is idle: what leaves it must not wait for its summary. Where none is
            # worth its tokens yet, nothing leaves while it fits.
            shorter, summary, state = await self._summarise(case, loaded, whole, state, in_loop=True)
            fitted = shorter if summary is not None or whole.view.fits else fitted
        elif nearly.history >= nearly.thresholds.summarise:
            fitted, summary, state = await self._summarise(case, loaded, fitted, state)
        notices += self._notices()
        if loaded.lane.conversation in self._unsaved:
            notices.append(self._unsaved.pop(loaded.lane.conversation))
        evidence = Evidence()
        try:
            fitted, evidence, trouble = await self._bring(fitted, case, first)
            notices += trouble
        except StoreError as error:
            log.warning("earlier messages could not be searched: %s", error)
            notices.append("not_searched")
        if self._findings is not None:
            notices += self._findings.notices(fitted.view, case.attachments.finding)
        chain = chain_of(fitted.view)
        outcome = outcome_of(loaded, fitted, state, chain)
        sent = [Link(*link) for link in loaded.lane.state.sent]
        prefix = prefix_of(fitted, sent, chain, loaded.lane.state.summary)
        report = {
            **report_of(fitted, prefix, case.counter, outcome.names).to_json(),
            "lane": loaded.lane.id,
            "conversation": loaded.lane.conversation,
            "model": case.request.model,
            "files": files_in(fitted.view),
            "recall": evidence.to_json(),
            "notices": notices,
        }
        duration = int((time.perf_counter() - began) * 1000)
        keep = partial(outcome.keep, self._store, report, duration, summary)
        self._store.defer_write(
            loaded.lane.conversation, keep, partial(self._note_unsaved, loaded.lane.conversation)
        )
        names = [name for proposal in outcome.others for name in proposal.data.get("memories", ())]
        if names:
            self._recall.count(case, names)
        _log_report(report)
        return fitted, report

    async def _summarise(
        self,
        case: FitRequest,
        loaded: LoadedLane,
        fitted: FittedWindow,
        state: lanes.LaneState,
        *,
        in_loop: bool = False,
    ) -> tuple[FittedWindow, CompactionRecord | None, lanes.LaneState]:
        """Replaces the older part by a summary, because shortening and leaving out were not enough."""
        before = fitted.before_last_resort()
        inline = await self._compaction.inline(case, loaded, before, in_loop=in_loop)
        if inline is None:
            return fitted, None, state
        if inline.fitted is not before:
            fitted = await asyncio.to_thread(self._fit_again, inline.fitted, ())
        return fitted, inline.record, replace(state, tried=inline.tried)

    def _note_unsaved(self, conversation: str, error: HoldfastError) -> None:
        """Has the next report say that these decisions are lost (a full disk, a faster process)."""
        log.warning("the decisions for a window could not be saved: %s", error)
        self._unsaved[conversation] = "not_kept"

    def _fit_first(self, case: FitRequest) -> "_FirstFit":
        """Loads the lane, adds what comes with the question, and applies the levels."""
        loaded = self._store.read_snapshot(
            load_lane_for, self._store, case.request, case.question, case.budget, case.count
        )
        refused = self._refused.pop(loaded.lane.conversation, None)
        state = _trusted_room(loaded.lane.state, refused)
        draft = draft_of(case, loaded, min(state.slack, state.most))
        profile = self._recall.profile(case)
        view = self._attach(case, loaded, _add_attachments(case, loaded, draft, profile.text))
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
        return _FirstFit(loaded, fitted, state, notices, recalls)

    async def _bring(
        self, fitted: FittedWindow, case: FitRequest, first: "_FirstFit"
    ) -> tuple[FittedWindow, Evidence, list[str]]:
        """Adds earlier findings and evidence for the question; returns what was searched and what failed."""
        findings: list[Proposal] | None = []
        if self._findings is not None and first.recalls:
            findings = await self._recall.in_time(self._findings.find_related, fitted.view, case)
        notices = ["not_recalled"] if findings is None else []
        found = findings or []

        def fit_evidence(proposals: Sequence[Proposal], evidence: Evidence) -> FittedWindow:
            again = self._fit_again(fitted, [*found, *proposals]) if found or proposals else fitted
            return replace(again, view=self._recall.keep_earlier(again.view, case, first.loaded, evidence))

        view = fitted.view.having(*found) if found else fitted.view
        # The window is made in the thread that searched: every change of threads takes time.
        brought, evidence, more = await self._recall.bring(view, case, first.loaded, fit_evidence)
        if brought is None:
            changes = found or leaving_evidence(fitted.view)
            brought = await asyncio.to_thread(fit_evidence, (), evidence) if changes else fitted
        return brought, evidence, [*dict.fromkeys((*notices, *more))]

    def _attach(self, case: FitRequest, loaded: LoadedLane, view: View) -> View:
        """Adds the files that the question names, and the finding of research that was asked for with it."""
        question = view.question
        if question is None or question is not loaded.items[-1]:
            return view
        if not loaded.lane.version and (taken := carry_over(self._store, view, loaded.lane)):
            view = view.having(*taken)
        files = files_for(self._store, view, question, loaded.lane.conversation, case.attachments)
        view = view.having(*files) if files else view
        if self._findings is None:
            return view
        return self._findings.attach(view, question, case.attachments.finding, case.scope)

    def _apply_levels(self, view: View, at_least: int = 0) -> FittedWindow:
        return fit_view(view, every_turn=self.preset.prune_every_turn, at_least=at_least)

    def _fit_again(self, fitted: FittedWindow, more: Sequence[Proposal]) -> FittedWindow:
        """Makes the window again, with more proposals."""
        again = self._apply_levels(
            View(replace(fitted.view.draft, fired=fitted.fired), [*fitted.view.proposals, *more])
        )
        return replace(again, batches=(*fitted.batches, *again.batches))


def with_open_rounds(fitted: FittedWindow) -> FittedWindow | None:
    """Return the window as it was before rounds of the open exchange were left out.

    None if none were, or if nothing is ever summarised here.
    """
    question = fitted.view.question
    if fitted.view.thresholds.summarise >= NEVER:
        return None
    dropped = {
        id(proposal): proposal
        for batch in fitted.batches
        for proposal in batch.proposals
        if isinstance(proposal, LeaveOut)
    }
    if not dropped or question is None or question in fitted.view.newest:
        return None
    depths = {item.id: item.depth for item in fitted.view.draft.items}
    if not any(depths.get(name, -1) > question.depth for each in dropped.values() for name in each.messages):
        return None
    proposals = [proposal for proposal in fitted.view.proposals if id(proposal) not in dropped]
    batches = [batch for batch in fitted.batches if not any(id(each) in dropped for each in batch.proposals)]
    view = View(fitted.view.draft, proposals)
    return replace(fitted, view=view, batches=tuple(batches), whole=None)


def _fit_side_request(case: FitRequest) -> FittedWindow:
    """Cuts a side request as little as possible: it has no history, and no decision of it is saved."""
    system = leading_system(case.request.messages)
    talk = case.request.messages[len(system) :]
    items = tuple(Item(f"x_{at}", message) for at, message in enumerate(talk))
    draft = Draft(items, case.budget, case.counter, system=system, tools=case.request.tools)
    return fit(draft, levels=False)


def _add_attachments(case: FitRequest, loaded: LoadedLane, draft: Draft, profile: str = "") -> View:
    """Returns the view with profile, the client's context and the time, before any level is applied."""
    view = View(draft, [] if loaded.horizon is None else [loaded.horizon])
    if leaving := drop_evidence(view):
        # First of all: evidence for an earlier question must not push out anything. In the end some may stay.
        view = view.having(*leaving)
    if changed := propose_profile(view, profile):
        view = view.having(*changed)
    question = view.question
    if question is None or question is not loaded.items[-1]:
        return view
    proposals = context_for(view, question, case.attachments.context)
    clocks = [
        addition.text for shown in view.shown for addition in shown.additions if addition.section == "clock"
    ]
    if loaded.clock and clocks[-1:] != [loaded.clock]:
        proposals.append(propose_addition(view, question, "clock", loaded.clock, new_id("d")))
    return view.having(*proposals) if proposals else view


def carry_over(store: Store, view: View, lane: lanes.Lane) -> list[Proposal]:
    """Returns the files and sources that a new lane takes over from the conversation's last one."""
    before = next((other for other in store.lanes.of(lane.conversation) if other.id != lane.id), None)
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
        # Memories are searched again: this server may not be allowed to read them.
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


def _trusted_room(state: lanes.LaneState, refused: tuple[float, float] | None) -> lanes.LaneState:
    """Returns the lane's state with the share of the room that may be used after the last refusal."""
    if refused is None:
        # A little more with every turn: counts have been learned since, or the cause has passed.
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
