"""The doors to research: findings come in, are used again and go, inside their scope; trouble is told."""

import asyncio
import http.client
import json
import shutil
import threading
from contextlib import contextmanager

import httpx
import pytest

from holdfast.config import Settings
from holdfast.errors import FetchFailed
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.service import MemoryService
from holdfast.messages import Scope
from holdfast.research.finding import ResearchSource
from holdfast.research.library import Research
from holdfast.server.app import create_app
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider, serve_app
from holdfast.turn import TurnEngine
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from tests.research.builders import NOW
from tests.server.conftest import AT_REST
from tests.server.memory_server import CHESS, GARDEN, HOUSE, found, refused
from tests.waiting import wait_until

TEXT = "Am Samstag regnet es in Kassel."
PAGE = {"url": "https://www.wetter.com/kassel", "title": "Wetter", "text": TEXT, "at": NOW}


class Web:
    """What research finds outside; it fails as long as there is an `error`."""

    def __init__(self):
        self.asked = []
        self.error = None
        self.wait = None
        self.begun = threading.Event()

    async def __call__(self, question, mode, *, addresses=(), tell=None):
        self.asked.append((question, mode, tuple(addresses)))
        if self.error:
            raise self.error
        if self.wait:
            self.begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.wait.set()
        tell(1, 1, "https://found.example")
        return [
            ResearchSource("https://found.example", "Found", "In Bremen scheint am Sonntag die Sonne.", NOW),
            ResearchSource("https://broken.example", "", "", NOW, "It answered 500."),
        ]


@contextmanager
def serving(folder, web):
    store = open_store(f"sqlite:///{folder / 'holdfast.db'}")
    provider = ScriptedProvider()

    async def find():
        return provider

    chosen = ChosenEmbedder(EmbedderOptions("off", log=folder / "embedder.log"))
    parts = MemoryService(store, FolderWorkspace(folder / "workspace"), chosen)
    engine = TurnEngine(
        store,
        Upstreams(find, ScriptedProvider()),
        ModelRegistry(store, folder / "cache"),
        AT_REST,
        remembering=parts,
        research=Research(parts, web),
    )
    app = create_app(engine, Settings(home=folder))
    with serve_app(app) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        yield client, engine


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder, web = tmp_path_factory.mktemp("research"), Web()
    with serving(folder, web) as (client, engine):
        yield client, engine, web, folder / "workspace"


@pytest.fixture
def door(running):
    """The files are the truth: without them the next test begins with nothing."""
    _, _, web, notes = running
    shutil.rmtree(notes, ignore_errors=True)
    web.asked.clear()
    web.error = web.wait = None
    return running


@pytest.fixture
def client(door):
    return door[0]


@pytest.fixture
def web(door):
    return door[2]


def add(client, question="Wie wird das Wetter in Kassel?", headers=None, **more):
    body = {"question": question, "sources": [PAGE], **more}
    return found(client.post("/api/research", json=body, headers=headers), 201)


def listed(client, headers=None, **asked):
    page = found(client.get("/api/research", params=asked, headers=headers))
    return [finding["question"] for finding in page["findings"]]


def test_sources_that_a_client_brings_become_a_finding(client):
    result = add(client)
    assert result["summary"] == f"{TEXT} Quellen: wetter.com."
    assert (result["volatility"], result["reused"], result["expired"]) == ("daily", False, False)
    assert "text" not in result["sources"][0]
    whole = found(client.get(f"/api/research/{result['id']}"))
    assert whole["sources"][0]["text"] == TEXT
    assert whole["path"] == f"default/research/{result['id']}.md"
    assert "text" not in found(client.get(f"/api/research/{result['id']}?texts=off"))["sources"][0]


