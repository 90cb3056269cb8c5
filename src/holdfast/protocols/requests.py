"""Rules for chat requests that hold in every protocol: checks, pairing of tool calls, forms of content."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import replace

from holdfast.errors import BadRequest
from holdfast.messages import (
    ChatRequest,
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
from holdfast.protocols.wire import OPENAI_SPELLING, json_type

# How picture files begin. WebP, HEIC and AVIF name themselves a little later, so they are looked at there.
_IMAGE_SIGNATURES = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"BM",
    b"II*\x00",
    b"MM\x00*",
)


# The options that we calculate with, each as it is called in errors.
_NUMERIC_OPTIONS = {"max_tokens": "max_tokens (in Ollama's options: num_predict)", "num_ctx": "num_ctx"}


def check_request(request: ChatRequest, *, continues: bool = False) -> None:
    """Raises BadRequest for what a model server would choke on, before anything is kept or sent.

    With `continues` the request goes on where a conversation of ours ends, so what it begins with may answer
    calls that are in the log.
    """
    check_options(request.options)
    check_pairs(request.messages, continues=continues)
    for message in request.messages:
        images = [*message.images, *(part for result in message.tool_results for part in result.parts)]
        for image in images:
            if isinstance(image, Image) and image.data:
                check_image(image)


def check_options(options: JsonObject) -> None:
    """Nothing is said about sizes here: zero and less than zero have a meaning for some servers."""
    for name, called in _NUMERIC_OPTIONS.items():
        value = options.get(name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not number:
            raise BadRequest(f"{called} must be a number, not {json_type(value)}", param=name)


def check_pairs(messages: tuple[Message, ...], *, continues: bool = False) -> None:
    """Every tool result answers a call made before it. Where clients give no ids, any earlier one will do."""
    called: set[str] = set()
    for message in messages:
        # Up to the first answer in the request, results may belong to what was said before it.
        continues = continues and message.role != "assistant"
        if continues:
            continue
        called |= {call.id for call in message.tool_calls}
        if is_function_result(message):
            # The way before tools: its calls are in a field that is only passed on.
            continue
        for result in message.tool_results:
            anonymous = not result.call_id or called == {""}
            if result.call_id not in called and not (anonymous and called):
                raise BadRequest(
                    "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
                    + (f" (no call has the id {result.call_id!r})" if result.call_id else ""),
                    hint="Send the assistant message that made the call before its result.",
                    param="messages",
                )


def check_image(image: Image) -> None:
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
    """Every call with an id, and every result with that of its call, as far as it has one."""
    messages = request.messages
    if not any(
        isinstance(part, ToolCall | ToolResult) and not _pairing_id(part) for part in _list_parts(messages)
    ):
        return request
    numbered, made = [], 0
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                made += 1
                parts.append(part if part.id else replace(part, id=f"call_{made}"))
            else:
                parts.append(part)
        numbered.append(message if tuple(parts) == message.parts else replace(message, parts=tuple(parts)))
    return replace(request, messages=tuple(_pair_results(numbered)))


def add_tool_names(request: ChatRequest) -> ChatRequest:
    """Every result with the name of the call whose id it has."""
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
    """Results without an id get that of the first call still open, one of their name if they have one."""
    waiting: list[ToolCall] = []
    matched = []
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
        matched.append(message if tuple(parts) == message.parts else replace(message, parts=tuple(parts)))
    return matched


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
    """The simplest form that says the same: not every server takes lists, and no list is better than an
    empty one.
    """
    if len(parts) == 1 and isinstance(parts[0], ToolResult):
        parts = parts[0].parts
    body = [part for part in parts if not isinstance(part, Thinking | ToolCall)]
    if not body:
        return "null" if any(isinstance(part, ToolCall) for part in parts) else "text"
    return "text" if len(body) == 1 and isinstance(body[0], Text) else "parts"
