"""A person edits and asks again, models repeat themselves: a conversation stays what its person sees."""

import asyncio
import random

import pytest

from holdfast.messages import ChatRequest, Message
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider
from holdfast.turn import Ask, TurnEngine
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams

# Answers of a small model: the same again, or the same and a little more.
ANSWERS = (
    "The old lighthouse is the proudest building of the town.",
    "The old lighthouse is the proudest building of the town. Storms do not trouble it",
    "The old lighthouse is the proudest building",
    "The harbour wall is repaired in spring, when the tide is low.",
    "Yes.",
)
QUESTIONS = ("What about the wall?", "Who painted it?", "Tell me about the ferry.", "Why?")
DRESSES = ("{}", "{}", "\n{}\n", "<think>\n\n</think>\n\n{}")


class Person:
    """Keeps what is on the screen, and resends it all, never quite byte for byte."""

    def __init__(self, engine, chance, chat=""):
        self.engine, self.chance, self.seen = engine, chance, []
        self.headers = {"user-agent": "Python/3.11 aiohttp/3.13.2", "x-openwebui-user-id": "u"}
        self.headers |= {"x-openwebui-chat-id": chat} if chat else {}
        self.conversation = None

    async def act(self, number):
        action = self.chance.choices(("ask", "again", "edit"), (6, 2, 2))[0]
        question = self.chance.choice(QUESTIONS) + (f" {number}" if self.chance.random() < 0.7 else "")
        if action != "ask" and len(self.seen) >= 4:
            back = 1 if action == "again" else self.chance.randint(1, min(3, len(self.seen) // 2 - 1))
            question = self.seen[-2] if action == "again" else question
            del self.seen[-2 * back :]
        answers = [self.chance.choice(DRESSES).format(content) for content in self.seen[1::2]]
        history = [Message.of("user", line) for line in self.seen[::2]]
        talk = [item for pair in zip(history, answers, strict=True) for item in (pair[0], _said(pair[1]))]
        request = ChatRequest("small", (*talk, Message.of("user", question)))
        turn = await self.engine.turn(Ask(request, headers=self.headers))
        text = "".join([chunk.text async for chunk in turn.chunks])
        self.seen += [question, text]
        assert self.conversation in (None, turn.conversation), f"turn {number} went elsewhere"
        self.conversation = turn.conversation
        return [stored.message.text for stored in self.stored()]

    def stored(self):
        log = self.engine.store.log
        return log.path(log.get(self.conversation).head)


def _said(text):
    return Message.of("assistant", text)


@pytest.mark.parametrize("seed", [101, 111, 121, 130])
def test_every_chat_reads_as_the_person_sees_it_after_every_turn(seed, tmp_path):
    async def talk():
        chance = random.Random(seed)
        server = ScriptedProvider(
            models=[ModelInfo("small", running_window=8_192, trained_window=8_192)],
            fallback=lambda _: chance.choice(ANSWERS) if chance.random() < 0.8 else f"New: {chance.random()}",
        )

        async def find():
            return server

        store = open_store("sqlite://")
        engine = TurnEngine(store, Upstreams(find, ScriptedProvider()), ModelRegistry(store, tmp_path))
        people = [Person(engine, chance, "one"), Person(engine, chance), Person(engine, chance, "three")]
        for number in range(90):
            person = chance.choice(people)
            act = await person.act(number)
            assert act == person.seen, f"turn {number}"
        await engine.close()

    asyncio.run(talk())
