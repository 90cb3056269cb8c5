"""Turns for the page: told as they go, carried on without anybody, put back where nothing came of them."""

import base64
import json
from collections import deque
from collections.abc import Iterator
from itertools import count

import httpx
import pytest

from holdfast.errors import Unreachable
from holdfast.messages import Thinking, ToolCall
from holdfast.testing.provider import ScriptedProvider
from tests.server.conftest import running
from tests.server.memory_server import remembering
from tests.server.queued_server import lined

NUMBERS = count()
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(16)).decode()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One server for most of these tests, since starting one takes longer than a turn; and its answers."""
    answers = deque()
    provider = ScriptedProvider(fallback=lambda _: answers.popleft() if answers else "Yes.")
    with running(tmp_path_factory.mktemp("holdfast"), provider) as holdfast:
        yield holdfast, answers


@pytest.fixture
def holdfast(shared):
    """Given what the model is to answer: a running Holdfast, in a project of the test's own."""

    def given(*said):
        results, answers = shared
        answers.clear()
        answers.extend(said)
        results.provider.requests.clear()
        results.client.headers["x-holdfast-project"] = f"p{next(NUMBERS)}"
        return results

    return given


def events_in(lines: Iterator[str]) -> Iterator[tuple[int, str, dict]]:
    """What is told, one after the other: id, kind, data."""
    event = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line:
            event[name] = value
        elif "data" in event:
            yield int(event["id"]), event["event"], json.loads(event["data"])
            event = {}


def asked(client: httpx.Client, text: str = "", *, headers=None, **fields) -> dict[str, list[dict]]:
    """A turn to its end: what was told, by kind."""
    body = {"model": "scripted", "text": text, **fields}
    with client.stream("POST", "/api/chats/turns", json=body, headers=headers) as response:
        assert response.status_code == 200, response.read()
        report: dict[str, list[dict]] = {}
        for _, kind, data in events_in(response.iter_lines()):
            report.setdefault(kind, []).append(data)
    return report


def started(report: dict[str, list[dict]]) -> str:
    return report["start"][0]["conversation"]


def said(client: httpx.Client, conversation: str, **params) -> list[tuple[str, str]]:
    rows = read(client, conversation, **params)["messages"]
    return [(row["role"], row["content"]) for row in rows]


def read(client: httpx.Client, conversation: str, **params) -> dict:
    response = client.get(f"/api/chats/{conversation}/messages", params=params)
    assert response.status_code == 200, response.text
    return response.json()


def refused(client: httpx.Client, status: int, *words: str, **fields) -> None:
    response = client.post("/api/chats/turns", json={"model": "scripted", **fields})
    assert response.status_code == status, response.text
    assert all(word in response.json()["error"] for word in words), response.text


# Asking


def test_a_turn_is_told_from_its_start_to_its_end(holdfast):
    answer = [Thinking("hm, "), Thinking("well"), "# Yes\n\nIt *is*."]
    client = holdfast(answer).client
    report = asked(client, "Is it?")
    start, done = report["start"][0], report["done"][0]
    assert start["chat"]["title"] == "Is it?"
    assert "".join(item["text"] for item in report["thinking"]) == "hm, well"
    blocks = {entry["block"]: entry["html"] for entry in report["html"]}
    assert blocks == {0: "<h1>Yes</h1>\n", 1: "<p>It <em>is</em>.</p>\n"}
    assert report["report"][0]["window"] == 8192
    assert {section["name"] for section in report["report"][0]["sections"]} >= {"question", "reserve"}
    assert (done["text"], done["finish"], done["trouble"]) == ("# Yes\n\nIt *is*.", "stop", None)
    rows = read(client, started(report))["messages"]
    assert [row["id"] for row in rows] == [start["question"], done["message"]]


def test_a_conversation_goes_on_with_what_was_said_before(holdfast):
    output = holdfast("One.", "Two.")
    first = asked(output.client, "Count.")
    asked(output.client, "Go on.", conversation=started(first))
    sent = [message.text for message in output.provider.requests[1].messages]
    assert sent == ["Count.", "One.", "Go on."]


def test_tool_calls_of_an_answer_are_told(holdfast):
    client = holdfast([ToolCall("look", '{"at": 1}', "c1")]).client
    answer = asked(client, "Look.")
    assert answer["tool"] == [{"id": "c1", "name": "look", "arguments": '{"at": 1}'}]
    assert answer["done"][0]["finish"] == "tool_calls"


