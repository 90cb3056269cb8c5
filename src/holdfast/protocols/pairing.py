"""Tool calls and their results, made to find each other where a dialect pairs them in another way.

Ollama's clients pair by name and order and its templates know names; OpenAI's servers go by id alone. Pure,
and the same for every longer history: what was sent once is sent so again.
"""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.messages import ChatRequest, Message, Part, ToolCall, ToolResult


def add_call_ids(request: ChatRequest) -> ChatRequest:
    """Every call with an id, and every result with that of its call, as far as it has one."""
    messages = request.messages
    if not any(
        isinstance(part, ToolCall | ToolResult) and not _pairing_id(part) for part in _list_parts(messages)
    ):
        return request
    numbered, made = [], 0
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                made += 1
                parts.append(part if part.id else replace(part, id=f"call_{made}"))
            else:
                parts.append(part)
        numbered.append(message if tuple(parts) == message.parts else replace(message, parts=tuple(parts)))
    return replace(request, messages=tuple(_pair_results(numbered)))


def add_tool_names(request: ChatRequest) -> ChatRequest:
    """Every result with the name of the call whose id it has."""
    calls = (part for part in _list_parts(request.messages) if isinstance(part, ToolCall))
    names = {call.id: call.name for call in calls if call.id}
    if not names:
        return request
    messages = (
        _name_results(message, names)
        if any(not result.name and result.call_id in names for result in message.tool_results)
        else message
        for message in request.messages
    )
    return replace(request, messages=tuple(messages))


def _name_results(message: Message, names: dict[str, str]) -> Message:
    parts = tuple(
        replace(part, name=names.get(part.call_id, ""))
        if isinstance(part, ToolResult) and not part.name
        else part
        for part in message.parts
    )
    return replace(message, parts=parts)


def _pair_results(messages: Sequence[Message]) -> list[Message]:
    """Results without an id get that of the first call still open, one of their name if they have one."""
    waiting: list[ToolCall] = []
    matched = []
    for message in messages:
        if message.tool_calls:
            waiting = list(message.tool_calls)
        parts: list[Part] = []
        for part in message.parts:
            call = _find_call(part, waiting) if isinstance(part, ToolResult) else None
            if call is not None:
                waiting.remove(call)
                assert isinstance(part, ToolResult)
                parts.append(replace(part, call_id=call.id))
            else:
                parts.append(part)
        matched.append(message if tuple(parts) == message.parts else replace(message, parts=tuple(parts)))
    return matched


def _find_call(result: ToolResult, waiting: Sequence[ToolCall]) -> ToolCall | None:
    if result.call_id:
        return next((call for call in waiting if call.id == result.call_id), None)
    named = [call for call in waiting if call.name == result.name]
    return next(iter(named or (() if result.name else waiting)), None)


def _pairing_id(part: ToolCall | ToolResult) -> str:
    return part.id if isinstance(part, ToolCall) else part.call_id


def _list_parts(messages: Sequence[Message]) -> list[Part]:
    return [part for message in messages for part in message.parts]
