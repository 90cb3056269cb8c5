"""Agents in two repositories: what MCP wrote is in the chat of its own project, and in no other's."""

import subprocess

import pytest

from holdfast.cli.serve import scope_for
from holdfast.mcp.tools import McpServices
from holdfast.messages import Scope
from tests.clients.script import system, user
from tests.mcp.host import Host
from tests.server.memory_server import found, remembering
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    with remembering(tmp_path_factory.mktemp("home")) as service:
        yield service


@pytest.fixture
def repository(tmp_path, monkeypatch):
    def make(name):
        subprocess.run(["git", "init", "-q", tmp_path / name], check=True)
        monkeypatch.chdir(tmp_path / name)
        return tmp_path / name, scope_for("default", None, None)

    return make


def prompt(folder):
    return system(f"You are an agent.\n<env>\n  Working directory: {folder}\n</env>")


def chat(door, messages, **headers):
    """Send a chat as an agent does, and return all that the model was shown of it."""
    body = {"model": "scripted", "messages": messages, "stream": False}
    found(door.client.post("/v1/chat/completions", json=body, headers=headers))
    return "\n".join(message.text for message in door.provider.requests[-1].messages)


def memories(door, scope):
    return {memory.text: memory for memory in door.parts.library.page(scope, own=True).memories}


def test_mcp_and_chat_share_the_memory_of_a_project(door, repository):
    tides, scope = repository("tides")
    lamps, _ = repository("lamps")
    host = Host(McpServices(door.store, door.parts, None), scope)
    host.told("memory_write", text="The staging port of the tide service is 8443.", kind="fact")
    question = user("Which staging port does the tide service have?")
    assert "8443" in chat(door, [prompt(tides / "src"), question])
    assert "8443" not in chat(door, [prompt(lamps), question])
    assert "8443" not in chat(door, [prompt(tides), question], **{"x-holdfast-project": "other"})


def test_facts_of_the_person_go_along_those_of_the_project_stay(door, repository):
    (kite, scope), (sail, other) = repository("kite"), repository("sail")
    content = (
        "Remember that my sister Klara is allergic to hazelnuts. "
        "Remember that the release branch is called harbour."
    )
    # opencode puts quotes around what `opencode run` was given.
    chat(door, [prompt(kite), user(f'"{content}"')], **{"x-session-id": "ses_kite"})
    project = wait_until(lambda: memories(door, scope))
    assert [text for text in project if "harbour" in text]
    assert not [text for text in project if "Klara" in text]
    assert [text for text in memories(door, Scope()) if "Klara" in text]
    shown = chat(door, [prompt(sail), user("What is Klara allergic to, and what is the release branch?")])
    assert "hazelnuts" in shown
    assert "harbour" not in shown
    assert door.store.log.recent(scope)[0].external_id == "session:ses_kite"
    assert len(door.store.log.recent(other)) == 1


def test_a_side_request_of_a_session_is_in_its_project(door, repository):
    folder, scope = repository("mole")
    session = {"x-session-id": "ses_mole"}
    chat(door, [prompt(folder), user("Have a look at the mole.")], **session)
    title = system("You are a title generator. You output ONLY a thread title.")
    asked = [title, user("Generate a title for this conversation:\n"), user("Have a look at the mole.")]
    chat(door, asked, **session)
    assert [(job.kind, job.project) for job in door.store.jobs.recent(2)] == [
        ("side", scope.project),
        ("main", scope.project),
    ]


def test_a_response_is_continued_in_the_project_it_was_given_in(door, repository):
    folder, scope = repository("reef")
    text = prompt(folder)["content"]
    first = found(
        door.client.post(
            "/v1/responses", json={"model": "scripted", "instructions": text, "input": "The reef is long."}
        )
    )
    more = {"model": "scripted", "input": "How long?", "previous_response_id": first["id"]}
    found(door.client.post("/v1/responses", json=more))
    assert found(door.client.get(f"/v1/responses/{first['id']}"))["id"] == first["id"]
    (row,) = door.store.log.recent(scope)
    assert [stored.message.text for stored in door.store.log.path(row.head)][2] == "How long?"


def test_the_person_finds_what_their_agents_did_in_every_project(door, repository):
    folder, scope = repository("cove")
    chat(door, [prompt(folder), user("What lives in the cove?")])
    (row,) = door.store.log.recent(scope)
    listed = found(door.client.get("/api/chats"))["chats"]
    assert (listed[0]["id"], listed[0]["project"]) == (row.id, scope.project)
    elsewhere = {"x-holdfast-project": "default"}
    assert row.id not in {
        each["id"] for each in found(door.client.get("/api/chats", headers=elsewhere))["chats"]
    }
    shown = found(door.client.get(f"/api/chats/{row.id}/messages"))
    assert shown["messages"][0]["content"] == "What lives in the cove?"
    assert door.client.get(f"/api/chats/{row.id}", headers=elsewhere).status_code in (404, 405)
    assert door.client.get(f"/api/chats/{row.id}/window", headers=elsewhere).status_code == 404
    body = {"conversation": row.id, "text": "And who else?", "model": "scripted"}
    with door.client.stream("POST", "/api/chats/turns", json=body) as events:
        assert events.status_code == 200
        assert "Yes." in events.read().decode()
    assert len(door.store.log.path(door.store.log.get(row.id).head)) == 4
