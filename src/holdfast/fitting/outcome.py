"""What is left to be kept of a window: its decisions by name, and how its lane stands after it.

The lane is condensed here: however long a conversation is, its next window begins with little to read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.conversations import lanes
from holdfast.fitting.lot import Lot
from holdfast.messages import JsonObject
from holdfast.store import Store, new_id
from holdfast.window.decisions import Decided, Proposal, is_on_way, places_of
from holdfast.window.fit import Batch, Fitted
from holdfast.window.report import Link


@dataclass(frozen=True, slots=True)
class Outcome:
    """`batches` is what levels did; `others` was decided beside that. `names` has new ids, by identity."""

    lane: lanes.Lane
    batches: tuple[Batch, ...]
    others: tuple[Proposal, ...]
    state: lanes.State
    names: Mapping[int, str]

    def keep(self, store: Store, report: JsonObject, duration_ms: int) -> None:
        """To be done in one transaction: the decisions, the record of each batch, and the lane."""
        lane = self.lane
        for proposal in self.others:
            self._record(store, proposal)
        for batch in self.batches:
            row = store.compactions.record(
                lane.conversation,
                lane=lane.id,
                level=batch.level,
                strategy=batch.strategy,
                messages=batch.messages,
                tokens_before=batch.tokens_before,
                tokens_after=batch.tokens_after,
                duration_ms=duration_ms,
            )
            for proposal in batch.proposals:
                self._record(store, proposal, row.id)
        store.lanes.put(
            lane.id,
            lane.conversation,
            window=lane.window,
            state=self.state.to_json(),
            report=report,
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


def outcome_of(lot: Lot, made: Fitted, believed: lanes.State, chain: Sequence[Link]) -> Outcome:
    """`believed` is what is known of the server's room, `chain` the request that goes out."""
    named = {
        id(proposal): proposal if proposal.id else replace(proposal, id=new_id("d"))
        for proposal in made.view.proposals
    }
    in_batches = {id(proposal) for batch in made.batches for proposal in batch.proposals}
    return Outcome(
        lot.lane,
        tuple(
            replace(batch, proposals=tuple(named[id(one)] for one in batch.proposals))
            for batch in made.batches
        ),
        tuple(proposal for key, proposal in named.items() if key not in in_batches),
        _state(lot, made, [*named.values()], believed, chain),
        {key: proposal.id for key, proposal in named.items()},
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
        active=None,
        sent=tuple((link.name, link.digest, link.size) for link in chain),
        fired=made.fired,
        prompt=lot.prompt,
    )
    if not ends:
        return state
    depth, through = max(ends)
    keep = tuple(item.id for item in lot.items if 0 <= item.depth <= depth and item.id not in out)
    active = tuple(decision.id for decision in _showing(decisions, lot, made))
    return replace(state, base=lanes.Base(through, depth, keep), active=active)


def _showing(decisions: Sequence[Decided], lot: Lot, made: Fitted) -> list[Decided]:
    """The decisions without which the window would not look as it does, what is merely out apart."""
    shown, places = {one.item.id for one in made.view.shown}, places_of(lot.items)
    sentences = [
        one
        for one in decisions
        if "rules" in one.data and ("at" not in one.data or is_on_way(places, *one.data["at"]))
    ][-1:]
    return [
        one
        for one in decisions
        if one in sentences
        or (one.kind != "leave_out" and (not one.messages or shown.intersection(one.messages)))
    ]
