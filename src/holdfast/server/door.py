"""What the chat doors share: read a request, hand it to the engine, stream the answer in the client's shape.

Knows how bytes travel; what they mean in a dialect is in the `Shape` each door brings.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from holdfast.engine import Ask, Engine, Turn
from holdfast.errors import BadRequest, Forbidden, HoldfastError
from holdfast.messages import ChatRequest, Chunk, Scope, canonical
from holdfast.protocols.wire import expect
from holdfast.server.access import access_of
from holdfast.server.files import roots_for
from holdfast.server.streaming import Until, hung_up
from holdfast.upstreams.base import ForwardedResponse, handles_path

T = TypeVar("T")

Handler = Callable[[Request], Coroutine[Any, Any, Response]]

log = logging.getLogger("holdfast.server")

# What a client that waits may be sent without being told anything: white space, or a comment.
_SIGNS = {"application/x-ndjson": b" ", "text/event-stream": b": waiting\n\n"}
# Hop-by-hop headers and those that the response's own transport decides.
_NOT_FORWARDED = {"connection", "content-length", "keep-alive", "transfer-encoding", "date", "server"}


class Writer(Protocol):
    """Puts an answer into the words of one dialect; see `dialects`."""

    def chunk(self, chunk: Chunk) -> list[dict[str, Any]]: ...
    def end(self) -> list[dict[str, Any]]: ...
    def write_error(self, error: dict[str, Any]) -> list[dict[str, Any]]: ...
    def whole(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Shape:
    """How one protocol speaks over HTTP."""

    path: str
    read: Callable[[dict[str, Any]], ChatRequest]
    writer: Callable[[ChatRequest, Turn], Writer]
    error: Callable[[HoldfastError], tuple[int, dict[str, Any]]]
    media_type: str
    frame: Callable[[dict[str, Any]], bytes]
    closing: bytes = b""
    # A sign of life while nothing can be said yet; empty for the one that every client of the format skips.
    waiting: bytes = b""

    @property
    def sign(self) -> bytes:
        return self.waiting or _SIGNS[self.media_type]


class _Direct(APIRoute):
    """Nothing is prepared for the function behind it, and nothing made of what it gives."""

    def get_route_handler(self) -> Handler:
        return self.endpoint


def posted(router: APIRouter, path: str) -> Callable[[Handler], Handler]:
    """A route for what takes a request as it is, and gives a response."""

    def add(handler: Handler) -> Handler:
        router.add_api_route(path, handler, methods=["POST"], route_class_override=_Direct)
        return handler

    return add


def engine_of(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


async def body_of(request: Request) -> bytes:
    try:
        return await request.body()
    except ClientDisconnect:
        raise BadRequest("the client went away before its request was complete") from None


def scope_of(request: Request, project: str | None = None) -> Scope:
    """Whose request this is: the user by how they came in, the project as the key, the header or they say."""
    access = access_of(request)
    kind = request.headers.get("x-holdfast-kind", "private")
    if kind not in ("private", "group"):
        raise BadRequest(f"X-Holdfast-Kind is {kind!r}", hint="It is either private or group.")
    if project is None and (header := request.headers.get("x-holdfast-project")) is not None:
        # Headers are bytes; what people type into them is UTF-8.
        project = header.encode("latin-1").decode("utf-8", "replace")
    project = (access.project or Scope().project) if project is None else project.strip()
    if not project.strip(".") or len(project) > 100 or any(character in project for character in "/\\\0"):
        raise BadRequest(
            "X-Holdfast-Project is no usable name", hint="Up to 100 characters, without slashes."
        )
    if access.project not in ("", project):
        raise Forbidden(f"this key is for the project {access.project}", hint="Leave the project out.")
    return Scope(access.user, project, "group" if kind == "group" else "private")


def is_off(request: Request) -> bool:
    return access_of(request).off or request.headers.get("x-holdfast", "").strip().lower() == "off"


async def answer(request: Request, shape: Shape, body: bytes, fields: dict[str, Any]) -> Response:
    """One chat request, from its body to the response."""
    if is_off(request):
        return await pass_through(request, shape, body, fields)
    chat = shape.read(fields)
    turn = await turn_of(request, chat)
    if turn.off:
        return await pass_through(request, shape, body, fields)
    return await respond(request, shape, chat, turn)


async def converse(
    request: Request, shape: Shape, chat: ChatRequest, *, goes_on: str | None = None
) -> Response:
    """A turn of a conversation; `goes_on` names the one whose history the client leaves to us."""
    return await respond(request, shape, chat, await turn_of(request, chat, goes_on))


async def turn_of(request: Request, chat: ChatRequest, goes_on: str | None = None) -> Turn:
    ask = Ask(
        chat,
        scope_of(request),
        dict(request.headers),
        continues=goes_on,
        files=roots_for(request),
        memory=access_of(request).memory,
    )
    return await engine_of(request).turn(ask)


async def pass_through(request: Request, shape: Shape, body: bytes, fields: dict[str, Any]) -> Response:
    """Switched off: the model server's own answer to the client's own bytes, nothing kept."""
    engine, user = engine_of(request), access_of(request).user
    provider = await engine.upstreams.route(expect(fields.get("model", ""), str, "model"))
    if not handles_path(provider, shape.path):
        # This model server does not speak the client's dialect: translated, but neither changed nor kept.
        chat = shape.read(fields)
        return await respond(request, shape, chat, Turn(chat.model, engine.passed(chat, user, provider)))
    with ExitStack() as held:
        place = held.enter_context(engine.serving(provider, user))
        if not place.served:
            await unless_gone(request, place.turn())
        passed = provider.forward("POST", shape.path, content_type_of(request), body)
        return forwarded(await unless_gone(request, passed), held.pop_all().close)


async def respond(request: Request, shape: Shape, chat: ChatRequest, turn: Turn) -> Response:
    """Waits for the answer, or of a stream for its first piece: so an error still has a status of its own.

    Who has waited long for that piece gets a stream that has only begun, and from then on signs of life.
    """
    writer = shape.writer(chat, turn)
    chunks = turn.chunks
    if not chat.stream:
        try:
            whole = await unless_gone(request, _whole(chunks, writer))
        except BaseException:
            await chunks.aclose()
            raise
        return JSONResponse(whole, headers=_told(turn))
    first: asyncio.Future[Chunk | None] = asyncio.ensure_future(anext(chunks, None))
    pause: float = request.app.state.heartbeat
    try:
        await _done_or_gone(request, first, pause or None)
        if first.done():
            first.result()
    except BaseException:
        first.cancel()
        await asyncio.wait({first})
        await chunks.aclose()
        raise
    stream = _streamed(first, chunks, writer, shape, pause)
    return Until(stream, first.cancel, media_type=shape.media_type, headers=_told(turn))


def _told(turn: Turn) -> dict[str, str]:
    """What every answer says about the window it was made from."""
    report = turn.facts.report
    told = {"X-Holdfast-Conversation": turn.conversation} if turn.conversation else {}
    if report:
        told |= {
            "X-Holdfast-Tokens": str(report["tokens"]),
            "X-Holdfast-Window": str(report["window"]),
            "X-Holdfast-Level": str(report["level"]),
            "X-Holdfast-Prefix": "kept" if report["prefix"]["kept"] else report["prefix"]["cause"],
        }
    return told


async def _whole(chunks: AsyncGenerator[Chunk, None], writer: Writer) -> dict[str, Any]:
    async with aclosing(chunks):
        async for chunk in chunks:
            writer.chunk(chunk)
    writer.end()
    return writer.whole()


async def _streamed(
    first: asyncio.Future[Chunk | None],
    chunks: AsyncGenerator[Chunk, None],
    writer: Writer,
    shape: Shape,
    pause: float,
) -> AsyncGenerator[bytes, None]:
    """The answer as it comes. Once bytes are out, trouble can only be told in the stream itself."""
    try:
        while not first.done():
            yield shape.sign
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
        yield _told_in_stream(error, writer, shape)
    except Exception as error:
        log.exception("an answer failed in mid-stream")
        internal = HoldfastError(f"internal error: {type(error).__name__}")
        yield _told_in_stream(internal, writer, shape)


def _told_in_stream(error: HoldfastError, writer: Writer, shape: Shape) -> bytes:
    return b"".join(shape.frame(payload) for payload in writer.write_error(shape.error(error)[1]))


async def unless_gone(request: Request, work: Awaitable[T]) -> T:
    """The result of `work`, given up as soon as the client hangs up: nobody computes for an empty chair."""
    task = asyncio.ensure_future(work)
    try:
        await _done_or_gone(request, task)
        return await task
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _done_or_gone(request: Request, task: asyncio.Future[T], patience: float | None = None) -> None:
    """Waits until `task` is done, or for so long; an error if the client hangs up meanwhile."""
    gone = asyncio.ensure_future(hung_up(request.receive))
    either: set[asyncio.Future[Any]] = {task, gone}
    try:
        await asyncio.wait(either, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        if gone.done() and not task.done():
            raise BadRequest("the client went away before the answer")
    finally:
        gone.cancel()
        await asyncio.wait({gone})


def forwarded(answer: ForwardedResponse, over: Callable[[], object] = lambda: None) -> Response:
    """A model server's answer, passed on byte for byte; `over` is called when it is through."""
    headers = {name: value for name, value in answer.headers if name.lower() not in _NOT_FORWARDED}
    background = BackgroundTask(answer.close)
    return Until(answer.stream, over, status_code=answer.status, headers=headers, background=background)


def content_type_of(request: Request) -> dict[str, str]:
    return {"content-type": request.headers.get("content-type", "application/json")}


def ndjson_frame(payload: dict[str, Any]) -> bytes:
    return canonical(payload).encode() + b"\n"


def sse_frame(payload: dict[str, Any]) -> bytes:
    return b"data: " + canonical(payload).encode() + b"\n\n"


def event_frame(payload: dict[str, Any]) -> bytes:
    """An event that is called by its type."""
    return f"event: {payload['type']}\n".encode() + sse_frame(payload)
