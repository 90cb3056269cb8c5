"""What a model is shown of a conversation, over REST: the report, what was done, undoing and pinning.

Only hands questions on; how a window comes about is known in `fitting` and `window`.
"""

from typing import Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from holdfast.conversations import lanes
from holdfast.conversations.named import decision_named, message_named
from holdfast.conversations.shown import decision_out, message_out
from holdfast.fitting.account import came_back, compactions_account, lane_of, summary_account, window_account
from holdfast.fitting.filing import files_of
from holdfast.fitting.marks import pin
from holdfast.server.endpoint import engine_of, scope_of
from holdfast.store import Stored

# Part of the conversations' routes, and included there.
router2 = APIRouter()


class Undo(BaseModel):
    """Which decision is to be undone; by default all of the last batch."""

    model_config = ConfigDict(extra="forbid", strict=True)

    decision: str | None = None


@router2.get("/{conversation}/window")
async def window(
    request: Request, conversation: str, window: int | None = Query(None, ge=1)
) -> dict[str, Any]:
    """What was last sent in the newest window, or in that of this size, and what is decided there."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> dict[str, Any]:
        return window_account(store, store.log.get(conversation, scope), window)

    return await store.run(work)


@router2.get("/{conversation}/files")
async def files(
    request: Request, conversation: str, window: int | None = Query(None, ge=1)
) -> dict[str, Any]:
    """Which message brought which file, in which mode and with how many tokens; and if it is still there."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        return {"files": files_of(store, lane_of(store, row, window))}

    return await store.run(work)


@router2.get("/{conversation}/compactions")
async def compactions(request: Request, conversation: str) -> dict[str, Any]:
    """Every batch that made room, oldest first, with its decisions."""
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> dict[str, Any]:
        return compactions_account(store, store.log.get(conversation, scope))

    return await store.run(work)


@router2.post("/{conversation}/compact")
async def compact(request: Request, conversation: str) -> dict[str, Any]:
    """Have the older part become a summary now, however much room there is; the last exchanges stay."""
    engine, scope = engine_of(request), scope_of(request)
    store = engine.store
    row = await store.run(store.log.get, conversation, scope)
    with engine.afterwards.person():
        await engine.compacting.compact(row.id)
    # Its notes are still to be written.
    engine.afterwards.compacted(row.id)
    return await store.run(summary_account, store, row)


@router2.post("/{conversation}/undo")
async def undo(request: Request, conversation: str, which: Undo | None = None) -> dict[str, Any]:
    """Take back a decision, or the last batch; the same is not done again before the last resort.

    `back` names the messages that go out again by this, as far as there is room.
    """
    store, scope = engine_of(request).store, scope_of(request)
    name = which.decision if which else None

    def work() -> dict[str, Any]:
        row = store.log.get(conversation, scope)
        undone = lanes.undo(store, row, None if name is None else decision_named(store, row, name))
        return {
            "undone": [decision_out(made) for made in undone],
            "back": came_back(store, row, undone),
        }

    return await store.run(store.atomically, work)


@router2.post("/{conversation}/messages/{message}/pin")
async def pin_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """Keep a message in the window as it is, whatever has to give way."""
    engine, scope = engine_of(request), scope_of(request)
    store = engine.store

    def work() -> Stored:
        row = store.log.get(conversation, scope)
        return pin(store, engine.fitter.preset, row, message_named(store, row, message).id)

    return {**message_out(await store.run(store.atomically, work)), "pinned": True}


@router2.delete("/{conversation}/messages/{message}/pin")
async def unpin_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    store, scope = engine_of(request).store, scope_of(request)

    def work() -> Stored:
        row = store.log.get(conversation, scope)
        return lanes.unpin(store, row, message_named(store, row, message).id)

    return {**message_out(await store.run(store.atomically, work)), "pinned": False}
