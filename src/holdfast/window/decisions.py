"""Decisions about the messages of a history, and their combined effect.

A decision holds until it is undone; rendering the log under its decisions gives the window. Each kind is a
dataclass. Its own fields are stored as one JSON object (`data`), and `read_decision` reads them back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypedDict, cast

from holdfast.messages import JsonObject
from holdfast.window.items import Item

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Kind = Literal["shorten", "leave_out", "keep", "add", "replace", "summarise", "tell"]
# The kinds that take messages out of the window.
GONE: tuple[Kind, ...] = ("leave_out", "summarise")
Section = Literal["clock", "recalled", "research", "files"]
# The name of the text that a conversation begins with: what is most worth knowing from earlier ones.
BEGINNING = "beginning"

# Sentences, each with the id of the message it stands in.
Sentences = tuple[tuple[str, str], ...]


class CarriedSentences(TypedDict):
    """The sentences that stay when their messages leave, by kind."""

    rules: Sentences
    agreed: Sentences
    forbidden: Sentences


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
    """A decision, typed or as the store has it."""

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
    def tokens_after(self) -> int: ...
    @property
    def reason(self) -> str: ...
    @property
    def data(self) -> JsonObject: ...


@dataclass(frozen=True, slots=True)
class BaseDecision:
    """The fields that all decisions have. An id is given when a decision is stored, if not before."""

    kind: ClassVar[Kind]

    rule: str
    messages: tuple[str, ...]
    tokens_before: int
    tokens_after: int
    reason: str = field(default="", kw_only=True)
    id: str = field(default="", kw_only=True)

    @property
    def data(self) -> JsonObject:
        """The fields of this kind as they are stored; those that are None are left out."""
        dumped = _adapter_of(self.kind).dump_python(self, mode="json", exclude=_COMMON, exclude_none=True)
        return cast(JsonObject, dumped)


_COMMON = {common.name for common in fields(BaseDecision)}


@dataclass(frozen=True, slots=True)
class Shorten(BaseDecision):
    """Replaces parts of messages, by message and part number, and system messages, by digest."""

    kind: ClassVar[Kind] = "shorten"

    parts: dict[str, dict[int, str]] = field(default_factory=dict)
    system: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class LeaveOut(BaseDecision):
    """Takes messages out of the window.

    `through` and `depth` name a message up to which all are out, except those in `keep`. A list of sentences
    replaces the one before it, as `text` replaces the summary; None leaves it unchanged. `at` is how far the
    conversation had come: on a branch that forked before that, the decision does not hold.
    """

    kind: ClassVar[Kind] = "leave_out"

    through: str | None = None
    depth: int | None = None
    keep: tuple[str, ...] | None = None
    rules: Sentences | None = None
    agreed: Sentences | None = None
    forbidden: Sentences | None = None
    text: str | None = None
    at: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Summarise(LeaveOut):
    """Takes messages out of the window and puts a summary, stored as `summary`, in their place."""

    kind: ClassVar[Kind] = "summarise"

    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Keep(BaseDecision):
    """Brings messages back that had been left out."""

    kind: ClassVar[Kind] = "keep"


@dataclass(frozen=True, slots=True)
class Add(BaseDecision):
    """Puts a text behind a message.

    `name` is the file or the finding it is from and `tag` the version of that; `short` replaces the text once
    it is not needed in full. `memories` and `sources` say what was quoted, `cut` which notice tells that not
    everything had room. The other fields describe a file.
    """

    kind: ClassVar[Kind] = "add"

    section: Section
    text: str
    name: str | None = None
    tag: str | None = None
    short: str | None = None
    memories: tuple[str, ...] | None = None
    sources: tuple[JsonObject, ...] | None = None
    cut: str | None = None
    path: str | None = None
    mode: str | None = None
    reference: str | None = None
    size: int | None = None
    changed: bool | None = None
    trouble: tuple[str, ...] | None = None

    @property
    def is_evidence(self) -> bool:
        """Whether it was brought back for one question, and not for the whole conversation."""
        return self.section == "recalled" and self.name != BEGINNING


@dataclass(frozen=True, slots=True)
class Replace(BaseDecision):
    """Replaces texts that were added, by the id of the decision that added them; an empty text removes."""

    kind: ClassVar[Kind] = "replace"

    instead: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tell(BaseDecision):
    """Puts the profile of the person at the end of the instructions."""

    kind: ClassVar[Kind] = "tell"

    profile: str


# A decision of any kind, whether it is stored yet or not.
Proposal = Shorten | LeaveOut | Summarise | Keep | Add | Replace | Tell

_CLASSES: tuple[type[Proposal], ...] = (Shorten, LeaveOut, Summarise, Keep, Add, Replace, Tell)


@cache
def _adapter_of(kind: str) -> "TypeAdapter[Any]":
    # Imported late: commands that show no window start faster without it.
    from pydantic import TypeAdapter

    return TypeAdapter(next(known for known in _CLASSES if known.kind == kind))


def read_decision(decision: DecisionLike) -> Proposal:
    """Return a decision typed by its kind; one that is typed already is returned as it is."""
    if isinstance(decision, Proposal):
        return decision
    common = {name: getattr(decision, name) for name in _COMMON}
    typed = _adapter_of(decision.kind).validate_python({**decision.data, **common})
    return cast(Proposal, typed)


@dataclass(frozen=True, slots=True)
class Addition:
    """A text that was put behind a message, by which decision, and for which section it counts.

    The other fields are those of `Add`, empty where they are not set. `short` is empty, too, once it has
    replaced the text.
    """

    decision: str
    section: Section
    text: str
    name: str = ""
    tag: str = ""
    short: str = ""

    @property
    def is_evidence(self) -> bool:
        """Whether it was brought back for one question, and not for the whole conversation."""
        return self.section == "recalled" and self.name != BEGINNING


@dataclass(frozen=True, slots=True)
class Cut:
    """The text that replaces a part of a message, and the rule that shortened it."""

    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Floor:
    """A message up to which all are out, except those in `keep`."""

    through: str
    depth: int
    keep: frozenset[str]
    rule: str

    def holds(self, items: Sequence[Item]) -> bool:
        """Whether the message is on this branch; after an edit further up the floor has no effect."""
        return is_on_way(places_of(items), self.through, self.depth)


def places_of(items: Iterable[Item]) -> dict[int, str]:
    """Return the ids of messages by their depth in the log."""
    return {item.depth: item.id for item in items if item.depth >= 0}


def is_on_way(places: Mapping[int, str], name: str, depth: int) -> bool:
    """Whether a message leads to the newest of these; old ones between them may be missing."""
    known = places.get(depth)
    return known == name if known is not None else max(places, default=-1) > depth


@dataclass(slots=True)
class AppliedDecisions:
    """The combined effect of all decisions of a lane, by message."""

    out: dict[str, str] = field(default_factory=dict)
    # Messages that were brought back after they had been left out.
    kept: set[str] = field(default_factory=set)
    cuts: dict[str, dict[int, Cut]] = field(default_factory=dict)
    additions: dict[str, list[Addition]] = field(default_factory=dict)
    # Sentences that stay when their messages leave.
    rules: Sentences = ()
    agreed: Sentences = ()
    forbidden: Sentences = ()
    floors: list[Floor] = field(default_factory=list)
    # The summary of all that was summarised, and the decision that wrote it.
    summary: str = ""
    summarised: str = ""
    profile: str = ""
    # What replaces system messages, by their digest.
    system: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, decisions: Iterable[DecisionLike], items: Sequence[Item]) -> "AppliedDecisions":
        """Apply the decisions that hold for these messages; those made on another branch do not."""
        applied, places = cls(), places_of(items)
        holding = [
            decision
            for decision in map(read_decision, decisions)
            if not isinstance(decision, LeaveOut) or decision.at is None or is_on_way(places, *decision.at)
        ]
        instead: dict[str, str] = {}
        for decision in holding:
            if isinstance(decision, Replace):
                instead |= decision.instead
        for decision in holding:
            applied._apply(decision, instead)
        return applied

    def _apply(self, decision: Proposal, instead: Mapping[str, str]) -> None:
        match decision:
            case LeaveOut():
                self._leave_out(decision)
            case Tell():
                self.profile = decision.profile
            case Keep():
                self.kept.update(decision.messages)
                for name in decision.messages:
                    self.out.pop(name, None)
            case Shorten():
                self.system |= decision.system or {}
                for name, parts in decision.parts.items():
                    cuts = self.cuts.setdefault(name, {})
                    cuts.update({at: Cut(text, decision.rule) for at, text in parts.items()})
            case Add():
                if text := instead.get(decision.id, decision.text):
                    short = "" if decision.id in instead else decision.short or ""
                    name, tag = decision.name or "", decision.tag or ""
                    addition = Addition(decision.id, decision.section, text, name, tag, short)
                    self.additions.setdefault(decision.messages[0], []).append(addition)

    def _leave_out(self, decision: LeaveOut) -> None:
        self.out.update(dict.fromkeys(decision.messages, decision.rule))
        self.kept.difference_update(decision.messages)
        self.rules = self.rules if decision.rules is None else decision.rules
        self.agreed = self.agreed if decision.agreed is None else decision.agreed
        self.forbidden = self.forbidden if decision.forbidden is None else decision.forbidden
        if decision.text is not None:
            self.summary, self.summarised = decision.text, decision.id
        if decision.through is not None and decision.depth is not None:
            keep = frozenset(decision.keep or ())
            self.floors.append(Floor(decision.through, decision.depth, keep, decision.rule))

    def left_out(self, items: Sequence[Item]) -> dict[str, str]:
        """Return the messages that are out, each with the rule that left it out."""
        gone = {item.id: self.out[item.id] for item in items if item.id in self.out}
        for floor in self.floors:
            if floor.holds(items):
                below = (item for item in items if 0 <= item.depth <= floor.depth)
                stays = floor.keep | self.kept
                gone.update({item.id: floor.rule for item in below if item.id not in stays})
        return gone


def level_of(decisions: Iterable[DecisionLike]) -> int:
    """Return the highest level at which any of these was made."""
    return max((LEVEL_OF.get(decision.rule, 0) for decision in decisions), default=0)
