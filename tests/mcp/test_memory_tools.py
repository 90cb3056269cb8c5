"""The tools about memory: what is written is found, read and forgotten, inside the caller's scope only."""

from pathlib import Path

import pytest

from holdfast.mcp.base import LONGEST_REPLY
from holdfast.memory.base import SummaryNote
from holdfast.memory.scopes import folder

# In the shape of a key, and none.
SECRET = f"sk-{'a1' * 16}"


def path_in(host, name="MEMORY.md"):
    return f"{folder(host.scope)}/{name}"


def put(notes, path, text):
    file = notes / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return path


def test_what_is_written_is_found_with_its_trace_and_read_at_its_line(host):
    made = host.data("memory_write", text="The pump in the cellar is a Grundfos Alpha2.")
    assert made["action"] == "added"
    assert made["path"] == path_in(host)
    found = host.data("memory_search", query="Which pump is it?")
    (hit,) = found["hits"]
    assert hit["id"] == made["memory"]["id"]
    assert hit["path"] == path_in(host)
    assert 0.1 < hit["score"] <= 1
    assert hit["parts"]["words"] > 0
    assert hit["citation"] == f"Source: {path_in(host)}#{hit['lines'][0]}"
    assert found["engines"] == ["fts5"]
    assert found["freshness"]["stale"] == 0
    text = host.told("memory_get", path=hit["path"], from_line=hit["lines"][0], lines=1)
    assert "Grundfos Alpha2" in text
    assert f"from_line {hit['lines'][0] + 1}" in text
    assert "Grundfos" in host.told("memory_get", path=hit["citation"].removeprefix("Source: "))


def test_an_answer_says_in_words_how_it_was_found_and_what_was_not_done(host):
    host.told("memory_write", text="The gate opens at seven.")
    text = host.told("memory_search", query="gate")
    assert "lines 5-5" in text
    assert "score" in text
    assert "Searched by fts5; index up to date" in text
    assert "Note: Only words were compared" in text
    assert "Nothing found." in host.told("memory_search", query="zeppelin")


def test_a_new_memory_takes_the_place_of_what_it_contradicts(host):
    old = host.data("memory_write", text="The meeting is on Monday.", kind="decision")
    made = host.data("memory_write", text="The meeting is on Tuesday.", kind="decision")
    assert [one["id"] for one in made["replaced"]] == [old["memory"]["id"]]
    assert host.data("memory_write", text="The meeting is on Tuesday.", kind="decision")["action"] != "added"


def test_what_is_forgotten_is_found_no_more(host):
    made = host.data("memory_write", text="The old code of the shed was written on the door.")
    name = made["memory"]["id"]
    assert name in host.told("memory_forget", id=name)
    assert host.data("memory_search", query="shed")["hits"] == []
    host.refused("memory_forget", name, id=name)


def test_secrets_and_private_parts_are_not_kept(host, notes):
    told = host.told("memory_write", text=f"The key of the API is {SECRET}, it is in the vault.")
    assert SECRET not in told
    assert "taken out" in told
    host.told("memory_write", text="Anna likes tea. <private>She is ill.</private>")
    kept = (notes / path_in(host)).read_text()
    assert SECRET not in kept
    assert "tea" in kept
    assert "ill" not in kept
    host.refused("memory_write", "nothing left", "without the secret", text="<private>all</private>")


def test_texts_that_make_no_memory_are_refused_with_the_next_step(host):
    host.refused("memory_write", "8,000", "shorter", text="long " * 4_000)
    host.refused("memory_write", "`text`", text="   ")
    host.refused("memory_write", "fact, decision, preference, note", text="Tea.", kind="opinion")


def test_other_scopes_see_nothing_of_it(host):
    name = host.data("memory_write", text="The heron stands in the pond.")["memory"]["id"]
    group, project = host.of("default", host.scope.project, "group"), host.of("default", "another")
    for other in (host.of("anna", host.scope.project), project, group):
        assert other.data("memory_search", query="heron pond")["hits"] == []
        other.refused("memory_forget", name, id=name)
        other.refused("memory_get", "no note", path=path_in(host))
    mine = host.of("default")
    mine.told("memory_write", text="The stork nests on the chimney.")
    assert host.data("memory_search", query="stork chimney")["hits"], "a project sees its person's"
    assert group.data("memory_search", query="stork chimney")["hits"] == []
    group.refused("memory_get", "no note", path="default/MEMORY.md")


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("../../etc/passwd", "no path"),
        ("default/../../secret.md", "no path"),
        ("/etc/passwd", "no note"),
        ("/etc/hosts.md", "no note"),
        ("default/.hidden.md", "no path"),
        ("default/profile.yaml", "no note"),
        ("default/PROJECTS/other/MEMORY.md", "no note"),
        ("C:\\notes.md", "no path"),
        ("default/a\0b.md", "no path"),
        ("default/nothing.md", "no note"),
        ("x" * 5_000, "no path"),
    ],
)
def test_no_path_leads_out(host, notes, path, word):
    put(notes, "default/profile.yaml", "name: Anna\n")
    put(notes, "default/projects/other/MEMORY.md", "- Elsewhere.\n")
    host.refused("memory_get", word, path=path)


