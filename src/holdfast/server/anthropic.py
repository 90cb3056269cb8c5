"""Anthropic's messages API as coding agents use it: messages and token counts."""

import secrets
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from holdfast.errors import BadRequest
from holdfast.messages import ChatRequest
from holdfast.protocols import anthropic
from holdfast.protocols.wire import parse_object
from holdfast.server.endpoint import (
    ChatProtocol,
    adapt_thinking,
    anthropic_error,
    engine_of,
    event_frame,
    is_off,
    pass_through,
    post_route,
    read_body,
    respond,
    scope_of_chat,
    start_turn,
)
from holdfast.turn import Turn

router = APIRouter(tags=["Anthropic"])

PATH = "/v1/messages"


def _read(fields: dict[str, Any]) -> ChatRequest:
    chat = anthropic.parse_request(fields)
    if not any(message.role != "system" for message in chat.messages):
        raise BadRequest("messages: at least one message is required", param="messages")
    return chat


def _writer(chat: ChatRequest, turn: Turn) -> anthropic.AnthropicWriter:
    def estimate_tokens() -> int:
        return int(turn.report.get("tokens", 0))

    return anthropic.AnthropicWriter(chat.model, f"msg_{turn.job or secrets.token_hex(12)}", estimate_tokens)


MESSAGES = ChatProtocol(
    path=PATH,
    read=_read,
    writer=_writer,
    error=anthropic_error,
    media_type="text/event-stream",
    frame=event_frame,
    ping=event_frame({"type": "ping"}),
)


@post_route(router, PATH)
async def messages(request: Request) -> Response:
    body = await read_body(request)
    fields = parse_object(body)
    if not is_off(request):
        chat = await adapt_thinking(engine_of(request), _read(fields))
        turn = await start_turn(request, chat, scope=await scope_of_chat(request, chat))
        if not turn.off:
            return await respond(request, MESSAGES, chat, turn)
    return await pass_through(request, MESSAGES, body, fields)


@router.post(f"{PATH}/count_tokens")
async def count_tokens(request: Request) -> dict[str, int]:
    """Count the tokens of the whole request as the client would send it, before it is fitted to a window."""
    chat = _read(parse_object(await read_body(request)))
    engine = engine_of(request)
    provider = await engine.upstreams.route(chat.model)
    count = await engine.models.counters.count_request(provider, chat)
    return {"input_tokens": count.tokens}
