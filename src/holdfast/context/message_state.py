"""How each message of a conversation stands in its window, and the sentences in it that outlive it."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.context.loading import item_of
from holdfast.context.outcome import SUMMARY
from holdfast.conversations import lanes
from holdfast.conversations.lanes import PIN
from holdfast.conversations.serialization import (
    serialize_compaction,
    serialize_content,
    serialize_conversation,
    serialize_decision,
    serialize_draft,
    serialize_message,
)
from holdfast.errors import BadRequest, NotFound
from holdfast.i18n import lazy
from holdfast.messages import Message
from holdfast.store import Decision, Store
from holdfast.store.values import ConversationRecord, DraftRecord, LaneRecord, MessageRecord
from holdfast.tokens.counter import EstimatingCounter
from holdfast.window import sentences
from holdfast.window.decisions import GONE, Addition, AppliedDecisions, LeaveOut, read_decision
from holdfast.window.items import units_of
from holdfast.window.presets import Preset
from holdfast.window.rules import decisions_in, drop_middle, forbidden_in, rules_in
from holdfast.window.view import ShownMessage, block, render

# What every window leaves away, whatever else is done: it is not worth telling for each message.
_ALWAYS = {"thinking", "banner"}


@dataclass(frozen=True, slots=True)
class MessageState:
    """A message in one window. `shown` is what a model sees of it, None if that is nothing.

    `added` stands behind it there, and was not said in the conversation.
    """

    stored: MessageRecord
    state: Literal["in", "shortened", "out", "elsewhere"]
    rules: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    shown: Message | None = None
    added: tuple[Addition, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "rules": list(self.rules),
            "decisions": [serialize_decision(decision) for decision in self.decisions],
            "shown": serialize_content(self.shown) if self.state == "shortened" and self.shown else None,
            "added": [{"section": addition.section, "text": addition.text} for addition in self.added],
        }


def lane_of(store: Store, conversation: ConversationRecord, window: int | None = None) -> LaneRecord:
    """The conversation's window that was last used, or the one of this size."""
    used = [lane for lane in store.lanes.of(conversation.id) if lane.report]
    if not used:
        raise NotFound(
            lazy("nothing of {conversation} was sent to a model yet.", conversation=conversation.id),
            hint=lazy("There is a window once something was asked in it."),
        )
    for lane in used:
        if window in (None, lane.window):
            return lane
    sizes = ", ".join(str(lane.window) for lane in used)
    raise NotFound(
        lazy("{conversation} had no window of {window} tokens.", conversation=conversation.id, window=window),
        hint=lazy("There are these: {sizes}.", sizes=sizes),
    )


def load_states(store: Store, conversation: ConversationRecord, lane: LaneRecord) -> list[MessageState]:
    """All messages that lead to the conversation's head, in order, as they stand in a window."""
    path = store.log.path(conversation.head) if conversation.head else []
    decisions = store.decisions.of(lane.id)
    rendered = render([item_of(stored) for stored in path], decisions)
    shown = {message.item.id: message for message in rendered.shown}
    named = _by_message(decisions)
    way = {stored.id for stored in path}
    floors = [decision for decision in decisions if decision.data.get("through") in way]
    states = []
    for stored in path:
        by_name = named.get(stored.id, [])
        below = [decision for decision in floors if decision not in by_name and _is_below(decision, stored)]
        touching = (*by_name, *below)
        states.append(_state_of(stored, shown.get(stored.id), rendered.out, touching))
    return states


def _state_of(
    stored: MessageRecord, shown: ShownMessage | None, out: Mapping[str, str], touching: Sequence[Decision]
) -> MessageState:
    if shown is None:
        rule = out[stored.id]
        behind = tuple(decision for decision in touching if decision.kind in GONE and decision.rule == rule)
        return MessageState(stored, "out", (rule,), behind)
    return MessageState(
        stored,
        "shortened" if shown.rules and shown.message is not stored.message else "in",
        shown.rules,
        tuple(decision for decision in touching if decision.kind not in GONE),
        shown.message,
        shown.additions,
    )


