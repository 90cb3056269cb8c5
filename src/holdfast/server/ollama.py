"""Ollama's API: chat, generate, and the routes that list and manage models.

An Ollama server's own answers about its models are relayed unchanged; for other servers the same questions
are answered in Ollama's format. Managing models needs an Ollama server.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from holdfast import __version__
from holdfast.errors import BadRequest, HoldfastError, NotFound, ProviderError, UpstreamError
from holdfast.messages import ChatRequest, canonical
from holdfast.protocols import ollama
from holdfast.protocols.wire import expect, parse_object, without
from holdfast.server import embeddings
from holdfast.server.endpoint import (
    ChatProtocol,
    answer_chat,
    content_type_of,
    continue_conversation,
    engine_of,
    forward_response,
    is_off,
    ndjson_frame,
    ollama_error,
    pass_through,
    post_route,
    read_body,
    require_admin,
    unless_disconnected,
)
from holdfast.turn import TurnEngine
from holdfast.upstreams.base import ForwardedResponse, ModelInfo, Provider, handles_path
from holdfast.upstreams.ollama import parse_keep_alive

router = APIRouter(tags=["Ollama"])

# The version of the protocol, by which clients decide what features they use.
PROTOCOL_VERSION = "0.30.0"


def _read_chat(fields: dict[str, Any]) -> ChatRequest:
    chat = ollama.parse_request(fields)
    if not chat.model:
        raise BadRequest("model is required", param="model")
    if embeddings.is_encoder(chat.model):
        raise BadRequest(f'"{chat.model}" does not support chat', hint="It makes embeddings.")
    return chat


def _read_generate(fields: dict[str, Any]) -> ChatRequest:
    """Read a prompt as a chat with one message."""
    messages = []
    if fields.get("system"):
        messages.append({"role": "system", "content": fields["system"]})
    prompt = {"role": "user", "content": expect(fields.get("prompt") or "", str, "prompt")}
    messages.append(prompt | ({"images": fields["images"]} if fields.get("images") else {}))
    return _read_chat(without(fields, "prompt", "system", "images", "context") | {"messages": messages})


CHAT = ChatProtocol(
    path="/api/chat",
    read=_read_chat,
    writer=lambda chat, _: ollama.OllamaWriter(chat.model),
    error=ollama_error,
    media_type="application/x-ndjson",
    frame=ndjson_frame,
)
GENERATE = ChatProtocol(
    path="/api/generate",
    read=_read_generate,
    writer=lambda chat, turn: ollama.OllamaWriter(
        chat.model, generate=True, context=context_of(turn.conversation)
    ),
    error=ollama_error,
    media_type="application/x-ndjson",
    frame=ndjson_frame,
)


@post_route(router, "/api/chat")
async def chat(request: Request) -> Response:
    body = await read_body(request)
    fields = parse_object(body)
    if not fields.get("messages"):
        # Not a chat: the client wants the model loaded, or unloaded with `keep_alive: 0`.
        return await load_model(request, CHAT, body, fields)
    return await answer_chat(request, CHAT, body, fields)


@post_route(router, "/api/generate")
async def generate(request: Request) -> Response:
    body = await read_body(request)
    fields = parse_object(body)
    if not fields.get("prompt"):
        return await load_model(request, GENERATE, body, fields)
    conversation = conversation_in(fields.get("context"))
    foreign = bool(fields.get("context")) and conversation is None
    if is_off(request):
        return await pass_through(request, GENERATE, body, fields)
    if foreign or any(fields.get(name) for name in ("raw", "suffix", "template")):
        return await pass_to_ollama(request, body, fields)
    chat = _read_generate(fields)
    return await continue_conversation(request, GENERATE, chat, continues=conversation)


async def load_model(request: Request, shape: ChatProtocol, body: bytes, fields: dict[str, Any]) -> Response:
    """Load or unload a model, as an empty chat or prompt asks for."""
    name = _read_chat(without(fields, "messages", "prompt")).model
    provider = await engine_of(request).upstreams.route(name)
    if handles_path(provider, shape.path):
        return await pass_through(request, shape, *await with_model_window(request, body, fields))
    await engine_of(request).upstreams.describe(name)
    reason = "unload" if fields.get("keep_alive") == 0 else "load"
    empty = {"response": ""} if shape is GENERATE else {"message": {"role": "assistant", "content": ""}}
    return JSONResponse({"model": name, "created_at": _now(), **empty, "done": True, "done_reason": reason})


async def pass_to_ollama(request: Request, body: bytes, fields: dict[str, Any]) -> Response:
    """Relay bare prompts and fill-in-the-middle to the model server, since they are no conversation."""
    provider = await engine_of(request).upstreams.route(str(fields.get("model", "")))
    if not handles_path(provider, GENERATE.path):
        raise BadRequest(
            "raw, suffix, template and context need an Ollama server behind Holdfast",
            hint=f"This one is {provider.name} at {provider.location}.",
        )
    return await pass_through(request, GENERATE, *await with_model_window(request, body, fields))


async def with_model_window(
    request: Request, body: bytes, fields: dict[str, Any]
) -> tuple[bytes, dict[str, Any]]:
    """Return the request with the window and `keep_alive` that all requests to the model have.

    With another window the model would be loaded again; with another `keep_alive` it would be unloaded before
    our next request.
    """
    if is_off(request):
        return body, fields
    engine, model = engine_of(request), str(fields.get("model", ""))
    asked = expect(fields.get("options") or {}, dict, "options")
    provider = await engine.upstreams.route(model)
    windows = await engine.models.windows(provider, model, asked=asked.get("num_ctx"))
    fields = {**fields, "options": {**asked, "num_ctx": windows.used.tokens}, "shift": False}
    keep_alive = parse_keep_alive(request.app.state.config.settings.keep_alive)
    if keep_alive is not None and fields.get("keep_alive") is None:
        fields["keep_alive"] = keep_alive
    return canonical(fields).encode(), fields


# Ollama's `context` is the conversation so far as tokens, opaque to clients. Ours is the conversation's id.
_CONTEXT_MARK = [72, 70]


def context_of(conversation: str | None) -> list[int] | None:
    return [*_CONTEXT_MARK, *conversation.encode()] if conversation else None


def conversation_in(context: Any) -> str | None:
    """Return the conversation that a `context` of ours names; None for a `context` of another server."""
    if not isinstance(context, list) or context[:2] != _CONTEXT_MARK or len(context) > 40:
        return None
    if not all(isinstance(code, int) and 32 < code < 127 for code in context):
        return None
    name = bytes(context[2:]).decode()
    return name if name.startswith("c_") else None


@router.head("/api/tags", include_in_schema=False)
@router.get("/api/tags")
async def list_tags(request: Request) -> Response:
    models = await engine_of(request).upstreams.models()
    return JSONResponse({"models": [serialize_tag(model) for model in (*models, *embeddings.list_encoder())]})


@router.get("/api/ps")
async def list_running(request: Request) -> Response:
    servers = await engine_of(request).upstreams.servers()
    if len(servers) == 1 and handles_path(servers[0], "/api/ps"):
        return forward_response(await servers[0].forward("GET", "/api/ps", {}))
    rows_by_server = await asyncio.gather(*(list_loaded(server) for server in servers))
    return JSONResponse({"models": [row for rows in rows_by_server for row in rows]})


async def list_loaded(server: Provider) -> list[dict[str, Any]]:
    """Return the models that a server has loaded, as `/api/ps` lists them."""
    if handles_path(server, "/api/ps"):
        answer = await server.forward("GET", "/api/ps", {})
        models_field = parse_object(b"".join([data async for data in answer.stream])).get("models")
        return models_field if isinstance(models_field, list) else []
    models = [model for model in await server.models() if model.running_window]
    return [serialize_tag(model) | {"context_length": model.running_window} for model in models]


@router.post("/api/show")
async def show_model(request: Request) -> Response:
    body = await read_body(request)
    fields = parse_object(body)
    name = fields.get("model") or fields.get("name")
    if not name:
        raise BadRequest("model is required", param="model")
    if embeddings.is_encoder(expect(name, str, "model")) and (ours := embeddings.list_encoder()):
        return JSONResponse(serialize_model(ours[0]))
    provider = await engine_of(request).upstreams.route(name)
    if handles_path(provider, "/api/show"):
        return forward_response(
            await provider.forward("POST", "/api/show", {"content-type": "application/json"}, body)
        )
    return JSONResponse(serialize_model(await provider.describe(name)))


@router.head("/api/version", include_in_schema=False)
@router.get("/api/version")
async def show_version(request: Request) -> Response:
    """Return the version of the protocol; our own name in it keeps two Holdfasts from calling each other."""
    provider = await engine_of(request).upstreams.main()
    spoken = PROTOCOL_VERSION
    if handles_path(provider, "/api/version"):
        with suppress(BadRequest, ProviderError):
            # If the server is unreachable just now, the default version is returned.
            answer = await provider.forward("GET", "/api/version", {})
            spoken = parse_object(b"".join([data async for data in answer.stream])).get("version", spoken)
    return JSONResponse({"version": spoken, "holdfast": __version__})


def serialize_tag(model: ModelInfo) -> dict[str, Any]:
    """Serialize a model for `/api/tags`; the entry of an Ollama server is returned unchanged."""
    if "details" in model.raw and "modified_at" in model.raw:
        return dict(model.raw)
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": model.modified_at or _now(),
        "size": model.size or 0,
        "digest": model.digest or _digest(model),
        "details": _details(model),
        "capabilities": list(model.capabilities),
    }


def _digest(model: ModelInfo) -> str:
    """Return a digest for a server that has none: clients take models with one digest for the same model."""
    return hashlib.sha256(model.name.encode()).hexdigest()


def _details(model: ModelInfo) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.family,
        "families": [model.family] if model.family else [],
        "parameter_size": model.parameter_size,
        "quantization_level": model.quantization,
    }


def serialize_model(model: ModelInfo) -> dict[str, Any]:
    family = model.family or "unknown"
    info: dict[str, Any] = {"general.architecture": family}
    if model.trained_window:
        info[f"{family}.context_length"] = model.trained_window
    return {
        "modelfile": "",
        "parameters": f"num_ctx {model.running_window}" if model.running_window else "",
        "template": "",
        "details": _details(model),
        "model_info": info,
        "capabilities": list(model.capabilities) or ["completion"],
        "modified_at": model.modified_at or _now(),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


# The fields that name models; `name` is what older clients call `model`.
_MODEL_FIELDS = ("model", "name", "source", "destination")
_DIGEST = re.compile(r"sha256[:-][0-9a-fA-F]{64}")


@router.post("/api/pull")
@router.post("/api/push")
@router.post("/api/create")
@router.post("/api/copy")
@router.delete("/api/delete")
async def manage_model(request: Request) -> Response:
    """Pull, push, create, copy or delete a model. For administrators, since everybody shares the models."""
    require_admin(request)
    body, path = await read_body(request), request.url.path
    fields = parse_object(body)
    names = [name for field in _MODEL_FIELDS if (name := expect(fields.get(field) or "", str, field))]
    if not names:
        raise BadRequest("model is required", param="model")
    engine = engine_of(request)
    provider = await find_manager(engine, path, names[0])
    passed = provider.forward(request.method, path, content_type_of(request), body)
    answer = await unless_disconnected(request, passed)
    return forward_response(refresh_after(answer, engine, provider, names))


@router.post("/api/experimental/web_search")
@router.post("/api/experimental/web_fetch")
async def use_web(request: Request) -> Response:
    """Search the web or fetch a page by the Ollama server, which asks ollama.com; nothing of it is kept."""
    provider, body = await find_ollama(engine_of(request)), await read_body(request)
    passed = provider.forward("POST", request.url.path, content_type_of(request), body)
    answer = await unless_disconnected(request, passed)
    if answer.status == 404:
        await answer.close()
        raise NotFound("this Ollama server cannot search the web", hint="Newer ones can: update Ollama.")
    return forward_response(answer)


@router.head("/api/blobs/{digest}", include_in_schema=False)
@router.post("/api/blobs/{digest}")
async def transfer_blob(request: Request, digest: str) -> Response:
    """Relay a file for `/api/create`. It is never held in memory as a whole."""
    require_admin(request)
    if not _DIGEST.fullmatch(digest):
        raise BadRequest("invalid digest format", hint="It is sha256: and 64 hexadecimal digits.")
    provider = await find_ollama(engine_of(request))
    body: Any = request.stream() if request.method == "POST" else b""
    try:
        answer = await provider.forward(
            request.method, f"/api/blobs/{digest}", content_type_of(request), body
        )
    except ClientDisconnect:
        raise BadRequest("the client went away before its request was complete") from None
    return forward_response(answer)


async def find_manager(engine: TurnEngine, path: str, model: str) -> Provider:
    """Return the server that has the model; to get a new model, any Ollama server."""
    if path in ("/api/pull", "/api/create") and not engine.upstreams.names_server(model):
        return await find_ollama(engine)
    return require_ollama(await engine.upstreams.route(model))


async def find_ollama(engine: TurnEngine) -> Provider:
    servers = await engine.upstreams.servers()
    return require_ollama(
        next((server for server in servers if handles_path(server, "/api/pull")), servers[0])
    )


def require_ollama(provider: Provider) -> Provider:
    if handles_path(provider, "/api/pull"):
        return provider
    raise UpstreamError(
        f"{provider.name} at {provider.location} does not manage models.",
        status=501,
        hint="Only an Ollama server does; with another, use its own way to get a model.",
    )


def refresh_after(
    answer: ForwardedResponse, engine: TurnEngine, provider: Provider, names: list[str]
) -> ForwardedResponse:
    """Return the same response; at its end, what is known about these models is discarded."""

    async def stream() -> AsyncIterator[bytes]:
        try:
            async for data in answer.stream:
                yield data
        except HoldfastError as error:
            # The headers are sent: errors can only follow in the stream, as the server would send them.
            yield ndjson_frame({"error": str(error)})
        finally:
            for name in names:
                engine.models.invalidate(provider, name)
            engine.upstreams.invalidate()

    return replace(answer, stream=stream())
