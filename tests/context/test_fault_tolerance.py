"""When something beside the talk breaks, or somebody leaves: the talk goes on, and is told of it."""

import asyncio
import sqlite3
import sys
from contextlib import closing, contextmanager
from functools import partial

import pytest

from holdfast.errors import Overflow
from holdfast.messages import ChatRequest, Message, Scope
from holdfast.store import NewMessage, open_store
from holdfast.turn import Ask
from tests.context.engine_client import Client, engine_with, filler, long_talk, provider, sent, texts

pytestmark = pytest.mark.anyio


def execute(store, *statements):
    for statement in statements:
        store.database.write(lambda connection, text=statement: connection.exec_driver_sql(text))


def number_of(store, table):
    count = f"SELECT count(*) FROM {table}"
    return store.database.read(lambda connection: connection.exec_driver_sql(count).scalar())


async def test_a_broken_index_is_told_of_and_the_question_is_answered(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("The invoice for Mr Okonkwo is in rechnung_4711.pdf." + " It rained all day." * 15)
        await long_talk(client)
        assert client.report["notices"] == []
        execute(engine.store, "DROP TABLE text_index")
        assert await client.say("What was in rechnung_4711.pdf again?") == "Noted."
        assert client.report["notices"] == ["not_searched"]
        assert sent(server)[-1].text == "What was in rechnung_4711.pdf again?"
        report = engine.store.lanes.of(client.conversation)[0].report
        assert report["notices"] == ["not_searched"], "whoever asks later is told as well"


async def test_an_index_that_was_thrown_away_is_built_again_and_searched(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("The invoice for Mr Okonkwo is in rechnung_4711.pdf." + " It rained all day." * 15)
        await long_talk(client)
        execute(engine.store, "DROP TABLE text_index", "DROP TABLE text_state")
    async with engine_with(server, tmp_path) as engine:
        client.engine = engine
        await client.say("What was in rechnung_4711.pdf again?")
        assert "Okonkwo" in sent(server)[-1].text
        assert client.report["notices"] == []


async def test_a_talk_that_fits_needs_no_index(tmp_path):
    server = provider()
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await client.say("The plan is in notes_4711.md.")
        engine.store.texts.catch_up()
        execute(engine.store, "DROP TABLE text_index")
        await client.say("What is in notes_4711.md?")
        assert client.report["notices"] == []


@contextmanager
def changing_lanes(file):
    """Another process in the middle of changing every lane; what is given out lets it finish."""
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE lanes SET version = version + 1")
        yield partial(other.execute, "COMMIT")


async def test_window_that_could_not_be_saved_is_reported_next_turn(tmp_path, monkeypatch):
    # Seconds for which our own writing waits for the other one.
    monkeypatch.setattr("holdfast.store.store._BUSY_TIMEOUT", 1.0)
    finish = []

    def meanwhile(request):
        # Asked when the window is made and waits to be written: now the other one was faster.
        finish.pop()()
        return "Noted."

    server = provider([*["Noted."] * 3, meanwhile])
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await long_talk(client, 3)
        before = engine.store.lanes.of(client.conversation)[0].report
        client.history.append(Message.of("user", filler(3)))
        turn = await engine.turn(Ask(ChatRequest("small", tuple(client.history))))
        with changing_lanes(tmp_path / "db") as done:
            finish.append(done)
            text = "".join([chunk.text async for chunk in turn.chunks])
        assert (text, finish) == ("Noted.", [])
        assert turn.report["notices"] == [], "that was not known when it went out"
        assert engine.store.lanes.of(client.conversation)[0].report == before, "it was not kept"
        client.history.append(Message.of("assistant", text))
        await client.say("Was that kept?")
        assert client.report["notices"] == ["not_kept"]
        assert engine.store.lanes.of(client.conversation)[0].report["notices"] == ["not_kept"]
        await client.say("And now?")
        assert client.report["notices"] == []
        assert [message.text for message in sent(server)] == [item.text for item in client.history[:-1]]


async def test_a_backlog_is_indexed_after_the_start_in_portions(tmp_path):
    messages = [
        NewMessage(Message.of("assistant" if at % 2 else "user", f"Word{at} of {at}.")) for at in range(150)
    ]
    with open_store(f"sqlite:///{tmp_path / 'db'}") as store:
        log = store.log.create(Scope())
        store.log.append(log.id, messages, parent=None, expect=None)
        assert store.texts.engine
        assert number_of(store, "text_waiting") == 150
    async with engine_with(provider(), tmp_path) as engine:
        assert number_of(engine.store, "text_waiting") == 150
        await engine.start()
        async with asyncio.timeout(60):
            # Nobody says when it is done; `close` would end it after one portion.
            while number_of(engine.store, "text_waiting"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert number_of(engine.store, "text_rows") == 150


@contextmanager
def nothing_tidied_up():
    """What is not closed stays open: no waiting for Python to find out that nobody refers to it any more."""
    before, forgotten = sys.get_asyncgen_hooks(), []
    sys.set_asyncgen_hooks(finalizer=forgotten.append)
    try:
        yield
    finally:
        sys.set_asyncgen_hooks(*before)


async def left(turn, how):
    """Hears the beginning of an answer and leaves: the door closes the answer, or its task is cancelled."""
    heard = (await anext(turn.chunks)).text
    if how == "closed":
        await turn.chunks.aclose()
        return heard
    waiting = asyncio.ensure_future(anext(turn.chunks))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    return heard


@pytest.mark.parametrize("how", ["closed", "cancelled"])
@pytest.mark.parametrize("refused", [False, True])
async def test_client_disconnect_stops_upstream_answer_immediately(tmp_path, refused, how):
    refusal = [Overflow("too large", prompt_tokens=3_000)] if refused else []
    server = provider([*["Noted."] * 5, *refusal, ["Half", asyncio.Event()]])
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        await long_talk(client, 5)
        client.history.append(Message.of("user", "Tell me all."))
        with nothing_tidied_up():
            turn = await engine.turn(Ask(ChatRequest("small", tuple(client.history))))
            assert await left(turn, how) == "Half"
            assert server.aborted == 1
        assert len(server.requests) == (7 if refused else 6)
        assert texts(server).endswith("Tell me all.")
        path = engine.store.log.path(engine.store.log.get(client.conversation).head)
        assert (path[-1].message.text, path[-1].finish) == ("Half", "cut")
        assert engine.store.jobs.recent()[0].status == "cut"
        await client.say("Go on.")
        assert server.aborted == 1, "and the next question is answered"
