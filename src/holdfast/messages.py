"""The values a conversation is made of: messages, their parts, requests, and the pieces of an answer.

Everything here is frozen and plain. It knows no wire format, no storage and no tokens: `dialects` translates
to and from what clients and servers speak, `store` gives identity and order.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple, Self

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")

JsonObject = Mapping[str, Any]

# Fields a wire format carries that we do not interpret, kept by the dialect they came from, so that they
# go out again in that dialect and never leak into another.
Extra = Mapping[str, JsonObject]

# The name under which we keep our own fields among those of the wire formats.
OURS = "holdfast"

# How a message's content was written: as a string, as a list of parts, as null, or not at all.
Form = Literal["text", "parts", "null", "absent"]


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical(value: Any) -> str:
    """JSON with one spelling for one value, so that equal requests are equal bytes."""
    return _ENCODER.encode(value)


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, either inline as base64 `data` or by `url`."""

    data: str = ""
    url: str = ""
    media_type: str = ""
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model wrote for itself before its answer."""

    text: str
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to call a tool; `arguments` is JSON text, exactly as the model wrote it."""

    name: str
    arguments: str
    id: str = ""
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class File:
    """A file that travels with a message, inline as base64 `data` or by a `file_id` of the server's."""

    name: str = ""
    data: str = ""
    media_type: str = ""
    file_id: str = ""
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part we do not interpret (audio, a refusal, a server-side tool): kept whole for its own dialect."""

    dialect: str
    payload: JsonObject


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered. `call_id` or `name` says which call it belongs to; some clients send neither."""

    parts: tuple["Text | Image | File | Opaque", ...]
    call_id: str = ""
    name: str = ""
    error: bool = False
    extra: Extra = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


Part = Text | Image | Thinking | ToolCall | ToolResult | File | Opaque

_TAGS: dict[str, type] = {
    "text": Text,
    "image": Image,
    "thinking": Thinking,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "file": File,
    "opaque": Opaque,
}
_NAMES = {cls: tag for tag, cls in _TAGS.items()}
# The fields of each part, and whether they may be left out.
_FIELDS = {
    cls: [
        (item.name, item.default is not MISSING or item.default_factory is not MISSING)
        for item in fields(cls)
    ]
    for cls in _NAMES
}


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    parts: tuple[Part, ...]
    form: Form = "text"
    extra: Extra = field(default_factory=dict)
    # A history is encoded with every request, for counts and for the prefix: once for each message is enough.
    _encoded: str = field(default="", init=False, repr=False, compare=False)
    _digest: str = field(default="", init=False, repr=False, compare=False)

    @classmethod
    def of(cls, role: Role, text: str) -> Self:
        return cls(role, (Text(text),) if text else ())

    @property
    def text(self) -> str:
        """What the message says: its text, and that of the tool results in it; no thinking."""
        if len(self.parts) == 1 and type(part := self.parts[0]) is Text:
            return part.text
        return "".join(part.text for part in self.parts if isinstance(part, Text | ToolResult))

    @property
    def thinking(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Thinking))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def images(self) -> tuple[Image, ...]:
        return tuple(part for part in self.parts if isinstance(part, Image))

    def encode(self) -> str:
        """The message as JSON text, for storage; `decode` gives it back unchanged."""
        if not self._encoded:
            value = {
                "role": self.role,
                "parts": [_part_to_json(part) for part in self.parts],
                **({"form": self.form} if self.form != "text" else {}),
                **({"extra": self.extra} if self.extra else {}),
            }
            object.__setattr__(self, "_encoded", canonical(value))
        return self._encoded

    @classmethod
    def decode(cls, encoded: str) -> Self:
        value = json.loads(encoded)
        return cls(
            role=value["role"],
            parts=tuple(_part_from_json(part) for part in value["parts"]),
            form=value.get("form", "text"),
            extra=value.get("extra", {}),
        )

    @property
    def digest(self) -> str:
        """Two messages with the same digest are the same, to the last unknown field."""
        if not self._digest:
            # Half a surrogate pair is no valid text, but a message that has one is still the same as itself.
            encoded = self.encode().encode(errors="surrogatepass")
            object.__setattr__(self, "_digest", hashlib.sha256(encoded).hexdigest()[:32])
        return self._digest


