"""What every request must satisfy in any dialect: results belong to calls, pictures are pictures,
and limits are numbers.

Kept apart from reading, because a request that is only looked at (to tell conversations apart) need not be
one that a model could answer.
"""

import base64
import binascii

from holdfast.errors import BadRequest
from holdfast.messages import ChatRequest, Image, JsonObject, Message
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
