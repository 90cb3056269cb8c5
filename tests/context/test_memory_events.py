"""What is remembered of what is said is told in the conversation it was said in, as soon as it is written."""

import pytest

from holdfast.messages import ChatRequest, Message, Scope
from holdfast.turn import Ask
from tests.context.engine_client import provider
from tests.context.memory_engine import remembering

pytestmark = pytest.mark.anyio

GARDEN = Scope("ann", "garden")


async def ask(engine, text):
    turn = await engine.turn(Ask(ChatRequest("small", (Message.of("user", text),)), GARDEN))
    async for _ in turn.chunks:
        pass
    return turn.conversation


async def test_personal_preference_event_belongs_to_project_where_stated(tmp_path):
    async with remembering(provider(), tmp_path) as engine:
        heard = []
        engine.events.listeners.append(heard.append)
        conversation = await ask(engine, "Remember that I prefer short answers.")
        await engine.background.write_notes()
        (record,) = (event for event in heard if event.kind == "kept")
        (memory,) = (event for event in heard if event.kind == "memory")
        assert (record.scope, memory.scope) == (GARDEN, Scope("ann"))
        assert record.data["conversation"] == conversation
        question = engine.store.log.path(engine.store.log.get(conversation).head)[0]
        assert record.data["messages"] == [question.id]
        assert (record.data["change"], record.data["text"]) == ("added", "I prefer short answers.")
        assert memory.data["id"] == record.data["id"]


async def test_memory_added_outside_conversation_emits_only_memory_event(tmp_path):
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
