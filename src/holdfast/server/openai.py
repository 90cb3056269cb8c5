"""OpenAI's API: chat completions, the older completions, and the list of models.

Completions are not recorded, since they are no conversation. Ollama gets them through its own API, because
its `/v1` cuts long prompts silently and takes no window.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.errors import BadRequest
from holdfast.messages import ChatRequest, Chunk, JsonObject, canonical
from holdfast.protocols import ollama, openai_chat
from holdfast.protocols.wire import expect, iter_lines, parse_object, parse_server_payload
from holdfast.server import embeddings
from holdfast.server.endpoint import (
    ChatProtocol,
    answer_chat,
    engine_of,
    is_off,
    pass_through,
    post_route,
    read_body,
    respond,
    sse_frame,
)
from holdfast.server.errors import openai_error
from holdfast.server.guard import access_of
from holdfast.turn import Turn
from holdfast.upstreams.base import AnswerReader, Provider, error_from_response

router = APIRouter(tags=["OpenAI"])


def _read_chat(fields: dict[str, object]) -> ChatRequest:
    chat = openai_chat.parse_request(fields)
    if not chat.messages:
        raise BadRequest(
            "Invalid 'messages': empty array. Expected an array with minimum length 1.",
            param="messages",
            code="empty_array",
        )
    return chat


def _chat_writer(chat: ChatRequest, turn: Turn) -> openai_chat.OpenAIChatWriter:
    del turn
    options = chat.extra.get(openai_chat.NAME, {}).get("stream_options")
    wanted = isinstance(options, dict) and bool(options.get("include_usage"))
    return openai_chat.OpenAIChatWriter(chat.model, include_usage=wanted)


CHAT = ChatProtocol(
    path="/v1/chat/completions",
    read=_read_chat,
    writer=_chat_writer,
    error=openai_error,
    media_type="text/event-stream",
    frame=sse_frame,
    closing=b"data: [DONE]\n\n",
)


@post_route(router, "/v1/chat/completions")
async def chat_completions(request: Request) -> Response:
    body = await read_body(request)
    return await answer_chat(request, CHAT, body, parse_object(body))


@router.get("/v1/models")
async def list_models(request: Request) -> JSONResponse:
    models = await engine_of(request).upstreams.models()
    created = int(time.time())
    rows = [
        {
            "id": model.name,
            "object": "model",
            "created": created,
            "owned_by": "holdfast",
            **{name: value for name, value in model.raw.items() if model.raw.get("object") == "model"},
        }
        for model in (*models, *embeddings.list_encoder())
    ]
    return JSONResponse({"object": "list", "data": rows})


@router.get("/v1/models/{name:path}")
async def show_model(request: Request, name: str) -> JSONResponse:
    ours = embeddings.list_encoder() if embeddings.is_encoder(name) else []
    model = ours[0] if ours else await engine_of(request).upstreams.describe(name)
    row = {"id": model.name, "object": "model", "created": int(time.time()), "owned_by": "holdfast"}
    return JSONResponse(row)


_GENERATE = "/api/generate"


def _completion_writer(chat: ChatRequest, turn: Turn) -> openai_chat.CompletionsWriter:
    del turn
    given = chat.extra.get(openai_chat.NAME, {})
    options = given.get("stream_options")
    return openai_chat.CompletionsWriter(
        chat.model,
        echo=chat.messages[0].text if given.get("echo") else "",
        include_usage=isinstance(options, dict) and bool(options.get("include_usage")),
    )


COMPLETIONS = replace(
    CHAT,
    path="/v1/completions",
    read=openai_chat.parse_completion_request,
    writer=_completion_writer,
)


@post_route(router, "/v1/completions")
async def complete_text(request: Request) -> Response:
    body = await read_body(request)
    fields = parse_object(body)
    engine = engine_of(request)
    provider = await engine.upstreams.route(expect(fields.get("model"), str, "model"))
    if is_off(request) or provider.dialect != "ollama":
        return await pass_through(request, COMPLETIONS, body, fields)
    chat = openai_chat.parse_completion_request(fields)
    windows = await engine.models.windows(provider, chat.model)
    asked = _generate_out(chat.with_options(num_ctx=windows.used.tokens))
    return await respond(
        request, COMPLETIONS, chat, Turn(chat.model, generate_in_queue(request, provider, asked))
    )


def _generate_out(chat: ChatRequest) -> dict[str, Any]:
    """Return the body for `/api/generate`: the raw prompt, or with a suffix the model's own template."""
    suffix = chat.extra.get(openai_chat.NAME, {}).get("suffix")
    options = ollama.serialize_request(chat.with_messages(())).get("options", {})
    return {
        "model": chat.model,
        "prompt": chat.messages[0].text,
        **({"suffix": expect(suffix, str, "suffix")} if suffix else {"raw": True}),
        "options": options,
        "stream": True,
        "truncate": False,
        "shift": False,
    }


async def generate_in_queue(
    request: Request, provider: Provider, asked: JsonObject
) -> AsyncGenerator[Chunk, None]:
    with engine_of(request).enter_queue(provider, access_of(request).user) as place:
        await place.wait()
        async with aclosing(stream_generate(provider, asked)) as chunks:
            async for chunk in chunks:
                yield chunk


async def stream_generate(provider: Provider, asked: JsonObject) -> AsyncGenerator[Chunk, None]:
    body = canonical(asked).encode()
    answer = await provider.forward("POST", _GENERATE, {"content-type": "application/json"}, body)
    try:
        if answer.status != 200:
            refusal_body = b"".join([data async for data in answer.stream])
            raise error_from_response(
                answer.status, refusal_body, model=asked["model"], where=provider.location
            )
        with AnswerReader(_chunk_in, where=provider.location) as reader:
            async for line in iter_lines(answer.stream):
                yield reader.parse(parse_server_payload(line))
    finally:
        await answer.close()


def _chunk_in(payload: JsonObject) -> Chunk:
    """Read a line of `/api/generate` as the equivalent line of a chat."""
    message = {"content": payload.get("response"), "thinking": payload.get("thinking")}
    return ollama.parse_chunk({**payload, "message": message})
