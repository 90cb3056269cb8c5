"""Anthropic's messages: what coding agents that speak it send.

A tool's result is a block inside a user message there; here it is a tool message of its own in front of it,
as everywhere else. Knows nothing of HTTP or of which model is asked.
"""

from typing import Any

from holdfast.dialects.wire import expect, kept, without
from holdfast.errors import BadRequest
from holdfast.messages import (
    ChatRequest,
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
    canonical,
)

NAME = "anthropic"
_ROLES: tuple[Role, ...] = ("system", "user", "assistant")
_OPTIONS = {"temperature": "temperature", "top_p": "top_p", "top_k": "top_k", "stop_sequences": "stop"}


def request_in(body: JsonObject) -> ChatRequest:
    """A client's `/v1/messages` body."""
    rest = without(body, "model", "messages", "system", "stream", "tools", "max_tokens")
    options = {_OPTIONS[name]: rest.pop(name) for name in _OPTIONS if rest.get(name) is not None}
    if body.get("max_tokens") is not None:
        options["max_tokens"] = body["max_tokens"]
    system: list[Message] = []
    if body.get("system"):
        form, parts = _content_in(body["system"])
        system.append(Message("system", tuple(parts), form))
    messages = expect(body.get("messages"), list, "messages")
    return ChatRequest(
        model=expect(body.get("model"), str, "model"),
        messages=(*system, *(message for item in messages for message in messages_in(item))),
        tools=tuple(_tool_in(tool) for tool in expect(body.get("tools") or [], list, "tools")),
        options=options,
        think=_think_in(rest.get("thinking")),
        stream=bool(body.get("stream")),
        extra=kept(NAME, rest),
    )


def _think_in(value: Any) -> bool | None:
    return (
        {"enabled": True, "disabled": False}.get(value.get("type", "")) if isinstance(value, dict) else None
    )


def _tool_in(value: Any) -> JsonObject:
    tool = expect(value, dict, "tools[]")
    if "input_schema" not in tool:
        return tool
    function = {
        "name": tool.get("name", ""),
        "description": tool.get("description", ""),
        "parameters": tool["input_schema"],
    }
    return {"type": "function", "function": function}


def messages_in(value: Any) -> list[Message]:
    """One message of the wire; a user message with tool results in it becomes several."""
    item = expect(value, dict, "messages[]")
    role = item.get("role")
    if role not in _ROLES:
        raise BadRequest(f"messages: unexpected role {role!r}", param="messages[].role")
    form, parts = _content_in(item.get("content"))
    extra = kept(NAME, without(item, "role", "content"))
    results = [Message("tool", (part,), "parts") for part in parts if isinstance(part, ToolResult)]
    others = tuple(part for part in parts if not isinstance(part, ToolResult))
    if results and not others:
        return results
    return [*results, Message(role, others, form, extra)]


def _content_in(content: Any) -> tuple[Form, list[Part]]:
    if isinstance(content, str):
        return "text", [Text(content)] if content else []
    return "parts", [_block_in(block) for block in expect(content, list, "messages[].content")]


def _block_in(value: Any) -> Part:
    block = expect(value, dict, "messages[].content[]")
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text, kept(NAME, without(block, "type", "text")))
        case {"type": "thinking", "thinking": str(text)}:
            return Thinking(text, kept(NAME, without(block, "type", "thinking")))
        case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
            media_type = str(block["source"].get("media_type", ""))
            return Image(data=data, media_type=media_type, extra=kept(NAME, without(block, "type", "source")))
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return Image(url=url, extra=kept(NAME, without(block, "type", "source")))
        case {"type": "tool_use", "name": str(name)}:
            return ToolCall(
                name=name,
                arguments=canonical(block.get("input", {})),
                id=str(block.get("id", "")),
                extra=kept(NAME, without(block, "type", "id", "name", "input")),
            )
        case {"type": "tool_result"}:
            _, parts = _content_in(block.get("content") or "")
            return ToolResult(
                parts=tuple(part for part in parts if isinstance(part, Text | Image | Opaque)),
                call_id=str(block.get("tool_use_id", "")),
                error=bool(block.get("is_error")),
                extra=kept(NAME, without(block, "type", "tool_use_id", "content", "is_error")),
            )
        case _:
            return Opaque(NAME, block)
