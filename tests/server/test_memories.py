"""The doors to memory: each does what it says, inside its own scope, and explains what it cannot do."""

import asyncio
import http.client
import json
import shutil
import threading
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from holdfast.errors import StoreError
from holdfast.events import Events
from holdfast.memory.base import KINDS, SummaryNote
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.service import MemoryService
from holdfast.memory.workspace import InMemoryWorkspace, Note, NoteEntry
from holdfast.messages import Scope
from holdfast.server.memories import ReindexJob
from holdfast.store import open_store
from tests.server.memory_server import CHESS, GARDEN, GARDEN_GROUP, HOUSE, found, refused, remembering
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with remembering(tmp_path_factory.mktemp("memory")) as service:
        yield service


@pytest.fixture
def door(running):
    """The files are the truth: without them the next test begins with nothing."""
    shutil.rmtree(running.notes, ignore_errors=True)
    return running


@pytest.fixture
def client(door):
    return door.client


def keep(client, text, headers=None, **more):
    return found(client.post("/api/memory", json={"text": text, **more}, headers=headers), 201)["memory"]


def texts(client, headers=None, **asked):
    page = found(client.get("/api/memory/list", params=asked, headers=headers))
    return [memory["text"] for memory in page["memories"]]


def search(client, query, headers=None, **asked):
    return found(client.get("/api/memory/search", params={"q": query, **asked}, headers=headers))


# Keeping and reading


def test_what_is_kept_is_listed_newest_first_and_in_pages(client):
    for number in range(5):
        keep(client, f"Gate {number} opens at {number + 6} in the morning")
    page = found(client.get("/api/memory/list", params={"limit": 2, "offset": 1}))
    assert [memory["text"][:6] for memory in page["memories"]] == ["Gate 3", "Gate 2"]
    assert page["total"] == 5
    assert texts(client, text="gate 4") == ["Gate 4 opens at 10 in the morning"]


def test_kinds_are_told_apart(client):
    keep(client, "The kestrel nests on the tower")
    keep(client, "We chose SQLite", kind="decision")
    keep(client, "Called the gardener", kind="note")
    assert texts(client, kind="decision") == ["We chose SQLite"]
    assert {memory["kind"] for memory in found(client.get("/api/memory/list"))["memories"]} < set(KINDS)


def test_summaries_of_conversations_are_listed_if_they_are_asked_for(client, door):
    garden = Scope(project="garden")
    row = door.store.log.create(garden, title="About birds")
    note = SummaryNote(
        "s_1", row.id, row.title, "## Requests\n- Count the herons", garden, 4, "m_1", "m_4", 1.7e9, "en"
    )
    door.parts.library.write_summary(note)
    door.parts.library.write_summary(replace(note, conversation="c_of_nobody", scope=Scope()))
    keep(client, "The kestrel nests on the tower", GARDEN)
    for word in ("kind", "type"):
        asked = {word: "summary", "scope": "project", "limit": 1}
        page = found(client.get("/api/memory/list", params=asked, headers=GARDEN))
        (listed,) = page["memories"]
        assert (listed["id"], listed["kind"], page["total"]) == ("s_1", "summary", 1)
        assert listed["text"] == "# About birds\n\n## Requests\n- Count the herons"
        assert page["conversations"][row.id]["title"] == "About birds"
    assert texts(client, GARDEN) == ["The kestrel nests on the tower"]
    assert texts(client, GARDEN, type="decision") == []


def test_a_memory_shows_its_file_and_can_be_corrected(client, door):
    name = keep(client, "The kestrel nests on the tower")["id"]
    shown = found(client.get(f"/api/memory/{name}"))
    assert (shown["text"], shown["path"]) == ("The kestrel nests on the tower", "default/MEMORY.md")
    changes = {"text": "The falcon nests on the tower", "importance": 0.2, "pinned": True}
    changed = found(client.put(f"/api/memory/{name}", json=changes))
    assert {key: changed[key] for key in changes} == changes
    assert "falcon" in (door.notes / "default" / "MEMORY.md").read_text()
    assert found(client.put(f"/api/memory/{name}", json={"kind": "note"}))["path"].startswith(
        "default/memory/"
    )