def test_links_out_of_the_workspace_are_not_followed(host, notes, tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text("Nobody may read this.")
    (notes / path_in(host)).parent.mkdir(parents=True, exist_ok=True)
    (notes / path_in(host, "link.md")).symlink_to(secret)
    assert "Nobody" not in host.refused("memory_get", path=path_in(host, "link.md"))


def test_summaries_are_read_by_the_project_they_belong_to(host, parts):
    mine = SummaryNote("s_1", "c_one", "Ponds", "We dug a pond.", host.scope, 4, "m_1", "m_4", 1.0, "en")
    parts.remembering.library.write_summary(mine)
    (hit,) = host.data("memory_search", query="dug pond")["hits"]
    assert "We dug a pond." in host.told("memory_get", path=hit["path"])
    host.of("default", "another").refused("memory_get", "no note", path=hit["path"])
    host.of("default").refused("memory_get", "no note", path=hit["path"])


def test_notes_elsewhere_are_read_by_their_owner_only(host, settings, tmp_path):
    named, other = Path(settings.notes_paths) / "bees.md", tmp_path / "other.md"
    named.write_text("# Bees\n\nThe queen is marked blue.\n")
    other.write_text("Not named in the settings.")
    assert host.data("memory_search", query="queen")["hits"][0]["path"] == str(named)
    assert "marked blue" in host.told("memory_get", path=str(named))
    host.refused("memory_get", "no note", path=str(other))
    host.refused("memory_get", path=f"{named.parent}/../{tmp_path.name}/other.md")
    host.of("anna").refused("memory_get", "no path", path=str(named))
    host.of("default", "p", "group").refused("memory_get", "no path", path=str(named))


def test_long_notes_come_in_parts_that_say_how_to_go_on(host, notes):
    lines = [f"- Line {number} of a very long note about nothing." for number in range(1, 2_001)]
    path = put(notes, path_in(host, "long.md"), "\n".join(lines))
    read, start, parts = [], 1, 0
    while start is not None:
        part = host.data("memory_get", path=path, from_line=start, lines=1_000)
        assert len(part["text"]) <= LONGEST_REPLY
        read += part["text"].split("\n")
        start, parts = part["next"], parts + 1
    assert read == lines
    assert parts > 3
    assert "from_line 121." in host.told("memory_get", path=path)
    assert "has 2000 lines" in host.told("memory_get", path=path, from_line=9_999)
    wide = put(notes, path_in(host, "wide.md"), "x" * 50_000)
    assert "line 1 is cut" in host.told("memory_get", path=wide)


def test_an_answer_is_bounded_whatever_was_found(host, notes):
    for number in range(30):
        put(notes, path_in(host, f"n{number}.md"), f"Walrus {number}. " + "The walrus sleeps on ice. " * 60)
    whole = host.told("memory_search", query="walrus ice", limit=20)
    assert len(whole) < LONGEST_REPLY + 2_000
    found = host.data("memory_search", query="walrus ice", limit=20)
    assert len(found["hits"]) + found["left_out"] == 20
    if found["left_out"]:
        assert f"{found['left_out']} more hits were left out" in whole
    long = host.told("memory_search", query="walrus " * 2_000)
    assert "only the first 2,000 characters" in long


def test_what_is_no_text_in_a_note_can_still_be_told(host, notes):
    place = notes / path_in(host, "odd.md")
    place.parent.mkdir(parents=True)
    place.write_bytes(b"# Odd\n\nThe newt is gr\xfcn here.\n")
    (hit,) = host.data("memory_search", query="newt")["hits"]
    assert "The newt is gr\ufffdn here." in hit["snippet"]
    assert "gr\ufffdn" in host.told("memory_get", path=hit["path"])
    assert host.refused("memory_get", "no note", path=path_in(host, "gr\udcfcn.md"))


def test_where_memory_is_off_nothing_is_told_and_nothing_kept(host, notes):
    off = host.of(memory=False)
    for tool, given in (
        ("memory_search", {"query": "tea"}),
        ("memory_get", {"path": "default/MEMORY.md"}),
        ("memory_write", {"text": "Tea."}),
        ("memory_forget", {"id": "y_1"}),
        ("research_search", {"query": "tea"}),
    ):
        off.refused(tool, "switched off", **given)
    assert not (notes / path_in(host)).exists()
    assert "No conversation here" in off.told("conversation_search", query="tea")
