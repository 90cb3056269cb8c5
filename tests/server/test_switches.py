"""Switched off: for a key, or for a conversation; wholly, or only what is remembered."""

import json

import pytest

from holdfast.messages import Scope
from holdfast.store import Key
from holdfast.testing.provider import ScriptedProvider
from holdfast.upstreams.http import Connection
from holdfast.upstreams.ollama import Ollama
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel
from tests.server.memory_server import found, remembering
from tests.summaries import garden_talk, summing_up

REMEMBER = "Remember that the gate code is 4711."


def talk(client, *texts, **headers):
    """One request with these texts in turns, the last one a question; the response."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    body = {"model": "scripted", "messages": messages, "stream": False}
    response = client.post("/api/chat", json=body, headers=headers)
    assert response.status_code == 200, response.text
    return response


def bearer(store, **wanted):
    return {"Authorization": f"Bearer {store.keys.create(Key(**wanted))[1]}"}


def test_a_key_that_is_off_only_passes_through(serve):
    holdfast = serve(ScriptedProvider(["Yes."]))
    headers = bearer(holdfast.store, off=True)
    answer = talk(holdfast.client, "Hello?", **headers)
    assert answer.json()["message"]["content"] == "Yes."
    assert "x-holdfast-conversation" not in answer.headers
    assert holdfast.store.log.recent(Scope()) == []
    assert holdfast.store.jobs.recent() == []


@pytest.mark.parametrize("named", [True, False])
def test_disabled_conversation_is_passed_through_until_enabled_again(serve, named):
    holdfast = serve(ScriptedProvider(["One.", "Two.", "Three."]))
    chat = talk(holdfast.client, "First?").headers["x-holdfast-conversation"]
    headers = {"X-Holdfast-Conversation": chat} if named else {}
    shown = found(holdfast.client.patch(f"/api/chats/{chat}", json={"off": True}))
    assert (shown["off"], shown["memory"], shown["title"]) == (True, True, "First?")
    passed = talk(holdfast.client, "First?", "One.", "Second?", **headers)
    assert passed.json()["message"]["content"] == "Two."
    assert "x-holdfast-conversation" not in passed.headers
    assert [len(request.messages) for request in holdfast.provider.requests] == [1, 3]
    words = found(holdfast.client.get(f"/api/chats/{chat}/messages"))["messages"]
    assert [message["content"] for message in words] == ["First?", "One."]
    found(holdfast.client.patch(f"/api/chats/{chat}", json={"off": False}))
    again = talk(holdfast.client, "First?", "One.", "Third?", **headers)
    assert again.headers["x-holdfast-conversation"] == chat
    assert len(holdfast.store.log.recent(Scope())) == 1


def test_what_is_off_reaches_the_model_server_byte_for_byte(serve):
    fake = FakeOllama(models=[FakeModel(trained_window=8192)])
    with fake.served() as address:
        client = serve(Ollama(Connection(address))).client
        body = {"model": "fake", "messages": [{"role": "user", "content": "Hi"}], "stream": False}
        chat = client.post("/api/chat", json=body).headers["x-holdfast-conversation"]
        client.patch(f"/api/chats/{chat}", json={"off": True})
        sent = json.dumps({**body, "odd": {"b": 1, "a": 2}}, indent=3).encode()
        named = {"X-Holdfast-Conversation": chat, "content-type": "application/json"}
        assert client.post("/api/chat", content=sent, headers=named).status_code == 200
        assert fake.requests[-1] == ("/api/chat", json.loads(sent))


def noted(folder):
    """What is remembered; a server that ends has written all that it promised."""
    return "".join(path.read_text() for path in (folder / "workspace").rglob("*.md"))


@pytest.fixture
def door(tmp_path):
    with remembering(tmp_path) as door:
        yield door


def test_key_without_memory_records_and_fits_but_never_recalls_or_learns(tmp_path):
    with remembering(tmp_path) as door:
        door.parts.library.add(Scope(), "The gate code is 1234.")
        headers = bearer(door.store, memory=False)
        chats = [
            talk(door.client, text, **headers).headers["x-holdfast-conversation"]
            for text in (REMEMBER, "What is the gate code?")
        ]
        sent = [message.text for request in door.provider.requests for message in request.messages]
        assert not any("1234" in text for text in sent)
        for name in chats:
            row = door.store.log.get(name)
            assert not row.memory
            assert len(door.store.log.path(row.head)) == 2
            assert found(door.client.get(f"/api/chats/{name}/window"))["notices"] == []
        # The same question with memory is told.
        talk(door.client, "What is the gate code?")
        assert "1234" in door.provider.requests[-1].messages[-1].text
    assert "1234" in noted(tmp_path)
    assert "4711" not in noted(tmp_path)


def test_key_without_memory_sees_no_memory_by_what_models_were_told(door):
    door.parts.library.add(Scope(), "The gate code is 1234.")
    door.parts.profile.patch(Scope(), {"company": "Kestrel & Sons"})
    chat = talk(door.client, "What is the gate code?").headers["x-holdfast-conversation"]
    headers = bearer(door.store, memory=False)
    told = ("/window", "/window/messages", "/request")
    assert all("1234" in door.client.get(f"/api/chats/{chat}{path}").text for path in told)
    for path in (*told, "/messages/1/memories"):
        assert door.client.get(f"/api/chats/{chat}{path}", headers=headers).status_code == 403
    assert "Kestrel" in door.client.get("/api/system/setup-status").text
    assert "Kestrel" not in door.client.get("/api/system/setup-status", headers=headers).text
    door.engine.events.publish("step", {"n": 1}, Scope())
    with door.client.stream("GET", "/api/events?after=0", headers=headers) as events:
        lines = []
        for line in events.iter_lines():
            lines.append(line)
            if '"n":1' in line:
                break
    assert not any("1234" in line or "Kestrel" in line for line in lines)
    # What was said in it is still theirs.
    assert "gate code" in door.client.get(f"/api/chats/{chat}/messages", headers=headers).text


@pytest.mark.parametrize("memory", [True, False])
def test_a_conversation_without_memory_learns_nothing(tmp_path, memory):
    with remembering(tmp_path) as door:
        chat = talk(door.client, "Hello?").headers["x-holdfast-conversation"]
        found(door.client.patch(f"/api/chats/{chat}", json={"memory": memory}))
        talk(door.client, REMEMBER, **{"X-Holdfast-Conversation": chat})
        assert len(found(door.client.get(f"/api/chats/{chat}/messages"))["messages"]) == 4
    assert ("4711" in noted(tmp_path)) is memory


@pytest.mark.parametrize("memory", [True, False])
def test_what_leaves_a_window_becomes_a_note_only_with_memory(serve, memory):
    holdfast = serve(ScriptedProvider(fallback=lambda request: summing_up(request.messages[-1].text)))
    texts = [message.text for message in garden_talk()]
    chat = talk(holdfast.client, *texts).headers["x-holdfast-conversation"]
    found(holdfast.client.patch(f"/api/chats/{chat}", json={"memory": memory}))
    result = found(holdfast.client.post(f"/api/chats/{chat}/compact"))
    assert result["messages"] == 14
    assert result["memories"] == int(memory)
    assert bool(holdfast.store.outbox.pending()) is memory


@pytest.mark.parametrize("body", [{}, {"off": "yes"}, {"memory": None}, {"off": 1}])
def test_switches_are_on_or_off(door, body):
    chat = talk(door.client, "Hello?").headers["x-holdfast-conversation"]
    assert door.client.patch(f"/api/chats/{chat}", json=body).status_code == 400