def test_thousands_of_tiny_pieces_are_told_in_few_events(holdfast):
    client = holdfast(["x" for _ in range(5_000)]).client
    answer = asked(client, "Say much.")
    assert answer["done"][0]["text"] == "x" * 5_000
    assert len(answer["html"]) < 100


def test_what_a_model_says_is_never_html_of_its_own(holdfast):
    hostile = (
        "<script>alert(1)</script> [x](javascript:alert(1)) ![y](http://elsewhere/z.png) <img onerror=a>"
    )
    client = holdfast(hostile).client
    answer = asked(client, hostile)
    (shown,) = [row["html"] for row in read(client, started(answer), html=True)["messages"] if "html" in row]
    for html in (answer["html"][-1]["html"], shown):
        assert not any(bad in html for bad in ("<script", "<img", 'href="javascript'))
        assert "&lt;script&gt;" in html


def test_attached_files_and_images_reach_model_separate_from_question_text(holdfast):
    output = holdfast()
    file = {"name": "notes ünd.md", "data": base64.b64encode(b"```\nsecret plan\n```").decode()}
    answer = asked(output.client, "What is in it?", files=[file], images=[PNG])
    (question,) = output.provider.requests[0].messages
    assert "secret plan" in question.text
    assert "[file notes ünd.md]\n````\n" in question.text
    assert question.images[0].media_type == "image/png"
    row = read(output.client, started(answer), html=True)["messages"][0]
    assert row["text"] == "What is in it?"
    assert row["files"] == [{"name": "notes ünd.md", "characters": 19}]
    picture = output.client.get(f"/api/chats/{started(answer)}/messages/{row['id']}/images/0")
    assert (picture.headers["content-type"], picture.content[:4]) == ("image/png", b"\x89PNG")
    assert "sandbox" in picture.headers["content-security-policy"]


def test_what_makes_no_sense_is_refused_and_leaves_nothing_behind(holdfast):
    client = holdfast().client
    refused(client, 400, "no question")
    refused(client, 400, "conversation", text="x", edit="m_1")
    refused(client, 400, "base64", text="x", files=[{"name": "a", "data": "!"}])
    refused(client, 400, "picture", text="x", images=[base64.b64encode(b"no").decode()])
    refused(
        client,
        400,
        "not a text",
        text="x",
        files=[{"name": "a", "data": base64.b64encode(b"\x7fELF\0\0\0\0").decode()}],
    )
    refused(client, 404, "not found", text="x", conversation="c_01234567890123456789012345")
    assert client.get("/api/chats").json()["chats"] == []


def test_a_group_is_another_place(holdfast):
    client = holdfast().client
    answer = asked(client, "Hello all", kind="group")
    assert client.get(f"/api/chats/{started(answer)}/messages").status_code == 404
    group = client.get(f"/api/chats/{started(answer)}/messages", headers={"x-holdfast-kind": "group"})
    assert group.json()["chat"]["kind"] == "group"


# Asking anew


def test_edited_question_becomes_version_and_earlier_version_can_be_restored(holdfast):
    client = holdfast("About cats.", "About dogs.").client
    first = asked(client, "Cats?")
    chat, cats = started(first), first["start"][0]["question"]
    second = asked(client, "Dogs?", conversation=chat, edit=cats)
    dogs = second["start"][0]["question"]
    assert said(client, chat) == [("user", "Dogs?"), ("assistant", "About dogs.")]
    assert read(client, chat, html=True)["messages"][0]["versions"] == [cats, dogs]
    assert client.put(f"/api/chats/{chat}/head", json={"message": cats}).status_code == 200
    assert said(client, chat) == [("user", "Cats?"), ("assistant", "About cats.")]


def test_an_answer_is_wanted_once_more(holdfast):
    output = holdfast("Yes.", "No.")
    first = asked(output.client, "Is it?")
    chat, yes = started(first), first["done"][0]["message"]
    no = asked(output.client, conversation=chat, regenerate=yes)["done"][0]["message"]
    assert said(output.client, chat) == [("user", "Is it?"), ("assistant", "No.")]
    assert [message.text for message in output.provider.requests[1].messages] == ["Is it?"]
    assert read(output.client, chat, html=True)["messages"][1]["versions"] == [yes, no]


def test_the_same_words_once_more_are_one_answer(holdfast):
    client = holdfast("Yes.", "Yes.").client
    first = asked(client, "Is it?")
    again = asked(client, conversation=started(first), regenerate=first["done"][0]["message"])
    assert again["done"][0]["message"] == first["done"][0]["message"]


