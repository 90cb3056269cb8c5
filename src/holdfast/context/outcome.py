"""What is stored of a window: its decisions, the record of each level, and the state of its lane after it.

The state is condensed: however long a conversation is, its next window begins with little to read.

A memory that was forgotten or corrected leaves every window that quotes it, or is told there as it is now.
Its old words stay nowhere: the decisions that brought them in are rewritten, and so are the reports.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.compaction.compactor import CompactionRecord
from holdfast.context.loading import LoadedLane
from holdfast.conversations import lanes
from holdfast.memory.base import MemoryNews
from holdfast.memory.scopes import can_recall_from, visible
from holdfast.messages import JsonObject, Scope
from holdfast.research.finding import Finding
from holdfast.store import Decision, Store, new_id
from holdfast.window.decisions import GONE, Add, DecisionLike, Proposal, is_on_way, places_of
from holdfast.window.fit import Batch, FittedWindow
from holdfast.window.report import Link

# The level whose work is a summary.
SUMMARY = 3


@dataclass(frozen=True, slots=True)
class FitOutcome:
    """`batches` is what levels did; `others` was decided beside that. `names` has new ids, by identity."""

    lane: lanes.Lane
    batches: tuple[Batch, ...]
    others: tuple[Proposal, ...]
    state: lanes.LaneState
    names: Mapping[int, str]

    def keep(
        self, store: Store, report: JsonObject, duration_ms: int, summary: CompactionRecord | None = None
    ) -> None:
        """To be done in one transaction: decisions, the record of each batch, the lane, and a new summary.

        What was forgotten while the window was made is not kept with it.
        """
        lane = self.lane
        if summary is not None:
            summary.save(store)
        proposals = [without_buried(store, lane.conversation, proposal) for proposal in self.others]
        for proposal in proposals:
            self._record(store, proposal)
        words = current_texts(store, lane.decisions)
        words |= {
            old.data["text"]: new.data["text"]
            for old, new in zip(self.others, proposals, strict=True)
            if new is not old
        }
        for batch in self.batches:
            row = store.compactions.record(
                lane.conversation,
                lane=lane.id,
                level=batch.level,
                strategy=batch.strategy,
                messages=len(summary.covers) if summary and batch.level == SUMMARY else batch.messages,
                tokens_before=batch.tokens_before,
                tokens_after=batch.tokens_after,
                tokens_freed=_freed_tokens(batch),
                **_summary_fields(summary, duration_ms)
                if batch.level == SUMMARY
                else {"duration_ms": duration_ms},
            )
            for proposal in batch.proposals:
                self._record(store, proposal, row.id)
        store.lanes.put(
            lane.id,
            lane.conversation,
            window=lane.window,
            state=self.state.to_json(),
            report=reword_report(report, words) if words else report,
            expect=lane.version,
        )

    def _record(self, store: Store, proposal: Proposal, batch: str = "") -> None:
        store.decisions.record(
            self.lane.id,
            self.lane.conversation,
            kind=proposal.kind,
            rule=proposal.rule,
            messages=proposal.messages,
            tokens_before=proposal.tokens_before,
            tokens_after=proposal.tokens_after,
            reason=proposal.reason,
            data=proposal.data,
            batch=batch,
            name=proposal.id,
        )


def _freed_tokens(batch: Batch) -> int:
    """What was said and left the window by it. What a summary stands for may have left before, and was
    counted then; evidence for a question was only lent.
    """
    lent = sum(proposal.tokens_before for proposal in batch.proposals if proposal.rule == "recalled_old")
    if batch.level != SUMMARY:
        return max(0, batch.tokens_before - batch.tokens_after - lent)
    return sum(proposal.tokens_before - proposal.tokens_after for proposal in batch.proposals) - lent


def _summary_fields(summary: CompactionRecord | None, duration_ms: int) -> dict[str, Any]:
    """How a summary came about; one that was there before took no time."""
    if summary is None:
        return {"path": "reused"}
    result = summary.result
    return {
        "memories": sum(not memory.corrects for memory in result.memories),
        "model": result.model,
        "path": result.method,
        "duration_ms": duration_ms or round(result.seconds * 1000),
    }


def outcome_of(
    loaded: LoadedLane, fitted: FittedWindow, believed: lanes.LaneState, chain: Sequence[Link] | None
) -> FitOutcome:
    """`believed` is what is known of the server's room, `chain` the request that goes out if one does."""
    named = {
        id(proposal): proposal if proposal.id else replace(proposal, id=new_id("d"))
        for proposal in fitted.view.proposals
    }
    in_batches = {id(proposal) for batch in fitted.batches for proposal in batch.proposals}
    return FitOutcome(
        loaded.lane,
        tuple(
            replace(batch, proposals=tuple(named[id(proposal)] for proposal in batch.proposals))
            for batch in fitted.batches
        ),
        tuple(proposal for key, proposal in named.items() if key not in in_batches),
        _state(loaded, fitted, [*named.values()], believed, chain),
        {key: proposal.id for key, proposal in named.items()},
    )


