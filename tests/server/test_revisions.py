"""Single messages over REST: deleted and restored, reworded, continued; what the model gets is told truly."""

import re

import pytest

from holdfast.store import Key
from holdfast.testing.provider import ScriptedProvider


def found(response):
    assert response.status_code == 200, response.text
    return response.json()


@pytest.fixture
def running(serve):
    return serve(ScriptedProvider())


@pytest.fixture
def chat(running):
    """A chat of three questions, each with its answer."""
    name = None
    for text in ("First?", "Second?", "Third?"):
        told = ask(running.client, text=text, **({"conversation": name} if name else {}))
        name = re.search(r"c_[0-9a-z]{26}", told).group()
    return name


def ask(client, **wish):
    return client.post("/api/chats/turns", json={"model": "scripted", **wish}).text


def listed(client, chat):
    return found(client.get(f"/api/chats/{chat}/messages?html=true&limit=50"))["messages"]


def asked(running):
    return [message.text for message in running.provider.requests[-1].messages if message.role == "user"]


def test_deleted_message_leaves_list_and_window_and_comes_back(running, chat):
    client = running.client
    before = listed(client, chat)
    question, answer = before[2], before[3]
    assert question["content"] == "Second?"
    for entry in (answer, question):
        found(client.delete(f"/api/chats/{chat}/messages/{entry['id']}"))
    now = listed(client, chat)
    assert [entry["content"] for entry in now] == [
        entry["content"] for entry in before if entry not in (question, answer)
    ]
    # What follows is no version of what was deleted.
    assert not [entry for entry in now if entry.get("versions")]
    assert question["id"] not in client.get("/api/chats/search?q=Second").text
    hits = [client.get("/api/chats/search?q=Third").text.count(entry["id"]) for entry in (before[4], now[2])]
    assert hits == [0, 1], "what was repeated is found once"
    ask(client, text="Fourth?", conversation=chat)
    assert asked(running) == ["First?", "Third?", "Fourth?"]
    for entry in (question, answer):
        found(client.post(f"/api/chats/{chat}/messages/{entry['id']}/restore"))
    assert [entry["id"] for entry in listed(client, chat)] == [entry["id"] for entry in before]


def test_the_very_first_and_the_last_message_can_be_deleted(running, chat):
    client = running.client
    entries = listed(client, chat)
    gone = found(client.delete(f"/api/chats/{chat}/messages/{entries[0]['id']}"))
    assert gone["message"] == listed(client, chat)[0]["id"]
    last = listed(client, chat)[-1]
    assert found(client.delete(f"/api/chats/{chat}/messages/{last['id']}"))["message"] is None
    assert len(listed(client, chat)) == 4
    # The message that a conversation stood at earlier is not in it any more.
    assert client.delete(f"/api/chats/{chat}/messages/{last['id']}").status_code == 400


def test_message_in_other_words_asks_nothing_and_keeps_versions(running, chat):
    client = running.client
    entries, requests = listed(client, chat), len(running.provider.requests)
    for entry, text in ((entries[2], "Second, rather?"), (entries[1], "In my words.")):
        changed = found(client.put(f"/api/chats/{chat}/messages/{entry['id']}", json={"text": text}))
        place = listed(client, chat)[entries.index(entry)]
        assert (place["id"], place["content"]) == (changed["message"], text)
        assert place["versions"] == [entry["id"], place["id"]]
    assert len(running.provider.requests) == requests
    assert len(listed(client, chat)) == len(entries)
    ask(client, text="Fourth?", conversation=chat)
    assert asked(running) == ["First?", "Second, rather?", "Third?", "Fourth?"]
    assert client.put(f"/api/chats/{chat}/messages/{entries[0]['id']}", json={"text": " "}).status_code == 400


def test_messages_of_other_users_are_not_there(running, chat):
    client = running.client
    message = listed(client, chat)[0]["id"]
    secret = running.store.keys.create(Key(name="other", user="other"))[1]
    theirs = {"Authorization": f"Bearer {secret}"}
    path = f"/api/chats/{chat}/messages/{message}"
    assert client.delete(path, headers=theirs).status_code == 404
    assert client.put(path, json={"text": "Mine"}, headers=theirs).status_code == 404
    assert client.post(f"{path}/restore", headers=theirs).status_code == 404
    wish = {"model": "scripted", "conversation": chat, "extend": message}
    assert client.post("/api/chats/turns", json=wish, headers=theirs).status_code == 404
    assert client.post("/api/chats/turns", json=wish).status_code == 400, "a question did not break off"
