"""QMD answers in place of our own search, shows nobody what is not theirs, and is never missed when it fails.

The command is our stand-in for it; the real one is in `test_qmd_real.py`.
"""

import os
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from holdfast.backends.qmd import QmdCollections, QmdSearch, find_hits, start_qmd
from holdfast.backends.qmd_process import (
    EVERY_MASK,
    OWN_MASK,
    QmdCommand,
    QmdFailed,
    QmdHit,
    QmdOptions,
    QmdProcess,
    is_allowed,
    matches_mask,
    parse_command,
    parse_extras,
    parse_results,
    parse_rules,
)
from holdfast.errors import ConfigError, NotFound
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.index import ExtraPaths
from holdfast.memory.service import MemoryService
from holdfast.memory.workspace import InMemoryWorkspace, NoteEntry
from holdfast.messages import Message, Scope
from holdfast.store import NewMessage, open_store
from tests.fakes import qmd as fake
from tests.waiting import wait_until

ME, BOB = Scope(), Scope("bob")
WORK = Scope(project="work")
CLUB = Scope(project="club", kind="group")
COMMAND = (sys.executable, "-SP", fake.__file__)
# Nobody waits for it: what does not hang is done long before.
PATIENT = 60.0


class Kit:
    """A workspace with notes, and QMD beside our own search."""

    def __init__(self, home: Path, **options) -> None:
        self.store = open_store("sqlite://")
        self.home, self.now = home, 0.0
        given = {"command": COMMAND, "timeout": PATIENT, **options}
        self.options = QmdOptions(home / "qmd", **given)
        self.workspace = home / "workspace"
        shared = [item.root for item in self.options.extra if item.shared]
        self.memory = MemoryService(
            self.store,
            FolderWorkspace(self.workspace),
            ChosenEmbedder(EmbedderOptions("off")),
            extra=ExtraPaths(shared, home) if shared else None,
        )
        self.keeper = QmdProcess(self.options)
        self.collections = QmdCollections(self.memory.workspace, self.options.extra)
        self.qmd = QmdSearch(
            self.keeper, self.collections, self.memory.own, self.memory.index, lambda: self.now
        )

    def write(self, path: str, text: str) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def read(self) -> None:
        assert self.qmd.refresh() == ""

    def search(self, query: str, scope: Scope = ME, **options):
        return self.qmd.search(query, scope, **{"within": "notes", **options})

    def ill(self, how: str) -> None:
        """Make the command fail, or mend it."""
        (self.options.home / "cache" / "qmd").mkdir(parents=True, exist_ok=True)
        (self.options.home / "cache" / "qmd" / "trouble").write_text(how)

    def close(self) -> None:
        self.qmd.close()
        self.memory.close()
        self.store.close()


@pytest.fixture
def kit(tmp_path):
    """One person's notes, for tests that do something to them."""
    with closing(Kit(tmp_path, mode="search")) as result:
        result.write("default/MEMORY.md", "# Memory\n\n- The heron nests in the old mill.\n- Tea at five.\n")
        result.read()
        yield result


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    with closing(Kit(tmp_path_factory.mktemp("library"))) as kit:
        kit.write("default/MEMORY.md", "# Memory\n\n- The heron nests in the old mill.\n- Tea at five.\n")
        kit.write("default/projects/work/MEMORY.md", "- The heron project ships in May.\n")
        kit.write("default/archive/2026-01.md", "- A heron of long ago.\n")
        kit.write("bob/MEMORY.md", "- Bob's heron is secret.\n")
        kit.write("groups/club/MEMORY.md", "- The club has a heron as its sign.\n")
        kit.read()
        yield kit


@pytest.fixture
def read(library):
    """The notes of several people, for tests that leave them alone."""
    yield library
    library.ill("")
    # Whatever failed is over.
    library.now += 1_000


