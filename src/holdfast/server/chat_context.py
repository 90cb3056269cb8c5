"""A conversation's window beyond its report, over REST: message by message, turn by turn, and as it was sent.

Only hands questions on; how all this is worked out is known in `fitting`.
"""

from typing import Any, Literal

from fastapi import APIRouter, Query
from starlette.requests import Request

from holdfast.conversations.shown import said_in
from holdfast.errors import BadRequest, HoldfastError
from holdfast.fitting.account import Standing, compactions_account, lane_of, pins_of, standings
from holdfast.fitting.course import Sent, last_sent, turns_of
from holdfast.messages import ChatRequest
from holdfast.protocols import ollama, openai_chat
from holdfast.protocols.requests import add_call_ids, add_tool_names
from holdfast.server.door import engine_of, scope_of
from holdfast.store import Lane
from holdfast.upstreams.base import Dialect

router = APIRouter(prefix="/api/chats", tags=["Conversations"])

State = Literal["in", "shortened", "out"]

# So much of a message tells which one it is; what stands for a shortened one is a bit longer at most.
_BEGINNING, _SHOWN = 280, 4_000
# What of a request is not kept, so nobody can say afterwards what it was.
_NOT_KEPT = ("options", "format", "think")


@router.get("/{conversation}/window/messages")
async def window_messages(
    request: Request,
    conversation: str,
    window: int | None = Query(None, ge=1),
    state: State | None = None,
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
        found = standings(store, row, lane)
        counts = {name: sum(one.state == name for one in found) for name in ("in", "shortened", "out")}
        wanted = [one for one in reversed(found) if state in (None, one.state)]
        start = _place(wanted, before)
        page, pins = wanted[start : start + limit], pins_of(store, row)
        more = page[-1].stored.id if start + limit < len(wanted) else None
        rows = [_message(one, lane, pinned=one.stored.id in pins) for one in page]
        return {"window": lane.window, "counts": counts, "messages": rows, "next": more}

    return await store.run(store.at_once, work)


@router.get("/{conversation}/turns")
async def turns(
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
        batches = [one for one in compactions_account(store, row)["compactions"] if one["lane"] == lane.id]
        return {
            "window": lane.window,
            "room": lane.report["room"],
            "turns": [turn.to_json() for turn in turns_of(store, row, lane, limit)],
            "compactions": [_batch(one) for one in batches],
        }

    return await store.run(store.at_once, work)


@router.get("/{conversation}/request")
async def sent(request: Request, conversation: str, window: int | None = Query(None, ge=1)) -> dict[str, Any]:
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

    made, lane = await store.run(store.at_once, work)
    try:
        dialect = (await engine.upstreams.route(made.request.model)).dialect
    except HoldfastError:
        # The server is away; its words are most likely those that nearly all of them speak.
        dialect = "openai"
    return {
        "window": lane.window,
        "job": made.job.id if made.job else None,
        "upstream": made.job.upstream if made.job else None,
        "at": made.job.queued_at if made.job else lane.updated_at,
        "exact": made.exact,
        "differs": list(made.differs),
        "missing": list(made.missing),
        "not_kept": list(_NOT_KEPT),
        "dialect": dialect,
        "body": _body(made.request, dialect),
    }


def _body(request: ChatRequest, dialect: Dialect) -> dict[str, Any]:
    if dialect == "ollama":
        return ollama.serialize_request(add_tool_names(request))
    return openai_chat.serialize_request(add_call_ids(request))


def _message(one: Standing, lane: Lane, *, pinned: bool) -> dict[str, Any]:
    stored, said = one.stored, said_in(one.stored.message)
    tokens = {row["id"]: row["tokens"] for row in lane.report["messages"]}
    shown = one.shown.text if one.state == "shortened" and one.shown else None
    return {
        "id": stored.id,
        "role": stored.message.role,
        "created_at": stored.created_at,
        "state": one.state,
        "rules": list(one.rules),
        "decisions": [made.id for made in one.decisions],
        "beginning": said["content"][:_BEGINNING],
        "characters": len(said["content"]),
        "images": said.get("images", 0),
        "tools": [call["name"] for call in said.get("tool_calls", ())],
        "shown": None if shown is None else shown[:_SHOWN],
        "added": [{"section": more.section, "name": more.name, "text": more.text} for more in one.added],
        "tokens": tokens.get(stored.id),
        "pinned": pinned,
    }


def _batch(row: dict[str, Any]) -> dict[str, Any]:
    """A batch without its decisions; undone if all of them were."""
    made = row.pop("decisions")
    return {**row, "undone": bool(made) and all("undone_at" in one for one in made)}


def _place(found: list[Standing], before: str | None) -> int:
    if before is None:
        return 0
    for at, one in enumerate(found):
        if one.stored.id == before:
            return at + 1
    raise BadRequest("`before` must be the `next` of another page", param="before")
