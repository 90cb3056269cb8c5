"""Ollama's routes for getting and removing models, passed on as they are: we add nothing to them.

Knows which server is meant and what becomes stale by it. Progress goes through byte for byte; whoever leaves
ends the request at the server too.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from holdfast.engine import Engine
from holdfast.errors import BadRequest, Forbidden, HoldfastError, UpstreamError
from holdfast.protocols.wire import expect, parse_object
from holdfast.server.access import access_of
from holdfast.server.door import body_of, content_type_of, engine_of, forwarded, ndjson_frame, unless_gone
from holdfast.upstreams.base import ForwardedResponse, Provider, handles_path

router = APIRouter(tags=["Ollama"])

# The fields that name models; `name` is what older clients call `model`.
_NAMES = ("model", "name", "source", "destination")
_DIGEST = re.compile(r"sha256[:-][0-9a-fA-F]{64}")


@router.post("/api/pull")
@router.post("/api/push")
@router.post("/api/create")
@router.post("/api/copy")
@router.delete("/api/delete")
async def manage(request: Request) -> Response:
    """Get, send, make, copy or remove a model. Several people share it, so this is for administrators."""
    _check(request)
    body, path = await body_of(request), request.url.path
    fields = parse_object(body)
    names = [name for field in _NAMES if (name := expect(fields.get(field) or "", str, field))]
    if not names:
        raise BadRequest("model is required", param="model")
    engine = engine_of(request)
    provider = await _server_for(engine, path, names[0])
    passed = provider.forward(request.method, path, content_type_of(request), body)
    answer = await unless_gone(request, passed)
    return forwarded(_then_changed(answer, engine, provider, names))


@router.head("/api/blobs/{digest}", include_in_schema=False)
@router.post("/api/blobs/{digest}")
async def blob(request: Request, digest: str) -> Response:
    """A file for `/api/create`. It may be larger than our memory, so it is never whole in it."""
    _check(request)
    if not _DIGEST.fullmatch(digest):
        raise BadRequest("invalid digest format", hint="It is sha256: and 64 hexadecimal digits.")
    provider = await _an_ollama(engine_of(request))
    body: Any = request.stream() if request.method == "POST" else b""
    try:
        answer = await provider.forward(
            request.method, f"/api/blobs/{digest}", content_type_of(request), body
        )
    except ClientDisconnect:
        raise BadRequest("the client went away before its request was complete") from None
    return forwarded(answer)


def _check(request: Request) -> None:
    if not access_of(request).admin:
        raise Forbidden("only an administrator may do this", hint="Use a key made with --admin.")


async def _server_for(engine: Engine, path: str, model: str) -> Provider:
    """The server that has the model, or, to get one, any Ollama."""
    if path in ("/api/pull", "/api/create") and not engine.upstreams.names_server(model):
        return await _an_ollama(engine)
    return _if_ollama(await engine.upstreams.route(model))


async def _an_ollama(engine: Engine) -> Provider:
    servers = await engine.upstreams.servers()
    return _if_ollama(next((server for server in servers if handles_path(server, "/api/pull")), servers[0]))


def _if_ollama(provider: Provider) -> Provider:
    if handles_path(provider, "/api/pull"):
        return provider
    raise UpstreamError(
        f"{provider.name} at {provider.location} does not manage models.",
        status=501,
        hint="Only an Ollama server does; with another, use its own way to get a model.",
    )


def _then_changed(
    answer: ForwardedResponse, engine: Engine, provider: Provider, names: list[str]
) -> ForwardedResponse:
    """The same answer; when it is through, what we know of these models is looked at anew."""

    async def stream() -> AsyncIterator[bytes]:
        try:
            async for data in answer.stream:
                yield data
        except HoldfastError as error:
            # The head is out: trouble can only be told in the stream itself, as the server would.
            yield ndjson_frame({"error": str(error)})
        finally:
            for name in names:
                engine.models.invalidate(provider, name)
            engine.upstreams.invalidate()

    return replace(answer, stream=stream())
