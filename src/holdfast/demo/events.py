"""What can be seen of the demonstration, as plain values: for a terminal, for lines, and for programs.

All of it is what the engine reports. Knows neither engine nor terminal.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

# Where an answer came from, the nearest place first.
OriginPlace = Literal["window", "rule", "decision", "ledger", "summary", "log", "memory", "nowhere"]


@dataclass(frozen=True, slots=True)
class Origin:
    """`turn` is the one in which it was said, 0 if that is not known; `note` is a file and its line."""

    place: OriginPlace
    turn: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class TurnEvent:
    """A turn, and the request that was made for it; `whole` is what all that was said would take."""

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
    """A level did something: level 3 is a summary, and `way` how it was written."""

    turn: int
    level: int
    messages: int
    before: int
    after: int
    way: str = ""


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """A memory was written, brought up to date or replaced."""

    turn: int
    change: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class RecallEvent:
    """Something that the window lacked was put behind the question."""

    turn: int
    text: str
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """A question that the script has no answer for; turn 0 is a conversation of its own."""

    turn: int
    question: str
    answer: str
    right: bool
    origin: Origin


@dataclass(frozen=True, slots=True)
class EndEvent:
    """`sent` is what all requests took, `resent` what they would have taken with everything said so far.

    `cut` is how many messages a client that drops the oldest would have lost by the end.
    """

    turns: int
    said: int
    window: int
    room: int
    largest: int
    sent: int
    resent: int
    # How often each level did something.
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
