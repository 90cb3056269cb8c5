"""Installed models with their windows, model servers and their state, and tokenizing, over REST.

`/api/tokenize` and `/api/detokenize` follow the format that has been proposed for Ollama.
"""

import asyncio
import time
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from holdfast.errors import BadRequest, ConfigError, UpstreamError
from holdfast.i18n import speak, translate
from holdfast.memory.private import MemoryGate
from holdfast.messages import JsonObject
from holdfast.protocols.wire import expect, parse_object
from holdfast.server.endpoint import engine_of, read_body, require_admin
from holdfast.server.guard import is_loopback
from holdfast.server.pages.site import language_of
from holdfast.server.settings import next_config
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.discovery import Options, connect
from holdfast.upstreams.recommended import EMBEDDING_MODEL, read_memory, recommend
from holdfast.upstreams.windows import Windows, has_fixed_window

router = APIRouter(prefix="/api/models", tags=["Models"])


Window = Annotated[int | None, Field(ge=0, le=100_000_000)]


class ModelWindow(BaseModel):
    """The window of a model, and the one recommended for it; 0 leaves it to Holdfast again."""

    model_config = ConfigDict(extra="forbid", strict=True)

    num_ctx: Window = None
    recommended: Window = None


@router.get("/installed")
async def list_installed(request: Request) -> dict[str, Any]:
    """List the installed models with the windows they were trained for, run with, and should have."""
    engine = engine_of(request)
    rows = []
    for model in await engine.upstreams.models():
        provider = await engine.upstreams.route(model.name)
        rows.append(serialize_model(model, provider, await engine.models.windows(provider, model.name)))
    return {"models": rows}


@router.get("/recommended")
async def list_recommended(request: Request) -> dict[str, Any]:
    """List models of Ollama's library that suit this machine by its memory, the best first.

    `here`: whether an Ollama runs on this machine; one elsewhere may have more or less memory.
    """
    speak(language_of(request))
    memory = await asyncio.to_thread(read_memory)
    states = engine_of(request).upstreams.states()
    servers = [state.location for state in states if state.kind == "ollama"]
    return {
        "memory_gb": None if memory is None else round(memory, 1),
        "here": any(is_loopback(urlsplit(location).hostname or "") for location in servers),
        "models": [
            {"name": model.name, "gigabytes": model.gigabytes, "good_for": translate(model.good_for)}
            for model in recommend(memory)
        ],
        "embedder": EMBEDDING_MODEL,
    }


@router.put("/{name:path}")
async def fix_window(request: Request, name: str, fixed: ModelWindow) -> dict[str, Any]:
    """Fix the window of a model, so that every request to it has the same one. For administrators."""
    require_admin(request)
    engine = engine_of(request)
    provider = await engine.upstreams.route(name)
    windows = await engine.models.set_window(
        provider, name, num_ctx=fixed.num_ctx, recommended=fixed.recommended
    )
    return serialize_model(await provider.describe(name), provider, windows)


def serialize_model(model: ModelInfo, provider: Provider, windows: Windows) -> dict[str, Any]:
    """Serialize a model; `fixed` means that its server was started with this window and keeps it."""
    return {
        "name": model.name,
        "family": model.family or None,
        "parameter_size": model.parameter_size or None,
        "size": model.size,
        "context_window": windows.trained.tokens if windows.trained else None,
        "recommended_ctx": windows.recommended.tokens,
        "running_ctx": windows.running.tokens if windows.running else None,
        "num_ctx": windows.used.tokens,
        "num_ctx_source": windows.used.source,
        "fixed": has_fixed_window(provider),
        "server": {"kind": provider.name, "location": provider.location},
    }


tokens_router = APIRouter(prefix="/api", tags=["Tokens"])


@tokens_router.post("/tokenize")
async def tokenize(request: Request) -> dict[str, Any]:
    began = time.perf_counter_ns()
    fields = parse_object(await read_body(request))
    model, provider = await resolve_model(request, fields)
    text = expect(fields.get("content", fields.get("text")), str, "content")
    vocabularies = engine_of(request).models.vocabularies
    tokenizer = await vocabularies.tokenizer(provider, model)
    loaded = time.perf_counter_ns()
    tokens = tokenizer.encode(text) if tokenizer else await provider.tokenize(model, text)
    if tokens is None:
        raise unknown_tokens(model, vocabularies.why_not(provider, model))
    return {"model": model, "tokens": tokens, **_durations(began, loaded)}


@tokens_router.post("/detokenize")
async def detokenize(request: Request) -> dict[str, Any]:
    began = time.perf_counter_ns()
    fields = parse_object(await read_body(request))
    model, provider = await resolve_model(request, fields)
    tokens = expect(fields.get("tokens"), list, "tokens")
    if not all(isinstance(token, int) and not isinstance(token, bool) and token >= 0 for token in tokens):
        raise BadRequest("tokens must be numbers, zero or more", param="tokens")
    vocabularies = engine_of(request).models.vocabularies
    tokenizer = await vocabularies.tokenizer(provider, model)
    loaded = time.perf_counter_ns()
    try:
        text = tokenizer.decode(tokens) if tokenizer else await provider.detokenize(model, tokens)
    except IndexError:
        raise BadRequest("there is no such token in the model's vocabulary", param="tokens") from None
    if text is None:
        raise unknown_tokens(model, vocabularies.why_not(provider, model))
    return {"model": model, "content": text, **_durations(began, loaded)}


async def resolve_model(request: Request, fields: JsonObject) -> tuple[str, Provider]:
    """Return the model of a request and its server; raise an error if the server does not have it."""
    model = expect(fields.get("model"), str, "model")
    upstreams = engine_of(request).upstreams
    provider = await upstreams.route(model)
    await provider.describe(model)
    return model, provider


def _durations(began: int, loaded: int) -> dict[str, int]:
    return {"total_duration": time.perf_counter_ns() - began, "load_duration": loaded - began}


def unknown_tokens(model: str, why: str) -> UpstreamError:
    reason = f": {why}" if why else ""
    return UpstreamError(f"the tokens of '{model}' are not known{reason}", status=501)


upstreams_router = APIRouter(prefix="/api/upstreams", tags=["Models"])


class ServerAddress(BaseModel):
    """Where a model server is, and the key it asks for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    location: str = Field(min_length=1, max_length=2_000)
    key: str = Field("", max_length=10_000)


@upstreams_router.post("/test")
async def test_upstream(request: Request, server: ServerAddress) -> dict[str, Any]:
    """Ask a model server that is not set up for its models; nothing is changed. For administrators."""
    require_admin(request)
    try:
        provider = await connect(server.location, Options(key=server.key))
    except ConfigError as error:
        raise BadRequest(error.message, hint=error.hint, param="location") from None
    try:
        models = await provider.models()
        return {
            "kind": provider.name,
            "location": provider.location,
            "models": [model.name for model in models],
        }
    finally:
        await provider.aclose()


@upstreams_router.get("")
async def list_upstreams(request: Request) -> dict[str, Any]:
    """List the model servers: kind, state, when each was last heard of, and its last error.

    `memory`: whether it may receive memories, as it is set now.
    """
    known = engine_of(request).upstreams
    await known.refresh()
    gate = MemoryGate.parse((await asyncio.to_thread(next_config, request)).settings.memory_gate)
    return {
        "upstreams": [{**asdict(state), "memory": gate.allows(state.location)} for state in known.states()]
    }
