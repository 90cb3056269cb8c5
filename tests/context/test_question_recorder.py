"""Taking requests in: what is known at once, and what happens when it no longer holds."""

from functools import partial

import pytest

from holdfast.conversations import Hints, Recorder
from holdfast.messages import ChatRequest, Chunk, Message, Usage
from holdfast.store import NewMessage, open_store
from holdfast.turn import Ask, QuestionRecorder

pytestmark = pytest.mark.anyio

SHADE, WOODRUFF = Message.of("user", "Which herbs like shade?"), Message.of("assistant", "Woodruff does.")
WATER = Message.of("user", "How often do I water it?")


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 'holdfast.db'}") as opened:
        yield opened


def incoming(*messages, system="", **more):
    first = (Message.of("system", system),) if system else ()
    return Ask(ChatRequest("m", (*first, *messages)), **more), Hints(client="curl")


async def answered(store, intake, request, text):
    """One turn: taken in, and answered with this text, or with nothing."""
    ask, hints = request
    record = await intake.record(ask, hints)
    recorder = Recorder(
        store,
        job=record.job,
        model="m",
        conversation=record.conversation.id,
        parent=record.parent,
        on_saved=partial(intake.note_answer, ask, record),
    )
    async with recorder:
        if text:
            await recorder.add(Chunk(text))
            await recorder.add(Chunk(finish="stop", usage=Usage(1, 1)))
    return record


def said(store, conversation):
    return [item.message.text for item in store.log.path(store.log.get(conversation).head)]


async def test_history_repeated_verbatim_needs_no_lookup(store):
    intake = QuestionRecorder(store)
    first = await answered(store, intake, incoming(SHADE), WOODRUFF.text)
    second = await intake.record(*incoming(SHADE, WOODRUFF, WATER, system="It is ten."))
    assert second.placement.reason == "its history came back word for word"
    assert second.conversation.id == first.conversation.id
    assert [item and item.message for item in second.placement.matched] == [None, SHADE, WOODRUFF, None]
    assert said(store, first.conversation.id) == [SHADE.text, WOODRUFF.text, WATER.text]


async def test_unanswered_question_is_retried_in_its_conversation(store):
    intake = QuestionRecorder(store)
    first = await answered(store, intake, incoming(SHADE), "")
    again = await answered(store, intake, incoming(SHADE), WOODRUFF.text)
    assert again.conversation.id == first.conversation.id
    assert said(store, first.conversation.id) == [SHADE.text, WOODRUFF.text]
    # Asked once more now, it is another talk: people do that.
    assert (await intake.record(*incoming(SHADE))).conversation.id != first.conversation.id


async def test_a_conversation_that_moved_on_elsewhere_is_looked_up_and_forked(store):
    intake = QuestionRecorder(store)
    answer = await answered(store, intake, incoming(SHADE), WOODRUFF.text)
    row = store.log.get(answer.conversation.id)
    new = [NewMessage(Message.of("user", "And mint?")), NewMessage(WOODRUFF, None, "m", "stop", "j_1")]
    store.log.append(row.id, new, parent=row.head, expect=row.head)
    gone_on = await intake.record(*incoming(SHADE, WOODRUFF, WATER))
    assert gone_on.conversation.id == row.id
    assert gone_on.placement.forks
    assert said(store, row.id) == [SHADE.text, WOODRUFF.text, WATER.text]


async def test_deleted_conversation_restarts_with_client_history(store):
    intake = QuestionRecorder(store)
    answer = await answered(store, intake, incoming(SHADE), WOODRUFF.text)
    store.log.delete(answer.conversation.id)
    new = await intake.record(*incoming(SHADE, WOODRUFF, WATER))
    assert new.conversation.id != answer.conversation.id
    assert said(store, new.conversation.id) == [SHADE.text, WOODRUFF.text, WATER.text]


async def test_another_process_finds_conversation_through_the_log(store):
    first = await answered(
        store, QuestionRecorder(store), incoming(SHADE), "Woodruff does, and so does mint."
    )
    history = SHADE, Message.of("assistant", "Woodruff does, and so does mint."), WATER
    second = await QuestionRecorder(store).record(*incoming(*history))
    assert second.conversation.id == first.conversation.id


async def test_what_is_switched_off_is_not_kept(store):
    intake = QuestionRecorder(store)
    answer = await answered(store, intake, incoming(SHADE), WOODRUFF.text)
    store.log.update_settings(answer.conversation.id, {"off": True})
    assert await intake.record(*incoming(SHADE, WOODRUFF, WATER)) is None
    assert said(store, answer.conversation.id) == [SHADE.text, WOODRUFF.text]
