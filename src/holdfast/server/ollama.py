"""Ollama's API: chat, generate, and what clients ask about models.

Knows the routes; the wire format is in `dialects`, the turn in `engine`. What an Ollama server says about its
models is passed on as it is; for any other server the same questions are answered in Ollama's words.
"""

import asyncio
import hashlib
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast import __version__
from holdfast.errors import BadRequest, ProviderError
from holdfast.messages import ChatRequest, canonical
from holdfast.protocols import ollama
from holdfast.protocols.wire import expect, parse_object, without
from holdfast.server import encoder
from holdfast.server.door import (
    Shape,
    answer,
    body_of,
    converse,
    engine_of,
    forwarded,
    is_off,
    ndjson_frame,
    pass_through,
    posted,
)
from holdfast.server.errors import ollama_error
from holdfast.upstreams.base import ModelInfo, Provider, handles_path
from holdfast.upstreams.ollama import parse_keep_alive

router = APIRouter(tags=["Ollama"])

# Clients look at this to see which features they may use; it names the protocol we speak, not ourselves.
PROTOCOL_VERSION = "0.30.0"


def _read_chat(fields: dict[str, Any]) -> ChatRequest:
    chat = ollama.parse_request(fields)
    if not chat.model:
        raise BadRequest("model is required", param="model")
    if encoder.is_encoder(chat.model):
        raise BadRequest(f'"{chat.model}" does not support chat', hint="It makes embeddings.")
    return chat


def _read_generate(fields: dict[str, Any]) -> ChatRequest:
    """A prompt is a chat of one message."""
    messages = []
    if fields.get("system"):
        messages.append({"role": "system", "content": fields["system"]})
    prompt = {"role": "user", "content": expect(fields.get("prompt") or "", str, "prompt")}
    messages.append(prompt | ({"images": fields["images"]} if fields.get("images") else {}))
    return _read_chat(without(fields, "prompt", "system", "images", "context") | {"messages": messages})


CHAT = Shape(
    path="/api/chat",
    read=_read_chat,
    writer=lambda chat, _: ollama.OllamaWriter(chat.model),
    error=ollama_error,
    media_type="application/x-ndjson",
    frame=ndjson_frame,
)
GENERATE = Shape(
    path="/api/generate",
    read=_read_generate,
    writer=lambda chat, turn: ollama.OllamaWriter(
        chat.model, generate=True, context=context_of(turn.conversation)
    ),
    error=ollama_error,
    media_type="application/x-ndjson",
    frame=ndjson_frame,
)


@posted(router, "/api/chat")
async def chat(request: Request) -> Response:
    body = await body_of(request)
    fields = parse_object(body)
    if not fields.get("messages"):
        # Not a chat: the client wants the model loaded, or unloaded with `keep_alive: 0`.
        return await _load(request, CHAT, body, fields)
    return await answer(request, CHAT, body, fields)


@posted(router, "/api/generate")
async def generate(request: Request) -> Response:
    body = await body_of(request)
    fields = parse_object(body)
    if not fields.get("prompt"):
        return await _load(request, GENERATE, body, fields)
    conversation = conversation_in(fields.get("context"))
    foreign = bool(fields.get("context")) and conversation is None
    if is_off(request):
        return await pass_through(request, GENERATE, body, fields)
    if foreign or any(fields.get(name) for name in ("raw", "suffix", "template")):
        return await _only_ollama(request, body, fields)
    chat = _read_generate(fields)
    return await converse(request, GENERATE, chat, goes_on=conversation)


async def _load(request: Request, shape: Shape, body: bytes, fields: dict[str, Any]) -> Response:
    name = _read_chat(without(fields, "messages", "prompt")).model
    provider = await engine_of(request).upstreams.route(name)
    if handles_path(provider, shape.path):
        return await pass_through(request, shape, *await _in_its_window(request, body, fields))
    await engine_of(request).upstreams.describe(name)
    reason = "unload" if fields.get("keep_alive") == 0 else "load"
    empty = {"response": ""} if shape is GENERATE else {"message": {"role": "assistant", "content": ""}}
    return JSONResponse({"model": name, "created_at": _now(), **empty, "done": True, "done_reason": reason})


