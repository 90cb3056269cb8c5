"""Serializes conversations, messages, decisions and search results for REST and the command line."""

from collections.abc import Collection, Sequence
from typing import Any

from holdfast.conversations.search import MessageResults
from holdfast.messages import Message
from holdfast.store import Compaction, ConversationRecord, Decision, DraftRecord, MessageRecord


def serialize_conversation(row: ConversationRecord) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title,
        "project": row.scope.project,
        "kind": row.scope.kind,
        "off": row.off,
        "memory": row.memory,
        "pinned": row.pinned,
        "archived": row.archived,
        "folder": row.folder,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


def serialize_message(stored: MessageRecord, pins: Collection[str] = ()) -> dict[str, Any]:
    return {
        "id": stored.id,
        "parent": stored.parent,
        **serialize_content(stored.message),
        "model": stored.model or None,
        "finish": stored.finish or None,
        "created_at": stored.created_at,
        **({"pinned": True} if stored.id in pins else {}),
    }


def serialize_draft(draft: DraftRecord) -> dict[str, Any]:
    content = serialize_content(draft.message)
    return {"id": None, "parent": draft.parent, **content, "model": draft.model or None, "finish": "writing"}


def serialize_decision(decision: Decision) -> dict[str, Any]:
    return {
        "id": decision.id,
        "lane": decision.lane,
        "kind": decision.kind,
        "rule": decision.rule,
        "messages": list(decision.messages),
        "tokens_before": decision.tokens_before,
        "tokens_after": decision.tokens_after,
        "reason": decision.reason or None,
        "batch": decision.batch or None,
        "created_at": decision.created_at,
        **({"undone_at": decision.vetoed_at} if decision.vetoed_at is not None else {}),
    }


def serialize_compaction(row: Compaction, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Serialize a batch with its decisions, including those that were undone since."""
    return {
        "id": row.id,
        "lane": row.lane,
        "level": row.level,
        "strategy": row.strategy,
        "messages": row.messages,
        "tokens_before": row.tokens_before,
        "tokens_after": row.tokens_after,
        "tokens_freed": row.tokens_freed,
        "ratio": round(row.tokens_after / row.tokens_before, 4) if row.tokens_before else 1.0,
        "memories": row.memories,
        "model": row.model or None,
        "path": row.path or None,
        "duration_ms": row.duration_ms,
        "created_at": row.created_at,
        "decisions": [serialize_decision(decision) for decision in decisions if decision.batch == row.id],
    }


def serialize_results(results: MessageResults) -> dict[str, Any]:
    """Serialize search results, with the reason if there are none."""
    hits = [
        {
            "conversation": hit.conversation,
            "title": hit.title,
            "message": hit.message,
            "role": hit.role,
            "created_at": hit.at,
            "snippet": hit.snippet,
            "score": hit.score,
            "matched": list(hit.matched),
            "current": hit.current,
            "project": hit.project,
        }
        for hit in results.hits
    ]
    return {
        "hits": hits,
        "engine": results.engine,
        "empty": results.empty or None,
        "corrected": results.corrected or None,
    }


def serialize_content(message: Message) -> dict[str, Any]:
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
