"""`holdfast memory`: what is remembered can be read, found, corrected, forgotten, and moved in and out."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from holdfast.errors import BadRequest, HoldfastError, NotFound
from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.library import Library
from holdfast.memory.notes import Notes
from holdfast.messages import Message, Scope
from holdfast.store import open_store
from tests.cli.test_conversations import fails
from tests.talks import store_talk
from tests.upstreams.fake_servers import server


@pytest.fixture
def hold(hold, monkeypatch):
    """Meaning is for other tests: without an embedder a command takes no seconds."""
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
    return hold


def keep(hold, *words):
    return json.loads(hold("memory", "add", *words, "--json"))["memory"]["id"]


def list_texts(hold, *words):
    return [memory["text"] for memory in json.loads(hold("memory", "list", *words, "--json"))["memories"]]


def test_what_is_added_is_listed_newest_first_with_its_kind(hold):
    assert "Remembered: y_" in hold("memory", "add", "The", "kestrel", "nests", "[here]")
    keep(hold, "We chose SQLite", "--kind", "decision")
    assert list_texts(hold) == ["We chose SQLite", "The kestrel nests [here]"]
    assert list_texts(hold, "--kind", "fact") == ["The kestrel nests [here]"]
    assert list_texts(hold, "--text", "sqlite") == ["We chose SQLite"]
    shown = hold("memory", "list", "--limit", "1")
    assert "decision" in shown
    assert "1–1 of 2 · more with --offset 1" in shown
    assert list_texts(hold, "--limit", "1", "--offset", "1") == ["The kestrel nests [here]"]
    assert "Known already" in hold("memory", "add", "We chose SQLite.", "--kind", "decision")


def test_an_unsure_replacement_waits_for_a_decision(hold):
    keep(hold, "Der Kurs kostet 120 Euro.")
    assert "May replace an older one" in hold("memory", "add", "Der Kurs in Bonn kostet 135 Euro.")
    (proposal,) = json.loads(hold("memory", "proposals", "--json"))
    assert proposal["older"]["text"] == "Der Kurs kostet 120 Euro."
    assert "Replaced: Der Kurs kostet 120 Euro." in hold("memory", "replace", proposal["newer"]["id"])
    assert list_texts(hold) == ["Der Kurs in Bonn kostet 135 Euro."]
    assert "nothing to decide" in hold("memory", "proposals")


def test_an_empty_memory_says_how_to_begin(hold, monkeypatch):
    assert "memory add" in hold("memory", "list")
    assert "nothing here to search" in hold("memory", "search", "kestrel")
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    assert "noch nichts gemerkt" in hold("memory", "list")
    assert "noch nichts zu durchsuchen" in hold("memory", "search", "kestrel")


def test_a_memory_is_shown_corrected_and_forgotten(hold, home):
    name = keep(hold, "The kestrel nests on the tower")
    shown = hold("memory", "show", name)
    assert "The kestrel nests on the tower" in shown
    assert "default/MEMORY.md" in shown
    edited = json.loads(hold("memory", "edit", name, "The falcon nests there", "--pin", "--json"))
    assert (edited["text"], edited["pinned"], edited["id"]) == ("The falcon nests there", True, name)
    assert "importance: 0.1" in hold("memory", "edit", name, "--importance", "0.1")
    fails(hold("memory", "forget", name, whole=True), BadRequest, "--yes")
    assert list_texts(hold) == ["The falcon nests there"]
    assert name in hold("memory", "forget", name, "--yes")
    assert list_texts(hold) == []
    assert "falcon" not in (home / "workspace" / "default" / "MEMORY.md").read_text()
    for command in ("show", "edit", "forget"):
        fails(hold("memory", command, name, whole=True), NotFound, name)


def test_what_is_forgotten_leaves_the_windows_that_quote_it(hold, home):
    chat, name = store_talk(home, Message.of("user", "Hello")), keep(hold, "The kestrel nests on the tower")
    with open_store(f"sqlite:///{home / 'holdfast.db'}") as store:
        quoted = {"text": "Known:\n2026-01-01: The kestrel nests on the tower", "memories": [name]}
        figures = {"tokens_before": 0, "tokens_after": 9, "reason": "recalled"}
        store.decisions.record(
            "lane", chat, kind="add", rule="memory", messages=("m_1",), data=quoted, **figures
        )
        hold("memory", "forget", name, "--yes")
        first, second = store.decisions.of("lane")
    assert (first.data, second.rule) == ({"text": "", "memories": []}, "forgotten")


def test_without_new_words_the_editor_opens(hold, monkeypatch):
    name = keep(hold, "The kestrel nests on the tower")
    monkeypatch.setenv("EDITOR", "sed -i s/kestrel/falcon/")
    assert "The falcon nests" in hold("memory", "edit", name)
    monkeypatch.setenv("EDITOR", "false")
    fails(hold("memory", "edit", name, whole=True), HoldfastError, "EDITOR")


def test_search_names_the_source_the_score_and_how_it_was_found(hold):
    keep(hold, "The fix is in commit a828e60")
    keep(hold, "Die Wahl der Datenbank fiel auf PostgreSQL", "--kind", "decision")
    shown = hold("memory", "search", "a828e60", whole=True)
    assert "The fix is in commit a828e60" in shown.stdout
    assert "Source: default/MEMORY.md#5" in shown.stdout
    assert "word for word" in shown.stdout
    assert "Compared by: fts5" in shown.stdout
    assert "index: 1 files, last read" in shown.stdout
    assert "Only words were compared" in shown.stderr
    assert "Source" not in hold("memory", "search", "a828e60", "--citations", "off")
    answer = json.loads(hold("memory", "search", "Datenbankwahl", "--kind", "decision", "--json"))
    assert "Wahl der Datenbank" in answer["hits"][0]["snippet"]
    assert answer["hits"][0]["citation"].startswith("Source: default/MEMORY.md#")
    assert "Nothing has any of these words" in hold("memory", "search", "albatross")


def test_a_question_of_any_length_or_of_punctuation_is_answered(hold):
    keep(hold, "The kestrel nests on the tower")
    assert "kestrel" in hold("memory", "search", "kestrel " + "word " * 20_000)
    assert "no word in the question" in hold("memory", "search", "?!")


def test_stats_count_and_reindex_catches_up(hold, home):
    keep(hold, "The kestrel nests on the tower")
    assert "1 changed since" in hold("memory", "stats")
    again = hold("memory", "reindex", whole=True)
    assert "index: 1 files" in again.stdout
    assert "Reading notes: 100 %" in again.stderr
    stats = json.loads(hold("memory", "stats", "--json"))
    assert (stats["active"], stats["index"]["files"], stats["index"]["stale"]) == (1, 1, 0)
    assert stats["vectors"]["embedder"] is None
    (home / "workspace" / "default" / "blob.md").write_bytes(b"\0\1")
    assert "blob.md" in hold("memory", "reindex", whole=True).stderr
    assert "default/blob.md" in json.loads(hold("memory", "reindex", "--json"))["index"]["skipped"]


def test_what_goes_out_comes_in_elsewhere(hold, tmp_path, monkeypatch):
    keep(hold, "The kestrel nests on the tower")
    keep(hold, "Called the gardener", "--kind", "note")
    file = tmp_path / "out.json"
    assert hold("memory", "export", "-o", str(file)) == ""
    assert "- The kestrel nests on the tower" in hold("memory", "export", "--format", "markdown")
    assert hold("memory", "export", "--json") == file.read_text()
    assert "2 known already" in hold("memory", "import", str(file))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "other"))
    assert json.loads(hold("memory", "import", str(file), "--json"))["added"] == 2
    assert sorted(list_texts(hold)) == ["Called the gardener", "The kestrel nests on the tower"]
    file.write_text('{"text": 7}\n{"text": "A heron"}\n')
    taken = hold("memory", "import", str(file), whole=True)
    assert "1 new, 1 not readable" in taken.stdout
    assert "line 1" in taken.stderr
    fails(hold("memory", "import", str(tmp_path / "none"), whole=True), HoldfastError, "cannot be read")
    fails(hold("memory", "export", "-o", str(tmp_path), whole=True), HoldfastError, "-o")


def test_what_an_export_has_not_is_told_beside_it(hold, home):
    keep(hold, "The kestrel nests on the tower")
    (home / "workspace" / "default" / "memory").mkdir()
    (home / "workspace" / "default" / "memory" / "2026-01-01.md").write_bytes(b"\0")
    result = hold("memory", "export", whole=True)
    out = json.loads(result.stdout)
    assert [memory["text"] for memory in out["memories"]] == ["The kestrel nests on the tower"]
    assert "2026-01-01.md is no text" in out["left_out"][0]
    assert "Left out: default/memory/2026-01-01.md is no text" in " ".join(result.stderr.split())
    assert "2026-01-01.md" in hold("memory", "export", "--format", "markdown", whole=True).stderr


def test_clearing_needs_the_name_and_stays_in_its_scope(hold):
    keep(hold, "The kestrel nests on the tower")
    keep(hold, "The falcon nests in the oak", "--project", "garden")
    fails(hold("memory", "clear", whole=True), BadRequest, "--confirm default")
    fails(hold("memory", "clear", "--confirm", "garden", whole=True), BadRequest, "--confirm default")
    named = ("--project", "garden", "--confirm", "default/projects/garden")
    assert "1 memories forgotten" in hold("memory", "clear", *named)
    assert list_texts(hold, "--project", "garden") == ["The kestrel nests on the tower"]


@pytest.mark.slow
def test_on_a_terminal_clearing_asks_for_the_name(hold):
    keep(hold, "The kestrel nests on the tower")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "holdfast", "memory", "clear"]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ)
    os.close(theirs)
    text = b""
    while b"type default" not in text:
        text += os.read(ours, 1024)
    os.write(ours, b"default\n")
    assert process.wait(60) == 0
    os.close(ours)
    assert list_texts(hold) == []


def test_nonsense_is_refused_in_a_sentence(hold):
    fails(hold("memory", "add", "x", "--kind", "rumour", whole=True), BadRequest, "rumour", "decision")
    fails(hold("memory", "add", " ", whole=True), BadRequest, "words")
    fails(hold("memory", "add", "x", "--importance", "7", whole=True), BadRequest, "between 0 and 1")
    fails(hold("memory", "add", "<private>x</private>", whole=True), BadRequest, "secret")
    fails(hold("memory", "list", "--kind", "rumour", whole=True), BadRequest, "rumour")
    fails(hold("memory", "search", "x", "--kind", "rumour", whole=True), BadRequest, "rumour")
    fails(hold("memory", "list", "--scope", "project", whole=True), BadRequest, "--project")
    assert hold("memory", "list", "--scope", "everybody", whole=True).exit_code == 2
    assert hold("memory", "search", "x", "--limit", "0", whole=True).exit_code == 2


@pytest.fixture
def everyone(home):
    """Memories of everybody there could be, by a word that only they have."""
    scopes = {
        "apple": Scope(),
        "birch": Scope(project="garden"),
        "cedar": Scope(project="house"),
        "dahlia": Scope(project="garden", kind="group"),
        "elder": Scope("ben"),
        "fern": Scope("ben", "garden"),
    }
    home.mkdir(parents=True)
    with open_store(f"sqlite:///{home / 'holdfast.db'}") as store:
        library = Library(Notes(home / "workspace"), store.recollections)
        return {
            word: library.add(scope, f"The password there is {word}").memory.id
            for word, scope in scopes.items()
        }


@pytest.mark.parametrize(
    ("where", "sees"),
    [
        (("--project", "default"), {"apple"}),
        (("--project", "garden"), {"apple", "birch"}),
        (("--project", "garden", "--scope", "user"), {"apple"}),
        (("--project", "garden", "--scope", "project"), {"birch"}),
    ],
)
def test_lists_and_searches_see_their_own_scope_only(hold, everyone, where, sees):
    assert {text.split()[-1] for text in list_texts(hold, *where)} == sees
    hits = json.loads(hold("memory", "search", "password", *where, "--json", "--within", "all"))["hits"]
    assert {hit["id"] for hit in hits} == {everyone[word] for word in sees}


def test_nothing_is_read_or_changed_across_a_border(hold, everyone):
    export = hold("memory", "export", "--project", "garden")
    assert {word for word in everyone if word in export} == {"apple", "birch"}
    for word, memory in everyone.items():
        if word in ("apple", "birch"):
            assert word in hold("memory", "show", memory, "--project", "garden")
            continue
        for command in (("show", memory), ("edit", memory, "Taken over"), ("forget", memory, "--yes")):
            fails(hold("memory", *command, "--project", "garden", whole=True), NotFound, memory)


def run_doctor(hold):
    result = hold("doctor", "--json", whole=True)
    assert result.exit_code in (0, 1), result.exception
    return {item["about"]: item for item in json.loads(result.stdout)}


def test_doctor_says_what_finds_memories_and_how_far_the_index_is(hold, home, monkeypatch):
    monkeypatch.setenv("HOLDFAST_UPSTREAM", "http://127.0.0.1:9")
    keep(hold, "The kestrel nests on the tower")
    findings = run_doctor(hold)
    assert findings["embedder"]["found"].startswith("off")
    assert "1 changed since" in findings["Index"]["found"]
    (home / "workspace" / "default" / "blob.md").write_bytes(b"\0\1")
    hold("memory", "reindex")
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "ollama+http://127.0.0.1:9")
    findings = run_doctor(hold)
    assert (findings["Index"]["state"], "blob.md" in findings["Index"]["found"]) == ("note", True)
    assert (findings["embedder"]["state"], "127.0.0.1:9" in findings["embedder"]["found"]) == ("note", True)


def test_doctor_has_a_sentence_embedded_and_tells_what_came_of_it(hold, monkeypatch):
    monkeypatch.setenv("HOLDFAST_UPSTREAM", "http://127.0.0.1:9")
    asked = []

    def embeddings(body):
        asked.append(body["input"])
        rows = HashingEmbedder(64).embed(body["input"]).tolist() if len(asked) < 4 else []
        return {"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]}

    with server({"/v1/embeddings": embeddings}) as known:
        monkeypatch.setenv("HOLDFAST_EMBEDDER", f"openai+{known.url}/v1")
        well, ill = run_doctor(hold)["embedder"], run_doctor(hold)["embedder"]
    assert (well["state"], well["remedy"]) == ("ok", "")
    assert re.search(r": 64 dimensions, one sentence in \d+\.\d s$", well["found"])
    assert any("gateway" in texts[0] for texts in asked)
    assert ill["state"] == "note"
    assert ill["found"]
    assert "only words are compared" in ill["remedy"]


def test_a_change_is_seen_and_taken_back_by_short_id(hold):
    first = hold("memory", "add", "The lease ends in May").split()[-1]
    hold("memory", "edit", first, "The lease ends in June")
    shown = hold("memory", "history", first[:-4])
    assert shown.index("June") < shown.index("May")
    assert hold("memory", "undo", first) == "Holds again: The lease ends in May\n"
    assert "ends in May" in hold("memory", "show", first)
    second = hold("memory", "add", "The dog is called Rex").split()[-1]
    assert "replaced nothing" in str(hold("memory", "undo", second, whole=True).exception)
    assert "2 ids begin" in str(hold("memory", "show", first[:5], whole=True).exception)


def test_a_list_names_its_project_and_where_else_there_is_something(hold):
    added = hold("memory", "add", "Ships on Thursdays", "--project", "harbour")
    assert "--project harbour" in added
    assert "In other projects: harbour (1)" in hold("memory", "list")
    assert "Project: harbour" in hold("memory", "list", "--project", "harbour")


def test_an_expected_command_leads_to_the_real_one(hold):
    result = hold("search", "lease", whole=True)
    assert (result.exit_code, "holdfast memory search" in result.output) == (2, True)
