"""OpenAI's responses: a request is a list of items, and one turn of the assistant is several of them.

The items of a turn (reasoning, text, function calls) become one message here, as in every other dialect.
Knows nothing of HTTP or of which model is asked.
"""

from typing import Any

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
from holdfast.protocols import openai_chat
from holdfast.protocols.requests import simplest_form
from holdfast.protocols.wire import expect, keep_fields, without

NAME = "responses"
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_CHOICES = ("none", "auto", "required")


def parse_request(body: JsonObject) -> ChatRequest:
    """A client's `/v1/responses` body."""
    rest = without(body, "model", "input", "tools", "stream")
    options = {name: rest.pop(name) for name in ("temperature", "top_p") if rest.get(name) is not None}
    if rest.get("max_output_tokens") is not None:
        options["max_tokens"] = rest.pop("max_output_tokens")
    messages: list[Message] = []
    if rest.get("instructions"):
        messages.append(Message.of("system", expect(rest["instructions"], str, "instructions")))
    given = body.get("input")
    if isinstance(given, str):
        messages.append(Message.of("user", given))
    else:
        messages += parse_items(expect(given, list, "input"))
    tools = tuple(parse_tools(expect(body.get("tools") or [], list, "tools")))
    wanted = get_object(get_object(rest, "text"), "format")
    return ChatRequest(
        model=expect(body.get("model"), str, "model"),
        messages=tuple(messages),
        tools=tools,
        options=options,
        format=parse_format(wanted),
        think=parse_effort(get_object(rest, "reasoning").get("effort")),
        stream=body.get("stream") is not None and expect(body["stream"], bool, "stream"),
        extra={
            **keep_fields(NAME, rest),
            **keep_fields(openai_chat.NAME, to_chat_fields(rest, wanted, bool(tools))),
        },
    )


def get_object(fields: JsonObject, name: str) -> dict[str, Any]:
    """An object in a request, empty where there is none."""
    value = fields.get(name)
    return {} if value is None else expect(value, dict, name)


def to_chat_fields(rest: JsonObject, wanted: JsonObject, tools: bool) -> dict[str, Any]:
    """The fields that chat completions have too, in the words they have there."""
    chat: dict[str, Any] = {}
    if tools and rest.get("tool_choice") is not None:
        chat["tool_choice"] = parse_tool_choice(rest["tool_choice"])
    if tools and rest.get("parallel_tool_calls") is not None:
        chat["parallel_tool_calls"] = rest["parallel_tool_calls"]
    if wanted.get("type") == "json_schema":
        chat["response_format"] = {"type": "json_schema", "json_schema": without(wanted, "type")}
    return chat


def parse_effort(effort: Any) -> bool | str | None:
    if effort is None:
        return None
    return False if expect(effort, str, "reasoning.effort") == "none" else str(effort)


def parse_format(wanted: JsonObject) -> Any:
    match wanted.get("type"):
        case "json_schema":
            return wanted.get("schema") or "json"
        case "json_object":
            return "json"
        case _:
            return None


def parse_tool_choice(choice: Any) -> Any:
    match choice:
        case str() if choice in _CHOICES:
            return choice
        case {"type": "function", "name": str(name)}:
            return {"type": "function", "function": {"name": name}}
        case {"type": "allowed_tools", "mode": str(mode)} if mode in _CHOICES:
            return mode
        case _:
            raise BadRequest(
                "tool_choice names no function",
                hint=f"It is one of {', '.join(_CHOICES)}, or a function of this request.",
                param="tool_choice",
            )


def parse_tools(tools: list[Any]) -> list[JsonObject]:
    """The functions among the tools. The others run at OpenAI's own servers, where no model of ours is."""
    found: list[JsonObject] = []
    for value in tools:
        tool = expect(value, dict, "tools[]")
        if tool.get("type") == "function":
            given = {name: item for name, item in tool.items() if name != "type" and item is not None}
            found.append(tool if "function" in tool else {"type": "function", "function": given})
    return found


def parse_items(items: list[Any]) -> list[Message]:
    messages: list[Message] = []
    for value in items:
        role, parts, extra = parse_item(expect(value, dict, "input[]"))
        if role == "assistant" and messages and messages[-1].role == "assistant":
            before = messages.pop()
            parts, extra = (*before.parts, *parts), dict(before.extra)
        messages.append(Message(role, parts, simplest_form(parts), extra))
    return messages


def parse_item(item: dict[str, Any]) -> tuple[Role, tuple[Part, ...], dict[str, JsonObject]]:
    match item.get("type", "message"):
        case "message":
            role = item.get("role")
            if not isinstance(role, str) or role not in _ROLES:
                raise BadRequest(f"Invalid value: {role!r}.", param="input[].role", code="invalid_value")
            extra = dict(keep_fields(NAME, without(item, "type", "content")))
            return _ROLES[role], parse_content(item.get("content")), extra
        case "function_call":
            call = ToolCall(
                name=expect(item.get("name"), str, "input[].name"),
                arguments=expect(item.get("arguments", ""), str, "input[].arguments"),
                id=str(item.get("call_id", "")),
                extra=keep_fields(NAME, without(item, "type", "name", "arguments", "call_id")),
            )
            return "assistant", (call,), {}
        case "function_call_output":
            output = item.get("output")
            parts = [part for part in parse_content(output) if isinstance(part, Text | Image | File | Opaque)]
            rest = keep_fields(NAME, without(item, "type", "call_id", "output"))
            return "tool", (ToolResult(tuple(parts), call_id=str(item.get("call_id", "")), extra=rest),), {}
        case "reasoning":
            text = "\n".join(list_texts(item.get("summary")) + list_texts(item.get("content")))
            return "assistant", (Thinking(text, keep_fields(NAME, item)),), {}
        case _:
            return "assistant", (Opaque(NAME, item),), {}


def list_texts(blocks: Any) -> list[str]:
    given = blocks if isinstance(blocks, list) else []
    found = [block.get("text") for block in given if isinstance(block, dict)]
    return [text for text in found if isinstance(text, str)]


def parse_content(content: Any) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),) if content else ()
    return tuple(
        parse_part(expect(part, dict, "content[]")) for part in expect(content or [], list, "content")
    )


def parse_part(part: dict[str, Any]) -> Part:
    match part:
        case {"type": "input_text" | "output_text" | "text", "text": str(text)}:
            return Text(text, keep_fields(NAME, without(part, "type", "text")))
        case {"type": "input_image", "image_url": str(url)}:
            return openai_chat.image_from_url(url, keep_fields(NAME, without(part, "type", "image_url")))
        case {"type": "input_file"}:
            return File(
                name=str(part.get("filename", "")),
                data=str(part.get("file_data", "")),
                file_id=str(part.get("file_id", "")),
                extra=keep_fields(NAME, without(part, "type", "filename", "file_data", "file_id")),
            )
        case _:
            return Opaque(NAME, part)
