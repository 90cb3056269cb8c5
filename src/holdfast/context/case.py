"""What a window is made for, and what it is measured with: a request, or a conversation at rest.

Values, and how a draft follows from them. Nothing is decided here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.context.lot import Kept, Lot
from holdfast.conversations import Placement, lanes
from holdfast.errors import NotFound
from holdfast.files.roots import Roots
from holdfast.messages import ChatRequest, JsonObject, Scope
from holdfast.research.finding import Finding
from holdfast.store import Conversation, Decision, Lane, Store
from holdfast.tokens.budget import Budget
from holdfast.upstreams.base import Provider
from holdfast.upstreams.counting import LearningCounter
from holdfast.window.view import Draft

if TYPE_CHECKING:
    from holdfast.files.attach import AttachedFile

# The rule that tells earlier findings which bear on a question.
FINDINGS = "findings"
# Whether a server, by its location, may be told what is remembered.
Tells = Callable[[str], bool]


def tells_all(_: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Along:
    """What comes with a question: texts, the files it points at, and sources that were found for it.

    `files` says where files may be read, and `brought` are those that were, before anybody had to wait.
    """

    context: Sequence[str] = ()
    files: Roots | None = None
    finding: Finding | None = None
    brought: tuple["AttachedFile", ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One request that is to be fitted, who answers it, and what it is measured with."""

    request: ChatRequest
    kept: Kept
    provider: Provider
    budget: Budget
    counter: LearningCounter
    along: Along = Along()
    # Whether the server may be told what is remembered.
    tells: bool = True

    @property
    def scope(self) -> Scope:
        return self.kept.conversation.scope if self.kept.conversation else Scope()

    @property
    def remembers(self) -> bool:
        """Whether anything that is remembered belongs into this conversation."""
        return self.kept.conversation is None or self.kept.conversation.memory

    def count(self, text: str) -> int:
        return self.counter.count_text(text).high


def request_at_rest(store: Store, conversation: Conversation, lane: Lane) -> tuple[ChatRequest, Kept]:
    """As if it were sent once more as it stands, with the instructions and tools it had last."""
    state = lanes.LaneState.from_json(lane.state)
    try:
        tools = store.prompts.get(state.prompt).tools if state.prompt else ()
    except NotFound:
        tools = ()
    placement = Placement("main", "at rest", conversation=conversation.id, from_log=True)
    kept = Kept("", placement, conversation, conversation.head)
    return ChatRequest(lane.report["model"], (), tools=in_order(tools)), kept


def recalls(made: Decision) -> bool:
    """Whether a decision puts something into the window that nobody asked for: memories, old findings."""
    return bool(made.data.get("memories")) or made.rule == FINDINGS


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


def draft_of(case: Case, lot: Lot, slack: float = 1.0) -> Draft:
    """`slack` is the share of the room that is believed to be there."""
    budget, lane = case.budget, lot.lane
    if slack < 1.0:
        budget = replace(budget, reserve=budget.window - int(budget.room * slack))
    return Draft(
        items=lot.items,
        budget=budget,
        gauge=case.counter,
        system=lot.system,
        tools=case.request.tools,
        decisions=(*lot.condensed, *(made for made in lane.decisions if case.tells or not recalls(made))),
        vetoes=lane.vetoes,
        pins=lane.pins,
        rules=lane.sentences(lanes.RULE),
        agreed=lane.sentences(lanes.AGREED),
        forbidden=lane.sentences(lanes.FORBIDDEN),
        seen=frozenset(name for name, _, _ in lane.state.sent),
        fired=lane.state.fired,
        digest=_digest,
    )
