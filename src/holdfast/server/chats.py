"""The conversations that were kept, over REST: finding, reading, renaming, forking and deleting them.

Knows the log; what of a conversation a model is shown is in `chat_windows`.
"""

import asyncio
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator
from starlette.requests import Request
from starlette.responses import Response

from holdfast.conversations import forks, lanes
from holdfast.conversations.named import decision_named, message_named
from holdfast.conversations.search import search
from holdfast.conversations.shown import conversation_out, decision_out, message_out, results_out, said_in
from holdfast.errors import BadRequest, HoldfastError
from holdfast.fitting.account import (
    Standing,
    came_back,
    compactions_account,
    lane_of,
    message_account,
    pins_of,
    standings,
    summary_account,
    window_account,
)
from holdfast.fitting.course import Sent, last_sent, turns_of
from holdfast.fitting.filing import files_of
from holdfast.fitting.marks import pin
from holdfast.fitting.reading import Part
from holdfast.messages import ChatRequest
from holdfast.protocols import ollama, openai
from holdfast.protocols.pairing import with_ids, with_names
from holdfast.server import transcript
from holdfast.server.detached import DetachedTurns
from holdfast.server.endpoint import engine_of, scope_of
from holdfast.store import Conversation, Lane, Stored
from holdfast.upstreams.base import Dialect

router = APIRouter(prefix="/api/chats", tags=["Conversations"])


class Undo(BaseModel):
    """Which decision is to be undone; by default all of the last batch."""

    model_config = ConfigDict(extra="forbid", strict=True)

    decision: str | None = None


@router.get("/{conversation}/window")
async def show_window(
    request: Request, conversation: str, window: int | None = Query(None, ge=1)
) -> dict[str, Any]:
    """What was last sent in the newest window, or in that of this size, and what is decided there."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> dict[str, Any]:
        return window_account(store, store.log.get(conversation, scope), window)

    return await store.run(work)


@router.get("/{conversation}/files")
async def list_files(
    request: Request, conversation: str, window: int | None = Query(None, ge=1)
) -> dict[str, Any]:
    """Which message brought which file, in which mode and with how many tokens; and if it is still there."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        return {"files": files_of(store, lane_of(store, row, window))}

    return await store.run(work)


@router.get("/{conversation}/compactions")
async def list_compactions(request: Request, conversation: str) -> dict[str, Any]:
    """Every batch that made room, oldest first, with its decisions."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> dict[str, Any]:
        return compactions_account(store, store.log.get(conversation, scope))

    return await store.run(work)


@router.post("/{conversation}/compact")
async def compact_chat(request: Request, conversation: str) -> dict[str, Any]:
    """Have the older part become a summary now, however much room there is; the last exchanges stay."""
    engine, scope = engine_of(request), scope_of(request)
    store = engine.store
    row = await store.run(store.log.get, conversation, scope)
    with engine.afterwards.person():
        await engine.compacting.compact(row.id)
    # Its notes are still to be written.
    engine.afterwards.compacted(row.id)
    return await store.run(summary_account, store, row)


@router.post("/{conversation}/undo")
async def undo_decision(request: Request, conversation: str, choice: Undo | None = None) -> dict[str, Any]:
    """Take back a decision, or the last batch; the same is not done again before the last resort.

    `back` names the messages that go out again by this, as far as there is room.
    """
    store, scope = engine_of(request).store, scope_of(request)
    name = choice.decision if choice else None

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        undone = lanes.undo(store, row, None if name is None else decision_named(store, row, name))
        return {
            "undone": [decision_out(decision) for decision in undone],
            "back": came_back(store, row, undone),
        }

    return await store.run(store.atomically, work)


@router.post("/{conversation}/messages/{message}/pin")
async def pin_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """Keep a message in the window as it is, whatever has to give way."""
    engine, scope = engine_of(request), scope_of(request)
    store = engine.store

    def work() -> Stored:
        row = store.log.get(conversation, scope)
        return pin(store, engine.fitter.preset, row, message_named(store, row, message).id)

    return {**message_out(await store.run(store.atomically, work)), "pinned": True}


@router.delete("/{conversation}/messages/{message}/pin")
async def unpin_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> Stored:
        row = store.log.get(conversation, scope)
        return lanes.unpin(store, row, message_named(store, row, message).id)

    return {**message_out(await store.run(store.atomically, work)), "pinned": False}


# A picture is a picture, whatever else it may be, and nobody but who may see it keeps it.
_IMAGE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, max-age=3600",
}

Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


class ConversationChanges(BaseModel):
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


class NewFork(BaseModel):
    """Where a fork goes on from, by default the last message, and what it is called."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str | None = None
    title: Title | None = None