def test_repeated_memory_is_updated_instead_of_duplicated(client):
    first = keep(client, "The kestrel nests on the tower")
    again = found(client.post("/api/memory", json={"text": "The kestrel nests on the tower."}), 201)
    assert (again["action"], again["memory"]["id"]) == ("updated", first["id"])
    assert len(texts(client)) == 1


def test_what_is_forgotten_is_gone_from_list_search_and_file(client, door):
    before = found(client.get("/api/memory/stats"))["forgotten"]
    name = keep(client, "The heron nests on the tower")["id"]
    assert search(client, "heron")["hits"]
    assert client.delete(f"/api/memory/{name}").status_code == 204
    assert texts(client) == []
    assert search(client, "heron")["hits"] == []
    assert "heron" not in (door.notes / "default" / "MEMORY.md").read_text()
    refused(client.get(f"/api/memory/{name}"), 404, name)
    assert found(client.get("/api/memory/stats"))["forgotten"] == before + 1


def test_stats_count_and_say_how_far_the_index_is(client, door):
    keep(client, "The kestrel nests on the tower")
    before = found(client.get("/api/memory/stats"))
    assert (before["active"], before["kinds"]["fact"], before["limit"]) == (1, 1, 500)
    assert before["index"]["stale"] == 1
    size = (door.notes / "default" / "MEMORY.md").stat().st_size
    assert (before["notes"], before["confirm"]) == ({"files": 1, "bytes": size}, "default")
    assert before["vectors"] == {"embedder": None, "waiting": 0, "trouble": None}
    assert before["reindex"]["percent"] == 100
    search(client, "kestrel")
    assert found(client.get("/api/memory/stats"))["index"]["stale"] == 0
    (door.notes / "default" / "blob.md").write_bytes(b"\0\1")
    search(client, "kestrel")
    assert "default/blob.md" in found(client.get("/api/memory/stats"))["index"]["skipped"]


def test_what_no_longer_holds_and_what_made_room_are_listed_apart(client, door):
    old = keep(client, "The server in Kiel is called arion")
    new = keep(client, "The server in Kiel is called borea")
    aside = keep(client, "The gate opens at six")
    door.parts.library.archive(Scope(), aside["id"])
    assert texts(client) == [new["text"]]
    assert texts(client, only="former") == [old["text"]]
    assert texts(client, only="archived") == [aside["text"]]
    report = found(client.get(f"/api/memory/{new['id']}/history"))
    assert ([item["id"] for item in report["replaced"]], report["replaced_by"]) == ([old["id"]], None)
    assert found(client.get(f"/api/memory/{old['id']}/history"))["replaced_by"]["id"] == new["id"]
    client.delete(f"/api/memory/{new['id']}")
    assert found(client.get(f"/api/memory/{old['id']}/history"))["replaced_by"] is None


def test_slot_history_is_shared_by_values_and_newest_can_be_retracted(client):
    names = [
        keep(client, f"The server in Kiel is called {name}")["id"] for name in ("arion", "borea", "cyane")
    ]
    for name in names:
        slot = found(client.get(f"/api/memory/{name}/history"))["slot"]
        assert [item["id"] for item in slot] == names[::-1]
    assert [entry["valid_until"] > 0 for entry in slot] == [False, True, True]
    report = found(client.post(f"/api/memory/{names[2]}/take-back"))
    assert report["forgotten"]["id"] == names[2]
    assert [value["id"] for value in report["restored"]] == [names[1]]
    assert texts(client) == ["The server in Kiel is called borea"]
    assert [one["id"] for one in found(client.get(f"/api/memory/{names[0]}/history"))["slot"]] == names[1::-1]
    assert client.post("/api/memory/y_none/take-back").status_code == 404


