"""The prompts that a person can choose in their host, with what is remembered already in them.

In the person's language. They need no tool afterwards, and name those that find more. Knows no protocol.
"""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from holdfast.errors import BadRequest, NotFound
from holdfast.i18n import say
from holdfast.mcp.parts import Caller, Parts
from holdfast.mcp.told import LONGEST, clean, shortened
from holdfast.mcp.tools import tool_named
from holdfast.memory.scopes import day, day_file, visible
from holdfast.memory.workspace.base import look

_RECENT = 200
_FIRST_YEAR = 1971
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """`argument` is the one thing it asks for, which may be left out unless it is `required`."""

    name: str
    argument: str
    required: bool
    about: Callable[[], str]
    asks: Callable[[], str]
    text: Callable[[Parts, Caller, str], str]


def _recall(parts: Parts, caller: Caller, query: str) -> str:
    known = tool_named("memory_search").call(parts, caller, {"query": query}).text
    return say(
        f"What do we know about: {query}\n\nThis is in memory:\n\n{known}\n\n"
        "Answer from it and name the source of each point. Say what is not known. If it is not enough, use "
        "memory_search with other words, memory_get and conversation_search.",
        f"Was wissen wir über: {query}\n\nDas steht im Gedächtnis:\n\n{known}\n\n"
        "Antworte daraus und nenne zu jedem Punkt die Quelle. Sag, was nicht bekannt ist. Reicht es nicht, "
        "nutze memory_search mit anderen Wörtern, memory_get und conversation_search.",
    )


def _summarise_day(parts: Parts, caller: Caller, wanted: str) -> str:
    on = wanted.strip() or day(time.time())
    if not _DATE.fullmatch(on) or not _is_date(on):
        raise BadRequest(f"{on[:40]!r} is no date.", hint="Give it like 2026-03-31.", param="date")
    known = shortened(_notes_of(parts, caller, on), LONGEST) or say("(nothing)", "(nichts)")
    talks = _talks_of(parts, caller, on) or say("(none)", "(keine)")
    return say(
        f"Summarise {on} in a few sentences: what was done, decided and left open.\n\n"
        f"Notes of that day:\n\n{known}\n\nConversations last used that day:\n\n{talks}\n\n"
        "conversation_expand with an id shows what was said.",
        f"Fasse den {on} in wenigen Sätzen zusammen: was getan, entschieden und offen gelassen wurde.\n\n"
        f"Notizen dieses Tages:\n\n{known}\n\nAn diesem Tag zuletzt benutzte Gespräche:\n\n{talks}\n\n"
        "conversation_expand mit einer Id zeigt, was gesagt wurde.",
    )


def _notes_of(parts: Parts, caller: Caller, on: str) -> str:
    noon = datetime.fromisoformat(f"{on}T12:00").astimezone().timestamp()
    files = [day_file(scope, noon) for scope in visible(caller.scope)]
    texts = [(file, look(parts.remembering.workspace, file).text.strip()) for file in files]
    return "\n\n".join(f"{file}:\n{text}" for file, text in texts if text)


def _talks_of(parts: Parts, caller: Caller, on: str) -> str:
    recent = parts.store.log.recent(caller.scope, _RECENT)
    return "\n".join(f"{row.id} {row.title}" for row in recent if day(row.updated_at) == on)


def _is_date(text: str) -> bool:
    """Whether there is such a day, and clocks that count seconds know it wherever they are."""
    try:
        return _FIRST_YEAR <= date.fromisoformat(text).year < date.max.year
    except ValueError:
        return False


PROMPTS = (
    Prompt(
        "recall",
        "query",
        True,
        lambda: say("What do we know about something?", "Was wissen wir über etwas?"),
        lambda: say("What it is about", "Worum es geht"),
        _recall,
    ),
    Prompt(
        "summarise_day",
        "date",
        False,
        lambda: say("What happened on a day?", "Was geschah an einem Tag?"),
        lambda: say("A day like 2026-03-31; else today", "Ein Tag wie 2026-03-31; sonst heute"),
        _summarise_day,
    ),
)


def filled(parts: Parts, caller: Caller, name: str, given: Mapping[str, str] | None) -> str:
    """The text of a prompt, with what is known put into it."""
    caller.check_memory()
    found = next((one for one in PROMPTS if one.name == name), None)
    if found is None:
        names = ", ".join(one.name for one in PROMPTS)
        raise NotFound(f"There is no prompt {name[:60]!r}.", hint=f"There are: {names}.")
    value = (given or {}).get(found.argument, "")
    if found.required and not value.strip():
        raise BadRequest(f"`{found.argument}` is missing.", hint=found.asks(), param=found.argument)
    return clean(found.text(parts, caller, value))
