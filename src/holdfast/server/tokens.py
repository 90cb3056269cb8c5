"""`/api/tokenize` and `/api/detokenize`: routes people have long asked Ollama for, in the proposals' shape.

Knows the routes; where tokens come from is in `models`.
"""

import time
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from holdfast.errors import BadRequest, UpstreamError
from holdfast.messages import JsonObject
from holdfast.protocols.wire import expect, parse_object
from holdfast.server.endpoint import body_of, engine_of
from holdfast.upstreams.base import Provider

tokens_router = APIRouter(prefix="/api", tags=["Tokens"])


@tokens_router.post("/tokenize")
async def tokenize(request: Request) -> dict[str, Any]:
    began = time.perf_counter_ns()
    fields = parse_object(await body_of(request))
    model, provider = await _asked(request, fields)
    text = expect(fields.get("content", fields.get("text")), str, "content")
    vocabularies = engine_of(request).models.vocabularies
    tokenizer = await vocabularies.tokenizer(provider, model)
    loaded = time.perf_counter_ns()
    tokens = tokenizer.encode(text) if tokenizer else await provider.tokenize(model, text)
    if tokens is None:
        raise _unknown(model, vocabularies.why_not(provider, model))
    return {"model": model, "tokens": tokens, **_durations(began, loaded)}


@tokens_router.post("/detokenize")
async def detokenize(request: Request) -> dict[str, Any]:
    began = time.perf_counter_ns()
    fields = parse_object(await body_of(request))
    model, provider = await _asked(request, fields)
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
        raise _unknown(model, vocabularies.why_not(provider, model))
    return {"model": model, "content": text, **_durations(began, loaded)}


async def _asked(request: Request, fields: JsonObject) -> tuple[str, Provider]:
    model = expect(fields.get("model"), str, "model")
    upstreams = engine_of(request).upstreams
    provider = await upstreams.route(model)
    await provider.describe(model)
    return model, provider


def _durations(began: int, loaded: int) -> dict[str, int]:
    return {"total_duration": time.perf_counter_ns() - began, "load_duration": loaded - began}


def _unknown(model: str, why: str) -> UpstreamError:
    reason = f": {why}" if why else ""
    return UpstreamError(f"the tokens of '{model}' are not known{reason}", status=501)