def test_an_unsure_replacement_is_proposed_and_decided_by_the_person(client):
    old = keep(client, "The course costs 120 euros.")["id"]
    new = keep(client, "The course in Bath costs 135 euros.")["id"]
    (proposal,) = found(client.get("/api/memory/proposals"))["proposals"]
    assert (proposal["newer"]["id"], proposal["older"]["id"]) == (new, old)
    assert found(client.get(f"/api/memory/{new}/history"))["rival"]["id"] == old
    assert found(client.post(f"/api/memory/{new}/replace"))["replaced"]["id"] == old
    assert texts(client) == ["The course in Bath costs 135 euros."]
    assert found(client.get("/api/memory/proposals"))["proposals"] == []
    assert client.post(f"/api/memory/{new}/keep-both").status_code == 400


def test_a_memory_comes_with_the_conversation_it_was_learned_in(client, door):
    row, other = door.store.log.create(Scope(), title="About birds"), door.store.log.create(Scope("eve"))
    source = {"kind": "fact", "conversation": row.id}
    taken = [
        {"text": "The kestrel nests on the tower", **source, "also": [{"conversation": "c_gone"}]},
        {"text": "Gate four opens at ten", **source, "conversation": other.id},
    ]
    found(client.post("/api/memory/import", json={"memories": taken}))
    known = {"title": "About birds", "project": "default", "kind": "private"}
    page = found(client.get("/api/memory/list"))
    # What is another user's is as good as gone.
    assert page["conversations"] == {row.id: known, "c_gone": None, other.id: None}
    answer = search(client, "kestrel", whole=True)
    memory = answer["memories"][answer["hits"][0]["id"]]
    assert (memory["text"], answer["conversations"][row.id]) == (taken[0]["text"], known)


def test_importing_forgotten_memory_restores_it_unchanged(client):
    record = keep(client, "The heron nests on the tower", importance=0.3, pinned=True)
    client.delete(f"/api/memory/{record['id']}")
    assert found(client.post("/api/memory/import", json=record))["added"] == 1
    assert found(client.get("/api/memory/list"))["memories"] == [record]


def test_the_places_where_somebody_has_memories_are_named(client, door):
    keep(client, "Roses need water", GARDEN)
    door.store.log.create(Scope(project="chess", kind="group"))
    door.store.log.create(Scope("eve", "secret"))
    places = found(client.get("/api/memory/scopes"))["scopes"]
    assert [(place["project"], place["kind"]) for place in places] == [
        ("default", "private"),
        ("garden", "private"),
        ("chess", "group"),
    ]


# Searching


def test_a_hit_says_where_it_is_and_what_it_is_worth(client):
    record = keep(client, "The fix is in commit a828e60", GARDEN)
    answer = search(client, "a828e60", GARDEN)
    (hit,) = answer["hits"]
    assert (hit["id"], hit["path"], hit["exact"]) == (record["id"], "default/projects/garden/MEMORY.md", True)
    assert hit["citation"] == f"Source: {hit['path']}#{hit['lines'][0]}"
    assert 0.1 < hit["score"] <= 1
    assert hit["parts"]["words"] > 0
    assert answer["engines"] == ["fts5"]
    assert answer["freshness"]["indexed_at"] > 0
    assert any("words" in reason for reason in answer["degraded"])


def test_german_words_are_found_in_other_forms(client):
    keep(client, "Die Wahl der Datenbank fiel auf PostgreSQL", kind="decision")
    assert "Wahl der Datenbank" in search(client, "Datenbankwahl")["hits"][0]["snippet"]
    keep(client, "Das Lager ist in der Mühlenstraße")
    assert "Mühlenstraße" in search(client, "Muehlenstrasse")["hits"][0]["snippet"]


def test_six_hits_by_default_and_as_many_as_asked_for(client):
    names = ["Anna", "Ben", "Carla", "David", "Emma", "Frida", "Georg", "Hanna"]
    for name in names:
        keep(client, f"{name} keeps a kestrel called {name.lower()}bird")
    assert len(search(client, "kestrel")["hits"]) == 6
    assert len(search(client, "kestrel", limit=8)["hits"]) == 8
    assert search(client, "kestrel", kind="decision")["hits"] == []


