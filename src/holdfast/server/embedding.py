"""Embeddings in three shapes: Ollama's two and OpenAI's, from the model server or the embedded encoder.

A server that speaks the client's dialect gets the client's own bytes; for another one, the request is read
and the answer written here. Knows nothing of what vectors mean.
"""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.errors import BadRequest
from holdfast.protocols.wire import expect, json_type, parse_object
from holdfast.server.door import body_of, engine_of, forwarded, unless_gone
from holdfast.server.encoder import LONGEST, Encoder, is_encoder
from holdfast.tokens.estimate import FAMILIES, estimate
from holdfast.upstreams.base import Provider, handles_path

router = APIRouter()

# What an encoder's own tokens would be nobody knows; clients want a number.
_FAMILY = FAMILIES["llama3"]
_JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Embedded:
    vectors: Sequence[Sequence[float]]
    tokens: int


@dataclass(frozen=True, slots=True)
class Shape:
    """How one route reads texts out of a request and writes an answer to it."""

    path: str
    read: Callable[[dict[str, Any]], list[str]]
    write: Callable[[dict[str, Any], Embedded], dict[str, Any]]


def _write_ollama(fields: dict[str, Any], found: Embedded) -> dict[str, Any]:
    answer: dict[str, Any] = {"model": fields["model"], "embeddings": found.vectors}
    if found.vectors:
        answer |= {"total_duration": 0, "load_duration": 0, "prompt_eval_count": found.tokens}
    return answer


def _read_older(fields: dict[str, Any]) -> list[str]:
    prompt = expect(fields.get("prompt") or "", str, "prompt")
    return [prompt] if prompt else []


def _write_older(_: dict[str, Any], found: Embedded) -> dict[str, Any]:
    return {"embedding": found.vectors[0] if found.vectors else []}


def _read_openai(fields: dict[str, Any]) -> list[str]:
    if (form := fields.get("encoding_format") or "float") not in ("float", "base64"):
        raise BadRequest(f"encoding_format is {form!r}; it is float or base64", param="encoding_format")
    texts = _texts(fields.get("input"), "input")
    if not texts:
        raise BadRequest("'input' is empty: a text is needed", param="input")
    return texts


def _write_openai(fields: dict[str, Any], found: Embedded) -> dict[str, Any]:
    written = _base64 if fields.get("encoding_format") == "base64" else list
    rows = [
        {"object": "embedding", "index": index, "embedding": written(vector)}
        for index, vector in enumerate(found.vectors)
    ]
    usage = {"prompt_tokens": found.tokens, "total_tokens": found.tokens}
    return {"object": "list", "data": rows, "model": fields["model"], "usage": usage}


OLLAMA = Shape("/api/embed", lambda fields: _texts(fields.get("input"), "input"), _write_ollama)
OLDER = Shape("/api/embeddings", _read_older, _write_older)
OPENAI = Shape("/v1/embeddings", _read_openai, _write_openai)


@router.post("/api/embed", tags=["Ollama"])
async def embed(request: Request) -> Response:
    return await _answer(request, OLLAMA)


@router.post("/api/embeddings", tags=["Ollama"])
async def embed_one(request: Request) -> Response:
    """The older way: one text, one vector."""
    return await _answer(request, OLDER)


@router.post("/v1/embeddings", tags=["OpenAI"])
async def embeddings(request: Request) -> Response:
    return await _answer(request, OPENAI)


async def _answer(request: Request, shape: Shape) -> Response:
    body = await body_of(request)
    fields = parse_object(body)
    model = expect(fields.get("model") or "", str, "model")
    if not model:
        raise BadRequest("model is required", param="model")
    if is_encoder(model):
        found = _encoded(request.app.state.encoder, fields, shape.read(fields))
        return JSONResponse(shape.write(fields, await unless_gone(request, found)))

    async def ask(provider: Provider) -> Response:
        if _speaks(provider, shape):
            return forwarded(await provider.forward("POST", shape.path, _JSON, body))
        return JSONResponse(shape.write(fields, await _translated(provider, fields, shape.read(fields))))

    return await unless_gone(request, engine_of(request).upstreams.call(model, ask))


def _speaks(provider: Provider, shape: Shape) -> bool:
    """Whether a server answers this route in its own dialect.

    Ollama's imitation of OpenAI cuts long texts and says nothing: it is asked in its own way instead.
    """
    return handles_path(provider, shape.path) and (provider.dialect == "ollama") == (shape is not OPENAI)


async def _encoded(encoder: Encoder, fields: dict[str, Any], texts: list[str]) -> Embedded:
    dimensions = _dimensions(fields.get("dimensions"))
    if fields.get("truncate") is False and any(len(text) > LONGEST for text in texts):
        raise BadRequest("the input length exceeds the context length", param="input")
    vectors = (await encoder.embed(texts)).tolist()
    return Embedded([_shortened(vector, dimensions) for vector in vectors], _estimated(texts))


async def _translated(provider: Provider, fields: dict[str, Any], texts: list[str]) -> Embedded:
    dimensions = _dimensions(fields.get("dimensions"))
    if not texts:
        return Embedded([], 0)
    answer = await provider.embed(fields["model"], texts)
    tokens = answer.tokens if answer.tokens is not None else _estimated(texts)
    return Embedded([_shortened(list(vector), dimensions) for vector in answer.vectors], tokens)


def _estimated(texts: Sequence[str]) -> int:
    return sum(estimate(text, _FAMILY).tokens for text in texts)


def _texts(value: Any, where: str) -> list[str]:
    match value:
        case None | "":
            return []
        case str():
            return [value]
        case list() if all(isinstance(item, str) for item in value):
            return value
        case list() if all(isinstance(item, int | list) for item in value):
            raise BadRequest(
                f"{where} is tokens: this model takes text only", hint="Send the text itself.", param=where
            )
        case _:
            raise BadRequest(
                f"{where} must be a string or an array of strings, not {json_type(value)}", param=where
            )


def _dimensions(value: Any) -> int | None:
    if value is None or value == 0:
        return None
    if expect(value, int, "dimensions") < 0:
        raise BadRequest("dimensions must be more than zero", param="dimensions")
    return int(value)


def _shortened(vector: list[float], dimensions: int | None) -> list[float]:
    """The first numbers only, brought to length one again, as Ollama and OpenAI do it."""
    if dimensions is None or dimensions >= len(vector):
        return vector
    part = np.asarray(vector[:dimensions])
    shorter: list[float] = (part / (np.linalg.norm(part) or 1.0)).tolist()
    return shorter


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()
