"""A history as `window` sees it: messages with their names, and what of it may only be taken together.

Knows nothing of tokens or levels. That a tool call stays with its results, and that questions and answers go
on taking turns, follows from never taking less than a `Unit`.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from holdfast.messages import Message, Text, ToolCall, ToolResult, canonical

# Stands where a model called a tool and nobody answered: some templates refuse two questions in a row.
NO_RESULT = "[tool call without a result]"


@dataclass(frozen=True, slots=True)
class Item:
    """A message with its name; `depth` is its place in the log, -1 for what the log does not have."""

    id: str
    message: Message
    depth: int = -1
    at: float = 0.0

    @property
    def is_question(self) -> bool:
        return self.message.role == "user" and not self.message.tool_results


@dataclass(frozen=True, slots=True)
class Unit:
    """Messages that stay or go together.

    The frame of an exchange is its question and its last answer; each round of tools before that answer is a
    unit of its own, and goes no later than the frame around it.
    """

    items: tuple[Item, ...]
    exchange: int
    is_frame: bool

    def has(self, names: Collection[str]) -> bool:
        return any(item.id in names for item in self.items)


def units_of(items: Sequence[Item]) -> list[Unit]:
    """The units in the order in which they would go: the oldest exchange first, its frame last."""
    found: list[Unit] = []
    for number, exchange in enumerate(_exchanges(items)):
        asked = 1 if exchange[0].is_question else 0
        rounds = _rounds(exchange[asked:])
        found += [Unit(round_, number, is_frame=False) for round_ in rounds[:-1]]
        last = rounds[-1] if rounds else ()
        found.append(Unit((*exchange[:asked], *last), number, is_frame=True))
    return found


def _exchanges(items: Sequence[Item]) -> list[tuple[Item, ...]]:
    return _runs(items, [item.is_question for item in items])


def _rounds(answered: Sequence[Item]) -> list[tuple[Item, ...]]:
    """Each answer with the tool results that follow it."""
    return _runs(answered, [item.message.role == "assistant" for item in answered])


def _runs(items: Sequence[Item], begins: Sequence[bool]) -> list[tuple[Item, ...]]:
    """The items in runs, each beginning where it is said, the first one in any case."""
    starts = [at for at, new in enumerate(begins) if new or at == 0]
    return [tuple(items[start:end]) for start, end in pairwise([*starts, len(items)])]


def newest_of(items: Sequence[Item]) -> tuple[Item, ...]:
    """What has not been answered yet: the question, or the tool results that came last."""
    at = len(items)
    while at > 0 and items[at - 1].message.role != "assistant":
        at -= 1
        if items[at].is_question:
            break
    return tuple(items[at:]) or tuple(items[-1:])


def question_of(items: Sequence[Item]) -> Item | None:
    """The newest message that a person wrote."""
    return next((item for item in reversed(items) if item.is_question), None)


def repair_arguments(message: Message) -> Message:
    """The message with arguments that are JSON: a server that cannot read them refuses every later request.

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
    """The messages without tool calls that nobody answered and results that nobody asked for.

    None stands for a message of which nothing is left.
    """
    mended: list[Message | None] = list(messages)
    at = 0
    while at < len(messages):
        end = at + 1
        while end < len(messages) and messages[end].tool_results and messages[at].role == "assistant":
            end += 1
        if messages[at].role == "assistant" and messages[at].tool_calls:
            mended[at:end] = _repair_round(messages[at], messages[at + 1 : end])
        else:
            mended[at:end] = [
                _without(message, message.tool_results) if message.tool_results else message
                for message in messages[at:end]
            ]
        at = end
    return mended


def match_results(caller: Message, answers: Sequence[Message]) -> list[tuple[ToolResult, ToolCall | None]]:
    """Each result with the call it answers; None where nobody called."""
    calls = list(caller.tool_calls)
    results = [result for message in answers for result in message.tool_results]
    found: list[tuple[ToolResult, ToolCall | None]] = []
    # Those that name their call go first: a result without a name must not take another one's place.
    for result in sorted(results, key=lambda result: not result.call_id):
        call = _call_of(result, calls)
        if call is not None:
            calls.remove(call)
        found.append((result, call))
    return found


def _repair_round(caller: Message, answers: Sequence[Message]) -> list[Message | None]:
    pairs = match_results(caller, answers)
    known = {id(call) for _, call in pairs if call is not None}
    stray = [result for result, call in pairs if call is None]
    silent = [call for call in caller.tool_calls if id(call) not in known]
    if not silent and not stray:
        return [caller, *answers]
    return [
        _without(caller, silent, instead=NO_RESULT),
        *(_without(message, stray) for message in answers),
    ]


def _call_of(result: ToolResult, calls: Sequence[ToolCall]) -> ToolCall | None:
    if result.call_id and any(call.id for call in calls):
        return next((call for call in calls if call.id == result.call_id), None)
    named = (call for call in calls if result.name and call.name == result.name)
    return next(named, calls[0] if calls else None)


def _without(
    message: Message, gone: Sequence[ToolCall] | Sequence[ToolResult], instead: str = ""
) -> Message | None:
    # By identity: two calls may be equal, and only one of them answered.
    names = {id(part) for part in gone}
    parts = tuple(part for part in message.parts if id(part) not in names)
    if len(parts) == len(message.parts):
        return message
    if not any(isinstance(part, Text | ToolCall | ToolResult) for part in parts):
        return replace(message, parts=(*parts, Text(instead)), form="text") if instead else None
    return replace(message, parts=parts)
