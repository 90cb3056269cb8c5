"""Puts the turns of a foreign conversation in order: parents first, whatever the source says about them.

Sources have gaps, circles, and tool calls without an answer; none of that may reach a log. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from holdfast.messages import Message, Part, Text, ToolCall, ToolResult
from holdfast.transfer.sources import Turn


def parents_first(parents: Mapping[str, str | None], broken: list[str]) -> dict[str, str | None]:
    """The same nodes, each after its parent. What names no known parent, or stands in a circle, is a root.

    `broken` is told which nodes lost their parent that way.
    """
    ordered: dict[str, str | None] = {}
    for start in parents:
        way: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in ordered and at not in way:
            way[at] = None
            above = parents[at]
            if above is not None and above not in parents:
                broken.append(at)
                above = None
            at = above
        for key in reversed(way):
            above = parents[key]
            if above is not None and above not in ordered:
                # Its parent is further up in a circle, or nowhere.
                if above in parents:
                    broken.append(key)
                above = None
            ordered[key] = above
    return ordered


def hung_on(order: Mapping[str, str | None], kept: Iterable[str]) -> dict[str, str | None]:
    """For each of the nodes that are kept: the nearest one above it that is kept, too."""
    wanted = set(kept)
    nearest: dict[str, str | None] = {}
    for key, parent in order.items():
        nearest[key] = parent if parent is None or parent in wanted else nearest[parent]
    return {key: nearest[key] for key in order if key in wanted}


def paired(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Calls and results that have each other stay what they are; one without the other becomes plain words.

    Model servers refuse a history for good in which a result has no call, or a call no result.
    """
    every = tuple(turns)
    calls = {call.id for turn in every for call in turn.message.tool_calls}
    results = {result.call_id for turn in every for result in turn.message.tool_results}
    both = (calls & results) - {""}
    return tuple(replace(turn, message=_mended(turn.message, both)) for turn in every)


def _mended(message: Message, both: set[str]) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall) and part.id not in both:
            parts.append(Text(f"[{part.name}] {part.arguments}"))
        elif isinstance(part, ToolResult) and part.call_id not in both:
            parts.append(Text(f"[{part.name or 'tool'}] {part.text}"))
        else:
            parts.append(part)
    if tuple(parts) == message.parts:
        return message
    alone = message.role == "tool" and not any(isinstance(part, ToolResult) for part in parts)
    return Message("assistant" if alone else message.role, tuple(parts), message.form, message.extra)
