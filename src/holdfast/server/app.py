"""The HTTP application and the process that runs it.

`create_app` puts routes, middleware and error handlers around an engine; `run` serves it with uvicorn until
it is stopped, and starts it again with new settings on request.

Whoever holds a connection open has to send the head of a request soon, and of no more than 64 KB; of many
who do not, those who wait longest have to go. Otherwise strangers could use up every connection before they
are asked for a key.
"""

import asyncio
import logging
import math
import re
import resource
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import asdict

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from holdfast import __version__
from holdfast.config import Config, Settings
from holdfast.errors import (
    BadRequest,
    ConfigError,
    HoldfastError,
    NotFound,
    StoreError,
    TooMany,
    Unauthorized,
    UpstreamError,
    explain_os_error,
)
from holdfast.files.documents import stop_readers
from holdfast.i18n import in_language, lazy
from holdfast.memory.folder import build_workspace
from holdfast.messages import Scope
from holdfast.projects import SessionProjects
from holdfast.server import (
    anthropic,
    chat_edits,
    chat_options,
    chats,
    credentials,
    embeddings,
    files,
    mcp,
    memories,
    metrics,
    models,
    ollama,
    openai,
    profiles,
    research,
    system,
    turns,
)
from holdfast.server import settings as settings_routes
from holdfast.server.detached import DetachedTurns
from holdfast.server.embeddings import EmbeddedEncoder
from holdfast.server.endpoint import anthropic_error, ollama_error, openai_error
from holdfast.server.files import roots_in
from holdfast.server.guard import (
    ANONYMOUS,
    Access,
    RequestGuard,
    access_of,
    check_address,
    is_loopback,
    network_of,
)
from holdfast.server.memories import ReindexJob
from holdfast.server.pages import site
from holdfast.store import open_store
from holdfast.store.sqlite_file import check_intact
from holdfast.transfer.staging import DataFolder
from holdfast.turn import TurnEngine
from holdfast.wiring import build_engine

log = logging.getLogger("holdfast.server")

# Response headers that pages of other origins may read.
_EXPOSED_HEADERS = (
    "ETag",
    "Retry-After",
    "X-Holdfast-Conversation",
    "X-Holdfast-Level",
    "X-Holdfast-Prefix",
    "X-Holdfast-Tokens",
    "X-Holdfast-Window",
)

# Paths are matched in this order: the busiest routes first, and fixed paths before those with a parameter.
_ROUTERS = (
    ollama.router,
    openai.router,
    embeddings.router,
    models.upstreams_router,
    anthropic.router,
    turns.router,
    chat_options.router,
    chat_options.presets_router,
    chat_edits.router,
    chats.router,
    chat_options.prompts_router,
    profiles.router,
    memories.router,
    memories.notes_router,
    research.router,
    files.router,
    models.router,
    models.tokens_router,
    metrics.events_router,
    metrics.jobs_router,
    metrics.statistics_router,
    metrics.router,
    credentials.keys_router,
    credentials.login_router,
    credentials.password_router,
    profiles.company_router,
    settings_routes.router,
    system.router,
    site.router,
)
# Paths of Ollama's protocol; the others of this form are our own.
_OLLAMA_PATHS = {
    route.path
    for router in (ollama.router, embeddings.router)
    for route in router.routes
    if isinstance(route, APIRoute)
}


