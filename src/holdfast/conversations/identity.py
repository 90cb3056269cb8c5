"""Decides which conversation a request belongs to, and what in it is new.

Mixing two people's conversations is worse than splitting one, so without convincing evidence a new
conversation begins. Stored histories are found by their anchors and weighed
by how much of them the request repeats. The `find_*` functions resolve the ids
and numbers by which people point at messages, answers and decisions.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Literal

from holdfast.conversations.alignment import (
    DISTINCTIVE_LENGTH,
    Alignment,
    Likeness,
    align,
    anchor,
    comparable_text,
    compare_messages,
    is_own,
    strip_additions,
)
from holdfast.conversations.hints import Hints, read_person
from holdfast.conversations.lanes import get_message
from holdfast.conversations.recent import RecentConversation, RecentConversationCache
from holdfast.conversations.side_requests import (
    COMPACTION,
    SideAnswer,
    SideRequestCache,
    classify_side_request,
    find_summaries,
)
from holdfast.errors import BadRequest, NotFound
from holdfast.i18n import lazy
from holdfast.messages import ChatRequest, Message, Scope
from holdfast.store import AnchorHit, ConversationRecord, JobRecord, MessageRecord, NewMessage, Store

# How many of the newest answers and questions are looked up, and how many conversations are read for them.
_ANSWERS, _QUESTIONS, _CONVERSATIONS = 32, 8, 12
# How many branches of a conversation are looked at beside the one it ends with.
_BRANCHES = 3
# How many messages that a client kept behind its summary are looked for at the end of the history.
_RESUMED = 8
# What must have been said in an exchange that is all by which a shortened history can be known.
_TELLING_EXCHANGE = 3 * DISTINCTIVE_LENGTH


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A request and everything known about it before any history is read."""

    scope: Scope
    messages: Sequence[Message]
    hints: Hints
    # The messages that stand for a history the client left out, and the conversation we made them for.
    summaries: frozenset[int] = frozenset()
    made_for: str | None = None


@dataclass(frozen=True, slots=True)
class HistoryCandidate:
    """A stored history that the request may continue."""

    conversation: ConversationRecord
    path: Sequence[MessageRecord]
    alignment: Alignment
    # Something besides the messages says so: the client's id, or a summary that was made for it.
    hinted: bool
    # Whether a summary stands behind everything that matched, for the rest of this history.
    summarised: bool
    # Where in the request the new part begins.
    start: int
    # Answers in the new part of the request, which nobody gave in this history.
    foreign: int
    # Whether an answer already follows the place where the new part would go.
    forks: bool
    # Whether the same client, and the same person, as in this request spoke there.
    familiar: bool

    @property
    def parent(self) -> str | None:
        """The message that the new part follows; after a summary, the conversation's head."""
        reach = self.alignment.reach
        return self.path[reach - 1].id if reach and not self.summarised else self.conversation.head

    @property
    def has_open_question(self) -> bool:
        """Whether the stored history goes on with a question that has no answer yet."""
        return not self.summarised and self.alignment.reach < len(self.path)

    @property
    def evidence(self) -> tuple[int, ...]:
        """What makes one candidate better than another, the weightiest first."""
        proven, open_end = self.alignment.proven, not self.forks and not self.has_open_question
        return (self.hinted, self.is_whole, proven, not self.forks, open_end, -self.foreign, self.familiar)

    @property
    def is_whole(self) -> bool:
        """Whether the request has all of this history, and goes on where it ends: none can be closer."""
        lined_up = self.alignment
        ends = not self.forks and not self.has_open_question and not self.foreign
        return ends and lined_up.regular and not lined_up.skipped

    @property
    def worth(self) -> tuple[int, ...]:
        """The same, and what may decide between candidates of one conversation."""
        return (*self.evidence, self.alignment.regular, len(self.alignment.pairs))


