"""The doors to the files of memory, and to the profile: nobody writes over what they have not read."""

import os
import shutil

import pytest

from holdfast.memory.base import SummaryNote
from holdfast.messages import Scope
from tests.server.memory_server import CHESS, GARDEN, GARDEN_GROUP, HOUSE, found, refused, remembering

PROFILE = "/api/memory/profile"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with remembering(tmp_path_factory.mktemp("notes")) as service:
        yield service


@pytest.fixture
def door(running):
    shutil.rmtree(running.notes, ignore_errors=True)
    return running


@pytest.fixture
def client(door):
    return door.client


def put(client, path, text, tag=None, **headers):
    report = {**headers, **({} if tag is None else {"if-match": tag})}
    return client.put(f"/api/notes/{path}", content=text, headers=report)


def paths(client, headers=None):
    return {note["path"] for note in found(client.get("/api/notes", headers=headers))["notes"]}


# Files


def test_a_note_is_made_read_and_changed_by_its_tag(client):
    response = put(client, "default/pumps.md", "# Pumps\n")
    assert response.status_code == 201
    read = client.get("/api/notes/default/pumps.md")
    assert (read.text, read.headers["etag"]) == ("# Pumps\n", response.headers["etag"])
    assert read.headers["content-type"].startswith("text/markdown")
    changed = put(client, "default/pumps.md", "# More pumps\n", read.headers["etag"])
    assert changed.status_code == 200
    assert client.get("/api/notes/default/pumps.md").text == "# More pumps\n"
    (note,) = found(client.get("/api/notes"))["notes"]
    assert (note["path"], f'"{note["tag"]}"') == ("default/pumps.md", changed.headers["etag"])


def test_notes_with_undecodable_names_are_listed_separately_and_counted_in_export(client, door):
    days = door.notes / "default" / "memory"
    days.mkdir(parents=True)
    (days / os.fsdecode(b"gr\xfc\xdfe.md")).write_text("- Lost.")
    odd = "default/memory/gr\\xfc\\xdfe.md"
    listed = found(client.get("/api/notes"))
    assert listed["notes"] == []
    assert "no text" in listed["left_out"][odd]
    assert found(client.get("/api/notes", headers=GARDEN_GROUP))["left_out"] == {}
    assert odd in found(client.get("/api/memory/stats"))["index"]["skipped"]
    for form in ("json", "markdown"):
        out = client.post("/api/memory/export", params={"format": form})
        assert out.headers["x-holdfast-left-out"] == "1"
    assert "x-holdfast-left-out" not in client.post("/api/memory/export", headers=GARDEN_GROUP).headers


def test_who_has_read_an_older_version_writes_nothing(client, door):
    first = put(client, "default/pumps.md", "one").headers["etag"]
    (door.notes / "default" / "pumps.md").write_text("by another program")
    refused(put(client, "default/pumps.md", "two", first), 412, "Read it again")
    refused(put(client, "default/pumps.md", "two", '"made-up"'), 412)
    refused(put(client, "default/pumps.md", "two", f"W/{first}"), 412)
    refused(put(client, "default/pumps.md", "two"), 428, "If-Match")
    refused(put(client, "default/pumps.md", "two", **{"if-none-match": "*"}), 412)
    refused(put(client, "default/none.md", "two", "*"), 412)
    assert client.get("/api/notes/default/pumps.md").text == "by another program"
    assert put(client, "default/pumps.md", "three", "*").status_code == 200


def test_note_is_deleted_only_if_version_matches(client, door):
    first = put(client, "default/pumps.md", "- The pump in Kiel leaks\n").headers["etag"]
    second = put(client, "default/pumps.md", "- The pump in Kiel is mended\n", first).headers["etag"]
    place = "/api/notes/default/pumps.md"
    refused(client.delete(place), 428, "If-Match")
    refused(client.delete(place, headers={"if-match": first}), 412, "Read it again")
    assert client.delete(place, headers={"if-match": second}).status_code == 204
    assert (paths(client), (door.notes / "default" / "pumps.md").exists()) == (set(), False)
    refused(client.delete(place, headers={"if-match": second}), 404)
    refused(client.delete("/api/notes/groups/chess/MEMORY.md", headers={"if-match": "*"}), 404)


