"""Ollama's native chat format: requests, messages, and the NDJSON stream of an answer.

Content is a string, images are bare base64, tool arguments are objects, and a tool call is never split.
"""

import base64
import binascii
import json
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from holdfast.errors import BadRequest
from holdfast.messages import (
    ROLES,
    Answer,
    CallPiece,
    ChatRequest,
    Chunk,
    File,
    FinishReason,
    Form,
    Image,
    JsonObject,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    WirePayload,
    canonical,
)
from holdfast.protocols.wire import (
    ClientPayload,
    expect,
    is_too_deep,
    json_type,
    keep_fields,
    parse_count,
    placeholder,
    take_text,
    without,
)

NAME = "ollama"

# Ollama's option names to ours, where they differ. The rest keep the name that Ollama gave them.
_OPTIONS = {"num_predict": "max_tokens"}
_SHARED_OPTIONS = (
    "temperature", "top_p", "top_k", "min_p", "seed", "stop", "num_ctx",
    "presence_penalty", "frequency_penalty", "repeat_penalty",
)  # fmt: skip
_TO_OURS = _OPTIONS | {name: name for name in _SHARED_OPTIONS}
_TO_OLLAMA = {ours: theirs for theirs, ours in _TO_OURS.items()}

# Thinking levels that only OpenAI has, and the closest ones of Ollama.
_LEVELS: dict[bool | str, str] = {"minimal": "low", "xhigh": "high"}
# Fields with the same name and meaning in Ollama and OpenAI.
SAME_IN_BOTH = ("logprobs", "top_logprobs")

_METRICS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")


def parse_request(body: JsonObject) -> ChatRequest:
    """Parses a client's `/api/chat` body. It may have no messages: that asks the server to load a model."""
    messages = body.get("messages") or []
    options = expect(body.get("options") or {}, dict, "options")
    remaining = without(body, "model", "messages", "stream", "options")
    if "options" in body:
        remaining["options"] = without(options, *_TO_OURS) if options else body["options"]
    return ChatRequest(
        model=expect(body.get("model", ""), str, "model"),
        messages=tuple(parse_message(item) for item in expect(messages, list, "messages")),
        tools=take_tools(remaining),
        options={_TO_OURS[name]: value for name, value in options.items() if name in _TO_OURS},
        format=remaining.pop("format") if remaining.get("format") else None,
        think=parse_think(remaining.pop("think")) if remaining.get("think") is not None else None,
        stream=body.get("stream") is None or expect(body["stream"], bool, "stream"),
        extra=keep_fields(NAME, remaining),
    )


def parse_think(value: Any) -> bool | str:
    if not isinstance(value, bool | str):
        raise BadRequest(f"think must be true, false or a level, not {json_type(value)}", param="think")
    return value


def serialize_request(request: ChatRequest) -> dict[str, Any]:
    """Returns the body of an `/api/chat` request. Options that only other protocols have are left out."""
    own = dict(request.extra.get(NAME, {}))
    options: dict[str, Any] = {}
    for name, value in request.options.items():
        if name in _TO_OLLAMA:
            options[_TO_OLLAMA[name]] = [value] if name == "stop" and isinstance(value, str) else value
    if options or own.get("options"):
        own["options"] = {**options, **(own.get("options") or {})}
    if request.tools:
        own["tools"] = list(request.tools)
    if request.format is not None:
        own["format"] = request.format
    if request.think is not None:
        own["think"] = _LEVELS.get(request.think, request.think)
    for name in SAME_IN_BOTH:
        if name not in own and (value := request.extra.get("openai", {}).get(name)) is not None:
            own[name] = value
    messages = [serialize_message(message) for message in request.messages]
    return {"model": request.model, "messages": messages, "stream": request.stream, **own}


def take_tools(fields: dict[str, Any]) -> tuple[JsonObject, ...]:
    """Removes the tools from a request's fields and returns them. An empty list stays unchanged."""
    if not fields.get("tools"):
        return ()
    return tuple(expect(tool, dict, "tools[]") for tool in expect(fields.pop("tools"), list, "tools"))


def parse_message(value: Any) -> Message:
    item = expect(value, dict, "messages[]")
    role = item.get("role")
    if role not in ROLES:
        raise BadRequest(
            f"invalid role {role!r}: it must be one of {', '.join(ROLES)}", param="messages[].role"
        )
    content = item.get("content")
    if content is not None and not isinstance(content, str):
        raise BadRequest(
            f"message content must be a string, not {json_type(content)}", param="messages[].content"
        )
    form: Form = "text" if isinstance(content, str) else "null" if "content" in item else "absent"
    if content and len(item) == 2 and role != "tool":
        return Message(role, (Text(content),))
    remaining = without(item, "role", "content")
    body: list[Text | Image] = [Text(content)] if content else []
    if remaining.get("images"):
        body += [parse_image(data) for data in expect(remaining.pop("images"), list, "images")]
    if role == "tool":
        result = ToolResult(
            parts=tuple(body),
            call_id=take_text(remaining, "tool_call_id"),
            name=take_text(remaining, "tool_name"),
        )
        return Message("tool", (result,), form, keep_fields(NAME, remaining))
    parts: list[Part] = []
    if remaining.get("thinking"):
        parts.append(Thinking(expect(remaining.pop("thinking"), str, "thinking")))
    parts += body
    if remaining.get("tool_calls"):
        parts += [parse_call(call) for call in expect(remaining.pop("tool_calls"), list, "tool_calls")]
    return Message(role, tuple(parts), form, keep_fields(NAME, remaining))


