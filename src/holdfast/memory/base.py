"""What a memory is, and what a place for memories can do.

Plain values with a spelling in JSON, so that they can be promised in a commit and written after it. Knows no
file and no index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, Self

from holdfast.messages import Scope

Kind = Literal["fact", "decision", "preference", "summary"]
KINDS: tuple[Kind, ...] = ("fact", "decision", "preference", "summary")

# The topics of the outbox under which memories ({"memories": [Memory, …]}) and one summary are promised.
MEMORY_TOPIC = "memory"
SUMMARY_TOPIC = "summary"


@dataclass(frozen=True, slots=True)
class Memory:
    """Something worth knowing beyond its conversation, with the messages it was taken from."""

    id: str
    kind: Kind
    text: str
    scope: Scope
    importance: float = 0.5
    conversation: str = ""
    messages: tuple[str, ...] = ()
    valid_from: float = 0.0
    language: str = ""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "messages": list(self.messages)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        if value["kind"] not in KINDS:
            raise ValueError(f"{value['kind']!r} is no kind of memory")
        scope, messages = Scope(**value["scope"]), tuple(value["messages"])
        return cls(**{**value, "scope": scope, "messages": messages})


@dataclass(frozen=True, slots=True)
class SummaryNote:
    """The newest summary of a conversation: `covers` so many messages, from the `first` to the `last`."""

    id: str
    conversation: str
    title: str
    text: str
    scope: Scope
    covers: int
    first: str
    last: str
    at: float
    language: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(**{**value, "scope": Scope(**value["scope"])})


class Memories(Protocol):
    """Where memories are kept. Writing the same one again changes nothing."""

    def write(self, memories: Sequence[Memory]) -> None: ...
    def write_summary(self, note: SummaryNote) -> None: ...
