"""Titles of conversations: the first words of the first question, until a model or a person gives another.

A model gives titles to conversations of the chat page, when nobody waits for anything.
"""

import logging
import re

from holdfast.compaction.summariser import PromptTemplates
from holdfast.context.summaries import SummaryModels
from holdfast.conversations.alignment import strip_reminders
from holdfast.errors import ConfigError, ModelMissing, NotFound, ProviderError
from holdfast.events import Events
from holdfast.messages import Message
from holdfast.store import ConversationRecord, MessageRecord, Store
from holdfast.text.analyser import language_of
from holdfast.thinking import without_thinking
from holdfast.upstreams.routing import Upstreams

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


log = logging.getLogger("holdfast.titles")

# The client that is recorded for conversations of the page; other programs name theirs themselves.
PAGE = "holdfast page"
# So many messages of the beginning say what it is about, with so many characters of each.
_MESSAGES, _CHARACTERS = 4, 600
# Tokens of a title, with some to spare for one that begins with a label.
_TOKENS = 40


class TitleWriter:
    """Asks the model that writes summaries; without one the first words stay the title."""

    def __init__(
        self,
        store: Store,
        helpers: SummaryModels,
        upstreams: Upstreams,
        prompts: PromptTemplates,
        events: Events,
    ) -> None:
        self._store = store
        self._helpers = helpers
        self._upstreams = upstreams
        self._prompts = prompts
        self._events = events

    async def write(self, conversation: str) -> None:
        """Give a conversation a title, unless it has another than its first words already."""
        try:
            row, beginning = await self._store.run(self._load, conversation)
        except NotFound:
            return
        if not beginning:
            return
        try:
            title = await self._ask(row, beginning)
        except (ProviderError, ModelMissing, ConfigError) as error:
            log.warning("%s has no title: %s", conversation, error)
            return
        if title:
            await self._store.run(self._save, row, title)

    def _load(self, conversation: str) -> tuple[ConversationRecord, list[MessageRecord]]:
        """Return the conversation, and its beginning if it is to be named by it."""
        row = self._store.log.get(conversation)
        if row.client != PAGE or row.named or row.head is None:
            return row, []
        beginning = self._store.log.path(row.head)[:_MESSAGES]
        first_words = title_of(tuple(stored.message for stored in beginning))
        answered = any(stored.message.role == "assistant" and stored.model for stored in beginning)
        return row, beginning if answered and row.title == first_words else []

    async def _ask(self, row: ConversationRecord, beginning: list[MessageRecord]) -> str:
        model = next(stored.model for stored in beginning if stored.model)
        provider = await self._upstreams.route(model)
        helper = await self._helpers.choose(model, provider, row.scope)
        if helper is None:
            return ""
        spoken = [stored.message for stored in beginning if stored.message.role in ("user", "assistant")]
        said = [{"role": message.role, "text": message.text[:_CHARACTERS]} for message in spoken]
        language = language_of(said[0]["text"]) or "en"
        reply = await helper.ask(self._prompts.render("title", language, said=said), _TOKENS)
        return read_title(reply.text)

    def _save(self, row: ConversationRecord, title: str) -> None:
        def work() -> ConversationRecord:
            known = self._store.log.lock(row.id)
            # Somebody may have named it, or deleted it, while the model wrote.
            return (
                self._store.log.rename(row.id, title, by_person=False) if known.title == row.title else known
            )

        try:
            named = self._store.atomically(work)
        except NotFound:
            return
        self._events.publish("title", {"conversation": named.id, "title": named.title}, named.scope)