def _state(
    loaded: LoadedLane,
    fitted: FittedWindow,
    named: Sequence[Proposal],
    believed: lanes.LaneState,
    chain: Sequence[Link] | None,
) -> lanes.LaneState:
    """How the lane stands after this: what is out as one line, and only the decisions that still show."""
    rendered, base = fitted.view.rendered, loaded.lane.state.base
    out = {name for name, rule in rendered.out.items() if rule != "orphan"}
    ends = [(item.depth, item.id) for item in loaded.items if item.id in out and item.depth >= 0]
    ends += [(base.depth, base.through)] if base is not None else []
    if loaded.horizon is not None:
        ends.append((loaded.horizon.data["depth"], loaded.horizon.data["through"]))
    decisions: list[DecisionLike] = [*loaded.lane.decisions, *named]
    new = [proposal for proposal in named if proposal.kind == "summarise"]
    state = replace(
        believed,
        base=None,
        active=None,
        fired=fitted.fired,
        left=0
        if new
        else believed.left
        + sum(proposal.tokens_before for proposal in named if proposal.kind == "leave_out"),
    )
    if chain is not None:
        summary = next((proposal.id for proposal in new), fitted.view.rendered.summarised)
        sent = tuple((link.name, link.digest, link.size) for link in chain)
        state = replace(state, sent=sent, prompt=loaded.prompt, summary=summary)
    if not ends:
        return state
    depth, through = max(ends)
    keep = tuple(item.id for item in loaded.items if 0 <= item.depth <= depth and item.id not in out)
    active = tuple(decision.id for decision in _showing(decisions, loaded, fitted))
    return replace(state, base=lanes.Base(through, depth, keep, _at(base, named)), active=active)


def _at(base: lanes.Base | None, named: Sequence[Proposal]) -> tuple[str, int]:
    """The furthest point at which any of what is out was decided to be."""
    gone = [proposal.data for proposal in named if proposal.kind in GONE]
    places = [(data["at"][0], data["at"][1]) for data in gone if "at" in data]
    summed = max((data["depth"] for data in gone if "text" in data and "depth" in data), default=-1)
    if base is not None and base.depth > summed:
        places.append(base.holds_at)
    return max(places, key=lambda place: place[1], default=("", -1))


def _showing(
    decisions: Sequence[DecisionLike], loaded: LoadedLane, fitted: FittedWindow
) -> list[DecisionLike]:
    """The decisions without which the window would not look as it does, what is merely out apart."""
    shown, places = {decision.item.id for decision in fitted.view.shown}, places_of(loaded.items)
    gone = [
        decision
        for decision in decisions
        if decision.kind in GONE and ("at" not in decision.data or is_on_way(places, *decision.data["at"]))
    ]
    # The sentences and the summary that stand for what is out, each as it was last written.
    carried = [
        decision
        for key in ("rules", "forbidden", "text")
        for decision in [decision for decision in gone if key in decision.data][-1:]
    ]
    return [
        decision
        for decision in decisions
        if decision in carried
        or (decision.kind not in GONE and (not decision.messages or shown.intersection(decision.messages)))
    ]


# How a line begins: with a date, unless somebody wrote it by hand.
_BEGINS = re.compile(r"- \d{4}-\d\d-\d\d: ")
# A correction may be so many characters longer than what it corrects; search finds the rest.
_MORE = 200


