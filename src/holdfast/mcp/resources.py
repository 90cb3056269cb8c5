"""Notes as MCP resources, and the prompts a person can choose in their host.

Resources are listed in pages and read from a line on. Prompts are in the person's language and contain what
is already in memory, so no tool call is needed; they name the tools that find more.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import parse_qs, quote, unquote

from holdfast.errors import BadRequest, NotFound
from holdfast.i18n import gettext as _
from holdfast.mcp.base import LONGEST_REPLY, Caller, McpServices, clean_text, excerpt_lines, shorten
from holdfast.mcp.tools import find_tool
from holdfast.memory.private import redact
from holdfast.memory.scopes import day, day_file, visible
from holdfast.memory.workspace import read_or_empty

SCHEME = "holdfast://notes/"
BRIEF = "holdfast://brief"
TEMPLATE = f"{SCHEME}{{+path}}{{?from_line}}"
MARKDOWN = "text/markdown"

_PAGE_SIZE = 100
# A person chooses to put a resource in front of a model, so it may be longer than a reply of a tool.
_LONGEST_RESOURCE = 60_000
# No note has a line number with more digits.
_MOST_LINE_DIGITS = 7


@dataclass(frozen=True, slots=True)
class NoteResource:
    uri: str
    name: str
    # In bytes; None if that is not known before it is read.
    size: int | None


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """A page of the list; `more` is the cursor of the next page."""

    resources: Sequence[NoteResource]
    more: str | None


# Its name is part of a log message ("listed failed"), so it stays.
def listed(services: McpServices, caller: Caller, cursor: str | None) -> ResourcePage:
    """Return a page of the notes by path.

    The cursor is the last path of the page before, so notes that are added meanwhile do not shift the pages.
    """
    from holdfast.mcp.memory import list_notes

    caller.check_memory()
    notes = sorted(list_notes(services, caller.scope), key=lambda entry: str(entry.path))
    after = [entry for entry in notes if cursor is None or str(entry.path) > cursor]
    # The brief is the first resource of all.
    first = [NoteResource(BRIEF, "brief", None)] if cursor is None else []
    room = _PAGE_SIZE - len(first)
    page = [NoteResource(note_address(str(note.path)), str(note.path), note.size) for note in after[:room]]
    return ResourcePage([*first, *page], page[-1].name if len(after) > room else None)


def read_resource(services: McpServices, caller: Caller, uri: str) -> str:
    from holdfast.mcp.memory import find_note

    caller.check_memory()
    if uri == BRIEF:
        return find_tool("brief").call(services, caller, {}).text
    path, first = parse_address(uri)
    note = find_note(services, caller.scope, path)
    part = excerpt_lines(note.text, first, _LONGEST_RESOURCE, caller.scope, _LONGEST_RESOURCE)
    if part["next"] is None and not part["cut"]:
        return str(part["text"])
    next_part = f"{note_address(path)}?from_line={part['next']}" if part["next"] else "the file itself"
    return f"{part['text']}\n\n[lines {first}-{part['last']} of {part['lines']}; the rest: {next_part}]"


def note_address(path: str) -> str:
    return SCHEME + quote(path, safe="/", errors="replace")


def parse_address(uri: str) -> tuple[str, int]:
    """Return the path and the first line of a resource address."""
    if not uri.startswith(SCHEME):
        raise NotFound(f"There is no resource {uri[:100]!r}.", hint=f"Notes are at {TEMPLATE}.")
    path, _, query = uri.removeprefix(SCHEME).partition("?")
    first = parse_qs(query).get("from_line", ["1"])[-1]
    if not (first.isdecimal() and len(first) <= _MOST_LINE_DIGITS and int(first) > 0):
        raise BadRequest(f"{first[:20]!r} is no line.", hint="from_line is a number, 1 for the first line.")
    return unquote(path), int(first)


_RECENT_CONVERSATIONS = 200
_FIRST_YEAR = 1971
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A prompt with one argument, which is optional unless `required`."""

    name: str
    argument: str
    required: bool
    about: Callable[[], str]
    asks: Callable[[], str]
    text: Callable[[McpServices, Caller, str], str]


