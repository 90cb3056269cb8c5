"""Conversations and messages as people and programs see them: plain values for REST and the command line.

Knows no wire format of any protocol; those are in `dialects`.
"""

from typing import Any

from holdfast.messages import Message
from holdfast.store import Conversation, Draft, Stored


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
