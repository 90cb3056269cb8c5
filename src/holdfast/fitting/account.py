"""How messages stand in the windows of a conversation: there, shortened or left out, by which decision.

Renders log and decisions as a request would, for those who want to know. It decides and writes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.conversations.lanes import PIN
from holdfast.conversations.serialization import (
    serialize_compaction,
    serialize_content,
    serialize_conversation,
    serialize_decision,
    serialize_message,
)
from holdfast.errors import NotFound
from holdfast.fitting.lot import item_of
from holdfast.fitting.outcome import SUMMARY
from holdfast.messages import Message
from holdfast.store import Conversation, Decision, Lane, Store, Stored
from holdfast.window import sentences
from holdfast.window.decisions import GONE, Addition, AppliedDecisions
from holdfast.window.view import ShownMessage, render

# What every window leaves away, whatever else is done: it is not worth telling for each message.
_ALWAYS = {"thinking", "banner"}


@dataclass(frozen=True, slots=True)
class Standing:
    """A message in one window. `shown` is what a model sees of it, None if that is nothing.

    `added` stands behind it there, and was not said in the conversation.
    """

    stored: Stored
    state: Literal["in", "shortened", "out", "elsewhere"]
    rules: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    shown: Message | None = None
    added: tuple[Addition, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "rules": list(self.rules),
            "decisions": [serialize_decision(made) for made in self.decisions],
            "shown": serialize_content(self.shown) if self.state == "shortened" and self.shown else None,
            "added": [{"section": one.section, "text": one.text} for one in self.added],
        }


def lane_of(store: Store, conversation: Conversation, window: int | None = None) -> Lane:
    """The conversation's window that was last used, or the one of this size."""
    used = [lane for lane in store.lanes.of(conversation.id) if lane.report]
    if not used:
        raise NotFound(
            f"nothing of {conversation.id} was sent to a model yet.",
            hint="There is a window once something was asked in it.",
        )
    for lane in used:
        if window in (None, lane.window):
            return lane
    sizes = ", ".join(str(lane.window) for lane in used)
    raise NotFound(f"{conversation.id} had no window of {window} tokens.", hint=f"There are these: {sizes}.")


def standings(store: Store, conversation: Conversation, lane: Lane) -> list[Standing]:
    """All messages that lead to the conversation's head, in order, as they stand in a window."""
    path = store.log.path(conversation.head) if conversation.head else []
    decisions = store.decisions.of(lane.id)
    rendered = render([item_of(stored) for stored in path], decisions)
    shown = {one.item.id: one for one in rendered.shown}
    named = _by_message(decisions)
    way = {stored.id for stored in path}
    floors = [made for made in decisions if made.data.get("through") in way]
    found = []
    for stored in path:
        by_name = named.get(stored.id, [])
        below = [made for made in floors if made not in by_name and _is_below(made, stored)]
        touching = (*by_name, *below)
        found.append(_standing(stored, shown.get(stored.id), rendered.out, touching))
    return found


def _standing(
    stored: Stored, shown: ShownMessage | None, out: Mapping[str, str], touching: Sequence[Decision]
) -> Standing:
    if shown is None:
        rule = out[stored.id]
        behind = tuple(made for made in touching if made.kind in GONE and made.rule == rule)
        return Standing(stored, "out", (rule,), behind)
    return Standing(
        stored,
        "shortened" if shown.rules and shown.message is not stored.message else "in",
        shown.rules,
        tuple(made for made in touching if made.kind not in GONE),
        shown.message,
        shown.additions,
    )


def changed(found: Sequence[Standing]) -> list[Standing]:
    """Those of which a model is shown less than was said."""
    return [one for one in found if one.state != "in" and set(one.rules) - _ALWAYS]


def message_account(store: Store, conversation: Conversation, stored: Stored) -> dict[str, Any]:
    """A message in full, and how it stands in every window of the conversation."""
    beside = store.log.children(stored.parent) if stored.parent else []
    pins = {mark.message for mark in store.marks.of(stored.id) if mark.kind == PIN}
    windows = []
    for lane in store.lanes.of(conversation.id):
        of_all = {one.stored.id: one for one in standings(store, conversation, lane)}
        here = of_all.get(stored.id) or Standing(stored, "elsewhere")
        windows.append({"lane": lane.id, "window": lane.window, **here.to_json()})
    return {
        **serialize_message(stored),
        "pinned": stored.id in pins,
        "siblings": [other.id for other in beside if other.id != stored.id],
        "children": [child.id for child in store.log.children(stored.id)],
        "windows": windows,
    }


def window_account(store: Store, conversation: Conversation, window: int | None = None) -> dict[str, Any]:
    """The report of the last request, with the decisions that hold now and those that were undone."""
    lane = lane_of(store, conversation, window)
    path = store.log.path(conversation.head) if conversation.head else []
    decisions = store.decisions.of(lane.id)
    return {
        **lane.report,
        "lane": lane.id,
        "conversation": conversation.id,
        "updated_at": lane.updated_at,
        "windows": [other.window for other in store.lanes.of(conversation.id)],
        "summary": AppliedDecisions.of(decisions, [item_of(stored) for stored in path]).summary or None,
        "decisions": [serialize_decision(made) for made in decisions],
        "vetoes": [serialize_decision(made) for made in store.decisions.vetoes(lane.id)],
    }


def summary_account(store: Store, conversation: Conversation) -> dict[str, Any]:
    """The last summary that was put into a window: what became of how much, how, and in which time."""
    rows = compactions_account(store, conversation)["compactions"]
    last = next(row for row in reversed(rows) if row["level"] == SUMMARY)
    before, after = last["tokens_before"], last["tokens_after"]
    return {
        "conversation": conversation.id,
        **last,
        "saved_percent": sentences.percent_saved(before, after),
        "banner": sentences.banner(before, after),
    }


def came_back(store: Store, conversation: Conversation, undone: Sequence[Decision]) -> list[str]:
    """The messages that were out by these decisions of one window and by no other, in order."""
    path = store.log.path(conversation.head) if conversation.head else []
    items = [item_of(stored) for stored in path]
    in_force = store.decisions.of(undone[0].lane)
    before = sorted([*in_force, *undone], key=lambda one: (one.created_at, one.id))
    gone = AppliedDecisions.of(in_force, items).left_out(items)
    return [name for name in AppliedDecisions.of(before, items).left_out(items) if name not in gone]


def compactions_account(store: Store, conversation: Conversation) -> dict[str, Any]:
    """Every batch that freed room in one of the conversation's windows, oldest first."""
    lanes = store.lanes.of(conversation.id)
    made = [one for lane in lanes for one in (*store.decisions.of(lane.id), *store.decisions.vetoes(lane.id))]
    made.sort(key=lambda one: (one.created_at, one.id))
    rows = store.compactions.of(conversation.id)
    return {
        "chat": serialize_conversation(conversation),
        "compactions": [serialize_compaction(row, made) for row in rows],
    }


def pins_of(store: Store, conversation: Conversation) -> set[str]:
    marks = store.marks.of(conversation.head) if conversation.head else []
    return {mark.message for mark in marks if mark.kind == PIN}


def _by_message(decisions: Sequence[Decision]) -> dict[str, list[Decision]]:
    found: dict[str, list[Decision]] = {}
    for made in decisions:
        for name in made.messages:
            found.setdefault(name, []).append(made)
    return found


def _is_below(made: Decision, stored: Stored) -> bool:
    """Whether a decision leaves out everything up to some message, this one included."""
    return stored.depth <= made.data["depth"] and stored.id not in made.data.get("keep", ())