def recall_text(services: McpServices, caller: Caller, query: str) -> str:
    known = find_tool("memory_search").call(services, caller, {"query": query}).text
    return _(
        "What do we know about: {query}\n\nThis is in memory:\n\n{known}\n\n"
        "Answer from it and name the source of each point. Say what is not known. If it is not enough, use "
        "memory_search with other words, memory_get and conversation_search."
    ).format(query=query, known=known)


def day_text(services: McpServices, caller: Caller, wanted: str) -> str:
    on = wanted.strip() or day(time.time())
    if not _DATE.fullmatch(on) or not is_date(on):
        raise BadRequest(f"{on[:40]!r} is no date.", hint="Give it like 2026-03-31.", param="date")
    known = shorten(notes_of_day(services, caller, on), LONGEST_REPLY) or _("(nothing)")
    talks = conversations_of_day(services, caller, on) or _("(none)")
    return _(
        "Summarise {on} in a few sentences: what was done, decided and left open.\n\n"
        "Notes of that day:\n\n{known}\n\nConversations last used that day:\n\n{talks}\n\n"
        "conversation_expand with an id shows what was said."
    ).format(on=on, known=known, talks=talks)


def notes_of_day(services: McpServices, caller: Caller, on: str) -> str:
    noon = datetime.fromisoformat(f"{on}T12:00").astimezone().timestamp()
    files = [day_file(scope, noon) for scope in visible(caller.scope)]
    texts = [(file, read_or_empty(services.remembering.workspace, file).text.strip()) for file in files]
    return "\n\n".join(f"{file}:\n{text}" for file, text in texts if text)


def conversations_of_day(services: McpServices, caller: Caller, on: str) -> str:
    recent = services.store.log.recent(caller.scope, _RECENT_CONVERSATIONS)
    return "\n".join(f"{row.id} {redact(row.title)}" for row in recent if day(row.updated_at) == on)


def is_date(text: str) -> bool:
    """Whether the day exists and has a timestamp in every time zone."""
    try:
        return _FIRST_YEAR <= date.fromisoformat(text).year < date.max.year
    except ValueError:
        return False


def brief_text(services: McpServices, caller: Caller, window: str) -> str:
    given = {"window": window} if window.strip() else {}
    known = find_tool("brief").call(services, caller, given).text
    return _("This is known from earlier sessions. Keep to its rules.\n\n{known}").format(known=known)


PROMPTS = (
    McpPrompt(
        "brief",
        "window",
        False,
        lambda: _("What must be known at the start of a session?"),
        lambda: _("The size of the context window in tokens"),
        brief_text,
    ),
    McpPrompt(
        "recall",
        "query",
        True,
        lambda: _("What do we know about something?"),
        lambda: _("What it is about"),
        recall_text,
    ),
    McpPrompt(
        "summarise_day",
        "date",
        False,
        lambda: _("What happened on a day?"),
        lambda: _("A day like 2026-03-31; else today"),
        day_text,
    ),
)


def fill_prompt(services: McpServices, caller: Caller, name: str, given: Mapping[str, str] | None) -> str:
    """Return the text of a prompt, with what is known about its argument."""
    caller.check_memory()
    prompt = next((prompt for prompt in PROMPTS if prompt.name == name), None)
    if prompt is None:
        names = ", ".join(prompt.name for prompt in PROMPTS)
        raise NotFound(f"There is no prompt {name[:60]!r}.", hint=f"There are: {names}.")
    value = (given or {}).get(prompt.argument, "")
    if prompt.required and not value.strip():
        raise BadRequest(f"`{prompt.argument}` is missing.", hint=prompt.asks(), param=prompt.argument)
    return clean_text(prompt.text(services, caller, value))
