"""Forgetting a conversation: what of its tree goes with it, and what stays because others share it.

It knows rows only; memories and notes taken from the conversation are not its business.
"""

from sqlalchemy import Connection, delete, exists, literal, select, update

from holdfast.store import heads, tree
from holdfast.store.schema import branches, conversations, jobs, messages, prompts
from holdfast.store.values import ConversationRecord


def remove_conversation(connection: Connection, gone: ConversationRecord) -> None:
    others = [other for other in heads.conversations_on(connection, [gone.tree]) if other.id != gone.id]
    _forget_prompts(connection, gone)
    # Drafts, decisions and compactions go with the conversation, token counts with their messages.
    connection.execute(delete(conversations).where(conversations.c.id == gone.id))
    if any(other.head for other in others):
        _remove_unshared_messages(connection, gone, others)
    else:
        connection.execute(delete(messages).where(messages.c.tree == gone.tree))
        connection.execute(delete(branches).where(branches.c.tree == gone.tree))


def _forget_prompts(connection: Connection, gone: ConversationRecord) -> None:
    """System messages may quote the conversation; those that no other job has sent are removed."""
    ours = jobs.c.conversation == gone.id
    sent = select(jobs.c.prompt).where(ours, jobs.c.prompt.is_not(None)).distinct()
    digests = list(connection.scalars(sent))
    connection.execute(update(jobs).where(ours).values(prompt=None))
    for portion in tree.batches(digests):
        still_named = select(jobs.c.prompt).where(jobs.c.prompt.in_(portion))
        connection.execute(
            delete(prompts).where(prompts.c.digest.in_(portion), prompts.c.digest.not_in(still_named))
        )


def _remove_unshared_messages(
    connection: Connection, gone: ConversationRecord, others: list[ConversationRecord]
) -> None:
    """Remove the part of the path that no other head stands on, with all that grew out of it."""
    if gone.head is None:
        return
    shared = {name for other in others if other.head for name in tree.path_ids(connection, other.head)}
    own = [name for name in tree.path_ids(connection, gone.head) if name not in shared]
    if not own:
        return
    # No other head stands below the first of them, or that one would be shared too.
    doomed = select(literal(own[0]).label("id")).cte("doomed", recursive=True)
    doomed = doomed.union_all(select(messages.c.id).join(doomed, messages.c.parent == doomed.c.id))
    connection.execute(delete(messages).where(messages.c.id.in_(select(doomed.c.id))))
    words_left = exists().where(messages.c.branch == branches.c.id)
    connection.execute(delete(branches).where(branches.c.tree == gone.tree, ~words_left))
