"""Which conversation a request belongs to, and what in it is new.

Two people's words in one window are worse than one conversation in two pieces: where the evidence does not
convince, a new conversation begins. How histories are found and weighed is the business of `candidates`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from holdfast.conversations.alignment import is_own
from holdfast.conversations.candidates import Candidate, Candidates, Inquiry
from holdfast.conversations.hints import Hints
from holdfast.conversations.likeness import TELLING, words
from holdfast.conversations.named import answer_named
from holdfast.conversations.placement import Placement, to_keep
from holdfast.conversations.side import COMPACTION, side_of
from holdfast.conversations.standing import Standing, Standings
from holdfast.conversations.summaries import Aside, Asides, standing_in
from holdfast.errors import NotFound
from holdfast.messages import ChatRequest, Message, Scope
from holdfast.store import Conversation, NewMessage, Store

# An id that only we give: a conversation with such an id is there, or it is gone.
_OUR_ID = re.compile(r"c_[0-9a-z]{26}")
# In front of an id that a client chose for us, to tell it from the ids that tools give their chats.
_CHOSEN = "holdfast:"
# Among how many of the last used conversations a last answer is looked for.
_RECENT = 12
_BY_PROGRAM = "a program asks for it, not a person"
_UNKNOWN = "nothing in it is known: a new conversation"
# A summary stands in front: among the first messages, behind what a client always sends.
_FRONT = 3


def at_hand(
    scope: Scope, request: ChatRequest, hints: Hints, asides: Asides, standings: Standings
) -> Placement | None:
    """Where the request belongs, if that can be told without looking anything up."""
    name = side_of(request, hints)
    if name == COMPACTION or hints.explicit or hints.previous:
        return None
    if name is None and (aside := asides.behind(scope, request.messages)):
        return _behind_aside(aside)
    if name is not None:
        return _side(name, None, _BY_PROGRAM)
    talk = [message for message in request.messages if message.role != "system"]
    if standing := standings.find(scope, hints, talk):
        return _after(standing, request.messages)
    if hints.external_id or any(message.role == "assistant" for message in talk):
        return None
    inquiry = _inquiry(scope, request.messages, hints, asides)
    return None if inquiry.summaries else _new(inquiry, _UNKNOWN)


def locate(
    store: Store, scope: Scope, request: ChatRequest, hints: Hints, asides: Asides | None = None
) -> Placement:
    """Where the request belongs. `asides` knows the answers that earlier side requests were given."""
    asides = asides or Asides()
    name = side_of(request, hints)
    if name == COMPACTION:
        beside = _beside(store, _inquiry(scope, _history(request.messages), hints, asides))
        return _side(name, beside, "the client shortens its own history")
    if name is not None:
        return _side(name, None, _BY_PROGRAM)
    if aside := asides.behind(scope, request.messages):
        return _behind_aside(aside)
    inquiry = _inquiry(scope, request.messages, hints, asides)
    if hints.explicit:
        return _named(store, inquiry)
    if hints.previous and (found := _continued(store, inquiry)):
        return found
    if best := _best(Candidates(store, inquiry).convincing()):
        return _into(best, inquiry, _why(best))
    if conversation := _handed_on(store, inquiry):
        reason = "a program hands our last answer on as a question"
        return _behind(inquiry, conversation, conversation.head, _kept(inquiry.messages), reason)
    return _new(inquiry, _UNKNOWN, hints.external_id)


def going_on(store: Store, scope: Scope, request: ChatRequest, conversation: str) -> Placement:
    """At the end of a conversation of ours, whose history the client leaves to us."""
    row = store.log.get(conversation, scope)
    new = _kept(request.messages)
    return Placement(
        "main",
        reason="the client goes on with a conversation it knows from us",
        conversation=row.id,
        head=row.head,
        parent=row.head,
        new=new,
        matched=(None,) * len(request.messages),
        external_id=row.external_id,
        client=row.client,
        from_log=True,
    )


def _side(name: str, beside: str | None, why: str) -> Placement:
    return Placement("side", reason=f"{name}: {why}", side=name, beside=beside)


def _behind_aside(aside: Aside) -> Placement:
    return _side(aside.name, aside.conversation, "it brings the results of a side request's tool calls")


def _after(standing: Standing, messages: Sequence[Message]) -> Placement:
    """Behind a history that came back word for word."""
    known = iter(standing.path)
    matched = tuple(None if message.role == "system" else next(known, None) for message in messages)
    new = [
        message
        for message, stored in zip(messages, matched, strict=True)
        if stored is None and message.role != "system"
    ]
    end = standing.path[-1].id
    return Placement(
        "main",
        reason="its history came back word for word" if new else "it asks once more what was not answered",
        conversation=standing.conversation,
        head=end,
        parent=end,
        new=_kept(new),
        matched=matched,
        external_id=standing.external_id,
        client=standing.sender,
    )


def _inquiry(scope: Scope, messages: Sequence[Message], hints: Hints, asides: Asides) -> Inquiry:
    looks = standing_in(messages)
    talk = [index for index, message in enumerate(messages) if message.role != "system"]
    # A person who begins with a summary of ours begins anew; a program has more to send, or no question.
    front = talk[:_FRONT] if len(talk) > 1 or (talk and messages[talk[0]].role == "assistant") else []
    found = {
        index: aside
        for index in sorted({*looks, *front})
        if (aside := asides.summary(scope, hints.sender, messages[index], inside=index in looks))
    }
    made_for = next((aside.conversation for aside in found.values() if aside.conversation), None)
    return Inquiry(scope, messages, hints, looks | found.keys(), made_for)


def _history(messages: Sequence[Message]) -> Sequence[Message]:
    """A request for a summary without the message that asks for it."""
    return messages[: max((i for i, message in enumerate(messages) if message.role == "user"), default=0)]


def _beside(store: Store, inquiry: Inquiry) -> str | None:
    """The conversation that a client wants to shorten."""
    if best := _best(Candidates(store, inquiry).convincing()):
        return best.conversation.id
    known = store.log.by_external_id(inquiry.scope, inquiry.hints.external_id)
    return known[0].id if known else None


def _best(found: Sequence[Candidate]) -> Candidate | None:
    """The best candidate, unless it is a toss-up between conversations that would both fork."""
    if not found:
        return None
    rivals = [one for one in found[1:] if one.conversation.tree != found[0].conversation.tree]
    if found[0].forks and rivals and rivals[0].evidence == found[0].evidence:
        return None
    return found[0]


def _named(store: Store, inquiry: Inquiry) -> Placement:
    """In the conversation that the client named, whatever the messages look like."""
    name, reason = inquiry.hints.explicit, "the client named the conversation"
    conversation = _by_name(store, inquiry.scope, name)
    if conversation is None:
        return _new(inquiry, f"a new conversation, named {name} by the client", _CHOSEN + name)
    candidates = [one for one in Candidates(store, inquiry).within(conversation) if one.alignment.pairs]
    if candidates:
        return _into(max(candidates, key=lambda one: one.worth), inquiry, reason)
    placement = _behind(inquiry, conversation, conversation.head, _kept(inquiry.messages), reason)
    # Nothing of it was resent: the client counts on us for what was said before.
    return replace(placement, from_log=True)


def _by_name(store: Store, scope: Scope, name: str) -> Conversation | None:
    try:
        return store.log.get(name, scope)
    except NotFound:
        if _OUR_ID.fullmatch(name):
            raise
        return next(iter(store.log.by_external_id(scope, _CHOSEN + name)), None)


def _continued(store: Store, inquiry: Inquiry) -> Placement | None:
    """Behind the answer of ours that the client names instead of repeating what led to it."""
    try:
        given = answer_named(store, inquiry.scope, inquiry.hints.previous)
    except NotFound:
        return None
    conversation = given.conversation
    answer = given.answer.id if given.answer else conversation.head
    reason = "the client named the answer that it continues"
    placement = _behind(inquiry, conversation, answer, _kept(inquiry.messages), reason)
    return replace(placement, forks=answer != conversation.head, from_log=True)


def _handed_on(store: Store, inquiry: Inquiry) -> Conversation | None:
    """The conversation whose last answer the newest question begins with, word for word.

    Programs do that which have one model plan and another carry the plan out. A person may quote an answer in
    a new conversation too, but then there is nothing in front of it.
    """
    messages = inquiry.messages
    if not messages or messages[-1].role != "user" or not any(one.role == "assistant" for one in messages):
        return None
    asked = words(messages[-1])
    for conversation in store.log.recent(inquiry.scope, _RECENT):
        if conversation.head and conversation.client == inquiry.hints.sender:
            answer = store.log.message(conversation.head)
            said = words(answer.message)
            if is_own(answer) and len(said) >= TELLING and asked.startswith(said):
                return conversation
    return None


def _into(found: Candidate, inquiry: Inquiry, reason: str) -> Placement:
    matched = {pair.sent: found.path[pair.stored] for pair in found.alignment.pairs}
    new = _kept(inquiry.messages[found.start :])
    return replace(
        _behind(inquiry, found.conversation, found.parent, new, reason),
        matched=tuple(matched.get(index) for index in range(len(inquiry.messages))),
        forks=found.forks,
    )


def _behind(
    inquiry: Inquiry,
    conversation: Conversation,
    parent: str | None,
    new: tuple[NewMessage, ...],
    reason: str,
) -> Placement:
    return Placement(
        "main",
        reason=reason,
        conversation=conversation.id,
        head=conversation.head,
        parent=parent,
        new=new,
        matched=(None,) * len(inquiry.messages),
        external_id=conversation.external_id,
        client=conversation.client,
    )


def _new(inquiry: Inquiry, reason: str, external_id: str = "") -> Placement:
    return Placement(
        "main",
        reason=reason,
        new=_kept(inquiry.messages),
        matched=(None,) * len(inquiry.messages),
        external_id=external_id,
        client=inquiry.hints.sender,
    )


def _kept(messages: Sequence[Message]) -> tuple[NewMessage, ...]:
    """What of these goes into the log: everything but system messages, which are kept with the job."""
    return tuple(to_keep(message) for message in messages if message.role != "system")


def _why(found: Candidate) -> str:
    """The evidence, and what follows from it, in a sentence."""
    count = found.alignment.proven
    answers = "one of our answers" if count == 1 else f"{count} of our answers"
    evidence = f"{answers} came back" if count else "its beginning came back"
    if found.hinted:
        evidence += ", and more than the messages says so"
    if found.summarised:
        return f"{evidence}: a summary stands for what was said before"
    if not found.forks:
        return f"{evidence}: it goes on where the conversation ends"
    return f"{evidence}: it leaves the conversation before its end, to edit or to repeat"
