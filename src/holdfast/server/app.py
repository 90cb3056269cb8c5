"""The HTTP server: routes put together, the guard in front of them, and errors in each protocol's shape.

Knows nothing of what happens in a turn; `create_app` gets a ready engine.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast import __version__
from holdfast.config import Settings
from holdfast.engine import Engine
from holdfast.errors import BadRequest, HoldfastError, NotFound
from holdfast.server import chats, events, memories, models, notes, ollama, openai, profiles, tokens
from holdfast.server.errors import ollama_error, openai_error
from holdfast.server.guard import Guard, check_address
from holdfast.server.reindexing import Reindexing
from holdfast.server.welcome import welcome

log = logging.getLogger("holdfast.server")


def create_app(engine: Engine, settings: Settings) -> FastAPI:
    check_address(settings)
    reindexing = Reindexing(engine.events)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await engine.start()
        await _say_which_server(engine)
        yield
        await reindexing.close()
        await engine.close()

    app = FastAPI(
        title="Holdfast",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        # Nothing is reported to anyone, whatever the environment says.
        telemetry={"auto_configure": False, "tracing": False, "metrics": False, "logs": False},
    )
    app.state.engine = engine
    app.state.reindexing = reindexing
    app.add_middleware(Guarded, guard=Guard(settings))
    app.add_exception_handler(HoldfastError, _told)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected)
    for door in (ollama, openai, chats, profiles, memories, notes, models, tokens, events):
        app.include_router(door.router)
    app.add_api_route("/", _root, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/health", _health, methods=["GET"], tags=["Server"])
    return app


async def _say_which_server(engine: Engine) -> None:
    try:
        provider = await engine.upstreams.main()
        log.info("model server: %s at %s", provider.name, provider.location)
    except HoldfastError as error:
        log.warning("%s", error)


class Guarded:
    """Lets the guard look at the head of a request before anything else happens to it."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != "/health":
            try:
                self._guard.check(Headers(scope=scope))
            except HoldfastError as error:
                await _shaped(scope["path"], error)(scope, receive, send)
                return
            receive = self._counted(receive)
        await self._app(scope, receive, send)

    def _counted(self, receive: Receive) -> Receive:
        """A body is as large as it turns out to be, whatever its head claimed."""
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            self._guard.check_size(size)
            return message

        return counted


def _shaped(path: str, error: HoldfastError) -> JSONResponse:
    shape = openai_error if path.startswith("/v1/") else ollama_error
    status, body = shape(error)
    return JSONResponse(body, status)


async def _told(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HoldfastError)
    log.info("%s %s: %s", request.method, request.url.path, error)
    return _shaped(request.url.path, error)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(step) for step in first["loc"][1:])
    return _shaped(request.url.path, BadRequest(f"{where}: {first['msg']}", param=where))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return _shaped(request.url.path, NotFound(f"there is nothing at {request.url.path}"))
    refused = _shaped(request.url.path, BadRequest(f"{request.method} {request.url.path}: {error.detail}"))
    refused.status_code = error.status_code
    refused.headers.update(error.headers or {})
    return refused


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    internal = HoldfastError(f"internal error: {type(error).__name__}", hint="See the server's log.")
    return _shaped(request.url.path, internal)


async def _root(request: Request) -> Response:
    """Ollama clients look for Ollama's sentence here; people get a page."""
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(await welcome(request))
    return PlainTextResponse("Ollama is running")


async def _health(request: Request) -> dict[str, object]:
    """Alive, and which model server is in use; whether that one is well is its own affair."""
    engine: Engine = request.app.state.engine
    try:
        provider = await engine.upstreams.main()
        upstream = {"kind": provider.name, "location": provider.location}
    except HoldfastError as error:
        upstream = {"error": str(error)}
    return {"status": "ok", "version": __version__, "upstream": upstream}
