"""The conversations that were kept, over REST: finding, reading, renaming, forking and deleting them.

Knows the log; what of a conversation a model is shown is in `chat_windows`.
"""

import asyncio
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator
from starlette.requests import Request
from starlette.responses import Response

from holdfast.conversations import forks
from holdfast.conversations.named import message_named
from holdfast.conversations.search import search
from holdfast.conversations.shown import conversation_out, results_out
from holdfast.errors import BadRequest
from holdfast.fitting.account import message_account
from holdfast.fitting.reading import Part
from holdfast.server import chat_windows, reading
from holdfast.server.detached import Turns
from holdfast.server.endpoint import engine_of, scope_of
from holdfast.store import Conversation

router = APIRouter(prefix="/api/chats", tags=["Conversations"])

# A picture is a picture, whatever else it may be, and nobody but who may see it keeps it.
_PICTURE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, max-age=3600",
}

Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


class Changes(BaseModel):
    """What can be changed about a conversation, at least one of it; what is left out stays.

    `off`: its requests are passed through, and nothing more of it is kept. Without `memory` it is kept and
    made to fit, but nothing that is remembered goes into it, and nothing of it is remembered.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    title: Title | None = None
    off: bool | None = None
    memory: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.title is None and self.off is None and self.memory is None:
            raise ValueError("nothing to change: give a title, off or memory")
        return self


class ForkFrom(BaseModel):
    """Where a fork goes on from, by default the last message, and what it is called."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str | None = None
    title: Title | None = None


class TurnTo(BaseModel):
    """The message to go on from."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str


@router.get("")
async def chats(
    request: Request, limit: int = Query(50, ge=1, le=500), before: str | None = None
) -> dict[str, Any]:
    """Conversations, the last used first; `before` is the `next` of the page before."""
    store = engine_of(request).store
    found = await store.run(store.log.recent, scope_of(request), limit + 1, _position(before))
    page = found[:limit]
    more = f"{page[-1].updated_at}:{page[-1].id}" if len(found) > limit else None
    return {"chats": [conversation_out(row) for row in page], "next": more}


@router.get("/search")
async def find(request: Request, q: str, limit: int = Query(20, ge=1, le=100)) -> dict[str, Any]:
    """Messages of all conversations that have the words of `q`, best first, then those about the same."""
    engine, scope = engine_of(request), scope_of(request)
    near = await asyncio.to_thread(engine.remembering.messages_near, scope, q) if engine.remembering else {}
    return results_out(await engine.store.run(search, engine.store, scope, q, limit=limit, near=near))


@router.patch("/{conversation}")
async def change(request: Request, conversation: str, changes: Changes) -> dict[str, Any]:
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> Conversation:
        row = store.log.get(conversation, scope)
        if changes.title is not None:
            store.log.rename(row.id, changes.title)
        switches = changes.model_dump(include={"off", "memory"}, exclude_none=True)
        return store.log.update_settings(row.id, switches)

    return conversation_out(await store.run(store.atomically, work))


@router.delete("/{conversation}", status_code=204)
async def delete(request: Request, conversation: str, memories: Literal["keep", "forget"] = "keep") -> None:
    """Remove a conversation and its words, except those that a fork shares.

    What was learned in it stays, unless it is to be forgotten too.
    """
    engine, scope = engine_of(request), scope_of(request)
    store, remembering = engine.store, engine.remembering

    def work() -> Conversation:
        row = store.log.get(conversation, scope)
        store.log.delete(row.id)
        return row

    row = await store.run(store.atomically, work)
    if remembering is not None:
        forget = memories == "forget"
        await asyncio.to_thread(remembering.conversation_deleted, row.scope, row.id, forget=forget)


@router.post("/{conversation}/fork", status_code=201)
async def fork(request: Request, conversation: str, start: ForkFrom | None = None) -> dict[str, Any]:
    """A second conversation that shares this one's messages up to one of them."""
    store, scope = engine_of(request).store, scope_of(request)
    start = start or ForkFrom()

    def work() -> Conversation:
        row = store.log.get(conversation, scope)
        message = message_named(store, row, start.message).id if start.message is not None else None
        return forks.fork(store, row, message, start.title or "")

    return conversation_out(await store.run(store.atomically, work))


@router.get("/{conversation}/messages")
async def messages(
    request: Request,
    conversation: str,
    limit: int | None = Query(None, ge=1, le=500),
    before: str | None = None,
    after: str | None = None,
    around: str | None = None,
    html: bool = False,
) -> dict[str, Any]:
    """The conversation as it stands, an answer that is being written included.

    Where its older part became a summary stands an entry of `type: compaction`, which nobody said. With
    `limit` only so many messages from its end, or `before`, `after` or `around` a message: `next` is the
    `before` of the older page, `newer` the `after` of the one that follows. With `html` answers are rendered,
    and told with their numbers, files and other versions.
    """
    if sum(one is not None for one in (before, after, around)) > 1:
        raise BadRequest("before, after and around are three things: one at a time", param="before")
    part = Part(limit if limit is not None or not (before or after or around) else 50, before, after, around)
    engine, scope = engine_of(request), scope_of(request)
    store = engine.store
    turns: Turns = request.app.state.turns

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        told = reading.messages_out(engine, row, part, html=html)
        return {**told, "turn": turns.running_in(row.id)} if html else told

    return await store.run(store.at_once, work)


@router.get("/{conversation}/messages/{message}/memories")
async def memories(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """What was remembered for a question, or for the question of an answer."""
    engine, scope = engine_of(request), scope_of(request)
    store = engine.store

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        found = message_named(store, row, message)
        asked = found.parent if found.message.role == "assistant" else found.id
        return {"memories": reading.told_memories(engine, row, asked) if asked else []}

    return await asyncio.to_thread(work)


@router.get("/{conversation}/messages/{message}/images/{number}")
async def image(request: Request, conversation: str, message: str, number: int) -> Response:
    """A picture that came with a message, counted from 0."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> tuple[bytes, str]:
        return reading.image_of(store, store.log.get(conversation, scope), message, number)

    content, kind = await store.run(work)
    return Response(content, media_type=kind, headers=_PICTURE)


@router.put("/{conversation}/head")
async def turn_to(request: Request, conversation: str, where: TurnTo) -> dict[str, Any]:
    """Go on from another version of a message: the newest end that comes after it."""
    store, scope = engine_of(request).store, scope_of(request)
    turns: Turns = request.app.state.turns

    def work() -> Conversation:
        row = store.log.get(conversation, scope)
        turns.check_free(row.id)
        return reading.turn_to(store, row, where.message)

    return conversation_out(await store.run(store.atomically, work))


@router.get("/{conversation}/messages/{message}")
async def message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """One message in full, and how it stands in each window: there, shortened or left out, and why."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        return message_account(store, row, message_named(store, row, message))

    return await store.run(work)


router.include_router(chat_windows.router2)


def _position(before: str | None) -> tuple[float, str] | None:
    if before is None:
        return None
    moment, _, name = before.partition(":")
    try:
        return float(moment), name
    except ValueError:
        raise BadRequest("`before` must be the `next` of another page", param="before") from None
