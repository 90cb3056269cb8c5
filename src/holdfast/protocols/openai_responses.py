"""OpenAI's responses: a request is a list of items, and one turn of the assistant consists of several.

The items of a turn (reasoning, text, function calls) become one message, as in the other protocols. The ids
of an answer's items are derived from the id of the response, so they can be reproduced from a stored answer.
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
from holdfast.protocols.wire import (
    Block,
    BlockBuilder,
    BlockStep,
    expect,
    keep_fields,
    simplest_form,
    without,
)

NAME = "responses"
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
# Between a namespace and the name of its function.
_NAMESPACE_END = "--"
_CHOICES = ("none", "auto", "required")


def parse_request(body: JsonObject) -> ChatRequest:
    """Parses a client's `/v1/responses` body."""
    remaining = without(body, "model", "input", "tools", "stream")
    options = {
        name: remaining.pop(name) for name in ("temperature", "top_p") if remaining.get(name) is not None
    }
    if remaining.get("max_output_tokens") is not None:
        options["max_tokens"] = remaining.pop("max_output_tokens")
    messages: list[Message] = []
    if remaining.get("instructions"):
        messages.append(Message.of("system", expect(remaining["instructions"], str, "instructions")))
    input_ = body.get("input")
    if isinstance(input_, str):
        messages.append(Message.of("user", input_))
    else:
        messages += parse_items(expect(input_, list, "input"))
    tools = tuple(parse_tools(expect(body.get("tools") or [], list, "tools")))
    wanted = get_object(get_object(remaining, "text"), "format")
    return ChatRequest(
        model=expect(body.get("model"), str, "model"),
        messages=tuple(messages),
        tools=tools,
        options=options,
        format=parse_format(wanted),
        think=parse_effort(get_object(remaining, "reasoning").get("effort")),
        stream=body.get("stream") is not None and expect(body["stream"], bool, "stream"),
        extra={
            **keep_fields(NAME, remaining),
            **keep_fields(openai_chat.NAME, to_chat_fields(remaining, wanted, bool(tools))),
        },
    )


def get_object(fields: JsonObject, name: str) -> dict[str, Any]:
    """Returns an object of a request, or an empty one."""
    value = fields.get(name)
    return {} if value is None else expect(value, dict, name)


def to_chat_fields(fields: JsonObject, wanted: JsonObject, tools: bool) -> dict[str, Any]:
    """Translates the fields that chat completions have, too."""
    chat: dict[str, Any] = {}
    if tools and fields.get("tool_choice") is not None:
        chat["tool_choice"] = parse_tool_choice(fields["tool_choice"])
    if tools and fields.get("parallel_tool_calls") is not None:
        chat["parallel_tool_calls"] = fields["parallel_tool_calls"]
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
    """Returns the functions among the tools; the others run on OpenAI's own servers only."""
    functions: list[JsonObject] = []
    for value in tools:
        tool = expect(value, dict, "tools[]")
        if tool.get("type") == "function":
            function = {name: item for name, item in tool.items() if name != "type" and item is not None}
            functions.append(tool if "function" in tool else {"type": "function", "function": function})
        elif tool.get("type") == "namespace":
            inner = parse_tools(expect(tool.get("tools"), list, "tools[].tools"))
            functions += [put_in_namespace(str(tool.get("name", "")), function) for function in inner]
    return functions


def put_in_namespace(namespace: str, tool: JsonObject) -> JsonObject:
    function = expect(tool.get("function"), dict, "tools[].tools[]")
    return {**tool, "function": {**function, "name": join_name(namespace, str(function.get("name", "")))}}


def join_name(namespace: str, name: str) -> str:
    """Returns the name of a function for a model, which knows no namespaces.

    codex has a namespace for each MCP server.
    """
    return f"{namespace}{_NAMESPACE_END}{name}" if namespace else name


def split_name(joined: str) -> dict[str, str]:
    """Returns the fields that name a function: its name, and its namespace if it has one."""
    namespace, _, name = joined.rpartition(_NAMESPACE_END)
    return {"name": name, "namespace": namespace} if namespace and name else {"name": joined}


