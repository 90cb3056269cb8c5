"""The MCP server itself, on the official SDK: tools, resources and prompts in the protocol's shape.

The only module that knows the SDK. Everything is done in threads; trouble with a tool is told to the model in
a sentence, with the next step. It asks `parts` for what it works with, and `caller` whose request it is.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from holdfast import __version__
from holdfast.errors import HoldfastError, NotFound
from holdfast.i18n import say
from holdfast.mcp import prompts, resources
from holdfast.mcp.arguments import schema_of
from holdfast.mcp.parts import Caller, Parts
from holdfast.mcp.told import clean, cleaned
from holdfast.mcp.tools import TOOLS, Tool, tool_named

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]

log = logging.getLogger("holdfast.mcp")

INSTRUCTIONS = (
    "Holdfast remembers across conversations. Look with memory_search before you ask the user for something "
    "they may have told before; keep what will matter later with memory_write."
)


def build_server(parts: Callable[[], Parts], caller: Callable[[Any], Caller]) -> Server[Any]:
    """`parts` may take its time when it is called first; `caller` gets the HTTP request, if there is one."""
    door = _Door(parts, caller)
    made: Server[Any] = Server(
        "holdfast",
        version=__version__,
        title="Holdfast",
        instructions=INSTRUCTIONS,
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
        on_list_resources=door.list_resources,
        on_list_resource_templates=door.list_templates,
        on_read_resource=door.read_resource,
        on_list_prompts=door.list_prompts,
        on_get_prompt=door.get_prompt,
    )
    # Nothing is reported to anyone, whatever the environment says.
    made.middleware.clear()
    # It would tell of every request.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    return made


class _Door:
    """What the SDK calls."""

    def __init__(self, parts: Callable[[], Parts], caller: Callable[[Any], Caller]) -> None:
        self._parts = parts
        self._caller = caller

    async def list_tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[described(tool) for tool in TOOLS])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            tool = tool_named(params.name)
            told = await self._work(context, tool.call, params.arguments)
        except HoldfastError as error:
            return _failed(clean(str(error)))
        except Exception as error:
            log.exception("%s failed", params.name)
            return _failed(_unforeseen(error))
        return types.CallToolResult(content=[_text(clean(told.text))], structured_content=cleaned(told.data))

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        page = await self._answered(context, resources.listed, cursor)
        listed = [
            types.Resource(uri=one.uri, name=one.name, mime_type=resources.MARKDOWN, size=one.size)
            for one in page.resources
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=page.more)

    async def list_templates(self, _: Context, __: Any) -> types.ListResourceTemplatesResult:
        about = say("A note, from a line on", "Eine Notiz, ab einer Zeile")
        template = types.ResourceTemplate(
            uri_template=resources.TEMPLATE, name="note", description=about, mime_type=resources.MARKDOWN
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        text = await self._answered(context, resources.read, params.uri)
        content = types.TextResourceContents(uri=params.uri, mime_type=resources.MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(self, _: Context, __: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=one.name,
                    description=one.about(),
                    arguments=[
                        types.PromptArgument(name=one.argument, description=one.asks(), required=one.required)
                    ],
                )
                for one in prompts.PROMPTS
            ]
        )

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        text = await self._answered(context, prompts.filled, params.name, params.arguments)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=_text(text))])

    async def _answered(self, context: Context, work: Callable[..., T], *args: Any) -> T:
        """The same for what is no tool, where trouble is an error of the protocol."""
        try:
            return await self._work(context, work, *args)
        except HoldfastError as error:
            # The protocol has a number of its own for what is not there.
            code = types.INVALID_PARAMS if not isinstance(error, NotFound) else _MISSING
            raise MCPError(code, clean(str(error))) from error
        except Exception as error:
            log.exception("%s failed", work.__name__)
            raise MCPError(types.INTERNAL_ERROR, _unforeseen(error)) from error

    async def _work(self, context: Context, work: Callable[..., T], *args: Any) -> T:
        caller = self._caller(context.request)
        return await asyncio.to_thread(lambda: work(self._parts(), caller, *args))


_MISSING = -32002


def described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=schema_of(tool.arguments),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads,
            destructive_hint=tool.destroys,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def _unforeseen(error: Exception) -> str:
    """Whoever calls cannot mend it, and is not shown how it looks inside."""
    return f"internal error: {type(error).__name__}. See the log of Holdfast."


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=text)


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[_text(text)], is_error=True)
