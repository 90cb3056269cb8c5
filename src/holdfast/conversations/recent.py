"""A cache of recent conversations: most requests repeat such a history and go on.

In memory only, and only a shortcut: what is not found here word for word, or is found twice, is looked up in
the log.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from holdfast.conversations.hints import Hints
from holdfast.messages import File, Image, Message, Opaque, Part, Scope, Text, ToolCall, ToolResult
from holdfast.store import MessageRecord

# So many histories are remembered, with so many characters altogether.
_HISTORIES, _CHARACTERS = 200, 8_000_000

_Key = tuple[Scope, int]


@dataclass(frozen=True)
class RecentConversation:
    """A conversation and its path to the last answer, or to a question without an answer."""

    conversation: str
    sender: str
    external_id: str
    path: tuple[MessageRecord, ...]

    @cached_property
    def size(self) -> int:
        """Characters of its messages."""
        return sum(len(stored.message.text) for stored in self.path)

    @property
    def is_answered(self) -> bool:
        return self.path[-1].message.role == "assistant"


class RecentConversationCache:
    """Finds the recent conversation that a request continues word for word."""

    def __init__(self) -> None:
        # None where two conversations are the same so far.
        self._cache: OrderedDict[_Key, RecentConversation | None] = OrderedDict()
        # Characters of all that is remembered.
        self._size = 0

    def add(self, scope: Scope, recent: RecentConversation) -> None:
        """Remember where a conversation ends, as the client sees it."""
        *_, before_last, last = 0, *fingerprints([stored.message for stored in recent.path])
        if recent.is_answered:
            # Asking the same again starts another conversation.
            self._pop((scope, before_last))
        key = scope, last
        before = self._cache.get(key, recent)
        self._pop(key)
        same = before is not None and before.conversation == recent.conversation
        self._cache[key] = recent if same else None
        self._size += recent.size if same else 0
        while len(self._cache) > _HISTORIES or self._size > _CHARACTERS:
            self._pop(next(iter(self._cache)))

    def find(self, scope: Scope, hints: Hints, messages: Sequence[Message]) -> RecentConversation | None:
        """Return the one conversation that these messages (without instructions) continue.

        They follow its last answer, or repeat a question that was never answered.
        """
        last = next((at for at in range(len(messages), 0, -1) if messages[at - 1].role == "assistant"), 0)
        prints = fingerprints(messages)
        for end in (last, len(messages)):
            if end > 0 and (end < len(messages) or last < end):
                conversation = self._cache.get((scope, prints[end - 1]))
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
            self._pop(key)

    def _pop(self, key: _Key) -> None:
        removed = self._cache.pop(key, None)
        self._size -= removed.size if removed else 0


def fingerprints(messages: Sequence[Message]) -> list[int]:
    """Hash a history up to each of its messages, as far as clients resend it: without thinking."""
    prints = accumulate(map(message_key, messages), lambda before, key: hash((before, key)), initial=0)
    return [*prints][1:]


def message_key(message: Message) -> tuple[object, ...]:
    if len(message.parts) == 1 and type(part := message.parts[0]) is Text:
        return message.role, part.text.strip()
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
