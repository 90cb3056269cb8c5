"""Loads what a window is made of: the lane of a request, its messages, and what they are measured with."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from holdfast.conversations import Placement, lanes
from holdfast.errors import NotFound
from holdfast.files.roots import Roots
from holdfast.messages import ChatRequest, JsonObject, Message, Scope
from holdfast.research.finding import Finding
from holdfast.store import Decision, Store
from holdfast.store.values import ConversationRecord, LaneRecord, MessageRecord
from holdfast.tokens.budget import Budget
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import LearningCounter, ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.window.additions import clock_for
from holdfast.window.decisions import LeaveOut, Proposal, Sentences, is_on_way, places_of
from holdfast.window.items import Item
from holdfast.window.levels import limit_sentences, sentence_tokens
from holdfast.window.presets import Preset
from holdfast.window.view import Draft, View

if TYPE_CHECKING:
    from holdfast.files.attach import AttachedFile

# How many windows of history are looked at when nothing is known of it, and characters in a token, at least.
_LOOKED_AT, _CHARACTERS = 1.5, 4
# How far back the instructions of a conversation are looked for.
_JOBS = 100


@dataclass(frozen=True, slots=True)
class RecordedQuestion:
    """Where a request belongs: the job it is, and the message its answer will follow."""

    job: str
    placement: Placement
    conversation: ConversationRecord | None = None
    parent: str | None = None
    # What of the request was new, as the log has it, and the digest of its instructions.
    appended: tuple[MessageRecord, ...] = ()
    prompt: str = ""
    # A finding that was meant for the next question of the conversation, which this is.
    research: str = ""


@dataclass(frozen=True, slots=True)
class LoadedLane:
    """A lane (a conversation in a window of one size) with its messages and system messages.

    `clock` is the time the instructions give now, where nothing else in them changed. `horizon` leaves out
    what is too far back to be loaded.
    """

    lane: lanes.Lane
    items: tuple[Item, ...]
    system: tuple[Message, ...]
    prompt: str
    clock: str = ""
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


def load_lane_for(
    store: Store,
    request: ChatRequest,
    question: RecordedQuestion,
    budget: Budget,
    count: Callable[[str], int],
) -> LoadedLane:
    assert question.conversation is not None
    lane = lanes.load_lane(store, question.conversation.id, budget.window, question.parent)
    characters = int(budget.room * _LOOKED_AT * _CHARACTERS)
    if question.placement.from_log and question.parent is not None:
        history = lanes.load_history(store, lane, question.parent, characters)
        lane, horizon = history.lane, history.horizon
        items = tuple(item_of(stored) for stored in history.messages)
    else:
        items = items_of(request, question)
        base = lane.state.base
        if base is not None and not is_on_way(places_of(items), *base.holds_at):
            lane = lanes.without_base(store, lane)
        horizon = None if lane.version else _far(items, characters, lane.pins)
    system, prompt, clock = _instructions(store, request, question, lane)
    beyond = None
    if horizon is not None:
        edge, most = horizon, sentence_tokens(budget)

        def sentences(name: str, kind: str) -> Sentences:
            return limit_sentences(_pairs(lane.sentences(kind, edge.depth)), count, most[name])

        beyond = replace(
            _everything_before(edge, "horizon"),
            rules=sentences("rules", lanes.RULE),
            agreed=sentences("agreed", lanes.AGREED),
            forbidden=sentences("forbidden", lanes.FORBIDDEN),
        )
    return LoadedLane(lane, items, system, prompt, clock, beyond)


def stored_path(request: ChatRequest, question: RecordedQuestion) -> tuple[MessageRecord, ...]:
    """What the log has for the messages of a request, in order; nothing if it does not have all of them."""
    matched = question.placement.matched
    if question.placement.from_log or len(matched) != len(request.messages):
        return ()
    talk = [
        stored for message, stored in zip(request.messages, matched, strict=True) if message.role != "system"
    ]
    known = talk[: len(talk) - len(question.appended)]
    path = (*(stored for stored in known if stored is not None), *question.appended)
    return path if len(path) == len(talk) else ()


def items_of(request: ChatRequest, question: RecordedQuestion) -> tuple[Item, ...]:
    """The client's history. What matched is sent as stored; what was new has its name from the log."""
    start = len(leading_system(request.messages))
    matched = question.placement.matched or (None,) * len(request.messages)
    talk = [at for at, message in enumerate(request.messages) if message.role != "system"]
    new = dict(zip(talk[len(talk) - len(question.appended) :], question.appended, strict=True))
    items: list[Item] = []
    names: set[str] = set()
    for at, message in enumerate(request.messages[start:], start):
        stored = new.get(at) or matched[at]
        item = Item(_name_unstored(message, names), message) if stored is None else item_of(stored)
        if stored is not None and at == talk[-1] and _brings_more(message, stored.message):
            item = Item(stored.id, message, stored.depth, stored.created_at)
        names.add(item.id)
        items.append(item)
    return tuple(items)


