"""OpenAI's API: chat completions, responses, the older completions, and the list of models.

Responses are read from the log; the id of a response is that of its job. Completions are not recorded, since
they are no conversation. Ollama gets them through its own API, because its `/v1` cuts long prompts silently
and takes no window.
"""

import re
import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.conversations.identity import find_answer
from holdfast.errors import BadRequest, NotFound
from holdfast.messages import ChatRequest, Chunk, JsonObject, Scope, canonical
from holdfast.protocols import ollama, openai_chat, openai_responses
from holdfast.protocols.wire import expect, iter_lines, parse_object
from holdfast.server import embeddings
from holdfast.server.endpoint import (
    ChatProtocol,
    adapt_thinking,
    answer_chat,
    engine_of,
    event_frame,
    is_off,
    names_project,
    openai_error,
    pass_through,
    post_route,
    read_body,
    respond,
    scope_of,
    scope_of_chat,
    sse_frame,
    start_turn,
)
from holdfast.server.guard import access_of
from holdfast.store import JobRecord, Store
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
                yield reader.read(line)
    finally:
        await answer.close()


def _chunk_in(payload: JsonObject, _: str) -> Chunk:
    """Read a line of `/api/generate` as the equivalent line of a chat."""
    message = {"content": payload.get("response"), "thinking": payload.get("thinking")}
    return ollama.parse_chunk({**payload, "message": message})


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
