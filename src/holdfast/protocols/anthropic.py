"""Anthropic's messages.

In this protocol a tool's result is a block inside a user message; it becomes a tool message of its own
in front of it, as in the other protocols.
"""

from collections.abc import Callable, Iterable
from typing import Any

from holdfast.errors import BadRequest
from holdfast.messages import (
    ChatRequest,
    Chunk,
    FinishReason,
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
    canonical,
)
from holdfast.protocols import openai_chat
from holdfast.protocols.ollama import parse_arguments
from holdfast.protocols.wire import (
    Block,
    BlockBuilder,
    BlockKind,
    BlockStep,
    expect,
    keep_fields,
    simplest_form,
    without,
)

NAME = "anthropic"
_ROLES: tuple[Role, ...] = ("system", "user", "assistant")
_OPTIONS = {"temperature": "temperature", "top_p": "top_p", "top_k": "top_k", "stop_sequences": "stop"}


def parse_request(body: JsonObject) -> ChatRequest:
    """Parses a client's `/v1/messages` body."""
    remaining = without(body, "model", "messages", "system", "stream", "tools", "max_tokens")
    options = {_OPTIONS[name]: remaining.pop(name) for name in _OPTIONS if remaining.get(name) is not None}
    if body.get("max_tokens") is not None:
        options["max_tokens"] = body["max_tokens"]
    system = [parse_system(body["system"])] if body.get("system") else []
    messages = expect(body.get("messages"), list, "messages")
    tools = tuple(parse_tools(expect(body.get("tools") or [], list, "tools")))
    return ChatRequest(
        model=expect(body.get("model"), str, "model"),
        messages=(*system, *(message for item in messages for message in parse_message(item))),
        tools=tools,
        options=options,
        format=parse_format(remaining.get("output_config")),
        think=parse_thinking(remaining.get("thinking")),
        stream=body.get("stream") is not None and expect(body["stream"], bool, "stream"),
        extra={
            **keep_fields(NAME, remaining),
            **keep_fields(openai_chat.NAME, parse_tool_choice(remaining.get("tool_choice")) if tools else {}),
        },
    )


def parse_system(value: Any) -> Message:
    """Joins text blocks to one text with paragraphs, because not every server accepts several blocks."""
    parts = parse_content(value)
    if all(isinstance(part, Text) for part in parts):
        parts = [Text("\n\n".join(part.text for part in parts if isinstance(part, Text)))]
    return Message("system", tuple(parts), simplest_form(parts))


def parse_thinking(value: Any) -> bool | None:
    match value:
        case {"type": "enabled"}:
            return True
        case {"type": "disabled"}:
            return False
        case _:
            return None


def parse_format(value: Any) -> Any:
    match value:
        case {"format": {"type": "json_schema", "schema": dict(schema)}}:
            return schema
        case _:
            return None


def parse_tool_choice(value: Any) -> dict[str, Any]:
    """Translates which tools may or must be called to the fields of chat completions."""
    match value:
        case None:
            return {}
        case {"type": "auto" | "none" as word}:
            choice: Any = word
        case {"type": "any"}:
            choice = "required"
        case {"type": "tool", "name": str(name)}:
            choice = {"type": "function", "function": {"name": name}}
        case _:
            raise BadRequest(
                "tool_choice: its type must be auto, any, tool (with a name) or none", param="tool_choice"
            )
    alone = {"parallel_tool_calls": False} if value.get("disable_parallel_tool_use") else {}
    return {"tool_choice": choice, **alone}


def parse_tools(tools: list[Any]) -> list[JsonObject]:
    """Returns the tools that have a schema; only Anthropic's own models know the others."""
    return [
        {
            "type": "function",
            "function": {
                "name": expect(tool.get("name", ""), str, "tools[].name"),
                "description": tool.get("description") or "",
                "parameters": tool["input_schema"],
            },
        }
        for tool in (expect(value, dict, "tools[]") for value in tools)
        if "input_schema" in tool
    ]


def parse_message(value: Any) -> list[Message]:
    """Parses one message; a user message that contains tool results becomes several."""
    item = expect(value, dict, "messages[]")
    role = item.get("role")
    if role not in _ROLES:
        raise BadRequest(f"messages: unexpected role {role!r}", param="messages[].role")
    parts = parse_content(item.get("content"))
    extra = keep_fields(NAME, without(item, "role", "content"))
    results = [
        Message("tool", (part,), simplest_form([part])) for part in parts if isinstance(part, ToolResult)
    ]
    content = tuple(part for part in parts if not isinstance(part, ToolResult))
    if results and not content:
        return results
    return [*results, Message(role, content, simplest_form(content), extra)]


