"""A chat through the engine, as a client would send it, with idle time between its turns.

At given numbers of compactions the store is copied, and the copy is asked for everything planted so far: the
conversation itself never hears of that.
"""

import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from evals.compaction_chats import Chat, Planted
from evals.compaction_scripts import Summariser, asks_on_the_side
from evals.window_rows import progress
from holdfast.context.summaries import SummaryOptions
from holdfast.memory.notes import Notes
from holdfast.messages import ChatRequest, Message, Text, ToolCall
from holdfast.store import SummaryRecord, open_store
from holdfast.testing.provider import Script, ScriptedProvider, Step
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.turn import Ask, TurnEngine
from holdfast.upstreams.base import ModelInfo, Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.window.presets import preset_named


@dataclass(frozen=True, slots=True)
class Retention:
    """What was left of the planted after so many compactions."""

    compactions: int
    # In the request as it goes out anyway, and only when somebody asks for it.
    window: tuple[Planted, ...]
    recalled: tuple[Planted, ...]
    lost: tuple[Planted, ...]
    rules: tuple[Planted, ...] = ()
    rules_lost: tuple[Planted, ...] = ()
    decisions: tuple[Planted, ...] = ()
    decisions_lost: tuple[Planted, ...] = ()
    # Tokens of all that stands for what was said before.
    standing: int = 0

    @property
    def values(self) -> int:
        return len(self.window) + len(self.recalled) + len(self.lost)

    def __str__(self) -> str:
        rules = len(self.rules) + len(self.rules_lost)
        return (
            f"{self.compactions} compactions, {len(self.window)} of {self.values} in the window, "
            f"{len(self.recalled)} recalled, {len(self.lost)} lost; rules {len(self.rules)} of {rules}"
        )


def share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 100.0


def find_planted(text: str, planted: Sequence[Planted], compactions: int, standing: int) -> Retention:
    """What of the planted stands in a text; what does not is lost until somebody finds it."""

    def those(kind: str, *, there: bool) -> tuple[Planted, ...]:
        return tuple(item for item in planted if item.kind == kind and (item.value in text) == there)

    return Retention(
        compactions,
        window=those("value", there=True),
        recalled=(),
        lost=those("value", there=False),
        rules=those("rule", there=True),
        rules_lost=those("rule", there=False),
        decisions=those("decision", there=True),
        decisions_lost=those("decision", there=False),
        standing=standing,
    )


@dataclass(frozen=True, slots=True)
class Coverage:
    """Faults of a chain of summaries along the messages of a conversation."""

    lost: int = 0
    twice: int = 0
    out_of_order: int = 0
    # Summaries that do not name the one before them.
    broken: int = 0

    @property
    def faults(self) -> int:
        return self.lost + self.twice + self.out_of_order + self.broken


def check_coverage(summaries: Sequence[SummaryRecord], path: Sequence[str]) -> Coverage:
    """Every message up to the end of the last summary is to be covered once, and in order."""
    order = {name: at for at, name in enumerate(path)}
    named = [name for summary in summaries for name in summary.covers]
    end = max((order.get(summary.through, -1) for summary in summaries), default=-1)
    times = Counter(named)
    places = [order.get(name, -1) for name in named]
    chain = [None, *(summary.id for summary in summaries)]
    return Coverage(
        lost=sum(name not in times for name in path[: end + 1]),
        twice=sum(number - 1 for number in times.values()),
        out_of_order=sum(after <= before for before, after in pairwise(places)),
        broken=sum(summary.previous != before for summary, before in zip(summaries, chain[:-1], strict=True)),
    )