def test_known_question_returns_finding_with_age_unless_fresh_requested(client, web):
    result = add(client)
    for body in ({}, {"fetch": True}):
        known = found(client.post("/api/research", json={"question": "Wetter Kassel", **body}))
        assert (known["id"], known["reused"]) == (result["id"], True)
        assert 0 <= known["age"] < 60
    assert not web.asked
    refused(client.post("/api/research", json={"question": "Wetter Köln"}), 400, "fetch")
    refused(client.post("/api/research", json={"question": "Wetter Kassel", "fresh": True}), 400, "sources")
    fresh = {"question": "Wetter Kassel", "fetch": True, "fresh": True}
    assert not found(client.post("/api/research", json=fresh), 201)["reused"]


def test_fetch_progress_is_published_as_events_and_failing_sources_named(client, web):
    report, ready = [], threading.Event()

    def follow():
        with client.stream("GET", "/api/events") as stream:
            ready.set()
            for line in stream.iter_lines():
                if line.startswith("data:") and "phase" in line:
                    report.append(json.loads(line[5:]))
                    if report[-1]["phase"] == "done":
                        return

    follower = threading.Thread(target=follow)
    follower.start()
    assert ready.wait(60)
    result = found(client.post("/api/research", json={"question": "Wetter Bremen", "fetch": True}), 201)
    follower.join(60)
    assert [item["phase"] for item in report] == ["gathering", "done"]
    assert report[0]["what"] == "https://found.example"
    assert report[-1]["id"] == result["id"]
    assert [source["trouble"] for source in result["sources"]] == [None, "It answered 500."]
    body = {"question": "Wetter Bremen", "urls": ["https://named.example"], "mode": "deep"}
    found(client.post("/api/research", json=body), 201)
    assert web.asked[-1] == ("Wetter Bremen", "deep", ("https://named.example",))


def test_files_of_the_server_cannot_be_named(client, web):
    for path in ("/etc/passwd", "file:///etc/passwd", "./notes.md", "ftp://x.example"):
        refused(client.post("/api/research", json={"question": "Was?", "urls": [path]}), 400, "web address")
    assert not web.asked


def test_trouble_outside_is_no_fault_of_ours(client, web):
    web.error = FetchFailed("The search did not answer.", hint="See that it runs.")
    refused(client.post("/api/research", json={"question": "Was?", "fetch": True}), 502, "See that it runs")


def test_who_hangs_up_ends_what_was_being_fetched(client, web):
    web.wait = threading.Event()
    body = json.dumps({"question": "Was?", "fetch": True})
    plain = http.client.HTTPConnection(client.base_url.host, client.base_url.port, timeout=60)
    plain.request("POST", "/api/research", body, {"Content-Type": "application/json"})
    assert web.begun.wait(60)
    plain.close()
    assert web.wait.wait(60), "nobody waits for it any more"
    assert listed(client) == []


def test_a_finding_is_bound_to_the_next_message_of_a_conversation(client, door):
    store = door[1].store
    row = store.log.create(Scope())
    result = add(client, conversation=row.id)
    assert result["conversation"] == row.id
    assert store.log.get(row.id).settings["research"] == result["id"]
    other = store.log.create(Scope("anna"))
    body = {"question": "Was?", "sources": [PAGE], "conversation": other.id}
    refused(client.post("/api/research", json=body), 404, other.id)
    assert "research" not in store.log.get(other.id).settings
    assert len(listed(client)) == 1, "nothing is kept for a conversation of somebody else's"


def test_lists_have_pages_and_filters(client):
    for question in ("Wetter in Kassel", "Wer erfand das Telefon?", "Restaurants in Kassel"):
        add(client, question, mode="deep" if "Wer" in question else "quick")
    assert listed(client) == ["Restaurants in Kassel", "Wer erfand das Telefon?", "Wetter in Kassel"]
    assert listed(client, limit=1, offset=1) == ["Wer erfand das Telefon?"]
    assert listed(client, text="TELEFON") == ["Wer erfand das Telefon?"]
    assert listed(client, mode="deep") == ["Wer erfand das Telefon?"]
    assert listed(client, expired=True) == []
    assert found(client.get("/api/research?limit=1"))["total"] == 3