def test_a_client_that_has_the_newest_version_is_told_so(client):
    tag = put(client, "default/pumps.md", "one").headers["etag"]
    assert client.get("/api/notes/default/pumps.md", headers={"if-none-match": tag}).status_code == 304
    assert client.get("/api/notes/default/pumps.md", headers={"if-none-match": '"x"'}).status_code == 200


def test_every_byte_survives_reading_and_writing(client, door):
    odd = b"T\xfcr und Tor\r\n"
    (door.notes / "default").mkdir(parents=True)
    (door.notes / "default" / "old.md").write_bytes(odd)
    read = client.get("/api/notes/default/old.md")
    assert read.content == odd
    put(client, "default/old.md", odd + b"more", read.headers["etag"])
    assert (door.notes / "default" / "old.md").read_bytes() == odd + b"more"


def test_an_edited_memory_is_another_one_at_once(client):
    name = found(client.post("/api/memory", json={"text": "The kestrel nests on the tower"}), 201)["memory"][
        "id"
    ]
    note = client.get("/api/notes/default/MEMORY.md")
    put(client, "default/MEMORY.md", note.text.replace("kestrel", "falcon"), note.headers["etag"])
    assert "falcon" in found(client.get(f"/api/memory/{name}"))["text"]
    hits = found(client.get("/api/memory/search", params={"q": "falcon"}))["hits"]
    assert [hit["id"] for hit in hits] == [name]


def test_secrets_do_not_get_into_a_note(client):
    put(client, "default/pumps.md", "Open <private>4711</private> first")
    assert "4711" not in client.get("/api/notes/default/pumps.md").text