@dataclass
class Course:
    """How a replay went, turn by turn and at its end."""

    turns: int = 0
    above: int = 0
    waited: int = 0
    highest: float = 0.0
    overflows: int = 0
    retentions: list[Retention] = field(default_factory=list)
    coverage: Coverage = Coverage()
    unlike: int = 0
    # Of each compaction: the tokens that left, and those that stand for them.
    sizes: list[tuple[int, int]] = field(default_factory=list)
    paths: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def hear(self, report: Mapping[str, Any]) -> None:
        """What was told of one request."""
        history = report["history"]
        self.turns += 1
        self.above += history["tokens"] >= history["marks"]["3"]
        self.waited += any(batch["level"] == 3 for batch in report["batches"])
        self.highest = max(self.highest, history["tokens"] / max(1, history["full"]))
        self.overflows += report["at_most"] > report["room"]


def unlike(text: Collection[tuple[str, str]], logged: Collection[tuple[str, str]]) -> int:
    """How many messages of a conversation are not in the log as they were said, or not in their place."""
    return sum(item != other for item, other in zip(text, logged, strict=False)) + abs(
        len(text) - len(logged)
    )


WINDOW = 8192
MARKS = (1, 2, 5, 10, 20)
_MODEL = "talker"
# What a template writes around a message.
_AROUND = 5
# People take longer for a turn than a replay does, so the pause between two summaries is not waited for.
PRESET = replace(preset_named("balanced"), cooldown_seconds=0.0)


class TokenCounter:
    """Tokens as SmolLM2 counts them, each text once."""

    def __init__(self, weights: Path) -> None:
        self.vocabulary = Vocabulary.from_gguf(weights)
        self.count = lru_cache(50_000)(Tokenizer(self.vocabulary).count)


class Server(ScriptedProvider):
    """Says what the chat says, and has a summariser for what it is asked on the side."""

    def __init__(self, counting: TokenCounter, summariser: Summariser, window: int = WINDOW) -> None:
        super().__init__(
            models=[ModelInfo(_MODEL, running_window=window, trained_window=window)],
            vocabulary=counting.vocabulary,
            count=lambda text: counting.count(text) + _AROUND,
            fallback=self._answer,
        )
        self.answer: Script = "Noted."
        self._summariser = summariser

    def _answer(self, request: ChatRequest) -> Script:
        last = request.messages[-1]
        if len(request.messages) == 1 and asks_on_the_side(last.text):
            return self._summariser(last.text)
        return self.answer


def script_of(message: Message) -> list[Step]:
    return [
        part.text if isinstance(part, Text) else part
        for part in message.parts
        if isinstance(part, ToolCall) or (isinstance(part, Text) and part.text)
    ]


@asynccontextmanager
async def engine_on(
    folder: Path, server: Provider, embedded: Provider | None = None, helper: str = "", model: str = _MODEL
) -> AsyncIterator[TurnEngine]:
    async def find() -> Provider:
        return server

    store = open_store(f"sqlite:///{folder / 'db'}")
    engine = TurnEngine(
        store,
        Upstreams(find, embedded or ScriptedProvider()),
        ModelRegistry(store, folder),
        PRESET,
        memories=Notes(folder / "notes"),
        options=SummaryOptions(helper=helper, stall=1800.0, pause=0.0),
    )
    # From here on counts are exact, as they are soon after a server has started.
    await engine.models.vocabularies.tokenizer(server, model)
    try:
        yield engine
    finally:
        await engine.close()


@dataclass
class Client:
    """Keeps its history and sends all of it again."""

    engine: TurnEngine
    system: str
    history: list[Message] = field(default_factory=list)
    conversation: str = ""
    report: dict[str, Any] = field(default_factory=dict)

    async def say(self, *new: Message, **options: int) -> str:
        self.history += new
        messages = (Message.of("system", self.system), *self.history)
        turn = await self.engine.turn(Ask(ChatRequest(_MODEL, messages, options=options)))
        pieces = [chunk async for chunk in turn.chunks]
        if self.conversation and turn.conversation != self.conversation:
            raise RuntimeError("the conversation was not known again")
        self.conversation, self.report = turn.conversation or "", dict(turn.report)
        return "".join(chunk.text for chunk in pieces)


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """With what a chat is replayed. `embedded` summarises in the place of the script where it is given."""

    counting: TokenCounter
    summariser: Summariser
    embedded: Provider | None = None
    marks: Sequence[int] = MARKS
    window: int = WINDOW


