"""What a foreign source holds, as plain values: talks, sayings, pages, and what could not be read of it.

The formats make these, `importing` takes them in. They know neither the format they come from nor the store.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.memory.base import Kind
from holdfast.messages import Message


@dataclass(frozen=True, slots=True)
class Turn:
    """A message under the name its source gives it; `parent` is the one it follows, None for a first one."""

    key: str
    parent: str | None
    message: Message
    at: float
    model: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as a tree of turns, each after the one it follows; `head` is where it was last seen."""

    key: str
    title: str
    turns: tuple[Turn, ...]
    head: str
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class Saying:
    """Something the source had remembered; `talk` names the conversation it comes from, if one is known."""

    text: str
    kind: Kind = "fact"
    at: float = 0.0
    talk: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A text that stays a file of its own, under the path it had in its source."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """What was left out on purpose, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """What could not be read, and why."""

    place: str
    reason: str


Item = Talk | Saying | Page | Skipped | Trouble


@dataclass(frozen=True, slots=True)
class Source:
    """An opened source. `steps` is how many items come at least, for who shows how far it is; 0: unknown."""

    kind: str
    items: Iterator[Item]
    steps: int = 0


def title_from(turns: tuple[Turn, ...], longest: int = 60) -> str:
    """What a talk without a title is called: how its first question begins."""
    said = next((turn.message.text for turn in turns if turn.message.role == "user"), "")
    line = " ".join(said.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"
