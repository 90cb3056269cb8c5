"""The tools about memory: what is written is found, read and forgotten, inside the caller's scope only."""

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast import config
from holdfast.mcp.tools import LONGEST_REPLY, open_services
from holdfast.memory.base import SummaryNote
from holdfast.memory.scopes import folder
from tests.mcp.host import Host

# In the shape of a key, and none.
SECRET = f"sk-{'a1' * 16}"


def path_in(host, name="MEMORY.md"):
    return f"{folder(host.scope)}/{name}"


def put(notes, path, text):
    file = notes / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return path


def test_written_memory_is_found_with_source_and_readable_by_line(host):
    data = host.data("memory_write", text="The pump in the cellar is a Grundfos Alpha2.")
    assert data["action"] == "added"
    assert data["path"] == path_in(host)
    results = host.data("memory_search", query="Which pump is it?")
    (hit,) = results["hits"]
    assert hit["id"] == data["memory"]["id"]
    assert hit["path"] == path_in(host)
    assert 0.1 < hit["score"] <= 1
    assert hit["parts"]["words"] > 0
    assert hit["citation"] == f"Source: {path_in(host)}#{hit['lines'][0]}"
    assert results["engines"] == ["fts5"]
    assert results["freshness"]["stale"] == 0
    text = host.told("memory_get", path=hit["path"], from_line=hit["lines"][0], lines=1)
    assert text.endswith("- The pump in the cellar is a Grundfos Alpha2.")
    assert "Grundfos" in host.told("memory_get", path=hit["citation"].removeprefix("Source: "))
    assert "Grundfos" in host.told("memory_get", path=hit["id"])


def test_search_answer_describes_method_and_limitations(host):
    host.told("memory_write", text="The gate opens at seven.")
    text = host.told("memory_search", query="gate")
    assert f"Source: {path_in(host)}#5" in text
    assert "Name the source" in text
    assert "score 0." in text
    assert "Searched by fts5; index up to date" in text
    assert "Note: Only words were compared" in text
    assert "Nothing found." in host.told("memory_search", query="zeppelin")


def test_sources_are_told_only_where_they_are_wanted(host, parts):
    host.told("memory_write", text="The heron fishes at the weir.")
    silent = Host(replace(parts, citations="off"), host.scope)
    text = silent.told("memory_search", query="heron weir")
    assert "Source:" not in text
    assert "Name the source" not in text
    assert "heron fishes" in text


def test_what_fits_badly_is_no_hit(host, notes):
    for number in range(60):
        put(notes, path_in(host, f"{number}.md"), f"The heron number {number} stands by the river.\n")
    data = host.data("memory_search", query="zzzz quux blorb river?")
    text = host.told("memory_search", query="zzzz quux blorb river?")
    assert (data["hits"], data["weak"]) == ([], True)
    assert "Nothing fits well" in text
    assert "heron" not in text
    assert host.data("memory_search", query="What does the heron do?")["hits"]


def test_a_new_memory_takes_the_place_of_what_it_contradicts(host):
    old = host.data("memory_write", text="The meeting is on Monday.", kind="decision")
    data = host.data("memory_write", text="The meeting is on Tuesday.", kind="decision")
    assert [item["id"] for item in data["replaced"]] == [old["memory"]["id"]]
    note = host.told("memory_get", path=path_in(host))
    assert "The meeting is on Tuesday." in note
    assert "Monday" not in note
    assert "<!--" not in note
    assert "Monday" not in host.ask("read_resource", f"holdfast://notes/{path_in(host)}").contents[0].text
    former = host.told("memory_get", path=old["memory"]["id"])
    assert former.startswith("No longer holds. Now: The meeting is on Tuesday.")
    assert "In place of: The meeting is on Monday." in host.told("memory_get", path=data["memory"]["id"])
    assert "Monday" not in host.told("memory_search", query="When is the meeting?")
    assert host.data("memory_write", text="The meeting is on Tuesday.", kind="decision")["action"] != "added"


def test_a_memory_is_the_users_or_the_projects(host):
    mine = host.data("memory_write", text="The user prefers metric units.", kind="preference")
    theirs = host.data("memory_write", text="Never commit generated files.", kind="preference")
    asked = host.data("memory_write", text="The build needs 16 GB of memory.", scope="user")
    assert [result["memory"]["scope"]["project"] for result in (mine, theirs, asked)] == [
        "default",
        host.scope.project,
        "default",
    ]
    assert theirs["memory"]["kind"] == "decision"
    listed = host.data("memory_list", scope="project")
    assert [memory["text"] for memory in listed["memories"]] == ["Never commit generated files."]
    assert "16 GB" in host.told("memory_list", scope="user", kind="fact")
    assert "of the project" in host.told("memory_list", kind="decision")
    host.of("default").refused("memory_write", "no project", text="Tea.", scope="project")
    host.of("default", "chess", "group").refused("memory_write", "no user", text="Tea.", scope="user")


