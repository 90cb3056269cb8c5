"""Summaries over REST: made when asked for, seen at their place, in force, and taken back."""

import asyncio
import threading
import time

import pytest

from holdfast.testing.provider import ScriptedProvider
from holdfast.window.presets import preset_named
from tests.server.test_chats import ask, found, ids_of, post, refused
from tests.summaries import ENGLISH, garden_talk, summing_up


def said(request):
    return summing_up(request.messages[-1].text)


def garden(client, **more):
    wire = [{"role": message.role, "content": message.text} for message in garden_talk(**more)]
    return f"/api/chats/{post(client, wire)}"


@pytest.fixture
def running(serve):
    return serve(ScriptedProvider(fallback=said))


@pytest.fixture
def client(running):
    return running.client


@pytest.fixture
def chat(client):
    return garden(client)


def entries(client, chat):
    return found(client.get(f"{chat}/messages"))["messages"]


def banners(client, chat):
    return [entry for entry in entries(client, chat) if entry.get("type") == "compaction"]


def test_a_summary_that_was_asked_for_says_what_it_came_to(client, chat):
    result = found(client.post(f"{chat}/compact"))
    assert (result["path"], result["model"], result["memories"]) == ("model", "scripted", 1)
    assert result["level"] == 3
    # Eight exchanges, of which one stays beside the newest.
    assert result["messages"] == 14
    assert result["tokens_before"] > result["tokens_after"] > 0
    assert result["ratio"] == round(result["tokens_after"] / result["tokens_before"], 4)
    assert result["saved_percent"] == int(100 * (1 - result["tokens_after"] / result["tokens_before"]))
    assert result["duration_ms"] > 0
    assert result["banner"].startswith(f"Context summarised: {result['tokens_before']:,} → ")
    (decision,) = result["decisions"]
    assert (decision["kind"], decision["reason"]) == ("summarise", "somebody asked for it")
    (row,) = found(client.get(f"{chat}/compactions"))["compactions"]
    assert row == {name: result[name] for name in row}


def test_the_banner_stands_behind_what_it_covers_and_is_no_message(client, chat):
    before = entries(client, chat)
    result = found(client.post(f"{chat}/compact"))
    after = entries(client, chat)
    (banner,) = (entry for entry in after if entry.get("type") == "compaction")
    assert [entry for entry in after if entry != banner] == before
    assert after.index(banner) == banner["covers"] == 14
    assert banner == {
        "id": None,
        "role": "system",
        "type": "compaction",
        "content": result["banner"],
        "decision": result["decisions"][0]["id"],
        "covers": 14,
        "tokens_before": result["tokens_before"],
        "tokens_after": result["tokens_after"],
        "tokens_previous": 0,
        "created_at": result["decisions"][0]["created_at"],
    }
    # By its number a message is still found as before, and nobody finds the banner by its words.
    assert found(client.get(f"{chat}/messages/15"))["content"] == before[14]["content"]
    assert client.get("/api/chats/search", params={"q": "summarised"}).json()["hits"] == []


def test_the_banner_stays_when_the_statistics_are_forgotten(running, client, chat):
    found(client.post(f"{chat}/compact"))
    before = banners(client, chat)
    running.store.compactions.forget(time.time() + 1)
    assert client.get(f"{chat}/compactions").json()["compactions"] == []
    assert banners(client, chat) == before != []


def test_the_summary_in_force_is_what_the_model_is_shown(running, client, chat):
    assert found(client.get(f"{chat}/messages"))["compaction_summary"] is None
    found(client.post(f"{chat}/compact"))
    summary = found(client.get(f"{chat}/messages"))["compaction_summary"]
    assert "the pump with number P-4711 was set up" in summary
    assert found(client.get(f"{chat}/window"))["summary"] == summary
    go_on(client, chat, "And the shed?")
    (system,) = (message for message in running.provider.requests[-1].messages if message.role == "system")
    assert system.text == summary
    assert len(running.provider.requests[-1].messages) == 6


