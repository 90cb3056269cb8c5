"""A conversation too long for its window, for tests of what is told and done about it."""

import asyncio
from dataclasses import replace
from pathlib import Path

from holdfast.messages import ChatRequest, Message, Scope
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider
from holdfast.turn import Ask, TurnEngine
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.window.presets import Preset, preset_named


def long_talk(exchanges: int = 14) -> list[Message]:
    """Questions and long answers, each about something else, and a question at the end."""
    report = []
    for number in range(exchanges):
        subject = f"subject{number:02}"
        report.append(Message.of("user", f"Tell me about {subject}."))
        report.append(Message.of("assistant", " ".join(f"{subject} has part {part};" for part in range(90))))
    return [*report, Message.of("user", "And now something else entirely?")]


def engine_on(home: Path, provider: ScriptedProvider) -> TurnEngine:
    home.mkdir(parents=True, exist_ok=True)
    store = open_store(f"sqlite:///{home / 'holdfast.db'}")

    async def find() -> ScriptedProvider:
        return provider

    models = ModelRegistry(store, home / "cache")
    return TurnEngine(store, Upstreams(find, ScriptedProvider()), models, without_summaries())


def without_summaries() -> Preset:
    """The usual levels but for the third, which works in the background and asks the same server."""
    preset = preset_named("balanced")
    return replace(preset, levels=replace(preset.levels, ahead=None, summarise=None))


async def carry(
    engine: TurnEngine,
    *messages: Message,
    scope: Scope | None = None,
    continues: str | None = None,
    context: tuple[str, ...] = (),
) -> str:
    """One request, answered to its end; the id of the conversation it belongs to."""
    request = ChatRequest("scripted", messages)
    turn = await engine.turn(Ask(request, scope or Scope(), continues=continues, context=context))
    async for _ in turn.chunks:
        pass
    assert turn.conversation is not None
    return turn.conversation


def store_talk(home: Path, *messages: Message, scope: Scope | None = None) -> str:
    """A long talk, or these messages, in a store at `home` that is closed again."""

    async def talk() -> str:
        engine = engine_on(home, ScriptedProvider(fallback="Of course."))
        try:
            return await carry(engine, *(messages or long_talk()), scope=scope)
        finally:
            await engine.close()

    return asyncio.run(talk())
