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