def test_an_edit_keeps_pictures_and_files_that_are_not_named_anew(holdfast):
    output = holdfast()
    file = {"name": "a.txt", "data": base64.b64encode(b"hello").decode()}
    first = asked(output.client, "One", files=[file], images=[PNG])
    asked(output.client, "Two", conversation=started(first), edit=first["start"][0]["question"])
    (question,) = output.provider.requests[1].messages
    assert question.text.startswith("Two\n\n[file a.txt]")
    assert len(question.images) == 1


@pytest.mark.parametrize("how", ["edit", "regenerate"])
def test_where_nothing_comes_of_it_the_conversation_ends_where_it_did(holdfast, how):
    client = holdfast("Yes.", Unreachable("the server is gone", hint="Start it.")).client
    first = asked(client, "Is it?")
    chat = started(first)
    question = first["start"][0]["question"] if how == "edit" else first["done"][0]["message"]
    fields = {"edit": question, "text": "Was it?"} if how == "edit" else {"regenerate": question}
    answer = asked(client, conversation=chat, **fields)
    assert answer["error"] == [{"message": "the server is gone", "hint": "Start it."}]
    assert said(client, chat) == [("user", "Is it?"), ("assistant", "Yes.")]


def test_a_question_that_was_not_answered_stays_and_can_be_answered(holdfast):
    client = holdfast(Unreachable("gone"), "Yes.").client
    first = asked(client, "Is it?")
    assert first["error"][0]["message"] == "gone"
    asked(client, conversation=started(first), regenerate=first["start"][0]["question"])
    assert said(client, started(first)) == [("user", "Is it?"), ("assistant", "Yes.")]


def test_only_questions_are_edited(holdfast):
    client = holdfast().client
    first = asked(client, "Is it?")
    fields = {"conversation": started(first), "edit": first["done"][0]["message"], "text": "x"}
    refused(client, 400, "only a question", **fields)


# Following


@pytest.fixture
def line(tmp_path):
    with lined(tmp_path) as result:
        yield result


def left_after(line, kind: str, text: str) -> tuple[str, int, str]:
    """Asks, reads up to the first event of a kind, and leaves: conversation, that event's id, job."""
    body = {"model": "scripted", "text": text}
    with line.client.stream("POST", "/api/chats/turns", json=body) as response:
        for number, report, data in events_in(response.iter_lines()):
            if report == "start":
                chat, job = data["conversation"], data["job"]
            if report == kind:
                return chat, number, job
    raise AssertionError(f"no {kind}")


def test_a_turn_that_nobody_follows_goes_on_to_its_end(line):
    chat, _, job = left_after(line, "start", "one two three")
    line.provider.open()
    assert line.wait_for("done")[0]["job"] == job
    assert said(line.client, chat)[-1] == ("assistant", "You said one two three")


def test_who_comes_back_reads_on_and_two_may_read_at_once(line):
    line.provider.let(2)
    chat, seen, job = left_after(line, "html", "one two three")
    assert read(line.client, chat, html=True)["turn"] == job
    with (
        line.client.stream("GET", f"/api/chats/turns/{job}") as whole,
        line.client.stream("GET", f"/api/chats/turns/{job}", headers={"last-event-id": str(seen)}) as rest,
    ):
        line.provider.open()
        report, later = list(events_in(whole.iter_lines())), list(events_in(rest.iter_lines()))
    assert report[0][1] == "start"
    assert report[-1][1] == later[-1][1] == "done"
    assert all(number > seen for number, _, _ in later)
    assert [data["html"] for _, kind, data in report if kind == "html"][
        -1
    ] == "<p>You said one two three</p>\n"
    # It can still be read for a while, and is told to be over.
    assert read(line.client, chat, html=True)["turn"] is None
    with line.client.stream("GET", f"/api/chats/turns/{job}", params={"after": report[-2][0]}) as again:
        assert [kind for _, kind, _ in events_in(again.iter_lines())] == ["done"]


def test_a_turn_of_another_project_is_as_good_as_missing(line):
    _, _, job = left_after(line, "start", "one")
    elsewhere = line.client.get(f"/api/chats/turns/{job}", headers={"x-holdfast-project": "elsewhere"})
    assert elsewhere.status_code == 404
    line.provider.open()


def test_one_answer_at_a_time_in_a_conversation(line):
    chat, _, job = left_after(line, "start", "one")
    refused(line.client, 409, "being written", job, text="two", conversation=chat)
    line.provider.open()
    line.wait_for("done")