class CandidateFinder:
    """Finds the candidate histories for one inquiry."""

    def __init__(self, store: Store, inquiry: Inquiry) -> None:
        self._log = store.log
        self._inquiry = inquiry
        self._messages = inquiry.messages
        self._keys = [anchor(message) for message in inquiry.messages]

    def find_convincing(self) -> list[HistoryCandidate]:
        """Return the candidates with enough evidence, best first."""
        candidates = [
            candidate
            for conversation in self._likely_conversations()
            for candidate in self.find_in(conversation)
            if self._is_convincing(candidate)
        ]
        return sorted(candidates, key=lambda one: (one.worth, one.conversation.updated_at), reverse=True)

    def find_in(self, conversation: ConversationRecord) -> list[HistoryCandidate]:
        """Return the current history of one conversation, and branches that the request mentions."""
        paths: list[list[MessageRecord]] = []
        tips = [conversation.head] if conversation.head else []
        for tip in [*tips, *self._find_tips(conversation.tree)]:
            if not any(stored.id == tip for path in paths for stored in path):
                paths.append(self._log.path(tip))
        candidates = [self._build_candidate(conversation, path) for path in paths]
        # Branches of one conversation are much alike: an edited question may have got the answer of the first
        # one, or a second answer begins as the first did. What came back word for word tells them apart.
        exact = max((candidate.alignment.exact for candidate in candidates), default=0)
        return [candidate for candidate in candidates if candidate.alignment.exact >= exact]

    # Which conversations are worth reading

    @cached_property
    def _hits(self) -> dict[str, list[AnchorHit]]:
        """Where the newest answers and questions of the request are stored, newest first."""
        hits: dict[str, list[AnchorHit]] = {}
        for role, limit in (("assistant", _ANSWERS), ("user", _QUESTIONS)):
            roles = zip(reversed(self._keys), reversed(self._messages), strict=True)
            newest = dict.fromkeys(key for key, message in roles if key and message.role == role)
            anchors = list(islice(newest, limit))
            hits |= {name: [] for name in anchors}
            for hit in self._log.find_anchors(self._inquiry.scope, anchors) if anchors else ():
                hits[hit.anchor].append(hit)
        return hits

    def _likely_conversations(self) -> list[ConversationRecord]:
        """Return conversations the client hints at, then those sharing most with the request."""
        scope, hints = self._inquiry.scope, self._inquiry.hints
        hinted = self._log.by_external_id(scope, hints.external_id)[:_CONVERSATIONS]
        if self._inquiry.made_for:
            # It may have been deleted since.
            with suppress(NotFound):
                hinted.append(self._log.get(self._inquiry.made_for, scope))
        shared: Counter[str] = Counter()
        newest: dict[str, float] = defaultdict(float)
        for hits in self._hits.values():
            shared.update({hit.tree for hit in hits})
            for hit in hits:
                newest[hit.tree] = max(newest[hit.tree], hit.created_at)
        trees = sorted(shared, key=lambda tree: (shared[tree], newest[tree]), reverse=True)
        known = [
            conversation
            for tree in trees[:_CONVERSATIONS]
            for conversation in self._log.conversations_of(tree)
        ]
        return list({conversation.id: conversation for conversation in [*hinted, *known]}.values())

    def _find_tips(self, tree: str) -> list[str]:
        """Return the stored messages of a tree that the newest messages of the request match."""
        hits = [hit for group in self._hits.values() for hit in group if hit.tree == tree]
        known = {hit.message for hit in hits}
        # The same answer may stand in many branches: meant is one behind a question of this request.
        behind = [hit for hit in hits if hit.parent in known]
        return list(dict.fromkeys(hit.message for hit in (*hits[:_BRANCHES], *behind[:_BRANCHES])))

    # What one of them has in common with the request

    def _build_candidate(
        self, conversation: ConversationRecord, path: Sequence[MessageRecord]
    ) -> HistoryCandidate:
        alignment = align(path, self._messages, self._keys)
        hints, last = self._inquiry.hints, alignment.pairs[-1].sent if alignment.pairs else -1
        summary = max((index for index in self._inquiry.summaries if index > last), default=None)
        start = alignment.start if summary is None else self._skip_history_end(path, summary + 1)
        return HistoryCandidate(
            conversation=conversation,
            path=path,
            alignment=alignment,
            hinted=conversation.id == self._inquiry.made_for
            or (bool(hints.external_id) and conversation.external_id == hints.external_id),
            summarised=summary is not None,
            start=start,
            foreign=sum(message.role == "assistant" for message in self._messages[start:]),
            forks=summary is None and self._is_fork(conversation, path, alignment.reach),
            familiar=conversation.client == hints.sender,
        )

    def _skip_history_end(self, path: Sequence[MessageRecord], start: int) -> int:
        """Return where the new part begins after a summary, skipping what the history already ends with."""
        indexes = [
            index
            for index, message in enumerate(self._messages)
            if index >= start and message.role != "system"
        ]
        for count in range(min(len(indexes), len(path), _RESUMED), 0, -1):
            pairs = zip(path[-count:], indexes[:count], strict=True)
            if all(
                compare_messages(message.message, self._messages[index]) is Likeness.EXACT
                for message, index in pairs
            ):
                return indexes[count - 1] + 1
        return start

    def _is_fork(self, conversation: ConversationRecord, path: Sequence[MessageRecord], reach: int) -> bool:
        if any(is_own(stored) for stored in path[reach:]):
            return True
        # The end of another branch: what follows it there was not read.
        elsewhere = bool(reach) and reach == len(path) and path[-1].id != conversation.head
        return elsewhere and bool(self._log.children(path[-1].id))

    # Whether that is enough

    def _is_convincing(self, candidate: HistoryCandidate) -> bool:
        if self._is_contradicted(candidate):
            return False
        if candidate.hinted:
            return self._is_confirmed(candidate)
        lined_up = candidate.alignment
        goes_on = lined_up.regular and not candidate.forks
        known = lined_up.proven or (lined_up.own if goes_on else 0)
        if not known or candidate.foreign > 2 * known + 1 or self._is_collage(candidate):
            return False
        return lined_up.regular or self._is_recognisable(candidate)

    def _is_contradicted(self, candidate: HistoryCandidate) -> bool:
        """Whether the client says that this is another chat, or another person's."""
        hints, known = self._inquiry.hints, candidate.conversation
        person = read_person(known.client)
        if hints.person and person and hints.person != person:
            return True
        tool = hints.external_id.partition(":")[0]
        same_tool = known.external_id.partition(":")[0] == tool
        return hints.one_chat and same_tool and known.external_id != hints.external_id

    def _is_confirmed(self, candidate: HistoryCandidate) -> bool:
        """Whether the messages agree with a hint, which lowers the bar but is never enough alone."""
        lined_up = candidate.alignment
        if lined_up.own or candidate.summarised:
            return True
        whole = lined_up.regular and lined_up.reach == len(candidate.path)
        unanswered = not any(is_own(stored) for stored in candidate.path)
        if whole and unanswered and lined_up.start < len(self._messages):
            return True
        # The same first question in the same chat: asked once more, or its answer was edited.
        return lined_up.regular and self._inquiry.hints.one_chat

    def _is_collage(self, candidate: HistoryCandidate) -> bool:
        """Whether the new part contains exchanges from other conversations: then it is its own history."""
        for index in range(max(candidate.alignment.start, 1), len(self._messages)):
            answer = self._messages[index]
            if answer.role == "assistant":
                trees = self._trees_with(index) - {candidate.conversation.tree}
                if trees and (
                    len(comparable_text(answer)) >= DISTINCTIVE_LENGTH or trees & self._trees_with(index - 1)
                ):
                    return True
        return False

    def _trees_with(self, index: int) -> set[str]:
        """Return the trees in which a message of the request is known."""
        return {hit.tree for hit in self._hits.get(self._keys[index] or "", ())}

    def _is_recognisable(self, candidate: HistoryCandidate) -> bool:
        """Whether a history that lacks its beginning, or has another one, has enough in common."""
        lined_up = candidate.alignment
        own = [pair for pair in lined_up.pairs if pair.own and pair.like >= Likeness.PART]
        length = sum(len(comparable_text(self._messages[pair.sent])) for pair in lined_up.pairs)
        if lined_up.grown or length < _TELLING_EXCHANGE:
            return False
        at_end = lined_up.reach == len(candidate.path) and not candidate.forks
        exact = all(pair.like is Likeness.EXACT for pair in lined_up.pairs)
        return len(own) > 1 or (at_end and exact)


