"""Anthropic's messages: what coding agents that speak it send.

A tool's result is a block inside a user message there; here it is a tool message of its own in front of it,
as everywhere else. Knows nothing of HTTP or of which model is asked.
"""

from typing import Any

from holdfast.errors import BadRequest
from holdfast.messages import (
    ChatRequest,
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
from holdfast.protocols.requests import simplest_form
from holdfast.protocols.wire import expect, keep_fields, without

NAME = "anthropic"
_ROLES: tuple[Role, ...] = ("system", "user", "assistant")
_OPTIONS = {"temperature": "temperature", "top_p": "top_p", "top_k": "top_k", "stop_sequences": "stop"}


def parse_request(body: JsonObject) -> ChatRequest:
    """A client's `/v1/messages` body."""
    rest = without(body, "model", "messages", "system", "stream", "tools", "max_tokens")
    options = {_OPTIONS[name]: rest.pop(name) for name in _OPTIONS if rest.get(name) is not None}
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
        format=parse_format(rest.get("output_config")),
        think=parse_thinking(rest.get("thinking")),
        stream=body.get("stream") is not None and expect(body["stream"], bool, "stream"),
        extra={
            **keep_fields(NAME, rest),
            **keep_fields(openai_chat.NAME, parse_tool_choice(rest.get("tool_choice")) if tools else {}),
        },
    )


def parse_system(value: Any) -> Message:
    """Blocks of instructions are paragraphs of one text: not every server takes them apart."""
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
    """Which tools may or must be called, in the words that servers know."""
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
    """The tools that say what they take. The others are known to Anthropic's own models, and to no other."""
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
    """One message of the wire; a user message with tool results in it becomes several."""
    item = expect(value, dict, "messages[]")
    role = item.get("role")
    if role not in _ROLES:
        raise BadRequest(f"messages: unexpected role {role!r}", param="messages[].role")
    parts = parse_content(item.get("content"))
    extra = keep_fields(NAME, without(item, "role", "content"))
    results = [
        Message("tool", (part,), simplest_form([part])) for part in parts if isinstance(part, ToolResult)
    ]
    others = tuple(part for part in parts if not isinstance(part, ToolResult))
    if results and not others:
        return results
    return [*results, Message(role, others, simplest_form(others), extra)]


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
