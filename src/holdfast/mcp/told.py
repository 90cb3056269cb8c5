"""What a tool gives back: a text for the model, the same as data for programs, and never too much of either.

What does not fit is counted, and the text says how to get it. Knows no tool.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

T = TypeVar("T")

# Characters of one answer: about 3,000 tokens, which a window of 8k can still take.
LONGEST = 12_000
_NOTICES = 6
# As the lines of hits are counted.
_LINE_END = re.compile(r"\r\n|\r|\n")
_NO_TEXT = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Told:
    text: str
    data: dict[str, Any]


def fitting(items: Sequence[T], spelled: Callable[[T], str], room: int = LONGEST) -> list[T]:
    """As many of the first items as there is room for, spelled out; at least one."""
    taken: list[T] = []
    for item in items:
        room -= len(spelled(item))
        if room < 0 and taken:
            break
        taken.append(item)
    return taken


def excerpt(text: str, first: int, count: int, most: int = LONGEST) -> dict[str, Any]:
    """Lines of a text, from the first on, as many as there is room for; `next` is where to go on."""
    every = _LINE_END.split(clean(text).removesuffix("\n"))
    wanted = every[first - 1 : first - 1 + count]
    shown = fitting(wanted, lambda line: f"{line}\n", most)
    last = first - 1 + len(shown)
    body = "\n".join(shown)
    return {
        "first": first,
        "last": last,
        "lines": len(every),
        "text": body[:most],
        "cut": len(body) > most,
        "next": last + 1 if last < len(every) else None,
    }


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()} … [{len(text) - most:,} more characters]"


def clean(text: str) -> str:
    """As JSON can carry it: bytes that were no text become a sign for that."""
    return _NO_TEXT.sub("\ufffd", text)


def cleaned(value: Any) -> Any:
    """The same for all texts in a value."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean(str(name)): cleaned(one) for name, one in value.items()}
        case list() | tuple():
            return [cleaned(one) for one in value]
    return value


def few(items: Sequence[T], most: int, more: Callable[[int], T]) -> list[T]:
    """The first items, and one that says how many there are beside them."""
    return [*items[:most], more(len(items) - most)] if len(items) > most else list(items)


def notices(words: Sequence[str]) -> str:
    """What is less good than it could be, one line each."""
    every = [one for one in dict.fromkeys(words) if one]
    told = few(every, _NOTICES, lambda more: f"{more} more of this kind.")
    return "".join(f"\nNote: {one}" for one in told)


def date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d") if seconds else "no date"


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
