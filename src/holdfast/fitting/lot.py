"""What a window is made of: the lane of a request, and its messages by their names in the log.

The messages are the client's, each as the log has it where it knows it, or the log's own where the client
leaves its history to us. What becomes of them is not decided here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.conversations import Placement, lanes
from holdfast.errors import NotFound
from holdfast.messages import ChatRequest, Message
from holdfast.store import Conversation, Store, Stored
from holdfast.tokens.budget import Budget
from holdfast.window.additions import clock_for
from holdfast.window.decisions import LeaveOut, Proposal, Sentences, is_on_way, places_of
from holdfast.window.items import Item
from holdfast.window.levels import limit_sentences, sentence_tokens

# How many windows of history are looked at when nothing is known of it, and characters in a token, at least.
_LOOKED_AT, _CHARACTERS = 1.5, 4
# How far back the instructions of a conversation are looked for.
_JOBS = 100


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a request belongs: the job it is, and the message its answer will follow."""

    job: str
    placement: Placement
    conversation: Conversation | None = None
    parent: str | None = None
    # What of the request was new, as the log has it, and the digest of its instructions.
    appended: tuple[Stored, ...] = ()
    prompt: str = ""
    # A finding that was meant for the next question of the conversation, which this is.
    research: str = ""


@dataclass(frozen=True, slots=True)
class Lot:
    """`told` is what the clock in the instructions says now, where the rest of them stayed as it was."""

    lane: lanes.Lane
    items: tuple[Item, ...]
    system: tuple[Message, ...]
    prompt: str
    told: str = ""
    horizon: Proposal | None = None

    @property
    def condensed(self) -> tuple[Proposal, ...]:
        """All that was left out before, as one decision."""
        base = self.lane.state.base
        return () if base is None else (_everything_before(base, "earlier"),)

    @property
    def is_whole(self) -> bool:
        """Whether every message of the conversation is among these."""
        known = [item for item in self.items if item.depth >= 0]
        return bool(known) and len(known) == known[-1].depth + 1


def lot_of(
    store: Store, request: ChatRequest, kept: Kept, budget: Budget, count: Callable[[str], int]
) -> Lot:
    assert kept.conversation is not None
    lane = lanes.load_lane(store, kept.conversation.id, budget.window, kept.parent)
    characters = int(budget.room * _LOOKED_AT * _CHARACTERS)
    if kept.placement.from_log and kept.parent is not None:
        found = lanes.load_history(store, lane, kept.parent, characters)
        lane, horizon = found.lane, found.horizon
        items = tuple(item_of(stored) for stored in found.messages)
    else:
        items = items_of(request, kept)
        base = lane.state.base
        if base is not None and not is_on_way(places_of(items), *base.holds_at):
            lane = lanes.without_base(store, lane)
        horizon = None if lane.version else _far(items, characters, lane.pins)
    system, prompt, told = _instructions(store, request, kept, lane)
    beyond = None
    if horizon is not None:
        edge, most = horizon, sentence_tokens(budget)

        def said(name: str, kind: str) -> Sentences:
            return limit_sentences(_pairs(lane.sentences(kind, edge.depth)), count, most[name])

        beyond = replace(
            _everything_before(edge, "horizon"),
            rules=said("rules", lanes.RULE),
            agreed=said("agreed", lanes.AGREED),
            forbidden=said("forbidden", lanes.FORBIDDEN),
        )
    return Lot(lane, items, system, prompt, told, beyond)


def stored_in(request: ChatRequest, kept: Kept) -> tuple[Stored, ...]:
    """What the log has for the messages of a request, in order; nothing if it does not have all of them."""
    matched = kept.placement.matched
    if kept.placement.from_log or len(matched) != len(request.messages):
        return ()
    talk = [one for message, one in zip(request.messages, matched, strict=True) if message.role != "system"]
    known = talk[: len(talk) - len(kept.appended)]
    path = (*(one for one in known if one is not None), *kept.appended)
    return path if len(path) == len(talk) else ()


