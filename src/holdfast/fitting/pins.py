"""Pinning: which messages may be protected, and how many of them.

More than a quarter of history is refused, or a few pins would push out everything else.
"""

from holdfast.conversations import lanes
from holdfast.errors import BadRequest
from holdfast.messages import Message
from holdfast.store import Conversation, Store, Stored
from holdfast.tokens.counter import EstimatingCounter
from holdfast.window.presets import Preset

# A conversation that was never sent anywhere has no window yet.
_USUAL_WINDOW = 8_192


def pin(store: Store, preset: Preset, conversation: Conversation, message: str) -> Stored:
    """Protect a message of the conversation, if that is not too much."""
    found = lanes.message_of(store, conversation, message)
    used = store.lanes.of(conversation.id)
    room = used[0].report.get("history", {}).get("full") if used else None
    most = (room or preset.budget(used[0].window if used else _USUAL_WINDOW).room) // 4
    tokens = _tokens(found, found.message) + sum(
        _tokens(found, store.log.message(mark.message).message)
        for mark in store.marks.of(conversation.head or found.id)
        if mark.kind == lanes.PIN and mark.message != found.id
    )
    if tokens > most:
        raise BadRequest(
            f"pinned messages would take about {tokens:,} tokens, and at most {most:,} may be pinned:"
            " a quarter of what history can have",
            hint="Unpin something first, or pin a shorter message.",
        )
    store.marks.put(found.id, lanes.PIN)
    return found


def _tokens(pinned: Stored, message: Message) -> int:
    return EstimatingCounter(pinned.model).count_message(message).tokens
