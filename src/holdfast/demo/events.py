"""The events of the demonstration as plain values, taken from the engine's reports."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

# Where an answer came from, nearest first.
OriginPlace = Literal["window", "rule", "decision", "ledger", "summary", "log", "memory", "nowhere"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an answer came from: `turn` is where it was said, 0 if unknown; `note` is a file and line."""

    place: OriginPlace
    turn: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class TurnEvent:
    """A turn and its request; `whole` is the tokens of everything said so far."""

    turn: int
    turns: int
    said: str
    answer: str
    level: int
    tokens: int
    room: int
    window: int
    whole: int
    sections: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LevelEvent:
    """A compaction level was applied: level 3 is a summary, and `way` how it was written."""

    turn: int
    level: int
    messages: int
    before: int
    after: int
    way: str = ""


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """A memory was added, updated or replaced."""

    turn: int
    change: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class RecallEvent:
    """Something that was not in the window was added to the question."""

    turn: int
    text: str
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """A question without an answer in the script; turn 0 is in a conversation of its own."""

    turn: int
    question: str
    answer: str
    right: bool
    origin: Origin


@dataclass(frozen=True, slots=True)
class EndEvent:
    """The totals. `sent` is the tokens of all requests, `resent` what sending everything would take.

    `cut` is how many messages a client that drops the oldest would have lost by the end.
    """

    turns: int
    said: int
    window: int
    room: int
    largest: int
    sent: int
    resent: int
    # How often each level was applied.
    levels: Mapping[int, int]
    memories: int
    recalls: int
    asked: int
    right: int
    messages: int
    cut: int
    seconds: float
    home: str

    @property
    def well(self) -> bool:
        return self.right == self.asked and self.largest <= self.room


DemoEvent = TurnEvent | LevelEvent | MemoryEvent | RecallEvent | AnswerEvent | EndEvent

_NAMES: dict[type, str] = {
    TurnEvent: "turn",
    LevelEvent: "level",
    MemoryEvent: "memory",
    RecallEvent: "recall",
    AnswerEvent: "answer",
    EndEvent: "end",
}


def event_name(event: DemoEvent) -> str:
    return _NAMES[type(event)]


def serialize_event(event: DemoEvent) -> dict[str, Any]:
    fields = {"event": event_name(event), **asdict(event)}
    return fields | ({"well": event.well} if isinstance(event, EndEvent) else {})
