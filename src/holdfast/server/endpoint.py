"""What the endpoints share: reading a request, running a turn, streaming the answer, and errors by protocol.

How a protocol is read and written is in the `ChatProtocol` that each endpoint passes in.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Send
from starlette.types import Scope as AsgiScope

from holdfast import errors
from holdfast.conversations.hints import read_external_id
from holdfast.errors import BadRequest, Forbidden, HoldfastError, TooLarge
from holdfast.i18n import lazy
from holdfast.messages import BoundScope, ChatRequest, Chunk, Scope, canonical
from holdfast.projects import SessionProjects, find_working_folder
from holdfast.protocols.wire import ClientPayload, expect
from holdfast.server.files import roots_for
from holdfast.server.guard import access_of
from holdfast.turn import Ask, Turn, TurnEngine
from holdfast.upstreams.base import ForwardedResponse, handles_path

# The first class that matches decides.
_STATUS: tuple[tuple[type[HoldfastError], int], ...] = (
    (errors.TooLarge, 413),
    (errors.Unauthorized, 401),
    (errors.Forbidden, 403),
    (errors.TooMany, 429),
    (errors.BadRequest, 400),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.Overflow, 400),
    (errors.Unreachable, 503),
    (errors.Stopped, 503),
    (errors.CutOff, 502),
    (errors.ProviderError, 502),
    (errors.FetchFailed, 502),
    (errors.StoreError, 503),
)
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    429: "rate_limit_error",
}

_ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def status_of(error: HoldfastError) -> int:
    if isinstance(error, errors.KeyRefused):
        # Our key, not the client's: with the status of the upstream a client would ask its user to sign in.
        return 502
    if isinstance(error, errors.UpstreamError):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def passed_on(error: HoldfastError) -> Mapping[str, Any]:
    """Return the body of an upstream's error, for a client of the same protocol; empty for other errors."""
    if isinstance(error, errors.UpstreamError) and not isinstance(error, errors.KeyRefused):
        return error.body or {}
    return {}


def ollama_error(error: HoldfastError) -> tuple[int, dict[str, Any]]:
    if isinstance((body := passed_on(error)).get("error"), str):
        return status_of(error), dict(body)
    if isinstance(error, errors.ModelMissing):
        # Clients look for these words to offer pulling the model.
        missing = HoldfastError(f'model "{error.model}" not found, try pulling it first', hint=error.hint)
        return 404, {"error": str(missing)}
    code = {"code": "upstream_key"} if isinstance(error, errors.KeyRefused) else {}
    return status_of(error), {"error": str(error), **code}


def openai_error(error: HoldfastError) -> tuple[int, dict[str, Any]]:
    if isinstance((body := passed_on(error)).get("error"), dict):
        return status_of(error), dict(body)
    status = status_of(error)
    return status, {
        "error": {
            "message": str(error),
            "type": _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error"),
            "param": getattr(error, "param", None),
            "code": _code_of(error),
        }
    }


def anthropic_error(error: HoldfastError) -> tuple[int, dict[str, Any]]:
    """Return Anthropic's format; agents shorten their history when told that the prompt is too long."""
    status = status_of(error)
    message = f"prompt is too long: {error}" if isinstance(error, errors.Overflow) else str(error)
    kind = _ANTHROPIC_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    return status, {"type": "error", "error": {"type": kind, "message": message}}


def _code_of(error: HoldfastError) -> str | None:
    match error:
        case errors.Overflow():
            return "context_length_exceeded"
        case errors.ModelMissing():
            return "model_not_found"
        case errors.KeyRefused():
            return "upstream_key"
        case errors.Unauthorized():
            return "invalid_api_key"
        case errors.BadRequest():
            return error.code
        case _:
            return None


# Upper limit of pieces in the buffer: a source that never waits would hide that the client disconnected.
_MAX_READY = 64