def changed_states(states: Sequence[MessageState]) -> list[MessageState]:
    """Those of which a model is shown less than was said."""
    return [state for state in states if state.state != "in" and set(state.rules) - _ALWAYS]


def message_account(store: Store, conversation: ConversationRecord, stored: MessageRecord) -> dict[str, Any]:
    """A message in full, and how it stands in every window of the conversation."""
    beside = store.log.children(stored.parent) if stored.parent else []
    pins = {mark.message for mark in store.marks.of(stored.id) if mark.kind == PIN}
    windows = []
    for lane in store.lanes.of(conversation.id):
        of_all = {state.stored.id: state for state in load_states(store, conversation, lane)}
        here = of_all.get(stored.id) or MessageState(stored, "elsewhere")
        windows.append({"lane": lane.id, "window": lane.window, **here.to_json()})
    return {
        **serialize_message(stored),
        "pinned": stored.id in pins,
        "siblings": [other.id for other in beside if other.id != stored.id],
        "children": [child.id for child in store.log.children(stored.id)],
        "windows": windows,
    }


def window_account(
    store: Store, conversation: ConversationRecord, window: int | None = None
) -> dict[str, Any]:
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
        "decisions": [serialize_decision(decision) for decision in decisions],
        "vetoes": [serialize_decision(decision) for decision in store.decisions.vetoes(lane.id)],
    }


def summary_account(store: Store, conversation: ConversationRecord) -> dict[str, Any]:
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


def came_back(store: Store, conversation: ConversationRecord, undone: Sequence[Decision]) -> list[str]:
    """The messages that were out by these decisions of one window and by no other, in order."""
    path = store.log.path(conversation.head) if conversation.head else []
    items = [item_of(stored) for stored in path]
    in_force = store.decisions.of(undone[0].lane)
    before = sorted([*in_force, *undone], key=lambda one: (one.created_at, one.id))
    gone = AppliedDecisions.of(in_force, items).left_out(items)
    return [name for name in AppliedDecisions.of(before, items).left_out(items) if name not in gone]


def compactions_account(store: Store, conversation: ConversationRecord) -> dict[str, Any]:
    """Every batch that freed room in one of the conversation's windows, oldest first."""
    lanes = store.lanes.of(conversation.id)
    decisions = [
        decision
        for lane in lanes
        for decision in (*store.decisions.of(lane.id), *store.decisions.vetoes(lane.id))
    ]
    decisions.sort(key=lambda decision: (decision.created_at, decision.id))
    rows = store.compactions.of(conversation.id)
    return {
        "chat": serialize_conversation(conversation),
        "compactions": [serialize_compaction(row, decisions) for row in rows],
    }


def pins_of(store: Store, conversation: ConversationRecord) -> set[str]:
    marks = store.marks.of(conversation.head) if conversation.head else []
    return {mark.message for mark in marks if mark.kind == PIN}


def _by_message(decisions: Sequence[Decision]) -> dict[str, list[Decision]]:
    by_message: dict[str, list[Decision]] = {}
    for decision in decisions:
        for name in decision.messages:
            by_message.setdefault(name, []).append(decision)
    return by_message


def _is_below(decision: Decision, stored: MessageRecord) -> bool:
    """Whether a decision leaves out everything up to some message, this one included."""
    return stored.depth <= decision.data["depth"] and stored.id not in decision.data.get("keep", ())


@dataclass(frozen=True, slots=True)
class Banner:
    """Where a summary took over. It stands for the first `covers` messages of the conversation.

    `tokens_previous` of those before it were the summary that it replaced.
    """

    decision: Decision
    covers: int
    tokens_before: int
    tokens_after: int
    tokens_previous: int = 0

    @property
    def text(self) -> str:
        return sentences.banner(self.tokens_before, self.tokens_after)

    @property
    def summary(self) -> str:
        """What the model reads instead: the summary, and the rules that are sent with it word for word."""
        made = read_decision(self.decision)
        assert isinstance(made, LeaveOut)
        return block(made.text or "", made.rules or (), made.agreed or (), made.forbidden or ())

    def to_json(self) -> dict[str, Any]:
        return {
            "id": None,
            "role": "system",
            "type": "compaction",
            "content": self.text,
            "decision": self.decision.id,
            "covers": self.covers,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "tokens_previous": self.tokens_previous,
            "created_at": self.decision.created_at,
        }


