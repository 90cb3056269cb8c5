"""A second conversation that shares the beginning of another one: its messages, and what was decided on them.

Messages are shared, not copied. Decisions belong to one conversation's window, so those that speak only of
shared messages are written down again for the fork; what to make of them is known in `window`.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from holdfast.conversations.lanes import LaneState, lane_id
from holdfast.errors import BadRequest
from holdfast.store import Conversation, Decision, Store, new_id
from holdfast.store import Lane as StoredLane


def fork(store: Store, origin: Conversation, message: str | None = None, title: str = "") -> Conversation:
    """A new conversation that goes on from `message` (by default the last). To be done in one transaction."""
    start = message or origin.head
    if start is None:
        raise BadRequest(f"{origin.id} has no messages yet.", hint="There is nothing to go on from.")
    made = store.log.fork(origin.id, start, title)
    shared = set(store.log.path_ids(start))
    # The last used is written last, so that it stays the first to be shown.
    for lane in reversed(store.lanes.of(origin.id)):
        _copy_decisions(store, lane, made, shared)
    return made


def _copy_decisions(store: Store, lane: StoredLane, made: Conversation, shared: Collection[str]) -> None:
    """The lane's decisions on shared messages, the ones that were undone too, as decisions of the fork."""
    known = [*store.decisions.of(lane.id), *store.decisions.vetoes(lane.id)]
    known.sort(key=lambda decision: (decision.created_at, decision.id))
    carried = [decision for decision in known if _is_only_about(shared, decision)]
    new = {decision.id: new_id("d") for decision in carried}
    target = lane_id(made.id, lane.window)
    for decision in carried:
        store.decisions.record(
            target,
            made.id,
            kind=decision.kind,
            rule=decision.rule,
            messages=decision.messages,
            tokens_before=decision.tokens_before,
            tokens_after=decision.tokens_after,
            reason=decision.reason,
            data=_replace_ids(decision, new),
            batch=decision.batch,
            name=new[decision.id],
            now=decision.created_at,
        )
        if decision.vetoed_at is not None:
            store.decisions.remove(new[decision.id], now=decision.vetoed_at)
    state = LaneState.from_json(lane.state)
    # What was condensed may reach beyond the fork: it is worked out anew. Nothing was sent here yet, so
    # there is no report.
    start = replace(state, base=None, active=None)
    store.lanes.put(target, made.id, window=lane.window, state=start.to_json(), report={}, expect=0)


def _is_only_about(shared: Collection[str], decision: Decision) -> bool:
    named = [*decision.messages, *([decision.data["through"]] if "through" in decision.data else [])]
    return all(name in shared for name in named)


def _replace_ids(decision: Decision, new: Mapping[str, str]) -> dict[str, object]:
    """What a decision holds, with the new ids of the decisions it speaks of."""
    data = dict(decision.data)
    if "instead" in data:
        data["instead"] = {new[name]: text for name, text in data["instead"].items() if name in new}
    return data