@dataclass(frozen=True, slots=True)
class Placement:
    """The conversation of a request, and what is new in it.

    A side request has no conversation and nothing of it is stored. In a main request, no conversation means a
    new one, to be created with `external_id` and `client`.
    """

    kind: Literal["main", "side"]
    # Why, in a sentence for a person.
    reason: str
    # Which kind of side request it is, and the conversation it was made for where that is known.
    side: str = ""
    beside: str | None = None
    conversation: str | None = None
    # The conversation's head when this was decided; appending expects it to be there still.
    head: str | None = None
    # The message that what is new follows; an answer without anything new follows it too.
    parent: str | None = None
    new: tuple[NewMessage, ...] = ()
    # For each message of the request, what the log holds for it: matched ones are sent as stored.
    matched: tuple[MessageRecord | None, ...] = ()
    # Whether an answered message already follows the parent: an edit, or an answer wanted once more.
    forks: bool = False
    external_id: str = ""
    client: str = ""
    # The client leaves the history to us: the request holds only what is new.
    from_log: bool = False

    @property
    def messages(self) -> tuple[Message, ...]:
        """The new messages, without user messages that only a program wrote."""
        messages = (new.message for new in self.new)
        return tuple(message for message in messages if message.role != "user" or has_user_text(message))


def has_user_text(message: Message) -> bool:
    """Whether a user message has more in it than what a program put there."""
    text = strip_additions(message)
    return bool(text) and not (text.startswith("<") and text.endswith(">") and text == message.text.strip())