class NewHead(BaseModel):
    """The message to go on from."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str


@router.get("")
async def list_chats(
    request: Request, limit: int = Query(50, ge=1, le=500), before: str | None = None
) -> dict[str, Any]:
    """Conversations, the last used first; `before` is the `next` of the page before."""
    store = engine_of(request).store
    rows = await store.run(store.log.recent, scope_of(request), limit + 1, parse_cursor(before))
    page = rows[:limit]
    more = f"{page[-1].updated_at}:{page[-1].id}" if len(rows) > limit else None
    return {"chats": [conversation_out(row) for row in page], "next": more}


@router.get("/search")
async def search_chats(request: Request, q: str, limit: int = Query(20, ge=1, le=100)) -> dict[str, Any]:
    """Messages of all conversations that have the words of `q`, best first, then those about the same."""
    engine, scope = engine_of(request), scope_of(request)
    near = await asyncio.to_thread(engine.remembering.messages_near, scope, q) if engine.remembering else {}
    return results_out(await engine.store.run(search, engine.store, scope, q, limit=limit, near=near))


@router.patch("/{conversation}")
async def change_chat(request: Request, conversation: str, changes: ConversationChanges) -> dict[str, Any]:
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> Conversation:
        row = store.log.get(conversation, scope)
        if changes.title is not None:
            store.log.rename(row.id, changes.title)
        switches = changes.model_dump(include={"off", "memory"}, exclude_none=True)
        return store.log.update_settings(row.id, switches)

    return conversation_out(await store.run(store.atomically, work))


@router.delete("/{conversation}", status_code=204)
async def delete_chat(
    request: Request, conversation: str, memories: Literal["keep", "forget"] = "keep"
) -> None:
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
async def fork_chat(request: Request, conversation: str, start: NewFork | None = None) -> dict[str, Any]:
    """A second conversation that shares this one's messages up to one of them."""
    store, scope = engine_of(request).store, scope_of(request)
    start = start or NewFork()

    def work() -> Conversation:
        row = store.log.get(conversation, scope)
        message = message_named(store, row, start.message).id if start.message is not None else None
        return forks.fork(store, row, message, start.title or "")

    return conversation_out(await store.run(store.atomically, work))


