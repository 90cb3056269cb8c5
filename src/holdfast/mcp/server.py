"""The MCP server on the official SDK: tools, resources and prompts in the protocol's types.

Requests are handled in threads. An error in a tool is returned to the model as a sentence with the next step.
`serve_stdio` runs the server for a host that starts `holdfast mcp` and talks over standard input and output.
"""

import asyncio
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar
from urllib.parse import parse_qs, quote, unquote

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from holdfast import __version__
from holdfast.config import Settings
from holdfast.errors import BadRequest, HoldfastError, NotFound
from holdfast.i18n import gettext as _
from holdfast.mcp.tools import (
    LONGEST_REPLY,
    TOOLS,
    Caller,
    McpServices,
    clean_text,
    clean_value,
    excerpt_lines,
    find_tool,
    open_services,
    shorten,
)
from holdfast.memory.private import redact
from holdfast.memory.scopes import day, day_file, visible
from holdfast.memory.workspace import read_or_empty
from holdfast.messages import Scope

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


def list_notes(services: McpServices, caller: Caller, cursor: str | None) -> ResourcePage:
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


T = TypeVar("T")
Context = ServerRequestContext[Any, Any]

log = logging.getLogger("holdfast.mcp")

INSTRUCTIONS = (
    "Holdfast remembers across conversations and agents. Call brief when a session starts. Look with "
    "memory_search before you ask the user for something they may have told before; keep what will matter "
    "later with memory_write."
)


def build_server(services: Callable[[], McpServices], caller: Callable[[Any], Caller]) -> Server[Any]:
    """Return the server. `services` may block on its first call; `caller` gets the HTTP request or None."""
    handlers = _Handlers(services, caller)
    server: Server[Any] = Server(
        "holdfast",
        version=__version__,
        title="Holdfast",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    # The SDK's middleware would send telemetry if the environment is configured for it.
    server.middleware.clear()
    # At INFO it logs every request.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    return server


class _Handlers:
    """The handlers that the SDK calls."""

    def __init__(self, services: Callable[[], McpServices], caller: Callable[[Any], Caller]) -> None:
        self._services = services
        self._caller = caller

    async def list_tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    title=tool.title,
                    description=tool.about,
                    input_schema=tool.schema(),
                    output_schema=tool.result_schema(),
                    annotations=types.ToolAnnotations(
                        read_only_hint=tool.reads,
                        destructive_hint=tool.destroys,
                        idempotent_hint=True,
                        open_world_hint=False,
                    ),
                )
                for tool in TOOLS.values()
            ]
        )

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            tool = find_tool(params.name)
            reply = await self.run(context, tool.call, params.arguments)
        except HoldfastError as error:
            return error_result(clean_text(str(error)))
        except Exception as error:
            log.exception("%s failed", params.name)
            return error_result(internal_error(error))
        return types.CallToolResult(
            content=[text_content(clean_text(reply.text))], structured_content=clean_value(reply.data)
        )

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        page = await self.run_or_raise(context, list_notes, cursor)
        listed = [
            types.Resource(uri=resource.uri, name=resource.name, mime_type=MARKDOWN, size=resource.size)
            for resource in page.resources
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=page.more)

    async def list_templates(self, _unused: Context, __: Any) -> types.ListResourceTemplatesResult:
        about = _("A note, from a line on")
        template = types.ResourceTemplate(
            uri_template=TEMPLATE, name="note", description=about, mime_type=MARKDOWN
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        text = await self.run_or_raise(context, read_resource, params.uri)
        content = types.TextResourceContents(uri=params.uri, mime_type=MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(self, _: Context, __: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=prompt.name,
                    description=prompt.about(),
                    arguments=[
                        types.PromptArgument(
                            name=prompt.argument, description=prompt.asks(), required=prompt.required
                        )
                    ],
                )
                for prompt in PROMPTS
            ]
        )

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        text = await self.run_or_raise(context, fill_prompt, params.name, params.arguments)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text_content(text))])

    async def run_or_raise(self, context: Context, work: Callable[..., T], *args: Any) -> T:
        """Run `work` for a request that is not a tool call: its errors are errors of the protocol."""
        try:
            return await self.run(context, work, *args)
        except HoldfastError as error:
            # The protocol has its own code for a missing resource.
            code = types.INVALID_PARAMS if not isinstance(error, NotFound) else _NOT_FOUND
            raise MCPError(code, clean_text(str(error))) from error
        except Exception as error:
            log.exception("%s failed", work.__name__)
            raise MCPError(types.INTERNAL_ERROR, internal_error(error)) from error

    async def run(self, context: Context, work: Callable[..., T], *args: Any) -> T:
        caller = self._caller(context.request)
        return await asyncio.to_thread(lambda: work(self._services(), caller, *args))


_NOT_FOUND = -32002


def internal_error(error: Exception) -> str:
    """Describe an unexpected error without internals; the log has the details."""
    return f"internal error: {type(error).__name__}. See the log of Holdfast."


def text_content(text: str) -> types.TextContent:
    return types.TextContent(text=text)


def error_result(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[text_content(text)], is_error=True)


async def serve_stdio(settings: Settings, scope: Scope) -> None:
    """Serve on standard input and output until the host closes its end."""
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("alembic").setLevel(logging.WARNING)
    caller = Caller(scope, memory=settings.memory)
    with _LazyServices(settings) as services:
        server = build_server(services.get, lambda _: caller)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


class _LazyServices(ExitStack):
    """Opens the services on first use, so that the host gets its first response soon."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._lock = threading.Lock()
        self._services: McpServices | None = None

    def get(self) -> McpServices:
        with self._lock:
            if self._services is None:
                self._services = self.enter_context(open_services(self._settings))
            return self._services