class WindowRedactor:
    """To be told what became of memories."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, news: Sequence[MemoryNews]) -> None:
        if self._store.decisions.quoting({change.memory for change in news}):
            self._store.atomically(self._rewrite, news)

    def _rewrite(self, news: Sequence[MemoryNews]) -> None:
        scopes: dict[str, Scope] = {}
        for decision in self._store.decisions.quoting({change.memory for change in news}):
            if decision.conversation not in scopes:
                scopes[decision.conversation] = self._store.log.get(decision.conversation).scope
            ours = {
                change.memory: change.text
                for change in news
                if can_recall_from(scopes[decision.conversation], change.folder)
            }
            data = reword_memories(decision.data, ours)
            if data != decision.data:
                self._decide(decision, data)

    def _decide(self, decision: Decision, data: JsonObject) -> None:
        old, new = decision.data["text"], data["text"]
        tokens = decision.tokens_after * len(new) // max(1, len(old))
        self._store.decisions.rewrite(decision.id, data=data, tokens_after=tokens)
        # Nothing hangs on this one: it tells when and why the window changed.
        self._store.decisions.record(
            decision.lane,
            decision.conversation,
            kind="replace",
            rule="forgotten",
            messages=decision.messages,
            tokens_before=decision.tokens_after,
            tokens_after=tokens,
            reason="a memory was forgotten or corrected",
            data={"instead": {}},
        )
        lane = self._store.lanes.get(decision.lane)
        if lane is not None:
            self._store.lanes.replace_report(lane.id, reword_report(lane.report, {old: new}))


class FindingGone:
    """To be told of findings that were forgotten: neither their sources nor their notes stay in a window."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, finding: Finding) -> None:
        self._store.atomically(self._rewrite, {finding.id, *finding.merged})

    def _rewrite(self, names: set[str]) -> None:
        for decision in self._store.decisions.quoting(names):
            gone = {decision.data["text"]: "", decision.data.get("short", ""): ""}
            self._store.decisions.rewrite(
                decision.id, data={**decision.data, "text": "", "short": ""}, tokens_after=0
            )
            for other in self._store.decisions.of(decision.lane):
                instead = other.data.get("instead", {})
                if instead.get(decision.id):
                    gone[instead[decision.id]] = ""
                    data = {**other.data, "instead": {**instead, decision.id: ""}}
                    self._store.decisions.rewrite(other.id, data=data, tokens_after=other.tokens_after)
            lane = self._store.lanes.get(decision.lane)
            if lane is not None:
                self._store.lanes.replace_report(lane.id, reword_report(lane.report, gone))


def without_buried(store: Store, conversation: str, proposal: Proposal) -> Proposal:
    """A decision that is about to be kept, without what was forgotten since it was proposed."""
    if not isinstance(proposal, Add) or not proposal.memories:
        return proposal
    names = proposal.memories
    scope = store.log.get(conversation).scope
    gone = {
        name
        for visible_scope in visible(scope)
        for name in store.recollections.find_forgotten(visible_scope, names)
    }
    if not gone:
        return proposal
    data = reword_memories(proposal.data, dict.fromkeys(gone, ""))
    return replace(proposal, text=data["text"], memories=tuple(data["memories"]))


def current_texts(store: Store, decisions: Sequence[Decision]) -> dict[str, str]:
    """The texts of decisions that quote something else by now than when they were read, and what it is."""
    known = {decision.id: decision.data["text"] for decision in decisions if "memories" in decision.data}
    now = {decision.id: decision.data["text"] for decision in store.decisions.get_many([*known])}
    return {text: now[name] for name, text in known.items() if now.get(name, text) != text}


def reword_memories(data: JsonObject, now: Mapping[str, str]) -> JsonObject:
    """What a decision that quotes memories holds, with the words these have now; without those with none."""
    lines = data["text"].split("\n")
    # Memories below those that the conversation begins with have no heading of their own.
    heading = [] if lines[0].startswith("- ") else [lines.pop(0)]
    lines_by_memory = {
        name: _correct_line(line, now[name]) if name in now else line
        for name, line in zip(data["memories"], lines, strict=False)
    }
    left = {name: line for name, line in lines_by_memory.items() if line}
    text = "\n".join((*heading, *left.values())) if left else ""
    return {**data, "text": text, "memories": [*left]}


def reword_report(report: JsonObject, texts: Mapping[str, str]) -> dict[str, Any]:
    """A report that shows other texts in the place of some; none where nothing is left of one."""
    shown = [
        {**row, "added": _added_rows(row["added"], texts)} if "added" in row else row
        for row in report.get("messages", ())
    ]
    return {**report, "messages": shown} if shown else {**report}


def _added_rows(rows: Collection[JsonObject], texts: Mapping[str, str]) -> list[JsonObject]:
    new = [{**row, "text": texts.get(row["text"], row["text"])} for row in rows]
    return [row for row in new if row["text"]]


def _correct_line(line: str, text: str) -> str:
    """The line with the words as they are now; none where they need much more room than there was."""
    begins = _BEGINS.match(line)
    new = f"{begins[0] if begins else '- '}{' '.join(text.split())}" if text else ""
    return new if len(new) <= len(line) + _MORE else ""
