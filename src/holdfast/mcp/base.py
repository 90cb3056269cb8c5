"""What every tool gets and returns: the services it works with, the caller, and a reply of limited length.

A running server passes its own services; a host that starts `holdfast mcp` opens them with `open_services`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.config import Settings
from holdfast.errors import Forbidden
from holdfast.i18n import lazy
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.memory.service import MemoryService
    from holdfast.research.library import Research
    from holdfast.store import Store


T = TypeVar("T")
Values = Mapping[str, Any]

# Characters of a query that are searched for; the rest is ignored.
LONGEST_QUERY = 2_000
# Characters of a reply: about 3,000 tokens, which a window of 8k can still take.
LONGEST_REPLY = 12_000
_MOST_NOTICES = 6
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class McpServices:
    """The parts of Holdfast that the tools use. `citations` is the setting of that name."""

    store: "Store"
    remembering: "MemoryService"
    research: "Research"
    citations: str = "auto"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends the request. With `memory` off, memories are neither read nor written."""

    scope: Scope
    memory: bool = True

    def check_memory(self) -> None:
        """Raise `Forbidden` if memory is switched off for this caller."""
        if not self.memory:
            raise Forbidden(
                "Memory is switched off here.",
                hint="Switch it on in the settings or for this key; what was said can still be searched.",
            )


@contextmanager
def open_services(settings: Settings) -> Iterator[McpServices]:
    """Open the services on the data folder of the settings; other processes may have it open as well."""
    # Imported here, so that the host gets its first response before all of this is loaded.
    from holdfast.store import open_store
    from holdfast.wiring import build_remembering, build_research

    with open_store(settings.store) as store:
        remembering = build_remembering(settings, store)
        try:
            research = build_research(settings, remembering)
            yield McpServices(store, remembering, research, settings.citations)
        finally:
            remembering.close()


def explain_word_search(services: McpServices) -> list[str]:
    """Return a notice if the search used words only because no embedder is ready, else an empty list."""
    embedder = services.remembering.embedder
    if embedder.ready() is not None:
        return []
    why = (
        lazy("There is no embedder.") if embedder.off else embedder.trouble or "the embedder is not awake yet"
    )
    return [f"found by words only: {why}"]


@dataclass(frozen=True, slots=True)
class ToolReply:
    """The result of a tool: `text` for the model, and the same as `data` for programs."""

    text: str
    data: dict[str, Any]


def take_fitting(items: Sequence[T], spelled: Callable[[T], str], room: int = LONGEST_REPLY) -> list[T]:
    """Return the first items whose formatted length fits into `room` characters, and at least one."""
    taken: list[T] = []
    for item in items:
        room -= len(spelled(item))
        if room < 0 and taken:
            break
        taken.append(item)
    return taken


def excerpt_lines(
    text: str, first: int, count: int, scope: Scope, most: int = LONGEST_REPLY
) -> dict[str, Any]:
    """Return up to `count` lines of a note from line `first`, at most `most` characters.

    Comments for machines and memories that no longer hold are left out; numbers are those of the file. `next`
    is the line to continue with, None at the end; `cut` says that a single line was too long.
    """
    # Imported here, so that the host gets its first response before the parser of Markdown is loaded.
    from holdfast.memory.items import readable_lines

    every = readable_lines(clean_text(text), scope)
    total = every[-1][0] if every else 1
    start = next((place for place, (number, _) in enumerate(every) if number >= first), len(every))
    shown = take_fitting(every[start : start + count], lambda line: f"{line[1]}\n", most)
    after = every[start + len(shown) :]
    body = "\n".join(line for _, line in shown)
    return {
        "first": shown[0][0] if shown else first,
        "last": shown[-1][0] if shown else first,
        "lines": total,
        "text": body[:most],
        "cut": len(body) > most,
        "next": after[0][0] if after else None,
    }


def shorten(text: str, most: int) -> str:
    """Cut a text after `most` characters and say how many are missing."""
    return text if len(text) <= most else f"{text[:most].rstrip()} … [{len(text) - most:,} more characters]"


def clean_text(text: str) -> str:
    """Replace lone surrogates, which JSON cannot carry, by the replacement character."""
    return _SURROGATES.sub("\ufffd", text)


def clean_value(value: Any) -> Any:
    """Apply `clean_text` to every string in a JSON value."""
    match value:
        case str():
            return clean_text(value)
        case dict():
            return {clean_text(str(name)): clean_value(item) for name, item in value.items()}
        case list() | tuple():
            return [clean_value(item) for item in value]
    return value


def limit_items(items: Sequence[T], most: int, more: Callable[[int], T]) -> list[T]:
    """Return the first `most` items, followed by `more(number of the others)` if there are others."""
    return [*items[:most], more(len(items) - most)] if len(items) > most else list(items)


def format_notices(words: Sequence[str]) -> str:
    """Format warnings about the result, one line each, without duplicates."""
    every = [word for word in dict.fromkeys(words) if word]
    lines = limit_items(every, _MOST_NOTICES, lambda more: f"{more} more of this kind.")
    return "".join(f"\nNote: {word}" for word in lines)


def format_date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d") if seconds else "no date"


def format_moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
