"""What a memory is, and what a place for memories can do.

Plain values with a spelling in JSON, so that they can be promised in a commit and written after it. Knows no
file and no index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, Self

from holdfast.messages import Scope

Kind = Literal["fact", "decision", "preference", "note", "summary"]
KINDS: tuple[Kind, ...] = ("fact", "decision", "preference", "note", "summary")

# The topics of the outbox under which memories ({"memories": [Memory, …]}) and one summary are promised.
MEMORY_TOPIC = "memory"
SUMMARY_TOPIC = "summary"


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Where something was said: messages of a conversation."""

    conversation: str
    messages: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(str(value["conversation"]), tuple(map(str, value.get("messages", ()))))


@dataclass(frozen=True, slots=True)
class Memory:
    """Something worth knowing beyond its conversation, with the messages it was taken from.

    `also` are the places where it was said again, the last time at `seen`. What no longer holds stays: it
    tells which one took its place, and since when. A pinned one is never archived. `may_replace` is an older
    one whose place it perhaps takes: both hold until a person decides.
    """

    id: str
    kind: Kind
    text: str
    scope: Scope
    importance: float = 0.5
    conversation: str = ""
    messages: tuple[str, ...] = ()
    valid_from: float = 0.0
    language: str = ""
    also: tuple[MemorySource, ...] = ()
    seen: float = 0.0
    superseded_by: str = ""
    valid_until: float = 0.0
    pinned: bool = False
    may_replace: str = ""

    @property
    def active(self) -> bool:
        return not self.superseded_by

    @property
    def date(self) -> float:
        """When it was last said."""
        return max(self.valid_from, self.seen)

    @property
    def sources(self) -> tuple[MemorySource, ...]:
        first = (MemorySource(self.conversation, self.messages),) if self.conversation else ()
        return first + self.also

    def to_json(self) -> dict[str, Any]:
        also = [{"conversation": one.conversation, "messages": list(one.messages)} for one in self.also]
        return {**asdict(self), "messages": list(self.messages), "also": also}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        if value["kind"] not in KINDS:
            raise ValueError(f"{value['kind']!r} is no kind of memory")
        scope, messages = Scope(**value["scope"]), tuple(value["messages"])
        also = tuple(MemorySource.from_json(one) for one in value.get("also", ()))
        return cls(**{**value, "scope": scope, "messages": messages, "also": also})


@dataclass(frozen=True, slots=True)
class MemoryNews:
    """What became of a memory that stood in the notes of a folder: its words now, none where it is gone."""

    memory: str
    folder: str
    text: str = ""


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


class MemoryRepository(Protocol):
    """Where memories are kept. Writing the same one again changes nothing."""

    def allow(self, memories: Sequence[Memory]) -> None:
        """Somebody asks for these, whatever was forgotten before."""
        ...

    def withdraw(self, scope: Scope, conversation: str, sentence: str) -> None:
        """Somebody takes back what they said earlier in a conversation."""
        ...

    def write(self, memories: Sequence[Memory]) -> None: ...
    def write_summary(self, note: SummaryNote) -> None: ...
