"""One turn and its surroundings: what is kept when things happen at once, again, or not at all."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from holdfast.context.titles import title_of
from holdfast.errors import Unreachable
from holdfast.messages import ChatRequest, Message
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider
from holdfast.turn import Ask, TurnEngine
from holdfast.upstreams.discovery import connect
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def engine_with(provider, folder):
    async def find():
        if isinstance(provider, Exception):
            raise provider
        return provider

    store = open_store(f"sqlite:///{folder / 'db'}")
    engine = TurnEngine(store, Upstreams(find, ScriptedProvider()), ModelRegistry(store, folder))
    yield engine
    await engine.close()


def request(*texts, model="scripted", **options):
    """A chat whose messages are in turn the user's and the model's."""
    roles = ("user", "assistant")
    messages = tuple(Message.of(roles[at % 2], text) for at, text in enumerate(texts))
    return ChatRequest(model, messages, options=options)


async def answer(engine, chat, **headers):
    turn = await engine.turn(Ask(chat, headers=headers))
    pieces = [chunk.text async for chunk in turn.chunks]
    return turn.conversation, "".join(pieces)


def texts_of(engine, conversation):
    head = engine.store.log.get(conversation).head
    return [stored.message.text for stored in engine.store.log.path(head)]


async def test_continuations_at_the_same_time_are_all_answered_and_kept(tmp_path):
    async with engine_with(ScriptedProvider(fallback="Yes."), tmp_path) as engine:
        conversation, _ = await answer(engine, request("Shall we?"))
        ways = [request("Shall we?", "Yes.", f"Way {number}?") for number in range(10)]
        found = await asyncio.gather(*(answer(engine, way) for way in ways))
        assert {where for where, _ in found} == {conversation}
        first = engine.store.log.path(engine.store.log.get(conversation).head)[1]
        kept = {stored.message.text for stored in engine.store.log.children(first.id)}
        assert kept == {f"Way {number}?" for number in range(10)}


async def test_an_answer_wanted_again_replaces_the_one_before(tmp_path):
    async with engine_with(ScriptedProvider(["First.", "Second."]), tmp_path) as engine:
        conversation, _ = await answer(engine, request("What?"))
        headers = {"x-holdfast-conversation": conversation}
        again = await engine.turn(Ask(request("What?"), headers=headers))
        assert texts_of(engine, conversation) == ["What?"], (
            "until it comes, the conversation ends at its question"
        )
        [chunk async for chunk in again.chunks]
        assert texts_of(engine, conversation) == ["What?", "Second."]


async def test_a_whole_answer_takes_the_place_of_a_fragment(tmp_path):
    never = asyncio.Event()
    async with engine_with(ScriptedProvider([["Frag", never], "Whole."]), tmp_path) as engine:
        first = await engine.turn(Ask(request("What?")))
        await anext(first.chunks)
        headers = {"x-holdfast-conversation": first.conversation}
        second = await engine.turn(Ask(request("What?"), headers=headers))
        await anext(second.chunks)
        await first.chunks.aclose()
        [chunk async for chunk in second.chunks]
        assert texts_of(engine, first.conversation) == ["What?", "Whole."]


async def test_closing_keeps_what_was_being_answered(tmp_path):
    async with engine_with(ScriptedProvider([["Half an ", asyncio.Event()]]), tmp_path) as engine:
        turn = await engine.turn(Ask(request("What?")))
        async for _ in turn.chunks:
            break
        waiting = asyncio.create_task(anext(turn.chunks))
        await asyncio.sleep(0)
    waiting.cancel()
    with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
        path = store.log.path(store.log.get(turn.conversation).head)
        assert path[-1].message.text.startswith("Half")
        assert path[-1].finish == "cut"
        assert store.jobs.recent()[0].status == "cut"


async def test_a_question_is_kept_even_if_no_server_is_there(tmp_path):
    async with engine_with(Unreachable("nobody there"), tmp_path) as engine:
        turn = await engine.turn(Ask(request("Is anybody there?")))
        with pytest.raises(Unreachable):
            await anext(turn.chunks)
        assert texts_of(engine, turn.conversation) == ["Is anybody there?"]
        (job,) = engine.store.jobs.recent()
        assert (job.status, job.error) == ("failed", "nobody there")


async def test_instructions_go_on_with_a_history_that_is_left_to_us(tmp_path):
    provider = ScriptedProvider(["Oui.", "Non."])
    async with engine_with(provider, tmp_path) as engine:
        chat = ChatRequest(
            "scripted", (Message.of("system", "Answer in French."), Message.of("user", "Yes?"))
        )
        conversation, _ = await answer(engine, chat)
        turn = await engine.turn(Ask(request("No?"), continues=conversation))
        [chunk async for chunk in turn.chunks]
        sent = [message.text for message in provider.requests[-1].messages]
        assert sent == ["Answer in French.", "Yes?", "Oui.", "No?"]
        other = ChatRequest("scripted", (Message.of("system", "Be brief."), Message.of("user", "So?")))
        turn = await engine.turn(Ask(other, continues=conversation))
        [chunk async for chunk in turn.chunks]
        sent = [message.text for message in provider.requests[-1].messages]
        assert sent == ["Be brief.", "Yes?", "Oui.", "No?", "Non.", "So?"]


async def test_what_is_asked_on_the_side_settles_no_window(tmp_path):
    fake = FakeOllama(models=[FakeModel(trained_window=8192)])
    title = (
        "### Task:\nGenerate a concise, 3-5 word title.\n### Output:\nJSON\n"
        "<chat_history>\nUSER: Hi\n</chat_history>"
    )
    with fake.served() as address:
        provider = await connect(address)
        async with engine_with(provider, tmp_path) as engine:
            await answer(engine, request(title, model="fake", num_ctx=512))
            await answer(engine, request("Hello", model="fake"))
            await answer(engine, request("Hello again", model="fake", num_ctx=2048))
    sent = [body["options"]["num_ctx"] for path, body in fake.requests if path == "/api/chat"]
    assert sent == [8192, 8192, 8192]


def test_a_title_is_the_first_line_a_person_said():
    assert title_of((Message.of("user", "\n  Hello   there \nmore"),)) == "Hello there"
    assert title_of((Message.of("user", "x" * 200),)).endswith("…")
    assert title_of(()) == ""
    reminder, asked = "<system-reminder>\nToday is Monday.\n</system-reminder>", "Why is it slow?"
    assert title_of((Message.of("user", reminder), Message.of("user", f"{reminder}\n\n{asked}"))) == asked
    assert title_of((Message.of("user", reminder),)) == "<system-reminder>"
