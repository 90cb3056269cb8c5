"""Clients that shorten their own history: what their summaries look like, and which of our answers they were.

A client asks for a summary in a side request and later sends it in place of what it left out.
`SideRequestCache` remembers the last answers to side requests, in memory only, so that they are recognised.
"""

import re
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from holdfast.conversations.likeness import call_ids, comparable_text, strip_additions
from holdfast.messages import Message, Scope
from holdfast.patterns import late

# How a message, or a paragraph of a system message, begins that stands for what was left out.
_SUMMARY_OPENING = late(
    r"^[^\S\n]*(?:This session is being continued from a previous conversation"
    r"|\[CONVERSATION SUMMARY\]|<(?:conversation_summary|state_snapshot|summary)>"
    r"|Another language model started to solve this problem"
    r"|I spoke to you previously about a number of things"
    r"|(?:(?:This|Here|The following) is )?an? (?:brief )?summary of (?:the|our|this) "
    r"(?:previous |earlier )?(?:conversation|chat|discussion|history)"
    r"|(?:(?:Dies|Hier) ist )?(?:eine )?Zusammenfassung (?:de[rs]|unsere[rs]) (?:bisherigen |früheren )?"
    r"(?:Gespräch|Unterhaltung|Chat|Verlauf))",
    re.IGNORECASE | re.MULTILINE,
)
# A question a client asks itself, so that the summary can be the answer to it.
_SELF_ASKED = late(r"\s*What did we do so far\?\s*", re.IGNORECASE)
# What a client lets the model say to a summary it was handed.
_ACKNOWLEDGED = late(r"\s*(?:Got it\.? )?Thanks for the additional context", re.IGNORECASE)

# Shorter answers to a side request could be anything.
_LEAST_SUMMARY = 40
# A summary is not found deeper in a message than this.
_SEARCHED_LENGTH = 100_000


def find_summaries(messages: Sequence[Message]) -> frozenset[int]:
    """Which messages of a request are a client's summary of what it left out, by the looks of them."""
    found = {index for index, message in enumerate(messages) if _is_summary(message)}
    for index, (asked, said) in enumerate(pairwise(messages)):
        exchange = asked.role == "user" and said.role == "assistant"
        if exchange and (_SELF_ASKED.fullmatch(strip_additions(asked)) or _ACKNOWLEDGED.match(said.text)):
            found |= {index, index + 1}
    return frozenset(found)


def _is_summary(message: Message) -> bool:
    if message.role == "system":
        return bool(_SUMMARY_OPENING.search(message.text))
    return message.role == "user" and bool(_SUMMARY_OPENING.match(strip_additions(message).lstrip()))


@dataclass(frozen=True, slots=True)
class SideAnswer:
    """An answer that was given to a side request: what it was for, and the conversation it belonged to."""

    scope: Scope
    name: str
    sender: str
    conversation: str | None
    said: str
    calls: frozenset[str]


class SideRequestCache:
    """The last answers to side requests. Safe to use from several threads; lost when the process ends."""

    def __init__(self, limit: int = 256) -> None:
        self._recent: deque[SideAnswer] = deque(maxlen=limit)
        self._lock = threading.Lock()

    def note(
        self, scope: Scope, name: str, answer: Message, *, sender: str = "", conversation: str | None = None
    ) -> None:
        with self._lock:
            self._recent.append(
                SideAnswer(scope, name, sender, conversation, comparable_text(answer), call_ids(answer))
            )

    def behind(self, scope: Scope, messages: Sequence[Message]) -> SideAnswer | None:
        """The side request whose tool calls these messages bring the results of."""
        if not messages or messages[-1].role != "tool":
            return None
        answer = next((message for message in reversed(messages) if message.role == "assistant"), None)
        calls = call_ids(answer) if answer else frozenset()
        return next((aside for aside in self._newest(scope) if aside.calls & calls), None)

    def summary(
        self, scope: Scope, sender: str, message: Message, *, inside: bool = False
    ) -> SideAnswer | None:
        """The side request whose answer this message is, or, where it looks like it, has inside."""
        said = comparable_text(message)[:_SEARCHED_LENGTH]
        for aside in self._newest(scope):
            found = aside.said in said if inside else aside.said == said
            if found and aside.sender == sender and len(aside.said) >= _LEAST_SUMMARY:
                return aside
        return None

    def _newest(self, scope: Scope) -> list[SideAnswer]:
        with self._lock:
            return [aside for aside in reversed(self._recent) if aside.scope == scope]
