"""OpenAI's responses: a request is a list of items, and one turn of the assistant is several of them.

The items of a turn (reasoning, text, function calls) become one message here, as in every other dialect.
Knows nothing of HTTP or of which model is asked.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.errors import BadRequest
from holdfast.messages import (
    CallPiece,
    ChatRequest,
    Chunk,
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
    Usage,
)
from holdfast.protocols import openai_chat
from holdfast.protocols.requests import simplest_form
from holdfast.protocols.wire import Block, BlockBuilder, BlockStep, expect, keep_fields, without

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


Json = dict[str, Any]
# How a block is told of: thinking goes out as it is, or as a summary.
BlockStyle = Literal["text", "thinking", "summary", "call"]

# Why an answer is incomplete.
_INCOMPLETE_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}
# The fields of a request that its answer repeats, and what they are when the client did not say.
_ECHOED_FIELDS: Json = {
    "instructions": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "tool_choice": "auto",
    "top_logprobs": 0,
    "truncation": "disabled",
    "user": None,
}


@dataclass(frozen=True, slots=True)
class _EventNames:
    """How the events of one kind of item are called. A call has no parts, so nothing is said about them."""

    prefix: str
    text: str
    part: str = ""
    type: str = ""
    position: str = ""


_EVENT_NAMES: dict[BlockStyle, _EventNames] = {
    "text": _EventNames("msg", "output_text", "content_part", "output_text", "content_index"),
    "thinking": _EventNames("rs", "reasoning_text", "content_part", "reasoning_text", "content_index"),
    "summary": _EventNames(
        "rs", "reasoning_summary_text", "reasoning_summary_part", "summary_text", "summary_index"
    ),
    "call": _EventNames("fc", "function_call_arguments"),
}


def echo_settings(request: ChatRequest) -> Json:
    """What an answer repeats of its request."""
    given = request.extra.get(NAME, {})
    said = {name: given[name] for name in _ECHOED_FIELDS if given.get(name) is not None}
    reasoning, text = get_object(given, "reasoning"), get_object(given, "text")
    return {
        **_ECHOED_FIELDS,
        **said,
        "model": request.model,
        "max_output_tokens": request.options.get("max_tokens"),
        "temperature": request.options.get("temperature", 1.0),
        "top_p": request.options.get("top_p", 1.0),
        "reasoning": {"effort": None, "summary": None, **reasoning},
        "text": {"format": {"type": "text"}, **text},
        "tools": [serialize_tool(tool) for tool in request.tools],
    }


def serialize_tool(tool: JsonObject) -> Json:
    function = tool.get("function")
    return {"strict": None, **without(tool, "function"), **(function if isinstance(function, dict) else {})}


def serialize_items(name: str, message: Message) -> list[Json]:
    """A kept answer as the items it was sent as."""
    items: list[Json] = []
    for part in message.parts:
        match part:
            case Thinking():
                block = Block("thinking", len(items))
                block.add(part.text)
            case Text():
                block = Block("text", len(items))
                block.add(part.text)
            case ToolCall():
                call = CallPiece(id=part.id, name=part.name, arguments=part.arguments)
                block = Block("call", len(items), call)
            case _:
                continue
        items.append(serialize_item(name, block.kind, block, "completed"))
    return items


def serialize_item(name: str, style: BlockStyle, block: Block, status: str) -> Json:
    parts = [serialize_part(style, block.text)] if block.size else []
    id_ = item_id(name, style, block)
    match style:
        case "text":
            own: Json = {"type": "message", "role": "assistant", "content": parts}
        case "thinking":
            own = {"type": "reasoning", "summary": [], "content": parts}
        case "summary":
            own = {"type": "reasoning", "summary": parts}
        case "call":
            said = "" if status == "in_progress" else block.call.arguments
            called = {"call_id": block.call.id or id_, "name": block.call.name}
            own = {"type": "function_call", "arguments": said, **called}
    return {"id": id_, "status": status, **own}


def serialize_part(style: BlockStyle, text: str) -> Json:
    part = {"type": _EVENT_NAMES[style].type, "text": text}
    return part | ({"annotations": [], "logprobs": []} if style == "text" else {})


def item_id(name: str, style: BlockStyle, block: Block) -> str:
    return f"{_EVENT_NAMES[style].prefix}_{name.removeprefix('resp_')}_{block.index}"


def build_response(name: str, settings: Json, items: Sequence[Json], **known: Any) -> Json:
    """The object that stands for a whole answer."""
    return {
        "id": name,
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "output": list(items),
        "usage": None,
        **settings,
        **known,
    }


def describe_end(finish: str | None) -> Json:
    """How an answer ended, in the words of a response."""
    if finish in _INCOMPLETE_REASONS:
        return {"status": "incomplete", "incomplete_details": {"reason": _INCOMPLETE_REASONS[finish]}}
    return {"status": "completed"}


def serialize_usage(usage: Usage) -> Json | None:
    if usage.prompt is None and usage.completion is None:
        return None
    prompt, completion = usage.prompt or 0, usage.completion or 0
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": usage.cached or 0, "cache_write_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    }


class ResponsesWriter:
    """Writes the answer that is called `name`; thinking goes out as a summary to who asked for one."""

    def __init__(self, name: str, settings: Json) -> None:
        self._name = name
        self._settings = {**settings, "created_at": int(time.time())}
        self._summary = bool(settings["reasoning"].get("summary"))
        self._blocks = BlockBuilder()
        # How many events were written, and how the item ends that is the last one.
        self._number = 0
        self._last = "completed"

    def chunk(self, chunk: Chunk) -> list[Json]:
        """The events a streaming client gets for this chunk."""
        return self._write_start() + self._write_steps(self._blocks.add(chunk))

    def end(self) -> list[Json]:
        """What is left to say when the last chunk is through."""
        self._last = describe_end(self._blocks.answer.finish)["status"]
        events = self._write_start() + self._write_steps(self._blocks.end())
        return [*events, self._event(self._last, response=self.whole())]

    def write_error(self, error: Json) -> list[Json]:
        """The end of an answer that broke off; `error` is what a client of OpenAI's is told of it."""
        self._last = "incomplete"
        said = error.get("error") or {}
        told = {"code": said.get("code") or "server_error", "message": said.get("message", "")}
        return [
            *self._write_start(),
            self._event("failed", response=self._response(status="failed", error=told)),
        ]

    def whole(self) -> Json:
        """The answer as one object, after every chunk and the end were written."""
        answer = self._blocks.answer
        return self._response(**describe_end(answer.finish), usage=serialize_usage(answer.usage))

    def _write_start(self) -> list[Json]:
        if self._number:
            return []
        return [self._event(name, response=self._response()) for name in ("created", "in_progress")]

    def _write_steps(self, steps: Iterable[BlockStep]) -> list[Json]:
        return [event for step in steps for event in self._write_step(*step)]

    def _write_step(self, step: Literal["open", "add", "close"], block: Block, text: str) -> list[Json]:
        style, index = self._style(block), block.index
        words = _EVENT_NAMES[style]
        place = {"item_id": item_id(self._name, style, block), "output_index": index}
        place |= {words.position: 0} if words.position else {}
        # Only the events of a text have these.
        odds: Json = {"logprobs": []} if style == "text" else {}
        match step:
            case "open":
                item = serialize_item(self._name, style, block, "in_progress")
                events = [self._event("output_item.added", output_index=index, item=item)]
                if words.part:
                    part = serialize_part(style, "")
                    events.append(self._event(f"{words.part}.added", **place, part=part))
            case "add":
                events = [self._event(f"{words.text}.delta", **place, delta=text, **odds)]
            case "close":
                said = {"arguments": block.call.arguments} if style == "call" else {"text": block.text}
                events = [self._event(f"{words.text}.done", **place, **said, **odds)]
                if words.part:
                    part = serialize_part(style, block.text)
                    events.append(self._event(f"{words.part}.done", **place, part=part))
                events.append(self._event("output_item.done", output_index=index, item=self._item(block)))
        return events

    def _style(self, block: Block) -> BlockStyle:
        return "summary" if block.kind == "thinking" and self._summary else block.kind

    def _item(self, block: Block) -> Json:
        status = self._last if block.index == len(self._blocks.all) - 1 else "completed"
        return serialize_item(self._name, self._style(block), block, status)

    def _event(self, name: str, **fields: Any) -> Json:
        event = {"type": f"response.{name}", "sequence_number": self._number, **fields}
        self._number += 1
        return event

    def _response(self, **known: Any) -> Json:
        items = [self._item(block) for block in self._blocks.all]
        return build_response(self._name, self._settings, items, **known)