def leading_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The instructions in front; a system message further back is part of the talk."""
    end = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
    return tuple(messages[:end])


def item_of(stored: MessageRecord) -> Item:
    return Item(stored.id, stored.message, stored.depth, stored.created_at)


def _name_unstored(message: Message, names: set[str]) -> str:
    """A name for a message that only the client has; the same one again next time."""
    name = f"x_{message.digest[:24]}"
    number = 2
    while name in names:
        name, number = f"x_{message.digest[:24]}_{number}", number + 1
    return name


def _brings_more(sent: Message, stored: Message) -> bool:
    """Whether the newest question brings along more than when it was first asked: then that is wanted."""
    return sent.role == "user" and len(sent.text) > len(stored.text) and stored.text.strip() in sent.text


def _pairs(sentences: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(name, sentence) for name, all_said in sentences.items() for sentence in all_said]


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
            keep = tuple(item.id for item in items if item.id in pins and 0 <= item.depth <= edge.depth)
            return lanes.Base(edge.id, edge.depth, keep) if edge.depth >= 0 else None
        question = at if items[at].is_question else question
    return None


def _instructions(
    store: Store, request: ChatRequest, question: RecordedQuestion, lane: lanes.Lane
) -> tuple[tuple[Message, ...], str, str]:
    """The system messages to send, the digest they are kept under, and the time if that alone changed."""
    system = leading_system(request.messages)
    if system and not any(message.parts for message in system):
        # Who sends instructions without a word wants none, whatever was sent earlier.
        return (), question.prompt, ""
    if not system and question.placement.from_log:
        # Who leaves the history to us leaves the instructions to us as well.
        earlier = (
            [lane.state.prompt] if lane.state.prompt else _prompts(store, lane.conversation, question.job)
        )
        candidates = ((_load_system(store, digest), digest) for digest in earlier)
        system, prompt = next(
            ((system, digest) for system, digest in candidates if system), ((), question.prompt)
        )
        return system, prompt, ""
    if lane.state.prompt in ("", question.prompt):
        return system, question.prompt, ""
    before = _load_system(store, lane.state.prompt)
    clock = clock_for(before, system)
    return (system, question.prompt, "") if clock is None else (before, lane.state.prompt, clock)


def _load_system(store: Store, digest: str) -> tuple[Message, ...]:
    try:
        return leading_system(store.prompts.get(digest).system)
    except NotFound:
        return ()


def _prompts(store: Store, conversation: str, job: str) -> list[str]:
    """What the conversation's last requests were told, the newest first; its lane here is new."""
    jobs = store.jobs.recent(_JOBS, conversation=conversation)
    return list(dict.fromkeys(row.prompt for row in jobs if row.prompt and row.id != job))


# The rule that tells earlier findings which bear on a question.
FINDINGS = "findings"
# Whether memories may be sent to a server, by its location.
MayReadMemory = Callable[[str], bool]


