"""The doors to kept conversations: each does what it says, in its own scope, and explains failures."""

import pytest

from holdfast.testing.provider import ScriptedProvider
from tests.talks import long_talk

ELSEWHERE = {"x-holdfast-project": "elsewhere"}


def ask(client, *texts, **headers):
    """A question, after earlier questions and answers in turns; the id of its conversation."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    return post(client, messages, **headers)


def post(client, messages, **headers):
    body = {"model": "scripted", "messages": messages, "stream": False}
    response = client.post("/api/chat", json=body, headers=headers)
    assert response.status_code == 200, response.text
    return response.headers["x-holdfast-conversation"]


@pytest.fixture
def client(serve):
    return serve().client


@pytest.fixture
def chat(client):
    """A conversation that does not fit its window."""
    wire = [{"role": message.role, "content": message.text} for message in long_talk()]
    return f"/api/chats/{post(client, wire)}"


def ids_of(client, chat):
    return [message["id"] for message in client.get(f"{chat}/messages").json()["messages"]]


def found(response, status=200):
    assert response.status_code == status, response.text
    return response.json()


def refused(response, status, *words):
    """The error's sentence, which has these words in it."""
    assert response.status_code == status, response.text
    said = response.json()["error"]
    assert all(word in said for word in words), said
    return said


# Finding


def test_search_finds_messages_and_says_where_and_why(client):
    chat = ask(client, "The kestrel nests on the tower")
    ask(client, "Something about pumps")
    answer = found(client.get("/api/chats/search", params={"q": "kestrel"}))
    (hit,) = answer["hits"]
    assert (hit["conversation"], hit["role"], hit["matched"]) == (chat, "user", ["kestrel"])
    assert hit["title"] == "The kestrel nests on the tower"
    assert "kestrel" in hit["snippet"]
    assert hit["score"] > 0
    assert hit["message"] == ids_of(client, f"/api/chats/{chat}")[0]
    assert answer["empty"] is None


def test_search_covers_all_projects_unless_one_is_named(client):
    here = ask(client, "The kestrel nests on the tower")
    there = ask(client, "A kestrel and its young", **{"x-holdfast-project": "falconry"})

    def search(**asked):
        hits = found(client.get("/api/chats/search", **asked))["hits"]
        return {(hit["conversation"], hit["project"]) for hit in hits}

    both = {(here, "default"), (there, "falconry")}
    assert search(params={"q": "kestrel"}) == both
    assert search(params={"q": "kestral"}) == both
    assert search(params={"q": "kestrel young"}) == both
    assert search(params={"q": "kestrel", "project": "falconry"}) == {(there, "falconry")}
    assert search(params={"q": "kestrel"}, headers={"x-holdfast-project": "default"}) == {(here, "default")}
    assert found(client.get("/api/chats/projects")) == {"projects": ["default", "falconry"]}
    (row,) = found(client.get("/api/chats", params={"project": "falconry"}))["chats"]
    assert row["id"] == there


@pytest.mark.parametrize(("query", "why"), [("albatross", "nothing found"), ("", "nothing to search for")])
def test_an_empty_search_says_why(client, query, why):
    ask(client, "The kestrel nests on the tower")
    answer = found(client.get("/api/chats/search", params={"q": query}))
    assert (answer["hits"], answer["empty"]) == ([], why)


def test_a_search_that_makes_no_sense_is_refused(client):
    for query in ({}, {"q": "x", "limit": 0}, {"q": "x", "limit": 101}, {"q": "x", "limit": "y"}):
        refused(client.get("/api/chats/search", params=query), 400)


# Changing


def test_a_conversation_gets_another_title(client):
    chat = ask(client, "Hello")
    assert found(client.patch(f"/api/chats/{chat}", json={"title": "  Greetings "}))["title"] == "Greetings"
    assert client.get("/api/chats").json()["chats"][0]["title"] == "Greetings"


