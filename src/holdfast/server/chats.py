"""Conversations over REST: listing, searching, reading, forking and deleting them, and their windows.

What is in a window and why is worked out in `context` and `window`; the routes here return it.
"""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, TypeVar

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator
from starlette.requests import Request
from starlette.responses import Response

from holdfast.context.attachments import files_of
from holdfast.context.message_state import (
    MessageState,
    Part,
    came_back,
    compactions_account,
    lane_of,
    load_states,
    message_account,
    pin,
    pins_of,
    summary_account,
    window_account,
)
from holdfast.context.replay import Sent, last_sent, turns_of
from holdfast.conversations import lanes
from holdfast.conversations.identity import find_decision, find_message
from holdfast.conversations.search import search_scopes
from holdfast.conversations.serialization import (
    serialize_content,
    serialize_conversation,
    serialize_decision,
    serialize_message,
    serialize_results,
)
from holdfast.errors import BadRequest, HoldfastError
from holdfast.i18n import lazy, speak
from holdfast.messages import ChatRequest, Scope
from holdfast.protocols import ollama, openai_chat
from holdfast.protocols.wire import add_call_ids, add_tool_names
from holdfast.server import transcript
from holdfast.server.detached import DetachedTurns
from holdfast.server.endpoint import (
    engine_of,
    names_project,
    require_memory,
    scope_of,
    scope_of_conversation,
)
from holdfast.server.guard import access_of
from holdfast.server.pages.site import language_of
from holdfast.store import ConversationRecord, LaneRecord, ListFilter, Store
from holdfast.transfer.projects import move_to_project
from holdfast.upstreams.base import Dialect
from holdfast.window import sentences

T = TypeVar("T")

router = APIRouter(prefix="/api/chats", tags=["Conversations"])

# A browser must treat it as an image or a text, whatever else it may be, and keep it in its private cache.
_ATTACHMENT_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, max-age=3600",
}

Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Folder = Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)]
# What says where a conversation stands in the list.
PLACE = ("pinned", "archived", "folder")


class ConversationChanges(BaseModel):
    """Changes to a conversation, at least one; what is left out stays.

    `off`: its requests are passed through and not recorded. Without `memory` it is recorded and fitted, but
    no memories are added to it and none are made from it. `folder`: "" takes it out of its folder.
    `project` moves it there with its forks; what was learned in it stays where it was learned.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    title: Title | None = None
    off: bool | None = None
    memory: bool | None = None
    pinned: bool | None = None
    archived: bool | None = None
    folder: Folder | None = None
    project: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_dump(exclude_none=True):
            raise ValueError(f"nothing to change: give one of {', '.join(type(self).model_fields)}")
        return self


class NewFork(BaseModel):
    """The message after which a fork begins, by default the last one, and the title of the fork."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str | None = None
    title: Title | None = None


