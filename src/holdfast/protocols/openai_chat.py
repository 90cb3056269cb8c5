"""OpenAI's chat completions, and the older completions of a bare prompt.

Content is a string or a list of parts, tool arguments are JSON text, and tool calls come in pieces.
Compatible servers add fields of their own (`reasoning`, `timings`), which are relayed.
"""

import re
import secrets
import time
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from holdfast.errors import BadRequest
from holdfast.messages import (
    Answer,
    CallPiece,
    ChatRequest,
    Chunk,
    Extra,
    File,
    FinishReason,
    Form,
    Image,
    JsonObject,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    WirePayload,
    canonical,
)
from holdfast.protocols.ollama import SAME_IN_BOTH, take_tools
from holdfast.protocols.wire import (
    OPENAI_SPELLING,
    ClientPayload,
    check_options,
    expect,
    json_type,
    keep_fields,
    parse_count,
    placeholder,
    take_text,
    without,
)

NAME = "openai"
# A tool call that is not a function call is stored unchanged under this name.
_OTHER_CALL = "openai.tool_call"

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_OPTIONS = (
    "temperature", "top_p", "top_k", "min_p", "seed", "stop",
    "presence_penalty", "frequency_penalty", "repeat_penalty",
)  # fmt: skip
_TOKEN_LIMITS = ("max_completion_tokens", "max_tokens")
_REASONING = ("reasoning_content", "reasoning")
_EFFORTS: dict[bool | str, str] = {True: "medium", False: "none", "max": "high"}
_DATA_URL = re.compile(r"data:([\w.+-]+/[^,]+);base64,([\s\S]*)")


def parse_request(body: JsonObject) -> ChatRequest:
    """Parses a client's `/v1/chat/completions` body."""
    remaining = without(body, "model", "messages", "stream")
    limit = next((name for name in _TOKEN_LIMITS if remaining.get(name) is not None), None)
    options = {name: remaining.pop(name) for name in _OPTIONS if remaining.get(name) is not None}
    extra: dict[str, JsonObject] = {}
    if limit is not None:
        options["max_tokens"] = remaining.pop(limit)
        extra[OPENAI_SPELLING] = {"limit": limit}
    stream = remaining["stream"] if "stream" in remaining else body.get("stream")
    return ChatRequest(
        model=expect(body.get("model"), str, "model"),
        messages=tuple(parse_message(item) for item in expect(body.get("messages"), list, "messages")),
        tools=take_tools(remaining),
        options=options,
        format=parse_format(remaining.get("response_format")),
        think=parse_effort(remaining.get("reasoning_effort")),
        stream=expect(stream, bool, "stream") if stream is not None else False,
        extra=extra | dict(keep_fields(NAME, remaining)),
    )


def parse_format(value: Any) -> Any:
    """Returns what Ollama calls `format`. The client's own field is kept in `extra`."""
    if not isinstance(value, dict):
        return None
    match value.get("type"):
        case "json_object":
            return value.get("schema") or "json"
        case "json_schema":
            definition = value.get("json_schema")
            return (definition.get("schema") if isinstance(definition, dict) else None) or "json"
        case _:
            return None


def parse_effort(effort: Any) -> bool | str | None:
    if not isinstance(effort, str):
        return None
    return False if effort == "none" else effort


def serialize_request(request: ChatRequest) -> dict[str, Any]:
    """Returns the body of a `/v1/chat/completions` request."""
    own = dict(request.extra.get(NAME, {}))
    options = {name: value for name, value in request.options.items() if name in _OPTIONS}
    limit = request.options.get("max_tokens")
    if isinstance(limit, int | float) and limit > 0:
        options[request.extra.get(OPENAI_SPELLING, {}).get("limit", "max_tokens")] = limit
    if request.tools:
        own["tools"] = list(request.tools)
    if request.format is not None and "response_format" not in own:
        own["response_format"] = serialize_format(request.format)
    if request.think is not None and "reasoning_effort" not in own:
        own["reasoning_effort"] = _EFFORTS.get(request.think, request.think)
    for name in SAME_IN_BOTH:
        if name not in own and (value := request.extra.get("ollama", {}).get(name)) is not None:
            own[name] = value
    messages = [serialize_message(message) for message in request.messages]
    return {"model": request.model, "messages": messages, "stream": request.stream, **options, **own}


