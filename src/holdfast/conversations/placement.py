"""Where a request belongs: what `identity.locate` finds out, and the engine acts on.

A value. It knows neither how it was found nor how it is stored.
"""

from dataclasses import dataclass
from typing import Literal

from holdfast.conversations.likeness import anchor, strip_additions
from holdfast.messages import Message
from holdfast.store import NewMessage, Stored


@dataclass(frozen=True, slots=True)
class Placement:
    """The conversation of a request, and what is new in it.

    A side request has no conversation: nothing of it is kept. In a main request, no conversation means a new
    one, to be made with `external_id` and `client`.
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
    matched: tuple[Stored | None, ...] = ()
    # Whether an answered message already follows the parent: an edit, or an answer wanted once more.
    forks: bool = False
    external_id: str = ""
    client: str = ""
    # The client leaves the history to us: the request holds only what is new.
    from_log: bool = False

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is new, without the messages in which only a program speaks."""
        said = (new.message for new in self.new)
        return tuple(message for message in said if message.role != "user" or has_user_text(message))


def has_user_text(message: Message) -> bool:
    """Whether there is more in a user message than what a program put there."""
    text = strip_additions(message)
    return bool(text) and not (text.startswith("<") and text.endswith(">") and text == message.text.strip())


def to_new_message(message: Message) -> NewMessage:
    """A message that a client sent, as it goes into the log.

    Only a user's words can be looked up later: an answer is found again by its anchor only if it was ours.
    """
    return NewMessage(message, anchor(message) if message.role == "user" else None)