def test_lists_come_in_parts(host):
    for number in range(5):
        host.told("memory_write", text=f"Beehive {number} stands on field {number * 31}.")
    page = host.data("memory_list", scope="project", limit=2, offset=1)
    assert page["total"] == 5
    assert [memory["text"][:9] for memory in page["memories"]] == ["Beehive 3", "Beehive 2"]
    assert "2 more: memory_list with offset 3." in host.told(
        "memory_list", scope="project", limit=2, offset=1
    )


def test_the_profile_is_told_and_groups_have_none(host, parts):
    ada = host.of("ada", host.scope.project)
    assert "empty" in ada.told("profile")
    parts.remembering.profile.set(ada.scope, "name", "Ada")
    assert "Ada" in ada.told("profile")
    assert ada.data("profile")["profile"]["name"] == "Ada"
    assert host.of("ada", "chess", "group").data("profile")["profile"] == {}


def test_a_brief_is_a_tool_a_prompt_and_a_resource(host):
    ada = host.of("ada", host.scope.project)
    assert "Nothing is known" in ada.told("brief")
    host.told("memory_write", text="Never push to main.", kind="decision")
    brief = host.data("brief", window=8_192)
    assert brief["forbidden"][0]["text"] == "Never push to main."
    for text in (
        host.told("brief"),
        host.ask("get_prompt", "brief").messages[0].content.text,
        host.ask("read_resource", "holdfast://brief").contents[0].text,
    ):
        assert "Never push to main." in text
    assert host.ask("list_resources").resources[0].uri == "holdfast://brief"


def test_what_is_forgotten_is_found_no_more(host):
    data = host.data("memory_write", text="The old code of the shed was written on the door.")
    name = data["memory"]["id"]
    assert name in host.told("memory_forget", id=name)
    assert host.data("memory_search", query="shed")["hits"] == []
    host.refused("memory_forget", name, id=name)


def test_secrets_and_private_parts_are_not_kept(host, notes):
    report = host.told("memory_write", text=f"The key of the API is {SECRET}, it is in the vault.")
    assert SECRET not in report
    assert "taken out" in report
    host.told("memory_write", text="Anna likes tea. <private>She is ill.</private>")
    text = (notes / path_in(host)).read_text()
    assert SECRET not in text
    assert "tea" in text
    assert "ill" not in text
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
    data = host.data("memory_search", query="walrus ice", limit=20)
    assert len(data["hits"]) + data["left_out"] == 20
    if data["left_out"]:
        assert f"{data['left_out']} more hits were left out" in whole
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
        ("memory_list", {}),
        ("profile", {}),
        ("brief", {}),
        ("research_search", {"query": "tea"}),
    ):
        off.refused(tool, "switched off", **given)
    assert not (notes / path_in(host)).exists()
    assert "No conversation here" in off.told("conversation_search", query="tea")


def test_a_workspace_of_openclaw_is_read_and_searched_in_place(tmp_path):
    claw = tmp_path / ".openclaw" / "workspace"
    put(claw, "MEMORY.md", "# Memory\n\n- The greenhouse is heated to 14 degrees.\n")
    put(claw, "memory/2026-02-24.md", "# 2026-02-24\n\nThe glazier comes about the cracked pane.\n")
    put(claw, "USER.md", "Her name is Wilhelmina.\n")
    before = {file: file.read_bytes() for file in claw.rglob("*.md")}
    given = {"home": tmp_path / "home", "embedder": "off", "workspace": str(claw)}
    with open_services(config.load(given, environ={}).settings) as parts:
        host = Host(parts)
        for query, name in (
            ("How warm is the greenhouse?", "MEMORY.md"),
            ("When does the glazier come?", "memory/2026-02-24.md"),
            ("Wilhelmina", "USER.md"),
        ):
            hit = host.data("memory_search", query=query)["hits"][0]
            assert hit["path"] == str(claw / name)
        assert "14 degrees" in host.told("memory_get", path=str(claw / "MEMORY.md"))
        host.told("memory_write", text="The greenhouse has a new door.")
        host.of("anna").refused("memory_get", path=str(claw / "MEMORY.md"))
        put(claw, "TOOLS.md", "The saw is called Ferdinand.\n")
        assert host.data("memory_search", query="Ferdinand saw")["hits"]
    assert all(file.read_bytes() == content for file, content in before.items())