@router.get("/{conversation}/messages")
async def list_messages(
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
    if sum(cursor is not None for cursor in (before, after, around)) > 1:
        raise BadRequest("before, after and around are three things: one at a time", param="before")
    part = Part(limit if limit is not None or not (before or after or around) else 50, before, after, around)
    engine, scope = engine_of(request), scope_of(request)
    store = engine.store
    turns: DetachedTurns = request.app.state.turns

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        page = transcript.serialize_messages(engine, row, part, html=html)
        return {**page, "turn": turns.running_in(row.id)} if html else page

    return await store.run(store.at_once, work)


@router.get("/{conversation}/messages/{message}/memories")
async def list_recalled_memories(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """What was remembered for a question, or for the question of an answer."""
    engine, scope = engine_of(request), scope_of(request)
    store = engine.store

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        stored = message_named(store, row, message)
        asked = stored.parent if stored.message.role == "assistant" else stored.id
        return {"memories": transcript.memories_for(engine, row, asked) if asked else []}

    return await asyncio.to_thread(work)


@router.get("/{conversation}/messages/{message}/images/{number}")
async def show_image(request: Request, conversation: str, message: str, number: int) -> Response:
    """A picture that came with a message, counted from 0."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> tuple[bytes, str]:
        return transcript.load_image(store, store.log.get(conversation, scope), message, number)

    content, kind = await store.run(work)
    return Response(content, media_type=kind, headers=_IMAGE_HEADERS)


@router.put("/{conversation}/head")
async def switch_version(request: Request, conversation: str, where: NewHead) -> dict[str, Any]:
    """Go on from another version of a message: the newest end that comes after it."""
    store, scope = engine_of(request).store, scope_of(request)
    turns: DetachedTurns = request.app.state.turns

    def work() -> Conversation:
        row = store.log.get(conversation, scope)
        turns.check_free(row.id)
        return transcript.move_head(store, row, where.message)

    return conversation_out(await store.run(store.atomically, work))


@router.get("/{conversation}/messages/{message}")
async def show_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """One message in full, and how it stands in each window: there, shortened or left out, and why."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        return message_account(store, row, message_named(store, row, message))

    return await store.run(work)


def parse_cursor(before: str | None) -> tuple[float, str] | None:
    if before is None:
        return None
    moment, _, name = before.partition(":")
    try:
        return float(moment), name
    except ValueError:
        raise BadRequest("`before` must be the `next` of another page", param="before") from None


WindowState = Literal["in", "shortened", "out"]

# So much of a message tells which one it is; what stands for a shortened one is a bit longer at most.
_EXCERPT_LENGTH, _MAX_SHOWN = 280, 4_000
# What of a request is not kept, so nobody can say afterwards what it was.
_NOT_RECORDED = ("options", "format", "think")


@router.get("/{conversation}/window/messages")
async def list_window_messages(
    request: Request,
    conversation: str,
    window: int | None = Query(None, ge=1),
    state: WindowState | None = None,
    before: str | None = None,
    limit: int = Query(100, ge=1, le=500),
) -> dict[str, Any]:
    """How each message stands in a window, the newest first: there, shortened or out, and by which rules.

    `before` is the `next` of the page before.
    """
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        lane = lane_of(store, row, window)
        states = standings(store, row, lane)
        counts = {
            name: sum(message.state == name for message in states) for name in ("in", "shortened", "out")
        }
        wanted = [message for message in reversed(states) if state in (None, message.state)]
        start = position_after(wanted, before)
        page, pins = wanted[start : start + limit], pins_of(store, row)
        more = page[-1].stored.id if start + limit < len(wanted) else None
        rows = [serialize_message(message, lane, pinned=message.stored.id in pins) for message in page]
        return {"window": lane.window, "counts": counts, "messages": rows, "next": more}

    return await store.run(store.at_once, work)


@router.get("/{conversation}/turns")
async def list_turns(
    request: Request,
    conversation: str,
    window: int | None = Query(None, ge=1),
    limit: int = Query(50, ge=1, le=500),
) -> dict[str, Any]:
    """The last turns in a window, oldest first: tokens as the server counted them, times, and how much of the
    request before each one began with; and the batches that made room."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        lane = lane_of(store, row, window)
        batches = [
            batch for batch in compactions_account(store, row)["compactions"] if batch["lane"] == lane.id
        ]
        return {
            "window": lane.window,
            "room": lane.report["room"],
            "turns": [turn.to_json() for turn in turns_of(store, row, lane, limit)],
            "compactions": [serialize_batch(batch) for batch in batches],
        }

    return await store.run(store.at_once, work)


@router.get("/{conversation}/request")
async def show_request(
    request: Request, conversation: str, window: int | None = Query(None, ge=1)
) -> dict[str, Any]:
    """The last request in a window as the model server got it, made again from the log and what was decided.

    It is held against the fingerprints that were taken when it went out: `exact` says that messages and tools
    are the same to the byte, `differs` and `missing` what is not. Options are not kept.
    """
    engine, scope = engine_of(request), scope_of(request)
    store = engine.store

    def work() -> tuple[Sent, Lane]:
        row = store.log.get(conversation, scope)
        lane = lane_of(store, row, window)
        return last_sent(store, row, lane), lane

    sent, lane = await store.run(store.at_once, work)
    try:
        dialect = (await engine.upstreams.route(sent.request.model)).dialect
    except HoldfastError:
        # The server is away; its words are most likely those that nearly all of them speak.
        dialect = "openai"
    return {
        "window": lane.window,
        "job": sent.job.id if sent.job else None,
        "upstream": sent.job.upstream if sent.job else None,
        "at": sent.job.queued_at if sent.job else lane.updated_at,
        "exact": sent.exact,
        "differs": list(sent.differs),
        "missing": list(sent.missing),
        "not_kept": list(_NOT_RECORDED),
        "dialect": dialect,
        "body": serialize_body(sent.request, dialect),
    }


def serialize_body(request: ChatRequest, dialect: Dialect) -> dict[str, Any]:
    if dialect == "ollama":
        return ollama.request_out(with_names(request))
    return openai.request_out(with_ids(request))


def serialize_message(message: Standing, lane: Lane, *, pinned: bool) -> dict[str, Any]:
    stored, content = message.stored, said_in(message.stored.message)
    tokens = {row["id"]: row["tokens"] for row in lane.report["messages"]}
    shown = message.shown.text if message.state == "shortened" and message.shown else None
    return {
        "id": stored.id,
        "role": stored.message.role,
        "created_at": stored.created_at,
        "state": message.state,
        "rules": list(message.rules),
        "decisions": [made.id for made in message.decisions],
        "beginning": content["content"][:_EXCERPT_LENGTH],
        "characters": len(content["content"]),
        "images": content.get("images", 0),
        "tools": [call["name"] for call in content.get("tool_calls", ())],
        "shown": None if shown is None else shown[:_MAX_SHOWN],
        "added": [{"section": more.section, "name": more.name, "text": more.text} for more in message.added],
        "tokens": tokens.get(stored.id),
        "pinned": pinned,
    }


def serialize_batch(row: dict[str, Any]) -> dict[str, Any]:
    """A batch without its decisions; undone if all of them were."""
    decisions = row.pop("decisions")
    return {**row, "undone": bool(decisions) and all("undone_at" in decision for decision in decisions)}


def position_after(messages: list[Standing], before: str | None) -> int:
    if before is None:
        return 0
    for at, message in enumerate(messages):
        if message.stored.id == before:
            return at + 1
    raise BadRequest("`before` must be the `next` of another page", param="before")
