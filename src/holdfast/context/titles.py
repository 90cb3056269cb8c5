"""Titles that a model gives to conversations of the chat page, when nobody waits for anything."""

import logging

from holdfast.compaction.summary_model import PromptTemplates
from holdfast.context.summaries import SummaryModels
from holdfast.conversations.titles import read_title, title_of
from holdfast.errors import ConfigError, ModelMissing, NotFound, ProviderError
from holdfast.events import Events
from holdfast.store import ConversationRecord, MessageRecord, Store
from holdfast.text.analyser import language_of
from holdfast.upstreams.routing import Upstreams

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
