"""OpenAI's responses API, with the whole history in the request or the id of the response it continues.

Responses are read from the log; the id of a response is that of its job.
"""

import re
import secrets
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.conversations.identity import find_answer
from holdfast.errors import BadRequest, NotFound
from holdfast.messages import ChatRequest, Scope
from holdfast.protocols import openai_responses
from holdfast.protocols.wire import expect, parse_object
from holdfast.server.endpoint import (
    ChatProtocol,
    adapt_thinking,
    engine_of,
    event_frame,
    is_off,
    names_project,
    pass_through,
    post_route,
    read_body,
    respond,
    scope_of,
    scope_of_chat,
    start_turn,
)
from holdfast.server.errors import openai_error
from holdfast.store import JobRecord, Store
from holdfast.turn import Turn

router = APIRouter(tags=["OpenAI"])

# Options that only OpenAI's own service offers, and what to do instead.
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
    # With `store: false` the id leads nowhere, although the conversation is recorded.
    job = turn.job if settings["store"] else ""
    return openai_responses.ResponsesWriter(f"resp_{job or secrets.token_hex(16)}", settings)


RESPONSES = ChatProtocol(
    path="/v1/responses",
    read=_read,
    writer=_writer,
    error=openai_error,
    media_type="text/event-stream",
    frame=event_frame,
)


@post_route(router, "/v1/responses")
async def create_response(request: Request) -> Response:
    body = await read_body(request)
    fields = parse_object(body)
    if is_off(request):
        return await pass_through(request, RESPONSES, body, fields)
    engine, named, scope = engine_of(request), fields, None
    names = [fields.get("previous_response_id"), *(_id_of(item) for item in _items(fields))]
    if any(names):
        scope = await scope_of_response(request, next(filter(None, names)))
        named = await engine.store.run(resolve_references, engine.store, scope, fields)
    chat = await adapt_thinking(engine, _read(named))
    turn = await start_turn(request, chat, scope=scope or await scope_of_chat(request, chat))
    if turn.off:
        return await pass_through(request, RESPONSES, body, fields)
    return await respond(request, RESPONSES, chat, turn)


@router.post("/v1/responses/input_tokens")
async def count_input_tokens(request: Request) -> dict[str, Any]:
    """Count the tokens of the client's own items, before anything is added or fitted."""
    chat = _read(parse_object(await read_body(request)))
    engine = engine_of(request)
    provider = await engine.upstreams.route(chat.model)
    count = await engine.models.counters.count_request(provider, chat)
    return {"object": "response.input_tokens", "input_tokens": count.tokens}


@router.get("/v1/responses/{name}")
async def show_response(request: Request, name: str) -> JSONResponse:
    store = engine_of(request).store
    scope = await scope_of_response(request, name)
    return JSONResponse(await store.run(load_response, store, scope, name))


@router.delete("/v1/responses/{name}")
async def delete_response(request: Request, name: str) -> None:
    store = engine_of(request).store
    given = await store.run(find_answer, store, await scope_of_response(request, name), name)
    raise BadRequest(
        f"{name} is part of a conversation and cannot be taken out of it",
        hint=f"DELETE /api/chats/{given.conversation.id} deletes the whole conversation.",
    )


async def scope_of_response(request: Request, name: object) -> Scope:
    """Return the scope of a request that names an answer, or an item of one: where nobody names a project,
    that of the answer, if it is the user's own.
    """
    scope, store = scope_of(request), engine_of(request).store
    if names_project(request) or scope.kind == "group" or not isinstance(name, str):
        return scope
    match = _ITEM.fullmatch(name)
    try:
        job = await store.run(store.jobs.get, match[1] if match else name.removeprefix("resp_"))
    except NotFound:
        return scope
    return replace(scope, project=job.project) if job.user == scope.user else scope


def resolve_references(store: Store, scope: Scope, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the request with the items that it references by id; raise an error if one is missing."""
    if previous := fields.get("previous_response_id"):
        find_answer(store, scope, expect(previous, str, "previous_response_id"))
    answers: dict[str, dict[str, Any]] = {}
    named = [
        resolve_item(store, scope, item, answers) if _is_reference(item) else item for item in _items(fields)
    ]
    return {**fields, "input": named} if named else fields


def _items(fields: dict[str, Any]) -> list[Any]:
    given = fields.get("input")
    return given if isinstance(given, list) else []


def _id_of(item: Any) -> object:
    return item.get("id", "?") if _is_reference(item) else None


def _is_reference(item: Any) -> bool:
    """Whether an item is a reference; clients may leave out its type, as they may that of a message."""
    return isinstance(item, dict) and "role" not in item and item.get("type") in (None, "item_reference")


def resolve_item(
    store: Store, scope: Scope, item: dict[str, Any], answers: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return the item that a reference stands for; `answers` caches the items of answers already loaded."""
    name = expect(item.get("id"), str, "input[].id")
    if (match := _ITEM.fullmatch(name)) and match[1] not in answers:
        answer = find_answer(store, scope, match[1]).answer
        items = openai_responses.serialize_items(match[1], answer.message) if answer else []
        answers[match[1]] = {entry["id"]: entry for entry in items}
    known = answers[match[1]].get(name) if match else None
    if known is None:
        raise NotFound(f"Item with id '{name}' not found.", hint="Send the item itself.")
    return dict(known)


def load_response(store: Store, scope: Scope, name: str) -> dict[str, Any]:
    """Return an answer from the log, with the instructions and tools that were sent with its question."""
    given = find_answer(store, scope, name)
    job, answer = given.job, given.answer
    settings = openai_responses.echo_settings(load_request(store, job))
    how = openai_responses.describe_end(answer.finish if answer else None)
    if job.status in _STATUS:
        how = {"status": _STATUS[job.status]}
    if job.error:
        how["error"] = {"code": "server_error", "message": job.error}
    items = openai_responses.serialize_items(name, answer.message) if answer else []
    usage, created = openai_responses.serialize_usage(job.usage), int(job.queued_at)
    return openai_responses.build_response(name, settings, items, **how, usage=usage, created_at=created)


def load_request(store: Store, job: JobRecord) -> ChatRequest:
    """Return what was recorded of the request that a job answered."""
    try:
        prompt = store.prompts.get(job.prompt or "")
    except NotFound:
        return ChatRequest(job.model, ())
    instructions = "\n\n".join(message.text for message in prompt.system)
    return ChatRequest(
        job.model, (), prompt.tools, extra={openai_responses.NAME: {"instructions": instructions or None}}
    )
