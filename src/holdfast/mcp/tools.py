"""The tools there are: what each is called with, what a model is told of it, and where the function is.

A table. Every word of it stands in the window of whoever connects, so there are few. What a tool needs is
loaded when it is called. Knows no protocol.
"""

from dataclasses import dataclass
from importlib import import_module

from holdfast.errors import NotFound
from holdfast.mcp.arguments import Argument, Values, checked
from holdfast.mcp.parts import Caller, Parts
from holdfast.mcp.told import Told

_QUERY = Argument("query", "words or a question")


@dataclass(frozen=True, slots=True)
class Tool:
    """`work` is MODULE:FUNCTION. One that `reads` changes nothing; what one `destroys` does not come back."""

    name: str
    title: str
    about: str
    arguments: tuple[Argument, ...]
    work: str
    reads: bool = True
    destroys: bool = False

    def call(self, parts: Parts, caller: Caller, given: Values | None) -> Told:
        values = checked(self.arguments, given)
        module, _, name = self.work.partition(":")
        told: Told = getattr(import_module(f"holdfast.mcp.{module}"), name)(parts, caller, values)
        return told


TOOLS = (
    Tool(
        "memory_search",
        "Search memory",
        "Search the user's notes and memories. Use it before asking the user what they may have told before.",
        (_QUERY, Argument("limit", default=6, most=20)),
        "memory:search",
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
        "memory:get",
    ),
    Tool(
        "memory_write",
        "Remember",
        "Remember one thing for all later conversations. One full sentence; no secrets.",
        (
            Argument("text"),
            Argument("kind", default="fact", choices=("fact", "decision", "preference", "note")),
        ),
        "memory:write",
        reads=False,
    ),
    Tool(
        "memory_forget",
        "Forget",
        "Forget a memory for good, when the user asks for it.",
        (Argument("id", "id of a hit, like y_…"),),
        "memory:forget",
        reads=False,
        destroys=True,
    ),
    Tool(
        "conversation_search",
        "Search conversations",
        "Search what was said in all earlier conversations.",
        (_QUERY,),
        "conversations:search",
    ),
    Tool(
        "conversation_expand",
        "Read the originals",
        "Read messages in full: one message, a span, what a summary or decision stands for, or what a "
        "conversation's window left out.",
        (Argument("id", "m_…, m_…..m_…, s_…, d_… or c_…"),),
        "conversations:expand",
    ),
    Tool(
        "context_report",
        "Report on a window",
        "How full a conversation's context window is, what was left out and why.",
        (Argument("id", "c_…; else the last used", default=""),),
        "report:report",
    ),
    Tool(
        "research_search",
        "Search research",
        "Search what was found out on the web before, with sources and age. Fetches nothing.",
        (_QUERY,),
        "research:search",
    ),
)


def tool_named(name: str) -> Tool:
    for tool in TOOLS:
        if tool.name == name:
            return tool
    raise NotFound(
        f"There is no tool {name[:60]!r}.", hint=f"There are: {', '.join(tool.name for tool in TOOLS)}."
    )