async def _only_ollama(request: Request, body: bytes, fields: dict[str, Any]) -> Response:
    """Bare prompts and fill-in-the-middle are no conversation: the model server answers them by itself."""
    provider = await engine_of(request).upstreams.route(str(fields.get("model", "")))
    if not handles_path(provider, GENERATE.path):
        raise BadRequest(
            "raw, suffix, template and context need an Ollama server behind Holdfast",
            hint=f"This one is {provider.name} at {provider.location}.",
        )
    return await pass_through(request, GENERATE, *await _in_its_window(request, body, fields))


async def _in_its_window(
    request: Request, body: bytes, fields: dict[str, Any]
) -> tuple[bytes, dict[str, Any]]:
    """The same request with the window that all others have: with another, the model would be loaded anew.

    With another time to stay, the model would leave before the next one of ours.
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
    """The conversation that a `context` of ours names; None for what another server made."""
    if not isinstance(context, list) or context[:2] != _CONTEXT_MARK or len(context) > 40:
        return None
    if not all(isinstance(code, int) and 32 < code < 127 for code in context):
        return None
    name = bytes(context[2:]).decode()
    return name if name.startswith("c_") else None


@router.head("/api/tags", include_in_schema=False)
@router.get("/api/tags")
async def tags(request: Request) -> Response:
    found = await engine_of(request).upstreams.models()
    return JSONResponse({"models": [_tag(model) for model in (*found, *encoder.listed())]})


@router.get("/api/ps")
async def running(request: Request) -> Response:
    servers = await engine_of(request).upstreams.servers()
    if len(servers) == 1 and handles_path(servers[0], "/api/ps"):
        return forwarded(await servers[0].forward("GET", "/api/ps", {}))
    found = await asyncio.gather(*(_loaded(server) for server in servers))
    return JSONResponse({"models": [row for rows in found for row in rows]})


async def _loaded(server: Provider) -> list[dict[str, Any]]:
    """What a server holds in memory, as `/api/ps` tells it."""
    if handles_path(server, "/api/ps"):
        answer = await server.forward("GET", "/api/ps", {})
        told = parse_object(b"".join([data async for data in answer.stream])).get("models")
        return told if isinstance(told, list) else []
    models = [model for model in await server.models() if model.running_window]
    return [_tag(model) | {"context_length": model.running_window} for model in models]


@router.post("/api/show")
async def show(request: Request) -> Response:
    body = await body_of(request)
    fields = parse_object(body)
    name = fields.get("model") or fields.get("name")
    if not name:
        raise BadRequest("model is required", param="model")
    if encoder.is_encoder(expect(name, str, "model")) and (ours := encoder.listed()):
        return JSONResponse(_shown(ours[0]))
    provider = await engine_of(request).upstreams.route(name)
    if handles_path(provider, "/api/show"):
        return forwarded(
            await provider.forward("POST", "/api/show", {"content-type": "application/json"}, body)
        )
    return JSONResponse(_shown(await provider.describe(name)))


@router.head("/api/version", include_in_schema=False)
@router.get("/api/version")
async def version(request: Request) -> Response:
    """The protocol that is spoken here; our own name in it keeps two Holdfasts from asking each other."""
    provider = await engine_of(request).upstreams.main()
    spoken = PROTOCOL_VERSION
    if handles_path(provider, "/api/version"):
        with suppress(BadRequest, ProviderError):
            # A server that is away just now speaks no other protocol for that.
            answer = await provider.forward("GET", "/api/version", {})
            spoken = parse_object(b"".join([data async for data in answer.stream])).get("version", spoken)
    return JSONResponse({"version": spoken, "holdfast": __version__})


def _tag(model: ModelInfo) -> dict[str, Any]:
    """A model as `/api/tags` lists it; an Ollama server's own row as it is."""
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
    """For a server that names none: clients take models of one digest for one model with several names."""
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


def _shown(model: ModelInfo) -> dict[str, Any]:
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
