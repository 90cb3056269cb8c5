"""Marks: sentences that bind what is said later, noted when they are said, and messages somebody pinned.

More pins than a quarter of history are refused, or a few would push out everything else. What marks mean for
a window is known in `window`.
"""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.conversations import lanes
from holdfast.errors import BadRequest
from holdfast.fitting.lot import item_of
from holdfast.messages import Message
from holdfast.store import Conversation, Lane, Store, Stored
from holdfast.tokens.counter import EstimatingCounter
from holdfast.window.decisions import AppliedDecisions
from holdfast.window.items import units_of
from holdfast.window.presets import Preset
from holdfast.window.rules import decisions_in, drop_middle, forbidden_in, rules_in

# A conversation that was never sent anywhere has no window yet.
_USUAL_WINDOW = 8_192


def note(store: Store, appended: Sequence[Stored]) -> None:
    """Prohibitions, rules and decisions in what a person just said: they outlive their message."""
    for stored in appended:
        if stored.message.role == "user":
            said = drop_middle(stored.message.text)
            forbidden = forbidden_in(said)
            rules = tuple(rule for rule in rules_in(said) if rule not in forbidden)
            marked = ((lanes.FORBIDDEN, forbidden), (lanes.RULE, rules), (lanes.AGREED, decisions_in(said)))
            for kind, sentences in marked:
                if sentences:
                    store.marks.put(stored.id, kind, sentences)


def pin(store: Store, preset: Preset, conversation: Conversation, message: str) -> Stored:
    """Protect a message of the conversation, if that is not too much; where it had left, it comes back."""
    found = lanes.get_message(store, conversation, message)
    used = store.lanes.of(conversation.id)
    room = used[0].report.get("history", {}).get("full") if used else None
    most = (room or preset.budget(used[0].window if used else _USUAL_WINDOW).room) // 4
    tokens = _tokens(found, found.message) + sum(
        _tokens(found, store.log.message(mark.message).message)
        for mark in store.marks.of(conversation.head or found.id)
        if mark.kind == lanes.PIN and mark.message != found.id
    )
    if tokens > most:
        raise BadRequest(
            f"pinned messages would take about {tokens:,} tokens, and at most {most:,} may be pinned:"
            " a quarter of what history can have",
            hint="Unpin something first, or pin a shorter message.",
        )
    store.atomically(_pinned, store, conversation, found, used)
    return found


def _pinned(store: Store, conversation: Conversation, found: Stored, used: list[Lane]) -> None:
    store.marks.put(found.id, lanes.PIN)
    path = store.log.path(conversation.head) if conversation.head and used else []
    items = [item_of(stored) for stored in path]
    around = [unit for unit in units_of(items) if unit.has({found.id})]
    # With a round of tools comes the frame it stands in: no answer without its question.
    whole = [
        unit
        for unit in units_of(items)
        if unit in around or (unit.is_frame and any(unit.exchange == one.exchange for one in around))
    ]
    names = {item.id for unit in whole for item in unit.items}
    for lane in used:
        out = AppliedDecisions.of(store.decisions.of(lane.id), items).left_out(items)
        if found.id in out:
            _bring_back(store, lane, [item.id for item in items if item.id in names])


def _bring_back(store: Store, lane: Lane, names: list[str]) -> None:
    made = store.decisions.record(
        lane.id, lane.conversation, kind="keep", rule="pin", messages=names, tokens_before=0, tokens_after=0
    )
    state = lanes.LaneState.from_json(lane.state)
    if state.active is not None:
        state = replace(state, active=(*state.active, made.id))
    if state.base is not None:
        keep = tuple(dict.fromkeys((*state.base.keep, *names)))
        state = replace(state, base=replace(state.base, keep=keep))
    lanes.save_state(store, lane, state)


def _tokens(pinned: Stored, message: Message) -> int:
    return EstimatingCounter(pinned.model).count_message(message).tokens
