"""Holdfast for programs: a conversation that fits, what is remembered, and making a list of messages fit.

An entry point like the server and the command line, for those who write Python. It starts no server; turns
are made by the engine.
"""

import asyncio
import difflib
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from holdfast.config import Settings, load
from holdfast.context.loading import in_order, leading_system
from holdfast.conversations.search import MessageResults
from holdfast.conversations.search import search as search_conversations
from holdfast.conversations.serialization import serialize_message
from holdfast.errors import BadRequest, ConfigError, HoldfastError, ModelMissing, ProviderError
from holdfast.memory.base import Kind, Memory
from holdfast.memory.search import SearchResult as Found
from holdfast.memory.service import MemoryService
from holdfast.messages import Answer, ChatRequest, FinishReason, JsonObject, Message, Scope, Usage
from holdfast.protocols.openai_chat import parse_message
from holdfast.protocols.openai_chat import serialize_message as message_to_wire
from holdfast.tokens.counter import EstimatingCounter
from holdfast.tokens.estimate import family_of
from holdfast.turn import Ask, TurnEngine
from holdfast.upstreams.models import LearningCounter
from holdfast.window.decisions import DecisionLike
from holdfast.window.fit import fit
from holdfast.window.items import Item
from holdfast.window.report import Link, chain_of, prefix_of, report_of
from holdfast.window.rules import decisions_in, drop_middle, forbidden_in, rules_in
from holdfast.window.view import Draft
from holdfast.wiring import build_engine

__all__ = ["Conversation", "Fitted", "Holdfast", "HoldfastError", "Memories", "Reply"]

# Seconds for reading what was just written.
_READ_AT_ONCE = 10.0
# A server that did not say what it knows of a model is asked again after so many seconds.
_ASK_AGAIN = 30.0


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, and the report of the window it was given in."""

    text: str
    thinking: str
    finish: FinishReason | None
    usage: Usage
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Messages that fit, in the shape they came in, and the report: what is out, what is shortened, and why.

    Handed back as `after` with the next turn, what was decided holds, and the beginning stays the same.
    """

    messages: list[dict[str, Any]]
    report: Mapping[str, Any]
    decisions: tuple[DecisionLike, ...] = field(repr=False)
    fired: Mapping[int, int] = field(repr=False)
    sent: tuple[Link, ...] = field(repr=False)


class Memories:
    """What is remembered beyond a conversation, for one user and project."""

    def __init__(self, parts: MemoryService, scope: Scope) -> None:
        self._parts = parts
        self._scope = scope

    async def add(
        self, text: str, kind: Kind = "fact", *, importance: float = 0.8, pinned: bool = False
    ) -> Memory:
        """Remember something. What says the same is brought up to date, what contradicts it is replaced."""

        def work() -> Memory:
            made = self._parts.library.add(self._scope, text, kind, importance=importance, pinned=pinned)
            # Who goes on with a search expects to find it, however busy the machine is.
            self._parts.index.refresh(self._scope, _READ_AT_ONCE)
            return made.memory

        return await asyncio.to_thread(work)

    async def search(self, query: str, *, limit: int = 6, kinds: Sequence[Kind] = ()) -> Found:
        """Notes and memories by words and meaning, best first, and how they were found."""
        _number("limit", limit)
        return await asyncio.to_thread(
            self._parts.search.search, query, self._scope, within="notes", kinds=kinds, limit=limit
        )

    async def list(self, *, limit: int = 50, offset: int = 0) -> list[Memory]:
        """The newest first."""
        _number("limit", limit)
        page = await asyncio.to_thread(self._parts.library.page, self._scope, limit=limit, offset=offset)
        return list(page.memories)

    async def forget(self, memory: Memory | str) -> Memory:
        """Remove it for good: from its file, from every index, and from the windows that quote it."""
        name = memory if isinstance(memory, str) else memory.id
        return await asyncio.to_thread(self._parts.library.forget, self._scope, name)