def serialize_format(value: Any) -> dict[str, Any]:
    if value == "json":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": value}}


def parse_message(value: Any) -> Message:
    item = expect(value, dict, "messages[]")
    name = item.get("role")
    if not isinstance(name, str) or name not in _ROLES:
        raise BadRequest(
            f"Invalid value: {name!r}. Supported values are: {', '.join(map(repr, _ROLES))}.",
            param="messages[].role",
            code="invalid_value",
        )
    role = _ROLES[name]
    content = item.get("content")
    if content and isinstance(content, str) and len(item) == 2 and name == role != "tool":
        return Message(role, (Text(content),))
    remaining = without(item, "role", "content")
    form, body = parse_content(item)
    extra = {OPENAI_SPELLING: {"role": name}} if name != role else {}
    if role == "tool":
        result = ToolResult(
            parts=tuple(part for part in body if isinstance(part, Text | Image | File | Opaque)),
            call_id=take_text(remaining, "tool_call_id"),
            name=take_text(remaining, "name"),
        )
        return Message("tool", (result,), form, extra | dict(keep_fields(NAME, remaining)))
    parts: list[Part] = []
    reasoning = next(
        (field for field in _REASONING if isinstance(remaining.get(field), str) and remaining[field]), None
    )
    if reasoning is not None:
        parts.append(Thinking(remaining.pop(reasoning), {OPENAI_SPELLING: {"field": reasoning}}))
    parts += body
    if remaining.get("tool_calls"):
        parts += [parse_call(call) for call in expect(remaining.pop("tool_calls"), list, "tool_calls")]
    return Message(role, tuple(parts), form, extra | dict(keep_fields(NAME, remaining)))


def parse_content(item: JsonObject) -> tuple[Form, list[Part]]:
    content = item.get("content")
    match content:
        case None:
            return ("null" if "content" in item else "absent"), []
        case str():
            return "text", [Text(content)] if content else []
        case list():
            return "parts", [parse_part(part) for part in content]
        case _:
            raise BadRequest(
                "Invalid type for 'messages[].content': "
                f"expected a string or an array, got {json_type(content)}.",
                param="messages[].content",
                code="invalid_type",
            )


def parse_part(value: Any) -> Part:
    part = expect(value, dict, "messages[].content[]")
    match part:
        case {"type": "text", "text": str(text)}:
            return Text(text, keep_fields(NAME, without(part, "type", "text")))
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            remaining = without(part, "type", "image_url")
            if inner := without(part["image_url"], "url"):
                remaining["image_url"] = inner
            return image_from_url(url, keep_fields(NAME, remaining))
        case {"type": "file", "file": dict(file)} if all(isinstance(item, str) for item in file.values()):
            remaining, inner = without(part, "type", "file"), dict(file)
            name, data, file_id = (take_text(inner, name) for name in ("filename", "file_data", "file_id"))
            if inner:
                remaining["file"] = inner
            return File(name=name, data=data, file_id=file_id, extra=keep_fields(NAME, remaining))
        case {"type": str()}:
            return Opaque(NAME, part)
        case _:
            raise BadRequest("every part of a message's content needs a 'type'", param="messages[].content[]")


def image_from_url(url: str, extra: Extra) -> Image:
    """Returns an image of a URL; the content of a data URL is unpacked."""
    if match := _DATA_URL.fullmatch(url):
        return Image(data=match[2], media_type=match[1], extra=extra)
    return Image(url=url, extra=extra)


def parse_call(value: Any) -> ToolCall | Opaque:
    call = expect(value, dict, "tool_calls[]")
    if not isinstance(call.get("function"), dict):
        return Opaque(_OTHER_CALL, call)
    function = call["function"]
    remaining = without(call, "id", "function")
    if inner := without(function, "name", "arguments"):
        remaining["function"] = inner
    return ToolCall(
        name=expect(function.get("name"), str, "tool_calls[].function.name"),
        arguments=expect(function.get("arguments", ""), str, "tool_calls[].function.arguments"),
        id=expect(call.get("id") or "", str, "tool_calls[].id"),
        extra=keep_fields(NAME, remaining),
    )


