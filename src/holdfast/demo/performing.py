"""The demonstration itself: the talk, turn by turn, through the engine as `holdfast serve` has it.

Says what happened as the engine reports it. Knows no terminal, and waits for nobody.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.config import Config, Settings
from holdfast.demo.happening import Answered, Ended, Happening, Noted, Recalled, Turned, Worked
from holdfast.demo.model import NAME, WINDOW, Player, count, read, size
from holdfast.demo.origins import brought, origin_of
from holdfast.demo.talk import Line, Talk
from holdfast.engine import Ask, Engine
from holdfast.errors import EmbedderError
from holdfast.events import Event
from holdfast.fitting.helpers import SummaryOptions
from holdfast.messages import Answer, ChatRequest, Message
from holdfast.store import open_store
from holdfast.upstreams.fake import ScriptedProvider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.window.presets import Preset, preset_named
from holdfast.wiring import build_remembering


async def perform(talk: Talk, home: Path, embedder: str = "embedded") -> AsyncGenerator[Happening, None]:
    """All that happens in a talk on an empty data folder, and in the end what it came to."""
    tally, player = _Tally(time.monotonic()), Player(talk)
    server = player.provider()
    async with _engine_at(home, server, embedder) as engine:
        async for happening in _Performance(talk, engine, player, server, tally).happenings(home):
            yield happening


@asynccontextmanager
async def _engine_at(home: Path, server: ScriptedProvider, embedder: str) -> AsyncIterator[Engine]:
    """The usual engine on a data folder, with this server."""
    settings = Config.of(Settings(home=home, embedder=embedder)).settings
    store = open_store(settings.store)
    remembering = build_remembering(settings, store)

    async def find() -> ScriptedProvider:
        return server

    engine = Engine(
        store,
        Upstreams(find, server),
        ModelRegistry(store, home / "cache"),
        _hurried(),
        remembering=remembering,
        options=SummaryOptions(pause=0.0),
    )
    try:
        await engine.start()
        # It takes seconds to start, and on the way it would depend on them what it has a part in.
        with suppress(EmbedderError):
            await asyncio.to_thread(remembering.embedder.wake)
        yield engine
    finally:
        await engine.close()


def _hurried() -> Preset:
    """The usual preset without its waiting: a turn takes a moment here, and a minute when people type."""
    return replace(preset_named("balanced"), cooldown_seconds=0.0)


# On a machine that is busy with other things memory may say that it had no time: then it is asked again.
_TRIES = 3


@dataclass(slots=True)
class _Tally:
    """What comes together on the way."""

    began: float
    # The tokens of every message that was said, and of what was sent.
    told: list[int] = field(default_factory=list)
    sent: int = 0
    resent: int = 0
    levels: Counter[int] = field(default_factory=Counter)
    memories: int = 0
    recalls: int = 0
    answers: list[Answered] = field(default_factory=list)


class _Performance:
    """One talk with one engine."""

    def __init__(
        self, talk: Talk, engine: Engine, player: Player, server: ScriptedProvider, tally: _Tally
    ) -> None:
        self._talk, self._engine, self._player, self._server = talk, engine, player, server
        self._tally = tally
        self._conversation: str | None = None
        self._report: dict[str, Any] = {}
        self._seen = 0
        self._changes: list[dict[str, Any]] = []
        engine.events.listeners.append(self._hear)

    async def happenings(self, home: Path) -> AsyncGenerator[Happening, None]:
        for number, line in enumerate(self._talk.lines, 1):
            answer = await self._said(line)
            for happening in await self._engine.store.run(self._after, number, line, answer):
                yield happening
        line = self._talk.afterwards
        for _ in range(_TRIES):
            self._conversation = None
            answer = await self._said(line)
            if "not_recalled" not in self._report["notices"]:
                break
        yield await self._engine.store.run(self._answered, 0, line, answer)
        yield self._ended(home)

    async def _said(self, line: Line) -> str:
        """One turn, and all that the engine does after it."""
        messages = (Message.of("system", self._talk.instructions), Message.of("user", line.said))
        turn = await self._engine.turn(Ask(ChatRequest(NAME, messages), continues=self._conversation))
        answer = Answer()
        async for chunk in turn.chunks:
            answer.add(chunk)
        self._conversation, self._report = turn.conversation, dict(turn.facts.report)
        await self._engine.afterwards.idle.quiet()
        return answer.message.text

    def _after(self, number: int, line: Line, answer: str) -> list[Happening]:
        """What there is to tell of a turn; reads the store, so it runs in a thread of the store's."""
        tally, report = self._tally, self._report
        request = self._request()
        tally.told.append(count(line.said))
        whole = count(self._talk.instructions) + sum(tally.told)
        tally.told.append(count(answer))
        tally.sent, tally.resent = tally.sent + size(request), tally.resent + whole
        sections = {row["name"]: row["tokens"] for row in report["sections"]}
        turned = Turned(
            number,
            len(self._talk.lines),
            line.said,
            answer,
            report["level"],
            report["tokens"],
            report["room"],
            report["window"],
            whole,
            sections,
        )
        happened: list[Happening] = [turned, *self._recalled(number), *self._worked(number)]
        happened += self._noted(number)
        if line.sought:
            happened.append(self._answered(number, line, answer))
        return happened

    def _recalled(self, number: int) -> list[Recalled]:
        newest = self._report["messages"][-1]
        texts = [one["text"] for one in newest.get("added", ()) if one["section"] == "recalled"]
        if not texts:
            return []
        self._tally.recalls += 1
        origins = brought(self._engine, self._report, newest["id"])
        return [Recalled(number, "\n".join(texts), tuple(origins))]

    def _worked(self, number: int) -> list[Worked]:
        assert self._conversation is not None
        rows = self._engine.store.compactions.of(self._conversation)
        new, self._seen = rows[self._seen :], len(rows)
        self._tally.levels.update(row.level for row in new)
        return [
            Worked(number, row.level, row.messages, row.tokens_before, row.tokens_after, row.path)
            for row in new
        ]

    def _noted(self, number: int) -> list[Noted]:
        changes, self._changes = self._changes, []
        self._tally.memories += sum(one["change"] == "added" for one in changes)
        return [Noted(number, one["change"], one["kind"], one["text"]) for one in changes]

    def _answered(self, number: int, line: Line, answer: str) -> Answered:
        right = line.sought in answer
        origin = origin_of(self._engine, self._report, read(self._request()))
        answered = Answered(number, line.said, answer, right, origin)
        self._tally.answers.append(answered)
        return answered

    def _request(self) -> ChatRequest:
        """The last one that somebody waited for."""
        return next(one for one in reversed(self._requests()) if one.messages[-1].role == "user")

    def _requests(self) -> list[ChatRequest]:
        return [one for one in self._server.requests if self._player.is_talk(one)]

    def _ended(self, home: Path) -> Ended:
        tally, room = self._tally, self._report["room"]
        cut = _cut(tally.told, room - count(self._talk.instructions))
        return Ended(
            turns=len(self._talk.lines),
            said=sum(tally.told),
            window=WINDOW,
            room=room,
            largest=max(map(size, self._requests())),
            sent=tally.sent,
            resent=tally.resent,
            levels=dict(sorted(tally.levels.items())),
            memories=tally.memories,
            recalls=tally.recalls,
            asked=len(tally.answers),
            right=sum(one.right for one in tally.answers),
            messages=len(tally.told),
            cut=cut,
            seconds=round(time.monotonic() - tally.began, 1),
            home=str(home),
        )

    def _hear(self, event: Event) -> None:
        if event.kind == "memory":
            self._changes.append(dict(event.data))


def _cut(told: list[int], room: int) -> int:
    """How many of the oldest messages are gone where only the newest that fit are sent."""
    kept = 0
    for tokens in reversed(told):
        room -= tokens
        if room < 0:
            break
        kept += 1
    return len(told) - kept