def test_citations_are_automatic_on_in_private_and_off_in_groups(client):
    for headers in (None, CHESS):
        keep(client, "The kestrel nests on the tower", headers)
    shown = {
        (kind, citations): search(client, "kestrel", headers, citations=citations)["hits"][0]["citation"]
        for kind, headers in (("private", None), ("group", CHESS))
        for citations in ("auto", "on", "off")
    }
    assert {key for key, citation in shown.items() if citation} == {
        ("private", "auto"),
        ("private", "on"),
        ("group", "on"),
    }


def test_citations_are_as_the_setting_has_them(tmp_path):
    with remembering(tmp_path, citations="off") as door:
        keep(door.client, "The kestrel nests on the tower")
        assert search(door.client, "kestrel")["hits"][0]["citation"] is None
        cited = search(door.client, "kestrel", citations="on")["hits"][0]["citation"]
        assert cited.startswith("Source: default/MEMORY.md#")


@pytest.mark.parametrize("query", ["", "albatross"])
def test_an_empty_answer_says_why(client, query):
    keep(client, "The kestrel nests on the tower")
    answer = search(client, query)
    assert answer["hits"] == []
    assert answer["empty"]


def test_a_question_of_punctuation_or_of_great_length_is_answered(client):
    keep(client, "The kestrel nests on the tower")
    search(client, "?!… ,;")
    # httpx refuses to write such an address; others do.
    plain = http.client.HTTPConnection(client.base_url.host, client.base_url.port, timeout=60)
    plain.request("GET", f"/api/memory/search?q=kestrel+{'word+' * 12_000}")
    answer = plain.getresponse()
    assert answer.status == 200
    assert "kestrel" in json.load(answer)["hits"][0]["snippet"]
    plain.request("GET", f"/api/memory/search?q=kestrel+{'word+' * 20_000}")
    assert plain.getresponse().status == 400, "an address ends at 64 KB"
    plain.close()
    search(client, "kestrel")


def test_notes_with_bytes_that_are_no_text_can_be_found(client, door):
    (door.notes / "default").mkdir(parents=True)
    (door.notes / "default" / "old.md").write_bytes("- Der Turmfalke wohnt im T\xfcrmchen".encode("latin-1"))
    assert "Turmfalke" in search(client, "Turmfalke")["hits"][0]["snippet"]
    (door.notes / "default" / "MEMORY.md").write_bytes("- Der Specht wohnt im T\xfcrmchen".encode("latin-1"))
    (memory,) = found(client.get("/api/memory/list"))["memories"]
    assert "Specht" in memory["text"]
    assert found(client.get(f"/api/memory/{memory['id']}"))["path"] == "default/MEMORY.md"


# In and out


def test_an_export_brought_in_elsewhere_is_the_same(client):
    keep(client, "The kestrel nests on the tower", GARDEN)
    keep(client, "We chose SQLite", GARDEN, kind="decision")
    out = client.post("/api/memory/export", headers=GARDEN)
    assert out.headers["content-disposition"].endswith('"memories.json"')
    taken = found(client.post("/api/memory/import", content=out.content, headers=CHESS))
    assert (taken["added"], taken["bad"]) == (2, [])
    assert sorted(texts(client, CHESS)) == sorted(texts(client, GARDEN))
    again = found(client.post("/api/memory/import", content=out.content, headers=CHESS))
    assert (again["added"], again["known"]) == (0, 2)


def test_markdown_goes_out_and_comes_in(client):
    keep(client, "The kestrel nests on the tower", GARDEN)
    out = client.post("/api/memory/export", params={"format": "markdown"}, headers=GARDEN)
    assert out.headers["content-type"].startswith("text/markdown")
    assert "- The kestrel nests on the tower" in out.text
    assert found(client.post("/api/memory/import", content=out.content, headers=CHESS))["added"] == 1