def serialize_message(message: Message) -> dict[str, Any]:
    role = message.extra.get(OPENAI_SPELLING, {}).get("role", message.role)
    value: dict[str, Any] = {"role": role}
    result = message.tool_results[0] if message.tool_results else None
    body = [
        part
        for part in (result.parts if result else message.parts)
        if isinstance(part, Text | Image | File | Opaque) and not is_other_call(part)
    ]
    form = message.form
    if form != "parts" and any(not isinstance(part, Text) for part in body):
        form = "parts"
    if form == "parts":
        value["content"] = [serialize_part(part) for part in body]
    elif body or form == "text":
        value["content"] = "".join(part.text for part in body if isinstance(part, Text))
    elif form == "null":
        value["content"] = None
    if result:
        value |= {"tool_call_id": result.call_id} if result.call_id else {}
        value |= {"name": result.name} if result.name else {}
    for part in message.parts:
        if isinstance(part, Thinking):
            field = part.extra.get(OPENAI_SPELLING, {}).get("field", _REASONING[0])
            value[field] = value.get(field, "") + part.text
    if calls := [
        serialize_call(part) for part in message.parts if isinstance(part, ToolCall) or is_other_call(part)
    ]:
        value["tool_calls"] = calls
    return value | dict(message.extra.get(NAME, {}))


def is_other_call(part: Part) -> bool:
    """Whether this is a tool call that is not a function call."""
    return isinstance(part, Opaque) and part.dialect == _OTHER_CALL


