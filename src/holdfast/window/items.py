"""The messages of a history with their ids, and which of them may only leave the window together.

Tool calls stay with their results, and questions with their answers, because nothing smaller than a `Unit` is
ever left out.
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from holdfast.messages import Message, Text, ToolCall, ToolResult, canonical

# Replaces a tool call without a result: some templates refuse two questions in a row.
NO_RESULT = "[tool call without a result]"


@dataclass(frozen=True, slots=True)
class Item:
    """A message with its id; `depth` is its depth in the log, -1 if it is not in the log."""

    id: str
    message: Message
    depth: int = -1
    at: float = 0.0

    @property
    def is_question(self) -> bool:
        return self.message.role == "user" and not self.message.tool_results


@dataclass(frozen=True, slots=True)
class Unit:
    """Messages that stay or leave together.

    The frame of an exchange is its question and its last answer; each round of tools before that answer is a
    unit of its own, and leaves no later than its frame.
    """

    items: tuple[Item, ...]
    exchange: int
    is_frame: bool

    def has(self, names: Collection[str]) -> bool:
        return any(item.id in names for item in self.items)


def units_of(items: Sequence[Item]) -> list[Unit]:
    """Return the units in the order in which they would leave: the oldest exchange first, its frame last."""
    units: list[Unit] = []
    for number, exchange in enumerate(split_runs(items, lambda item: item.is_question)):
        asked = 1 if exchange[0].is_question else 0
        # Each answer with the tool results that follow it.
        rounds = split_runs(exchange[asked:], lambda item: item.message.role == "assistant")
        units += [Unit(round_, number, is_frame=False) for round_ in rounds[:-1]]
        last = rounds[-1] if rounds else ()
        units.append(Unit((*exchange[:asked], *last), number, is_frame=True))
    return units


def split_runs(items: Sequence[Item], begins: Callable[[Item], bool]) -> list[tuple[Item, ...]]:
    """Split the items before each one that begins a run."""
    starts = [at for at, item in enumerate(items) if at == 0 or begins(item)]
    return [tuple(items[start:end]) for start, end in pairwise([*starts, len(items)])]


def newest_of(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return what has no answer yet: the question, or the last tool results."""
    at = len(items)
    while at > 0 and items[at - 1].message.role != "assistant":
        at -= 1
        if items[at].is_question:
            break
    return tuple(items[at:]) or tuple(items[-1:])


def question_of(items: Sequence[Item]) -> Item | None:
    """Return the newest message that a person wrote."""
    return next((item for item in reversed(items) if item.is_question), None)


def repair_arguments(message: Message) -> Message:
    """Return the message with arguments that are JSON: servers refuse every later request otherwise.

    Models leave them unfinished when their answer is cut off.
    """
    if all(_is_json(call.arguments) for call in message.tool_calls):
        return message
    return replace(
        message,
        parts=tuple(
            replace(part, arguments=canonical({"unreadable": part.arguments}) if part.arguments else "{}")
            if isinstance(part, ToolCall) and not _is_json(part.arguments)
            else part
            for part in message.parts
        ),
    )


@lru_cache(maxsize=4_096)
def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def repair_pairs(messages: Sequence[Message]) -> list[Message | None]:
    """Remove tool calls without a result, and results without a call.

    A message of which nothing is left becomes None.
    """
    repaired: list[Message | None] = list(messages)
    at = 0
    while at < len(messages):
        end = at + 1
        while end < len(messages) and messages[end].tool_results and messages[at].role == "assistant":
            end += 1
        if messages[at].role == "assistant" and messages[at].tool_calls:
            repaired[at:end] = _repair_round(messages[at], messages[at + 1 : end])
        else:
            repaired[at:end] = [
                drop_parts(message, message.tool_results) if message.tool_results else message
                for message in messages[at:end]
            ]
        at = end
    return repaired


def match_results(caller: Message, answers: Sequence[Message]) -> list[tuple[ToolResult, ToolCall | None]]:
    """Return each result with the call it answers, None if there is no such call."""
    calls = list(caller.tool_calls)
    results = [result for message in answers for result in message.tool_results]
    pairs: list[tuple[ToolResult, ToolCall | None]] = []
    # Results that name their call go first: one without a name must not take the call of another.
    for result in sorted(results, key=lambda result: not result.call_id):
        call = _call_of(result, calls)
        if call is not None:
            calls.remove(call)
        pairs.append((result, call))
    return pairs


def _repair_round(caller: Message, answers: Sequence[Message]) -> list[Message | None]:
    pairs = match_results(caller, answers)
    known = {id(call) for _, call in pairs if call is not None}
    stray = [result for result, call in pairs if call is None]
    silent = [call for call in caller.tool_calls if id(call) not in known]
    if not silent and not stray:
        return [caller, *answers]
    return [
        drop_parts(caller, silent, instead=NO_RESULT),
        *(drop_parts(message, stray) for message in answers),
    ]


def _call_of(result: ToolResult, calls: Sequence[ToolCall]) -> ToolCall | None:
    if result.call_id and any(call.id for call in calls):
        return next((call for call in calls if call.id == result.call_id), None)
    named = (call for call in calls if result.name and call.name == result.name)
    return next(named, calls[0] if calls else None)


def drop_parts(
    message: Message, gone: Sequence[ToolCall] | Sequence[ToolResult], instead: str = ""
) -> Message | None:
    """Return the message without these parts; None, or `instead`, if no text is left."""
    # By identity: two calls may be equal, and only one of them answered.
    names = {id(part) for part in gone}
    parts = tuple(part for part in message.parts if id(part) not in names)
    if len(parts) == len(message.parts):
        return message
    if not any(isinstance(part, Text | ToolCall | ToolResult) for part in parts):
        return replace(message, parts=(*parts, Text(instead)), form="text") if instead else None
    return replace(message, parts=parts)
