"""Lanes: a conversation in a window of one size, as the store has it; and forks of conversations.

Loads no more of a conversation than its window can hold, however long it is. A fork shares messages with its
origin; decisions that concern only shared messages are copied to it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from holdfast.errors import BadRequest, NotFound
from holdfast.i18n import lazy
from holdfast.messages import JsonObject
from holdfast.store import ConversationRecord, Decision, Mark, MessageRecord, Store, new_id
from holdfast.store import LaneRecord as StoredLane

# Marks of a message.
PIN, RULE, AGREED, FORBIDDEN = "pin", "rule", "agreed", "forbidden"
# `fired` value of a level that was undone: it fires again only after history has grown.
HELD = -1

# What takes messages out of a window.
_GONE = ("leave_out", "summarise")
# Messages looked at first to find where a window's history could begin.
_LOOKED_AT = 256
# The number behind the title of a fork.
_NUMBERED = re.compile(r" \(\d+\)\Z")
# What is left of a message that was shortened, in characters.
_SHORTENED = 1_000


@dataclass(frozen=True, slots=True)
class Base:
    """Up to `through`, only the messages in `keep` are in the window; nothing else need be read.

    `at` is how far the conversation had come when that was decided: on another branch it means nothing.
    """

    through: str
    depth: int
    keep: tuple[str, ...]
    at: tuple[str, int] = ("", -1)

    @property
    def holds_at(self) -> tuple[str, int]:
        return max(self.at, (self.through, self.depth), key=lambda place: place[1])

    def to_json(self) -> list[Any]:
        return [self.through, self.depth, list(self.keep), *self.holds_at]

    @classmethod
    def from_json(cls, value: Sequence[Any]) -> "Base":
        through, depth, keep, *at = value
        return cls(through, depth, tuple(keep), (at[0], at[1]) if at else ("", -1))


@dataclass(frozen=True, slots=True)
class LaneState:
    """How a lane was left. `base` and `active` can be derived from the decisions."""

    base: Base | None = None
    # The decisions that still show; None means all of them.
    active: tuple[str, ...] | None = None
    # The last request, piece by piece: name, fingerprint, size.
    sent: tuple[tuple[str, str, int], ...] = ()
    fired: Mapping[int, int] = field(default_factory=dict)
    # The instructions as they were last sent, by the digest under which they are kept.
    prompt: str = ""
    # What refusals have taught: how much of the room is believed in, and how much the server said is there.
    slack: float = 1.0
    most: float = 1.0
    # The decision whose summary was last sent, and the tokens left out since that no summary stands for.
    summary: str = ""
    left: int = 0
    # How summarising went: when, at which depth, how much was said then, and fruitless tries since.
    tried: tuple[float, int, int, int] = (0.0, -1, 0, 0)

    def to_json(self) -> dict[str, Any]:
        return {
            "base": self.base.to_json() if self.base else None,
            "active": None if self.active is None else list(self.active),
            "sent": [list(link) for link in self.sent],
            "fired": {str(level): tokens for level, tokens in self.fired.items()},
            "prompt": self.prompt,
            "slack": self.slack,
            "most": self.most,
            "summary": self.summary,
            "left": self.left,
            "tried": list(self.tried),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> "LaneState":
        base, active = value.get("base"), value.get("active")
        return cls(
            base=Base.from_json(base) if base else None,
            active=None if active is None else tuple(active),
            sent=tuple((name, digest, size) for name, digest, size in value.get("sent", ())),
            fired={int(level): tokens for level, tokens in value.get("fired", {}).items()},
            prompt=value.get("prompt", ""),
            slack=value.get("slack", 1.0),
            most=value.get("most", 1.0),
            summary=value.get("summary", ""),
            left=value.get("left", 0),
            tried=tuple(value.get("tried", (0.0, -1, 0, 0))),
        )


@dataclass(frozen=True, slots=True)
class Lane:
    """A loaded lane: its state, the decisions in force, those that were undone, and the marks."""

    id: str
    conversation: str
    window: int
    version: int
    state: LaneState
    decisions: tuple[Decision, ...]
    vetoes: tuple[Decision, ...]
    marks: tuple[Mark, ...]

    @property
    def pins(self) -> frozenset[str]:
        return frozenset(mark.message for mark in self.marks if mark.kind == PIN)

    def sentences(self, kind: str, below: int | None = None) -> dict[str, list[str]]:
        """Return the marked sentences of one kind by message, up to a depth if one is given."""
        texts: dict[str, list[str]] = {}
        for mark in self.marks:
            if mark.kind == kind and (below is None or mark.depth <= below):
                texts.setdefault(mark.message, []).append(mark.text)
        return texts


def lane_id(conversation: str, window: int) -> str:
    return f"{conversation}:{window}"


def load_lane(store: Store, conversation: str, window: int, head: str | None) -> Lane:
    """Load the lane of a conversation for this window size, with the marks that lead to `head`."""
    name = lane_id(conversation, window)
    version, values = store.lanes.load_state(name)
    state = LaneState.from_json(values)
    if state.active is not None:
        decisions = store.decisions.get_many(state.active)
    else:
        decisions = store.decisions.of(name) if version else []
    return Lane(
        id=name,
        conversation=conversation,
        window=window,
        version=version,
        state=state,
        decisions=tuple(decisions),
        vetoes=tuple(store.decisions.vetoes(name)) if version else (),
        marks=tuple(store.marks.of(head)) if head else (),
    )


@dataclass(frozen=True, slots=True)
class History:
    """The messages that can be in a window. `horizon` is set where older messages were not read."""

    lane: Lane
    messages: tuple[MessageRecord, ...]
    horizon: Base | None = None


def load_history(store: Store, lane: Lane, head: str, characters: int) -> History:
    """Read the messages that the lane's window may hold, at most about this many characters."""
    base = lane.state.base
    if base is not None:
        messages = store.log.part(head, below=base.depth, keep=(*base.keep, base.through))
        if {base.through, base.holds_at[0]} <= {stored.id for stored in messages}:
            visible = [stored for stored in messages if stored.id != base.through or stored.id in base.keep]
            return History(lane, tuple(visible))
        lane = without_base(store, lane)
    edge = find_edge(store, lane, head, characters)
    messages = store.log.part(head, below=edge[1] if edge else -1, keep=tuple(sorted(lane.pins)))
    if edge is None:
        return History(lane, tuple(messages))
    through, depth = edge
    keep = tuple(stored.id for stored in messages if stored.depth <= depth)
    return History(lane, tuple(messages), Base(through, depth, keep))


