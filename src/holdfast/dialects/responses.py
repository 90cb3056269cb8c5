"""OpenAI's responses: a request is a list of items, and one turn of the assistant is several of them.

The items of a turn (reasoning, text, function calls) become one message here, as in every other dialect.
Knows nothing of HTTP or of which model is asked.
"""

from typing import Any

from holdfast.dialects.openai import image_from_url
from holdfast.dialects.wire import expect, kept, without
from holdfast.errors import BadRequest
from holdfast.messages import (
    ChatRequest,
    File,
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
)

NAME = "responses"
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}


def request_in(body: JsonObject) -> ChatRequest:
    """A client's `/v1/responses` body."""
    rest = without(body, "model", "input", "instructions", "tools", "stream")
    options = {name: rest.pop(name) for name in ("temperature", "top_p") if rest.get(name) is not None}
    if rest.get("max_output_tokens") is not None:
        options["max_tokens"] = rest.pop("max_output_tokens")
    messages: list[Message] = []
    if body.get("instructions"):
        messages.append(Message.of("system", expect(body["instructions"], str, "instructions")))
    given = body.get("input")
    if isinstance(given, str):
        messages.append(Message.of("user", given))
    else:
        messages += messages_in(expect(given, list, "input"))
    effort = (rest.get("reasoning") or {}).get("effort")
    return ChatRequest(
        model=expect(body.get("model"), str, "model"),
        messages=tuple(messages),
        tools=tuple(_tool_in(tool) for tool in expect(body.get("tools") or [], list, "tools")),
        options=options,
        think=False if effort == "none" else effort,
        stream=bool(body.get("stream")),
        extra=kept(NAME, rest),
    )


def _tool_in(value: Any) -> JsonObject:
    tool = expect(value, dict, "tools[]")
    if tool.get("type") != "function" or "function" in tool:
        return tool
    return {"type": "function", "function": without(tool, "type")}


def messages_in(items: list[Any]) -> list[Message]:
    messages: list[Message] = []
    for value in items:
        role, parts, extra = _item_in(expect(value, dict, "input[]"))
        if role == "assistant" and messages and messages[-1].role == "assistant":
            before = messages.pop()
            messages.append(Message("assistant", (*before.parts, *parts), "parts", before.extra))
        else:
            messages.append(Message(role, parts, "parts", extra))
    return messages


def _item_in(item: dict[str, Any]) -> tuple[Role, tuple[Part, ...], dict[str, JsonObject]]:
    match item.get("type", "message"):
        case "message":
            role = item.get("role")
            if role not in _ROLES:
                raise BadRequest(f"Invalid value: {role!r}.", param="input[].role", code="invalid_value")
            extra = dict(kept(NAME, without(item, "type", "content")))
            return _ROLES[role], _content_in(item.get("content")), extra
        case "function_call":
            call = ToolCall(
                name=expect(item.get("name"), str, "input[].name"),
                arguments=expect(item.get("arguments", ""), str, "input[].arguments"),
                id=str(item.get("call_id", "")),
                extra=kept(NAME, without(item, "type", "name", "arguments", "call_id")),
            )
            return "assistant", (call,), {}
        case "function_call_output":
            output = item.get("output")
            parts = [part for part in _content_in(output) if isinstance(part, Text | Image | File | Opaque)]
            rest = kept(NAME, without(item, "type", "call_id", "output"))
            return "tool", (ToolResult(tuple(parts), call_id=str(item.get("call_id", "")), extra=rest),), {}
        case "reasoning":
            text = "\n".join(_texts(item.get("summary")) + _texts(item.get("content")))
            return "assistant", (Thinking(text, kept(NAME, item)),), {}
        case _:
            return "assistant", (Opaque(NAME, item),), {}


def _texts(blocks: Any) -> list[str]:
    found = [block.get("text") for block in blocks or () if isinstance(block, dict)]
    return [text for text in found if isinstance(text, str)]


def _content_in(content: Any) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),) if content else ()
    return tuple(_part_in(expect(part, dict, "content[]")) for part in expect(content or [], list, "content"))


def _part_in(part: dict[str, Any]) -> Part:
    match part:
        case {"type": "input_text" | "output_text" | "text", "text": str(text)}:
            return Text(text, kept(NAME, without(part, "type", "text")))
        case {"type": "input_image", "image_url": str(url)}:
            return image_from_url(url, kept(NAME, without(part, "type", "image_url")))
        case {"type": "input_file"}:
            return File(
                name=str(part.get("filename", "")),
                data=str(part.get("file_data", "")),
                file_id=str(part.get("file_id", "")),
                extra=kept(NAME, without(part, "type", "filename", "file_data", "file_id")),
            )
        case _:
            return Opaque(NAME, part)
