"""Single messages over REST: deleted and restored, reworded, continued; what the model gets is told truly."""

import asyncio
import json
import re

import pytest

from holdfast.errors import CutOff
from holdfast.messages import Thinking
from holdfast.store import Key
from holdfast.testing.provider import ScriptedProvider
from tests.waiting import wait_until


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


@pytest.mark.parametrize(
    ("abilities", "thought"), [({"continuation"}, ()), ({"continuation"}, ("Let me see.",)), ((), ())]
)
def test_a_server_that_can_goes_on_by_itself(serve, abilities, thought):
    cut = [*map(Thinking, thought), "The tide turns at no", CutOff("gone")]
    provider = ScriptedProvider([cut, "on.", "Yes."])
    provider.abilities = frozenset(abilities)
    client = serve(provider).client
    chat = re.search(r"c_[0-9a-z]{26}", ask(client, text="When does the tide turn?")).group()
    ask(client, conversation=chat, extend=listed(client, chat)[-1]["id"])
    last = provider.requests[-1].messages[-1]
    if abilities and not thought:
        assert (last.role, last.text) == ("assistant", "The tide turns at no")
        assert listed(client, chat)[-1]["text"] == "The tide turns at noon."
    else:
        assert last.role == "user", "it is asked to go on"
    ask(client, text="Sure?", conversation=chat)
    assert [message.role for message in provider.requests[-1].messages] == ["user", "assistant", "user"]


def test_second_model_answers_beside_the_first_and_nobody_else(serve):
    client = serve(ScriptedProvider([["First", asyncio.Event()], "Second."])).client
    wish = {"model": "scripted", "text": "Which?"}
    with client.stream("POST", "/api/chats/turns", json=wish) as first:
        start = json.loads(next(line for line in first.iter_lines() if line.startswith("data:"))[5:])
        again = {"model": "scripted", "conversation": start["conversation"], "regenerate": start["question"]}
        assert client.post("/api/chats/turns", json=again).status_code == 409
        assert "Second." in ask(client, **again, beside=True)
        client.delete(f"/api/jobs/{start['job']}")
    wait_until(lambda: len(listed(client, start["conversation"])[-1].get("versions") or ()) == 2)
    assert client.post("/api/chats/turns", json={**wish, "beside": True}).status_code == 400


def test_new_conversation_begins_in_the_project_that_is_named(serve):
    client = serve().client
    ask(client, text="Here?", project="Über See")
    assert found(client.get("/api/chats/projects"))["projects"] == ["Über See"]
    assert found(client.get("/api/chats/folders?project=Nowhere"))["folders"] == []
    wrong = client.post("/api/chats/turns", json={"model": "scripted", "text": "A", "project": "a/b"})
    assert wrong.status_code == 400
