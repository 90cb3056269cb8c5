"""Titles of a model: given once, in idle time, and never in the place of one that a person gave."""

import pytest

from holdfast.context.titles import PAGE, read_title, title_of
from holdfast.errors import Unreachable
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage
from holdfast.testing.provider import ScriptedProvider
from tests.test_turn import answer, engine_with, request

pytestmark = pytest.mark.anyio

QUESTION = "Could you tell me how to get from Kiel to Oslo by ferry, and what it costs in May?"


def begin(engine, client=PAGE):
    question = Message.of("user", QUESTION)
    messages = [NewMessage(question), NewMessage(Message.of("assistant", "By Color Line."), model="scripted")]
    row, _ = engine.store.log.begin(Scope(), messages, title=title_of((question,)), client=client)
    return row


async def title_after(engine, row):
    await engine.background.titles.write(row.id)
    return engine.store.log.get(row.id).title


async def test_a_chat_of_the_page_gets_its_title_once(tmp_path):
    provider = ScriptedProvider(['<think>hm</think>\n**"Ferry from Kiel to Oslo."**'], fallback="Other")
    async with engine_with(provider, tmp_path) as engine:
        row, events = begin(engine), []
        engine.events.listeners.append(lambda event: events.append((event.kind, dict(event.data))))
        assert await title_after(engine, row) == "Ferry from Kiel to Oslo"
        assert QUESTION in provider.requests[0].messages[0].text
        assert ("title", {"conversation": row.id, "title": "Ferry from Kiel to Oslo"}) in events
        # It has a title now, and is not asked about again.
        assert await title_after(engine, row) == "Ferry from Kiel to Oslo"
        assert len(provider.requests) == 1


async def test_the_titles_of_people_and_of_other_programs_stay(tmp_path):
    def rename_meanwhile(_):
        engine.store.log.rename(slow.id, "Mine, too")
        return "Too late"

    provider = ScriptedProvider([rename_meanwhile], fallback="A title")
    async with engine_with(provider, tmp_path) as engine:
        slow = begin(engine)
        assert await title_after(engine, slow) == "Mine, too"
        # Even where a person likes the first words.
        liked = begin(engine)
        engine.store.log.rename(liked.id, liked.title)
        assert await title_after(engine, liked) == liked.title
        other = begin(engine, client="opencode")
        assert await title_after(engine, other) == other.title
        assert len(provider.requests) == 1


async def test_without_a_usable_model_the_first_words_stay(tmp_path):
    talk = "Sure!\nHere is a title for your conversation:\nFerries"
    async with engine_with(ScriptedProvider([talk, Unreachable("gone")]), tmp_path) as engine:
        row = begin(engine)
        assert await title_after(engine, row) == row.title
        assert await title_after(engine, row) == row.title


async def test_titles_wait_until_nobody_asks_anything(tmp_path):
    async with engine_with(ScriptedProvider(), tmp_path) as engine:
        conversation, _ = await answer(engine, request(QUESTION))
        assert engine.background.idle.is_waiting(f"title of {conversation}")


@pytest.mark.parametrize(
    ("reply", "title"),
    [("Title: Bread", "Bread"), ("„Brot backen“\n", "Brot backen"), ("", ""), ("a " * 20, "")],
)
def test_what_a_model_writes_around_a_title_goes(reply, title):
    assert read_title(reply) == title
