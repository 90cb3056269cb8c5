"""The conversations that were kept, over REST.

Knows the store's log; what a model was sent is the business of the chat doors.
"""

from typing import Any

from fastapi import APIRouter, Query
from starlette.requests import Request

from holdfast.messages import Message
from holdfast.server.door import engine_of, scope_of
from holdfast.store import Conversation, Draft, Stored

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


def conversation_out(row: Conversation) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title,
        "project": row.scope.project,
        "kind": row.scope.kind,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


def message_out(stored: Stored) -> dict[str, Any]:
    return {
        "id": stored.id,
        "parent": stored.parent,
        **_said(stored.message),
        "model": stored.model or None,
        "finish": stored.finish or None,
        "created_at": stored.created_at,
    }


def draft_out(draft: Draft) -> dict[str, Any]:
    said = _said(draft.message)
    return {"id": None, "parent": draft.parent, **said, "model": draft.model or None, "finish": "writing"}


def _said(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.thinking:
        value["thinking"] = message.thinking
    if message.images:
        value["images"] = len(message.images)
    if message.tool_calls:
        value["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
        ]
    if message.tool_results:
        value["tool_call_id"] = message.tool_results[0].call_id or None
        value["tool_name"] = message.tool_results[0].name or None
    return value


def _position(before: str | None) -> tuple[float, str] | None:
    moment, separator, name = (before or "").partition(":")
    try:
        return (float(moment), name) if separator else None
    except ValueError:
        return None
