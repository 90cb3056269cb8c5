"""An answer reaches whoever reads it, also when there is no place left to keep it in."""

import asyncio
from contextlib import aclosing

import pytest

from holdfast.conversations.recorder import Recorder
from holdfast.messages import Chunk, Message, Usage
from holdfast.store import NewMessage
from tests.conversations.builders import answer, user

pytestmark = pytest.mark.anyio


@pytest.fixture
def asked(store, talk):
    """A question that waits for its answer, and the recorder of it."""
    conversation = store.log.create(talk.scope)
    (question,) = store.log.append(conversation.id, [NewMessage(user("What?"))], parent=None, expect=None)
    job = store.jobs.start(talk.scope, conversation=conversation.id, model="m").id
    store.drafts.save(job, conversation.id, question.id, Message("assistant", ()), "m")
    recorder = Recorder(store, job=job, model="m", conversation=conversation.id, parent=question.id)
    return recorder, conversation.id, job


async def chunks(*, before_the_end):
    yield Chunk(text="one ")
    await before_the_end()
    yield Chunk(text="two")
    yield Chunk(finish="stop", usage=Usage(prompt=5, completion=2))


async def record(recorder, answer):
    async with recorder, aclosing(answer):
        async for chunk in answer:
            await recorder.add(chunk)
            yield chunk


async def nothing():
    pass


async def test_an_answer_is_kept_and_its_job_ends(store, asked):
    recorder, conversation, job = asked
    texts = [chunk.text async for chunk in record(recorder, chunks(before_the_end=nothing))]
    assert texts == ["one ", "two", ""]
    assert store.log.message(store.log.get(conversation).head).message == answer("one two")
    assert store.jobs.get(job).status == "done"


async def test_answer_continues_and_job_ends_when_conversation_is_deleted(store, asked):
    recorder, conversation, job = asked

    async def delete():
        store.log.delete(conversation)

    texts = [chunk.text async for chunk in record(recorder, chunks(before_the_end=delete))]
    assert texts == ["one ", "two", ""]
    ended = store.jobs.get(job)
    assert (ended.status, ended.error, ended.usage.completion) == ("done", "", 2)
    assert store.drafts.of(conversation) == []


async def test_an_answer_that_breaks_off_after_that_ends_its_job_too(store, asked):
    recorder, conversation, job = asked

    async def delete():
        store.log.delete(conversation)

    recorded = record(recorder, chunks(before_the_end=delete))
    assert [(await anext(recorded)).text, (await anext(recorded)).text] == ["one ", "two"]
    await recorded.aclose()
    assert store.jobs.get(job).status == "cut"


async def test_saving_in_between_gives_up_quietly(store, asked, caplog):
    recorder, conversation, job = asked

    async def delete_and_wait():
        store.log.delete(conversation)
        await asyncio.wait_for(asyncio.shield(recorder._saver), 30)

    texts = [chunk.text async for chunk in record(recorder, chunks(before_the_end=delete_and_wait))]
    assert texts == ["one ", "two", ""]
    assert store.jobs.get(job).status == "done"
    assert caplog.records == []