def create_app(engine: TurnEngine, settings: Settings, config: Config | None = None) -> FastAPI:
    """Build the application for a ready engine.

    `config` records where each setting came from; without it, all of them count as given by the caller.
    """
    guard = RequestGuard(settings, engine.store, engine.events)
    reindexing = ReindexJob(engine.events)
    chosen = engine.remembering.embedder if engine.remembering else None
    encoder = EmbeddedEncoder(chosen, settings.home / "logs" / "encoder.log")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await start_engine(app, engine)
        # In the background: a slow model server must not delay the start.
        announcement = asyncio.create_task(log_model_server(engine))
        yield
        announcement.cancel()
        await app.state.turns.close()
        await reindexing.close()
        await encoder.close()
        await engine.close()

    app = FastAPI(
        title="Holdfast",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        # No telemetry, whatever the environment variables say.
        telemetry={"auto_configure": False, "tracing": False, "metrics": False, "logs": False},
    )
    app.state.engine = engine
    app.state.heartbeat = settings.heartbeat
    app.state.unread = settings.unread
    app.state.reindexing = reindexing
    app.state.turns = DetachedTurns()
    app.state.projects = SessionProjects()
    app.state.encoder = encoder
    app.state.guard = guard
    app.state.config = config or Config.of(settings)
    # Set by `run`: how to restart, and the addresses that the server listens on.
    app.state.restart, app.state.listening, app.state.started = None, (), time.time()
    app.state.file_roots = roots_in(settings)
    app.state.metrics = metrics.create_metrics(engine)
    add_middleware(app, guard)
    app.add_exception_handler(HoldfastError, handle_holdfast_error)
    app.add_exception_handler(RequestValidationError, handle_validation_error)
    app.add_exception_handler(HTTPException, handle_http_error)
    app.add_exception_handler(Exception, handle_unexpected_error)
    # It has a lifespan of its own. For the others `include_router` would build every route anew for this app,
    # a tenth of a second of the first request, though there is nothing to add to them.
    app.include_router(mcp.router)
    for router in _ROUTERS:
        app.router.routes.extend(router.routes)
    app.add_api_route("/", show_root, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/health", show_health, methods=["GET"], tags=["Server"])
    return app


def add_middleware(app: FastAPI, guard: RequestGuard) -> None:
    """Add what every request passes through, from the inside out."""
    app.add_middleware(GuardMiddleware, guard=guard)
    if guard.origins.pages:
        # Outside of the guard: preflight requests of browsers carry no key.
        app.add_middleware(
            CORSMiddleware,
            allow_origin_regex=guard.origins.pages,
            allow_methods=("*",),
            allow_headers=("*",),
            allow_private_network=True,
            expose_headers=_EXPOSED_HEADERS,
        )
    # Outermost, so that refused requests are counted too.
    app.add_middleware(metrics.MetricsMiddleware, metrics=app.state.metrics)


# How often the credentials of a response that is still being sent are checked again.
_RECHECK_SECONDS = 5.0


async def log_model_server(engine: TurnEngine) -> None:
    try:
        provider = await engine.upstreams.main()
        log.info("model server: %s at %s", provider.name, provider.location)
    except HoldfastError as error:
        log.warning("%s", error)


class GuardMiddleware:
    """Has the guard check the headers of a request first, and its size while the body arrives."""

    def __init__(self, app: ASGIApp, guard: RequestGuard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path: str = scope["path"]
            try:
                access = await self._guard.admit(HTTPConnection(scope))
                length = Headers(scope=scope).get("content-length", "")
                if length.isdigit():
                    self._guard.check_size(path, int(length), access)
            except HoldfastError as error:
                await refuse(Request(scope), error)(scope, receive, protect_answer(send))
                return
            send = protect_answer(send)
            scope.setdefault("state", {})["access"] = access
            receive = self._limit_body(path, receive, access)
            if access.how in ("key", "session"):
                await self._serve_while_admitted(access, scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _serve_while_admitted(
        self, access: Access, scope: AsgiScope, receive: Receive, send: Send
    ) -> None:
        """Run the application, and cut its response off when the credentials are withdrawn meanwhile."""
        started = False

        async def send_on(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        limit, watches = asyncio.timeout(None), list[asyncio.Task[None]]()

        def begin_watch() -> None:
            # Most responses are over before this is needed.
            caller = HTTPConnection(scope)
            watches.append(asyncio.create_task(self._watch_credentials(caller, access, limit)))

        try:
            async with limit:
                timer = asyncio.get_running_loop().call_later(_RECHECK_SECONDS, begin_watch)
                try:
                    await self._app(scope, receive, send_on)
                finally:
                    timer.cancel()
                    for watch in watches:
                        watch.cancel()
        except TimeoutError:
            if not limit.expired():
                raise
            log.info("%s %s: the credentials were withdrawn", scope["method"], scope["path"])
            if not started:
                error = Unauthorized(
                    lazy("this key or session has ended"), hint=lazy("Sign in, or use another key.")
                )
                await protocol_error(Request(scope), error)(scope, receive, send)

    async def _watch_credentials(
        self, caller: HTTPConnection, access: Access, limit: asyncio.Timeout
    ) -> None:
        while await self._guard.still_admits(caller, access):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(_RECHECK_SECONDS)
        limit.reschedule(asyncio.get_running_loop().time())

    def _limit_body(self, path: str, receive: Receive, access: Access) -> Receive:
        """Return a `receive` that checks the body's size as it arrives, whatever Content-Length claimed."""
        size = 0

        async def receive_limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            self._guard.check_size(path, size, access)
            return message

        return receive_limited


def protect_answer(send: Send) -> Send:
    """Return a `send` that tells browsers to take answers as what they are, and to keep none of them."""

    async def send_protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return send_protected


def refuse(request: Request, error: HoldfastError) -> Response:
    """Answer a refused request: browsers are redirected to the login page, programs get an error."""
    if isinstance(error, Unauthorized) and request.method == "GET" and site.wants_page(request.headers):
        return site.redirect_to_login(request)
    return protocol_error(request, error)


def protocol_error(request: Request, error: HoldfastError) -> JSONResponse:
    """Return the error in the format of the protocol that the path belongs to.

    Clients of a protocol expect English; on our own paths it is in the language of the browser.
    """
    path = request.url.path
    if path == anthropic.PATH or path.startswith(f"{anthropic.PATH}/"):
        shape = anthropic_error
    else:
        shape = openai_error if path.startswith("/v1/") else ollama_error
    status, body = shape(error)
    if shape is ollama_error and path not in _OLLAMA_PATHS:
        body["error"] = in_language(body["error"], site.language_of(request))
    return JSONResponse(body, status, error_headers(error))


def error_headers(error: HoldfastError) -> dict[str, str]:
    if isinstance(error, TooMany | UpstreamError) and error.retry_after is not None:
        return {"Retry-After": str(math.ceil(error.retry_after))}
    return {"WWW-Authenticate": "Bearer"} if isinstance(error, Unauthorized) else {}


async def handle_holdfast_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HoldfastError)
    log.info("%s %s: %s", request.method, request.url.path, error)
    return protocol_error(request, error)


async def handle_validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(step) for step in first["loc"][1:])
    return protocol_error(request, BadRequest(f"{where}: {first['msg']}", param=where))


async def handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and request.method == "GET" and site.wants_page(request.headers):
        return await site.render_page(request, "missing", 404)
    if error.status_code == 404:
        return protocol_error(request, NotFound(lazy("there is nothing at {path}", path=request.url.path)))
    refused = protocol_error(
        request,
        BadRequest(f"{request.method} {request.url.path}: {error.detail}"),
    )
    refused.status_code = error.status_code
    refused.headers.update(error.headers or {})
    return refused


async def handle_unexpected_error(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    internal = HoldfastError(
        lazy("internal error: {name}", name=type(error).__name__), hint=lazy("See the server's log.")
    )
    return protocol_error(request, internal)


async def start_engine(app: FastAPI, engine: TurnEngine) -> None:
    """Start the engine. uvicorn ends the process without a word where that fails: `serve_once` says why."""
    try:
        await engine.start()
    except Exception as error:
        app.state.start_error = error
        raise


async def show_root(request: Request) -> Response:
    """Answer with the sentence that Ollama clients expect here, or with a page for browsers."""
    if site.wants_page(request.headers):
        store = request.app.state.engine.store
        first_run = access_of(request).admin and await store.run(system.is_setup_needed, store)
        return await site.render_page(request, "chat", conversation="", first_run=first_run)
    return PlainTextResponse("Ollama is running")


async def show_health(request: Request) -> dict[str, object]:
    """Say that the server is alive, and which model server is in use; that one is not asked whether it is
    well.
    """
    engine: TurnEngine = request.app.state.engine
    health: dict[str, object] = {"status": "ok", "name": "holdfast", "version": __version__}
    if access_of(request) is ANONYMOUS:
        return health
    try:
        provider = await engine.upstreams.main()
        health["upstream"] = {"kind": provider.name, "location": provider.location}
    except HoldfastError as error:
        health["upstream"] = {"error": in_language(str(error), site.language_of(request))}
    if access_of(request).admin:
        health["upstreams"] = [asdict(state) for state in engine.upstreams.states()]
        health["warnings"] = request.app.state.guard.warnings
    return health


# A larger database is looked through only if it was not closed, and by `holdfast doctor`.
_MAX_CHECKED_AT_START = 200_000_000
# Seconds that running answers get to finish when the server is stopped.
SHUTDOWN_SECONDS = 5


def run(load: Callable[[], Config], ready: Callable[[str], None], beside: str | None = None) -> None:
    """Serve until interrupted; `beside` is a second address to listen on.

    `ready` is called with the first address once clients can connect. A restart loads the settings anew; if
    the server cannot run with them, it goes on with the previous ones.
    """
    config, before = load(), None
    while True:
        try:
            again = serve_once(config, ready, beside)
        except HoldfastError as error:
            if before is None:
                raise
            log.warning("%s The server goes on with the settings it had.", error)
            config, before = before, None
            continue
        if not again:
            return
        config, before = reload_config(load, config), config


def reload_config(load: Callable[[], Config], config: Config) -> Config:
    try:
        return load()
    except ConfigError as error:
        log.warning("%s The server goes on with the settings it had.", error)
        return config


def serve_once(config: Config, ready: Callable[[str], None], beside: str | None) -> bool:
    """Serve until told to stop; return whether a restart was asked for."""
    settings = config.settings
    check_data(settings)
    if not is_loopback(settings.host):
        check_exposed_address(settings)
    with ExitStack() as stack:
        first = stack.enter_context(listen(settings.host, settings.port))
        listeners = [first]
        if beside is not None:
            listeners.append(stack.enter_context(listen(beside, first.getsockname()[1])))
        configure_logging(settings)
        engine = build_engine(settings)
        app = create_app(engine, settings, config)
        allow_many_files()
        how = configure_server(app, timeout_graceful_shutdown=SHUTDOWN_SECONDS)
        server = _Server(how, ready, engine.prepare_stop)
        app.state.restart, app.state.start_error = server.restart, None
        app.state.listening = [listener.getsockname()[:2] for listener in listeners]
        try:
            server.run(sockets=listeners)
        except SystemExit:
            raise app.state.start_error or StoreError(lazy("The server could not start.")) from None
        return server.again


def check_data(settings: Settings) -> None:
    """Refuse a database that is damaged, and warn of one that is not there although there are notes."""
    from holdfast.transfer.salvage import describe_missing

    places = DataFolder(settings.home, settings.store)
    database = places.database
    if database is not None and database.exists() and database.stat().st_size <= _MAX_CHECKED_AT_START:
        check_intact(database)
    try:
        if missing := describe_missing(places, build_workspace(settings)):
            log.warning("%s", missing)
    except StoreError as error:
        # Notes that cannot be reached are reported where they are used.
        log.warning("%s", error)


class LineFormatter(logging.Formatter):
    """Writes each message on a line of its own: what a client sent cannot begin another one."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        record.message = _CONTROL.sub(lambda match: repr(match[0])[1:-1], record.message)
        return super().formatMessage(record)


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def configure_logging(settings: Settings) -> None:
    logging.basicConfig(level=settings.log_level.upper())
    for handler in logging.getLogger().handlers:
        handler.setFormatter(LineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for chatty in ("alembic", "httpx", "watchfiles"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # Errors of requests are logged where they are handled; uvicorn would add a traceback for every answer
    # that is cut off by a shutdown.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)


def check_exposed_address(settings: Settings) -> None:
    """Check, before the port is opened, that nobody can connect without credentials."""
    with open_store(settings.store) as store:
        has_credentials = store.keys.any() or store.sessions.password(Scope().user) is not None
    check_address(settings, keys=has_credentials)


class _Server(uvicorn.Server):
    """A uvicorn server that reports when it is ready, and ends endless streams before it shuts down."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[str], None], ending: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self.again = False
        self._ready = ready
        self._ending = ending

    def restart(self) -> None:
        self.again = self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            self._ready(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Event streams never end by themselves, and slow documents may take long: both would use up the
        # time that running answers have to finish.
        self._ending()
        stop_readers()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio recognises TCP and switches off Nagle's delay of 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise ConfigError(
            lazy(
                "The server cannot listen on {host}:{port}: {why}.",
                host=host,
                port=port,
                why=explain_os_error(error),
            ),
            hint=lazy("Is Holdfast running already? Stop it, or choose another port with --port."),
        ) from None
    return listener


# Seconds for a head to arrive, and its largest size in bytes.
_HEAD_SECONDS, _MAX_HEAD = 15.0, 65_536
# With more connections of an address than this without a head, the oldest goes, once it had some seconds.
_MAX_WAITING, _GRACE = 100, 2.0
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

# Connections without a head, and since when, by the network of their client; oldest first.
_waiting: dict[str, dict["LimitedProtocol", float]] = {}


class LimitedProtocol(HttpToolsProtocol):
    """Reads requests as uvicorn does, with limits for their heads."""

    _network = ""
    _timer: asyncio.TimerHandle | None = None
    # Bytes of the head so far: as they arrived, and in headers that are complete.
    _received = _in_headers = 0
    _too_large = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._network = network_of(self.client[0]) if self.client else ""
        self._begin_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._timer is not None:
            self._received += len(data)
            if self._received > _MAX_HEAD:
                self._refuse_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._timer is None:
            self._begin_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._in_headers += len(name) + len(value)
        if self._in_headers > _MAX_HEAD:
            self._too_large = True
            raise ValueError("the head is too large")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._end_head()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        if self._too_large:
            self._refuse_head()
        else:
            super().send_400_response(msg)

    def _begin_head(self) -> None:
        self._received = self._in_headers = 0
        self._timer = self.loop.call_later(_HEAD_SECONDS, self._drop)
        waiting = _waiting.setdefault(self._network, {})
        waiting[self] = now = self.loop.time()
        if len(waiting) > _MAX_WAITING:
            oldest, since = next(iter(waiting.items()))
            if now - since >= _GRACE:
                oldest._drop()

    def _end_head(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting = _waiting.get(self._network, {})
        waiting.pop(self, None)
        if not waiting:
            _waiting.pop(self._network, None)

    def _refuse_head(self) -> None:
        self._end_head()
        if not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def _drop(self) -> None:
        self._end_head()
        self.transport.abort()


class PeerRecorder:
    """Puts the address that a connection really comes from into the state of its requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope.setdefault("state", {})["peer"] = scope["client"][0] if scope.get("client") else ""
        await self._app(scope, receive, send)


def configure_server(app: ASGIApp, **options: object) -> uvicorn.Config:
    """Return how an application is served: with the limits above, and behind a proxy if one says so."""
    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        **options,  # type: ignore[arg-type]
    )
    config.app = PeerRecorder(ProxyHeadersMiddleware(app, trusted_hosts=config.forwarded_allow_ips))  # type: ignore[arg-type]
    return config


def allow_many_files() -> None:
    """Let this process open as many files and connections as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):
            # Some systems name a limit that they do not grant.
            return
