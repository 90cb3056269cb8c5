"""What went out turn by turn: each request of a window, made again from log and decisions as they were.

The last request has left its fingerprints, so whether that one came out the same is known and not believed.
It sends, counts and writes nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

from holdfast.context.loading import in_order, item_of, leading_system, recalls
from holdfast.conversations import lanes
from holdfast.errors import NotFound
from holdfast.messages import ChatRequest, JsonObject, Message
from holdfast.store import (
    Compaction,
    ConversationRecord,
    Decision,
    JobRecord,
    LaneRecord,
    MessageRecord,
    Store,
)
from holdfast.tokens.budget import budget_for
from holdfast.tokens.counter import EstimatingCounter
from holdfast.window.additions import clock_for
from holdfast.window.decisions import read_decision
from holdfast.window.fit import Batch, FittedWindow
from holdfast.window.items import Item
from holdfast.window.report import SYSTEM, TOOLS, Link, Prefix, chain_of, prefix_of
from holdfast.window.view import Draft, View

# More jobs than these are not looked through for one conversation.
_JOBS = 10_000


@dataclass(frozen=True, slots=True)
class Sent:
    """The last request of a window. `differs` names what is not as it was; `missing` is not in the log."""

    request: ChatRequest
    job: JobRecord | None
    differs: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def exact(self) -> bool:
        return not self.differs and not self.missing


@dataclass(frozen=True, slots=True)
class ReplayedTurn:
    """A question to the model, its answer as far as it is on the way to the head, and what of the request
    before it the request began with; None where one of the two cannot be rendered."""

    job: JobRecord
    question: str | None
    answer: str | None
    prefix: Prefix | None

    def to_json(self) -> dict[str, Any]:
        job, usage = self.job, self.job.usage
        return {
            "job": job.id,
            "at": job.queued_at,
            "status": job.status,
            "model": job.model,
            "question": self.question,
            "answer": self.answer,
            "tokens": {"prompt": usage.prompt, "completion": usage.completion, "cached": usage.cached},
            "first_token_seconds": _between(job.queued_at, job.first_token_at),
            "seconds": _between(job.queued_at, job.finished_at),
            "prefix": None if self.prefix is None else _describe(self.prefix),
        }


@dataclass(frozen=True, slots=True)
class _RebuiltRequest:
    view: View
    chain: tuple[Link, ...]


class _Past:
    """All that is needed to see a lane as it was at any time."""

    def __init__(self, store: Store, conversation: ConversationRecord, lane: LaneRecord) -> None:
        self._store = store
        self.lane = lane
        self.jobs = _jobs(store, conversation, lane)
        decisions = [*store.decisions.of(lane.id), *store.decisions.vetoes(lane.id)]
        self.decisions = sorted(decisions, key=lambda one: (one.created_at, one.id))
        head = conversation.head
        self._marked = lanes.load_lane(store, conversation.id, lane.window, head)
        self._prompts: dict[str, tuple[tuple[Message, ...], tuple[JsonObject, ...]]] = {}

    def instructions(self, digest: str | None) -> tuple[tuple[Message, ...], tuple[JsonObject, ...]]:
        if not digest:
            return (), ()
        if digest not in self._prompts:
            try:
                prompt = self._store.prompts.get(digest)
                self._prompts[digest] = leading_system(prompt.system), in_order(prompt.tools)
            except NotFound:
                self._prompts[digest] = (), ()
        return self._prompts[digest]

    def view(
        self,
        items: Sequence[Item],
        decisions: Iterable[Decision],
        system: tuple[Message, ...],
        tools: tuple[JsonObject, ...],
        new: Iterable[Decision] = (),
    ) -> View:
        draft = Draft(
            tuple(items),
            # Nothing is measured here, but a draft that cannot be is none.
            budget_for(self.lane.window),
            EstimatingCounter(""),
            system=system,
            tools=tools,
            decisions=tuple(decisions),
            rules=self._marked.sentences(lanes.RULE),
            agreed=self._marked.sentences(lanes.AGREED),
            forbidden=self._marked.sentences(lanes.FORBIDDEN),
        )
        return View(draft, map(read_decision, new))

    def in_force(self, job: JobRecord | None) -> list[Decision]:
        """What held for the request of a job; without one, what holds now."""
        start, end = (job.queued_at, _end(job)) if job else (inf, inf)
        return [
            decision
            for decision in self.decisions
            if decision.created_at <= end and (decision.vetoed_at is None or decision.vetoed_at > start)
        ]


def last_sent(store: Store, conversation: ConversationRecord, lane: LaneRecord) -> Sent:
    """What the model was last sent in this window."""
    past, state = _Past(store, conversation, lane), lanes.LaneState.from_json(lane.state)
    sent = [Link(*link) for link in state.sent]
    names = [link.name for link in sent if link.name not in (TOOLS, SYSTEM)]
    items = [item_of(stored) for stored in _path_to(store, conversation, names)]
    known = {item.id for item in items}
    job = past.jobs[-1] if past.jobs else None
    system, own = past.instructions(state.prompt)
    tools = past.instructions(job.prompt)[1] if job and job.prompt else own
    best: tuple[View, tuple[str, ...]] | None = None
    then, now = past.in_force(job), past.in_force(None)
    # A server that may not be told what is remembered got the same without it.
    for decisions in (then, now, [decision for decision in then if not recalls(decision)]):
        view = past.view(items, decisions, system, tools)
        differs = _differing(chain_of(view), sent)
        if best is None or len(differs) < len(best[1]):
            best = view, differs
        if not differs:
            break
    assert best is not None
    missing = tuple(name for name in names if name not in known)
    differs = tuple(name for name in best[1] if name not in missing)
    request = ChatRequest(lane.report["model"], best[0].messages, tools)
    return Sent(request, job, differs, missing)


def turns_of(
    store: Store, conversation: ConversationRecord, lane: LaneRecord, limit: int
) -> list[ReplayedTurn]:
    """The last turns in this window, oldest first."""
    past = _Past(store, conversation, lane)
    path = store.log.path(conversation.head) if conversation.head else []
    places = {stored.job: at for at, stored in enumerate(path) if stored.job}
    batches = [row for row in store.compactions.of(conversation.id) if row.lane == lane.id]
    jobs = past.jobs[-limit - 1 :]
    turns = [] if len(past.jobs) > limit else [_first(past.jobs[0], path, places)] if past.jobs else []
    requests = _rebuild_requests(past, jobs, path, places)
    for (before, job), (earlier, now) in zip(pairwise(jobs), pairwise(requests), strict=True):
        prefix = None
        if earlier is not None and now is not None:
            meanwhile = [row for row in batches if _end(before) < row.created_at <= _end(job)]
            fitted = FittedWindow(now.view, tuple(map(_batch, meanwhile)), {})
            prefix = prefix_of(fitted, earlier.chain, now.chain, earlier.view.rendered.summarised)
        turns.append(ReplayedTurn(job, *_ends(job, path, places), prefix))
    if turns and turns[-1].job is past.jobs[-1] and turns[-1].answer is not None:
        turns[-1] = _from_report(turns[-1], lane.report)
    return turns


def _rebuild_requests(
    past: _Past, jobs: Sequence[JobRecord], path: Sequence[MessageRecord], places: dict[str, int]
) -> list[_RebuiltRequest | None]:
    """The request of each job, with what was new in it as proposed; None if its answer is not on the way."""
    requests: list[_RebuiltRequest | None] = []
    prompts, before = _prompts(past), -inf
    items = [item_of(stored) for stored in path]
    for job in jobs:
        if job.id in places:
            system, tools = past.instructions(prompts[job.id])[0], past.instructions(job.prompt)[1]
            held = past.in_force(job)
            old = [decision for decision in held if decision.created_at <= before]
            new = [decision for decision in held if decision.created_at > before]
            view = past.view(items[: places[job.id]], old, system, tools, new)
            requests.append(_RebuiltRequest(view, chain_of(view)))
        else:
            requests.append(None)
        before = _end(job)
    return requests


def _prompts(past: _Past) -> dict[str, str]:
    """The instructions that went out with each job, one after the other from the first."""
    prompts, prompt = {}, ""
    for job in past.jobs:
        prompts[job.id] = prompt = _prompt(past, prompt, job)
    return prompts


def _prompt(past: _Past, before: str, job: JobRecord) -> str:
    """The instructions that went out with a job: those before it where only the time in them changed."""
    system, earlier = past.instructions(job.prompt)[0], past.instructions(before)[0]
    if not before or before == job.prompt:
        return job.prompt or ""
    if not system or clock_for(earlier, system) is not None:
        return before
    return job.prompt or ""


def _path_to(store: Store, conversation: ConversationRecord, names: Sequence[str]) -> list[MessageRecord]:
    """The messages that lead to the newest of these that the log has."""
    for name in reversed(names):
        try:
            message = lanes.get_message(store, conversation, name)
        except NotFound:
            continue
        return store.log.path(message.id)
    return []


def _jobs(store: Store, conversation: ConversationRecord, lane: LaneRecord) -> list[JobRecord]:
    """The turns of the conversation in windows of this size, oldest first."""
    jobs = store.jobs.recent(_JOBS, conversation=conversation.id)
    return [job for job in reversed(jobs) if job.kind == "main" and job.window in (None, lane.window)]


def _differing(now: Sequence[Link], sent: Sequence[Link]) -> tuple[str, ...]:
    """The names of pieces that are not the same in both, or not at the same place."""
    if tuple(now) == tuple(sent):
        return ()
    ours, theirs = set(now), set(sent)
    names = [link.name for link in sent if link not in ours]
    names += [link.name for link in now if link not in theirs and link.name not in names]
    return tuple(names) or ("order",)


def _first(job: JobRecord, path: Sequence[MessageRecord], places: dict[str, int]) -> ReplayedTurn:
    return ReplayedTurn(job, *_ends(job, path, places), Prefix(0, 0, "first"))


def _ends(
    job: JobRecord, path: Sequence[MessageRecord], places: dict[str, int]
) -> tuple[str | None, str | None]:
    at = places.get(job.id)
    return (None, None) if at is None else (path[at].parent, path[at].id)


def _from_report(turn: ReplayedTurn, report: JsonObject) -> ReplayedTurn:
    """Of the last request it was written down at the time."""
    told = report["prefix"]
    prefix = Prefix(told["shared_bytes"], told["previous_bytes"], told["cause"])
    return ReplayedTurn(turn.job, turn.question, turn.answer, prefix)


def _batch(row: Compaction) -> Batch:
    return Batch(row.level, row.strategy, (), row.tokens_before, row.tokens_after)


def _describe(prefix: Prefix) -> dict[str, Any]:
    return {
        "kept": prefix.is_kept,
        "shared_bytes": prefix.shared_bytes,
        "previous_bytes": prefix.previous_bytes,
        "cause": prefix.cause,
    }


def _end(job: JobRecord) -> float:
    return inf if job.finished_at is None else job.finished_at


def _between(start: float, end: float | None) -> float | None:
    return None if end is None else round(max(0.0, end - start), 3)