def test_queued_turn_reports_position_and_cancelled_question_is_kept(line):
    left_after(line, "start", "first")
    with line.client.stream(
        "POST", "/api/chats/turns", json={"model": "scripted", "text": "second"}
    ) as waits:
        events = events_in(waits.iter_lines())
        _, _, start = next(events)
        states = [data for _, kind, data in (next(events),) if kind == "state"]
        assert (states[0]["status"], states[0]["position"]) == ("queued", 1)
        assert line.client.delete(f"/api/jobs/{start['job']}").status_code == 200
        assert [kind for _, kind, _ in events][-1] == "error"
    line.provider.let(2)
    line.provider.open()
    line.wait_for("done")


def test_what_was_said_before_a_stop_is_an_answer(line):
    line.provider.let(2)
    with line.client.stream(
        "POST", "/api/chats/turns", json={"model": "scripted", "text": "a b"}
    ) as response:
        events = events_in(response.iter_lines())
        _, _, start = next(events)
        next(data for _, kind, data in events if kind == "html")
        line.client.delete(f"/api/jobs/{start['job']}")
        done = next(data for _, kind, data in events if kind == "done")
    assert (done["finish"], done["text"]) == ("cut", "You said")
    assert "cancelled" in done["trouble"]["message"]
    assert said(line.client, start["conversation"])[-1] == ("assistant", "You said")


# Reading


def test_a_long_conversation_is_read_from_its_end_page_by_page(holdfast):
    client = holdfast().client
    chat = started(asked(client, "0"))
    for number in range(1, 4):
        asked(client, str(number), conversation=chat)
    last = read(client, chat, limit=3)
    older = read(client, chat, limit=3, before=last["next"])
    oldest = read(client, chat, limit=3, before=older["next"])
    pages = [[row["content"] for row in page["messages"]] for page in (oldest, older, last)]
    assert pages == [["0", "Yes."], ["1", "Yes.", "2"], ["Yes.", "3", "Yes."]]
    assert oldest["next"] is None
    assert last["newer"] is None
    assert [read(client, chat, limit=3, after=older["newer"])[name] for name in ("messages", "newer")] == [
        last["messages"],
        None,
    ]
    around = read(client, chat, limit=3, around=older["messages"][1]["id"])
    assert [row["content"] for row in around["messages"]] == ["1", "Yes.", "2"]
    for params, status in (
        ({"limit": 0}, 400),
        ({"before": "m_x"}, 404),
        ({"before": "a", "after": "b"}, 400),
    ):
        assert client.get(f"/api/chats/{chat}/messages", params=params).status_code == status


def test_an_answer_has_its_numbers(holdfast):
    client = holdfast().client
    chat = started(asked(client, "Is it?"))
    answer = read(client, chat, html=True)["messages"][1]
    assert (answer["numbers"]["tokens"], answer["numbers"]["window"]) == (1, 8192)


def test_memories_that_were_used_are_told_with_their_source(tmp_path):
    with remembering(tmp_path) as door:
        client = door.client
        client.post("/api/memory", json={"text": "The boiler was repaired by Ms Kestrel."})
        report = asked(client, "Who repaired the boiler?")
        (memory,) = report["done"][0]["memories"]
        assert memory["text"] == "The boiler was repaired by Ms Kestrel."
        chat, answer = started(report), report["done"][0]["message"]
        path = f"/api/chats/{chat}/messages/{answer}/memories"
        assert client.get(path).json()["memories"] == [memory]
        assert read(client, chat, html=True)["messages"][1]["memories"] == 1
        assert client.delete(f"/api/memory/{memory['id']}").status_code == 204
        assert client.get(path).json()["memories"] == []


def test_file_name_completion_lists_allowed_files_only(serve, tmp_path_factory):
    folder = tmp_path_factory.mktemp("things")
    (folder / "inner").mkdir()
    for name in ("alpha.txt", "beta.txt", ".env", "inner/alps.md"):
        (folder / name).write_text("x")
    client = serve(file_roots=str(folder), file_references=True).client
    results = {
        q: client.get("/api/files/complete", params={"q": q}).json()["files"] for q in ("al", "inner/", "")
    }
    assert results["al"] == [{"path": "alpha.txt", "folder": False}]
    assert results["inner/"] == [{"path": "inner/alps.md", "folder": False}]
    assert [item["path"] for item in results[""]] == ["alpha.txt", "beta.txt", "inner/"]
    for outside in ("../", "/etc/", ".e"):
        assert client.get("/api/files/complete", params={"q": outside}).json()["files"] == []


def test_nobody_else_is_told_a_name(serve, tmp_path):
    client = serve(file_roots=str(tmp_path)).client
    assert client.get("/api/files/complete").json() == {"allowed": False, "files": []}