def test_a_change_that_makes_no_sense_is_refused_and_changes_nothing(client):
    chat = ask(client, "Hello")
    titles = (7, "   ", None, "x" * 301)
    for body in ({}, [], {"titel": "x"}, *({"title": title} for title in titles)):
        refused(client.patch(f"/api/chats/{chat}", json=body), 400)
    refused(client.patch(f"/api/chats/{chat}", content=b"{title"), 400)
    assert client.get("/api/chats").json()["chats"][0]["title"] == "Hello"


def test_a_deleted_conversation_is_gone_from_everywhere(client):
    chat = ask(client, "The kestrel nests on the tower")
    assert client.delete(f"/api/chats/{chat}").status_code == 204
    assert client.get("/api/chats").json()["chats"] == []
    assert client.get("/api/chats/search", params={"q": "kestrel"}).json()["hits"] == []
    refused(client.get(f"/api/chats/{chat}/messages"), 404)
    refused(client.delete(f"/api/chats/{chat}"), 404)


# Forking


def test_a_fork_has_the_same_words_up_to_its_message(client):
    chat = f"/api/chats/{ask(client, 'One', 'Two', 'Three')}"
    whole = found(client.post(f"{chat}/fork"), 201)
    part = found(client.post(f"{chat}/fork", json={"message": ids_of(client, chat)[1], "title": "Part"}), 201)
    assert whole["title"] == "One (2)"
    assert part["title"] == "Part"
    assert ids_of(client, f"/api/chats/{whole['id']}") == ids_of(client, chat)
    assert ids_of(client, f"/api/chats/{part['id']}") == ids_of(client, chat)[:2]


def test_deleting_a_fork_leaves_its_origin_whole(client):
    chat = f"/api/chats/{ask(client, 'One', 'Two', 'Three')}"
    before = ids_of(client, chat)
    fork = found(client.post(f"{chat}/fork"), 201)["id"]
    assert client.delete(f"/api/chats/{fork}").status_code == 204
    assert ids_of(client, chat) == before


def test_a_fork_from_nowhere_is_refused(client):
    chat = f"/api/chats/{ask(client, 'One')}"
    for body, status in (
        ({"message": "m_nothing"}, 404),
        ({"message": ""}, 404),
        ({"message": "99"}, 404),
        ({"message": 3}, 400),
        ({"from": "x"}, 400),
    ):
        refused(client.post(f"{chat}/fork", json=body), status)
    assert len(client.get("/api/chats").json()["chats"]) == 1


def test_a_fork_has_no_report_before_something_is_sent_in_it(client, chat):
    fork = found(client.post(f"{chat}/fork"), 201)["id"]
    refused(client.get(f"/api/chats/{fork}/window"), 404, "nothing", "asked")


# Pinning


def test_a_pinned_message_is_shown_as_such_until_it_is_unpinned(client):
    chat = f"/api/chats/{ask(client, 'One', 'Two', 'Three')}"
    first, second, *_ = ids_of(client, chat)
    assert found(client.post(f"{chat}/messages/{first}/pin"))["pinned"] is True
    shown = client.get(f"{chat}/messages").json()["messages"]
    assert [message.get("pinned") for message in shown] == [True, None, None, None]
    assert client.get(f"{chat}/messages/{first}").json()["pinned"] is True
    assert client.get(f"{chat}/messages/{second}").json()["pinned"] is False
    assert found(client.delete(f"{chat}/messages/{first}/pin"))["pinned"] is False
    assert client.get(f"{chat}/messages/{first}").json()["pinned"] is False
    refused(client.delete(f"{chat}/messages/{first}/pin"), 400, "not pinned")


def test_a_pinned_message_is_still_sent_whole_when_others_are_shortened(serve):
    talk = long_talk()
    running = serve(ScriptedProvider([message.text for message in talk if message.role == "assistant"]))
    wire = [{"role": message.role, "content": message.text} for message in talk]
    chat = f"/api/chats/{post(running.client, wire[:1])}"
    assert found(running.client.post(f"{chat}/messages/2/pin"))["content"] == talk[1].text
    for end in range(3, len(wire) + 1, 2):
        assert chat.endswith(post(running.client, wire[:end]))
    sent = running.provider.requests[-1].messages
    assert talk[1] in sent
    assert talk[3] not in sent


