"""What a model thought aloud inside the text of an answer: where it stands, and the answer without it.

Models mark their thinking in ways of their own, and a server that does not know the way leaves it in the
text. What stands in code is an example and no thinking. Thinking that a server did tell apart is a part of
its message, and none of this module's business.
"""

import re
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from holdfast.messages import Message, Part, Text
from holdfast.text.patterns import late

# How thinking begins and how it ends, in each of the ways there are.
_WAYS: tuple[tuple[str, str], ...] = (
    ("<[Tt]hink>", "</[Tt]hink>"),
    ("<[Tt]hinking>", "</[Tt]hinking>"),
    ("<[Tt]hought>", "</[Tt]hought>"),
    ("<[Rr]easoning>", "</[Rr]easoning>"),
    ("<[Rr]eflection>", "</[Rr]eflection>"),
    ("<seed:think>", "</seed:think>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    ("◁think▷", "◁/think▷"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (
        r"<\|channel\|>analysis<\|message\|>",
        r"(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>",
    ),
    # How Open WebUI shows it. A box like that may be closed by itself, unlike all the others.
    (r"<details type=\"reasoning\"[^>\n]{0,200}>", "</details>"),
)
_BOX = len(_WAYS) - 1
# None of the ways does without one of these: most texts need no closer look.
_SIGNS = (
    "hink>", "hinking>", "hought>", "easoning>", "eflection>", "THINK]", "think▷", "_of_thought|>",
    "<|channel|>", '<details type="reasoning"',
)  # fmt: skip
# A fence opens or closes code; code within a line is passed over as a whole.
_MARKS = late(
    "|".join(
        (
            r"(?P<fence>^[ \t]{0,3}(?:`{3,}[^`\n]*|~{3,}[^\n]*)$)",
            r"`[^`\n]*`",
            *(f"(?P<begin{way}>{begin})|(?P<end{way}>{end})" for way, (begin, end) in enumerate(_WAYS)),
        )
    ),
    re.MULTILINE,
)


class Thought(NamedTuple):
    """Where thinking stands in a text with its marks, and what was thought between them."""

    start: int
    end: int
    text: str


def spoken(message: Message) -> Message:
    """The message without what a model thought in its text. Its parts keep their places."""
    if message.role != "assistant":
        return message
    parts = tuple(_spoken(part) for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts)


def _spoken(part: Part) -> Part:
    return replace(part, text=without_thinking(part.text)) if isinstance(part, Text) else part


def without_thinking(text: str) -> str:
    """The text without what was thought in it. Linear in the text.

    Thinking that begins a line and is never closed lasts to the end: the answer was cut off. What is closed
    and was never opened had been opened by the model's template: all before it is thinking.
    """
    return _without(text) if any(sign in text for sign in _SIGNS) else text


@lru_cache(maxsize=512)
def _without(text: str) -> str:
    thoughts = _thoughts(text)
    if not thoughts:
        return text
    starts = [0, *(thought.end for thought in thoughts)]
    ends = [*(thought.start for thought in thoughts), len(text)]
    kept = "".join(text[start:end] for start, end in zip(starts, ends, strict=True))
    # The empty lines that set thinking apart from the answer go with it.
    if not text[: thoughts[0].start].strip():
        kept = kept.lstrip()
    return kept.rstrip() if thoughts[-1].end == len(text) else kept


def find_thoughts(text: str) -> list[Thought]:
    """Return what was thought in a text, in order, by the rules of `without_thinking`."""
    return _thoughts(text) if any(sign in text for sign in _SIGNS) else []


def _thoughts(text: str) -> list[Thought]:
    marks = [mark for mark in _MARKS.finditer(text) if mark.lastgroup]
    last = {mark.lastgroup: mark.start() for mark in marks}
    thoughts: list[Thought] = []
    begun = fence = None
    for mark in marks:
        kind = str(mark.lastgroup)
        if begun is not None:
            if kind == begun[1]:
                first = begun[0]
                thoughts.append(Thought(first.start(), mark.end(), text[first.end() : mark.start()]))
                begun = None
        elif fence is not None:
            if kind == "fence" and _closes(fence, mark["fence"]):
                fence = None
        elif kind == "fence":
            fence = mark["fence"]
        elif kind.startswith("begin"):
            end = kind.replace("begin", "end")
            if last.get(end, -1) > mark.start():
                begun = mark, end
            elif _begins_line(text, mark.start()):
                return [*thoughts, Thought(mark.start(), len(text), text[mark.end() :])]
        elif kind != f"end{_BOX}" and (
            _begins_line(text, mark.start()) or text[mark.end() : mark.end() + 1] in ("", "\n")
        ):
            thoughts = [Thought(0, mark.end(), text[: mark.start()])]
    return thoughts


def _closes(opening: str, line: str) -> bool:
    """Whether a line closes the fence that another one opened: with as many marks and nothing behind them."""
    marks = opening.strip()
    marks = marks[: len(marks) - len(marks.lstrip(marks[0]))]
    return line.strip().startswith(marks) and not line.strip().strip(marks[0])


def _begins_line(text: str, at: int) -> bool:
    # Only white space is looked at: a line may be as long as the text, and every mark asks.
    while at and text[at - 1] in " \t":
        at -= 1
    return not at or text[at - 1] == "\n"
