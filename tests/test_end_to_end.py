"""From the outside, as a user would: the real command, unmodified clients, a real model, and a power cut."""

import os
import sqlite3
import subprocess
import sys

import ollama
import openai
import pytest

from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

QUESTIONS = ("Name a colour.", "Name another one.", "And a third one?")


def chats(http, holdfast):
    return http.get(f"{holdfast.url}/api/chats").json()["chats"]


def messages(http, holdfast, chat):
    shown = http.get(f"{holdfast.url}/api/chats/{chat['id']}/messages").json()["messages"]
    return [(message["role"], message["content"]) for message in shown]


def openai_client(holdfast):
    return openai.OpenAI(base_url=f"{holdfast.url}/v1", api_key="none", max_retries=0)


def ollama_answer(client, history, stream):
    options = {"num_predict": 12, "temperature": 0}
    if stream:
        pieces = list(client.chat("embedded", history, stream=True, options=options))
        assert pieces[-1].done
        return "".join(piece.message.content for piece in pieces)
    return client.chat("embedded", history, options=options).message.content


def openai_answer(client, history, stream):
    asked = {"model": "embedded", "messages": history, "max_tokens": 12, "temperature": 0}
    if stream:
        events = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
        pieces = list(events)
        assert pieces[-1].usage.prompt_tokens > 0
        return "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    return client.chat.completions.create(**asked).choices[0].message.content


@pytest.mark.real
@pytest.mark.xdist_group("embedded")
def test_unmodified_clients_hold_a_conversation_each(holdfast_serve, weights, http):
    holdfast = holdfast_serve("embedded", HOLDFAST_MODELS_DIR=str(weights.parent))
    expected = []
    with ollama.Client(holdfast.url, trust_env=False) as item, openai_client(holdfast) as other:
        for client, answer, stream in ((item, ollama_answer, False), (other, openai_answer, True)):
            history = []
            for question in QUESTIONS:
                history.append({"role": "user", "content": f"{question} ({answer.__name__}, {stream})"})
                history.append({"role": "assistant", "content": answer(client, history, stream)})
            expected.append([(message["role"], message["content"]) for message in history])
    results = [messages(http, holdfast, chat) for chat in reversed(chats(http, holdfast))]
    assert results == expected
    assert all(answer.strip() for talk in expected for role, answer in talk if role == "assistant")


@pytest.mark.real
@pytest.mark.xdist_group("embedded")
def test_more_than_the_window_is_made_to_fit_and_loses_nothing(holdfast_serve, weights, http):
    holdfast = holdfast_serve(
        "embedded", HOLDFAST_MODELS_DIR=str(weights.parent), HOLDFAST_EMBEDDED_WINDOW="1024"
    )
    text = "many words " * 20_000
    with openai_client(holdfast) as client:
        answer = client.chat.completions.create(
            model="embedded", messages=[{"role": "user", "content": text}], max_tokens=4
        )
        tools = [
            {"type": "function", "function": {"name": f"tool{at}", "description": "Does much. " * 40}}
            for at in range(30)
        ]
        with pytest.raises(openai.BadRequestError) as caught:
            client.chat.completions.create(
                model="embedded", messages=[{"role": "user", "content": "Hi"}], tools=tools
            )
    assert answer.usage.prompt_tokens <= 1024 - 256
    assert caught.value.code == "context_length_exceeded"
    assert "768" in str(caught.value), "it names what there is"
    second, first = chats(http, holdfast)
    assert messages(http, holdfast, first)[0] == ("user", text)
    assert messages(http, holdfast, second) == [("user", "Hi")]


def test_a_power_cut_in_mid_answer_loses_no_acknowledged_word(holdfast_serve, http, tmp_path):
    """The answer never ends, so the server is surely killed in the middle of it."""
    model = FakeModel(trained_window=10**8, num_ctx=10**8)
    talkative = FakeOllama(lambda call: FakeReply(text="and so on ", endless=True), models=[model])
    with talkative.served() as upstream:
        holdfast = holdfast_serve(upstream)
        body = {"model": "fake", "messages": [{"role": "user", "content": "Tell me everything."}]}
        with http.stream("POST", f"{holdfast.url}/api/chat", json=body) as response:
            lines = response.iter_lines()
            received = next(lines)
            chat = response.headers["x-holdfast-conversation"]
            saved = wait_for_draft(http, holdfast, chat)
            holdfast.kill()
        assert received
        restarted = holdfast_serve(upstream)
        shown = wait_for_cut(http, restarted, chat)
    assert shown[0]["content"] == "Tell me everything."
    assert shown[1]["role"] == "assistant"
    assert shown[1]["content"].startswith(saved)
    with sqlite3.connect(tmp_path / "home" / "holdfast.db") as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)