# In front of the job that gave an answer, in the ids of OpenAI's responses.
_RESPONSE = "resp_"
# Shorter beginnings mean many: an id begins with the time at which it was made.
_BEGINNING = re.compile(r"[a-z]_[0-9a-z]{6,26}")


def find_message(store: Store, conversation: ConversationRecord, name: str) -> MessageRecord:
    """Find a message by its id anywhere in the tree; by prefix or number, only on the way to the head."""
    path = store.log.path_ids(conversation.head) if conversation.head else []
    if name.isdecimal() and len(name) < 10:
        if not 1 <= int(name) <= len(path):
            raise NotFound(
                lazy(
                    "{conversation} has no message number {number}.",
                    conversation=conversation.id,
                    number=name,
                ),
                hint=lazy("It has {number} messages.", number=len(path)),
            )
        return store.log.message(path[int(name) - 1])
    identifier = find_by_prefix(name.lower(), path)
    try:
        return get_message(store, conversation, identifier or name)
    except NotFound:
        raise NotFound(
            lazy(
                "message '{message}' not found in {conversation}.", message=name, conversation=conversation.id
            ),
            hint=lazy(
                "`holdfast conversations show {id}` has the ids, and so has"
                " /api/chats/{id}/messages; a message's number in it will do, too.",
                id=conversation.id,
            ),
        ) from None


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer with its job. The answer is None as long as there is no text."""

    job: JobRecord
    conversation: ConversationRecord
    answer: MessageRecord | None


def find_answer(store: Store, scope: Scope, name: str) -> GivenAnswer:
    """Find the answer with a response id of ours; one of another scope counts as missing."""
    missing = NotFound(
        lazy("Response with id '{name}' not found.", name=name),
        hint=lazy("It was not stored, was deleted, or belongs to somebody else: send the history itself."),
    )
    try:
        job = store.jobs.get(name.removeprefix(_RESPONSE))
        if job.conversation is None:
            raise missing
        conversation = store.log.get(job.conversation, scope)
    except NotFound:
        raise missing from None
    answer = store.log.answer(conversation.tree, job.id)
    if answer is None and job.answer is not None:
        # The same words had been said there before, and are kept once.
        answer = store.log.message(job.answer)
    return GivenAnswer(job, conversation, answer)


def find_decision(store: Store, conversation: ConversationRecord, name: str) -> str:
    """Return the id of a decision that is in force in one of the conversation's windows."""
    ids = [
        decision.id for lane in store.lanes.of(conversation.id) for decision in store.decisions.of(lane.id)
    ]
    identifier = name if name in ids else find_by_prefix(name.lower(), ids)
    if identifier is None:
        raise NotFound(
            lazy(
                "no decision '{decision}' is in force in {conversation}.",
                decision=name,
                conversation=conversation.id,
            ),
            hint=lazy(
                "`holdfast window {id}` has their ids, and so has /api/chats/{id}/window.", id=conversation.id
            ),
        )
    return identifier