def may_always_read(_: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Attachments:
    """What comes with a question: texts, the files it points at, and sources that were found for it.

    `files` says where files may be read, and `brought` are those that were, before anybody had to wait.
    """

    context: Sequence[str] = ()
    files: Roots | None = None
    finding: Finding | None = None
    brought: tuple["AttachedFile", ...] = ()


@dataclass(frozen=True, slots=True)
class FitRequest:
    """A request that is to be fitted: the question it was recorded as, the server, and the token budget."""

    request: ChatRequest
    question: RecordedQuestion
    provider: Provider
    budget: Budget
    counter: LearningCounter
    attachments: Attachments = Attachments()
    # Whether memories may be sent to this server.
    may_read_memory: bool = True

    @property
    def scope(self) -> Scope:
        return self.question.conversation.scope if self.question.conversation else Scope()

    @property
    def remembers(self) -> bool:
        """Whether anything that is remembered belongs into this conversation."""
        return self.question.conversation is None or self.question.conversation.memory

    def count(self, text: str) -> int:
        return self.counter.count_text(text).high


def request_at_rest(
    store: Store, conversation: ConversationRecord, lane: LaneRecord
) -> tuple[ChatRequest, RecordedQuestion]:
    """As if it were sent once more as it stands, with the instructions and tools it had last."""
    state = lanes.LaneState.from_json(lane.state)
    try:
        tools = store.prompts.get(state.prompt).tools if state.prompt else ()
    except NotFound:
        tools = ()
    placement = Placement("main", "at rest", conversation=conversation.id, from_log=True)
    question = RecordedQuestion("", placement, conversation, conversation.head)
    return ChatRequest(lane.report["model"], (), tools=in_order(tools)), question


def recalls(decision: Decision) -> bool:
    """Whether a decision puts something into the window that nobody asked for: memories, old findings."""
    return bool(decision.data.get("memories")) or decision.rule == FINDINGS


def in_order(tools: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """In one order, whatever the client's is today: tools stand at the beginning of what the server reads."""
    return tuple(sorted(tools, key=_name))


def _digest(name: str, text: str) -> str:
    # Few need it, and it knows many languages.
    from holdfast.files.digests import build_digest

    return build_digest(name, text).text


def _name(tool: JsonObject) -> str:
    function = tool.get("function")
    return str((function if isinstance(function, Mapping) else tool).get("name", ""))


def draft_of(case: FitRequest, loaded: LoadedLane, slack: float = 1.0) -> Draft:
    """`slack` is the share of the room that is believed to be there."""
    budget, lane = case.budget, loaded.lane
    if slack < 1.0:
        budget = replace(budget, reserve=budget.window - int(budget.room * slack))
    return Draft(
        items=loaded.items,
        budget=budget,
        gauge=case.counter,
        system=loaded.system,
        tools=case.request.tools,
        decisions=(
            *loaded.condensed,
            *(decision for decision in lane.decisions if case.may_read_memory or not recalls(decision)),
        ),
        vetoes=lane.vetoes,
        pins=lane.pins,
        rules=lane.sentences(lanes.RULE),
        agreed=lane.sentences(lanes.AGREED),
        forbidden=lane.sentences(lanes.FORBIDDEN),
        seen=frozenset(name for name, _, _ in lane.state.sent),
        fired=lane.state.fired,
        digest=_digest,
    )


class ConversationLocks:
    """One lock per conversation, so that two requests never make its window at once.

    `flush` writes the decisions of its last window, if they still wait in memory.
    """

    def __init__(self, flush: Callable[[str], Awaitable[None]]) -> None:
        self._flush = flush
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, conversation: str) -> asyncio.Lock:
        return self._locks.setdefault(conversation, asyncio.Lock())

    async def settle(self, conversation: str) -> None:
        """Waits until what was decided for a conversation's last window is kept, or could not be."""
        await self._flush(conversation)


@dataclass(frozen=True, slots=True)
class RestingConversation:
    """A conversation between two turns: the request that would go out if it were sent again as it is."""

    case: FitRequest
    loaded: LoadedLane
    view: View
    # Whether as many exchanges stay as fit when it is summarised; without, only the last two.
    fills: bool = True

    @property
    def conversation(self) -> ConversationRecord:
        assert self.case.question.conversation is not None
        return self.case.question.conversation

    @property
    def depth(self) -> int:
        return max((item.depth for item in self.loaded.items), default=-1)

    @property
    def left(self) -> int:
        """Tokens that were left out of the window, and that no summary stands for."""
        return self.loaded.lane.state.left


class RestingConversations:
    def __init__(
        self,
        store: Store,
        models: ModelRegistry,
        upstreams: Upstreams,
        preset: Preset,
        may_read_memory: MayReadMemory = may_always_read,
    ) -> None:
        self._store = store
        self._may_read_memory = may_read_memory
        self._models = models
        self._upstreams = upstreams
        self._preset = preset

    async def of(self, conversation: str) -> RestingConversation | None:
        """The conversation in the window that was last used; None if nothing of it was ever sent."""
        store = self._store
        row = await store.run(store.log.get, conversation)
        used = [lane for lane in await store.run(store.lanes.of, conversation) if lane.report.get("model")]
        if not used or row.head is None:
            return None
        request, question = await store.run(request_at_rest, store, row, used[0])
        provider = await self._upstreams.route(request.model)
        windows = await self._models.windows(provider, request.model)
        budget = self._preset.budget(used[0].window, thinks=windows.thinks)
        counter = await self._models.counters.counter(provider, request.model)
        may_read_memory = row.memory and self._may_read_memory(provider.location)
        case = FitRequest(request, question, provider, budget, counter, may_read_memory=may_read_memory)
        loaded = await store.run(load_lane_for, store, request, question, budget, case.count)
        first = [] if loaded.horizon is None else [loaded.horizon]
        return RestingConversation(case, loaded, await asyncio.to_thread(View, draft_of(case, loaded), first))
