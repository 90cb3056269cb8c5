"""Revisions: a message of a conversation deleted, or put into other words, without asking a model.

The log only grows. A revision is another branch, on which what follows is repeated; the way that was there
before stays, so that every revision can be undone. A deleted message is marked, and is no version any more.
"""

from holdfast.conversations.alignment import anchor
from holdfast.errors import BadRequest
from holdfast.i18n import lazy
from holdfast.messages import Message
from holdfast.store import ConversationRecord, MessageRecord, NewMessage, Store

# The mark of a message that somebody deleted.
DELETED = "deleted"


def delete_message(store: Store, row: ConversationRecord, stored: MessageRecord) -> ConversationRecord:
    """Take a message out of a conversation; what follows it stays."""
    moved = _rewrite(store, row, stored, None)
    store.marks.put(stored.id, DELETED)
    return moved


def restore_message(store: Store, row: ConversationRecord, stored: MessageRecord) -> ConversationRecord:
    """Undo a deletion: the conversation is as it was before."""
    store.marks.remove(stored.id, DELETED)
    return follow_to_end(store, row, stored)


def replace_message(
    store: Store, row: ConversationRecord, stored: MessageRecord, message: Message
) -> ConversationRecord:
    """Put another message in the place of one; both are versions of the same."""
    return _rewrite(store, row, stored, message)


def follow_to_end(store: Store, row: ConversationRecord, stored: MessageRecord) -> ConversationRecord:
    """Move the head of a conversation to the newest end that follows a message."""
    end = stored
    while after := without_deleted(store, store.log.children(end.id)):
        end = after[-1]
    return store.log.set_head(row.id, end.id, expect=row.head)


def without_deleted(store: Store, siblings: list[MessageRecord]) -> list[MessageRecord]:
    """Return those of some messages with the same parent that were not deleted."""
    return [message for message in siblings if not is_deleted(store, message.id)]


def is_deleted(store: Store, message: str) -> bool:
    return any(mark.message == message and mark.kind == DELETED for mark in store.marks.of(message))


def _rewrite(
    store: Store, row: ConversationRecord, stored: MessageRecord, message: Message | None
) -> ConversationRecord:
    """Continue the conversation before a message with another one, or none, and what followed it."""
    if stored.message.tool_calls or stored.message.tool_results:
        raise BadRequest(
            lazy("a call of a tool and its result belong together, and stay as they are"), param="message"
        )
    path = store.log.path(row.head) if row.head else []
    if stored.id not in {entry.id for entry in path}:
        raise BadRequest(lazy("this message is not in the conversation as it stands"), param="message")
    after = [
        NewMessage(entry.message, anchor(entry.message), entry.model, entry.finish, entry.job)
        for entry in path[stored.depth + 1 :]
    ]
    if message is not None:
        finish = "stop" if stored.message.role == "assistant" else ""
        after.insert(0, NewMessage(message, anchor(message), stored.model, finish, stored.job))
    if not after:
        return store.log.set_head(row.id, stored.parent, expect=row.head)
    store.log.append(row.id, after, parent=stored.parent, expect=row.head)
    return store.log.get(row.id)
