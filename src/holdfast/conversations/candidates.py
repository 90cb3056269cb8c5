"""Finds the stored histories that a request may continue, and weighs the evidence for each.

Looks up the newest messages of the request among everything in its scope and aligns it with the few likeliest
histories. `identity` decides what to do with the best one.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from holdfast.conversations.alignment import (
    DISTINCTIVE_LENGTH,
    Alignment,
    Likeness,
    align,
    anchor,
    comparable_text,
    compare_messages,
    is_own,
)
from holdfast.conversations.hints import Hints, read_person
from holdfast.errors import NotFound
from holdfast.messages import Message, Scope
from holdfast.store import AnchorHit, ConversationRecord, MessageRecord, Store

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
        aside = bool(reach) and reach == len(path) and path[-1].id != conversation.head
        return aside and bool(self._log.children(path[-1].id))

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