def test_a_broken_note_is_named_and_the_rest_is_listed(client, door):
    add(client)
    (door[3] / "default" / "research" / "r_broken.md").write_text("# Half a note")
    page = found(client.get("/api/research"))
    assert page["total"] == 1
    assert "r_broken.md" in page["troubles"][0]


def test_each_scope_has_its_own(client):
    mine, garden, chess = add(client), add(client, headers=GARDEN), add(client, headers=CHESS)
    assert len({mine["id"], garden["id"], chess["id"]}) == 3
    assert len(listed(client)) == len(listed(client, HOUSE)) == len(listed(client, CHESS)) == 1
    # Their notes are being summed up meanwhile: a file that is just replaced may be missing from one listing.
    wait_until(lambda: len(listed(client, GARDEN)) == 2)
    assert len(listed(client, GARDEN, scope="project")) == 1
    for headers, other in ((None, garden), (HOUSE, garden), (CHESS, mine), (GARDEN, chess)):
        refused(client.get(f"/api/research/{other['id']}", headers=headers), 404, other["id"])
        refused(client.delete(f"/api/research/{other['id']}", headers=headers), 404, other["id"])
    mine_again = add(client, headers=GARDEN, scope="user")
    assert mine_again["merged"] == [mine["id"]]


def test_forgetting_takes_it_out_of_lists_files_and_searches(client, door):
    result = add(client)
    query = {"q": "Samstag regnet Kassel"}
    assert found(client.get("/api/memory/search", params=query))["hits"]
    assert client.delete(f"/api/research/{result['id']}").status_code == 204
    assert not found(client.get("/api/memory/search", params=query))["hits"]
    assert not [path for path in door[3].rglob("r_*") if path.is_file()]
    refused(client.get(f"/api/research/{result['id']}"), 404, result["id"])
    refused(client.delete(f"/api/research/{result['id']}"), 404, result["id"])


def test_pruning_says_what_it_did(client):
    add(client)
    assert found(client.post("/api/research/prune")) == {"removed": [], "merged": [], "left": []}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": " ", "sources": [PAGE]},
        {"question": "Was?", "sources": [{"url": "https://x.example"}]},
        {"question": "Was?", "sources": [{**PAGE, "text": " "}]},
        {"question": "Was?", "sources": [{**PAGE, "at": "yesterday"}]},
        {"question": "Was?", "sources": [{**PAGE, "at": 1e300}]},
        {"question": "Was?", "sources": [PAGE] * 21},
        {"question": "Was?", "mode": "slow", "sources": [PAGE]},
        {"question": "Was?", "surprise": 1, "sources": [PAGE]},
        {"question": "x" * 2_001, "fetch": True},
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_kept(client, web, body):
    refused(client.post("/api/research", json=body), 400)
    assert listed(client) == []
    assert not web.asked


@pytest.mark.parametrize("more", [{}, {"fresh": True}, {"fetch": True}])
def test_an_empty_question_is_what_is_missing(client, more):
    refused(client.post("/api/research", json={"question": "", **more}), 400, "There is no question")


def test_without_a_memory_there_is_no_research(serve):
    refused(serve().client.get("/api/research"), 404, "no research")


def test_a_question_in_other_words_keeps_what_was_found_for_it(client, door):
    engine, result = door[1], add(client)
    body = {"model": "scripted", "text": "Wie wird es?", "research": result["id"]}
    text = client.post("/api/chats/turns", json=body).text
    start = next(json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: "))
    again = {
        "model": "scripted",
        "text": "Und wie wird es wirklich?",
        "conversation": start["conversation"],
        "edit": start["question"],
    }
    assert client.post("/api/chats/turns", json=again).status_code == 200
    lane = engine.store.lanes.of(start["conversation"])[0]
    shown = "\n".join(item["text"] for row in lane.report["messages"] for item in row.get("added", ()))
    assert TEXT in shown
    assert len(lane.report["messages"]) == 1, "it stands in the place of the first one"