def test_a_pin_that_is_too_large_is_refused_with_numbers(client):
    chat = f"/api/chats/{ask(client, 'word ' * 4000)}"
    first, *_ = ids_of(client, chat)
    refused(client.post(f"{chat}/messages/{first}/pin"), 400, "a quarter", "Unpin something")
    assert client.get(f"{chat}/messages/{first}").json()["pinned"] is False


# Looking and undoing


def test_the_window_is_reported_with_what_was_decided(client, chat):
    report = found(client.get(f"{chat}/window"))
    assert report["window"] == 8192
    assert report["level"] == 2
    assert {made["rule"] for made in report["decisions"]} >= {"long", "relevance"}
    assert report["vetoes"] == []
    assert report["windows"] == [8192]
    assert found(client.get(f"{chat}/window", params={"window": 8192})) == report
    refused(client.get(f"{chat}/window", params={"window": 4711}), 404, "8192")
    refused(client.get(f"{chat}/window", params={"window": "x"}), 400)
    # What somebody pins has no reason.
    gone = next(made["messages"][-1] for made in report["decisions"] if made["rule"] == "relevance")
    found(client.post(f"{chat}/messages/{gone}/pin"))
    german = found(client.get(f"{chat}/window", headers={"accept-language": "de-DE"}))
    reasons = {made["rule"]: made["reason"] for made in german["decisions"]}
    assert reasons["pin"] is None
    assert reasons["relevance"].startswith("der Verlauf hatte")


def shortening(report):
    """The decisions that took something away; evidence for a question only comes and goes."""
    return [made for made in report["decisions"] if not made["rule"].startswith("recalled")]


def test_a_message_tells_how_it_stands(client, chat):
    report = client.get(f"{chat}/window").json()
    cut, gone = (made["messages"][-1] for made in shortening(report))
    shortened = found(client.get(f"{chat}/messages/{cut}"))
    (window,) = shortened["windows"]
    assert (window["state"], window["rules"]) == ("shortened", ["long"])
    assert "[shortened:" in window["shown"]["content"]
    assert len(window["shown"]["content"]) < len(shortened["content"])
    assert [made["id"] for made in window["decisions"]] == [shortening(report)[0]["id"]]
    (window,) = found(client.get(f"{chat}/messages/{gone}"))["windows"]
    assert (window["state"], window["rules"], window["shown"]) == ("out", ["relevance"], None)
    (window,) = found(client.get(f"{chat}/messages/{ids_of(client, chat)[-2]}"))["windows"]
    assert (window["state"], shortening(window)) == ("in", [])


def test_a_message_knows_its_neighbours_in_the_tree(client):
    chat = f"/api/chats/{ask(client, 'One', 'Two', 'Three')}"
    one, two, three, four = ids_of(client, chat)
    assert found(client.get(f"{chat}/messages/{two}"))["children"] == [three]
    assert found(client.get(f"{chat}/messages/{two}"))["parent"] == one
    assert found(client.get(f"{chat}/messages/{four}"))["siblings"] == []


def test_compactions_list_every_batch_with_its_decisions(client, chat):
    rows = found(client.get(f"{chat}/compactions"))["compactions"]
    assert [(row["level"], row["strategy"]) for row in rows] == [(1, "prune"), (2, "relevance")]
    for row in rows:
        assert row["tokens_freed"] == row["tokens_before"] - row["tokens_after"] > 0
        assert row["duration_ms"] >= 0
        assert row["messages"] == len({name for made in row["decisions"] for name in made["messages"]})
    made = {one["id"] for row in rows for one in row["decisions"]}
    assert made == {one["id"] for one in shortening(client.get(f"{chat}/window").json())}


