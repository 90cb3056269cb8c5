"""The tools, declared as typed functions: from each, its schema and the check of its arguments are made.

Names and docstrings are part of every conversation of a connected model, so they are short. The functions
have no bodies; what does the work is imported when a tool is called. Arguments are checked leniently: models
get types slightly wrong, so a value with a clear meaning is accepted, and anything else gets an error that
says how to call again.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import ErrorDetails

from holdfast.config import Settings
from holdfast.errors import BadRequest, Forbidden, NotFound
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


class _ShortSchema(GenerateJsonSchema):
    """Leaves out the titles, which only repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `work` is MODULE:FUNCTION in this package.

    `reads` means that it changes nothing, `destroys` that its effect cannot be undone.
    """

    name: str
    title: str
    about: str
    arguments: type[BaseModel]
    work: str
    reads: bool
    destroys: bool
    # The fields of the structured result that are always there, with their JSON types.
    returns: Mapping[str, str]

    def result_schema(self) -> dict[str, Any]:
        fields = {name: {"type": kind} for name, kind in self.returns.items()}
        return {"type": "object", "properties": fields, "required": list(fields)}

    def schema(self) -> dict[str, Any]:
        """Return the schema of the arguments as short as a model needs it.

        It is part of every conversation; limits and unknown arguments are explained when they matter.
        """
        schema = self._full_schema()
        fields = {
            name: {part: value for part, value in field.items() if part not in ("minimum", "maximum")}
            for name, field in schema["properties"].items()
        }
        return {
            **{
                name: value for name, value in schema.items() if name not in ("title", "additionalProperties")
            },
            "properties": fields,
        }

    def _full_schema(self) -> dict[str, Any]:
        return self.arguments.model_json_schema(schema_generator=_ShortSchema)

    def call(self, services: McpServices, caller: Caller, given: Values | None) -> ToolReply:
        """Check the arguments, of which null counts as not given, and do the work."""
        try:
            values = self.arguments(
                **{name: value for name, value in (given or {}).items() if value is not None}
            )
        except ValidationError as error:
            # An unknown name explains why another one is missing.
            raise self.explain(
                max(error.errors(), key=lambda row: row["type"] == "extra_forbidden")
            ) from None
        module, _, name = self.work.partition(":")
        work = getattr(import_module(f"holdfast.mcp.{module}"), name)
        reply: ToolReply = work(services, caller, *dict(values).values())
        return reply

    def explain(self, error: ErrorDetails) -> BadRequest:
        name = str(error["loc"][0])
        fields = self.arguments.model_fields.items()
        takes = [f"`{field}`" if about.is_required() else f"`{field}` (optional)" for field, about in fields]
        hint = f"It takes {', '.join(takes)}."
        match error["type"]:
            case "extra_forbidden":
                return BadRequest(f"There is no argument `{name[:50]}`.", hint=hint, param=name)
            case "missing":
                return BadRequest(f"`{name}` is missing.", hint=hint, param=name)
            case "value_error":
                wanted = str(error["ctx"]["error"])
            case _:
                wanted = describe_values(self._full_schema()["properties"][name])
        return BadRequest(f"`{name}` is no such thing.", hint=f"It must be {wanted}. Call again.", param=name)


def describe_values(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    least = schema.get("minimum")
    return (
        f"a whole number from {least:,} to {schema['maximum']:,}" if schema["type"] == "integer" else "text"
    )


TOOLS: dict[str, Tool] = {}


def tool(
    title: str, work: str, *, reads: bool = True, destroys: bool = False, **returns: str
) -> Callable[[Callable[..., None]], None]:
    """Register a declaration as a tool whose arguments are passed to `work` in their order.

    `returns` are the fields of its result and their JSON types.
    """

    def register(declaration: Callable[..., None]) -> None:
        name, about = declaration.__name__, " ".join((declaration.__doc__ or "").split())
        fields: dict[str, Any] = {
            field.name: (field.annotation, ... if field.default is Parameter.empty else field.default)
            for field in signature(declaration).parameters.values()
        }
        arguments = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        TOOLS[name] = Tool(name, title, about, arguments, work, reads, destroys, returns)

    return register


def find_tool(name: str) -> Tool:
    if name not in TOOLS:
        raise NotFound(f"There is no tool {name[:60]!r}.", hint=f"There are: {', '.join(TOOLS)}.")
    return TOOLS[name]


def check_text(text: str) -> str:
    if not text.strip():
        raise ValueError("some text, not an empty one")
    return text


Text = Annotated[str, AfterValidator(check_text)]
Query = Annotated[Text, Field(description="words or a question")]
Kind = Literal["fact", "decision", "preference", "note"]


@tool("Brief", "memory:tell_brief", project="string", text="string", tokens="integer")
def brief(window: Annotated[int, Field(ge=512, le=10_000_000)] = 32_768) -> None:
    """What is forbidden, failed, open and decided in this project. Call it when a session starts."""


@tool("Search memory", "memory:search_notes", hits="array", weak="boolean", degraded="array")
def memory_search(query: Query, limit: Annotated[int, Field(ge=1, le=20)] = 6) -> None:
    """Search notes and memories by words and meaning, before you ask the user what they may have told."""


@tool("Read a note", "memory:get_note", path="string", text="string")
def memory_get(
    path: Annotated[Text, Field(description="path or id of a hit, like default/MEMORY.md#7")],
    from_line: Annotated[int, Field(ge=1, le=1_000_000)] = 1,
    lines: Annotated[int, Field(ge=1, le=1_000)] = 120,
) -> None:
    """Read a note, or one memory."""


@tool("List memories", "memory:list_memories", memories="array", total="integer")
def memory_list(
    kind: Literal["", "fact", "decision", "preference", "note"] = "",
    scope: Literal["all", "user", "project"] = "all",
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0,
) -> None:
    """List memories, newest first."""


@tool(
    "Remember",
    "memory:write_memory",
    reads=False,
    action="string",
    memory="object",
    path="string",
    replaced="array",
)
def memory_write(
    text: Text,
    kind: Kind = "fact",
    scope: Annotated[
        Literal["auto", "user", "project"], Field(description="user: known in all projects")
    ] = "auto",
) -> None:
    """Remember one thing for all later conversations. One full sentence; no secrets."""


@tool("Forget", "memory:forget_memory", reads=False, destroys=True, forgotten="object")
def memory_forget(id: Annotated[Text, Field(description="id of a hit, like y_…")]) -> None:  # noqa: A002
    """Forget a memory for good, when the user asks for it."""


@tool("Profile", "memory:show_profile", profile="object")
def profile() -> None:
    """Who the user is, and how they want to be answered."""


@tool("Search conversations", "conversations:search_conversations", hits="array", weak="boolean")
def conversation_search(query: Query) -> None:
    """Search what was said in earlier conversations by words and meaning."""


@tool("Read the originals", "conversations:expand_originals", messages="array", total="integer")
def conversation_expand(
    id: Annotated[Text, Field(description="m_…, m_…..m_…, s_…, d_… or c_…")],  # noqa: A002
) -> None:
    """Read messages in full: one, a span, what a summary or decision stands for, or what a
    conversation's window left out.
    """


@tool("Report on a window", "conversations:report_window", conversation="string", tokens="integer")
def context_report(
    id: Annotated[str, Field(description="c_…; else the last used")] = "",  # noqa: A002
) -> None:
    """How full a conversation's window is, what was left out and why."""


@tool("Search research", "memory:search_findings", findings="array", total="integer")
def research_search(query: Query) -> None:
    """Search what was found on the web before, with sources and age. Fetches nothing."""