def find_edge(store: Store, lane: Lane, head: str, characters: int) -> tuple[str, int] | None:
    """Return the last message for which there is no room, counted from the end; None if all fit.

    It stands before a question: no answer is separated from its question, and the newest question always
    stays.
    """
    out = {name for decision in lane.decisions if decision.kind in _GONE for name in decision.messages}
    cut = {name for decision in lane.decisions if decision.kind == "shorten" for name in decision.messages}
    limit = _LOOKED_AT
    while True:
        sizes, left = store.log.sizes(head, limit), characters
        question: int | None = None
        for at, (name, _, role, size) in enumerate(sizes):
            left -= 0 if name in out else min(size, _SHORTENED) if name in cut else size
            if left < 0 and question is not None:
                return sizes[question + 1][:2]
            question = at if role == "user" else question
        if len(sizes) < limit:
            return None
        limit *= 4


def without_base(store: Store, lane: Lane) -> Lane:
    """Return the lane with all its decisions: its base does not hold on the branch taken now."""
    decisions = tuple(store.decisions.of(lane.id))
    return replace(lane, state=replace(lane.state, base=None, active=None), decisions=decisions)


def undo(store: Store, conversation: ConversationRecord, decision: str | None = None) -> list[Decision]:
    """Undo a decision, or the whole last batch. It is not made again before the last resort."""
    lanes = store.lanes.of(conversation.id)
    if decision is None:
        undone = next((batch for lane in lanes if (batch := last_batch(store, lane.id))), [])
        if not undone:
            raise NotFound(
                lazy("nothing was shortened or left out in {conversation}", conversation=conversation.id)
            )
    else:
        of_all = (entry for lane in lanes for entry in store.decisions.of(lane.id))
        undone = [entry for entry in of_all if entry.id == decision]
        if not undone:
            raise NotFound(
                lazy(
                    "decision '{decision}' not found in {conversation}",
                    decision=decision,
                    conversation=conversation.id,
                )
            )
    row = next(lane for lane in lanes if lane.id == undone[0].lane)
    removed = [store.decisions.remove(entry.id) for entry in undone]
    state = LaneState.from_json(row.state)
    # Until history has grown, nothing else is cut in the place of what came back.
    save_state(store, row, replace(state, base=None, active=None, fired=dict.fromkeys((1, 2), HELD)))
    return removed


def find_undone(store: Store, conversation: ConversationRecord, decision: str | None) -> list[Decision]:
    """Return a decision that was undone, or those that were undone last."""
    vetoes = [entry for lane in store.lanes.of(conversation.id) for entry in store.decisions.vetoes(lane.id)]
    if decision is not None:
        undone = [entry for entry in vetoes if entry.id == decision]
    else:
        last = max(vetoes, key=lambda entry: (entry.vetoed_at or 0.0, entry.id), default=None)
        undone = [entry for entry in vetoes if last and entry.batch == last.batch and entry.lane == last.lane]
    if not undone:
        raise NotFound(lazy("nothing was undone in {conversation}", conversation=conversation.id))
    return undone