def go_on(client, chat, question):
    report = [entry for entry in entries(client, chat) if "type" not in entry]
    wire = [{"role": entry["role"], "content": entry["content"]} for entry in report]
    assert chat.endswith(post(client, [*wire, {"role": "user", "content": question}]))


def test_the_next_summary_goes_on_where_the_last_one_ended(client, chat):
    found(client.post(f"{chat}/compact"))
    for number in range(6):
        go_on(client, chat, f"The shed needs a roof of {number} square metres of wood. " * 12)
    second = found(client.post(f"{chat}/compact"))
    first, last = banners(client, chat)
    assert last["decision"] == second["decisions"][0]["id"]
    assert last["covers"] > first["covers"] == 14
    assert (first["tokens_previous"], last["tokens_previous"]) == (0, first["tokens_after"])
    assert last["tokens_before"] > last["tokens_previous"]
    assert [row["path"] for row in client.get(f"{chat}/compactions").json()["compactions"]] == ["model"] * 2


def test_a_moved_conversation_takes_forks_summary_and_search_along(running, client, chat):
    found(client.post(f"{chat}/compact"))
    name = chat.rpartition("/")[2]
    fork = found(client.post(f"{chat}/fork"), 201)["id"]
    moved = found(client.patch(chat, json={"project": "garden", "title": "Pumps"}))
    assert (moved["project"], moved["title"]) == ("garden", "Pumps")
    listed = client.get("/api/chats", params={"project": "garden"}).json()["chats"]
    assert {row["id"] for row in listed} == {name, fork}

    def search(project):
        return found(client.get("/api/chats/search", params={"q": "pump", "project": project}))["hits"]

    assert {hit["conversation"] for hit in search("garden")} <= {name, fork}
    assert search("garden")
    assert search("default") == []
    go_on(client, chat, "And the shed?")
    (system,) = (message for message in running.provider.requests[-1].messages if message.role == "system")
    assert "the pump with number P-4711 was set up" in system.text
    batch = {"chats": [name], "project": "default"}
    found(client.post("/api/chats/batch", json=batch))
    assert search("garden") == []
    assert search("default")
    refused(client.post("/api/chats/batch", json={**batch, "pinned": True}), 400, "project")
    refused(client.patch(chat, json={"project": "a/b"}), 400, "name")


def test_summarised_message_is_shown_in_full_with_its_decision(client, chat):
    whole = entries(client, chat)[1]
    result = found(client.post(f"{chat}/compact"))
    message = found(client.get(f"{chat}/messages/2"))
    assert message["content"] == whole["content"]
    (window,) = message["windows"]
    assert (window["state"], window["rules"], window["shown"]) == ("out", ["summary"], None)
    assert [decision["id"] for decision in window["decisions"]] == [result["decisions"][0]["id"]]


def test_undo_of_a_summary_gives_the_window_back(running, client, chat):
    before = running.provider.requests[0].messages
    found(client.post(f"{chat}/compact"))
    answer = found(client.post(f"{chat}/undo"))
    assert [result["kind"] for result in answer["undone"]] == ["summarise"]
    assert answer["back"] == ids_of(client, chat)[:14]
    assert banners(client, chat) == []
    assert found(client.get(f"{chat}/messages"))["compaction_summary"] is None
    go_on(client, chat, "And the shed?")
    assert running.provider.requests[-1].messages[: len(before)] == before


def test_undo_of_the_second_summary_puts_the_first_in_force_again(client, chat):
    found(client.post(f"{chat}/compact"))
    first = client.get(f"{chat}/messages").json()["compaction_summary"]
    for number in range(6):
        go_on(client, chat, f"The shed needs a roof of {number} square metres of wood. " * 12)
    found(client.post(f"{chat}/compact"))
    answer = found(client.post(f"{chat}/undo"))
    assert client.get(f"{chat}/messages").json()["compaction_summary"] == first
    assert ids_of(client, chat)[15] in answer["back"]
    assert ids_of(client, chat)[0] not in answer["back"]