def parse_items(items: list[Any]) -> list[Message]:
    """Parses items to messages; consecutive items of the assistant become one message."""
    messages: list[Message] = []
    for value in items:
        role, parts, extra = parse_item(expect(value, dict, "input[]"))
        if role == "assistant" and messages and messages[-1].role == "assistant":
            previous = messages.pop()
            parts, extra = (*previous.parts, *parts), dict(previous.extra)
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
                name=join_name(
                    str(item.get("namespace") or ""), expect(item.get("name"), str, "input[].name")
                ),
                arguments=expect(item.get("arguments", ""), str, "input[].arguments"),
                id=str(item.get("call_id", "")),
                extra=keep_fields(NAME, without(item, "type", "name", "namespace", "arguments", "call_id")),
            )
            return "assistant", (call,), {}
        case "function_call_output":
            output = item.get("output")
            parts = [part for part in parse_content(output) if isinstance(part, Text | Image | File | Opaque)]
            remaining = keep_fields(NAME, without(item, "type", "call_id", "output"))
            return (
                "tool",
                (ToolResult(tuple(parts), call_id=str(item.get("call_id", "")), extra=remaining),),
                {},
            )
        case "reasoning":
            text = "\n".join(list_texts(item.get("summary")) + list_texts(item.get("content")))
            return "assistant", (Thinking(text, keep_fields(NAME, item)),), {}
        case _:
            return "assistant", (Opaque(NAME, item),), {}


def list_texts(blocks: Any) -> list[str]:
    objects = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    return [block["text"] for block in objects if isinstance(block.get("text"), str)]


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
# How a block is written: thinking either unchanged or as a summary.
BlockStyle = Literal["text", "thinking", "summary", "call"]

# Why an answer is incomplete.
_INCOMPLETE_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}
# The request's fields that an answer repeats, with their defaults.
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
    """Names of the events of one kind of item. A call has no parts and no events for them."""

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
    """Returns the settings of a request that its answer repeats."""
    fields = request.extra.get(NAME, {})
    echoed = {name: fields[name] for name in _ECHOED_FIELDS if fields.get(name) is not None}
    reasoning, text = get_object(fields, "reasoning"), get_object(fields, "text")
    return {
        **_ECHOED_FIELDS,
        **echoed,
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
    """Returns a stored answer as the items it was sent as."""
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
            arguments = "" if status == "in_progress" else block.call.arguments
            call = {"call_id": block.call.id or id_, **split_name(block.call.name)}
            own = {"type": "function_call", "arguments": arguments, **call}
    return {"id": id_, "status": status, **own}


def serialize_part(style: BlockStyle, text: str) -> Json:
    part = {"type": _EVENT_NAMES[style].type, "text": text}
    return part | ({"annotations": [], "logprobs": []} if style == "text" else {})


def item_id(name: str, style: BlockStyle, block: Block) -> str:
    return f"{_EVENT_NAMES[style].prefix}_{name.removeprefix('resp_')}_{block.index}"


def build_response(name: str, settings: Json, items: Sequence[Json], **fields: Any) -> Json:
    """Returns the response object with the id `name`; `fields` override the defaults."""
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
        **fields,
    }


def describe_end(finish: str | None) -> Json:
    """Returns the fields of a response that say how it ended."""
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
    """Writes one answer with the id `name`, as the events of its items or as one object.

    Thinking is written as a summary if the request asked for one.
    """

    def __init__(self, name: str, settings: Json) -> None:
        self._name = name
        self._settings = {**settings, "created_at": int(time.time())}
        self._summary = bool(settings["reasoning"].get("summary"))
        self._blocks = BlockBuilder()
        # The number of events written, and the status of the last item.
        self._number = 0
        self._last = "completed"

    def chunk(self, chunk: Chunk) -> list[Json]:
        """Returns the events a streaming client gets for this chunk."""
        return self._write_start() + self._write_steps(self._blocks.add(chunk))

    def end(self) -> list[Json]:
        """Returns the events after the last chunk."""
        self._last = describe_end(self._blocks.answer.finish)["status"]
        events = self._write_start() + self._write_steps(self._blocks.end())
        return [*events, self._event(self._last, response=self.whole())]

    def write_error(self, error: Json) -> list[Json]:
        """Returns the last events of an answer that broke off; `error` is an error object of OpenAI's."""
        self._last = "incomplete"
        detail = error.get("error") or {}
        reason = {"code": detail.get("code") or "server_error", "message": detail.get("message", "")}
        return [
            *self._write_start(),
            self._event("failed", response=self._response(status="failed", error=reason)),
        ]

    def whole(self) -> Json:
        """Returns the answer as one object; call it after all chunks and `end`."""
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
        # Only the events of a text have this field.
        logprobs: Json = {"logprobs": []} if style == "text" else {}
        match step:
            case "open":
                item = serialize_item(self._name, style, block, "in_progress")
                events = [self._event("output_item.added", output_index=index, item=item)]
                if words.part:
                    part = serialize_part(style, "")
                    events.append(self._event(f"{words.part}.added", **place, part=part))
            case "add":
                events = [self._event(f"{words.text}.delta", **place, delta=text, **logprobs)]
            case "close":
                content = {"arguments": block.call.arguments} if style == "call" else {"text": block.text}
                events = [self._event(f"{words.text}.done", **place, **content, **logprobs)]
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

    def _response(self, **fields: Any) -> Json:
        items = [self._item(block) for block in self._blocks.all]
        return build_response(self._name, self._settings, items, **fields)
