"""What is left to be kept of a window: its decisions by name, and how its lane stands after it.

Pure. The lane is condensed here: however long a conversation is, its next window begins with little to read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.conversations import lanes
from holdfast.fitting.lot import Lot
from holdfast.store import new_id
from holdfast.window.decisions import Decided, Proposal
from holdfast.window.fit import Batch, Fitted
from holdfast.window.report import Link


@dataclass(frozen=True, slots=True)
class Outcome:
    """`work` is what levels did; `others` was decided beside that. `names` has new ids, by identity."""

    work: list[lanes.Work]
    others: list[Proposal]
    state: lanes.State
    names: Mapping[int, str]


def outcome_of(
    lot: Lot, made: Fitted, believed: lanes.State, chain: Sequence[Link], duration: int
) -> Outcome:
    named = {
        id(proposal): proposal if proposal.id else replace(proposal, id=new_id("d"))
        for proposal in made.view.proposals
    }
    in_batches = {id(proposal) for batch in made.batches for proposal in batch.proposals}
    return Outcome(
        work=[_work(batch, named, duration) for batch in made.batches],
        others=[proposal for key, proposal in named.items() if key not in in_batches],
        state=_state(lot, made, [*named.values()], believed, chain),
        names={key: proposal.id for key, proposal in named.items()},
    )


def _work(batch: Batch, named: Mapping[int, Proposal], duration: int) -> lanes.Work:
    return lanes.Work(
        level=batch.level,
        strategy=batch.strategy,
        decisions=[named[id(proposal)] for proposal in batch.proposals],
        messages=batch.messages,
        tokens_before=batch.tokens_before,
        tokens_after=batch.tokens_after,
        duration_ms=duration,
    )


def _state(
    lot: Lot, made: Fitted, named: Sequence[Proposal], believed: lanes.State, chain: Sequence[Link]
) -> lanes.State:
    """How the lane stands after this: what is out as one line, and only the decisions that still show."""
    rendered, base = made.view.rendered, lot.lane.state.base
    out = {name for name, rule in rendered.out.items() if rule != "orphan"}
    ends = [(item.depth, item.id) for item in lot.items if item.id in out and item.depth >= 0]
    ends += [(base.depth, base.through)] if base is not None else []
    if lot.horizon is not None:
        ends.append((lot.horizon.data["depth"], lot.horizon.data["through"]))
    decisions: list[Decided] = [*lot.lane.decisions, *named]
    state = replace(
        believed,
        base=None,
        active=tuple(decision.id for decision in decisions),
        sent=tuple((link.name, link.digest, link.size) for link in chain),
        fired=made.fired,
        prompt=lot.prompt,
    )
    if not ends:
        return state
    depth, through = max(ends)
    keep = tuple(item.id for item in lot.items if 0 <= item.depth <= depth and item.id not in out)
    active = tuple(decision.id for decision in _showing(decisions, made))
    return replace(state, base=lanes.Base(through, depth, keep), active=active)


def _showing(decisions: Sequence[Decided], made: Fitted) -> list[Decided]:
    """The decisions without which the window would not look as it does, what is merely out apart."""
    shown = {one.item.id for one in made.view.shown}
    sentences = [one for one in decisions if one.kind == "leave_out" and "rules" in one.data][-1:]
    return [
        one
        for one in decisions
        if one in sentences
        or (one.kind != "leave_out" and (not one.messages or shown.intersection(one.messages)))
    ]
