"""What a memory is, what a repository of memories can do, and how each field of a memory is written.

`Memory` is the one schema: a field that says its form there is written into notes, read back from them, and
read from imports. Memories are plain values with a JSON form, so a commit can record them before they are
written.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, Self, TypedDict, TypeVar

from holdfast.messages import Scope

T = TypeVar("T")

Kind = Literal["fact", "decision", "preference", "note", "summary"]
KINDS: tuple[Kind, ...] = ("fact", "decision", "preference", "note", "summary")

# The topics of the outbox under which memories ({"memories": [Memory, …]}) and one summary are recorded.
MEMORY_TOPIC = "memory"
SUMMARY_TOPIC = "summary"

USUAL_IMPORTANCE = 0.5
# The first and last moments that have a date in every time zone.
EARLIEST = datetime(1, 1, 2, tzinfo=UTC).timestamp()
LATEST = datetime(9999, 12, 30, tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Messages of a conversation in which something was said."""

    conversation: str
    messages: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"conversation": self.conversation, "messages": list(self.messages)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(str(value["conversation"]), tuple(map(str, value.get("messages", ()))))


def format_time(seconds: float) -> str:
    """Format a time so that people can read it too; empty for 0."""
    return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else ""


def parse_time(text: object) -> float:
    """Parse what `format_time` wrote; 0 for anything that is not a time."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return 0.0
    return min(max(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp(), EARLIEST), LATEST)


def parse_strings(values: object) -> tuple[str, ...]:
    return tuple(map(str, values)) if isinstance(values, list) else ()


def parse_sources(values: object) -> tuple[MemorySource, ...]:
    return tuple(
        MemorySource(str(value["conversation"]), parse_strings(value.get("messages")))
        for value in (values if isinstance(values, list) else ())
        if isinstance(value, dict) and "conversation" in value
    )


def parse_importance(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return USUAL_IMPORTANCE
    return float(value)


def check_number(name: str, value: Any, lowest: float, highest: float) -> float:
    number = float(value)
    # NaN fails this comparison too.
    if not lowest <= number <= highest:
        raise ValueError(f"{name} cannot be {number}")
    return number


@dataclass(frozen=True, slots=True)
class FieldForm:
    """How a kind of field is written into a note, read back leniently, and read strictly from an import.

    A note may have been edited by a person, so reading it never fails. `load` gets the name of the field, for
    its ValueError.
    """

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    load: Callable[[str, Any], Any]


TEXT = FieldForm(str, str, lambda _, value: str(value))
FLAG = FieldForm(bool, lambda value: value is True, lambda _, value: value is True)
IMPORTANCE = FieldForm(float, parse_importance, lambda name, value: check_number(name, value, 0.0, 1.0))
TIME = FieldForm(format_time, parse_time, lambda name, value: check_number(name, value, EARLIEST, LATEST))
STRINGS = FieldForm(list, parse_strings, lambda _, values: tuple(map(str, values)))
SOURCES = FieldForm(
    lambda sources: [source.to_json() for source in sources],
    parse_sources,
    lambda _, values: tuple(map(MemorySource.from_json, values)),
)


def written_as(form: FieldForm, default: T) -> T:
    return field(default=default, metadata={"form": form})


# In `may_replace` of a memory that is new: it is only worth keeping if it corrects a known one.
CORRECTION = "?"


@dataclass(frozen=True, slots=True)
class Memory:
    """Something worth knowing beyond its conversation, with the messages it was taken from.

    `also` are the places where it was said again, last at `seen`. A memory that no longer holds is kept:
    `superseded_by` names its successor, `valid_until` when it ended. A pinned one is never archived.
    `may_replace` is an older one that it perhaps replaces: both hold until a person decides.
    """

    id: str
    kind: Kind
    text: str
    scope: Scope
    importance: float = written_as(IMPORTANCE, USUAL_IMPORTANCE)
    conversation: str = written_as(TEXT, "")
    messages: tuple[str, ...] = written_as(STRINGS, ())
    valid_from: float = written_as(TIME, 0.0)
    language: str = written_as(TEXT, "")
    also: tuple[MemorySource, ...] = written_as(SOURCES, ())
    seen: float = written_as(TIME, 0.0)
    superseded_by: str = written_as(TEXT, "")
    valid_until: float = written_as(TIME, 0.0)
    pinned: bool = written_as(FLAG, False)
    may_replace: str = written_as(TEXT, "")

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
        also = [source.to_json() for source in self.also]
        return {**asdict(self), "messages": list(self.messages), "also": also}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        if value["kind"] not in KINDS:
            raise ValueError(f"{value['kind']!r} is no kind of memory")
        scope, messages = Scope(**value["scope"]), tuple(value["messages"])
        also = tuple(map(MemorySource.from_json, value.get("also", ())))
        return cls(**{**value, "scope": scope, "messages": messages, "also": also})


# The fields beside id, kind, text and scope, in order.
FIELD_FORMS: dict[str, FieldForm] = {
    item.name: item.metadata["form"] for item in fields(Memory) if "form" in item.metadata
}


class SettableFields(TypedDict, total=False):
    """What a person may set of a memory beside its text and kind; None leaves a field as it is."""

    importance: float | None
    pinned: bool | None


@dataclass(frozen=True, slots=True)
class MemoryNews:
    """A change of a memory that stood in the notes of a folder: its text now, empty if it is gone."""

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
    """Where memories are stored. Writing the same one again changes nothing."""

    def allow(self, memories: Sequence[Memory]) -> None:
        """Let these be remembered even if they were forgotten before: a person asks for them."""
        ...

    def withdraw(self, scope: Scope, conversation: str, sentence: str) -> None:
        """Take back what a person said earlier in a conversation and `sentence` retracts."""
        ...

    def write(self, memories: Sequence[Memory]) -> None: ...
    def write_summary(self, note: SummaryNote) -> None: ...
