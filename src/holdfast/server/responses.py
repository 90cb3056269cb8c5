"""OpenAI's responses: with the whole history in the request, or with the name of the answer it continues.

Knows the routes; the wire format is in `dialects`, the turn in `engine`. What was answered is in the log, and
an answer's id is the name of the job that it is kept under.
"""

import re
import secrets
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.conversations.named import answer_named
from holdfast.engine import Turn
from holdfast.errors import BadRequest, NotFound
from holdfast.messages import ChatRequest, Scope
from holdfast.protocols import openai_responses
from holdfast.protocols.wire import expect, parse_object
from holdfast.server.door import (
    Shape,
    body_of,
    engine_of,
    event_frame,
    is_off,
    pass_through,
    posted,
    respond,
    scope_of,
    turn_of,
)
from holdfast.server.errors import openai_error
from holdfast.server.thinking import if_it_can
from holdfast.store import Job, Store

router = APIRouter(tags=["OpenAI"])

# What would have to be kept or done at OpenAI's, and what to do instead.
_IMPOSSIBLE = {
    "background": "Keep the connection open until the answer is there.",
    "conversation": "Use previous_response_id, or metadata.conversation_id.",
    "prompt": "Send the text itself as instructions and input.",
    "top_logprobs": "Leave it out, or use /v1/chat/completions.",
}
_ITEM = re.compile(r"(?:msg|rs|fc)_(j_[0-9a-z]+)_\d+")
_STATUS = {"queued": "queued", "running": "in_progress", "failed": "failed", "cut": "incomplete"}


def _read(fields: dict[str, Any]) -> ChatRequest:
    for name, instead in _IMPOSSIBLE.items():
        if fields.get(name):
            raise BadRequest(f"{name} is not possible here", hint=instead, param=name)
    chat = openai_responses.parse_request(fields)
    if not chat.messages:
        raise BadRequest("input is empty", hint="Send a text, or at least one item.", param="input")
    return chat


def _writer(chat: ChatRequest, turn: Turn) -> openai_responses.ResponsesWriter:
    settings = openai_responses.echo_settings(chat)
    # What is not to be stored has a name that leads nowhere, though the log of the conversation is kept.
    kept = turn.job if settings["store"] else ""
    return openai_responses.ResponsesWriter(f"resp_{kept or secrets.token_hex(16)}", settings)


RESPONSES = Shape(
    path="/v1/responses",
    read=_read,
    writer=_writer,
    error=openai_error,
    media_type="text/event-stream",
    frame=event_frame,
)


@posted(router, "/v1/responses")
async def create(request: Request) -> Response:
    body = await body_of(request)
    fields = parse_object(body)
    if is_off(request):
        return await pass_through(request, RESPONSES, body, fields)
    engine, named = engine_of(request), fields
    if fields.get("previous_response_id") or any(map(_is_reference, _items(fields))):
        named = await engine.store.run(_resolved, engine.store, scope_of(request), fields)
    chat = await if_it_can(engine, _read(named))
    turn = await turn_of(request, chat)
    if turn.off:
        return await pass_through(request, RESPONSES, body, fields)
    return await respond(request, RESPONSES, chat, turn)


@router.post("/v1/responses/input_tokens")
async def input_tokens(request: Request) -> dict[str, Any]:
    """How many tokens the client's own items have, before anything is brought in or made to fit."""
    chat = _read(parse_object(await body_of(request)))
    engine = engine_of(request)
    provider = await engine.upstreams.route(chat.model)
    count = await engine.models.counters.count_request(provider, chat)
    return {"object": "response.input_tokens", "input_tokens": count.tokens}


@router.get("/v1/responses/{name}")
async def response(request: Request, name: str) -> JSONResponse:
    store = engine_of(request).store
    return JSONResponse(await store.run(_given, store, scope_of(request), name))


@router.delete("/v1/responses/{name}")
async def delete(request: Request, name: str) -> None:
    store = engine_of(request).store
    given = await store.run(answer_named, store, scope_of(request), name)
    raise BadRequest(
        f"{name} is part of a conversation and cannot be taken out of it",
        hint=f"DELETE /api/chats/{given.conversation.id} deletes the whole conversation.",
    )


def _resolved(store: Store, scope: Scope, fields: dict[str, Any]) -> dict[str, Any]:
    """The request with the items that it only names; what it continues must be there."""
    if previous := fields.get("previous_response_id"):
        answer_named(store, scope, expect(previous, str, "previous_response_id"))
    answers: dict[str, dict[str, Any]] = {}
    named = [_item(store, scope, item, answers) if _is_reference(item) else item for item in _items(fields)]
    return {**fields, "input": named} if named else fields


def _items(fields: dict[str, Any]) -> list[Any]:
    given = fields.get("input")
    return given if isinstance(given, list) else []


def _is_reference(item: Any) -> bool:
    """Clients may leave out the type of a reference, as they may that of a message."""
    return isinstance(item, dict) and "role" not in item and item.get("type") in (None, "item_reference")


def _item(
    store: Store, scope: Scope, item: dict[str, Any], answers: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """The item that a reference stands for; `answers` are the items of those that were looked up before."""
    name = expect(item.get("id"), str, "input[].id")
    if (found := _ITEM.fullmatch(name)) and found[1] not in answers:
        answer = answer_named(store, scope, found[1]).answer
        items = openai_responses.serialize_items(found[1], answer.message) if answer else []
        answers[found[1]] = {one["id"]: one for one in items}
    known = answers[found[1]].get(name) if found else None
    if known is None:
        raise NotFound(f"Item with id '{name}' not found.", hint="Send the item itself.")
    return dict(known)


def _given(store: Store, scope: Scope, name: str) -> dict[str, Any]:
    """An answer as it is in the log, with the instructions and tools that were sent with its question."""
    given = answer_named(store, scope, name)
    job, answer = given.job, given.answer
    settings = openai_responses.echo_settings(_asked(store, job))
    how = openai_responses.describe_end(answer.finish if answer else None)
    if job.status in _STATUS:
        how = {"status": _STATUS[job.status]}
    if job.error:
        how["error"] = {"code": "server_error", "message": job.error}
    items = openai_responses.serialize_items(name, answer.message) if answer else []
    usage, created = openai_responses.serialize_usage(job.usage), int(job.queued_at)
    return openai_responses.build_response(name, settings, items, **how, usage=usage, created_at=created)


def _asked(store: Store, job: Job) -> ChatRequest:
    """What is still known of the request that an answer was given to."""
    try:
        prompt = store.prompts.get(job.prompt or "")
    except NotFound:
        return ChatRequest(job.model, ())
    said = "\n\n".join(message.text for message in prompt.system)
    return ChatRequest(
        job.model, (), prompt.tools, extra={openai_responses.NAME: {"instructions": said or None}}
    )
