"""What a person points at in a conversation: a message or a decision, by its id or a clear beginning of it.

Messages also go by their number, as they are counted when a conversation is shown. Whether the conversation
may be seen at all is asked before. Clients of OpenAI's responses point at an answer by its job.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.conversations.lanes import get_message
from holdfast.errors import BadRequest, NotFound
from holdfast.messages import Scope
from holdfast.store import Conversation, Job, Store, Stored

# In front of the job that gave an answer, in the ids of OpenAI's responses.
_RESPONSE = "resp_"
# Shorter beginnings mean many: an id begins with the time at which it was made.
_BEGINNING = re.compile(r"[a-z]_[0-9a-z]{6,26}")


def find_message(store: Store, conversation: Conversation, name: str) -> Stored:
    """Any message of the tree by its whole id; by less of it, or by number, one that leads to the head."""
    path = store.log.path_ids(conversation.head) if conversation.head else []
    if name.isdecimal() and len(name) < 10:
        if not 1 <= int(name) <= len(path):
            raise NotFound(
                f"{conversation.id} has no message number {name}.", hint=f"It has {len(path)} messages."
            )
        return store.log.message(path[int(name) - 1])
    found = _find_by_prefix(name.lower(), path, "messages")
    try:
        return get_message(store, conversation, found or name)
    except NotFound:
        raise NotFound(
            f"message '{name}' not found in {conversation.id}.",
            hint=f"`holdfast conversations show {conversation.id}` has the ids, and so has"
            f" /api/chats/{conversation.id}/messages; a message's number in it will do, too.",
        ) from None


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer that was given, with its job. The answer is None as long as nothing was said."""

    job: Job
    conversation: Conversation
    answer: Stored | None


def find_answer(store: Store, scope: Scope, name: str) -> GivenAnswer:
    """The answer that a client calls by the name we gave it; one of another scope is as good as missing."""
    missing = NotFound(
        f"Response with id '{name}' not found.",
        hint="It was not stored, was deleted, or belongs to somebody else: send the history itself.",
    )
    try:
        job = store.jobs.get(name.removeprefix(_RESPONSE))
        if job.conversation is None:
            raise missing
        conversation = store.log.get(job.conversation, scope)
    except NotFound:
        raise missing from None
    found = store.log.answer(conversation.tree, job.id)
    if found is None and job.status == "done":
        # The same words had been said there before, and are kept once.
        latest = store.jobs.recent(1, conversation=conversation.id)
        if [one.id for one in latest] != [job.id] or conversation.head is None:
            raise missing
        found = store.log.message(conversation.head)
    return GivenAnswer(job, conversation, found)


def find_decision(store: Store, conversation: Conversation, name: str) -> str:
    """The id of a decision that is in force in one of the conversation's windows."""
    ids = [made.id for lane in store.lanes.of(conversation.id) for made in store.decisions.of(lane.id)]
    found = name if name in ids else _find_by_prefix(name.lower(), ids, "decisions")
    if found is None:
        raise NotFound(
            f"no decision '{name}' is in force in {conversation.id}.",
            hint=f"`holdfast window {conversation.id}` has their ids, and so has"
            f" /api/chats/{conversation.id}/window.",
        )
    return found


def _find_by_prefix(beginning: str, ids: Iterable[str], what: str) -> str | None:
    if not _BEGINNING.fullmatch(beginning):
        return None
    found = [name for name in ids if name.startswith(beginning)]
    if len(found) > 1:
        raise BadRequest(f"{len(found)} {what} begin with '{beginning}'.", hint="Give more of the id.")
    return found[0] if found else None
