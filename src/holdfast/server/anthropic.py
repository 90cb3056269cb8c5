"""Anthropic's API, as coding agents use it: messages, and how many tokens they have.

Knows the routes; the wire format is in `dialects`, the turn in `engine`.
"""

import secrets
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from holdfast.engine import Turn
from holdfast.errors import BadRequest
from holdfast.messages import ChatRequest
from holdfast.protocols import anthropic
from holdfast.protocols.wire import parse_object
from holdfast.server.door import (
    Shape,
    body_of,
    engine_of,
    event_frame,
    is_off,
    pass_through,
    posted,
    respond,
    turn_of,
)
from holdfast.server.errors import anthropic_error
from holdfast.server.thinking import if_it_can

router = APIRouter(tags=["Anthropic"])

PATH = "/v1/messages"


def _read(fields: dict[str, Any]) -> ChatRequest:
    chat = anthropic.parse_request(fields)
    if not any(message.role != "system" for message in chat.messages):
        raise BadRequest("messages: at least one message is required", param="messages")
    return chat


def _writer(chat: ChatRequest, turn: Turn) -> anthropic.AnthropicWriter:
    def expected() -> int:
        return int(turn.facts.report.get("tokens", 0))

    return anthropic.AnthropicWriter(chat.model, f"msg_{turn.job or secrets.token_hex(12)}", expected)


MESSAGES = Shape(
    path=PATH,
    read=_read,
    writer=_writer,
    error=anthropic_error,
    media_type="text/event-stream",
    frame=event_frame,
    waiting=event_frame({"type": "ping"}),
)


@posted(router, PATH)
async def messages(request: Request) -> Response:
    body = await body_of(request)
    fields = parse_object(body)
    if not is_off(request):
        chat = await if_it_can(engine_of(request), _read(fields))
        turn = await turn_of(request, chat)
        if not turn.off:
            return await respond(request, MESSAGES, chat, turn)
    return await pass_through(request, MESSAGES, body, fields)


@router.post(f"{PATH}/count_tokens")
async def count_tokens(request: Request) -> dict[str, int]:
    """The whole of what the client would send, before anything is made to fit."""
    chat = _read(parse_object(await body_of(request)))
    engine = engine_of(request)
    provider = await engine.upstreams.route(chat.model)
    count = await engine.models.counters.count_request(provider, chat)
    return {"input_tokens": count.tokens}