def serialize_part(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": part.text, **part.extra.get(NAME, {})}
        case Image():
            own = dict(part.extra.get(NAME, {}))
            url = part.url or f"data:{part.media_type or image_type(part.data)};base64,{part.data}"
            return {"type": "image_url", **own, "image_url": {"url": url, **own.get("image_url", {})}}
        case File():
            own = dict(part.extra.get(NAME, {}))
            fields = {"filename": part.name, "file_data": part.data, "file_id": part.file_id}
            present = {name: text for name, text in fields.items() if text}
            return {"type": "file", **own, "file": {**present, **own.get("file", {})}}
        case Opaque(dialect=dialect) if dialect == NAME:
            return dict(part.payload)
        case Opaque():
            return {"type": "text", "text": placeholder(str(part.payload.get("type", "part")))}
        case _:
            raise AssertionError(part)


def image_type(data: str) -> str:
    """Guesses the media type of a base64 image from its first letters; Ollama's clients do not send it."""
    signatures = {"/9j/": "jpeg", "iVBORw": "png", "R0lGOD": "gif", "UklGR": "webp", "Qk": "bmp"}
    return next(
        (f"image/{name}" for start, name in signatures.items() if data.startswith(start)), "image/png"
    )


def serialize_call(call: Part) -> dict[str, Any]:
    if isinstance(call, Opaque):
        return dict(call.payload)
    assert isinstance(call, ToolCall)
    own = dict(call.extra.get(NAME, {}))
    function = {"name": call.name, "arguments": call.arguments or "{}", **own.pop("function", {})}
    return {"id": call.id, "type": "function", **own, "function": function}


def parse_chunk(payload: JsonObject, text: str = "") -> Chunk:
    """Parses one event of a streamed completion; `text` is the payload as it was sent.

    Only the first choice belongs to the conversation.
    """
    choices: list[JsonObject] = payload.get("choices") or []
    choice: JsonObject = next((item for item in choices if item.get("index", 0) == 0), {})
    delta = choice.get("delta") or choice.get("message") or {}
    reason, tool_calls = choice.get("finish_reason"), delta.get("tool_calls")
    thinking = next((delta[name] for name in _REASONING if delta.get(name)), "")
    if not tool_calls and reason is None and "usage" not in payload and "timings" not in payload:
        # Nearly every event is of this kind.
        return Chunk(delta.get("content") or "", thinking, wire=WirePayload(NAME, payload, text))
    calls = tuple(
        CallPiece(
            index=call.get("index", position),
            id=call.get("id") or "",
            name=(call.get("function") or {}).get("name") or "",
            arguments=(call.get("function") or {}).get("arguments") or "",
        )
        for position, call in enumerate(tool_calls or ())
    )
    payload = drop_bad_counts(payload)
    return Chunk(
        text=delta.get("content") or "",
        thinking=thinking,
        calls=calls,
        finish=None if reason is None else reason if reason in get_args(FinishReason) else "stop",
        usage=parse_usage(payload),
        wire=WirePayload(NAME, payload),
    )


def drop_bad_counts(payload: JsonObject) -> JsonObject:
    """Returns the payload without usage and timings that are none."""
    bad = set()
    match payload.get("usage"):
        case None:
            pass
        case {**usage}:
            details = usage.get("prompt_tokens_details") or {}
            counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
            counts += [details.get("cached_tokens")] if isinstance(details, dict) else [details, -1]
            if any(count is not None and parse_count(count) is None for count in counts):
                bad.add("usage")
        case _:
            bad.add("usage")
    timings = payload.get("timings")
    if timings is not None and not isinstance(timings, dict):
        bad.add("timings")
    return {name: value for name, value in payload.items() if name not in bad} if bad else payload


def parse_usage(payload: JsonObject) -> Usage | None:
    usage, timings = payload.get("usage"), payload.get("timings") or {}
    if not usage and not timings:
        return None
    counts = usage or {}
    cached = (counts.get("prompt_tokens_details") or {}).get("cached_tokens", timings.get("cache_n"))
    return Usage(
        prompt=counts.get("prompt_tokens"),
        completion=counts.get("completion_tokens"),
        cached=parse_count(cached),
        timings=timings,
    )


_FINISH_REASONS: dict[FinishReason, str] = {"load": "stop", "unload": "stop", "cut": "stop"}


class OpenAIChatWriter:
    """Writes one answer as chat completion events, or as one object.

    Payloads of an OpenAI-compatible server are relayed; chunks of other servers are translated.
    """

    def __init__(self, model: str, *, include_usage: bool = False) -> None:
        self._model = model
        self._include_usage = include_usage
        self._id = f"chatcmpl-{secrets.token_hex(12)}"
        self._created = int(time.time())
        self._answer = Answer()
        self._payloads: list[JsonObject] = []
        self._started = False
        # The JSON of an event up to its text.
        self._before_text = ""

    def chunk(self, chunk: Chunk) -> Sequence[ClientPayload]:
        """Returns the events a streaming client gets for this chunk."""
        earlier = len(self._answer.calls)
        self._answer.add(chunk)
        if chunk.wire is not None and chunk.wire.dialect == NAME:
            return self._relay(chunk.wire)
        logprobs = find_ollama_logprobs(chunk)
        if self._started and not (logprobs or chunk.thinking or chunk.calls or chunk.finish):
            return [self._text_event(chunk.text)] if chunk.text else ()
        delta: dict[str, Any] = {}
        if chunk.text:
            delta["content"] = chunk.text
        if chunk.thinking:
            delta["reasoning_content"] = chunk.thinking
        if chunk.calls:
            delta["tool_calls"] = [
                {
                    "index": earlier + position if piece.index is None else piece.index,
                    "id": piece.id,
                    "type": "function",
                    "function": {"name": piece.name, "arguments": piece.arguments},
                }
                for position, piece in enumerate(chunk.calls)
            ]
        events = [self._event(delta, logprobs=logprobs)] if delta else []
        if chunk.finish is not None:
            events.append(self._event({}, _FINISH_REASONS.get(chunk.finish, chunk.finish)))
        return events

    def end(self) -> list[dict[str, Any]]:
        """Returns the events after the last chunk; the server layer adds the closing `[DONE]`."""
        events = []
        if self._answer.finish is None:
            events.append(self._event({}, "stop"))
        reported = any(payload.get("usage") for payload in self._payloads)
        if self._include_usage and not reported:
            events.append(self._envelope() | {"choices": [], "usage": self._usage()})
        return events

    def write_error(self, error: dict[str, Any]) -> list[dict[str, Any]]:
        """Returns the last event of an answer that broke off."""
        return [error]

    def whole(self) -> dict[str, Any]:
        """Returns the answer as one object; call it after all chunks and `end`."""
        envelope = dict(self._payloads[-1]) if self._payloads else self._envelope()
        choices: dict[int, dict[str, Any]] = {}
        for payload in self._payloads:
            for choice in payload.get("choices") or ():
                merge_choice(choices.setdefault(choice.get("index", 0), {}), choice)
        for index, choice in choices.items():
            choice |= {"index": index, "finish_reason": choice.get("finish_reason") or "stop"}
        envelope |= {
            "object": "chat.completion",
            "choices": [choices[index] for index in sorted(choices)],
            "usage": envelope.get("usage") or self._usage(),
        }
        return envelope

    def _relay(self, wire: WirePayload) -> list[ClientPayload]:
        """Returns the server's event, without usage (which is always requested) if the client did not ask."""
        event = wire.payload
        self._payloads.append(event)
        if self._include_usage or "usage" not in event:
            return [wire.text or event]
        if not event.get("choices"):
            return []
        return [{name: value for name, value in event.items() if name != "usage"}]

    def _event(
        self, delta: dict[str, Any], finish: str | None = None, logprobs: list[Any] | None = None
    ) -> dict[str, Any]:
        if not self._started:
            delta = {"role": "assistant", "content": "", **delta}
            self._started = True
        choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": finish}
        if logprobs:
            choice["logprobs"] = {"content": logprobs}
        event = self._envelope() | {"choices": [choice]}
        self._payloads.append(event)
        return event

    def _text_event(self, text: str) -> str:
        """Returns the JSON of an event with nothing but text: only that differs from event to event."""
        self._payloads.append({"choices": [{"index": 0, "delta": {"content": text}}]})
        if not self._before_text:
            self._before_text = (
                canonical(self._envelope())[:-1] + ',"choices":[{"index":0,"delta":{"content":'
            )
        return f'{self._before_text}{canonical(text)}}},"finish_reason":null}}]}}'

    def _envelope(self) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model,
            "system_fingerprint": "fp_holdfast",
        }

    def _usage(self) -> dict[str, Any]:
        usage = self._answer.usage
        prompt, completion = usage.prompt or 0, usage.completion or 0
        counts: dict[str, Any] = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        if usage.cached is not None:
            counts["prompt_tokens_details"] = {"cached_tokens": usage.cached}
        return counts