OUTSIDE = [
    "..%2Fholdfast.db",
    "default%2F..%2F..%2Fholdfast.db",
    "%2Fetc%2Fpasswd.md",
    "default/.hidden.md",
    "C:%5Cnotes.md",
    "default/%00.md",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_outside_is_refused(client, path):
    for response in (client.get(f"/api/notes/{path}"), put(client, path, "x")):
        refused(response, 400, "no path in the workspace")


def test_what_is_no_note_is_refused(client, door):
    (door.notes / "default").mkdir(parents=True)
    (door.notes / "default" / "blob.md").write_bytes(b"\0\1\2")
    (door.notes / "default" / "huge.md").write_bytes(b"x" * 4_000_001)
    refused(client.get("/api/notes/default/blob.md"), 503, "no text")
    refused(client.get("/api/notes/default/huge.md"), 503, "more than")
    refused(put(client, "default/new.md", b"a\0b"), 400, "no text")
    refused(put(client, "default/new.md", b"x" * 4_000_001), 413, "more than")
    refused(put(client, "default/other.yaml", "a: b"), 400, "Markdown")
    refused(put(client, "default/tool.sh", "x"), 404)
    refused(client.get("/api/notes/default"), 404)
    refused(client.get("/api/notes/default/none.md"), 404, "none.md")


def test_a_private_part_without_an_end_swallows_nothing(client):
    tag = put(client, "default/book.md", "Write `<private>` before it.\n\n- one\n").headers["etag"]
    refused(put(client, "default/book.md", "a <private>b\n\n- one\n", tag), 400, "has no end")
    assert client.get("/api/notes/default/book.md").text == "Write `<private>` before it.\n\n- one\n"


def test_files_that_cannot_be_read_keep_nobody_from_the_others(client, door):
    put(client, "default/pumps.md", "# Pumps\n")
    for name in ("conversations/c/summary.md", "archive/old.md", "memory/img.md"):
        (door.notes / "default" / name).parent.mkdir(parents=True)
        (door.notes / "default" / name).write_bytes(b"\0")
    assert paths(client) == {"default/pumps.md", "default/archive/old.md", "default/memory/img.md"}
    assert len(found(client.get("/api/memory/stats"))["troubles"]) == 2


# Borders

THEIRS = {
    "mine": "default/MEMORY.md",
    "garden": "default/projects/garden/MEMORY.md",
    "house": "default/projects/house/MEMORY.md",
    "chess": "groups/chess/MEMORY.md",
    "group": "groups/garden/MEMORY.md",
    "bens": "ben/MEMORY.md",
    "bensgarden": "ben/projects/garden/MEMORY.md",
}
VIEWS = {
    "mine": ({}, {"mine"}),
    "garden": (GARDEN, {"mine", "garden"}),
    "house": (HOUSE, {"mine", "house"}),
    "chess": (CHESS, {"chess"}),
    "group": (GARDEN_GROUP, {"group"}),
}


@pytest.mark.parametrize(("headers", "sees"), VIEWS.values(), ids=VIEWS.keys())
def test_files_are_listed_read_and_written_inside_their_scope_only(door, headers, sees):
    client = door.client
    for path in THEIRS.values():
        (door.notes / path).parent.mkdir(parents=True, exist_ok=True)
        (door.notes / path).write_text("- Secret\n")
    assert paths(client, headers) == {THEIRS[see] for see in sees}
    for item, path in THEIRS.items():
        response = client.get(f"/api/notes/{path}", headers=headers)
        if item in sees:
            assert response.text == "- Secret\n"
            continue
        refused(response, 404, path)
        for tag in (None, "*"):
            refused(put(client, path, "Taken over", tag, **headers), 404, path)
        refused(put(client, path.replace("MEMORY", "new"), "x", **headers), 404)
        assert (door.notes / path).read_text() == "- Secret\n"


def test_summaries_are_read_in_their_own_project_and_written_by_nobody(door):
    client = door.client
    for name, scope in (("c_mine", Scope()), ("c_garden", Scope(project="garden"))):
        note = SummaryNote(name, name, "Talk", "What was said", scope, 3, "m_1", "m_3", 9e8, "en")
        door.parts.library.write_summary(note)
    mine = "default/conversations/c_mine/summary.md"
    garden = "default/projects/garden/conversations/c_garden/summary.md"
    assert paths(client) == {mine}
    assert paths(client, GARDEN) == {garden}
    assert "What was said" in client.get(f"/api/notes/{garden}", headers=GARDEN).text
    refused(client.get(f"/api/notes/{garden}"), 404)
    refused(client.get(f"/api/notes/{mine}", headers=HOUSE), 404)
    refused(put(client, mine, "x", "*"), 400, "Summaries")
    refused(put(client, garden, "x", "*", **GARDEN), 400, "Summaries")


def test_project_names_are_unrestricted_but_folder_spelling_is_exact(door):
    client, named = door.client, {"x-holdfast-project": "conversations"}
    path = "default/projects/conversations/MEMORY.md"
    assert put(client, path, "- Ours\n", **named).status_code == 201
    assert paths(client, named) == {path}
    for other in ("default/Projects/house/new.md", "default/Conversations/c_1/summary.md"):
        refused(client.get(f"/api/notes/{other}"), 404)
        refused(put(client, other, "x"), 404)


# The profile


def test_a_profile_is_filled_patched_replaced_and_shown(client):
    empty = found(client.get(PROFILE))
    assert not any(empty.pop("form").values())
    assert empty == {"text": "", "fields": {}, "trouble": None, "tag": ""}
    form = {"companyName": "Muster GmbH", "teamSize": 25, "products": "Pumps, Valves", "industry": ""}
    filled = found(client.post(PROFILE, json=form, params={"language": "de"}))
    assert filled["fields"] == {"firma": "Muster GmbH", "teamgroesse": 25, "produkte": ["Pumps", "Valves"]}
    patched = found(client.patch(PROFILE, json={"name": "Anna", "company": "Other GmbH", "products": None}))
    assert patched["fields"] == {"firma": "Other GmbH", "teamgroesse": 25, "name": "Anna"}
    text = "# Who I am\nname: Anna\nsince: 2020-02-29\nodd: .nan\n"
    replaced = client.put(PROFILE, json={"text": text})
    assert found(replaced)["text"] == text
    assert found(client.patch(PROFILE, json={"name": "Bea"}))["text"] == text.replace("Anna", "Bea")
    assert client.get("/api/notes/default/profile.yaml").text == text.replace("Anna", "Bea")


def test_a_profile_is_replaced_only_over_the_version_that_was_read(client):
    first = client.put(PROFILE, json={"text": "name: Anna\n"}).headers["etag"]
    second = client.patch(PROFILE, json={"name": "Bea"}).headers["etag"]
    old = client.put(PROFILE, json={"text": "name: Cleo\n"}, headers={"if-match": first})
    refused(old, 412, "Read it again")
    assert found(client.get(PROFILE))["fields"] == {"name": "Bea"}
    new = client.put(PROFILE, json={"text": "name: Cleo\n"}, headers={"if-match": second})
    assert found(new)["fields"] == {"name": "Cleo"}


def test_broken_profile_is_rejected_with_line_number_and_shown_with_error(client, door):
    broken = "name: Anna\nteam: [1, 2\nrole: x\n"
    refused(client.put(PROFILE, json={"text": broken}), 400, "line 3")
    refused(put(client, "default/profile.yaml", broken), 400, "line 3")
    refused(client.put(PROFILE, json={"text": "x" * 3_000}), 413)
    refused(client.put(PROFILE, json={"text": "- a list\n"}), 400, "fields")
    assert not (door.notes / "default" / "profile.yaml").exists()
    (door.notes / "default").mkdir(parents=True)
    (door.notes / "default" / "profile.yaml").write_text(broken)
    shown = found(client.get(PROFILE))
    assert (shown["text"], shown["fields"]) == (broken, None)
    assert "line 3" in shown["trouble"]
    refused(client.patch(PROFILE, json={"name": "Bea"}), 400, "line 3")
    assert found(client.put(PROFILE, json={"text": "name: Anna\n"}))["trouble"] is None


def test_profile_preview_shows_model_view_before_saving(client):
    text = "name: Anna\nproducts: [" + ", ".join(f"pump {number}" for number in range(60)) + "]\n"
    shown = found(client.post(f"{PROFILE}/preview", json={"text": text, "window": 4096}))
    assert ("Anna" in shown["text"], shown["left_out"], shown["cap"]) == (True, ["products"], 100)
    assert 0 < shown["tokens"] <= shown["cap"]
    broken = found(client.post(f"{PROFILE}/preview", json={"text": "name: Anna\nteam: [1, 2\nrole: x\n"}))
    assert (broken["text"], broken["line"], "line 3" in broken["trouble"]) == ("", 3, True)
    long = found(client.post(f"{PROFILE}/preview", json={"text": "x" * 3_000}))
    assert (long["line"], long["bytes"] > long["largest"]) == (None, True)
    assert found(client.get(PROFILE))["fields"] == {}
    refused(client.post(f"{PROFILE}/preview", json={"text": "", "window": 1}), 400, "window")
    refused(client.post(f"{PROFILE}/preview", json={"text": ""}, headers=CHESS), 400, "group")


def test_a_profile_with_nonsense_is_refused(client):
    for wrong in ([], "x", {"a.b.c": 1}, {"a": {"b": {"c": 1}}}):
        refused(client.patch(PROFILE, json=wrong), 400)
    for wrong in ({"colour": "red"}, {"companyName": 7}):
        refused(client.post(PROFILE, json=wrong), 400)
    for wrong in ({}, {"text": 7}, {"text": "a: 1", "more": 1}):
        refused(client.put(PROFILE, json=wrong), 400)
    assert found(client.get(PROFILE))["fields"] == {}


def test_what_was_said_is_proposed_accepted_or_dismissed(client):
    for text in ("Please answer in German", "I prefer answers that are short"):
        found(client.post("/api/memory", json={"text": text, "kind": "preference"}), 201)
    first, *others = found(client.get(f"{PROFILE}/proposals"))["proposals"]
    assert (first["field"], first["value"], first["text"]) == (
        "language",
        "German",
        "Please answer in German",
    )
    accepted = found(client.post(f"{PROFILE}/proposals/{first['id']}/accept"))
    assert accepted["status"] == "accepted"
    assert found(client.get(PROFILE))["fields"]["language"] == "German"
    for other in others:
        found(client.post(f"{PROFILE}/proposals/{other['id']}/dismiss"))
    assert found(client.get(f"{PROFILE}/proposals")) == {"proposals": []}
    refused(client.post(f"{PROFILE}/proposals/o_none/accept"), 404, "o_none")


def test_a_group_has_no_profile(client, door):
    (door.notes / "groups" / "chess").mkdir(parents=True)
    for response in (
        client.get(PROFILE, headers=CHESS),
        client.put(PROFILE, json={"text": "name: x"}, headers=CHESS),
        client.post(PROFILE, json={"companyName": "x"}, headers=CHESS),
        client.patch(PROFILE, json={"name": "x"}, headers=CHESS),
        client.get(f"{PROFILE}/proposals", headers=CHESS),
        client.post(f"{PROFILE}/proposals/o_none/accept", headers=CHESS),
        client.post(f"{PROFILE}/proposals/o_none/dismiss", headers=CHESS),
    ):
        refused(response, 400, "group")
    refused(client.get("/api/notes/default/profile.yaml", headers=CHESS), 404)