def test_import_reports_invalid_lines_and_adds_the_rest(client):
    lines = b'{"text": "The kestrel nests on the tower"}\n{"text": 7}\n{broken\n'
    taken = found(client.post("/api/memory/import", content=lines))
    assert taken["added"] == 1
    assert [line.split(":")[0] for line in taken["bad"]] == ["line 2", "line 3"]


def test_deleting_everything_needs_the_name_and_stays_in_its_scope(client):
    keep(client, "The kestrel nests on the tower")
    keep(client, "The falcon nests in the oak", GARDEN)
    error = refused(client.delete("/api/memory/all", headers=GARDEN), 400, "confirm")
    assert "default/projects/garden" in error
    wrong = {"confirm": "default"}
    refused(client.delete("/api/memory/all", params=wrong, headers=GARDEN), 400, "garden")
    right = {"confirm": "default/projects/garden"}
    assert found(client.delete("/api/memory/all", params=right, headers=GARDEN)) == {"forgotten": 1}
    assert texts(client, GARDEN) == ["The kestrel nests on the tower"]


# The index


def test_reindexing_reports_how_far_it_is_and_what_came_of_it(client, door):
    for number in range(3):
        keep(client, f"Gate {number} opens at {number + 6}", {"x-holdfast-project": f"yard{number}"})
    keep(client, "Secret of the club", CHESS)
    with client.stream("GET", "/api/events", headers=GARDEN) as events:
        done = found(client.post("/api/memory/reindex", params={"wait": True}, headers=GARDEN))
        report = []
        for line in events.iter_lines():
            if line.startswith("data:"):
                report.append(json.loads(line.removeprefix("data:")))
                if report[-1]["phase"] == "done":
                    break
    assert (done["phase"], done["percent"], done["trouble"]) == ("done", 100, None)
    # Only what this scope may know of.
    assert (done["index"]["files"], done["index"]["stale"]) == (0, 0)
    assert {event["work"] for event in report} == {"reindex"}
    assert report[-2]["total"] == 4
    assert door.parts.search.search("club", Scope(project="chess", kind="group")).freshness.stale == 0


def test_reindexing_in_the_background_answers_at_once(client):
    keep(client, "The kestrel nests on the tower")
    first = client.post("/api/memory/reindex")
    assert (first.status_code, first.json()["phase"] in ("files", "vectors", "done")) == (202, True)
    assert found(client.post("/api/memory/reindex", params={"wait": True}))["phase"] == "done"


class Elsewhere:
    """Files that fail, or that are read only when they are let."""

    def __init__(self, names=(), trouble=None):
        self.names, self.trouble = names, trouble
        self.begun, self.let, self.read_so_far = threading.Event(), threading.Event(), []

    def entries(self, prefix=""):
        if self.trouble:
            raise self.trouble
        return [NoteEntry(PurePosixPath(name), 1, 1.0, name) for name in self.names]

    def read(self, path):
        self.begun.set()
        assert self.let.wait(60)
        self.read_so_far.append(str(path))
        return Note("Some words", str(path))


def reindexed(files, meanwhile):
    """Builds an index of these files, does something meanwhile, and gives the state at the end."""

    async def work():
        reindexing = ReindexJob(Events())
        reindexing.start(parts, Scope())
        await meanwhile(reindexing)
        await reindexing.wait()
        return reindexing.state

    with open_store("sqlite://") as store:
        parts = MemoryService(store, InMemoryWorkspace(), ChosenEmbedder(EmbedderOptions("off")), extra=files)
        return asyncio.run(work())


def test_a_rebuild_that_fails_says_why():
    async def nothing(_):
        pass

    state = reindexed(Elsewhere(trouble=StoreError("The disk is gone.")), nothing)
    assert (state.phase, state.trouble) == ("failed", "The disk is gone.")


def test_a_server_that_ends_does_not_wait_for_the_whole_index():
    files = Elsewhere([f"{number}.md" for number in range(500)])

    async def end(reindexing):
        await asyncio.to_thread(files.begun.wait, 20)
        closing = asyncio.create_task(reindexing.close())
        await asyncio.sleep(0)
        files.let.set()
        await closing

    assert reindexed(files, end).phase == "failed"
    assert len(files.read_so_far) < 500


