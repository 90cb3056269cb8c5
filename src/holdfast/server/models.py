"""Installed models with their windows, models worth installing, model servers, and tokenizing, over REST.

Model servers are listed with their state, added and taken away; each is a change of the settings.

`/api/tokenize` and `/api/detokenize` follow the format that has been proposed for Ollama.
"""

import asyncio
import os
import sys
import time
from dataclasses import asdict, dataclass
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from fastapi import APIRouter
from pydantic import Field, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse

from holdfast.config import Settings
from holdfast.errors import BadRequest, ConfigError, NotFound, UpstreamError
from holdfast.i18n import LazyText, lazy, speak, translate
from holdfast.i18n import gettext as _
from holdfast.memory.private import MemoryGate
from holdfast.messages import JsonObject
from holdfast.protocols.wire import expect, parse_object
from holdfast.server.endpoint import RequestBody, engine_of, read_body, require_admin
from holdfast.server.guard import is_loopback
from holdfast.server.pages.site import language_of
from holdfast.server.settings import next_config, put_settings
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.discovery import Options, connect, host_of, is_embedded, parse_keys, parse_upstreams
from holdfast.upstreams.windows import Windows, has_fixed_window

router = APIRouter(prefix="/api/models", tags=["Models"])


Window = Annotated[int | None, Field(ge=0, le=100_000_000)]


class ModelWindow(RequestBody):
    """The window of a model, and the one recommended for it; 0 leaves it to Holdfast again."""

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
        raise BadRequest(lazy("tokens must be numbers, zero or more"), param="tokens")
    vocabularies = engine_of(request).models.vocabularies
    tokenizer = await vocabularies.tokenizer(provider, model)
    loaded = time.perf_counter_ns()
    try:
        text = tokenizer.decode(tokens) if tokenizer else await provider.detokenize(model, tokens)
    except IndexError:
        raise BadRequest(lazy("there is no such token in the model's vocabulary"), param="tokens") from None
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
    return UpstreamError(
        lazy("the tokens of '{model}' are not known{reason}", model=model, reason=reason), status=501
    )


upstreams_router = APIRouter(prefix="/api/upstreams", tags=["Models"])


class ServerAddress(RequestBody):
    """Where a model server is, and the key it asks for."""

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


# Commas separate servers and their keys in the settings.
Word = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^,]*$")]


class NewServer(RequestBody):
    """Where a model server is, and the key it asks for; empty for none."""

    location: Annotated[Word, Field(min_length=1, max_length=2_000)]
    key: Annotated[Word, Field(max_length=10_000)] = ""


@upstreams_router.post("", response_model=None)
async def add_upstream(request: Request, server: NewServer) -> dict[str, Any] | JSONResponse:
    """Add a model server, or set the key of one that is there. For administrators.

    A server that was found by itself stays beside it.
    """
    require_admin(request)
    speak(language_of(request))
    settings = (await asyncio.to_thread(next_config, request)).settings
    located = [state.location for state in engine_of(request).upstreams.states() if state.kind]
    found = [location for location in located if not is_embedded(location)]
    try:
        wanted = add_server(settings, found, server)
    except ConfigError as error:
        raise BadRequest(error.message, hint=error.hint, param="location") from None
    return await put_settings(request, wanted)


@upstreams_router.delete("/{name:path}", response_model=None)
async def remove_upstream(request: Request, name: str) -> dict[str, Any] | JSONResponse:
    """Take a model server away, by the name that it is listed with, and its key. For administrators."""
    require_admin(request)
    speak(language_of(request))
    settings = (await asyncio.to_thread(next_config, request)).settings
    return await put_settings(request, remove_server(settings, unquote(name)))


def add_server(settings: Settings, found: list[str], server: NewServer) -> dict[str, Any]:
    """Return the settings with which a server is used, beside those that were named or found."""
    host = host_of(server.location)
    if settings.upstream and host_of(settings.upstream) == host:
        return {"upstream": server.location, "upstream_key": server.key or None}
    before = parse_upstreams(settings.upstreams)
    if not settings.upstream and not before:
        before = {host_of(location): location for location in found}
        if not before or host in before:
            return {"upstream": server.location, "upstream_key": server.key or None}
    name = next((name for name, location in before.items() if host_of(location) == host), host)
    keys = read_keys(settings) | {name: server.key}
    return join_servers({**before, name: server.location}, keys)


def remove_server(settings: Settings, name: str) -> dict[str, Any]:
    """Return the settings without a server. Where none is left, one is looked for again."""
    before = parse_upstreams(settings.upstreams)
    if settings.upstream and name in (host_of(settings.upstream), settings.upstream):
        return {"upstream": None, "upstream_key": None}
    if name not in before:
        raise NotFound(_("There is no model server {name} in the settings.").format(name=name))
    rest = {other: location for other, location in before.items() if other != name}
    return join_servers(rest, read_keys(settings))


def read_keys(settings: Settings) -> dict[str, str]:
    named = ", ".join(filter(None, (settings.upstream, settings.upstreams)))
    return parse_keys(settings.upstream_keys, parse_upstreams(named))


def join_servers(locations: dict[str, str], keys: dict[str, str]) -> dict[str, Any]:
    """Return the two settings; null where nothing is left."""
    servers = ", ".join(
        location if name == host_of(location) else f"{name}={location}"
        for name, location in locations.items()
    )
    secrets = ", ".join(f"{name}={key}" for name, key in keys.items() if key and name in locations)
    return {"upstreams": servers or None, "upstream_keys": secrets or None}


_GB = 1 << 30
# Beside the weights a model needs a window and some room to work in, and a machine has other things to do.
_OVERHEAD_GB, _SHARE = 1.0, 0.7


@dataclass(frozen=True, slots=True)
class RecommendedModel:
    """A model by its name in Ollama's library; `gigabytes` is its download, about what it needs to load."""

    name: str
    gigabytes: float
    good_for: LazyText


# From small to large; of those that fit, the last ones are the best.
MODELS = (
    RecommendedModel("gemma3:1b", 0.8, lazy("short answers on almost any machine")),
    RecommendedModel("qwen3:1.7b", 1.4, lazy("short answers, thinks when asked to")),
    RecommendedModel("qwen3:4b", 2.5, lazy("everyday questions on a laptop, tools")),
    RecommendedModel("gemma3:4b", 3.3, lazy("everyday questions and pictures, many languages")),
    RecommendedModel("qwen3:8b", 5.2, lazy("work with code and tools")),
    RecommendedModel("gemma3:12b", 8.1, lazy("writing in many languages, pictures")),
    RecommendedModel("qwen3:14b", 9.3, lazy("harder questions, code and tools")),
    RecommendedModel("gpt-oss:20b", 14.0, lazy("harder questions, quick for its size")),
    RecommendedModel("qwen3:30b", 19.0, lazy("the best of a large machine, quick for its size")),
    RecommendedModel("gpt-oss:120b", 65.0, lazy("the best of a workstation")),
)
# Finds memories by meaning in many languages, and is small enough to stay beside a chat model.
EMBEDDING_MODEL = "embeddinggemma"


def read_memory() -> float | None:
    """Return the memory of this machine in gigabytes; None if the system does not say."""
    if sys.platform == "win32":
        return None
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GB
    except (OSError, ValueError):
        return None


def recommend(memory: float | None, most: int = 3) -> tuple[RecommendedModel, ...]:
    """Return the models that suit a machine with so many gigabytes, the best first."""
    if memory is None:
        return MODELS[2:5]
    fitting = [model for model in MODELS if model.gigabytes + _OVERHEAD_GB <= memory * _SHARE]
    return tuple(reversed(fitting[-most:]))