def wait_for_draft(http, holdfast, chat):
    """What was saved of an answer that is being written, once something was."""

    def is_saved():
        last = http.get(f"{holdfast.url}/api/chats/{chat}/messages").json()["messages"][-1]
        return last["finish"] == "writing" and last["content"]

    return wait_until(is_saved)


def wait_for_cut(http, holdfast, chat):
    def is_marked():
        shown = http.get(f"{holdfast.url}/api/chats/{chat}/messages").json()["messages"]
        # From the first moment everything is there; only the mark comes when the old process is surely dead.
        assert len(shown) == 2
        return shown if shown[-1]["finish"] == "cut" else None

    return wait_until(is_marked)


def test_an_upstream_that_dies_in_mid_answer_leaves_a_marked_answer(holdfast_serve, http):
    with FakeOllama(lambda call: FakeReply(text="It is called ", breaks=True)).served() as upstream:
        holdfast = holdfast_serve(upstream)
        body = {"model": "fake", "messages": [{"role": "user", "content": "What is it called?"}]}
        lines = http.post(f"{holdfast.url}/api/chat", json=body).text.splitlines()
        assert "error" in lines[-1]
        (chat,) = chats(http, holdfast)
        shown = http.get(f"{holdfast.url}/api/chats/{chat['id']}/messages").json()["messages"]
    assert (shown[-1]["content"].strip(), shown[-1]["finish"]) == ("It is called", "cut")


def test_an_ollama_server_is_used_natively_and_never_cuts_silently(holdfast_serve, http):
    fake = FakeOllama(models=[FakeModel(trained_window=1024)])
    with fake.served() as upstream:
        holdfast = holdfast_serve(upstream)
        with openai_client(holdfast) as client:
            answer = client.chat.completions.create(
                model="fake", messages=[{"role": "user", "content": "hi"}]
            )
            assert answer.choices[0].message.content == "You said: hi"
            long = [{"role": "user", "content": "hello world " * 1_500}]
            client.chat.completions.create(model="fake", messages=long)
        assert len(fake.calls[-1].prompt) <= 768
        assert "[shortened: " in str(fake.requests[-1])
        assert {path for path, _ in fake.requests if "chat" in path} == {"/api/chat"}
        assert len(fake.loads) == 1
        direct = http.get(f"{upstream}/api/tags").json()
        *listed, ours = http.get(f"{holdfast.url}/api/tags").json()["models"]
        assert (listed, ours["name"]) == (direct["models"], "use-multilingual")


def test_switched_off_the_servers_own_bytes_come_through(holdfast_serve, http):
    with FakeOllama().served() as upstream:
        holdfast = holdfast_serve(upstream)
        body = {"model": "fake", "messages": [{"role": "user", "content": "hi"}], "stream": False}
        off = {"X-Holdfast": "off"}
        answers = [
            http.post(f"{place}/v1/chat/completions", json=body, headers=off).json()
            for place in (upstream, holdfast.url)
        ]
        for answer in answers:
            del answer["id"], answer["created"]
        assert answers[0] == answers[1]
        assert chats(http, holdfast) == []


def test_the_port_being_taken_is_explained(holdfast_serve, http):
    with FakeOllama().served() as upstream:
        holdfast = holdfast_serve(upstream)
        port = holdfast.url.rpartition(":")[2]
        second = subprocess.run(
            [sys.executable, "-m", "holdfast", "serve", "--port", port, "--upstream", upstream],
            env={**os.environ, "HOLDFAST_LANGUAGE": "en"},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert second.returncode == 1
    assert "already" in second.stderr
    assert "Traceback" not in second.stderr