@dataclass(frozen=True, slots=True)
class WindowReading:
    """`banners` are named by the message they stand behind; `summary` is the text that is in force now."""

    conversation: ConversationRecord
    path: tuple[MessageRecord, ...]
    drafts: tuple[DraftRecord, ...]
    pins: frozenset[str]
    banners: Mapping[str, tuple[Banner, ...]]
    summary: str
    # The first and the last message of `path`, if there are older or newer ones that were not read.
    older: str | None = None
    newer: str | None = None

    def to_json(self) -> dict[str, Any]:
        entries: list[dict[str, Any]] = []
        for stored in self.path:
            entries.append(serialize_message(stored, self.pins))
            entries += [banner.to_json() for banner in self.banners.get(stored.id, ())]
        entries += [serialize_draft(draft) for draft in self.drafts]
        return {
            "chat": serialize_conversation(self.conversation),
            "messages": entries,
            "compaction_summary": self.summary or None,
        }


@dataclass(frozen=True, slots=True)
class Part:
    """Which messages of a conversation: the last `limit`, or those before, after or around one; or all.

    Around: as many as fit before and after, so that it can be read on in both directions.
    """

    limit: int | None = None
    before: str | None = None
    after: str | None = None
    around: str | None = None

    @property
    def at_end(self) -> bool:
        return not (self.before or self.after or self.around)


def load_reading(store: Store, conversation: ConversationRecord, part: Part = Part()) -> WindowReading:  # noqa: B008 - frozen
    path = _read(store, conversation, part)
    decisions = _decisions(store, conversation)
    ways = {stored.id for stored in path}
    summary = (
        AppliedDecisions.of(decisions, [item_of(stored) for stored in path]).summary if part.at_end else ""
    )
    at_end = not path or path[-1].id == conversation.head
    return WindowReading(
        conversation,
        tuple(path),
        tuple(store.drafts.of(conversation.id)) if at_end else (),
        frozenset(pins_of(store, conversation)),
        _banners(decisions, ways),
        summary,
        path[0].id if path and path[0].parent is not None else None,
        None if at_end else path[-1].id,
    )


def banners_of(store: Store, conversation: ConversationRecord) -> dict[str, tuple[Banner, ...]]:
    """All banners of a conversation, however long it is, by the message they stand behind."""
    decisions = [decision for decision in _decisions(store, conversation) if decision.kind == "summarise"]
    if not decisions or conversation.head is None:
        return {}
    return _banners(decisions, set(store.log.path_ids(conversation.head)))


def _read(store: Store, conversation: ConversationRecord, part: Part) -> list[MessageRecord]:
    if conversation.head is None:
        return []
    if part.limit is None:
        return store.log.path(conversation.head)
    if part.at_end:
        return store.log.tail(conversation.head, part.limit)
    ids = store.log.path_ids(conversation.head)
    first, end = _between(conversation, part, ids, part.limit)
    return store.log.tail(ids[end - 1], end - first) if end > first else []