def parse_content(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if content else []
    return [parse_block(block) for block in expect(content, list, "messages[].content")]


def parse_block(value: Any) -> Part:
    block = expect(value, dict, "messages[].content[]")
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text, keep_fields(NAME, without(block, "type", "text")))
        case {"type": "thinking", "thinking": str(text)}:
            return Thinking(text, keep_fields(NAME, without(block, "type", "thinking")))
        case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
            media_type = str(block["source"].get("media_type", ""))
            return Image(
                data=data, media_type=media_type, extra=keep_fields(NAME, without(block, "type", "source"))
            )
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return Image(url=url, extra=keep_fields(NAME, without(block, "type", "source")))
        case {"type": "document", "source": {"type": "text", "data": str(text)}}:
            return Text(text, keep_fields(NAME, without(block, "type", "source")))
        case {"type": "tool_use", "name": str(name)}:
            return ToolCall(
                name=name,
                arguments=canonical(block.get("input", {})),
                id=str(block.get("id", "")),
                extra=keep_fields(NAME, without(block, "type", "id", "name", "input")),
            )
        case {"type": "tool_result"}:
            parts = parse_content(block.get("content") or "")
            return ToolResult(
                parts=tuple(part for part in parts if isinstance(part, Text | Image | Opaque)),
                call_id=str(block.get("tool_use_id", "")),
                error=bool(block.get("is_error")),
                extra=keep_fields(NAME, without(block, "type", "tool_use_id", "content", "is_error")),
            )
        case _:
            return Opaque(NAME, block)


Json = dict[str, Any]

_REASONS: dict[FinishReason, str] = {
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
# The type and the field of the delta of each kind of block.
_DELTAS: dict[BlockKind, tuple[str, str]] = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "call": ("input_json_delta", "partial_json"),
}


class AnthropicWriter:
    """Writes one answer as the events of its blocks, or as one message.

    `expected` estimates the tokens of the request, for the first event, before the server has counted them.
    """

    def __init__(self, model: str, name: str, expected: Callable[[], int] = lambda: 0) -> None:
        self._model = model
        self._name = name
        self._expected = expected
        self._blocks = BlockBuilder()
        self._started = False

    def chunk(self, chunk: Chunk) -> list[Json]:
        """Returns the events a streaming client gets for this chunk."""
        return self._write_start() + self._write_steps(self._blocks.add(chunk))

    def end(self) -> list[Json]:
        """Returns the events after the last chunk."""
        delta = {"stop_reason": self._reason(), "stop_sequence": None}
        return [
            *self._write_start(),
            *self._write_steps(self._blocks.end()),
            {"type": "message_delta", "delta": delta, "usage": self._usage()},
            {"type": "message_stop"},
        ]

    def write_error(self, error: Json) -> list[Json]:
        """Returns the last event of an answer that broke off."""
        return [error]

    def whole(self) -> Json:
        """Returns the answer as one message; call it after all chunks and `end`."""
        return self._message(
            [serialize_block(block) for block in self._blocks.all], self._reason(), self._usage()
        )

    def _write_start(self) -> list[Json]:
        if self._started:
            return []
        self._started = True
        usage = {"input_tokens": self._expected(), "output_tokens": 0}
        return [{"type": "message_start", "message": self._message([], None, usage)}, {"type": "ping"}]

    def _write_steps(self, steps: Iterable[BlockStep]) -> list[Json]:
        events: list[Json] = []
        for step, block, text in steps:
            match step:
                case "open":
                    event: Json = {"type": "content_block_start", "content_block": serialize_block(block)}
                case "add":
                    kind, field = _DELTAS[block.kind]
                    event = {"type": "content_block_delta", "delta": {"type": kind, field: text}}
                case "close":
                    event = {"type": "content_block_stop"}
            events.append({**event, "index": block.index})
        return events

    def _reason(self) -> str:
        finish = self._blocks.answer.finish
        reason = _REASONS.get(finish, "end_turn") if finish else "end_turn"
        return "tool_use" if self._blocks.calls and reason == "end_turn" else reason

    def _usage(self) -> Json:
        usage = self._blocks.answer.usage
        prompt = self._expected() if usage.prompt is None else usage.prompt
        cached = min(usage.cached or 0, prompt)
        return {
            "input_tokens": prompt - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": usage.completion or 0,
        }

    def _message(self, blocks: list[Json], reason: str | None, usage: Json) -> Json:
        return {
            "id": self._name,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": blocks,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }


def serialize_block(block: Block) -> Json:
    """Returns a block as a complete message contains it; a block that was just opened is empty."""
    match block.kind:
        case "text":
            return {"type": "text", "text": block.text}
        case "thinking":
            # Anthropic's signature proves that its model wrote the thinking; there is none here.
            return {"type": "thinking", "thinking": block.text, "signature": ""}
        case "call":
            text = "" if block.open else block.call.arguments
            arguments = (parse_arguments(text) if text else None) or {}
            id_ = block.call.id or f"toolu_{block.index}"
            return {"type": "tool_use", "id": id_, "name": block.call.name, "input": arguments}
