"""OpenAI's API: chat completions and the list of models.

Knows the routes; the wire format is in `dialects`, the turn in `engine`.
"""

import time

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.engine import Turn
from holdfast.errors import BadRequest
from holdfast.messages import ChatRequest
from holdfast.protocols import openai_chat
from holdfast.protocols.wire import parse_object
from holdfast.server import encoder
from holdfast.server.door import Shape, answer, body_of, engine_of, posted, sse_frame
from holdfast.server.errors import openai_error

router = APIRouter(tags=["OpenAI"])


def _read(fields: dict[str, object]) -> ChatRequest:
    chat = openai_chat.parse_request(fields)
    if not chat.messages:
        raise BadRequest(
            "Invalid 'messages': empty array. Expected an array with minimum length 1.",
            param="messages",
            code="empty_array",
        )
    return chat


def _writer(chat: ChatRequest, turn: Turn) -> openai_chat.OpenAIChatWriter:
    del turn
    options = chat.extra.get(openai_chat.NAME, {}).get("stream_options")
    wanted = isinstance(options, dict) and bool(options.get("include_usage"))
    return openai_chat.OpenAIChatWriter(chat.model, include_usage=wanted)


CHAT = Shape(
    path="/v1/chat/completions",
    read=_read,
    writer=_writer,
    error=openai_error,
    media_type="text/event-stream",
    frame=sse_frame,
    closing=b"data: [DONE]\n\n",
)


@posted(router, "/v1/chat/completions")
async def chat_completions(request: Request) -> Response:
    body = await body_of(request)
    return await answer(request, CHAT, body, parse_object(body))


@router.get("/v1/models")
async def models(request: Request) -> JSONResponse:
    found = await engine_of(request).upstreams.models()
    created = int(time.time())
    rows = [
        {
            "id": model.name,
            "object": "model",
            "created": created,
            "owned_by": "holdfast",
            **{name: value for name, value in model.raw.items() if model.raw.get("object") == "model"},
        }
        for model in (*found, *encoder.listed())
    ]
    return JSONResponse({"object": "list", "data": rows})


@router.get("/v1/models/{name:path}")
async def model(request: Request, name: str) -> JSONResponse:
    ours = encoder.listed() if encoder.is_encoder(name) else []
    found = ours[0] if ours else await engine_of(request).upstreams.describe(name)
    row = {"id": found.name, "object": "model", "created": int(time.time()), "owned_by": "holdfast"}
    return JSONResponse(row)