def find_ollama_logprobs(chunk: Chunk) -> list[Any] | None:
    """Returns the log probabilities of an Ollama server, which has OpenAI's format without the wrapper."""
    logprobs = chunk.wire.payload.get("logprobs") if chunk.wire is not None else None
    return logprobs if isinstance(logprobs, list) else None


def merge_choice(into: dict[str, Any], choice: JsonObject) -> None:
    """Adds a streamed choice to the complete one: texts and lists are appended, other values replaced."""
    message = into.setdefault("message", {"role": "assistant", "content": None})
    for name, value in (choice.get("delta") or {}).items():
        if name == "tool_calls":
            message["tool_calls"] = add_call_pieces(message.get("tool_calls") or [], value or ())
        elif isinstance(value, str) and name != "role":
            message[name] = (message.get(name) or "") + value
        elif value is not None:
            message[name] = value
    if choice.get("finish_reason"):
        into["finish_reason"] = choice["finish_reason"]
    logprobs = choice.get("logprobs")
    if logprobs:
        merged = into.setdefault("logprobs", {})
        for name, values in logprobs.items():
            merged[name] = [*(merged.get(name) or []), *values] if isinstance(values, list) else values


def add_call_pieces(calls: list[dict[str, Any]], pieces: Iterable[JsonObject]) -> list[dict[str, Any]]:
    """Returns the tool calls with the pieces of one event added to them."""
    answer = Answer()
    earlier = [{"index": index, **call} for index, call in enumerate(calls)]
    for piece in (*earlier, *pieces):
        answer.add(parse_chunk({"choices": [{"delta": {"tool_calls": [piece]}}]}))
    return [serialize_call(call) for call in answer.message.tool_calls]


