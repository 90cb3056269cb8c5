"""The table of tools: name, description for the model, arguments, and the function that does the work.

The descriptions are part of every conversation of a connected model, so they are short. The module of a tool
is imported when the tool is called. Arguments are checked leniently: models get types slightly wrong, so a
value with a clear meaning is accepted, and anything else gets an error that says how to call again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from holdfast.errors import BadRequest, NotFound
from holdfast.mcp.base import Caller, McpServices, ToolReply, Values

# A longer string of digits is not a number anybody means, and slow to convert.
_DIGITS = 20


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool, optional if it has a `default`.

    `most` is the upper limit of a number; `choices` are the only values allowed, if there are any.
    """

    name: str
    about: str = ""
    default: str | int | None = None
    most: int = 1_000_000
    choices: tuple[str, ...] = ()

    @property
    def is_required(self) -> bool:
        return self.default is None

    @property
    def kind(self) -> Literal["string", "integer"]:
        return "integer" if isinstance(self.default, int) else "string"

    def schema(self) -> dict[str, Any]:
        # The schema is part of every conversation, so empty fields are left out.
        schema: dict[str, Any] = {"type": self.kind}
        if self.about:
            schema["description"] = self.about
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.default:
            schema["default"] = self.default
        return schema

    def read(self, value: Any) -> Any:
        if self.kind == "integer":
            return self.read_number(value)
        if not isinstance(value, str):
            raise self.wrong_value("text")
        if self.is_required and not value.strip():
            raise self.wrong_value("some text, not an empty one")
        if self.choices and value not in self.choices:
            raise self.wrong_value(f"one of {', '.join(self.choices)}")
        return value

    def read_number(self, value: Any) -> int:
        if isinstance(value, str) and value.strip().isdecimal() and len(value) <= _DIGITS:
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= self.most:
            raise self.wrong_value(f"a whole number from 1 to {self.most:,}")
        return value

    def wrong_value(self, wanted: str) -> BadRequest:
        return BadRequest(
            f"`{self.name}` is no such thing.", hint=f"It must be {wanted}. Call again.", param=self.name
        )


def build_schema(arguments: Sequence[Argument]) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {argument.name: argument.schema() for argument in arguments},
    }
    if required := [argument.name for argument in arguments if argument.is_required]:
        schema["required"] = required
    return schema


def check_arguments(arguments: Sequence[Argument], given: Values | None) -> dict[str, Any]:
    """Return a value for every argument, given or default; null counts as not given.

    Raises `BadRequest` for unknown, missing or wrong arguments.
    """
    known = {argument.name: argument for argument in arguments}
    values = {name: value for name, value in (given or {}).items() if value is not None}
    takes = f"It takes {', '.join(map(format_argument, arguments))}."
    for name in values:
        if name not in known:
            raise BadRequest(f"There is no argument `{name[:50]}`.", hint=takes, param=name)
    for argument in arguments:
        if argument.is_required and argument.name not in values:
            raise BadRequest(f"`{argument.name}` is missing.", hint=takes, param=argument.name)
    return {
        argument.name: argument.read(values[argument.name]) if argument.name in values else argument.default
        for argument in arguments
    }


def format_argument(argument: Argument) -> str:
    return f"`{argument.name}`" if argument.is_required else f"`{argument.name}` (optional)"


_QUERY = Argument("query", "words or a question")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `work` is MODULE:FUNCTION in this package.

    `reads` means that it changes nothing, `destroys` that its effect cannot be undone.
    """

    name: str
    title: str
    about: str
    arguments: tuple[Argument, ...]
    work: str
    reads: bool = True
    destroys: bool = False

    def call(self, services: McpServices, caller: Caller, given: Values | None) -> ToolReply:
        values = check_arguments(self.arguments, given)
        module, _, name = self.work.partition(":")
        reply: ToolReply = getattr(import_module(f"holdfast.mcp.{module}"), name)(services, caller, values)
        return reply


TOOLS = (
    Tool(
        "memory_search",
        "Search memory",
        "Search the user's notes and memories. Use it before asking the user what they may have told before.",
        (_QUERY, Argument("limit", default=6, most=20)),
        "memory:search_notes",
    ),
    Tool(
        "memory_get",
        "Read a note",
        "Read lines of a note that memory_search found.",
        (
            Argument("path", "path of a hit, like default/MEMORY.md"),
            Argument("from_line", default=1),
            Argument("lines", default=120, most=1_000),
        ),
        "memory:get_note",
    ),
    Tool(
        "memory_write",
        "Remember",
        "Remember one thing for all later conversations. One full sentence; no secrets.",
        (
            Argument("text"),
            Argument("kind", default="fact", choices=("fact", "decision", "preference", "note")),
        ),
        "memory:write_memory",
        reads=False,
    ),
    Tool(
        "memory_forget",
        "Forget",
        "Forget a memory for good, when the user asks for it.",
        (Argument("id", "id of a hit, like y_…"),),
        "memory:forget_memory",
        reads=False,
        destroys=True,
    ),
    Tool(
        "conversation_search",
        "Search conversations",
        "Search what was said in all earlier conversations.",
        (_QUERY,),
        "conversations:search_conversations",
    ),
    Tool(
        "conversation_expand",
        "Read the originals",
        "Read messages in full: one message, a span, what a summary or decision stands for, or what a "
        "conversation's window left out.",
        (Argument("id", "m_…, m_…..m_…, s_…, d_… or c_…"),),
        "conversations:expand_originals",
    ),
    Tool(
        "context_report",
        "Report on a window",
        "How full a conversation's context window is, what was left out and why.",
        (Argument("id", "c_…; else the last used", default=""),),
        "conversations:report_window",
    ),
    Tool(
        "research_search",
        "Search research",
        "Search what was found out on the web before, with sources and age. Fetches nothing.",
        (_QUERY,),
        "memory:search_findings",
    ),
)


def find_tool(name: str) -> Tool:
    for tool in TOOLS:
        if tool.name == name:
            return tool
    raise NotFound(
        f"There is no tool {name[:60]!r}.", hint=f"There are: {', '.join(tool.name for tool in TOOLS)}."
    )
