"""What is remembered of what is said is told in the conversation it was said in, as soon as it is written."""

import pytest

from holdfast.messages import ChatRequest, Message, Scope
from holdfast.turn import Ask
from tests.context.remembering import remembering
from tests.context.talking import provider

pytestmark = pytest.mark.anyio

GARDEN = Scope("ann", "garden")


async def ask(engine, text):
    turn = await engine.turn(Ask(ChatRequest("small", (Message.of("user", text),)), GARDEN))
    async for _ in turn.chunks:
        pass
    return turn.conversation


async def test_a_preference_of_the_person_is_told_in_the_project_where_it_was_said(tmp_path):
    async with remembering(provider(), tmp_path) as engine:
        heard = []
        engine.events.listeners.append(heard.append)
        conversation = await ask(engine, "Remember that I prefer short answers.")
        await engine.background.write_notes()
        (kept,) = (event for event in heard if event.kind == "kept")
        (memory,) = (event for event in heard if event.kind == "memory")
        assert (kept.scope, memory.scope) == (GARDEN, Scope("ann"))
        assert kept.data["conversation"] == conversation
        question = engine.store.log.path(engine.store.log.get(conversation).head)[0]
        assert kept.data["messages"] == [question.id]
        assert (kept.data["change"], kept.data["text"]) == ("added", "I prefer short answers.")
        assert memory.data["id"] == kept.data["id"]


async def test_what_nobody_said_in_a_conversation_is_told_as_a_memory_alone(tmp_path):
    async with remembering(provider(), tmp_path) as engine:
        heard = []
        engine.events.listeners.append(heard.append)
        engine.remembering.library.add(GARDEN, "The shed is green.")
        assert [event.kind for event in heard] == ["memory"]


async def test_notes_that_two_want_written_at_once_are_written_once(tmp_path):
    async with remembering(provider(), tmp_path) as engine:
        heard = []
        engine.events.listeners.append(heard.append)
        await ask(engine, "Remember that the shed is green.")
        # The quiet after the answer has begun to write them as well.
        await engine.background.write_notes()
        await engine.background.idle.wait_until_idle()
        assert [event.kind for event in heard if event.kind == "kept"] == ["kept"]
        assert engine.background.notices() == ()