# Borders


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    """Memories on both sides of every border, for tests that only try to look."""
    with remembering(tmp_path_factory.mktemp("borders")) as service:
        parts, names = service.parts, {}
        for name, scope in {
            "mine": Scope(),
            "garden": Scope(project="garden"),
            "house": Scope(project="house"),
            "chess": Scope(project="chess", kind="group"),
            "group": Scope(project="garden", kind="group"),
            "bens": Scope("ben"),
            "bensgarden": Scope("ben", "garden"),
        }.items():
            names[name] = parts.library.add(scope, f"The {name} password word is {name}quux").memory.id
        yield service.client, names


VIEWS = {
    "mine": ({}, {"mine"}),
    "garden": (GARDEN, {"mine", "garden"}),
    "house": (HOUSE, {"mine", "house"}),
    "chess": (CHESS, {"chess"}),
    "group": (GARDEN_GROUP, {"group"}),
}


@pytest.mark.parametrize(("headers", "sees"), VIEWS.values(), ids=VIEWS.keys())
def test_every_door_shows_a_scope_its_own_and_nothing_else(standing, headers, sees):
    client, names = standing
    listed = found(client.get("/api/memory/list", headers=headers))["memories"]
    assert {memory["id"] for memory in listed} == {names[see] for see in sees}
    hits = search(client, "password word quux", headers, limit=50, within="all")["hits"]
    assert {hit["id"] for hit in hits} == {names[entry] for entry in sees}
    out = client.post("/api/memory/export", headers=headers).text
    assert {value for value in names if f"{value}quux" in out} == sees
    assert found(client.get("/api/memory/stats", headers=headers))["active"] == 1
    for item, name in names.items():
        path = f"/api/memory/{name}"
        if item in sees:
            assert found(client.get(path, headers=headers))["id"] == name
        else:
            refused(client.get(path, headers=headers), 404, name)
            refused(client.put(path, json={"text": "Taken over"}, headers=headers), 404, name)
            refused(client.delete(path, headers=headers), 404, name)


def test_a_narrower_scope_is_never_a_wider_one(standing):
    client, names = standing
    own = found(client.get("/api/memory/list", params={"scope": "project"}, headers=GARDEN))["memories"]
    assert [memory["id"] for memory in own] == [names["garden"]]
    user = found(client.get("/api/memory/list", params={"scope": "user"}, headers=GARDEN))["memories"]
    assert [memory["id"] for memory in user] == [names["mine"]]
    for whose, item in (("project", "garden"), ("user", "mine")):
        hits = search(client, "password word quux", GARDEN, scope=whose)["hits"]
        assert [hit["id"] for hit in hits] == [names[item]]
    for path in ("list", "stats", "search?q=password"):
        url = f"/api/memory/{path}{'&' if '?' in path else '?'}scope="
        refused(client.get(f"{url}user", headers=CHESS), 400, "group")
        refused(client.get(f"{url}project"), 400, "X-Holdfast-Project")
    refused(client.request("DELETE", "/api/memory/all?scope=user&confirm=default", headers=CHESS), 400)
    refused(client.post("/api/memory", json={"text": "x", "scope": "user"}, headers=CHESS), 400, "group")


# Bad input


