"""A cache of recent conversations: most requests repeat such a history and go on.

In memory only, and only a shortcut: what is not found here word for word, or is found twice, is looked up in
the log.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.conversations.hints import Hints
from holdfast.messages import File, Image, Message, Opaque, Part, Scope, ToolCall, ToolResult
from holdfast.store import MessageRecord

# So many histories are remembered, and of so many messages at most: longer ones take longer to compare.
_HISTORIES, _MESSAGES = 200, 400


@dataclass(frozen=True, slots=True)
class RecentConversation:
    """A conversation and its path to the last answer, or to a question without an answer."""

    conversation: str
    sender: str
    external_id: str
    path: tuple[MessageRecord, ...]

    @property
    def is_answered(self) -> bool:
        return self.path[-1].message.role == "assistant"


class RecentConversationCache:
    """Finds the recent conversation that a request continues word for word."""

    def __init__(self) -> None:
        # None where two conversations are the same so far.
        self._cache: OrderedDict[tuple[Scope, int], RecentConversation | None] = OrderedDict()

    def add(self, scope: Scope, standing: RecentConversation) -> None:
        """Remember where a conversation ends, as the client sees it."""
        if len(standing.path) > _MESSAGES:
            return
        messages = [stored.message for stored in standing.path]
        if standing.is_answered:
            # Asking the same again starts another conversation.
            self._cache.pop((scope, fingerprint(messages[:-1])), None)
        key = scope, fingerprint(messages)
        before = self._cache.pop(key, standing)
        same = before is not None and before.conversation == standing.conversation
        self._cache[key] = standing if same else None
        while len(self._cache) > _HISTORIES:
            self._cache.popitem(last=False)

    def find(self, scope: Scope, hints: Hints, messages: Sequence[Message]) -> RecentConversation | None:
        """Return the one conversation that these messages (without instructions) continue.

        They follow its last answer, or repeat a question that was never answered.
        """
        last = next((at for at in range(len(messages), 0, -1) if messages[at - 1].role == "assistant"), 0)
        for end in (last, len(messages)):
            if 0 < end <= _MESSAGES and (end < len(messages) or last < end):
                conversation = self._cache.get((scope, fingerprint(messages[:end])))
                if (
                    conversation is not None
                    and len(conversation.path) == end
                    and conversation.is_answered == (end == last)
                ):
                    same = (conversation.sender, conversation.external_id) == (
                        hints.sender,
                        hints.external_id,
                    )
                    return conversation if same else None
        return None

    def forget(self, conversation: str) -> None:
        gone = [key for key, recent in self._cache.items() if recent and recent.conversation == conversation]
        for key in gone:
            del self._cache[key]


def fingerprint(messages: Sequence[Message]) -> int:
    """Hash a whole history as far as clients resend it: without an answer's thinking."""
    return hash(tuple(map(message_key, messages)))


def message_key(message: Message) -> tuple[object, ...]:
    return message.role, message.text.strip(), *part_keys(message.parts)


def part_keys(parts: Sequence[Part]) -> Iterator[object]:
    for part in parts:
        match part:
            case Image():
                yield part.data or part.url
            case ToolCall():
                yield part.id, part.name, part.arguments
            case ToolResult():
                yield part.call_id, tuple(part_keys(part.parts))
            case File() | Opaque():
                yield repr(part)