def test_undo_takes_back_the_last_batch_and_then_the_one_before(client, chat):
    before = client.get(f"{chat}/window").json()["decisions"]
    (undone,) = found(client.post(f"{chat}/undo"))["undone"]
    assert undone["rule"] == "relevance"
    assert undone["undone_at"] > 0
    after = client.get(f"{chat}/window").json()
    assert [made["id"] for made in after["vetoes"]] == [undone["id"]]
    assert [made["id"] for made in after["decisions"]] == [
        made["id"] for made in before if made != before[-1]
    ]
    assert [made["rule"] for made in found(client.post(f"{chat}/undo"))["undone"]] == ["long"]
    refused(client.post(f"{chat}/undo"), 404, "nothing")
    # The record of what was done stays, with what was undone marked as such.
    rows = client.get(f"{chat}/compactions").json()["compactions"]
    assert all(made["undone_at"] for row in rows for made in row["decisions"])


def test_undo_takes_back_one_decision_by_its_id(client, chat):
    first, second = shortening(client.get(f"{chat}/window").json())
    (undone,) = found(client.post(f"{chat}/undo", json={"decision": first["id"]}))["undone"]
    assert undone["id"] == first["id"]
    assert [made["id"] for made in shortening(client.get(f"{chat}/window").json())] == [second["id"]]
    refused(client.post(f"{chat}/undo", json={"decision": first["id"]}), 404, "in force")


def test_an_undo_of_nothing_is_refused(client, chat):
    for body, status in (({"decision": "d_nothing"}, 404), ({"decision": 1}, 400), (7, 400)):
        refused(client.post(f"{chat}/undo", json=body), status)
    assert client.get(f"{chat}/window").json()["vetoes"] == []


def test_where_nothing_was_done_there_is_nothing_to_undo(client):
    refused(client.post(f"/api/chats/{ask(client, 'Hello')}/undo"), 404, "nothing was shortened")


# Every door


DOORS = [
    ("GET", "/messages"),
    ("GET", "/messages/1"),
    ("GET", "/window"),
    ("GET", "/compactions"),
    ("PATCH", ""),
    ("POST", "/fork"),
    ("POST", "/undo"),
    ("POST", "/compact"),
    ("POST", "/messages/1/pin"),
    ("DELETE", "/messages/1/pin"),
    ("DELETE", ""),
]


@pytest.mark.parametrize("headers", [ELSEWHERE, {"x-holdfast-kind": "group"}], ids=["project", "group"])
def test_a_conversation_of_another_scope_is_not_there(client, chat, headers):
    before = client.get("/api/chats").json(), client.get(f"{chat}/window").json()
    for method, door in DOORS:
        body = {"title": "Mine now"} if method == "PATCH" else None
        refused(client.request(method, f"{chat}{door}", json=body, headers=headers), 404, "not found")
    assert client.get("/api/chats/search", params={"q": "subject03"}, headers=headers).json()["hits"] == []
    assert (client.get("/api/chats").json(), client.get(f"{chat}/window").json()) == before


def test_a_conversation_that_never_was_is_not_found(client):
    for method, door in DOORS:
        body = {"title": "x"} if method == "PATCH" else None
        refused(client.request(method, f"/api/chats/c_nothing{door}", json=body), 404, "c_nothing")


def test_a_message_that_is_not_in_the_conversation_is_not_found(client):
    chat, other = (f"/api/chats/{ask(client, text)}" for text in ("Hello", "Goodbye"))
    for name in ("m_nothing", "77", ids_of(client, other)[0]):
        for method, door in (("GET", ""), ("POST", "/pin"), ("DELETE", "/pin")):
            refused(client.request(method, f"{chat}/messages/{name}{door}"), 404, name)


def test_the_doors_are_in_the_api_description(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert {"get", "patch", "delete"} <= {
        method for path, methods in paths.items() if path.startswith("/api/chats") for method in methods
    }
    assert "/api/chats/{conversation}/messages/{message}/pin" in paths