def test_what_makes_no_sense_is_refused_in_a_sentence(client):
    name = keep(client, "The kestrel nests on the tower")["id"]
    for wrong in ({"text": "x", "kind": "rumour"}, {"text": "x", "kind": "summary"}):
        refused(client.post("/api/memory", json=wrong), 400, "kind")
    for wrong in ({"text": ""}, {"text": " \n"}, {"text": "x" * 9_000}):
        refused(client.post("/api/memory", json=wrong), 400)
    for wrong in ({}, {"text": 7}, {"text": "x", "importance": 2}, {"text": "x", "colour": "red"}):
        refused(client.post("/api/memory", json=wrong), 400)
    for wrong in ({"kind": "rumour"}, {"limit": 0}, {"limit": 501}, {"offset": -1}, {"scope": "all"}):
        refused(client.get("/api/memory/list", params=wrong), 400)
    for wrong in (
        {},
        {"q": "x", "limit": 51},
        {"q": "x", "kind": "rumour"},
        {"q": "x", "citations": "maybe"},
    ):
        refused(client.get("/api/memory/search", params=wrong), 400)
    refused(client.put(f"/api/memory/{name}", json={"kind": "rumour"}), 400, "kind")
    refused(client.put(f"/api/memory/{name}", json={"text": " "}), 400)
    refused(client.put("/api/memory/y_none", json={"text": "x"}), 404, "y_none")
    refused(client.delete("/api/memory/y_none"), 404, "y_none")
    refused(client.post("/api/memory/export", params={"format": "pdf"}), 400)
    refused(client.post("/api/memory/import", content=b'{"memories": 7}'), 400)


def test_a_secret_alone_is_not_remembered(client, door):
    refused(client.post("/api/memory", json={"text": "<private>The code is 4711</private>"}), 400, "secret")
    assert texts(client) == []


def test_a_server_without_memory_says_so(serve):
    client = serve().client
    for path in ("/api/memory/list", "/api/memory/profile", "/api/notes"):
        refused(client.get(path), 404, "memory")


def test_every_door_is_in_the_description(serve):
    paths = found(serve().client.get("/openapi.json"))["paths"]
    assert set(paths["/api/memory/profile"]) == {"get", "put", "post", "patch"}
    assert set(paths["/api/memory/{memory}"]) == {"get", "put", "delete"}
    assert set(paths["/api/notes/{path}"]) == {"get", "put", "delete"}
    for name in ("list", "search", "stats"):
        assert set(paths[f"/api/memory/{name}"]) == {"get"}
    for name in ("reindex", "export", "import"):
        assert set(paths[f"/api/memory/{name}"]) == {"post"}
    assert set(paths["/api/memory/all"]) == {"delete"}


# Meaning


@pytest.mark.real
def test_meaning_words_and_names_are_found_together(tmp_path):
    with remembering(tmp_path, "embedded") as service:
        client = service.client
        keep(client, "the machine the gateway runs on")
        keep(client, "The fix is in commit a828e60")
        keep(client, "Die Wahl der Datenbank fiel auf PostgreSQL", kind="decision")
        keep(client, "Lunch is at noon on Fridays")
        assert found(client.post("/api/memory/reindex", params={"wait": True}))["trouble"] is None
        answer = search(client, "Mac Studio gateway host")
        assert answer["hits"][0]["snippet"] == "the machine the gateway runs on"
        assert "vectors" in answer["engines"]
        assert answer["degraded"] == []
        exact = search(client, "a828e60")["hits"][0]
        assert ("a828e60" in exact["snippet"], exact["exact"]) == (True, True)
        assert "Wahl der Datenbank" in search(client, "Datenbankwahl")["hits"][0]["snippet"]
        vectors = found(client.get("/api/memory/stats"))["vectors"]
        assert (vectors["waiting"], "use-multilingual" in vectors["embedder"]) == (0, True)


# Conversations and what was learned in them


@pytest.mark.parametrize(("asked", "left"), [({}, ["The lake is deep."]), ({"memories": "forget"}, [])])
def test_deleting_conversation_removes_its_memories_only_on_request(client, asked, left):
    report = [{"role": "user", "content": "Remember that the lake is deep."}]
    answer = client.post("/api/chat", json={"model": "scripted", "messages": report, "stream": False})
    assert answer.status_code == 200, answer.text
    wait_until(lambda: texts(client) == ["The lake is deep."])
    chat = answer.headers["x-holdfast-conversation"]
    assert client.delete(f"/api/chats/{chat}", params=asked).status_code == 204
    assert texts(client) == left
    assert client.delete(f"/api/chats/{chat}", params={"memories": "maybe"}).status_code in (400, 422)