def test_a_fork_has_the_summaries_on_its_way_only(client, chat):
    found(client.post(f"{chat}/compact"))
    (banner,) = banners(client, chat)
    beyond, within = (
        found(client.post(f"{chat}/fork", json={"message": at}), 201)["id"] for at in ("16", "5")
    )
    (carried,) = banners(client, f"/api/chats/{beyond}")
    assert (carried["content"], carried["covers"]) == (banner["content"], banner["covers"])
    assert found(client.get(f"/api/chats/{beyond}/messages"))["compaction_summary"]
    assert banners(client, f"/api/chats/{within}") == []
    assert found(client.get(f"/api/chats/{within}/messages"))["compaction_summary"] is None


def test_an_edit_further_up_leaves_the_summary_behind(client):
    wire = [{"role": message.role, "content": message.text} for message in garden_talk()]
    chat = f"/api/chats/{post(client, wire)}"
    found(client.post(f"{chat}/compact"))
    edited = [*wire[:4], {"role": "user", "content": "Rather tell me about the pond and its fish."}]
    other = f"/api/chats/{post(client, edited)}"
    assert banners(client, other) == []
    assert found(client.get(f"{other}/messages"))["compaction_summary"] is None


def test_where_nothing_can_be_summarised_the_next_step_is_said(client):
    chat = f"/api/chats/{ask(client, 'Hello')}"
    refused(client.post(f"{chat}/compact"), 400, "nothing to summarise", "Go on talking")
    fork = found(client.post(f"{chat}/fork"), 201)["id"]
    refused(client.post(f"/api/chats/{fork}/compact"), 400, "Ask something")


def test_two_at_once_are_one_too_many(serve):
    asked, go = threading.Event(), []

    def slow(request):
        if "=====" not in request.messages[-1].text:
            return "Noted."
        # Made inside the server's loop, whose business it is.
        go.append((asyncio.get_running_loop(), asyncio.Event()))
        asked.set()
        return [go[-1][1], said(request)]

    client = serve(ScriptedProvider(fallback=slow)).client
    chat, answers = garden(client), []
    first = threading.Thread(target=lambda: answers.append(client.post(f"{chat}/compact")))
    first.start()
    assert asked.wait(60)
    refused(client.post(f"{chat}/compact"), 409, "being summarised already")
    while first.is_alive():
        asked.clear()
        loop, event = go.pop()
        loop.call_soon_threadsafe(event.set)
        # The next question to the model, or the end.
        while first.is_alive() and not asked.wait(0.05):
            pass
    assert found(answers[0])["path"] == "model"


def test_requested_compaction_does_not_wait_for_idle_compaction(serve):
    waiting = threading.Event()

    def stuck_once(request):
        if "=====" in request.messages[-1].text and not waiting.is_set():
            waiting.set()
            return [asyncio.Event()]
        # With fewer of the numbers than our own summary has, the model's would not be taken.
        return said(request).replace("Done\n", f"Done\n- seen: beds {', '.join(map(str, range(40)))}\n")

    client = serve(ScriptedProvider(fallback=stuck_once), preset=preset_named("balanced")).client
    # So long that a summary is made as soon as it is quiet.
    chat = garden(client, exchanges=40)
    assert waiting.wait(60)
    assert found(client.post(f"{chat}/compact"))["path"] == "model"


@pytest.mark.parametrize("headers", [{"x-holdfast-project": "elsewhere"}, {"x-holdfast-kind": "group"}])
def test_what_belongs_to_others_cannot_be_summarised(running, client, chat, headers):
    before = len(running.provider.requests)
    refused(client.post(f"{chat}/compact", headers=headers), 404, "not found")
    refused(client.post("/api/chats/c_nothing/compact"), 404, "c_nothing")
    assert len(running.provider.requests) == before
    assert banners(client, chat) == []


def test_the_summary_of_the_model_is_the_one_that_is_kept(running, client, chat):
    """Guards the tests above: what the scripted model writes is good enough to be taken."""
    found(client.post(f"{chat}/compact"))
    summary = found(client.get(f"{chat}/messages"))["compaction_summary"]
    assert all(line in summary for line in ENGLISH.splitlines() if line.startswith("- ") and line != "- none")
