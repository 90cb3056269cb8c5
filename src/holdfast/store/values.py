"""The values that the store returns and takes: frozen, one for each kind of row. And new ids.

Times are seconds since the epoch, in UTC.
"""

import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from holdfast.messages import JsonObject, Message, Scope, Usage

JobKind = Literal["main", "side", "background"]
JobStatus = Literal["queued", "running", "done", "failed", "cut"]


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to append. `anchor` is the caller's own key to find it again."""

    message: Message
    anchor: str | None = None
    model: str = ""
    finish: str = ""
    job: str = ""


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """A stored message with its place in the tree: `branch` and `depth` locate it, `parent` precedes it."""

    id: str
    tree: str
    branch: str
    depth: int
    parent: str | None
    message: Message
    anchor: str | None
    model: str
    finish: str
    job: str
    created_at: float


@dataclass(frozen=True, slots=True)
class AnchorHit:
    """A message that was found by its anchor."""

    anchor: str
    message: str
    tree: str
    depth: int
    created_at: float
    parent: str | None = None


def uses_memory(settings: Mapping[str, Any]) -> bool:
    """Whether a conversation with these settings is remembered and told memories."""
    return settings.get("memory") is not False


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """A head on a tree of messages. `version` rises whenever the head moves."""

    id: str
    tree: str
    scope: Scope
    title: str
    head: str | None
    version: int
    client: str
    external_id: str
    settings: Mapping[str, Any]
    created_at: float
    updated_at: float
    pinned: bool = False
    archived: bool = False
    folder: str = ""

    @property
    def off(self) -> bool:
        """Whether requests are passed through and nothing more is recorded."""
        return self.settings.get("off") is True

    @property
    def memory(self) -> bool:
        """Whether memories are recalled in it and taken from it."""
        return uses_memory(self.settings)

    @property
    def named(self) -> bool:
        """Whether a person gave it its title."""
        return self.settings.get("named") is True


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Which conversations of a user are listed; None takes both. `folder` "" is those in no folder.

    `title` is a part of it, however it is spelled in upper and lower case.
    """

    every_project: bool = False
    pinned: bool | None = None
    archived: bool | None = None
    folder: str | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class DraftRecord:
    """An answer that is still being written, as far as it was saved."""

    job: str
    conversation: str
    parent: str | None
    message: Message
    model: str
    beat_at: float


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One request to a model server. A time of None has not come yet."""

    id: str
    conversation: str | None
    kind: JobKind
    user: str
    project: str
    model: str
    upstream: str
    status: JobStatus
    prompt: str | None
    usage: Usage
    window: int | None
    queued_at: float
    started_at: float | None
    first_token_at: float | None
    finished_at: float | None
    error: str
    # The message that it repeated word for word; None if it wrote one of its own.
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """The system messages and tools of a request, as they were sent."""

    digest: str
    system: tuple[Message, ...]
    tools: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """What was done to messages in a lane's window, and why. `vetoed_at` is set once it was undone.

    Decisions of one `batch` were made together; the compaction with that id has their totals.
    """

    id: str
    lane: str
    conversation: str
    kind: str
    rule: str
    messages: Sequence[str]
    tokens_before: int
    tokens_after: int
    reason: str
    data: JsonObject
    created_at: float
    vetoed_at: float | None = None
    batch: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A property of a message: it is pinned, or `text` in it is a rule or a decision."""

    message: str
    kind: str
    text: str
    depth: int


@dataclass(frozen=True, slots=True)
class LaneRecord:
    """The state of a conversation in windows of one size: what was last sent there, and its report.

    The store does not read `state`; `version` rises with every change.
    """

    id: str
    conversation: str
    window: int
    version: int
    state: JsonObject
    report: JsonObject
    updated_at: float


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction: how much it freed, how, and how long it took."""

    id: str
    conversation: str
    lane: str
    level: int
    strategy: str
    messages: int
    tokens_before: int
    tokens_after: int
    tokens_freed: int
    memories: int
    model: str
    path: str
    duration_ms: int
    created_at: float


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """A stored summary. `covers` names the messages it stands for, beyond those of `previous`.

    The store does not read `body`; `path` says how it was made.
    """

    id: str
    tree: str
    previous: str | None
    through: str
    depth: int
    covers: tuple[str, ...]
    body: JsonObject
    tokens: int
    model: str
    path: str
    created_at: float


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """Work that was promised in a commit and is carried out after it, with retries."""

    id: str
    topic: str
    payload: Any
    created_at: float
    done_at: float | None
    attempts: int
    error: str


@dataclass(frozen=True, slots=True)
class KnownModel:
    """What is known of a model on a server. None: not known, or not set."""

    upstream: str
    name: str
    trained_window: int | None = None
    recommended_ctx: int | None = None
    num_ctx: int | None = None
    info: JsonObject = field(default_factory=dict)
    updated_at: float = 0.0


class ModelChanges(TypedDict, total=False):
    """The fields of a known model that a caller may set; missing ones stay as they are."""

    trained_window: int | None
    recommended_ctx: int | None
    num_ctx: int | None
    info: JsonObject


# Crockford's base 32: no i, l, o or u, so a name can be read aloud.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH = 26
_RANDOM_BITS = 80

_lock = threading.Lock()
_last = 0


def new_id(prefix: str) -> str:
    """Return a new id: the prefix, 48 bits of milliseconds, and 80 random bits.

    Ids of one process always rise, within a millisecond and when the clock is set back as well, so they order
    rows of the same time.
    """
    global _last
    with _lock:
        drawn = int(time.time() * 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        _last = max(_last + 1, drawn)
        number = _last
    letters = [_ALPHABET[number >> shift & 31] for shift in range(5 * (_LENGTH - 1), -1, -5)]
    return f"{prefix}_{''.join(letters)}"


def short_id(length: int = 8) -> str:
    """Return a new id that can be typed: random letters, for things of which there are few."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
