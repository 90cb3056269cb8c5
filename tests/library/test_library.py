"""What programs rely on: requests that fit, a beginning that stays, scopes apart, errors that help."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import settings as thoroughness
from hypothesis import strategies as st

from holdfast import Holdfast
from holdfast.errors import BadRequest, ConfigError, HoldfastError
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel

pytestmark = pytest.mark.slow

# Nobody listens there.
NOBODY = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def server():
    with FakeOllama(models=[FakeModel("tiny", num_ctx=2048)]).served() as url:
        yield url


def open_library(home, upstream=NOBODY, **more):
    return Holdfast(home, upstream=upstream, embedder="off", **more)


def run(work):
    return asyncio.run(work)


def turns(number, words=60):
    messages = [{"role": "system", "content": "Be brief."}]
    for at in range(number):
        messages.append({"role": "user", "content": f"Question {at}? " + "word " * words})
        messages.append({"role": "assistant", "content": f"Answer {at}. " + "word " * words})
    return [*messages, {"role": "user", "content": "And now?"}]


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, holdfast; print(holdfast.__version__, *(set(sys.modules) & {'sqlalchemy', 'numpy'}))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert len(out.split()) == 1


def test_the_package_has_no_names_that_it_has_not():
    import holdfast

    assert holdfast.Holdfast is Holdfast
    with pytest.raises(AttributeError, match="has no attribute 'Holdslow'"):
        _ = holdfast.Holdslow


def test_any_list_of_messages_fits_without_a_server(tmp_path):
    texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
    tuples = st.tuples(st.sampled_from(["user", "assistant", "system"]), texts, st.integers(1, 80))

    with asyncio.Runner() as runner:
        holdfast = runner.run(open_library(tmp_path).__aenter__())

        @thoroughness(max_examples=15, deadline=None)
        @given(st.lists(tuples, min_size=1, max_size=12))
        def fits(talk):
            messages = [{"role": role, "content": text * times} for role, text, times in talk]
            messages.append({"role": "user", "content": "And now?"})
            fitted = runner.run(holdfast.fit(messages, model="qwen3:4b", window=1024))
            assert fitted.report["at_most"] <= fitted.report["room"]
            assert fitted.messages[-1] == messages[-1]

        fits()
        runner.run(holdfast.__aexit__())


def test_short_request_is_sent_unchanged_with_unknown_fields(tmp_path):
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Look"}], "name": "ada", "odd": {"a": 1}},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
    ]

    async def work():
        async with open_library(tmp_path) as holdfast:
            return await holdfast.fit(messages, model="anything", window=8192)

    fitted = run(work())
    assert fitted.messages == messages
    assert fitted.report["level"] == 0


def test_a_call_and_its_result_leave_together(tmp_path):
    calls = []
    for at in range(30):
        function = {"name": "read", "arguments": f'{{"file": "{at}.py"}}'}
        calls += [
            {"role": "user", "content": f"Read {at}.py."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{at}", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": f"c{at}", "content": "line\n" * 300},
            {"role": "assistant", "content": "Read."},
        ]

    async def work():
        async with open_library(tmp_path) as holdfast:
            return await holdfast.fit(
                [*calls, {"role": "user", "content": "And?"}], model="llama3.1", window=4096
            )

    messages = run(work()).messages
    assert len(messages) < len(calls)
    called = {call["id"] for message in messages for call in message.get("tool_calls") or ()}
    assert called == {message["tool_call_id"] for message in messages if message["role"] == "tool"}


def test_what_was_decided_holds_when_it_is_handed_back(tmp_path):
    async def work():
        async with open_library(tmp_path) as holdfast:
            first = await holdfast.fit(turns(40), model="qwen3:4b", window=4096)
            history = [
                *turns(40),
                {"role": "assistant", "content": "Now."},
                {"role": "user", "content": "Go on"},
            ]
            result = await holdfast.fit(history, model="qwen3:4b", window=4096, after=first)
            return first, result

    first, record = run(work())
    assert first.report["level"] > 0
    assert record.report["prefix"]["kept"]
    assert record.messages[: len(first.messages)] == first.messages


def test_a_server_that_is_there_says_how_large_the_window_is(tmp_path, server):
    async def work():
        async with open_library(tmp_path, server) as holdfast:
            fitted = await holdfast.fit(turns(200, 5), model="tiny")
            return fitted, await holdfast.conversation().messages()

    fitted, none = run(work())
    assert fitted.report["window"] == 2048
    assert none == []


def test_without_server_and_window_it_says_what_is_missing(tmp_path):
    async def work():
        async with open_library(tmp_path) as holdfast:
            await holdfast.fit(turns(1), model="tiny")

    with pytest.raises(HoldfastError, match=r"127\.0\.0\.1:9"):
        run(work())


def test_fitting_sends_no_message_and_keeps_none(tmp_path):
    fake = FakeOllama(models=[FakeModel("tiny", num_ctx=2048)])

    async def work(url):
        async with open_library(tmp_path, url) as holdfast:
            await holdfast.fit(turns(100), model="tiny")
            return await holdfast.search("Question")

    with fake.served() as url:
        assert not run(work(url)).hits
    assert "Question" not in str(fake.requests)


def test_conversation_continues_and_is_visible_only_in_its_scope(tmp_path, server):
    async def work():
        async with open_library(tmp_path, server) as holdfast:
            talk = holdfast.conversation(model="tiny", system="Be brief.")
            first = await talk.say("The code word is Lisbon.")
            pieces = [piece async for piece in talk.stream("Which one?", context=["Found: Porto."])]
            results = await holdfast.search("Lisbon")
            everything = await talk.messages()
        async with open_library(tmp_path, server, user="eve") as other:
            hidden = await other.search("Lisbon")
        return talk, first, pieces, results, everything, hidden

    talk, first, pieces, matches, everything, hidden = run(work())
    assert first.text == "You said: The code word is Lisbon."
    assert first.finish == "stop"
    assert "".join(pieces) == talk.reply.text
    assert "Porto" in talk.reply.text
    assert talk.reply.report["conversation"] == talk.id
    assert {hit.conversation for hit in matches.hits} == {talk.id}
    assert [message["role"] for message in everything] == ["user", "assistant"] * 2
    assert not hidden.hits


def test_what_is_said_at_once_is_answered_one_after_the_other(tmp_path, server):
    async def work():
        async with open_library(tmp_path, server) as holdfast:
            talk = holdfast.conversation(model="tiny")
            replies = await asyncio.gather(*(talk.say(f"Number {at}.") for at in range(5)))
            first = talk.stream("Never read to its end.")
            await anext(first)
            waiting = asyncio.create_task(talk.say("After it."))
            await asyncio.sleep(0)
            await first.aclose()
            return replies, await waiting, await talk.messages()

    replies, last, everything = run(work())
    assert [reply.text for reply in replies] == [f"You said: Number {at}." for at in range(5)]
    assert last.text == "You said: After it."
    contents = [message["content"] for message in everything if message["role"] == "user"]
    assert contents == [*(f"Number {at}." for at in range(5)), "Never read to its end.", "After it."]
    answered = [message["content"] for message in everything if message["role"] == "assistant"]
    assert answered[:5] == [reply.text for reply in replies]


def test_what_makes_no_sense_is_refused_in_a_sentence(tmp_path):
    hello = [{"role": "user", "content": "Hello"}]
    result = [{"role": "tool", "tool_call_id": "c1", "content": "42"}]

    async def work():
        async with open_library(tmp_path) as holdfast:
            talk, memory = holdfast.conversation(model="tiny"), holdfast.memory
            for call in (
                *(holdfast.fit(hello, model="tiny", window=window) for window in (0, -5, "8k", 2e3, True)),
                *(
                    holdfast.fit(messages, model="tiny", window=2048)
                    for messages in (None, "Hi", ["Hi"], result)
                ),
                talk.say(None),
                holdfast.search("tea", limit=-1),
                memory.search("tea", limit=0),
                memory.list(limit=-1),
            ):
                with pytest.raises(BadRequest):
                    await call

    run(work())


def test_what_cannot_be_started_is_closed_again(tmp_path):
    async def work():
        async with open_library(tmp_path):
            pass
        with closing(sqlite3.connect(tmp_path / "holdfast.db")) as database:
            database.executescript("ALTER TABLE jobs RENAME TO kept; CREATE VIEW jobs AS SELECT * FROM kept;")
        before = set(threading.enumerate())
        holdfast = open_library(tmp_path)
        for _ in range(2):
            with pytest.raises(HoldfastError, match="jobs"):
                await holdfast.__aenter__()
        assert not {thread for thread in set(threading.enumerate()) - before if "asyncio" not in thread.name}

    run(work())


def test_memories_are_listed_and_told_to_the_model(tmp_path, server):
    async def work():
        async with open_library(tmp_path, server) as holdfast:
            await holdfast.memory.add("The server in the cellar is called Bertha.")
            known = await holdfast.memory.list()
            await holdfast.conversation(model="tiny").say("What is the server in the cellar called?")
            return known, holdfast

    known, holdfast = run(work())
    assert [memory.text for memory in known] == ["The server in the cellar is called Bertha."]
    with pytest.raises(BadRequest, match="not open"):
        holdfast.conversation()


def test_unknown_setting_is_rejected_before_anything_is_opened(tmp_path):
    with pytest.raises(ConfigError, match="Did you mean upstream"):
        Holdfast(tmp_path / "new", upstraem="x")
    with pytest.raises(ConfigError, match="port"):
        Holdfast(tmp_path / "new", port="many")
    assert not (tmp_path / "new").exists()
