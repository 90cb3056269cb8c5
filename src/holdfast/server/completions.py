"""OpenAI's older completions: a prompt to be continued. No conversation, so nothing of it is kept.

A server that speaks it answers by itself; Ollama is asked in its own words, because its `/v1` cuts long
prompts silently and takes no window.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from holdfast.engine import Turn
from holdfast.messages import ChatRequest, Chunk, JsonObject, canonical
from holdfast.protocols import ollama, openai_chat
from holdfast.protocols.wire import expect, iter_ndjson, parse_object
from holdfast.server.access import access_of
from holdfast.server.door import Shape, body_of, engine_of, is_off, pass_through, posted, respond, sse_frame
from holdfast.server.errors import openai_error
from holdfast.upstreams.base import Provider, error_from_response, iter_chunks

router = APIRouter(tags=["OpenAI"])

_GENERATE = "/api/generate"


def _writer(chat: ChatRequest, turn: Turn) -> openai_chat.CompletionsWriter:
    del turn
    given = chat.extra.get(openai_chat.NAME, {})
    options = given.get("stream_options")
    return openai_chat.CompletionsWriter(
        chat.model,
        echo=chat.messages[0].text if given.get("echo") else "",
        include_usage=isinstance(options, dict) and bool(options.get("include_usage")),
    )


COMPLETIONS = Shape(
    path="/v1/completions",
    read=openai_chat.parse_completion_request,
    writer=_writer,
    error=openai_error,
    media_type="text/event-stream",
    frame=sse_frame,
    closing=b"data: [DONE]\n\n",
)


@posted(router, "/v1/completions")
async def complete(request: Request) -> Response:
    body = await body_of(request)
    fields = parse_object(body)
    engine = engine_of(request)
    provider = await engine.upstreams.route(expect(fields.get("model"), str, "model"))
    if is_off(request) or provider.dialect != "ollama":
        return await pass_through(request, COMPLETIONS, body, fields)
    chat = openai_chat.parse_completion_request(fields)
    windows = await engine.models.windows(provider, chat.model)
    asked = _generate_out(chat.with_options(num_ctx=windows.used.tokens))
    return await respond(request, COMPLETIONS, chat, Turn(chat.model, _in_turn(request, provider, asked)))


def _generate_out(chat: ChatRequest) -> dict[str, Any]:
    """The prompt as it is, or, with a suffix, in the model's own template for what goes between the two."""
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


async def _in_turn(request: Request, provider: Provider, asked: JsonObject) -> AsyncGenerator[Chunk, None]:
    with engine_of(request).serving(provider, access_of(request).user) as place:
        await place.turn()
        async with aclosing(_generated(provider, asked)) as chunks:
            async for chunk in chunks:
                yield chunk


async def _generated(provider: Provider, asked: JsonObject) -> AsyncGenerator[Chunk, None]:
    body = canonical(asked).encode()
    answer = await provider.forward("POST", _GENERATE, {"content-type": "application/json"}, body)
    try:
        if answer.status != 200:
            said = b"".join([data async for data in answer.stream])
            raise error_from_response(answer.status, said, model=asked["model"], where=provider.location)
        async for chunk in iter_chunks(iter_ndjson(answer.stream), _chunk_in, where=provider.location):
            yield chunk
    finally:
        await answer.close()


def _chunk_in(payload: JsonObject) -> Chunk:
    """A line of `/api/generate`, read as the line of a chat that says the same."""
    message = {"content": payload.get("response"), "thinking": payload.get("thinking")}
    return ollama.parse_chunk({**payload, "message": message})
