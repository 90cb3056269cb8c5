"""MCP over streamable HTTP at `/mcp`, behind the same guard as all routes.

The MCP server is loaded by the first request. Every request stands for itself, with its own key and headers;
there are no sessions that somebody else could take over.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.config import Settings
from holdfast.errors import NotFound
from holdfast.server.endpoint import engine_of, is_off, scope_of
from holdfast.server.guard import access_of
from holdfast.turn import TurnEngine

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from holdfast.mcp.tools import Caller

PATH = "/mcp"


class _Service:
    """The MCP server of one app, running from its first request until it is closed."""

    def __init__(self) -> None:
        self._starting = asyncio.Lock()
        self._begun, self._closing = asyncio.Event(), asyncio.Event()
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None

    async def app(self, engine: TurnEngine, settings: Settings) -> ASGIApp:
        async with self._starting:
            if self._manager is None:
                self._manager = await asyncio.to_thread(build_manager, engine, settings)
                self._running = asyncio.create_task(self._run(self._manager))
        await self._begun.wait()
        return self._manager.handle_request

    async def close(self) -> None:
        self._closing.set()
        if self._running is not None:
            await self._running

    async def _run(self, manager: "StreamableHTTPSessionManager") -> None:
        """Run the manager in one task, since it must be closed by the task that opened it."""
        async with manager.run():
            self._begun.set()
            await self._closing.wait()


def build_manager(engine: TurnEngine, settings: Settings) -> "StreamableHTTPSessionManager":
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from holdfast.mcp.server import build_server
    from holdfast.mcp.tools import McpServices

    assert engine.remembering is not None
    assert engine.research is not None
    services = McpServices(engine.store, engine.remembering, engine.research, settings.citations)
    server = build_server(lambda: services, _caller)
    # The guard has checked Host, Origin and size already.
    return StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=settings.max_request_mb * 1_000_000
    )


def _caller(request: Request) -> "Caller":
    caller: Caller = request.state.caller
    return caller


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.mcp = service = _Service()
    yield
    await service.close()


router = APIRouter(lifespan=_lifespan)


async def serve_mcp(request: Request) -> Response:
    """Identify the caller, and hand the request to the MCP server."""
    from holdfast.mcp.tools import Caller

    settings: Settings = request.app.state.config.settings
    engine = engine_of(request)
    if not settings.mcp or engine.remembering is None or engine.research is None:
        raise NotFound("MCP is not offered here.", hint="Set mcp = true in the settings.")
    if request.method != "POST":
        # There are no unsolicited messages, and no sessions that could be ended.
        return Response(status_code=405, headers={"Allow": "POST"})
    memory = settings.memory and access_of(request).memory and not is_off(request)
    request.state.caller = Caller(scope_of(request), memory=memory)
    return _DelegatedResponse(await request.app.state.mcp.app(engine, settings))


class _DelegatedResponse(Response):
    """A response that another ASGI application gives."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


router.add_route(PATH, serve_mcp, methods=["GET", "POST", "DELETE"], include_in_schema=False)
