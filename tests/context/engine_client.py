"""A client that talks through an engine on a real SQLite file, and a server that notes what it was sent."""

from contextlib import asynccontextmanager

from holdfast.messages import ChatRequest, Message, Scope
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider
from holdfast.turn import Ask, TurnEngine
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from tests.talks import without_summaries

WINDOW = 2_048


def provider(answers=(), window=WINDOW, **more):
    model = ModelInfo("small", running_window=window, trained_window=window, **more)
    return ScriptedProvider(answers, models=[model], fallback="Noted.")


@asynccontextmanager
async def engine_with(server, folder, preset=None):
    async def find():
        return server

    store = open_store(f"sqlite:///{folder / 'db'}")
    preset = preset or without_summaries()
    engine = TurnEngine(store, Upstreams(find, ScriptedProvider()), ModelRegistry(store, folder), preset)
    try:
        yield engine
    finally:
        await engine.close()


class Client:
    """A client that keeps its history and resends all of it."""

    def __init__(self, engine, system=None):
        self.engine = engine
        self.system = [Message.of("system", system)] if system else []
        self.history = []
        self.conversation = None
        self.report = {}
        self.model = "small"

    async def say(self, text, **more):
        self.history.append(Message.of("user", text))
        return await self.send(**more)

    async def send(
        self, tools=(), extra=None, system=None, stream=True, scope=None, files=None, research="", **options
    ):
        first = self.system if system is None else [Message.of("system", system)]
        messages = (*first, *self.history)
        chat = ChatRequest(self.model, messages, tools, options, extra=extra or {}, stream=stream)
        ask = Ask(chat, scope=scope or Scope(), files=files, research=research)
        turn = await self.engine.turn(ask)
        pieces = [chunk async for chunk in turn.chunks]
        text = "".join(chunk.text for chunk in pieces)
        self.history.append(Message.of("assistant", text))
        assert self.conversation in (None, turn.conversation), "it is still the same conversation"
        self.conversation, self.report = turn.conversation, turn.report
        return text


def sent(server, at=-1):
    return server.requests[at].messages


def texts(server, at=-1):
    return "\n".join(message.text for message in sent(server, at))


def filler(at):
    return (
        f"Number {at}: today gardens, rivers and towns were walked through. " + f"Detail {at} follows. " * 12
    )


async def long_talk(client, turns=40):
    for at in range(turns):
        await client.say(filler(at))