def test_qmd_answers_with_the_memory_its_lines_and_a_trace(read):
    answer = read.search("where does the heron nest")
    (hit,) = answer.hits
    assert (hit.path, hit.lines, hit.snippet) == (
        "default/MEMORY.md",
        (3, 3),
        "The heron nests in the old mill.",
    )
    assert (answer.engines, hit.engines, answer.degraded) == (("qmd",), ("qmd",), ())
    assert hit.parts == {"qmd": hit.score}
    # The same thing under the same name as in our own search, so that all that is known of it is found.
    assert hit.id == read.memory.own.search("heron nest mill", ME, within="notes").hits[0].id
    assert (read.qmd.state()["answered_by"], read.qmd.state()["because"]) == ("qmd", None)


def test_equally_matching_memories_of_a_file_are_all_found(kit):
    herons = [f"The heron number {number} nests in the mill." for number in range(9)]
    kit.write(
        "default/MEMORY.md",
        "# Memory\n\n" + "".join(f"- {heron}\n- Tea at {heron[17]}.\n" for heron in herons),
    )
    kit.read()
    assert [hit.snippet for hit in kit.search("heron mill").hits] == herons[:6]
    (only,) = kit.search("heron number 7").hits
    assert only.snippet == herons[7]


def test_nobody_is_shown_the_notes_of_others(read):
    seen = {scope: {hit.path for hit in read.search("heron", scope).hits} for scope in (ME, WORK, BOB)}
    assert seen[ME] == {"default/MEMORY.md"}
    assert seen[WORK] == {"default/MEMORY.md", "default/projects/work/MEMORY.md"}
    assert seen[BOB] == {"bob/MEMORY.md"}
    assert {hit.path for hit in read.search("heron", WORK, own=True).hits} == {
        "default/projects/work/MEMORY.md"
    }


def test_a_pattern_that_qmd_reads_otherwise_shows_nobody_more(kit):
    kit.write("default/projects/work/MEMORY.md", "- The heron project ships in May.\n")
    kit.read()
    (name,) = [name for name, (root, _) in kit.keeper.state.collections.items() if root.endswith("/default")]
    kit.keeper.command.run(["collection", "remove", name], PATIENT)
    everything = ["collection", "add", str(kit.workspace / "default"), "--name", name, "--mask", "**/*.md"]
    kit.keeper.command.run(everything, PATIENT)
    answer = kit.search("heron project ships")
    assert {hit.path for hit in answer.hits} == {"default/MEMORY.md"}
    assert answer.degraded == ("1 results are left out: their files say something else by now.",)


def test_qmd_answers_for_group_only_if_rule_permits(read, tmp_path):
    answer = read.search("heron", CLUB)
    assert ([hit.path for hit in answer.hits], answer.engines) == (["groups/club/MEMORY.md"], ("fts5",))
    with closing(Kit(tmp_path, rules=parse_rules("deny group=chess, allow group"), mode="search")) as kit:
        kit.write("groups/club/MEMORY.md", "- The club has a heron as its sign.\n")
        kit.write("bob/MEMORY.md", "- Bob's heron is secret.\n")
        kit.read()
        assert kit.search("heron", CLUB).engines == ("qmd",)
        assert [hit.path for hit in kit.search("heron", CLUB).hits] == ["groups/club/MEMORY.md"]
        assert kit.search("heron", BOB).engines == ("fts5",)
        assert len(kit.keeper.state.collections) == 1


def test_answers_from_a_collection_nobody_asked_about_are_refused(read):
    read.ill("stranger")
    answer = read.search("heron")
    assert "qmd" not in answer.engines
    assert {hit.path for hit in answer.hits} == {"default/MEMORY.md"}
    assert "was not asked about" in answer.degraded[0]


@pytest.mark.parametrize(
    ("illness", "reason"),
    [
        ("nonsense", "none of them makes sense"),
        ("exit", "exit code 3: Error: database disk image is malformed"),
        ("flood", "it wrote more than"),
    ],
)
def test_our_own_search_answers_and_says_why_when_qmd_is_ill(read, illness, reason):
    read.ill(illness)
    answer = read.search("heron")
    assert answer.hits[0].snippet == "The heron nests in the old mill."
    assert answer.engines == ("fts5",)
    assert answer.degraded[0].startswith("Our own search answered, not QMD: ")
    assert reason in answer.degraded[0]
    state = read.qmd.state()
    assert state["answered_by"] == "holdfast"
    assert reason in state["because"]