_COMPLETION_OPTIONS = (
    "temperature", "top_p", "top_k", "min_p", "seed", "stop", "max_tokens",
    "presence_penalty", "frequency_penalty", "repeat_penalty",
)  # fmt: skip
# Fields that must be 1: model servers complete one prompt at a time.
_SINGLE_ONLY = ("n", "best_of")
_COMPLETION_REASONS: dict[FinishReason, str] = {"length": "length", "content_filter": "content_filter"}


def parse_completion_request(body: JsonObject) -> ChatRequest:
    """Parses a client's `/v1/completions` body; the prompt becomes the only message."""
    remaining = without(body, "model", "prompt", "stream")
    for name in _SINGLE_ONLY:
        if remaining.get(name) not in (None, 1):
            raise unsupported_field(name, "give several answers at once")
    if remaining.get("logprobs") is not None:
        raise unsupported_field("logprobs", "say how likely its tokens are")
    options = {name: remaining.pop(name) for name in _COMPLETION_OPTIONS if remaining.get(name) is not None}
    check_options(options)
    return ChatRequest(
        model=expect(body.get("model"), str, "model"),
        messages=(Message.of("user", parse_prompt(body.get("prompt"))),),
        options=options,
        stream=body.get("stream") is not None and expect(body["stream"], bool, "stream"),
        extra=keep_fields(NAME, remaining),
    )


def parse_prompt(value: Any) -> str:
    match value:
        case str() | [str()]:
            return value if isinstance(value, str) else str(value[0])
        case _:
            raise BadRequest(
                "prompt must be a string, or a list of one string",
                hint="Send several prompts one after the other, and text instead of tokens.",
                param="prompt",
            )


def unsupported_field(name: str, ability: str) -> BadRequest:
    """Returns the error for a field that needs an ability no model server has."""
    return BadRequest(
        f"{name} is not possible here: the model server behind Holdfast cannot {ability} for a prompt",
        hint=f"Leave {name} out, or ask in several requests.",
        param=name,
    )


class CompletionsWriter:
    """Writes one answer to a bare prompt. It begins with `echo`: the prompt, if the client wants it back."""

    def __init__(self, model: str, *, echo: str = "", include_usage: bool = False) -> None:
        self._model = model
        self._echo = echo
        self._include_usage = include_usage
        self._id = f"cmpl-{secrets.token_hex(12)}"
        self._created = int(time.time())
        self._answer = Answer()
        self._started = False

    def chunk(self, chunk: Chunk) -> list[dict[str, Any]]:
        """Returns the events a streaming client gets for this chunk."""
        self._answer.add(chunk)
        text = chunk.text if self._started else self._echo + chunk.text
        self._started = True
        return [self._object(text, None)] if text else []

    def end(self) -> list[dict[str, Any]]:
        """Returns the events after the last chunk; the server layer adds the closing `[DONE]`."""
        events = [self._object("", self._reason())]
        if self._include_usage:
            events.append(self._object("", None) | {"choices": [], "usage": self._usage()})
        return events

    def write_error(self, error: dict[str, Any]) -> list[dict[str, Any]]:
        return [error]

    def whole(self) -> dict[str, Any]:
        """Returns the answer as one object; call it after all chunks and `end`."""
        text = self._echo + self._answer.message.text
        return self._object(text, self._reason()) | {"usage": self._usage()}

    def _object(self, text: str, finish: str | None) -> dict[str, Any]:
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
        return {
            "id": self._id,
            "object": "text_completion",
            "created": self._created,
            "model": self._model,
            "choices": [choice],
        }

    def _reason(self) -> str:
        return _COMPLETION_REASONS.get(self._answer.finish or "stop", "stop")

    def _usage(self) -> dict[str, int]:
        usage = self._answer.usage
        prompt, completion = usage.prompt or 0, usage.completion or 0
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
