"""Titles of conversations: the first words of the first question, until a model or a person gives another."""

import re

from holdfast.conversations.alignment import strip_reminders
from holdfast.messages import Message
from holdfast.thinking import without_thinking

# So many characters of a message are looked at for a title.
_READ = 1_000
# A title of a model has at most so many characters and words; more is an answer, no title.
_LONGEST, _MOST_WORDS = 80, 12
# What models put around a title, and what stands before it.
_AROUND = " \t\"'`*_#„“”‚‘’«»‹›.:;,-–—"
_LABEL = re.compile(r"^(?:titel|title)\s*:\s*", re.IGNORECASE)


def title_of(messages: tuple[Message, ...], length: int = 80) -> str:
    """Returns the first line of the first user message: the title until the conversation is renamed.

    What an agent puts around it, as reminders and where it works, is no title where there is anything else.
    """
    texts = [message.text for message in messages if message.role == "user" and message.text.strip()]
    text = next((typed for text in texts if (typed := strip_reminders(text).strip())), "".join(texts[:1]))
    line = " ".join(text.lstrip()[:_READ].splitlines()[0].split()) if text else ""
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def read_title(reply: str) -> str:
    """Returns the title in the reply of a model; empty if it wrote none."""
    lines = [line.strip(_AROUND) for line in without_thinking(reply).splitlines()]
    lines = [line for line in lines if line]
    if len(lines) != 1:
        return ""
    title = " ".join(_LABEL.sub("", lines[0]).strip(_AROUND).split())
    return title if len(title) <= _LONGEST and len(title.split()) <= _MOST_WORDS else ""