def test_oversized_score_is_clamped_to_best_score():
    (results,) = parse_results(
        f'[{{"file": "qmd://notes/a.md", "score": {"9" * 400}, "snippet": "The heron."}}]'
    )
    assert results.score == 1.0


def test_nobody_waits_longer_than_its_time_for_what_hangs(kit):
    kit.ill("hang")
    kit.keeper.options = replace(kit.options, timeout=0.5)
    answer = kit.search("heron")
    assert answer.hits[0].path == "default/MEMORY.md"
    assert "not done with 'search' within 0.5 seconds" in answer.degraded[0]


def _gone(process: int) -> bool:
    """Whether it has ended; whoever inherited it may need a moment to see it off."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_failing_qmd_is_paused_and_then_retried(read):
    read.ill("exit")
    assert "exit code 3" in read.search("heron").degraded[0]
    read.ill("")
    read.now += 59.0
    report = read.search("heron").degraded[0]
    assert "exit code 3" in report
    assert "asked again in 1 seconds" in report
    read.now += 2.0
    assert (read.search("heron").engines, read.search("heron").degraded) == (("qmd",), ())
    assert read.qmd.state()["answered_by"] == "qmd"


def test_missing_program_is_named_and_used_once_installed(tmp_path):
    program = tmp_path / "bin" / "qmd"
    with closing(Kit(tmp_path, command=(str(program),), mode="search")) as kit:
        kit.write("default/MEMORY.md", "- The heron nests in the mill.\n")
        assert "There is no program" in kit.qmd.refresh()
        assert kit.search("heron").engines == ("fts5",)
        assert not kit.qmd.state()["found"]
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {COMMAND[0]} -SP "{COMMAND[2]}" "$@"\n')
        program.chmod(0o755)
        kit.read()
        assert kit.search("heron").engines == ("qmd",)
        assert kit.qmd.state()["trouble"] is None


def test_text_removed_from_file_is_hidden_despite_stale_qmd_index(kit):
    kit.write("default/MEMORY.md", "# Memory\n\n- Tea at five.\n")
    answer = kit.search("heron nests mill")
    assert answer.hits == ()
    assert "1 results are left out: their files say something else by now." in answer.degraded
    assert "1 changed files are not read again yet." in answer.degraded
    assert answer.freshness.stale == 1
    (kit.workspace / "default/MEMORY.md").unlink()
    assert kit.search("heron").hits == ()
    kit.write("default/MEMORY.md", "# New\n\nfirst\n\n- The heron nests in the old mill.\n")
    # It has only moved.
    assert [hit.lines for hit in kit.search("heron nests").hits] == [(5, 5)]


def test_notes_not_yet_indexed_by_qmd_use_built_in_search(read):
    read.write("carol/MEMORY.md", "- Carol's heron is blue.\n")
    answer = read.search("heron", Scope("carol"))
    assert [hit.snippet for hit in answer.hits] == ["Carol's heron is blue."]
    assert "has not read all of these notes yet" in answer.degraded[0]
    read.read()
    assert read.search("heron", Scope("carol")).engines == ("qmd",)


def test_limits_hold_for_hits_and_characters(tmp_path):
    with closing(Kit(tmp_path, limit=3, snippet=60, characters=150, mode="search")) as kit:
        for number in range(5):
            kit.write(
                f"default/note{number}.md", f"heron {number} {'nests in the old mill by the river ' * 5}\n"
            )
        kit.read()
        hits = kit.search("heron", limit=50).hits
        assert len(hits) == 2
        assert all(len(hit.snippet) <= 60 and hit.snippet.endswith("…") for hit in hits)
        kit.keeper.options = replace(kit.options, characters=9_999)
        assert len(kit.search("heron", limit=50).hits) == 3
        assert kit.search("heron", min_score=0.99).hits != ()
        assert (
            kit.search("heron unheard-of", min_score=0.99).empty
            == "What was found is below the minimum score."
        )


def test_conversations_and_kinds_of_memories_are_ours_to_find(read):
    talk = read.store.log.create(ME)
    text = [NewMessage(Message.of("user", "I saw a heron at the weir."))]
    read.store.log.append(talk.id, text, parent=None, expect=None)
    everywhere = read.search("heron", within="all")
    assert {hit.kind for hit in everywhere.hits} == {"note", "message"}
    assert everywhere.engines == ("qmd", "fts5")
    assert [hit.path for hit in read.search("heron", within="conversations").hits] == [talk.id]
    assert read.search("heron", kinds=["fact"]).engines == ("fts5",)
    assert read.search("  ?! ").engines == ("fts5",)


def test_no_question_is_taken_for_an_order(read):
    for query in (
        "-c heron",
        "--json",
        "lex: heron",
        "intent: heron",
        "vec:",
        "a\nb: heron",
        "heron; rm -rf /",
    ):
        assert read.search(query).engines == ("qmd",)


def test_external_notes_are_cited_and_read_by_collection_name(tmp_path):
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / "deep" / "Über uns.md").write_text("# About\n\nThe heron is our sign.\n")
    (docs / "top.md").write_text("not in the pattern\n")
    (docs / "deep" / "inner").mkdir()
    (docs / "deep" / "inner" / "secret.md").write_text("not in the pattern either\n")
    (docs / "deep" / "link.md").symlink_to(docs / "top.md")
    extra = parse_extras(f"docs={docs}/deep/*.md", tmp_path)
    with closing(Kit(tmp_path, extra=extra, mode="search")) as kit:
        kit.read()
        (hit,) = kit.search("heron sign").hits
        assert (hit.path, hit.citation) == ("qmd/docs/Über uns.md", "qmd/docs/Über uns.md#1")
        note = kit.qmd.resolve(ME, hit.path)
        assert note is not None
        assert "our sign" in note.text
        # Nobody else's, and no way out.
        assert kit.qmd.resolve(BOB, hit.path) is None
        assert kit.qmd.resolve(CLUB, hit.path) is None
        wrong = (
            "../top.md",
            "/deep",
            "",
            ".",
            "top.md",
            "inner/secret.md",
            "link.md",
            "gone.md",
            "über uns.md",
            "\0.md",
        )
        for path in wrong:
            with pytest.raises(NotFound):
                kit.qmd.resolve(ME, f"qmd/docs/{path}")
        assert kit.qmd.resolve(ME, "default/MEMORY.md") is None
        assert kit.qmd.resolve(ME, "qmd/MEMORY.md") is None
        # Another search would not know of it, and says so.
        kit.ill("exit")
        assert "Not searched, because only QMD reads them: docs." in kit.search("heron").degraded


def test_collections_follow_the_notes_and_what_somebody_added_by_hand_stays(kit):
    kit.write("bob/MEMORY.md", "- Bob's heron is secret.\n")
    kit.read()
    by_hand = kit.home / "hand"
    by_hand.mkdir()
    (by_hand / "a.md").write_text("The heron of somebody else.\n")
    kit.keeper.command.run(["collection", "add", str(by_hand), "--name", "hand"], PATIENT)
    before = kit.keeper.state.collections
    (kit.workspace / "bob" / "MEMORY.md").unlink()
    kit.memory.index.sync()
    kit.read()
    gone = set(before) - set(kit.keeper.state.collections)
    assert len(gone) == 1
    assert "bob" in gone.pop()
    listed = kit.keeper.command.run(["collection", "list"], PATIENT)
    assert "hand (qmd://hand/)" in listed
    assert "bob" not in listed
    assert "hand" not in kit.keeper.state.collections
    assert {hit.path for hit in kit.search("heron").hits} == {"default/MEMORY.md"}
    # In a home of ours, a name that we need is ours.
    mine = QmdCollections(kit.memory.workspace, parse_extras(f"hand={by_hand}", kit.home))
    assert kit.keeper.sync(mine.everywhere(kit.memory.index.everywhere())) == ""
    assert "hand" in kit.keeper.state.collections


def test_a_home_that_was_thrown_away_is_made_anew(kit):
    (kit.options.home / "cache" / "qmd" / "index.json").unlink()
    assert "Collection not found" in kit.search("heron").degraded[0]
    kit.read()
    kit.now = 100.0
    assert kit.search("heron").engines == ("qmd",)
    (kit.options.home / "state.json").write_text("{ no json")
    assert "has not read" in kit.search("heron").degraded[0]
    kit.read()
    assert kit.search("heron").engines == ("qmd",)


def test_an_old_version_is_refused_with_the_remedy(read):
    read.ill("old")
    trouble = read.qmd.refresh()
    assert "qmd 0.9.0 is not QMD 2 or newer" in trouble
    assert "npm install" in trouble
    assert read.qmd.state()["trouble"] == trouble
    read.ill("")
    read.read()
    assert read.qmd.state()["trouble"] is None


def test_vectors_are_made_when_due_and_never_in_words_mode(read, tmp_path):
    embedded = read.options.home / "cache" / "qmd" / "embedded"
    assert embedded.exists()
    embedded.unlink()
    read.read()
    assert not embedded.exists()
    assert read.qmd.refresh(embed=True) == ""
    assert embedded.exists()
    read.ill("no models")
    assert "huggingface" in read.qmd.refresh(embed=True)
    # It is not tried again at once.
    read.read()
    # It can still be asked: what was read is read.
    assert read.search("heron").engines == ("qmd",)
    read.ill("")
    read.read()
    with closing(Kit(tmp_path / "plain", mode="search")) as kit:
        kit.write("default/MEMORY.md", "- heron\n")
        kit.read()
        assert kit.qmd.refresh(embed=True) == ""
        assert not (kit.options.home / "cache" / "qmd" / "embedded").exists()


def test_a_home_that_cannot_be_made_costs_no_answer(tmp_path):
    (tmp_path / "qmd").write_text("in the way")
    with closing(Kit(tmp_path)) as kit:
        kit.write("default/MEMORY.md", "- The heron nests in the mill.\n")
        assert "cannot be run" in kit.qmd.refresh()
        answer = kit.search("heron")
        assert ([hit.path for hit in answer.hits], answer.engines) == (["default/MEMORY.md"], ("fts5",))


def test_reading_stops_when_somebody_comes_and_nothing_is_wrong(read):
    assert read.qmd.refresh(lambda: True) == ""
    assert read.qmd.state()["trouble"] is None


def test_closing_ends_running_process_tree_and_prevents_new_runs(kit):
    kit.ill("hang")
    answers = []
    asked = threading.Thread(target=lambda: answers.append(kit.search("heron")))
    asked.start()
    child = kit.options.home / "cache" / "qmd" / "child"
    while not child.exists() or not child.read_text():
        assert asked.is_alive()
        time.sleep(0.01)
    kit.keeper.close()
    asked.join(PATIENT)
    assert {hit.path for hit in answers[0].hits} == {"default/MEMORY.md"}
    wait_until(lambda: _gone(int(child.read_text())))
    assert "stopped" in kit.search("heron").degraded[0]


def test_qmd_runs_with_own_home_and_minimal_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "do not tell")
    command = QmdCommand(
        (sys.executable, "-c", "import os, json; print(json.dumps(dict(os.environ)))"), tmp_path
    )
    result = command.run([], PATIENT)
    assert "do not tell" not in result
    assert f'"XDG_CACHE_HOME": "{tmp_path / "cache"}"' in result
    assert f'"XDG_CONFIG_HOME": "{tmp_path / "config"}"' in result


def test_notes_on_remote_storage_use_built_in_search(tmp_path):
    with open_store("sqlite://") as store:
        workspace = InMemoryWorkspace()
        workspace.write("default/MEMORY.md", "- The heron nests in the mill.\n")
        options = QmdOptions(tmp_path / "qmd", COMMAND)
        embedder = ChosenEmbedder(EmbedderOptions("off"))
        with closing(MemoryService(store, workspace, embedder, qmd=partial(start_qmd, options))) as memory:
            answer = memory.search.search("heron", ME, within="notes")
            assert [hit.path for hit in answer.hits] == ["default/MEMORY.md"]
            assert "the notes are elsewhere" in answer.degraded[0]
            assert "the notes are elsewhere" in memory.state(ME)["backend"]["trouble"]


@examples(max_examples=60)
@given(st.text() | st.lists(st.dictionaries(st.sampled_from(["file", "score", "line"]), st.text())).map(str))
def test_whatever_it_writes_makes_sense_or_is_refused(output):
    try:
        results = parse_results(output)
    except QmdFailed:
        return
    assert all(result.collection and result.path and 0 <= result.score <= 1 for result in results)


LINES = st.lists(
    st.sampled_from(["- The heron nests.", "- Tea at five.", "# Memory", "", "otter"]), max_size=6
)


@examples(max_examples=60)
@given(old=LINES.filter(bool), new=LINES, best=st.integers(0, 5), first=st.integers(1, 4))
def test_a_hit_never_says_what_its_file_does_not(old, new, best, first):
    results = QmdHit("c", "MEMORY.md", 0.5, first + best, first, tuple(old))
    text = "\n".join(new)
    entry = NoteEntry(PurePosixPath("default/MEMORY.md"), len(text), 0.0, "1")
    hits = find_hits(results, "default/MEMORY.md", entry, text, ["heron", "tea"])
    assert all(line in text for hit in hits for line in hit.snippet.split("\n"))
    if best < len(old) and old[best] and old[best] not in new:
        assert hits == []


def test_noise_before_the_results_does_not_hide_them():
    noise = "\x1b[?25l⠋ Gathering information\n\x1b[2K[1A[2K[G\nExpanding query...\n"
    row = '[\n {"file": "qmd://a/b%20c.md", "score": 3, "snippet": "@@ -4,2 @@ (3 before)\\nx\\nyes..."}\n]'
    (item,) = parse_results(noise + row)
    assert (item.collection, item.path, item.score, item.first) == ("a", "b c.md", 1.0, 4)
    assert (item.lines, item.find_line(" yes, and more")) == (("x", "yes..."), 5)
    assert parse_results("No results found.\n") == []


@pytest.mark.parametrize(
    ("mask", "fits", "fits_not"),
    [
        (
            OWN_MASK,
            ["MEMORY.md", "memory/2026-01-01.md", "a/projects/x.markdown"],
            ["projects/x/a.md", "archive/a.md"],
        ),
        (EVERY_MASK, ["a.md", "a/b/c.markdown"], ["a.txt", "a.md.bak"]),
        ("*.md", ["a.md"], ["a/b.md"]),
        ("20??/**/*.md", ["2026/a.md", "2026/x/a.md"], ["202/a.md", "a.md"]),
    ],
)
def test_masks_mean_what_they_mean_to_qmd(mask, fits, fits_not):
    assert [path for path in (*fits, *fits_not) if matches_mask(mask, path)] == fits


def test_rules_apply_in_order_and_deny_by_default():
    rules = parse_rules("deny project=secret, allow private, allow group=club")
    assert [is_allowed(rules, scope) for scope in (ME, WORK, CLUB)] == [True, True, True]
    assert not is_allowed(rules, Scope(project="secret"))
    assert not is_allowed(rules, Scope(project="chess", kind="group"))
    assert not is_allowed((), ME)
    for wrong in ("permit private", "allow everyone", "allow"):
        with pytest.raises(ConfigError):
            parse_rules(wrong)


def test_paths_get_names_and_bad_ones_are_refused(tmp_path):
    (tmp_path / "notes").mkdir()
    text = os.pathsep.join(["docs=notes/2026/*.md", "notes", "one.md"])
    named = {
        extra.name: (extra.root, extra.mask) for extra in parse_extras(text, tmp_path, [tmp_path / "notes"])
    }
    assert named == {
        "docs": (tmp_path / "notes" / "2026", "*.md"),
        "notes": (tmp_path / "notes", EVERY_MASK),
        tmp_path.name: (tmp_path, "one.md"),
        "notes-2": (tmp_path / "notes", EVERY_MASK),
    }
    for wrong in ("a/b=notes", "holdfast-x=notes", os.pathsep.join(["a=notes", "a=other"])):
        with pytest.raises(ConfigError):
            parse_extras(wrong, tmp_path)
    with pytest.raises(ConfigError):
        parse_command("qmd 'open")
    with pytest.raises(ConfigError):
        parse_command(" ")
