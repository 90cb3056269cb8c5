"""The conversations that were kept, over REST.

Knows the store's log; what a model was sent is the business of the chat doors.
"""

from typing import Any

from fastapi import APIRouter, Query
from starlette.requests import Request

from holdfast.conversations.shown import conversation_out, draft_out, message_out
from holdfast.errors import BadRequest
from holdfast.server.door import engine_of, scope_of

router = APIRouter(prefix="/api/chats", tags=["Conversations"])


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


@router.get("/{conversation}/messages")
async def messages(request: Request, conversation: str) -> dict[str, Any]:
    """The conversation as it stands, an answer that is being written included."""
    store = engine_of(request).store
    row = await store.run(store.log.get, conversation, scope_of(request))
    path = await store.run(store.log.path, row.head) if row.head else []
    drafts = await store.run(store.drafts.of, row.id)
    written = [message_out(stored) for stored in path] + [draft_out(draft) for draft in drafts]
    return {"chat": conversation_out(row), "messages": written, "compaction_summary": None}


def _position(before: str | None) -> tuple[float, str] | None:
    if before is None:
        return None
    moment, _, name = before.partition(":")
    try:
        return float(moment), name
    except ValueError:
        raise BadRequest("`before` must be the `next` of another page", param="before") from None
