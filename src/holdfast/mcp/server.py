"""The MCP server on the official SDK: tools, resources and prompts in the protocol's types.

Requests are handled in threads. An error in a tool is returned to the model as a sentence with the next step.
`serve_stdio` runs the server for a host that starts `holdfast mcp` and talks over standard input and output.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from holdfast import __version__
from holdfast.config import Settings
from holdfast.errors import HoldfastError, NotFound
from holdfast.i18n import gettext as _
from holdfast.mcp import resources
from holdfast.mcp.base import Caller, McpServices, clean_text, clean_value, open_services
from holdfast.mcp.tools import TOOLS, Tool, find_tool
from holdfast.messages import Scope

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
        return types.ListToolsResult(tools=[describe_tool(tool) for tool in TOOLS.values()])

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
        page = await self.run_or_raise(context, resources.listed, cursor)
        listed = [
            types.Resource(
                uri=resource.uri, name=resource.name, mime_type=resources.MARKDOWN, size=resource.size
            )
            for resource in page.resources
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=page.more)

    async def list_templates(self, _unused: Context, __: Any) -> types.ListResourceTemplatesResult:
        about = _("A note, from a line on")
        template = types.ResourceTemplate(
            uri_template=resources.TEMPLATE, name="note", description=about, mime_type=resources.MARKDOWN
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        text = await self.run_or_raise(context, resources.read_resource, params.uri)
        content = types.TextResourceContents(uri=params.uri, mime_type=resources.MARKDOWN, text=text)
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
                for prompt in resources.PROMPTS
            ]
        )

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        text = await self.run_or_raise(context, resources.fill_prompt, params.name, params.arguments)
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


def describe_tool(tool: Tool) -> types.Tool:
    return types.Tool(
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