class Conversation:
    """One conversation. Only what is new is said; the history is kept, and made to fit, by Holdfast.

    `id` is there after the first answer: `Holdfast.conversation(id)` goes on with it another day.
    """

    def __init__(self, engine: TurnEngine, scope: Scope, name: str | None, model: str, system: str) -> None:
        self.id = name
        self.model = model
        # The last answer; while it streams, as far as it has come.
        self.reply: Reply | None = None
        self._engine = engine
        self._scope = scope
        self._system = system
        # Each turn goes on from the answer before it, so it has to be there.
        self._turn = asyncio.Lock()

    async def say(self, text: str, *, context: Sequence[str] = ()) -> Reply:
        """The whole answer. `context` are texts that were found for the question."""
        async with aclosing(self.stream(text, context=context)) as pieces:
            async for _ in pieces:
                pass
        assert self.reply is not None
        return self.reply

    async def stream(self, text: str, *, context: Sequence[str] = ()) -> AsyncGenerator[str, None]:
        """The answer piece by piece; `reply` has the whole of it afterwards.

        One at a time: what is said meanwhile waits until this answer ends, or the generator is closed.
        """
        if not isinstance(text, str):
            raise BadRequest("What is said must be a text.", hint="Give a str.", param="text")
        async with self._turn:
            self.model = self.model or await self._engine.upstreams.usual_model()
            system = (Message.of("system", self._system),) if self._system else ()
            request = ChatRequest(self.model, (*system, Message.of("user", text)))
            ask = Ask(request, self._scope, continues=self.id, context=tuple(context))
            turn = await self._engine.turn(ask)
            # One that is switched off is passed through, and keeps its name.
            self.id = turn.conversation or self.id
            answer = Answer()
            try:
                async with aclosing(turn.chunks) as chunks:
                    async for chunk in chunks:
                        answer.add(chunk)
                        if chunk.text:
                            yield chunk.text
            finally:
                said = answer.message
                self.reply = Reply(said.text, said.thinking, answer.finish, answer.usage, turn.report)

    async def messages(self) -> list[dict[str, Any]]:
        """All that was said, whole, whatever the window left out."""
        if self.id is None:
            return []
        store, name = self._engine.store, self.id

        def read() -> list[dict[str, Any]]:
            head = store.log.get(name, self._scope).head
            return [serialize_message(stored) for stored in (store.log.path(head) if head else ())]

        return await store.run(store.read_snapshot, read)


