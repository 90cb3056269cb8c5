"""What is done to a history to make it fit, as decisions on named messages, and what they come to.

A decision is made once and holds until it is undone: rendering log and decisions gives the window. Knows
nothing of why a decision is made; how it is stored is somebody else's business.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from holdfast.messages import JsonObject
from holdfast.window.items import Item

Kind = Literal["shorten", "leave_out", "keep", "add", "replace", "summarise", "tell"]
# What takes messages out of the window; a summary stands for them.
GONE: tuple[Kind, ...] = ("leave_out", "summarise")
Section = Literal["clock", "recalled", "research", "files"]
# The name of the text that a conversation begins with: what is most worth knowing from earlier ones.
BEGINNING = "beginning"

# The level at which each rule works. LAST is what is done when nothing else helped.
LAST = 9
LEVEL_OF: Mapping[str, int] = {
    "clock": 0,
    "profile": 0,
    "forgotten": 0,
    "recalled": 0,
    "context": 0,
    "files": 0,
    "file_changed": 0,
    "findings": 0,
    "research_new": 0,
    "entry": 0,
    "repeat": 1,
    "tool_result": 1,
    "file": 1,
    "long": 1,
    "research": 1,
    "recalled_full": 0,
    "recalled_old": 1,
    "relevance": 2,
    "horizon": 2,
    "earlier": 2,
    "pin": 0,
    "summary": 3,
    "last": LAST,
}


class DecisionLike(Protocol):
    """A decision, made or only proposed."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def messages(self) -> Sequence[str]: ...
    @property
    def tokens_before(self) -> int: ...
    @property
    def data(self) -> JsonObject: ...


@dataclass(frozen=True, slots=True)
class Proposal:
    """A decision that is not kept yet."""

    kind: Kind
    rule: str
    messages: tuple[str, ...]
    tokens_before: int
    tokens_after: int
    reason: str = ""
    data: JsonObject = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True)
class Addition:
    """A text that was put behind a message, by which decision, and for which section it counts.

    `name` is the file or the finding it is of, `tag` the state in which that was. `short` is what takes its
    place once it is not needed whole any more; empty if that is how it stands there already.
    """

    decision: str
    section: Section
    text: str
    name: str = ""
    tag: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class Cut:
    """The text that stands for a part of a message, and the rule that made it so."""

    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Floor:
    """Everything up to a message is out, but for some."""

    through: str
    depth: int
    keep: frozenset[str]
    rule: str

    def holds(self, items: Sequence[Item]) -> bool:
        """Whether the message is still on the way; after an edit further up, the floor means nothing."""
        return is_on_way(places_of(items), self.through, self.depth)


def places_of(items: Iterable[Item]) -> dict[int, str]:
    """The names of messages by their place in the log."""
    return {item.depth: item.id for item in items if item.depth >= 0}


def is_on_way(places: Mapping[int, str], name: str, depth: int) -> bool:
    """Whether a message leads to the newest of these; old ones between them may be missing."""
    known = places.get(depth)
    return known == name if known is not None else max(places, default=-1) > depth


@dataclass(slots=True)
class AppliedDecisions:
    """All decisions of a lane taken together, by message."""

    out: dict[str, str] = field(default_factory=dict)
    # What somebody wanted back after it had been left out.
    kept: set[str] = field(default_factory=set)
    cuts: dict[str, dict[int, Cut]] = field(default_factory=dict)
    additions: dict[str, list[Addition]] = field(default_factory=dict)
    # Sentences that outlive their messages, each with the name of its message.
    rules: list[tuple[str, str]] = field(default_factory=list)
    agreed: list[tuple[str, str]] = field(default_factory=list)
    forbidden: list[tuple[str, str]] = field(default_factory=list)
    floors: list[Floor] = field(default_factory=list)
    # What stands for all that was summarised, and the decision that put it there.
    summary: str = ""
    summarised: str = ""
    # What is told of the person who asks.
    profile: str = ""
    # System messages by their digest: what stands for them.
    system: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, decisions: Iterable[DecisionLike], items: Sequence[Item]) -> "AppliedDecisions":
        """What holds of the decisions for these messages: what was left out of a conversation that then went
        another way was never left out of this one."""
        applied, places = cls(), places_of(items)
        holding = [one for one in decisions if "at" not in one.data or is_on_way(places, *one.data["at"])]
        instead: dict[str, str] = {}
        for decision in holding:
            if decision.kind == "replace":
                instead.update(decision.data["instead"])
        for decision in holding:
            applied._take(decision, instead)
        return applied

    def _take(self, decision: DecisionLike, instead: Mapping[str, str]) -> None:
        data = decision.data
        if decision.kind in GONE:
            self.out.update(dict.fromkeys(decision.messages, decision.rule))
            self.kept.difference_update(decision.messages)
            # Each list is whole: what was chosen then, with what had been chosen before.
            self.rules = [(name, said) for name, said in data.get("rules", self.rules)]
            self.agreed = [(name, said) for name, said in data.get("agreed", self.agreed)]
            self.forbidden = [(name, said) for name, said in data.get("forbidden", self.forbidden)]
            if "text" in data:
                self.summary, self.summarised = data["text"], decision.id
            if "through" in data:
                keep = frozenset(data.get("keep", ()))
                self.floors.append(Floor(data["through"], data["depth"], keep, decision.rule))
        elif decision.kind == "tell":
            self.profile = data["profile"]
        elif decision.kind == "keep":
            self.kept.update(decision.messages)
            for name in decision.messages:
                self.out.pop(name, None)
        elif decision.kind == "shorten":
            self.system.update(data.get("system", {}))
            for name, parts in data["parts"].items():
                cuts = self.cuts.setdefault(name, {})
                cuts.update({int(at): Cut(text, decision.rule) for at, text in parts.items()})
        elif decision.kind == "add":
            text = instead.get(decision.id, data["text"])
            if text:
                short = "" if decision.id in instead else data.get("short", "")
                name, tag = data.get("name", ""), data.get("tag", "")
                addition = Addition(decision.id, data["section"], text, name, tag, short)
                self.additions.setdefault(decision.messages[0], []).append(addition)

    def left_out(self, items: Sequence[Item]) -> dict[str, str]:
        """The messages that are out, each with the rule that put it there."""
        gone = {item.id: self.out[item.id] for item in items if item.id in self.out}
        for floor in self.floors:
            if floor.holds(items):
                below = (item for item in items if 0 <= item.depth <= floor.depth)
                stays = floor.keep | self.kept
                gone.update({item.id: floor.rule for item in below if item.id not in stays})
        return gone


def level_of(decisions: Iterable[DecisionLike]) -> int:
    """The highest level at which any of these was made."""
    return max((LEVEL_OF.get(decision.rule, 0) for decision in decisions), default=0)


def as_json(parts: Mapping[str, Mapping[int, str]]) -> dict[str, Any]:
    """Cuts as they are kept with a decision: JSON has no numbers as keys."""
    return {"parts": {name: {str(at): text for at, text in cut.items()} for name, cut in parts.items()}}