def items_of(request: ChatRequest, kept: Kept) -> tuple[Item, ...]:
    """The client's history. What matched is sent as stored; what was new has its name from the log."""
    start = len(leading_system(request.messages))
    matched = kept.placement.matched or (None,) * len(request.messages)
    talk = [at for at, message in enumerate(request.messages) if message.role != "system"]
    new = dict(zip(talk[len(talk) - len(kept.appended) :], kept.appended, strict=True))
    items: list[Item] = []
    names: set[str] = set()
    for at, message in enumerate(request.messages[start:], start):
        stored = new.get(at) or matched[at]
        item = Item(_unlogged(message, names), message) if stored is None else item_of(stored)
        if stored is not None and at == talk[-1] and _dressed(message, stored.message):
            item = Item(stored.id, message, stored.depth, stored.created_at)
        names.add(item.id)
        items.append(item)
    return tuple(items)


def leading_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The instructions in front; a system message further back is part of the talk."""
    end = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
    return tuple(messages[:end])


def item_of(stored: Stored) -> Item:
    return Item(stored.id, stored.message, stored.depth, stored.created_at)


def _unlogged(message: Message, names: set[str]) -> str:
    """A name for a message that only the client has; the same one again next time."""
    name = f"x_{message.digest[:24]}"
    number = 2
    while name in names:
        name, number = f"x_{message.digest[:24]}_{number}", number + 1
    return name


def _dressed(sent: Message, stored: Message) -> bool:
    """Whether the newest question brings along more than when it was first asked: then that is wanted."""
    return sent.role == "user" and len(sent.text) > len(stored.text) and stored.text.strip() in sent.text


def _pairs(sentences: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(name, said) for name, all_said in sentences.items() for said in all_said]


def _everything_before(base: lanes.Base, rule: str) -> LeaveOut:
    reason = f"only {base.depth + 1:,} messages further on is there room"
    keep = tuple(base.keep)
    return LeaveOut(rule, (), 0, 0, through=base.through, depth=base.depth, keep=keep, reason=reason)


def _far(items: Sequence[Item], characters: int, pins: frozenset[str]) -> lanes.Base | None:
    """Where a long history that comes all at once is cut before anything in it is measured.

    Before a question: no answer is left without its own, and the newest question is never left out.
    """
    left, question = characters, len(items)
    for at in range(len(items) - 1, -1, -1):
        left -= len(items[at].message.text) + 100
        if left < 0 and question < len(items):
            edge = items[question - 1]
            keep = tuple(one.id for one in items if one.id in pins and 0 <= one.depth <= edge.depth)
            return lanes.Base(edge.id, edge.depth, keep) if edge.depth >= 0 else None
        question = at if items[at].is_question else question
    return None


def _instructions(
    store: Store, request: ChatRequest, kept: Kept, lane: lanes.Lane
) -> tuple[tuple[Message, ...], str, str]:
    """The system messages to send, the digest they are kept under, and the time if that alone changed."""
    system = leading_system(request.messages)
    if not system and kept.placement.from_log:
        # Who leaves the history to us leaves the instructions to us as well.
        earlier = [lane.state.prompt] if lane.state.prompt else _prompts(store, lane.conversation, kept.job)
        found = ((_kept_system(store, digest), digest) for digest in earlier)
        system, prompt = next(((system, digest) for system, digest in found if system), ((), kept.prompt))
        return system, prompt, ""
    if lane.state.prompt in ("", kept.prompt):
        return system, kept.prompt, ""
    before = _kept_system(store, lane.state.prompt)
    told = clock_for(before, system)
    return (system, kept.prompt, "") if told is None else (before, lane.state.prompt, told)


def _kept_system(store: Store, digest: str) -> tuple[Message, ...]:
    try:
        return leading_system(store.prompts.get(digest).system)
    except NotFound:
        return ()


def _prompts(store: Store, conversation: str, job: str) -> list[str]:
    """What the conversation's last requests were told, the newest first; its lane here is new."""
    jobs = store.jobs.recent(_JOBS, conversation=conversation)
    return list(dict.fromkeys(one.prompt for one in jobs if one.prompt and one.id != job))