class Holdfast:
    """Holdfast inside your program.

        async with Holdfast(upstream="http://127.0.0.1:11434") as holdfast:
            talk = holdfast.conversation(model="qwen3:4b")
            print((await talk.say("Hello!")).text)

    `home` is the data folder; every other setting of `holdfast config` can be given by its name, and comes
    before the environment and the file. Another process may use the same folder at the same time.
    """

    def __init__(
        self,
        home: Path | str | None = None,
        *,
        user: str = "default",
        project: str = "default",
        **settings: Any,
    ) -> None:
        _check_names(settings)
        self.settings: Settings = load({"home": home, **settings}).settings
        self._scope = Scope(user, project)
        self._engine: TurnEngine | None = None
        # Models of which no server knew anything, and until when that is believed.
        self._unknown: dict[str, float] = {}

    async def __aenter__(self) -> Self:
        if self._engine is not None:
            raise BadRequest("Holdfast is open already.", hint="Open another one, or share this one.")
        engine = await asyncio.to_thread(build_engine, self.settings)
        async with AsyncExitStack() as unless_it_starts:
            unless_it_starts.push_async_callback(engine.close)
            await engine.start()
            unless_it_starts.pop_all()
        self._engine = engine
        return self

    async def __aexit__(self, *_: object) -> None:
        engine, self._engine = self._opened, None
        engine.prepare_stop()
        await engine.close()

    def conversation(self, id: str | None = None, *, model: str = "", system: str = "") -> Conversation:  # noqa: A002
        """A new conversation, or the one with this id. Without a model it is the one of the settings."""
        return Conversation(self._opened, self._scope, id, model or self.settings.model, system)

    @property
    def memory(self) -> Memories:
        parts = self._opened.remembering
        assert parts is not None
        return Memories(parts, self._scope)

    async def search(self, query: str, *, limit: int = 20) -> MessageResults:
        """Messages of all conversations: those that have the words, then those about the same."""
        _number("limit", limit)
        engine = self._opened
        assert engine.remembering is not None
        near = await asyncio.to_thread(engine.remembering.messages_near, self._scope, query)
        return await engine.store.run(
            search_conversations, engine.store, self._scope, query, limit=limit, near=near
        )

    async def fit(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        model: str,
        window: int | None = None,
        tools: Sequence[JsonObject] = (),
        after: Fitted | None = None,
    ) -> Fitted:
        """The same messages, in OpenAI's shape, made to fit; for those who send their requests themselves.

        No message is sent anywhere, and nothing is kept. A model server is asked only for the model's
        vocabulary, and for its window if none is named; where there is none, tokens are estimated.
        """
        preset = self._opened.fitter.preset
        if window is not None:
            _number("window", window)
        talk = await asyncio.to_thread(_read, messages)
        gauge, size, thinks = await self._measure(model, window)
        system = leading_system(talk)
        items = _items(talk[len(system) :])
        draft = Draft(
            items,
            preset.budget(size, thinks=thinks),
            gauge,
            system=system,
            tools=in_order(tools),
            decisions=after.decisions if after else (),
            rules=_said(items, rules_in),
            agreed=_said(items, decisions_in),
            forbidden=_said(items, forbidden_in),
            seen=frozenset(link.name for link in after.sent) if after else frozenset(),
            fired=after.fired if after else {},
        )
        made = await asyncio.to_thread(fit, draft, every_turn=preset.prune_every_turn)
        if not made.messages:
            raise BadRequest(
                "None of these messages can be sent.",
                hint="A tool's result needs the call before it: give both.",
                param="messages",
            )
        sent = chain_of(made.view)
        report = report_of(made, prefix_of(made, after.sent if after else (), sent), gauge)
        fitting = [message_to_wire(message) for message in made.messages]
        return Fitted(fitting, {"model": model, **report.to_json()}, made.view.decisions, made.fired, sent)

    async def _measure(self, model: str, window: int | None) -> tuple[LearningCounter, int, bool]:
        """What counts for a model, its window, and whether it thinks."""
        engine, now = self._opened, time.monotonic()
        if window is not None and now < self._unknown.get(model, 0.0):
            return EstimatingCounter(family_of(model)), window, False
        try:
            provider = await engine.upstreams.route(model)
            windows = await engine.models.windows(provider, model, asked=window)
            await engine.models.vocabularies.tokenizer(provider, model)
            gauge = await engine.models.counters.counter(provider, model)
        except (ModelMissing, ProviderError):
            if window is None:
                raise
            self._unknown[model] = now + _ASK_AGAIN
            return EstimatingCounter(family_of(model)), window, False
        return gauge, window or windows.used.tokens, windows.thinks

    @property
    def _opened(self) -> TurnEngine:
        if self._engine is None:
            raise BadRequest("Holdfast is not open.", hint="Use it inside of `async with Holdfast(…) as …`.")
        return self._engine


def _check_names(settings: Mapping[str, Any]) -> None:
    known = [item.name for item in fields(Settings)]
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else "`holdfast config` lists the settings there are."
            raise ConfigError(f"there is no setting {name}.", hint=hint)


def _number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        hint = "Give a whole number from 1 on."
        raise BadRequest(f"{name} cannot be {value!r}.", hint=hint, param=name)


def _read(messages: Any) -> list[Message]:
    if isinstance(messages, str) or not isinstance(messages, Sequence):
        raise BadRequest("The messages are no list.", hint="Give them as OpenAI has them.", param="messages")
    if not messages:
        raise BadRequest("there are no messages to fit", hint="Give at least one.", param="messages")
    return [parse_message(message) for message in messages]


def _items(messages: Sequence[Message]) -> tuple[Item, ...]:
    """Each under a name that it has next time too, so that what was decided about it is found again."""
    items: list[Item] = []
    seen: dict[str, int] = {}
    for at, message in enumerate(messages):
        number = seen[message.digest] = seen.get(message.digest, 0) + 1
        items.append(Item(f"x_{message.digest[:24]}_{number}", message, at))
    return tuple(items)


def _said(items: Sequence[Item], find: Callable[[str], Sequence[str]]) -> dict[str, Sequence[str]]:
    """What a person said that binds what is said later, by the message it stands in."""
    found = ((item.id, find(drop_middle(item.message.text))) for item in items if item.message.role == "user")
    return {name: sentences for name, sentences in found if sentences}