def redo(store: Store, conversation: ConversationRecord, undone: Sequence[Decision]) -> list[Decision]:
    """Put decisions of one window that were undone in force again."""
    row = next(lane for lane in store.lanes.of(conversation.id) if lane.id == undone[0].lane)
    restored = [store.decisions.restore(entry.id) for entry in undone]
    state = LaneState.from_json(row.state)
    save_state(store, row, replace(state, base=None, active=None, fired={}))
    return restored


def save_state(store: Store, row: StoredLane, state: LaneState) -> None:
    """Store another state of a lane; Conflict if it was changed since it was read."""
    store.lanes.put(
        row.id,
        row.conversation,
        window=row.window,
        state=state.to_json(),
        report=row.report,
        expect=row.version,
    )


def last_batch(store: Store, lane: str) -> list[Decision]:
    """Return the last decisions made to free room; additions are not among them."""
    decisions = [decision for decision in store.decisions.of(lane) if decision.batch]
    return [decision for decision in decisions if decision.batch == decisions[-1].batch]


def unpin(store: Store, conversation: ConversationRecord, message: str) -> MessageRecord:
    """Remove the pin of a message; BadRequest if it has none."""
    stored = get_message(store, conversation, message)
    if not store.marks.remove(stored.id, PIN):
        raise BadRequest(
            lazy("message '{message}' is not pinned", message=message),
            hint=lazy("`holdfast window` shows the pinned ones."),
        )
    return stored


def get_message(store: Store, conversation: ConversationRecord, message: str) -> MessageRecord:
    """Return a message of the conversation's tree; one of another conversation counts as missing."""
    stored = store.log.message(message)
    if stored.tree != conversation.tree:
        raise NotFound(lazy("message '{message}' not found", message=message))
    return stored


def fork(
    store: Store, origin: ConversationRecord, message: str | None = None, title: str = ""
) -> ConversationRecord:
    """Create a conversation that continues from `message` (default: the last). Run it in one transaction.

    Without a `title` it gets its origin's with a number, so that the two can be told apart.
    """
    start = message or origin.head
    if start is None:
        raise BadRequest(
            lazy("{id} has no messages yet.", id=origin.id), hint=lazy("There is nothing to go on from.")
        )
    conversation = store.log.fork(origin.id, start, title or _title_of_fork(store, origin))
    shared = set(store.log.path_ids(start))
    # The last used is written last, so that it stays the first to be shown.
    for lane in reversed(store.lanes.of(origin.id)):
        copy_decisions(store, lane, conversation, shared)
    return conversation


def _title_of_fork(store: Store, origin: ConversationRecord) -> str:
    base = _NUMBERED.sub("", origin.title)
    taken = {other.title for other in store.log.conversations_of(origin.tree)}
    return next(title for number in count(2) if (title := f"{base} ({number})") not in taken) if base else ""


def copy_decisions(store: Store, lane: StoredLane, copy: ConversationRecord, shared: Collection[str]) -> None:
    """Copy the lane's decisions on shared messages to the fork, including those that were undone."""
    known = [*store.decisions.of(lane.id), *store.decisions.vetoes(lane.id)]
    known.sort(key=lambda decision: (decision.created_at, decision.id))
    carried = [decision for decision in known if _is_only_about(shared, decision)]
    new = {decision.id: new_id("d") for decision in carried}
    target = lane_id(copy.id, lane.window)
    for decision in carried:
        store.decisions.record(
            target,
            copy.id,
            kind=decision.kind,
            rule=decision.rule,
            messages=decision.messages,
            tokens_before=decision.tokens_before,
            tokens_after=decision.tokens_after,
            reason=decision.reason,
            data=replace_ids(decision, new),
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
    store.lanes.put(target, copy.id, window=lane.window, state=start.to_json(), report={}, expect=0)


def _is_only_about(shared: Collection[str], decision: Decision) -> bool:
    named = [*decision.messages, *([decision.data["through"]] if "through" in decision.data else [])]
    return all(name in shared for name in named)


def replace_ids(decision: Decision, new: Mapping[str, str]) -> dict[str, object]:
    """Return the data of a decision, with the new ids of the decisions it refers to."""
    data = dict(decision.data)
    if "instead" in data:
        data["instead"] = {new[name]: text for name, text in data["instead"].items() if name in new}
    return data