class NewHead(BaseModel):
    """The message to continue from."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str


@router.get("")
async def list_chats(
    request: Request,
    limit: int = Query(50, ge=1, le=500),
    before: str | None = None,
    project: str | None = None,
    archived: Literal["no", "yes", "any"] = "no",
    pinned: bool | None = None,
    folder: Folder | None = None,
    title: str = Query("", max_length=300),
) -> dict[str, Any]:
    """List conversations, the last used first; `before` is the `next` of the previous page.

    Where neither `project` nor the key nor a header names a project, those of all projects are listed.
    `folder` "" are those in none, `title` is a part of the title.
    """
    store, scope = engine_of(request).store, scope_of(request, project)
    is_archived = {"no": False, "yes": True, "any": None}[archived]
    which = ListFilter(spans_projects(request, project), pinned, is_archived, folder, title.strip())
    rows = await store.run(store.log.recent, scope, limit + 1, parse_cursor(before), which)
    page = rows[:limit]
    more = f"{page[-1].updated_at}:{page[-1].id}" if len(rows) > limit else None
    return {"chats": [serialize_conversation(row) for row in page], "next": more}


@router.get("/projects")
async def list_projects(request: Request) -> dict[str, Any]:
    """List the projects in which there are conversations, by name; a key for one project sees that one."""
    return {"projects": [scope.project for scope in await list_scopes(request)]}


@router.get("/search")
async def search_chats(
    request: Request, q: str, limit: int = Query(20, ge=1, le=100), project: str | None = None
) -> dict[str, Any]:
    """Search the messages of all conversations: first by the words of `q`, then by meaning.

    Where neither `project` nor the key nor a header names a project, those of all projects are searched.
    """
    engine, scopes = engine_of(request), await list_scopes(request, project)
    near: dict[str, float] = {}
    if remembering := engine.remembering:
        for scope in scopes:
            near |= await asyncio.to_thread(remembering.messages_near, scope, q)
    results = await engine.store.run(search_scopes, engine.store, scopes, q, limit=limit, near=near)
    return serialize_results(results)


def spans_projects(request: Request, project: str | None = None) -> bool:
    """Whether a request is about all projects of a person, since nobody names one."""
    return project is None and scope_of(request).kind == "private" and not names_project(request)


async def list_scopes(request: Request, project: str | None = None) -> list[Scope]:
    """Return the scopes that a request is about: the one that is named, else all that the person has."""
    store, scope = engine_of(request).store, scope_of(request, project)
    if not spans_projects(request, project):
        return [scope]
    return [row for row in await store.run(store.log.scopes, scope.user) if row.kind == scope.kind]


async def read_chat(request: Request, conversation: str, work: Callable[[Store, ConversationRecord], T]) -> T:
    """Call `work` with a conversation of the sender; all it reads is of the same moment."""
    store, scope = engine_of(request).store, await scope_of_conversation(request, conversation)
    return await store.run(store.read_snapshot, lambda: work(store, store.log.get(conversation, scope)))


async def write_chat(
    request: Request, conversation: str, work: Callable[[Store, ConversationRecord], T]
) -> T:
    """Call `work` with a conversation of the sender; all it writes is written together."""
    store, scope = engine_of(request).store, await scope_of_conversation(request, conversation)
    return await store.run(store.atomically, lambda: work(store, store.log.get(conversation, scope)))


@router.patch("/{conversation}")
async def change_chat(request: Request, conversation: str, changes: ConversationChanges) -> dict[str, Any]:
    """Change the title, the switches, the place in the list or the project of a conversation."""
    engine = engine_of(request)
    target = None if changes.project is None else scope_of(request, changes.project).project

    def work(store: Store, row: ConversationRecord) -> ConversationRecord:
        if changes.title is not None:
            store.log.rename(row.id, changes.title)
        store.log.arrange(row.id, changes.model_dump(include=set(PLACE), exclude_none=True))
        switches = changes.model_dump(include={"off", "memory"}, exclude_none=True)
        return store.log.update_settings(row.id, switches)

    row = await write_chat(request, conversation, work)
    if target is not None:
        (row,) = await engine.store.run(move_to_project, engine.store, engine.remembering, [row], target)
    return serialize_conversation(row)


@router.delete("/{conversation}", status_code=204)
async def delete_chat(
    request: Request, conversation: str, memories: Literal["keep", "forget"] = "keep"
) -> None:
    """Delete a conversation and its messages, except those that a fork shares.

    Memories made from it stay, unless `memories` is `forget`.
    """

    def work(store: Store, row: ConversationRecord) -> ConversationRecord:
        store.log.delete(row.id)
        return row

    row = await write_chat(request, conversation, work)
    remembering = engine_of(request).remembering
    if remembering is not None:
        forget = memories == "forget"
        await asyncio.to_thread(remembering.remove_conversation, row.scope, row.id, forget=forget)


@router.post("/{conversation}/fork", status_code=201)
async def fork_chat(request: Request, conversation: str, start: NewFork | None = None) -> dict[str, Any]:
    """Create a second conversation that shares this one's messages up to one of them."""
    start = start or NewFork()

    def work(store: Store, row: ConversationRecord) -> ConversationRecord:
        message = find_message(store, row, start.message).id if start.message is not None else None
        return lanes.fork(store, row, message, start.title or "")

    return serialize_conversation(await write_chat(request, conversation, work))


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
    """List the messages of a conversation, including an answer that is being written.

    Where its older part was summarised, there is an entry of `type: compaction`. With `limit` only that many
    messages are returned from the end, or `before`, `after` or `around` a message: `next` is the `before` of
    the older page, `newer` the `after` of the newer one. With `html` answers are rendered, and come with
    their numbers, files and other versions.
    """
    if sum(cursor is not None for cursor in (before, after, around)) > 1:
        raise BadRequest(lazy("before, after and around are three things: one at a time"), param="before")
    part = Part(limit if limit is not None or not (before or after or around) else 50, before, after, around)
    turns: DetachedTurns = request.app.state.turns

    def work(_: Store, row: ConversationRecord) -> dict[str, Any]:
        page = transcript.serialize_messages(engine_of(request), row, part, html=html)
        if not html:
            return page
        chat = {"options": row.settings.get("options", {}), "memory": row.memory}
        return {**page, "turn": turns.running_in(row.id), **chat}

    return await read_chat(request, conversation, work)