def find_by_prefix(beginning: str, ids: Iterable[str]) -> str | None:
    if not _BEGINNING.fullmatch(beginning):
        return None
    matches = [name for name in ids if name.startswith(beginning)]
    if len(matches) > 1:
        raise BadRequest(
            lazy("{number} ids begin with '{beginning}'.", number=len(matches), beginning=beginning),
            hint=lazy("Give more of the id."),
        )
    return matches[0] if matches else None


# An id that only we give: a conversation with such an id is there, or it is gone.
_OUR_ID = re.compile(r"c_[0-9a-z]{26}")
# In front of an id that a client chose for us, to tell it from the ids that tools give their chats.
_CLIENT_ID_PREFIX = "holdfast:"
# Among how many of the last used conversations a last answer is looked for.
_RECENT = 12
_BY_PROGRAM = "a program asks for it, not a person"
_UNKNOWN = "nothing in it is known: a new conversation"
# A summary stands in front: among the first messages, behind what a client always sends.
_FRONT = 3


def locate_in_cache(
    scope: Scope,
    request: ChatRequest,
    hints: Hints,
    side_requests: SideRequestCache,
    recent_conversations: RecentConversationCache,
) -> Placement | None:
    """Place the request if that takes no lookup in the store; else return None."""
    name = classify_side_request(request, hints)
    if name == COMPACTION or hints.explicit or hints.previous:
        return None
    if name is None and (side_answer := side_requests.find_by_results(scope, request.messages)):
        return _place_tool_results(side_answer)
    if name is not None:
        return _side_placement(name, None, _BY_PROGRAM)
    talk = [message for message in request.messages if message.role != "system"]
    if recent := recent_conversations.find(scope, hints, talk):
        return _place_recent(recent, request.messages)
    if hints.external_id or any(message.role == "assistant" for message in talk):
        return None
    inquiry = build_inquiry(scope, request.messages, hints, side_requests)
    return None if inquiry.summaries else _place_new(inquiry, _UNKNOWN)


def locate(
    store: Store,
    scope: Scope,
    request: ChatRequest,
    hints: Hints,
    side_requests: SideRequestCache | None = None,
) -> Placement:
    """Place the request. `side_requests` holds the answers that earlier side requests were given."""
    side_requests = side_requests or SideRequestCache()
    name = classify_side_request(request, hints)
    if name == COMPACTION:
        beside = _find_summarised(
            store, build_inquiry(scope, _drop_question(request.messages), hints, side_requests)
        )
        return _side_placement(name, beside, "the client shortens its own history")
    if name is not None:
        return _side_placement(name, None, _BY_PROGRAM)
    if side_answer := side_requests.find_by_results(scope, request.messages):
        return _place_tool_results(side_answer)
    inquiry = build_inquiry(scope, request.messages, hints, side_requests)
    if hints.explicit:
        return _place_by_id(store, inquiry)
    if hints.previous and (placement := _place_after_answer(store, inquiry)):
        return placement
    if best := pick_best(CandidateFinder(store, inquiry).find_convincing()):
        return _place_in_candidate(best, inquiry, explain(best))
    if conversation := find_handover(store, inquiry):
        reason = "a program hands our last answer on as a question"
        return _place_in(inquiry, conversation, conversation.head, _to_new_messages(inquiry.messages), reason)
    return _place_new(inquiry, _UNKNOWN, hints.external_id)