def parse_image(data: Any) -> Image:
    text = expect(data, str, "images[]")
    try:
        # Go's decoder, which Ollama uses, ignores line breaks in base64.
        base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRequest(f"illegal base64 data in an image: {error}", param="messages[].images") from None
    return Image(data=text)


def parse_call(value: Any) -> ToolCall:
    call = expect(value, dict, "tool_calls[]")
    function = expect(call.get("function"), dict, "tool_calls[].function")
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        raise BadRequest(f"tool call arguments must be an object, not {json_type(arguments)}")
    remaining = without(call, "id", "function")
    if inner := without(function, "name", "arguments"):
        remaining["function"] = inner
    return ToolCall(
        name=expect(function.get("name"), str, "tool_calls[].function.name"),
        arguments=canonical(arguments) if "arguments" in function else "",
        id=expect(call.get("id", ""), str, "tool_calls[].id"),
        extra=keep_fields(NAME, remaining),
    )


def serialize_message(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {"role": message.role}
    result = message.tool_results[0] if message.tool_results else None
    parts: Iterable[Part] = result.parts if result else message.parts
    text = "".join(part_as_text(part) for part in parts)
    if text or message.form in ("text", "parts"):
        value["content"] = text
    elif message.form == "null":
        value["content"] = None
    if result:
        value |= {"tool_call_id": result.call_id} if result.call_id else {}
        value |= {"tool_name": result.name} if result.name else {}
    if thinking := message.thinking:
        value["thinking"] = thinking
    if images := [part.data for part in parts if isinstance(part, Image) and part.data]:
        value["images"] = images
    if message.tool_calls:
        value["tool_calls"] = [serialize_call(call) for call in message.tool_calls]
    return value | dict(message.extra.get(NAME, {}))


def part_as_text(part: Part) -> str:
    """Returns a part's text, or a placeholder for what Ollama's format cannot carry."""
    match part:
        case Text():
            return part.text
        case Image(data=""):
            return placeholder(f"image {part.url}")
        case File():
            return placeholder(f"file {part.name or part.file_id}".rstrip())
        case Opaque():
            return placeholder(str(part.payload.get("type", "part")))
        case _:
            return ""


def serialize_call(call: ToolCall) -> dict[str, Any]:
    own = dict(call.extra.get(NAME, {}))
    function = {"name": call.name, **own.pop("function", {})}
    if call.arguments:
        function["arguments"] = parse_arguments(call.arguments)
    return {**({"id": call.id} if call.id else {}), **own, "function": function}


def parse_arguments(arguments: str) -> Any:
    """Parses a model's arguments to the object Ollama expects; anything else is wrapped in one."""
    try:
        value = json.loads(arguments, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return {"arguments": arguments}
    if is_too_deep(value, arguments):
        return {"arguments": arguments}
    return value if isinstance(value, dict) or value is None else {"arguments": value}


def parse_chunk(payload: JsonObject, text: str = "") -> Chunk:
    """Parses one line of an `/api/chat` stream, or a whole answer; `text` is the payload as it was sent."""
    message = payload.get("message") or {}
    tool_calls, done = message.get("tool_calls"), bool(payload.get("done"))
    if None in message.values():
        empty = [name for name in _TEXTS if name in message and message[name] is None]
        payload, text = {**payload, "message": {**message, **dict.fromkeys(empty, "")}}, ""
    if not tool_calls and not done:
        # Nearly every line is of this kind.
        said, thought = message.get("content") or "", message.get("thinking") or ""
        return Chunk(said, thought, wire=WirePayload(NAME, payload, text))
    calls = tuple(
        CallPiece(
            id=call.get("id") or f"call_{secrets.token_hex(4)}",
            name=call.get("function", {}).get("name", ""),
            arguments=canonical(call.get("function", {}).get("arguments") or {}),
        )
        for call in tool_calls or ()
    )
    if done:
        payload = {
            name: value
            for name, value in payload.items()
            if name not in _COUNTS or parse_count(value) is not None
        }
    return Chunk(
        text=message.get("content") or "",
        thinking=message.get("thinking") or "",
        calls=calls,
        finish=parse_finish(payload, bool(calls)) if done else None,
        usage=parse_usage(payload) if done else None,
        wire=WirePayload(NAME, payload),
    )


# Fields with text; null counts as none.
_TEXTS = ("content", "thinking", "response")
# Numbers at the end of an answer; what is none is left out.
_COUNTS = frozenset(("prompt_eval_count", "eval_count", "prompt_eval_cached_count", *_METRICS))


def parse_finish(payload: JsonObject, calls: bool) -> FinishReason:
    reason = payload.get("done_reason")
    if reason in ("length", "load", "unload"):
        finish: FinishReason = reason
        return finish
    return "tool_calls" if calls else "stop"


def parse_usage(payload: JsonObject) -> Usage:
    return Usage(
        prompt=payload.get("prompt_eval_count"),
        completion=payload.get("eval_count"),
        cached=payload.get("prompt_eval_cached_count"),
        timings={name: payload[name] for name in _METRICS if name in payload},
    )


def serialize_call_line(index: int, call: ToolCall) -> dict[str, Any]:
    """Returns a tool call as an answer contains it, with its index."""
    arguments = parse_arguments(call.arguments or "{}")
    return {"id": call.id, "function": {"index": index, "name": call.name, "arguments": arguments}}


def find_openai_logprobs(chunk: Chunk) -> list[Any] | None:
    """Returns the log probabilities in an event of OpenAI's protocol."""
    match chunk.wire:
        case WirePayload(payload={"choices": [{"logprobs": {"content": list(logprobs)}}, *_]}):
            return logprobs
        case _:
            return None


class OllamaWriter:
    """Writes one answer for an Ollama client, in the format of `/api/chat` or (`generate`) `/api/generate`.

    Payloads of an Ollama server are relayed; chunks of other servers are translated.
    """

    def __init__(self, model: str, *, generate: bool = False, context: list[int] | None = None) -> None:
        self._model = model
        self._generate = generate
        self._context = context
        self._answer = Answer()
        self._payloads: list[JsonObject] = []

    def chunk(self, chunk: Chunk) -> list[ClientPayload]:
        """Returns the lines a streaming client gets for this chunk."""
        self._answer.add(chunk)
        if chunk.wire is not None and chunk.wire.dialect == NAME:
            line = self._record(chunk.wire.payload)
            return [line if self._generate else chunk.wire.text or line]
        message: dict[str, Any] = {"role": "assistant", "content": chunk.text}
        if chunk.thinking:
            message["thinking"] = chunk.thinking
        if chunk.finish is not None and self._answer.calls:
            # Other servers send tool calls in pieces; an Ollama client expects complete ones.
            calls = enumerate(self._answer.message.tool_calls)
            message["tool_calls"] = [serialize_call_line(index, call) for index, call in calls]
        if not chunk.text and len(message) == 2:
            return []
        line = self._line(message, done=False)
        if logprobs := find_openai_logprobs(chunk):
            line["logprobs"] = logprobs
        return [self._record(line)]

    def end(self) -> list[JsonObject]:
        """Returns the closing line, unless an Ollama server has sent one."""
        if any(payload.get("done") for payload in self._payloads):
            return []
        reason = self._answer.finish or "stop"
        line = self._line({"role": "assistant", "content": ""}, done=True)
        line["done_reason"] = "stop" if reason in ("tool_calls", "content_filter", "cut") else reason
        usage = self._answer.usage
        counts = {"prompt_eval_count": usage.prompt, "eval_count": usage.completion}
        return [self._record(line | {name: count for name, count in counts.items() if count is not None})]

    def write_error(self, error: dict[str, Any]) -> list[dict[str, Any]]:
        """Returns the last line of an answer that broke off."""
        return [error]

    def whole(self) -> dict[str, Any]:
        """Returns the answer as one object; call it after all chunks and `end`."""
        last = dict(self._payloads[-1])
        merged: dict[str, Any] = {}
        for payload in self._payloads:
            for name, value in (payload if self._generate else payload.get("message", {})).items():
                if name in _TEXTS and isinstance(value, str):
                    merged[name] = merged.get(name, "") + value
                elif name == "tool_calls" and value:
                    merged[name] = [*merged.get(name, []), *value]
                elif name not in merged:
                    merged[name] = value
        logprobs = [item for payload in self._payloads for item in payload.get("logprobs") or ()]
        if logprobs:
            last["logprobs"] = logprobs
        if self._generate:
            texts = {name: merged[name] for name in ("response", "thinking", "tool_calls") if name in merged}
            return last | texts
        return last | {"message": merged}

    def _line(self, message: dict[str, Any], *, done: bool) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        return {"model": self._model, "created_at": now, "message": message, "done": done}

    def _record(self, payload: JsonObject) -> JsonObject:
        """Returns the payload in the format of the endpoint, and remembers it for `whole`."""
        if self._generate and "message" in payload:
            line = dict(payload)
            message = line.pop("message") or {}
            done = line.pop("done", False)
            line |= {"response": message.get("content", ""), "done": done}
            line |= {name: message[name] for name in ("thinking", "tool_calls") if message.get(name)}
            if done and self._context is not None:
                line["context"] = self._context
            payload = line
        self._payloads.append(payload)
        return payload