def _between(conversation: ConversationRecord, part: Part, ids: Sequence[str], limit: int) -> tuple[int, int]:
    """Where a part begins and ends on the way."""
    name = part.before or part.after or part.around or ""
    try:
        at = ids.index(name)
    except ValueError:
        raise NotFound(
            lazy("message '{name}' does not lead to the end of {id}", name=name, id=conversation.id)
        ) from None
    if part.before:
        return max(0, at - limit), at
    if part.after:
        return at + 1, min(len(ids), at + 1 + limit)
    end = min(len(ids), at + (limit + 1) // 2)
    return max(0, end - limit), end


def _decisions(store: Store, conversation: ConversationRecord) -> list[Decision]:
    """Those of the window that was last used."""
    used = store.lanes.of(conversation.id)
    return store.decisions.of(used[0].id) if used else []


def _banners(decisions: Iterable[Decision], ways: Container[str]) -> dict[str, tuple[Banner, ...]]:
    """Not from the statistics, which are forgotten one day: what is said here stays the same."""
    banners: dict[str, tuple[Banner, ...]] = {}
    previous = 0
    for decision in decisions:
        # What was summarised before an edit further up was never said in what is read now.
        if decision.kind != "summarise" or (through := decision.data["through"]) not in ways:
            continue
        depth, before, after = decision.data["depth"], decision.tokens_before, decision.tokens_after
        banner = Banner(decision, depth + 1, before, after, min(previous, before))
        banners[through] = (*banners.get(through, ()), banner)
        previous = after
    return banners


# A conversation that was never sent anywhere has no window yet.
_USUAL_WINDOW = 8_192


# So many messages of one request are read for rules: it takes a millisecond each.
_MAX_READ = 2_000


def note_sentences(store: Store, appended: Sequence[MessageRecord]) -> None:
    """Prohibitions, rules and decisions in what a person just said: they outlive their message.

    Of a history that comes all at once, the newest part is read.
    """
    for stored in appended[-_MAX_READ:]:
        if stored.message.role == "user":
            said = drop_middle(stored.message.text)
            forbidden = forbidden_in(said)
            rules = tuple(rule for rule in rules_in(said) if rule not in forbidden)
            marked = ((lanes.FORBIDDEN, forbidden), (lanes.RULE, rules), (lanes.AGREED, decisions_in(said)))
            for kind, sentences in marked:
                if sentences:
                    store.marks.put(stored.id, kind, sentences)


def pin(store: Store, preset: Preset, conversation: ConversationRecord, message: str) -> MessageRecord:
    """Protect a message of the conversation, if that is not too much; where it had left, it comes back."""
    stored = lanes.get_message(store, conversation, message)
    used = store.lanes.of(conversation.id)
    room = used[0].report.get("history", {}).get("full") if used else None
    most = (room or preset.budget(used[0].window if used else _USUAL_WINDOW).room) // 4
    tokens = _tokens(stored, stored.message) + sum(
        _tokens(stored, store.log.message(mark.message).message)
        for mark in store.marks.of(conversation.head or stored.id)
        if mark.kind == lanes.PIN and mark.message != stored.id
    )
    if tokens > most:
        raise BadRequest(
            lazy(
                "pinned messages would take about {tokens:,} tokens, and at most {most:,} may be "
                "pinned: a quarter of what history can have",
                tokens=tokens,
                most=most,
            ),
            hint=lazy("Unpin something first, or pin a shorter message."),
        )
    store.atomically(_apply_pin, store, conversation, stored, used)
    return stored


def _apply_pin(
    store: Store, conversation: ConversationRecord, stored: MessageRecord, used: list[LaneRecord]
) -> None:
    store.marks.put(stored.id, lanes.PIN)
    path = store.log.path(conversation.head) if conversation.head and used else []
    items = [item_of(stored) for stored in path]
    around = [unit for unit in units_of(items) if unit.has({stored.id})]
    # With a round of tools comes the frame it stands in: no answer without its question.
    whole = [
        unit
        for unit in units_of(items)
        if unit in around or (unit.is_frame and any(unit.exchange == other.exchange for other in around))
    ]
    names = {item.id for unit in whole for item in unit.items}
    for lane in used:
        out = AppliedDecisions.of(store.decisions.of(lane.id), items).left_out(items)
        if stored.id in out:
            _bring_back(store, lane, [item.id for item in items if item.id in names])


def _bring_back(store: Store, lane: LaneRecord, names: list[str]) -> None:
    decision = store.decisions.record(
        lane.id, lane.conversation, kind="keep", rule="pin", messages=names, tokens_before=0, tokens_after=0
    )
    state = lanes.LaneState.from_json(lane.state)
    if state.active is not None:
        state = replace(state, active=(*state.active, decision.id))
    if state.base is not None:
        keep = tuple(dict.fromkeys((*state.base.keep, *names)))
        state = replace(state, base=replace(state.base, keep=keep))
    lanes.save_state(store, lane, state)


def _tokens(pinned: MessageRecord, message: Message) -> int:
    return EstimatingCounter(pinned.model).count_message(message).tokens