async def replay(chat: Chat, setting: ReplaySettings, label: str = "") -> Course:
    course, began = Course(), time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(setting.counting, setting.summariser, setting.window)
        helper = "embedded" if setting.embedded else ""
        async with engine_on(folder, server, setting.embedded, helper) as engine:
            client = await _talk(chat, setting, folder, server, engine, course, label)
        rows = [(message.role, message.text) for message in client.history]
        _read(folder, client.conversation, rows, course)
    course.seconds = time.perf_counter() - began
    return course


async def _talk(
    chat: Chat,
    setting: ReplaySettings,
    folder: Path,
    server: Server,
    engine: TurnEngine,
    course: Course,
    label: str,
) -> Client:
    client, planted = Client(engine, chat.system), list[Planted]()
    waiting = [*setting.marks]
    for exchange in chat.exchanges:
        server.answer = script_of(exchange.answer)
        await client.say(*exchange.asked)
        client.history.append(exchange.answer)
        planted += exchange.planted
        course.hear(client.report)
        await engine.background.idle.wait_until_idle()
        done = [row for row in engine.store.compactions.of(client.conversation) if row.level == 3]
        if waiting and len(done) >= waiting[0]:
            waiting = [mark for mark in waiting if mark > len(done)]
            record = await _ask_copy(folder, chat, setting, client, planted, len(done))
            course.retentions.append(record)
            progress(f"  {label}, turn {course.turns}: {record}")
            if not waiting:
                break
    return client


async def _ask_copy(
    folder: Path,
    chat: Chat,
    setting: ReplaySettings,
    client: Client,
    planted: Sequence[Planted],
    compactions: int,
) -> Retention:
    """What a copy of the store still knows of the planted."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        with closing(sqlite3.connect(folder / "db")) as old, closing(sqlite3.connect(copy / "db")) as new:
            old.backup(new)
        server = Server(setting.counting, setting.summariser, setting.window)
        async with engine_on(copy, server) as engine:
            known = Client(engine, chat.system, [*client.history], client.conversation)
            await known.say(Message.of("user", chat.idle))
            text, standing = (
                _last_request(server),
                setting.counting.count(server.requests[-1].messages[0].text),
            )
            standing -= setting.counting.count(chat.system)
            record = find_planted(text, planted, compactions, standing)
            recalled = []
            for item in record.lost:
                known.history = [*client.history]
                await known.say(Message.of("user", item.question))
                if item.value in _last_request(server):
                    recalled.append(item)
    lost = tuple(entry for entry in record.lost if entry not in recalled)
    return replace(record, recalled=tuple(recalled), lost=lost)


def _last_request(server: Server) -> str:
    """The last request of a person's: what is asked on the side comes after it, and is no part of it."""
    request = next(
        request
        for request in reversed(server.requests)
        if len(request.messages) > 1 and request.options.get("max_tokens") != 1
    )
    return "\n".join(message.text for message in request.messages)


def _read(folder: Path, conversation: str, text: Sequence[tuple[str, str]], course: Course) -> None:
    with open_store(f"sqlite:///{folder / 'db'}") as store:
        head = store.log.get(conversation).head
        assert head is not None
        path = store.log.path(head)
        course.coverage = check_coverage(store.summaries.of(head), [stored.id for stored in path])
        course.unlike = unlike(text, [(stored.message.role, stored.message.text) for stored in path])
        rows = [row for row in store.compactions.of(conversation) if row.level == 3]
        course.sizes = [(row.tokens_before, row.tokens_after) for row in rows]
        course.paths.update(row.path for row in rows)
