"""Single messages over REST: deleted and brought back, or put into other words, without asking the model."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request

from holdfast.conversations.lanes import get_message
from holdfast.conversations.revision import delete_message, replace_message, restore_message
from holdfast.errors import BadRequest
from holdfast.messages import Message, Text, Thinking
from holdfast.server.chats import write_chat
from holdfast.server.detached import DetachedTurns
from holdfast.server.endpoint import RequestBody
from holdfast.server.files import attachments_of, build_question
from holdfast.store import ConversationRecord, MessageRecord, Store

router = APIRouter(prefix="/api/chats", tags=["Conversations"])

Revision = Callable[[Store, ConversationRecord, MessageRecord], ConversationRecord]


class NewText(RequestBody):
    """The text that a message has from now on; its attachments stay."""

    text: str = Field(min_length=1, max_length=4_000_000)


@router.put("/{conversation}/messages/{message}")
async def rewrite_message(
    request: Request, conversation: str, message: str, wanted: NewText
) -> dict[str, Any]:
    """Put a question or an answer into other words without asking the model; the earlier version stays.

    What follows it is repeated after the new version. `head` is where the conversation ends now, `message`
    what stands in this place.
    """
    if not wanted.text.strip():
        raise BadRequest("there is no text", hint="To remove a message, delete it.", param="text")
    return await revise(
        request,
        conversation,
        message,
        lambda store, row, stored: replace_message(
            store, row, stored, change_text(stored.message, wanted.text)
        ),
    )


@router.delete("/{conversation}/messages/{message}")
async def remove_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """Delete a single message: it leaves the list and every window; what follows stays.

    Memories that were made of it stay, too. It can be restored.
    """
    return await revise(request, conversation, message, delete_message)


@router.post("/{conversation}/messages/{message}/restore")
async def bring_back_message(request: Request, conversation: str, message: str) -> dict[str, Any]:
    """Bring back a message that was deleted: the conversation is as it was before."""
    return await revise(request, conversation, message, restore_message)


async def revise(request: Request, conversation: str, message: str, work: Revision) -> dict[str, Any]:
    turns: DetachedTurns = request.app.state.turns

    def write(store: Store, row: ConversationRecord) -> dict[str, Any]:
        turns.check_free(row.id)
        stored = get_message(store, row, message)
        moved = work(store, row, stored)
        path = store.log.path_ids(moved.head) if moved.head else []
        return {
            "conversation": moved.id,
            "head": moved.head,
            "message": path[stored.depth] if stored.depth < len(path) else None,
        }

    return await write_chat(request, conversation, write)


def change_text(message: Message, text: str) -> Message:
    """Return a message with another text and the same attachments; what was thought for the old one goes."""
    if message.role == "user":
        return build_question(text, attachments_of(message))
    others = tuple(part for part in message.parts if not isinstance(part, Text | Thinking))
    return Message(message.role, (Text(text), *others))
