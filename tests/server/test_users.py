"""Two people with keys of their own: no door shows one of them anything of the other."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.messages import Scope
from holdfast.store import Key
from tests.server.memory_server import found, remembering
from tests.waiting import wait_until

ASK = {"model": "scripted", "stream": False}


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    with remembering(tmp_path_factory.mktemp("users")) as door:
        yield door


@pytest.fixture(scope="module")
def ada(door):
    return {"Authorization": f"Bearer {door.store.keys.create(Key(user='ada'))[1]}"}


@pytest.fixture(scope="module")
def bob(door):
    return {"Authorization": f"Bearer {door.store.keys.create(Key(user='bob'))[1]}"}


@pytest.fixture(scope="module")
def chat(door, ada):
    messages = [{"role": "user", "content": "The kestrel nests on the tower"}]
    answer = door.client.post("/api/chat", json={**ASK, "messages": messages}, headers=ada)
    return answer.headers["x-holdfast-conversation"]


@pytest.fixture(scope="module")
def memory(door, ada):
    response = door.client.post("/api/memory", json={"text": "The kestrel is called Kira."}, headers=ada)
    return found(response, 201)["memory"]["id"]


def test_conversations(door, ada, bob, chat):
    assert [row["id"] for row in found(door.client.get("/api/chats", headers=ada))["chats"]] == [chat]
    for others in (bob, {}):
        assert found(door.client.get("/api/chats", headers=others))["chats"] == []
        hits = found(door.client.get("/api/chats/search", params={"q": "kestrel"}, headers=others))
        assert hits["hits"] == []
        for path in ("/messages", "/window", "/compactions", "/messages/1"):
            assert door.client.get(f"/api/chats/{chat}{path}", headers=others).status_code == 404
        for path in ("/fork", "/compact", "/undo", "/messages/1/pin"):
            assert door.client.post(f"/api/chats/{chat}{path}", headers=others).status_code == 404
        assert door.client.patch(f"/api/chats/{chat}", json={"off": True}, headers=others).status_code == 404
        assert door.client.delete(f"/api/chats/{chat}", headers=others).status_code == 404
    hits = found(door.client.get("/api/chats/search", params={"q": "kestrel"}, headers=ada))
    assert len(hits["hits"]) == 1


def test_a_conversation_named_outright_is_not_gone_on_with_by_another(door, ada, bob, chat):
    before, asked = door.store.log.get(chat).head, len(door.provider.requests)
    messages = [{"role": "user", "content": "And where does it nest?"}]
    headers = {**bob, "X-Holdfast-Conversation": chat}
    answer = door.client.post("/api/chat", json={**ASK, "messages": messages}, headers=headers)
    assert answer.status_code == 404, answer.text
    assert door.store.log.get(chat).head == before
    assert len(door.provider.requests) == asked


def test_memories(door, ada, bob, memory):
    assert found(door.client.get("/api/memory/list", headers=ada))["total"] == 1
    for others in (bob, {}):
        assert found(door.client.get("/api/memory/list", headers=others))["total"] == 0
        hits = found(door.client.get("/api/memory/search", params={"q": "kestrel"}, headers=others))["hits"]
        assert hits == []
        assert "Kira" not in door.client.post("/api/memory/export", headers=others).text
        assert door.client.get(f"/api/memory/{memory}", headers=others).status_code == 404
        assert door.client.put(f"/api/memory/{memory}", json={"text": "x"}, headers=others).status_code == 404
        assert door.client.delete(f"/api/memory/{memory}", headers=others).status_code == 404
    hits = found(door.client.get("/api/memory/search", params={"q": "kestrel"}, headers=ada))["hits"]
    assert len(hits) == 1


def test_notes_and_the_profile(door, ada, bob, memory):
    paths = [note["path"] for note in found(door.client.get("/api/notes", headers=ada))["notes"]]
    assert paths == ["ada/MEMORY.md"]
    door.client.patch("/api/memory/profile", json={"name": "Ada"}, headers=ada)
    for others in (bob, {}):
        assert found(door.client.get("/api/notes", headers=others))["notes"] == []
        assert door.client.get("/api/notes/ada/MEMORY.md", headers=others).status_code == 404
        mine = door.client.put("/api/notes/ada/MEMORY.md", content="- x", headers=others)
        assert mine.status_code == 404
        assert "Ada" not in door.client.get("/api/memory/profile", headers=others).text


def test_what_a_model_is_told(door, ada, bob, memory):
    def asked(headers):
        messages = [{"role": "user", "content": "What is the kestrel called?"}]
        door.client.post("/api/chat", json={**ASK, "messages": messages}, headers=headers)
        return json.dumps([message.text for message in door.provider.requests[-1].messages])

    assert "Kira" in asked(ada)
    assert "Kira" not in asked(bob)
    assert "Kira" not in asked({})


def test_events(door, ada, bob):
    def first(headers, **params):
        with door.client.stream("GET", "/api/events", headers=headers, params=params) as events:
            lines = events.iter_lines()
            datas = (json.loads(line[6:]) for line in lines if line.startswith("data: "))
            return next(event["n"] for event in datas if "n" in event)

    # Each is told from the first event on that this process knows of.
    for n, scope in enumerate((Scope("ada"), Scope("bob"), Scope("bob", "garden"))):
        door.engine.events.publish("step", {"n": n}, scope)
    place = {"after": door.engine.events._first - 1}
    with ThreadPoolExecutor(3) as pool:
        report = [
            pool.submit(first, ada, **place),
            pool.submit(first, bob, **place),
            pool.submit(first, bob, **place, project="garden"),
        ]
        assert [future.result(60) for future in report] == [0, 1, 2]


def test_answers_that_are_gone_on_from(door, ada, bob):
    body = {"model": "scripted", "input": "The owl is called Olga", "stream": False}
    answer = found(door.client.post("/v1/responses", json=body, headers=ada))["id"]
    found(door.client.get(f"/v1/responses/{answer}", headers=ada))
    for others in (bob, {}):
        assert door.client.get(f"/v1/responses/{answer}", headers=others).status_code == 404
        after = {**body, "input": "What is it called?", "previous_response_id": answer}
        assert door.client.post("/v1/responses", json=after, headers=others).status_code == 404


def test_project_key_reads_personal_memories_and_writes_only_its_project(door):
    person, bound = (
        {"Authorization": f"Bearer {door.store.keys.create(Key(user='eve', project=project))[1]}"}
        for project in ("", "garden")
    )
    record = found(door.client.post("/api/memory", json={"text": "Eve keeps bees."}, headers=person), 201)
    mine = record["memory"]["id"]
    door.client.patch("/api/memory/profile", json={"name": "Eve"}, headers=person)
    before = {path: path.read_bytes() for path in (door.notes / "eve").iterdir()}
    assert found(door.client.get(f"/api/memory/{mine}", headers=bound))["text"] == "Eve keeps bees."
    assert "Eve" in door.client.get("/api/memory/profile", headers=bound).text
    assert "bees" in door.client.get("/api/notes/eve/MEMORY.md", headers=bound).text
    preference = {"text": "I prefer tea.", "kind": "preference"}
    current = {"If-Match": "*"}
    for method, path, body in (
        ("POST", "/api/memory", {"text": "Eve is rich.", "scope": "user"}),
        ("POST", "/api/memory", preference),
        ("PUT", f"/api/memory/{mine}", {"text": "Eve keeps wasps."}),
        ("DELETE", f"/api/memory/{mine}", None),
        ("POST", f"/api/memory/{mine}/take-back", None),
        ("DELETE", "/api/memory/all?scope=user&confirm=eve", None),
        ("PUT", "/api/notes/eve/MEMORY.md", "- nothing"),
        ("PUT", "/api/notes/eve/new.md", "- something"),
        ("DELETE", "/api/notes/eve/MEMORY.md", None),
        ("PUT", "/api/notes/eve/profile.yaml", "name: Mallory"),
        ("PUT", "/api/memory/profile", {"text": "name: Mallory"}),
        ("POST", "/api/memory/profile", {"companyName": "Mallory & Sons"}),
        ("PATCH", "/api/memory/profile", {"name": "Mallory"}),
        ("PUT", "/api/settings/company-context", {"companyName": "Mallory & Sons"}),
    ):
        body = {"content": body} if isinstance(body, str) else {"json": body} if body else {}
        answer = door.client.request(method, path, headers={**bound, **current}, **body)
        assert answer.status_code == 403, (method, path, answer.text)
    brought = door.client.post("/api/memory/import", json={"memories": [preference]}, headers=bound)
    assert found(brought)["added"] == 0
    messages = [{"role": "user", "content": "Please remember that I always prefer coffee to tea."}]
    door.client.post("/api/chat", json={**ASK, "messages": messages}, headers=bound)

    def list_projects_own():
        return found(door.client.get("/api/memory/list?scope=project", headers=bound))["memories"]

    wait_until(list_projects_own)
    assert ["coffee" in memory["text"] for memory in list_projects_own()] == [True]
    assert {path: path.read_bytes() for path in before} == before
    assert door.client.post("/api/memory", json={"text": "The bed is dug."}, headers=bound).status_code == 201


def test_a_bound_key_sees_no_title_of_another_projects_chat(door):
    person, bound = (
        {"Authorization": f"Bearer {door.store.keys.create(Key(user='fay', project=project))[1]}"}
        for project in ("", "garden")
    )
    said = [{"role": "user", "content": "Please remember that I always prefer coffee to tea."}]
    answer = door.client.post("/api/chat", json={**ASK, "messages": said}, headers=person)
    chat = answer.headers["x-holdfast-conversation"]
    door.client.patch(f"/api/chats/{chat}", json={"title": "Quince"}, headers=person)

    def list_own(headers):
        return found(door.client.get("/api/memory/list?scope=user", headers=headers))

    wait_until(lambda: list_own(person)["memories"])
    assert list_own(person)["conversations"][chat]["title"] == "Quince"
    assert [memory["text"] for memory in list_own(bound)["memories"]] != []
    assert list_own(bound)["conversations"] == {chat: None}
    question = [{"role": "user", "content": "Do I prefer coffee or tea?"}]
    asked = door.client.post("/api/chat", json={**ASK, "messages": question}, headers=bound)
    at = f"/api/chats/{asked.headers['x-holdfast-conversation']}"
    question = found(door.client.get(f"{at}/messages", headers=bound))["messages"][0]["id"]
    for headers, title in ((bound, None), (person, "Quince")):
        reply = found(door.client.get(f"{at}/messages/{question}/memories", headers=headers))
        assert [memory["source"] for memory in reply["memories"]] == [{"conversation": chat, "title": title}]