def locate_at_end(store: Store, scope: Scope, request: ChatRequest, conversation: str) -> Placement:
    """Place the request at the end of a conversation whose history the client leaves to us."""
    row = store.log.get(conversation, scope)
    new = _to_new_messages(request.messages)
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


def _side_placement(name: str, beside: str | None, why: str) -> Placement:
    return Placement("side", reason=f"{name}: {why}", side=name, beside=beside)


def _place_tool_results(side_answer: SideAnswer) -> Placement:
    return _side_placement(
        side_answer.name, side_answer.conversation, "it brings the results of a side request's tool calls"
    )


def _place_recent(recent: RecentConversation, messages: Sequence[Message]) -> Placement:
    """Place the request after a history that came back word for word."""
    known = iter(recent.path)
    matched = tuple(None if message.role == "system" else next(known, None) for message in messages)
    new = [
        message
        for message, stored in zip(messages, matched, strict=True)
        if stored is None and message.role != "system"
    ]
    end = recent.path[-1].id
    return Placement(
        "main",
        reason="its history came back word for word" if new else "it asks once more what was not answered",
        conversation=recent.conversation,
        head=end,
        parent=end,
        new=_to_new_messages(new),
        matched=matched,
        external_id=recent.external_id,
        client=recent.sender,
    )


def build_inquiry(
    scope: Scope, messages: Sequence[Message], hints: Hints, side_requests: SideRequestCache
) -> Inquiry:
    looks = find_summaries(messages)
    talk = [index for index, message in enumerate(messages) if message.role != "system"]
    # A person who begins with a summary of ours begins anew; a program has more to send, or no question.
    front = talk[:_FRONT] if len(talk) > 1 or (talk and messages[talk[0]].role == "assistant") else []
    answers = {
        index: side_answer
        for index in sorted({*looks, *front})
        if (
            side_answer := side_requests.find_summary(
                scope, hints.sender, messages[index], inside=index in looks
            )
        )
    }
    made_for = next(
        (side_answer.conversation for side_answer in answers.values() if side_answer.conversation), None
    )
    return Inquiry(scope, messages, hints, looks | answers.keys(), made_for)


