"""Options of chats and presets over REST: checked, stored with their conversation, each user's own."""

import re

import pytest

from holdfast.store import Key


def found(response):
    assert response.status_code == 200, response.text
    return response.json()


@pytest.fixture
def client(serve):
    return serve().client


def begin(client, **more):
    told = client.post("/api/chats/turns", json={"model": "scripted", "text": "Hello?", **more}).text
    return re.search(r"c_[0-9a-z]{26}", told).group()


def test_options_are_stored_with_the_conversation_and_checked(client):
    chat = begin(client, options={"system": "Be brief.", "temperature": 0.5})
    assert found(client.get(f"/api/chats/{chat}/options")) == {"system": "Be brief.", "temperature": 0.5}
    assert found(client.put(f"/api/chats/{chat}/options", json={"top_p": 0.9})) == {"top_p": 0.9}
    shown = found(client.get(f"/api/chats/{chat}/messages?html=true&limit=5"))
    assert shown["options"] == {"top_p": 0.9}
    for wrong in ({"temperature": -1}, {"top_p": 2}, {"max_tokens": 0}, {"colour": "red"}, {"stop": [""]}):
        assert client.put(f"/api/chats/{chat}/options", json=wrong).status_code == 400, wrong
    late = {"model": "scripted", "text": "More?", "conversation": chat, "options": {"top_p": 0.1}}
    assert client.post("/api/chats/turns", json=late).status_code == 400


def test_presets_and_options_are_each_users_own(serve):
    running = serve()
    client, keys = running.client, running.store.keys
    chat = begin(client)
    found(client.put("/api/presets/Pirate", json={"system": "Arr.", "temperature": 1}))
    theirs = {"Authorization": f"Bearer {keys.create(Key(name='other', user='other'))[1]}"}
    assert found(client.get("/api/presets", headers=theirs)) == {"presets": []}
    assert client.delete("/api/presets/Pirate", headers=theirs).status_code == 404
    for method in ("get", "put"):
        body = {"json": {}} if method == "put" else {}
        path = f"/api/chats/{chat}/options"
        assert getattr(client, method)(path, headers=theirs, **body).status_code == 404
    (preset,) = found(client.get("/api/presets"))["presets"]
    assert preset == {"name": "Pirate", "options": {"system": "Arr.", "temperature": 1}}
    assert client.delete("/api/presets/Pirate").status_code == 204
    assert found(client.get("/api/presets")) == {"presets": []}