def _part_to_json(part: Part) -> dict[str, Any]:
    """What a part has beyond its defaults: a field without one is always written, so `decode` finds it."""
    value: dict[str, Any] = {"type": _NAMES[type(part)]}
    for name, optional in _FIELDS[type(part)]:
        content = getattr(part, name)
        if name == "parts":
            value["parts"] = [_part_to_json(inner) for inner in content]
        elif content or not optional:
            value[name] = content
    return value


def _part_from_json(value: dict[str, Any]) -> Part:
    content = {name: item for name, item in value.items() if name != "type"}
    if "parts" in content:
        content["parts"] = tuple(_part_from_json(part) for part in content["parts"])
    part: Part = _TAGS[value["type"]](**content)
    return part


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose words these are. It is part of every key: nothing is read or written across it."""

    user: str = "default"
    project: str = "default"
    kind: Literal["private", "group"] = "private"


class BoundScope(Scope):
    """The same scope, for somebody who writes to its project only: the person's own they may just read."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope) and self._fields == (other.user, other.project, other.kind)

    def __hash__(self) -> int:
        return hash(self._fields)

    @property
    def _fields(self) -> tuple[str, str, str]:
        return self.user, self.project, self.kind


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a model, in no particular dialect.

    `options` has our own names (temperature, max_tokens, num_ctx, …); `tools` are in the shape that Ollama
    and OpenAI share; `format` is "json" or a JSON schema; `think` is what the client asked for, if anything.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[JsonObject, ...] = ()
    options: JsonObject = field(default_factory=dict)
    format: Any = None
    think: bool | str | None = None
    stream: bool = True
    extra: Extra = field(default_factory=dict)

    def with_messages(self, messages: Sequence[Message]) -> "ChatRequest":
        return replace(self, messages=tuple(messages))

    def with_options(self, **options: Any) -> "ChatRequest":
        return replace(self, options={**self.options, **options})


# Why an answer ended. "cut" is ours: the stream broke or the client left before the model was done.
FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "load", "unload", "cut"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them. None means it did not say: never zero."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    # The server's own durations, in its own words and units.
    timings: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a streamed tool call; pieces with the same index belong together, one without is whole."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""


class WirePayload(NamedTuple):
    """A server's own payload and the name of its dialect.

    `text` is the payload as the server wrote it, empty if it cannot be passed on as it is.
    """

    dialect: str
    payload: JsonObject
    text: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of an answer as it streams.

    With `wire`, an endpoint of the same dialect passes on every field, the ones we do not know included.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[CallPiece, ...] = ()
    finish: FinishReason | None = None
    usage: Usage | None = None
    wire: WirePayload | None = None


@dataclass(slots=True)
class Answer:
    """Collects the chunks of one answer; `message` is what has arrived so far."""

    calls: dict[int, CallPiece] = field(default_factory=dict)
    finish: FinishReason | None = None
    usage: Usage = field(default_factory=Usage)
    # Text and thinking so far. To append each chunk to them would take quadratic time, so new pieces wait
    # until `message` is read.
    _text: str = ""
    _thinking: str = ""
    _pieces: list[tuple[str, str]] = field(default_factory=list)

    def add(self, chunk: Chunk) -> None:
        if chunk.text or chunk.thinking:
            self._pieces.append((chunk.text, chunk.thinking))
        for piece in chunk.calls:
            known = None if piece.index is None else self.calls.get(piece.index)
            if known is not None and not (piece.id and known.id and piece.id != known.id):
                self.calls[known.index or 0] = _joined(known, piece)
            else:
                # A server that gives every call the same number still gives each an id of its own.
                free = piece.index is not None and piece.index not in self.calls
                index = piece.index if free and piece.index is not None else len(self.calls)
                self.calls[index] = replace(piece, index=index)
        if chunk.finish is not None:
            self.finish = chunk.finish
        if chunk.usage is not None:
            self.usage = chunk.usage

    @property
    def message(self) -> Message:
        self._text += "".join(text for text, _ in self._pieces)
        self._thinking += "".join(thinking for _, thinking in self._pieces)
        self._pieces.clear()
        parts: list[Part] = []
        if self._thinking:
            parts.append(Thinking(self._thinking))
        if self._text:
            parts.append(Text(self._text))
        parts += [
            ToolCall(name=piece.name, arguments=piece.arguments, id=piece.id)
            for _, piece in sorted(self.calls.items())
        ]
        return Message("assistant", tuple(parts))


def _joined(known: CallPiece, piece: CallPiece) -> CallPiece:
    return CallPiece(
        index=known.index,
        id=known.id or piece.id,
        name=known.name + piece.name,
        arguments=known.arguments + piece.arguments,
    )
