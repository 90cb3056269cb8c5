"""Turns messages into the transcript that a model summarises: cleaned, readable, in portions that fit.

Private text, secrets and Holdfast's own notices are removed here, once, before anything else reads the span.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from holdfast.i18n import without_banners
from holdfast.memory.private import redact
from holdfast.messages import File, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from holdfast.text.lang import by_language
from holdfast.thinking import without_thinking
from holdfast.window.items import Item
from holdfast.window.shorten import cut_middle, shorten_result

Count = Callable[[str], int]

# Tool output says little per token: long output is shortened to its structure, errors and ends. The ledger
# reads all of it.
_RESULT_TOKENS, _ARGUMENT_TOKENS = 600, 200
# A message that would fill more portions than this is cut in the middle.
_MOST_PORTIONS = 4
_SPEAKERS = by_language("SPEAKERS")
_FENCE = "====="


def clean_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Returns the messages without thinking, Holdfast's own notices, private text and secrets."""
    return tuple(replace(item, message=_clean_message(item.message)) for item in items)


def _clean_message(message: Message) -> Message:
    texts = [part for part in message.parts if isinstance(part, Text)]
    if len(texts) > 1 and any("<private" in part.text.lower() for part in texts):
        # Private text may begin in one part and end in the next.
        others = tuple(part for part in message.parts if not isinstance(part, Text))
        message = replace(message, parts=(Text("\n".join(part.text for part in texts)), *others))
    parts = (_clean_part(part, ours=message.role == "assistant") for part in message.parts)
    return replace(message, parts=tuple(part for part in parts if part is not None))


def _clean_part(part: Part, *, ours: bool) -> Part | None:
    match part:
        case Thinking():
            return None
        case Text():
            text = without_thinking(without_banners(part.text)) if ours else part.text
            return replace(part, text=redact(text))
        case ToolCall():
            return replace(part, arguments=redact(part.arguments))
        case ToolResult():
            inner = (
                replace(inner_part, text=redact(inner_part.text))
                if isinstance(inner_part, Text)
                else inner_part
                for inner_part in part.parts
            )
            return replace(part, parts=tuple(inner))
    return part


@dataclass(frozen=True, slots=True)
class Portion:
    """A part of a span that is read at once."""

    items: tuple[Item, ...]
    text: str

    def halve(self, language: str, count: Count) -> tuple["Portion", ...]:
        """Returns two smaller portions, () if it cannot be divided."""
        if len(self.items) > 1:
            middle = len(self.items) // 2
            parts = (self.items[:middle], self.items[middle:])
            return tuple(Portion(part, _render_items(part, language, count)) for part in parts)
        lines = self.text.splitlines()
        if len(lines) < 8:
            return ()
        middle = len(lines) // 2
        return tuple(Portion(self.items, "\n".join(part)) for part in (lines[:middle], lines[middle:]))


def split_portions(items: Sequence[Item], language: str, count: Count, most: int) -> list[Portion]:
    """Splits a span into portions of at most `most` tokens; a larger message is divided.

    A very long message is not read completely: a small model would take hours for a pasted book.
    """
    finished: list[Portion] = []
    waiting: list[tuple[Item, str]] = []
    size = 0
    for item in items:
        text = _render_items((item,), language, count)
        tokens = count(text)
        if tokens > _MOST_PORTIONS * most:
            text = cut_middle(text, _MOST_PORTIONS * most, count)
            tokens = count(text)
        if waiting and size + tokens > most:
            finished.append(_join_portion(waiting))
            waiting, size = [], 0
        if tokens > most:
            finished += [Portion((item,), piece) for piece in _split_text(text, tokens, most)]
        elif text:
            waiting.append((item, text))
            size += tokens
    return [*finished, _join_portion(waiting)] if waiting else finished


def _join_portion(waiting: Sequence[tuple[Item, str]]) -> Portion:
    return Portion(tuple(item for item, _ in waiting), "\n\n".join(text for _, text in waiting))


def _split_text(text: str, tokens: int, most: int) -> Iterator[str]:
    """Yields a long text in pieces of about equal length, cut at white space where possible."""
    number = -(-tokens * 5 // (most * 4))
    size, start = max(1, -(-len(text) // number)), 0
    while start < len(text):
        end = min(len(text), start + size)
        if end < len(text):
            space = max(text.rfind("\n", start, end), text.rfind(" ", start, end))
            end = space if space > start else end
        yield text[start:end].strip()
        start = end


def _render_items(items: Sequence[Item], language: str, count: Count) -> str:
    return "\n\n".join(filter(None, (_render_message(item.message, language, count) for item in items)))


def _render_message(message: Message, language: str, count: Count) -> str:
    lines = [_render_part(part, count) for part in message.parts]
    text = "\n".join(filter(None, lines)).replace(_FENCE, "= = =")
    return f"{_SPEAKERS[language][message.role]}: {text}" if text.strip() else ""


def _render_part(part: Part, count: Count) -> str:
    match part:
        case Text():
            return part.text.strip()
        case ToolCall():
            arguments = part.arguments
            if count(arguments) > _ARGUMENT_TOKENS:
                arguments = cut_middle(arguments, _ARGUMENT_TOKENS, count)
            return f"[{part.name} {arguments}]"
        case ToolResult():
            text = part.text
            text = shorten_result(text, _RESULT_TOKENS, count) if count(text) > _RESULT_TOKENS else text
            return f"({part.name or 'result'}{' failed' if part.error else ''}) {text}"
        case Image():
            return "[image]"
        case File():
            return f"[file {part.name}]"
    return ""


def fence(text: str) -> str:
    """Encloses the text in fences that mark it as data rather than instructions."""
    return f"{_FENCE}\n{text}\n{_FENCE}"