@router.get("/{conversation}/messages/{message}/memories")
async def list_recalled_memories(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """List the memories that were recalled for a question, or for the question of an answer."""
    require_memory(request)
    engine, scope = engine_of(request), await scope_of_conversation(request, conversation)
    store = engine.store

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        stored = find_message(store, row, message)
        asked = stored.parent if stored.message.role == "assistant" else stored.id
        project = access_of(request).project
        return {"memories": transcript.memories_for(engine, row, asked, project=project) if asked else []}

    return await asyncio.to_thread(work)


@router.get("/{conversation}/messages/{message}/images/{number}")
async def show_image(request: Request, conversation: str, message: str, number: int) -> Response:
    """Return an image of a message; the first is number 0."""
    content, kind = await read_chat(
        request, conversation, lambda store, row: transcript.load_image(store, row, message, number)
    )
    return Response(content, media_type=kind, headers=_ATTACHMENT_HEADERS)


@router.get("/{conversation}/messages/{message}/files/{number}")
async def show_file(request: Request, conversation: str, message: str, number: int) -> Response:
    """Return the text of a file that was attached to a message; the first is number 0."""
    text = await read_chat(
        request, conversation, lambda store, row: transcript.load_file(store, row, message, number)
    )
    return Response(text, media_type="text/plain; charset=utf-8", headers=_ATTACHMENT_HEADERS)


@router.put("/{conversation}/head")
async def switch_version(request: Request, conversation: str, where: NewHead) -> dict[str, Any]:
    """Continue from another version of a message: the newest end that follows it becomes the head."""
    turns: DetachedTurns = request.app.state.turns

    def work(store: Store, row: ConversationRecord) -> ConversationRecord:
        turns.check_free(row.id)
        return transcript.move_head(store, row, where.message)

    return serialize_conversation(await write_chat(request, conversation, work))


@router.get("/{conversation}/messages/{message}")
async def show_message(
    request: Request, conversation: str, message: str, html: bool = False
) -> dict[str, Any]:
    """Return one message in full, and its state in each window: in, shortened or left out, and why.

    With `html` an answer is rendered.
    """

    def work(store: Store, row: ConversationRecord) -> dict[str, Any]:
        stored = find_message(store, row, message)
        account = message_account(store, row, stored)
        return {**account, "html": transcript.render_answer(stored.message.text)} if html else account

    return await read_chat(request, conversation, work)


def parse_cursor(before: str | None) -> tuple[float, str] | None:
    """Return the time and id that a `before` cursor stands for."""
    if before is None:
        return None
    moment, _, name = before.partition(":")
    try:
        return float(moment), name
    except ValueError:
        raise BadRequest(lazy("`before` must be the `next` of another page"), param="before") from None


class Undo(BaseModel):
    """The decision to undo or to redo; by default all decisions of the last batch."""

    model_config = ConfigDict(extra="forbid", strict=True)

    decision: str | None = None


@router.get("/{conversation}/window")
async def show_window(
    request: Request, conversation: str, window: int | None = Query(None, ge=1)
) -> dict[str, Any]:
    """Return what was last sent in the newest window, or in the one of this size, and its decisions."""
    require_memory(request)
    report = await read_chat(request, conversation, lambda store, row: window_account(store, row, window))
    speak(language_of(request))
    for decision in (*report["decisions"], *report["vetoes"]):
        decision["reason"] = sentences.reason(decision["reason"] or "") or None
    return report


@router.get("/{conversation}/files")
async def list_files(
    request: Request, conversation: str, window: int | None = Query(None, ge=1)
) -> dict[str, Any]:
    """List which message brought which file, how and with how many tokens, and whether it is still there."""
    return await read_chat(
        request, conversation, lambda store, row: {"files": files_of(store, lane_of(store, row, window))}
    )


@router.get("/{conversation}/compactions")
async def list_compactions(request: Request, conversation: str) -> dict[str, Any]:
    """List every batch that made room, oldest first, with its decisions."""
    return await read_chat(request, conversation, compactions_account)


@router.post("/{conversation}/compact")
async def compact_chat(request: Request, conversation: str) -> dict[str, Any]:
    """Summarise the older part now, however much room there is; the last exchanges stay as they are."""
    engine, scope = engine_of(request), await scope_of_conversation(request, conversation)
    store = engine.store
    row = await store.run(store.log.get, conversation, scope)
    with engine.background.pause():
        await engine.background.idle.wait_until_stopped()
        await engine.compaction.compact(row.id)
    # Its notes still have to be written.
    engine.background.after_compaction(row.id)
    return await store.run(summary_account, store, row)


@router.post("/{conversation}/undo")
async def undo_decision(request: Request, conversation: str, choice: Undo | None = None) -> dict[str, Any]:
    """Undo a decision, or the last batch; the same is not decided again before the last resort.

    `back` lists the messages that are sent again because of this, as far as there is room.
    """
    name = choice.decision if choice else None

    def work(store: Store, row: ConversationRecord) -> dict[str, Any]:
        undone = lanes.undo(store, row, None if name is None else find_decision(store, row, name))
        return {
            "undone": [serialize_decision(decision) for decision in undone],
            "back": came_back(store, row, undone),
        }

    return await write_chat(request, conversation, work)


@router.post("/{conversation}/redo")
async def redo_decision(request: Request, conversation: str, choice: Undo | None = None) -> dict[str, Any]:
    """Put a decision that was undone in force again, or those that were undone last.

    `gone` lists the messages that are no longer sent as they are because of this.
    """
    name = choice.decision if choice else None

    def work(store: Store, row: ConversationRecord) -> dict[str, Any]:
        undone = lanes.find_undone(store, row, name)
        gone = came_back(store, row, undone)
        return {
            "redone": [serialize_decision(decision) for decision in lanes.redo(store, row, undone)],
            "gone": gone,
        }

    return await write_chat(request, conversation, work)


@router.post("/{conversation}/messages/{message}/pin")
async def pin_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """Keep a message in the window as it is, whatever else has to be left out."""
    preset = engine_of(request).fitter.preset
    pinned = await write_chat(
        request,
        conversation,
        lambda store, row: pin(store, preset, row, find_message(store, row, message).id),
    )
    return {**serialize_message(pinned), "pinned": True}


@router.delete("/{conversation}/messages/{message}/pin")
async def unpin_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """Let a message be shortened or left out again."""
    unpinned = await write_chat(
        request,
        conversation,
        lambda store, row: lanes.unpin(store, row, find_message(store, row, message).id),
    )
    return {**serialize_message(unpinned), "pinned": False}


WindowState = Literal["in", "shortened", "out"]

# Characters of a message that identify it, and of the text that replaces a shortened one.
_EXCERPT_LENGTH, _MAX_SHOWN = 280, 4_000
# Parts of a request that are not recorded and cannot be rebuilt.
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
    """List the state of each message in a window, the newest first: in, shortened or out, and by which rules.

    `before` is the `next` of the previous page.
    """
    require_memory(request)

    def work(store: Store, row: ConversationRecord) -> dict[str, Any]:
        lane = lane_of(store, row, window)
        states = load_states(store, row, lane)
        counts = {
            name: sum(message.state == name for message in states) for name in ("in", "shortened", "out")
        }
        wanted = [message for message in reversed(states) if state in (None, message.state)]
        start = position_after(wanted, before)
        page, pins = wanted[start : start + limit], pins_of(store, row)
        more = page[-1].stored.id if start + limit < len(wanted) else None
        rows = [serialize_window_message(message, lane, pinned=message.stored.id in pins) for message in page]
        return {"window": lane.window, "counts": counts, "messages": rows, "next": more}

    return await read_chat(request, conversation, work)


@router.get("/{conversation}/turns")
async def list_turns(
    request: Request,
    conversation: str,
    window: int | None = Query(None, ge=1),
    limit: int = Query(50, ge=1, le=500),
) -> dict[str, Any]:
    """List the last turns in a window, oldest first, and the batches that made room.

    A turn has its tokens as the server counted them, its times, and how much of the previous request it began
    with.
    """

    def work(store: Store, row: ConversationRecord) -> dict[str, Any]:
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

    return await read_chat(request, conversation, work)


@router.get("/{conversation}/request")
async def show_request(
    request: Request, conversation: str, window: int | None = Query(None, ge=1)
) -> dict[str, Any]:
    """Return the last request in a window as the model server received it, rebuilt from the log and
    decisions.

    It is compared with the fingerprints taken when it was sent: `exact` means that messages and tools are the
    same to the byte, `differs` and `missing` name what is not. Options are not recorded.
    """
    require_memory(request)

    def work(store: Store, row: ConversationRecord) -> tuple[Sent, LaneRecord]:
        lane = lane_of(store, row, window)
        return last_sent(store, row, lane), lane

    sent, lane = await read_chat(request, conversation, work)
    try:
        dialect = (await engine_of(request).upstreams.route(sent.request.model)).dialect
    except HoldfastError:
        # The server is unreachable; most likely it speaks the protocol that nearly all of them do.
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
        return ollama.serialize_request(add_tool_names(request))
    return openai_chat.serialize_request(add_call_ids(request))


def serialize_window_message(message: MessageState, lane: LaneRecord, *, pinned: bool) -> dict[str, Any]:
    stored, content = message.stored, serialize_content(message.stored.message)
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
    """Serialize a batch without its decisions; it is undone if all of them are."""
    decisions = row.pop("decisions")
    return {**row, "undone": bool(decisions) and all("undone_at" in decision for decision in decisions)}


def position_after(messages: list[MessageState], before: str | None) -> int:
    """Return the index after the message that a `before` cursor names."""
    if before is None:
        return 0
    for at, message in enumerate(messages):
        if message.stored.id == before:
            return at + 1
    raise BadRequest(lazy("`before` must be the `next` of another page"), param="before")