class CleanupResponse(Response):
    """A streaming response that calls `over` when it ends, however it ends, even if it never began.

    Pieces that are ready at the same time are sent together. The stream stops when the client disconnects or
    stops reading.
    """

    def __init__(
        self,
        content: AsyncIterator[bytes],
        over: Callable[[], object],
        *,
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
        media_type: str | None = None,
        background: BackgroundTask | None = None,
    ) -> None:
        self.status_code = status_code
        self.media_type = media_type
        self.background = background
        self.init_headers(headers)
        self._content = content
        self._over = over
        self._begun = False
        self._ready: list[bytes] = []
        self._news, self._room = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        unread: float = scope["app"].state.unread

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(unread or None):
                await send(message)

        reading, gone = asyncio.create_task(self._read()), asyncio.create_task(wait_for_disconnect(receive))
        reading.add_done_callback(lambda _: self._news.set())
        gone.add_done_callback(lambda _: reading.cancel())
        try:
            await send_in_time(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            await self._send(reading, send_in_time)
            if not gone.done():
                reading.result()
        except TimeoutError:
            log.warning("a client that read nothing for %d seconds was given up", unread)
        finally:
            reading.cancel()
            gone.cancel()
            await asyncio.wait({reading, gone})
            # Frees what the generator holds at once, instead of at the next garbage collection.
            if isinstance(self._content, AsyncGenerator):
                await self._content.aclose()
            self._over()
        if self.background is not None:
            await self.background()

    async def _read(self) -> None:
        async for piece in self._content:
            self._ready.append(piece)
            self._news.set()
            if not self._begun:
                # The first piece is sent alone, without waiting for more.
                self._begun = True
                await asyncio.sleep(0)
            if len(self._ready) >= _MAX_READY:
                self._room.clear()
                await self._room.wait()

    async def _send(self, reading: "asyncio.Task[None]", send: Send) -> None:
        over = False
        while not over:
            await self._news.wait()
            self._news.clear()
            over = reading.done()
            whole = over and not reading.cancelled() and reading.exception() is None
            body = b"".join(self._ready)
            self._ready.clear()
            self._room.set()
            if body or whole:
                await send({"type": "http.response.body", "body": body, "more_body": not whole})


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


T = TypeVar("T")

Handler = Callable[[Request], Coroutine[Any, Any, Response]]

log = logging.getLogger("holdfast.server")

# Keepalives that clients skip: white space, or a comment.
_KEEPALIVES = {"application/x-ndjson": b" ", "text/event-stream": b": waiting\n\n"}
# Hop-by-hop headers, and those that our own transport sets.
_NOT_FORWARDED = {"connection", "content-length", "keep-alive", "transfer-encoding", "date", "server"}


class RequestBody(BaseModel):
    """The JSON body of a REST request: fields that nobody reads and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AnswerWriter(Protocol):
    """Writes an answer in one protocol; see `holdfast.protocols`."""

    def chunk(self, chunk: Chunk) -> Sequence[ClientPayload]: ...
    def end(self) -> Sequence[ClientPayload]: ...
    def write_error(self, error: dict[str, Any]) -> Sequence[ClientPayload]: ...
    def whole(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class ChatProtocol:
    """How one chat protocol is read, written and framed over HTTP."""

    path: str
    read: Callable[[dict[str, Any]], ChatRequest]
    writer: Callable[[ChatRequest, Turn], AnswerWriter]
    error: Callable[[HoldfastError], tuple[int, dict[str, Any]]]
    media_type: str
    frame: Callable[[ClientPayload], bytes]
    closing: bytes = b""
    # The keepalive while there is nothing to send yet; empty for the default of the media type.
    ping: bytes = b""

    @property
    def keepalive(self) -> bytes:
        return self.ping or _KEEPALIVES[self.media_type]


class _RawRoute(APIRoute):
    """A route whose function gets the request and returns the response without FastAPI's processing."""

    def get_route_handler(self) -> Handler:
        return self.endpoint


def post_route(router: APIRouter, path: str) -> Callable[[Handler], Handler]:
    """Add a POST route for a function that takes the request as it is and returns a response."""

    def add(handler: Handler) -> Handler:
        router.add_api_route(path, handler, methods=["POST"], route_class_override=_RawRoute)
        return handler

    return add


def engine_of(request: Request) -> TurnEngine:
    engine: TurnEngine = request.app.state.engine
    return engine


async def read_body(request: Request) -> bytes:
    try:
        return await request.body()
    except ClientDisconnect:
        raise BadRequest(lazy("the client went away before its request was complete")) from None


def scope_of(request: Request, project: str | None = None) -> Scope:
    """Return the scope of a request: the user as identified, the project from the key, header or argument."""
    access = access_of(request)
    kind = request.headers.get("x-holdfast-kind", "private")
    if kind not in ("private", "group"):
        raise BadRequest(
            lazy("X-Holdfast-Kind is {kind!r}", kind=kind), hint=lazy("It is either private or group.")
        )
    if project is None and (header := request.headers.get("x-holdfast-project")) is not None:
        # Headers are bytes; what people type into them is UTF-8.
        project = header.encode("latin-1").decode("utf-8", "replace")
    project = (access.project or Scope().project) if project is None else project.strip()
    if not project.strip(".") or len(project) > 100 or any(character in project for character in "/\\\0"):
        raise BadRequest(
            lazy("X-Holdfast-Project is no usable name"), hint=lazy("Up to 100 characters, without slashes.")
        )
    if access.project not in ("", project):
        raise Forbidden(
            lazy("this key is for the project {project}", project=access.project),
            hint=lazy("Leave the project out."),
        )
    shape = BoundScope if access.project not in ("", Scope().project) else Scope
    return shape(access.user, project, "group" if kind == "group" else "private")


def require_admin(request: Request) -> None:
    """Raise `Forbidden` unless the request comes from an administrator."""
    if not access_of(request).admin:
        raise Forbidden(lazy("only an administrator may do this"), hint=lazy("Use a key made with --admin."))


def require_memory(request: Request) -> None:
    """Raise `Forbidden` for a key without memory: what models were told may have memories in it."""
    if not access_of(request).memory:
        raise Forbidden(
            lazy("this key has no memory"), hint=lazy("Use one that was made without --memory-off.")
        )


def is_off(request: Request) -> bool:
    return access_of(request).off or request.headers.get("x-holdfast", "").strip().lower() == "off"


def names_project(request: Request) -> bool:
    """Whether the key or a header says which project a request belongs to."""
    return bool(access_of(request).project) or "x-holdfast-project" in request.headers


async def scope_of_chat(request: Request, chat: ChatRequest) -> Scope:
    """Return the scope of a chat: a project that nobody names is that of the folder an agent works in."""
    scope = scope_of(request)
    if names_project(request) or scope.kind == "group":
        return scope
    headers = dict(request.headers)
    folder, session = find_working_folder(chat, headers), read_external_id(headers, chat)[0]
    if folder is None and not session:
        return scope
    projects: SessionProjects = request.app.state.projects
    # The folder is looked for on the disk.
    return replace(scope, project=await asyncio.to_thread(projects.find, scope.user, session, folder))


async def scope_of_conversation(request: Request, conversation: str) -> Scope:
    """Return the scope of a request about a conversation: where nobody names a project, that in which the
    user has it, since agents' conversations are in the projects they worked in.
    """
    scope, store = scope_of(request), engine_of(request).store
    if names_project(request) or scope.kind == "group":
        return scope
    rows = await store.run(store.log.of_user, scope.user, [conversation])
    return next((row.scope for row in rows if row.scope.kind == scope.kind), scope)


async def answer_chat(request: Request, shape: ChatProtocol, body: bytes, fields: dict[str, Any]) -> Response:
    """Answer a chat request, from its body to the response."""
    if is_off(request):
        return await pass_through(request, shape, body, fields)
    chat = shape.read(fields)
    turn = await start_turn(request, chat, scope=await scope_of_chat(request, chat))
    if turn.off:
        return await pass_through(request, shape, body, fields)
    return await respond(request, shape, chat, turn)


async def continue_conversation(
    request: Request, shape: ChatProtocol, chat: ChatRequest, *, continues: str | None = None
) -> Response:
    """Answer a turn; `continues` names the conversation whose history the client leaves to us."""
    return await respond(request, shape, chat, await start_turn(request, chat, continues))


async def start_turn(
    request: Request, chat: ChatRequest, continues: str | None = None, scope: Scope | None = None
) -> Turn:
    limit = request.app.state.config.settings.max_messages
    if len(chat.messages) > limit:
        raise TooLarge(
            lazy(
                "the request has {number:,} messages, and at most {limit:,} are taken",
                number=len(chat.messages),
                limit=limit,
            ),
            hint=lazy("Leave the oldest out: what was sent before is known here. Or raise max_messages."),
        )
    ask = Ask(
        chat,
        scope or scope_of(request),
        dict(request.headers),
        continues=continues,
        files=roots_for(request),
        memory=access_of(request).memory,
    )
    return await engine_of(request).turn(ask)


async def pass_through(
    request: Request, shape: ChatProtocol, body: bytes, fields: dict[str, Any]
) -> Response:
    """Relay the client's own bytes to the model server and its answer back, recording nothing."""
    engine, user = engine_of(request), access_of(request).user
    provider = await engine.upstreams.route(expect(fields.get("model", ""), str, "model"))
    if not handles_path(provider, shape.path):
        # This model server does not speak the client's protocol: translate, but neither change nor record.
        chat = shape.read(fields)
        return await respond(
            request, shape, chat, Turn(chat.model, engine.relay_unrecorded(chat, user, provider))
        )
    with ExitStack() as held:
        place = held.enter_context(engine.enter_queue(provider, user))
        if not place.served:
            await unless_disconnected(request, place.wait())
        passed = provider.forward("POST", shape.path, content_type_of(request), body)
        return forward_response(await unless_disconnected(request, passed), held.pop_all().close)


async def respond(request: Request, shape: ChatProtocol, chat: ChatRequest, turn: Turn) -> Response:
    """Wait for the whole answer, or for the first piece of a stream, so that an error still gets its own
    status.

    If the first piece takes long, the stream is started with keepalives until it arrives.
    """
    writer = shape.writer(chat, turn)
    chunks = turn.chunks
    if not chat.stream:
        try:
            whole = await unless_disconnected(request, collect_answer(chunks, writer))
        except BaseException:
            await chunks.aclose()
            raise
        return JSONResponse(whole, headers=window_headers(turn))
    first: asyncio.Future[Chunk | None] = asyncio.ensure_future(anext(chunks, None))
    pause: float = request.app.state.heartbeat
    try:
        await wait_while_connected(request, first, pause or None)
        if first.done():
            first.result()
    except BaseException:
        first.cancel()
        await asyncio.wait({first})
        await chunks.aclose()
        raise
    stream = stream_answer(first, chunks, writer, shape, pause)
    return CleanupResponse(stream, first.cancel, media_type=shape.media_type, headers=window_headers(turn))


def window_headers(turn: Turn) -> dict[str, str]:
    """Return the headers that describe the window an answer was made from."""
    report = turn.report
    headers = {"X-Holdfast-Conversation": turn.conversation} if turn.conversation else {}
    if report:
        headers |= {
            "X-Holdfast-Tokens": str(report["tokens"]),
            "X-Holdfast-Window": str(report["window"]),
            "X-Holdfast-Level": str(report["level"]),
            "X-Holdfast-Prefix": "kept" if report["prefix"]["kept"] else report["prefix"]["cause"],
        }
    return headers


async def collect_answer(chunks: AsyncGenerator[Chunk, None], writer: AnswerWriter) -> dict[str, Any]:
    async with aclosing(chunks):
        async for chunk in chunks:
            writer.chunk(chunk)
    writer.end()
    return writer.whole()


async def stream_answer(
    first: asyncio.Future[Chunk | None],
    chunks: AsyncGenerator[Chunk, None],
    writer: AnswerWriter,
    shape: ChatProtocol,
    pause: float,
) -> AsyncGenerator[bytes, None]:
    """Yield the frames of an answer. Once bytes are out, errors can only be sent within the stream."""
    try:
        while not first.done():
            yield shape.keepalive
            await asyncio.wait({first}, timeout=pause)
        async with aclosing(chunks):
            if (begun := first.result()) is not None:
                for payload in writer.chunk(begun):
                    yield shape.frame(payload)
            async for chunk in chunks:
                for payload in writer.chunk(chunk):
                    yield shape.frame(payload)
        for payload in writer.end():
            yield shape.frame(payload)
        yield shape.closing
    except HoldfastError as error:
        log.warning("an answer was cut off: %s", error)
        yield error_frames(error, writer, shape)
    except Exception as error:
        log.exception("an answer failed in mid-stream")
        internal = HoldfastError(lazy("internal error: {name}", name=type(error).__name__))
        yield error_frames(internal, writer, shape)


def error_frames(error: HoldfastError, writer: AnswerWriter, shape: ChatProtocol) -> bytes:
    return b"".join(shape.frame(payload) for payload in writer.write_error(shape.error(error)[1]))


async def unless_disconnected(request: Request, work: Awaitable[T]) -> T:
    """Return the result of `work`, which is cancelled as soon as the client disconnects."""
    task = asyncio.ensure_future(work)
    try:
        await wait_while_connected(request, task)
        return await task
    finally:
        task.cancel()
        await asyncio.wait({task})


async def wait_while_connected(
    request: Request, task: asyncio.Future[T], patience: float | None = None
) -> None:
    """Wait until `task` is done or `patience` runs out; raise an error if the client disconnects first."""
    gone = asyncio.ensure_future(wait_for_disconnect(request.receive))
    either: set[asyncio.Future[Any]] = {task, gone}
    try:
        await asyncio.wait(either, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        if gone.done() and not task.done():
            raise BadRequest(lazy("the client went away before the answer"))
    finally:
        gone.cancel()
        await asyncio.wait({gone})


def forward_response(answer: ForwardedResponse, over: Callable[[], object] = lambda: None) -> Response:
    """Relay a model server's response byte for byte; `over` is called at its end."""
    headers = {name: value for name, value in answer.headers if name.lower() not in _NOT_FORWARDED}
    background = BackgroundTask(answer.close)
    # A refusal is of the key that Holdfast has; a client must not take it for one of its own.
    status = 502 if answer.status in (401, 403) else answer.status
    return CleanupResponse(answer.stream, over, status_code=status, headers=headers, background=background)


def content_type_of(request: Request) -> dict[str, str]:
    return {"content-type": request.headers.get("content-type", "application/json")}


def ndjson_frame(payload: ClientPayload) -> bytes:
    text = payload if isinstance(payload, str) else canonical(payload)
    return f"{text}\n".encode()


def sse_frame(payload: ClientPayload) -> bytes:
    text = payload if isinstance(payload, str) else canonical(payload)
    return f"data: {text}\n\n".encode()


def event_frame(payload: ClientPayload) -> bytes:
    """Frame a server-sent event that is named after its type."""
    assert not isinstance(payload, str)
    return f"event: {payload['type']}\n".encode() + sse_frame(payload)


# Degrees of thinking that Ollama does not know, with the nearest one that it does.
_NEAREST_EFFORT = {"minimal": "low", "xhigh": "high"}


async def adapt_thinking(engine: TurnEngine, chat: ChatRequest) -> ChatRequest:
    """Return the request without a thinking option that its model server would refuse.

    Ollama refuses thinking for models that cannot do it, and knows fewer degrees than clients do.
    """
    if not chat.think:
        return chat
    provider = await engine.upstreams.route(chat.model)
    if provider.dialect != "ollama":
        return chat
    known = (await provider.describe(chat.model)).capabilities
    if known and "thinking" not in known:
        return replace(chat, think=None)
    return replace(chat, think=_NEAREST_EFFORT.get(str(chat.think), chat.think))
