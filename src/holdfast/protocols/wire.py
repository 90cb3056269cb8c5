"""What all protocols share: strict JSON, streams, overflow errors, blocks of an answer, and request rules.

JSON from clients is checked here once, so that later code may rely on valid Unicode and finite numbers.
"""

import base64
import binascii
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Literal, NoReturn, TypeVar

from holdfast.errors import BadRequest, CutOff, Overflow
from holdfast.i18n import lazy
from holdfast.messages import (
    Answer,
    CallPiece,
    ChatRequest,
    Chunk,
    Extra,
    Form,
    Image,
    JsonObject,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_T = TypeVar("_T")

# Where OpenAI allows several spellings, the one the client used is kept in `extra` under this name.
OPENAI_SPELLING = "openai.spelling"

# What a writer returns for a client: a payload, or its JSON.
ClientPayload = JsonObject | str

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_json(body: bytes) -> Any:
    """Parses a request body strictly. Lone surrogates become U+FFFD, as in Go's decoder."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(
            f"the request body is not valid UTF-8 (byte {error.start})", hint="Send JSON encoded as UTF-8."
        ) from None
    try:
        value = json.loads(text, parse_constant=refuse_constant, parse_float=parse_finite)
    except json.JSONDecodeError as error:
        raise BadRequest(
            f"the request body is not valid JSON: {error.msg} at character {error.pos}",
            hint="Check for a missing bracket, quote or comma there.",
        ) from None
    except RecursionError:
        raise BadRequest("the request body is nested too deeply") from None
    except ValueError:
        # Python refuses to parse integers with thousands of digits.
        raise BadRequest("the request body has a number that is too long") from None
    return replace_surrogates(value) if "\\ud" in text.lower() else value


def parse_object(body: bytes) -> dict[str, Any]:
    """Parses a request body that must be a JSON object."""
    value = parse_json(body)
    if not isinstance(value, dict):
        raise BadRequest(f"the request body must be a JSON object, not {json_type(value)}")
    return value


def parse_finite(text: str) -> float:
    """Parses a float of a request body; infinity is refused."""
    number = float(text)
    if not isfinite(number):
        raise BadRequest(f"the request body has {text:.20}, which is larger than any number")
    return number


def refuse_constant(name: str) -> NoReturn:
    """Refuses NaN and Infinity, which Python's parser would accept."""
    raise BadRequest(f"the request body has {name}, which is not JSON")


def replace_surrogates(value: Any) -> Any:
    """Returns the value with lone surrogates replaced by U+FFFD in all its strings."""
    match value:
        case str():
            return _LONE_SURROGATE.sub("\ufffd", value)
        case list():
            return [replace_surrogates(item) for item in value]
        case dict():
            return {replace_surrogates(key): replace_surrogates(item) for key, item in value.items()}
        case _:
            return value


def json_type(value: Any) -> str:
    """Returns the JSON name of a value's type, for error messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def expect(value: Any, wanted: type[_T], where: str) -> _T:
    """Returns `value` if it has the wanted type, else raises BadRequest naming the field `where`."""
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        names = {str: "a string", list: "an array", dict: "an object", bool: "true or false", int: "a number"}
        raise BadRequest(f"{where} must be {names[wanted]}, not {json_type(value)}", param=where)
    return value


def keep_fields(protocol: str, fields: JsonObject) -> Extra:
    """Returns uninterpreted fields under the name of the protocol they came from."""
    return {protocol: dict(fields)} if fields else {}


def placeholder(what: str) -> str:
    """Returns a text that replaces something the receiving server does not support."""
    return f"[not shown: {what}]"


class LineSplitter:
    """Splits a byte stream that arrives in parts into lines, without their line ends."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []

    def split(self, data: bytes) -> list[bytes]:
        """Returns the lines that are complete now."""
        *lines, remaining = data.split(b"\n")
        if lines:
            lines[0] = b"".join((*self._pending, lines[0]))
            self._pending.clear()
        self._pending.append(remaining)
        return [line.rstrip(b"\r") for line in lines]

    def rest(self) -> bytes:
        """Returns the last, unterminated line."""
        return b"".join(self._pending).rstrip(b"\r")


async def iter_lines(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yields the lines of a byte stream, including a last unterminated one, without empty ones."""
    splitter = LineSplitter()
    async for data in stream:
        for line in splitter.split(data):
            if line.strip():
                yield line
    if splitter.rest().strip():
        yield splitter.rest()


async def iter_sse(stream: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yields the data of each server-sent event."""
    splitter = LineSplitter()
    data: list[str] = []
    async for part in stream:
        for line in splitter.split(part):
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
            elif not line and data:
                yield "\n".join(data)
                data.clear()
    if (last := splitter.rest()).startswith(b"data:"):
        data.append(last[5:].removeprefix(b" ").decode("utf-8", "replace"))
    if data:
        yield "\n".join(data)


def _finite_or_none(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


# What is no number counts as not said.
_SERVER_JSON = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite_or_none)


def parse_server_payload(text: str) -> dict[str, Any]:
    """Parses one payload of a model server's stream; raises CutOff unless it is a JSON object."""
    try:
        value = _SERVER_JSON.decode(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or is_too_deep(value, text):
        raise CutOff(
            "the model server sent something that is not JSON in the middle of its answer",
            hint=lazy("Look at the model server's log."),
        )
    scrubbed: dict[str, Any] = replace_surrogates(value) if _may_have_surrogates(text) else value
    return scrubbed


def _may_have_surrogates(text: str) -> bool:
    # Only an escape sequence can produce a lone surrogate.
    return "\\u" in text and "\\ud" in text.lower()


def is_relayable(text: str) -> bool:
    """Whether a payload of a model server, which could be parsed, may go to a client as it is."""
    return not (
        "NaN" in text or "Infinity" in text or "\n" in text or "\r" in text or _may_have_surrogates(text)
    )


# Deeper values could be read but not written again.
_MAX_DEPTH = 100


def is_too_deep(value: Any, text: str) -> bool:
    """Whether a value is nested deeper than any server means it; `text` is what it was parsed from."""
    if text.count("[") + text.count("{") <= _MAX_DEPTH:
        return False
    level: list[Any] = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


def parse_count(value: Any) -> int | None:
    """Returns a count of a model server, None if it is none."""
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if whole else None


# Phrases by which servers say that a request is larger than the window.
_OVERFLOW = (
    "exceed_context_size_error",
    "exceeds the available context size",
    "context_length_exceeded",
    "maximum context length is",
    "exceeds the context length",
    "exceeded max context length",
    "exceeds maximum context length",
    "prompt is longer than the context length",
    "prompt is too long",
    "input tokens exceed the configured limit",
    "exceeds the maximum number of tokens allowed",
    "`inputs` tokens + `max_new_tokens` must be",
)
_OVERFLOW_PATTERN = re.compile(r"current length is \d+ while limit is")
_NOT_OVERFLOW = "string_above_max_length"
_PROMPT_TOKENS = re.compile(
    r"""n_prompt_tokens"?\s*:\s*(\d+)|request \((\d+) tokens\)|prompt contains (?:at least )?(\d+)"""
)
_WINDOW = re.compile(
    r"""n_ctx"?\s*:\s*(\d+)|context size \((\d+) tokens\)|maximum context length is (\d+)|limit is (\d+)"""
)


def classify_overflow(status: int, body: str) -> Overflow | None:
    """Returns an Overflow if a server's error response says that the request exceeds the window."""
    if not 400 <= status < 600 or _NOT_OVERFLOW in body:
        return None
    if not any(phrase in body for phrase in _OVERFLOW) and not _OVERFLOW_PATTERN.search(body):
        return None
    tokens, window = find_number(_PROMPT_TOKENS, body), find_number(_WINDOW, body)
    numbers = f" ({tokens} tokens, window {window})" if tokens and window else ""
    return Overflow(
        f"the request is larger than the model's context window{numbers}",
        hint="Shorten it, or give the model a larger window.",
        prompt_tokens=tokens,
        window=window,
    )


def find_number(pattern: re.Pattern[str], text: str) -> int | None:
    """Returns the number captured by the first match of a pattern, from whichever group took part."""
    match = pattern.search(text)
    return next((int(group) for group in match.groups() if group), None) if match else None


def without(value: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Returns a copy of an object without the named fields."""
    return {name: item for name, item in value.items() if name not in names}


def take_text(fields: dict[str, Any], name: str) -> str:
    """Removes a text from `fields` and returns it. An empty one stays, so that it is sent unchanged."""
    return expect(fields.pop(name), str, name) if fields.get(name) else ""


BlockKind = Literal["thinking", "text", "call"]


@dataclass(slots=True)
class Block:
    """One block of an answer: thinking, text or a tool call (only then `call` is filled)."""

    kind: BlockKind
    index: int
    call: CallPiece = field(default_factory=CallPiece)
    open: bool = True
    size: int = 0
    # Joined lazily: appending each chunk to one string would copy the growing text every time.
    _pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces[:] = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self.size += len(text)


# One change of a block (opened, extended or closed), the block, and the text added.
BlockStep = tuple[Literal["open", "add", "close"], Block, str]


class BlockBuilder:
    """Groups the chunks of one answer into consecutive blocks, for protocols that announce each block.

    `add` and `end` are generators that change the state as they go: consume them completely.
    """

    def __init__(self) -> None:
        self.answer = Answer()
        self.all: list[Block] = []
        # The blocks of tool calls by the call's index.
        self.calls: dict[int, Block] = {}

    def add(self, chunk: Chunk) -> Iterator[BlockStep]:
        self.answer.add(chunk)
        if chunk.thinking:
            yield from self._add_text("thinking", chunk.thinking)
        if chunk.text:
            yield from self._add_text("text", chunk.text)
        if chunk.calls:
            yield from self._add_calls()

    def end(self) -> Iterator[BlockStep]:
        if self.all and self.all[-1].open:
            self.all[-1].open = False
            yield "close", self.all[-1], ""

    def _add_text(self, kind: BlockKind, text: str) -> Iterator[BlockStep]:
        if not (self.all and self.all[-1].open and self.all[-1].kind == kind):
            yield from self._open(kind)
        yield from self._fill(text)

    def _add_calls(self) -> Iterator[BlockStep]:
        """Yields what is new of the calls. A new call closes the one before: servers send them in order."""
        for number, piece in sorted(self.answer.calls.items()):
            if number not in self.calls:
                yield from self._open("call", piece)
                self.calls[number] = self.all[-1]
            block = self.calls[number]
            block.call = piece
            if block.open and len(piece.arguments) > block.size:
                yield from self._fill(piece.arguments[block.size :])

    def _open(self, kind: BlockKind, call: CallPiece | None = None) -> Iterator[BlockStep]:
        yield from self.end()
        self.all.append(Block(kind, len(self.all), call or CallPiece()))
        yield "open", self.all[-1], ""

    def _fill(self, text: str) -> Iterator[BlockStep]:
        self.all[-1].add(text)
        yield "add", self.all[-1], text


# First bytes of image files. WebP, HEIC and AVIF have their marker further in and are checked separately.
_IMAGE_SIGNATURES = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"BM",
    b"II*\x00",
    b"MM\x00*",
)


# Options used in calculations, and how error messages call them.
_NUMERIC_OPTIONS = {"max_tokens": "max_tokens (in Ollama's options: num_predict)", "num_ctx": "num_ctx"}


def check_request(request: ChatRequest, *, continues: bool = False) -> None:
    """Raises BadRequest for requests that no model server could process, before anything is stored or sent.

    Not part of parsing: a request that is only inspected need not be answerable. With `continues` the request
    continues a stored conversation, so its first tool results may answer calls that are in the log.
    """
    check_options(request.options)
    if all(type(part) is Text for message in request.messages for part in message.parts):
        # Most requests have nothing else, and some are very long.
        return
    check_pairs(request.messages, continues=continues)
    for message in request.messages:
        images = [*message.images, *(part for result in message.tool_results for part in result.parts)]
        for image in images:
            if isinstance(image, Image) and image.data:
                check_image(image)


def check_options(options: JsonObject) -> None:
    """Checks types only, not ranges: zero and negative numbers have a meaning for some servers."""
    for name, label in _NUMERIC_OPTIONS.items():
        value = options.get(name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not number:
            raise BadRequest(f"{label} must be a number, not {json_type(value)}", param=name)


def check_pairs(messages: tuple[Message, ...], *, continues: bool = False) -> None:
    """Checks that every tool result answers an earlier call; without ids, any earlier call counts."""
    call_ids: set[str] = set()
    for message in messages:
        # Before the first answer in the request, results may belong to calls of the stored conversation.
        continues = continues and message.role != "assistant"
        if continues:
            continue
        call_ids |= {call.id for call in message.tool_calls}
        if is_function_result(message):
            # Legacy function calls are in a field that is not interpreted.
            continue
        for result in message.tool_results:
            anonymous = not result.call_id or call_ids == {""}
            if result.call_id not in call_ids and not (anonymous and call_ids):
                raise BadRequest(
                    "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
                    + (f" (no call has the id {result.call_id!r})" if result.call_id else ""),
                    hint="Send the assistant message that made the call before its result.",
                    param="messages",
                )


def check_image(image: Image) -> None:
    """Raises BadRequest unless the data is base64 of a known image file type."""
    try:
        data = base64.b64decode(image.data.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest("an image is not valid base64", param="messages", code="invalid_base64") from None
    riff = data[:4] == b"RIFF" and data[8:12] == b"WEBP"
    boxed = data[4:8] == b"ftyp"
    if not (data.startswith(_IMAGE_SIGNATURES) or riff or boxed):
        raise BadRequest(
            "an image is no picture file this server knows (PNG, JPEG, GIF, WebP, BMP, TIFF, HEIC, AVIF)",
            hint="Send the bytes of the picture file itself, encoded as base64.",
            param="messages",
            code="invalid_image_format",
        )


def is_function_result(message: Message) -> bool:
    """Whether this is a result of a legacy function call, which tool calls replaced."""
    return message.extra.get(OPENAI_SPELLING, {}).get("role") == "function"


def add_call_ids(request: ChatRequest) -> ChatRequest:
    """Gives every call an id and every result the id of its call, for servers that pair by id alone.

    Ids are deterministic, so a longer history gets the same ones for the same messages.
    """
    messages = request.messages
    if not any(
        isinstance(part, ToolCall | ToolResult) and not _pairing_id(part) for part in _list_parts(messages)
    ):
        return request
    numbered, count = [], 0
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                count += 1
                parts.append(part if part.id else replace(part, id=f"call_{count}"))
            else:
                parts.append(part)
        numbered.append(message if tuple(parts) == message.parts else replace(message, parts=tuple(parts)))
    return replace(request, messages=tuple(_pair_results(numbered)))


def add_tool_names(request: ChatRequest) -> ChatRequest:
    """Gives every result the name of its call, for servers whose templates need names (Ollama)."""
    calls = (part for part in _list_parts(request.messages) if isinstance(part, ToolCall))
    names = {call.id: call.name for call in calls if call.id}
    if not names:
        return request
    messages = (
        _name_results(message, names)
        if any(not result.name and result.call_id in names for result in message.tool_results)
        else message
        for message in request.messages
    )
    return replace(request, messages=tuple(messages))


def _name_results(message: Message, names: dict[str, str]) -> Message:
    parts = tuple(
        replace(part, name=names.get(part.call_id, ""))
        if isinstance(part, ToolResult) and not part.name
        else part
        for part in message.parts
    )
    return replace(message, parts=parts)


def _pair_results(messages: Sequence[Message]) -> list[Message]:
    """Gives results without an id that of the first unanswered call, of the same name if they have one."""
    waiting: list[ToolCall] = []
    paired = []
    for message in messages:
        if message.tool_calls:
            waiting = list(message.tool_calls)
        parts: list[Part] = []
        for part in message.parts:
            call = _find_call(part, waiting) if isinstance(part, ToolResult) else None
            if call is not None:
                waiting.remove(call)
                assert isinstance(part, ToolResult)
                parts.append(replace(part, call_id=call.id))
            else:
                parts.append(part)
        paired.append(message if tuple(parts) == message.parts else replace(message, parts=tuple(parts)))
    return paired


def _find_call(result: ToolResult, waiting: Sequence[ToolCall]) -> ToolCall | None:
    if result.call_id:
        return next((call for call in waiting if call.id == result.call_id), None)
    named = [call for call in waiting if call.name == result.name]
    return next(iter(named or (() if result.name else waiting)), None)


def _pairing_id(part: ToolCall | ToolResult) -> str:
    return part.id if isinstance(part, ToolCall) else part.call_id


def _list_parts(messages: Sequence[Message]) -> list[Part]:
    return [part for message in messages for part in message.parts]


def simplest_form(parts: Sequence[Part]) -> Form:
    """Returns the simplest form for protocols that always send lists: not every server accepts lists."""
    if len(parts) == 1 and isinstance(parts[0], ToolResult):
        parts = parts[0].parts
    body = [part for part in parts if not isinstance(part, Thinking | ToolCall)]
    if not body:
        return "null" if any(isinstance(part, ToolCall) for part in parts) else "text"
    return "text" if len(body) == 1 and isinstance(body[0], Text) else "parts"
