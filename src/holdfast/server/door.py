"""What the chat doors share: read a request, hand it to the engine, stream the answer in the client's shape.

Knows how bytes travel; what they mean in a dialect is in the `Shape` each door brings.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from holdfast.dialects.wire import expect
from holdfast.engine import Ask, Engine, Turn
from holdfast.errors import BadRequest, HoldfastError
from holdfast.messages import ChatRequest, Chunk, Scope, canonical
from holdfast.providers.base import Forwarded, understands

T = TypeVar("T")

log = logging.getLogger("holdfast.server")

# Hop-by-hop headers and those that the response's own transport decides.
_NOT_FORWARDED = {"connection", "content-length", "keep-alive", "transfer-encoding", "date", "server"}


class Writer(Protocol):
    """Puts an answer into the words of one dialect; see `dialects`."""

    def chunk(self, chunk: Chunk) -> list[dict[str, Any]]: ...
    def end(self) -> list[dict[str, Any]]: ...
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


def engine_of(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


async def body_of(request: Request) -> bytes:
    try:
        return await request.body()
    except ClientDisconnect:
        raise BadRequest("the client went away before its request was complete") from None


def scope_of(request: Request) -> Scope:
    kind = request.headers.get("x-holdfast-kind", "private")
    if kind not in ("private", "group"):
        raise BadRequest(f"X-Holdfast-Kind is {kind!r}", hint="It is either private or group.")
    # Headers are bytes; what people type into them is UTF-8.
    raw = request.headers.get("x-holdfast-project", "default").encode("latin-1")
    project = raw.decode("utf-8", "replace").strip()
    if not project.strip(".") or len(project) > 100 or any(character in project for character in "/\\\0"):
        raise BadRequest(
            "X-Holdfast-Project is no usable name", hint="Up to 100 characters, without slashes."
        )
    return Scope(project=project, kind="group" if kind == "group" else "private")


def is_off(request: Request) -> bool:
    return request.headers.get("x-holdfast", "").strip().lower() == "off"


async def answer(request: Request, shape: Shape, body: bytes, fields: dict[str, Any]) -> Response:
    """One chat request, from its body to the response."""
    if is_off(request):
        return await pass_through(request, shape, body, fields)
    return await converse(request, shape, shape.read(fields))


async def converse(
    request: Request, shape: Shape, chat: ChatRequest, *, goes_on: str | None = None
) -> Response:
    """A turn of a conversation; `goes_on` names the one whose history the client leaves to us."""
    ask = Ask(chat, scope_of(request), dict(request.headers), continues=goes_on)
    turn = await engine_of(request).turn(ask)
    return await respond(request, shape, chat, turn)


async def pass_through(request: Request, shape: Shape, body: bytes, fields: dict[str, Any]) -> Response:
    """Switched off: the model server's own answer to the client's own bytes, nothing kept."""
    engine = engine_of(request)
    provider = await engine.upstreams.route(expect(fields.get("model", ""), str, "model"))
    if understands(provider, shape.path):
        passed = provider.forward("POST", shape.path, _content_type(request), body)
        return forwarded(await _unless_gone(request, passed))
    # This model server does not speak the client's dialect: translated, but neither changed nor kept.
    chat = shape.read(fields)
    return await respond(request, shape, chat, Turn(chat.model, provider.chat(chat)))


async def respond(request: Request, shape: Shape, chat: ChatRequest, turn: Turn) -> Response:
    """Waits for the first piece of the answer, so that an error still has a status of its own."""
    writer = shape.writer(chat, turn)
    chunks = turn.chunks
    try:
        first = await _unless_gone(request, anext(chunks, None))
        if chat.stream:
            stream = _streamed(first, chunks, writer, shape)
            return StreamingResponse(stream, media_type=shape.media_type, headers=_told(turn))
        whole = await _unless_gone(request, _whole(first, chunks, writer))
        return JSONResponse(whole, headers=_told(turn))
    except BaseException:
        await chunks.aclose()
        raise


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


async def _whole(first: Chunk | None, chunks: AsyncGenerator[Chunk, None], writer: Writer) -> dict[str, Any]:
    if first is not None:
        writer.chunk(first)
    async with aclosing(chunks):
        async for chunk in chunks:
            writer.chunk(chunk)
    writer.end()
    return writer.whole()


async def _streamed(
    first: Chunk | None, chunks: AsyncGenerator[Chunk, None], writer: Writer, shape: Shape
) -> AsyncIterator[bytes]:
    """The answer as it comes. Once bytes are out, trouble can only be told in the stream itself."""
    try:
        async with aclosing(chunks):
            if first is not None:
                for payload in writer.chunk(first):
                    yield shape.frame(payload)
            async for chunk in chunks:
                for payload in writer.chunk(chunk):
                    yield shape.frame(payload)
        for payload in writer.end():
            yield shape.frame(payload)
        yield shape.closing
    except HoldfastError as error:
        log.warning("an answer was cut off: %s", error)
        yield shape.frame(shape.error(error)[1])
    except Exception as error:
        log.exception("an answer failed in mid-stream")
        yield shape.frame(shape.error(HoldfastError(f"internal error: {type(error).__name__}"))[1])


async def _unless_gone(request: Request, work: Awaitable[T]) -> T:
    """The result of `work`, given up as soon as the client hangs up: nobody computes for an empty chair."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise BadRequest("the client went away before the answer")
        return await task
    finally:
        gone.cancel()
        task.cancel()
        await asyncio.wait({task, gone})


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def forwarded(answer: Forwarded) -> Response:
    """A model server's answer, passed on byte for byte."""
    headers = {name: value for name, value in answer.headers if name.lower() not in _NOT_FORWARDED}
    background = BackgroundTask(answer.close)
    return StreamingResponse(answer.stream, answer.status, headers=headers, background=background)


def _content_type(request: Request) -> dict[str, str]:
    return {"content-type": request.headers.get("content-type", "application/json")}


def ndjson_frame(payload: dict[str, Any]) -> bytes:
    return canonical(payload).encode() + b"\n"


def sse_frame(payload: dict[str, Any]) -> bytes:
    return b"data: " + canonical(payload).encode() + b"\n\n"