def _drop_question(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages before the one that asks for a summary."""
    return messages[: max((i for i, message in enumerate(messages) if message.role == "user"), default=0)]


def _find_summarised(store: Store, inquiry: Inquiry) -> str | None:
    """Return the conversation that a client wants to summarise."""
    if best := pick_best(CandidateFinder(store, inquiry).find_convincing()):
        return best.conversation.id
    known = store.log.by_external_id(inquiry.scope, inquiry.hints.external_id)
    return known[0].id if known else None


def pick_best(candidates: Sequence[HistoryCandidate]) -> HistoryCandidate | None:
    """Return the best candidate, unless it is a tie between conversations that would both fork."""
    if not candidates:
        return None
    rivals = [
        candidate
        for candidate in candidates[1:]
        if candidate.conversation.tree != candidates[0].conversation.tree
    ]
    if candidates[0].forks and rivals and rivals[0].evidence == candidates[0].evidence:
        return None
    return candidates[0]


def _place_by_id(store: Store, inquiry: Inquiry) -> Placement:
    """Place the request in the conversation that the client named, whatever its messages are."""
    name, reason = inquiry.hints.explicit, "the client named the conversation"
    conversation = _find_by_id(store, inquiry.scope, name)
    if conversation is None:
        return _place_new(
            inquiry, f"a new conversation, named {name} by the client", _CLIENT_ID_PREFIX + name
        )
    candidates = [
        candidate
        for candidate in CandidateFinder(store, inquiry).find_in(conversation)
        if candidate.alignment.pairs
    ]
    if candidates:
        return _place_in_candidate(max(candidates, key=lambda candidate: candidate.worth), inquiry, reason)
    placement = _place_in(
        inquiry, conversation, conversation.head, _to_new_messages(inquiry.messages), reason
    )
    # Nothing of it was resent: the client counts on us for what was said before.
    return replace(placement, from_log=True)


def _find_by_id(store: Store, scope: Scope, name: str) -> ConversationRecord | None:
    try:
        return store.log.get(name, scope)
    except NotFound:
        if _OUR_ID.fullmatch(name):
            raise
        return next(iter(store.log.by_external_id(scope, _CLIENT_ID_PREFIX + name)), None)


def _place_after_answer(store: Store, inquiry: Inquiry) -> Placement | None:
    """Place the request after the answer of ours that the client names instead of resending history."""
    try:
        given = find_answer(store, inquiry.scope, inquiry.hints.previous)
    except NotFound:
        return None
    conversation = given.conversation
    answer = given.answer.id if given.answer else conversation.head
    reason = "the client named the answer that it continues"
    placement = _place_in(inquiry, conversation, answer, _to_new_messages(inquiry.messages), reason)
    return replace(placement, forks=answer != conversation.head, from_log=True)


def find_handover(store: Store, inquiry: Inquiry) -> ConversationRecord | None:
    """Find the conversation whose last answer the newest question begins with, word for word.

    Programs do this that have one model plan and another carry the plan out. A person may quote an answer in
    a new conversation, too, but then nothing precedes it.
    """
    messages = inquiry.messages
    if (
        not messages
        or messages[-1].role != "user"
        or not any(message.role == "assistant" for message in messages)
    ):
        return None
    asked = comparable_text(messages[-1])
    for conversation in store.log.recent(inquiry.scope, _RECENT):
        if conversation.head and conversation.client == inquiry.hints.sender:
            answer = store.log.message(conversation.head)
            text = comparable_text(answer.message)
            if is_own(answer) and len(text) >= DISTINCTIVE_LENGTH and asked.startswith(text):
                return conversation
    return None


def _place_in_candidate(candidate: HistoryCandidate, inquiry: Inquiry, reason: str) -> Placement:
    matched = {pair.sent: candidate.path[pair.stored] for pair in candidate.alignment.pairs}
    new = _to_new_messages(inquiry.messages[candidate.start :])
    return replace(
        _place_in(inquiry, candidate.conversation, candidate.parent, new, reason),
        matched=tuple(matched.get(index) for index in range(len(inquiry.messages))),
        forks=candidate.forks,
    )


def _place_in(
    inquiry: Inquiry,
    conversation: ConversationRecord,
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


def _place_new(inquiry: Inquiry, reason: str, external_id: str = "") -> Placement:
    return Placement(
        "main",
        reason=reason,
        new=_to_new_messages(inquiry.messages),
        matched=(None,) * len(inquiry.messages),
        external_id=external_id,
        client=inquiry.hints.sender,
    )


def _to_new_messages(messages: Sequence[Message]) -> tuple[NewMessage, ...]:
    """Return what goes into the log: all but system messages, which are stored with the job.

    Only user messages get an anchor: an answer is looked up by its anchor only if it was ours.
    """
    return tuple(
        NewMessage(message, anchor(message) if message.role == "user" else None)
        for message in messages
        if message.role != "system"
    )


def explain(candidate: HistoryCandidate) -> str:
    """Return the evidence and what follows from it, in a sentence."""
    count = candidate.alignment.proven
    answers = "one of our answers" if count == 1 else f"{count} of our answers"
    evidence = f"{answers} came back" if count else "its beginning came back"
    if candidate.hinted:
        evidence += ", and more than the messages says so"
    if candidate.summarised:
        return f"{evidence}: a summary stands for what was said before"
    if not candidate.forks:
        return f"{evidence}: it goes on where the conversation ends"
    return f"{evidence}: it leaves the conversation before its end, to edit or to repeat"
