"""Memories in Markdown files: readable, written once, and never at the cost of what a person wrote."""

import signal
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from holdfast.errors import StoreError
from holdfast.memory.base import Memory, SummaryNote
from holdfast.memory.items import add_items, normalise, read_ids, read_memories
from holdfast.memory.notes import Notes
from holdfast.memory.scopes import memory_file, safe_name, summary_file
from holdfast.messages import Scope

ME = Scope()
FACT = Memory(
    id="m_1",
    kind="fact",
    text="The server in Kiel is called arion.",
    scope=ME,
    importance=0.7,
    conversation="c_1",
    messages=("n_1", "n_2"),
    valid_from=1_771_900_000.25,
    language="en",
)
SUMMARY = SummaryNote(
    "s_1", "c_1", "A move", "## Goal\nMove to Kiel.", ME, 42, "n_1", "n_42", 1_771_900_000.0, "en"
)


def fact(name: str, text: str = "", **changes) -> Memory:
    return replace(FACT, id=name, text=text or f"Fact {name}.", **changes)


@pytest.fixture
def notes(tmp_path):
    return Notes(tmp_path / "workspace")


@pytest.fixture
def file(tmp_path):
    """The person's own MEMORY.md, in a folder that is there already."""
    path = tmp_path / "workspace" / "default" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    return path


def everything_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# How it looks


def test_a_file_reads_like_notes(notes, tmp_path):
    decision = replace(FACT, id="m_2", kind="decision", text="We stay with SQLite.", messages=())
    notes.write([FACT, decision])
    assert (tmp_path / "workspace/default/MEMORY.md").read_text() == (
        "# Memory\n"
        "\n"
        "## Facts\n"
        "\n"
        "- The server in Kiel is called arion.\n"
        '  <!-- holdfast {"id":"m_1","kind":"fact","importance":0.7,"conversation":"c_1",'
        '"messages":["n_1","n_2"],"valid_from":"2026-02-24T02:26:40.250000+00:00","language":"en"} -->\n'
        "\n"
        "## Decisions\n"
        "\n"
        "- We stay with SQLite.\n"
        '  <!-- holdfast {"id":"m_2","kind":"decision","importance":0.7,"conversation":"c_1",'
        '"valid_from":"2026-02-24T02:26:40.250000+00:00","language":"en"} -->\n'
    )


def test_headings_use_language_of_first_memory_and_are_found_in_either(notes, tmp_path):
    notes.write([fact("m_1", "Der Server heißt arion.", language="de")])
    notes.write([fact("m_2", "The other one is bree.", language="en")])
    text = (tmp_path / "workspace/default/MEMORY.md").read_text()
    assert text.startswith("# Gedächtnis\n\n## Fakten\n\n- Der Server heißt arion.\n")
    assert text.count("## ") == 1
    assert text.index("arion") < text.index("bree")


@pytest.mark.parametrize(
    ("scope", "kind", "path"),
    [
        (ME, "fact", "default/MEMORY.md"),
        (Scope(user="anna"), "decision", "anna/MEMORY.md"),
        (Scope(project="holdfast"), "fact", "default/projects/holdfast/MEMORY.md"),
        (Scope(project="holdfast"), "preference", "default/MEMORY.md"),
        (Scope(project="chess", kind="group"), "fact", "groups/chess/MEMORY.md"),
        (Scope(project="chess", kind="group"), "preference", "groups/chess/MEMORY.md"),
        (Scope(kind="group"), "fact", "groups/default/MEMORY.md"),
    ],
)
def test_each_memory_has_its_file(notes, tmp_path, scope, kind, path):
    notes.write([replace(FACT, scope=scope, kind=kind)])
    assert everything_in(tmp_path / "workspace") == {path, ".lock"}


# Reading back


def test_what_was_written_is_read_back(notes):
    memories = [FACT, replace(FACT, id="m_2", kind="preference", importance=1, messages=(), valid_from=0.0)]
    notes.write(memories)
    assert notes.read(ME) == memories


def test_project_sees_own_and_personal_notes_but_group_only_its_own(notes):
    garden, chess = Scope(project="garden"), Scope(project="chess", kind="group")
    notes.write([fact("mine"), fact("garden", scope=garden), fact("group", scope=chess)])
    notes.write([fact("theirs", scope=Scope(user="anna"))])
    notes.write([fact("liking", kind="preference", scope=garden)])

    def seen(scope):
        return {(memory.id, memory.scope) for memory in notes.read(scope)}

    assert seen(ME) == {("mine", ME), ("liking", ME)}
    assert seen(garden) == {("mine", ME), ("liking", ME), ("garden", garden)}
    assert seen(chess) == {("group", chess)}
    assert seen(Scope(project="garden", kind="group")) == set()
    assert seen(Scope(user="nobody")) == set()


texts = st.text(
    st.one_of(st.sampled_from("\n\r \t-<>!\\#*`{}[]~=.1ab"), st.characters()), min_size=1, max_size=60
)


@given(st.lists(texts, min_size=1, max_size=4), st.text(max_size=10))
@example(["a --> b <!-- c", "<!-->", r"<\!-- --\>"], "-->")
@example(["first\n\n- second\n  third\n# fourth\n```", "- \n* x\n1. y"], "<!--")
@example(['<!-- holdfast {"id":"m_9","kind":"fact"} -->', "\ud800 \0 \u2028 x"], "\ud800")
def test_any_text_stays_one_item_and_reads_back(written, conversation):
    memories = [
        fact(f"m_{at}", text, conversation=conversation) for at, text in enumerate(written) if normalise(text)
    ]
    text = add_items("", memories)
    text.encode()
    read = read_memories(text, ME)
    assert [(memory.id, memory.text) for memory in read] == [
        (memory.id, normalise(memory.text)) for memory in memories
    ]
    assert read_ids(text) == {memory.id for memory in memories}
    assert add_items(text, memories) == text


def test_a_memory_without_words_is_none(notes, tmp_path):
    notes.write([fact("m_1", " \n ")])
    assert everything_in(tmp_path / "workspace") == set()


# Written once


def test_writing_again_changes_nothing(notes, tmp_path):
    notes.write([FACT, FACT])
    path = tmp_path / "workspace/default/MEMORY.md"
    before, node = path.read_bytes(), path.stat().st_ino
    notes.write([FACT, replace(FACT, text="Something else under the same id.")])
    assert (path.read_bytes(), path.stat().st_ino) == (before, node)


def test_what_a_person_changed_about_an_item_stays(notes, file):
    notes.write([FACT, fact("m_2"), fact("m_3")])
    changed = file.read_text().replace("arion", "bree").replace("- Fact m_2.\n", "")
    changed = changed.replace('"importance":0.7', '"importance":"very high"', 1)
    file.write_text(changed)
    notes.write([FACT, fact("m_2"), fact("m_3")])
    assert file.read_text() == changed
    first, third = notes.read(ME)
    assert (first.text, first.importance, first.messages) == (
        "The server in Kiel is called bree.",
        0.5,
        ("n_1", "n_2"),
    )
    assert third == fact("m_3")


@pytest.mark.parametrize(
    ("edited", "text"),
    [
        ("* Moved to Oslo. {comment}\n", "Moved to Oslo."),
        ("3. Moved to\nOslo.\n   {comment}\n", "Moved to\nOslo."),
        ("-   Moved to Oslo.\n\n\t{comment}\n\nSomething else.\n", "Moved to Oslo."),
        ("- Moved to Oslo.\n  {comment}\n  In June.\nSomething else.\n", "Moved to Oslo.\n\nIn June."),
        ("## Mine\r\n- Moved to Oslo.\r\n  {comment}\r\n## Other\r\n", "Moved to Oslo."),
        ("- Hers.\n- Moved to Oslo.\n  {comment}\n- His.\n", "Moved to Oslo."),
    ],
)
def test_reading_is_lenient_to_a_persons_hand(notes, file, edited, text):
    comment = '<!-- holdfast {"id":"m_1","kind":"fact","valid_from":"2026-02-24"} -->'
    file.write_bytes(edited.format(comment=comment).encode())
    (memory,) = notes.read(ME)
    assert (memory.id, memory.text, memory.valid_from) == ("m_1", text, 1_771_891_200.0)


@pytest.mark.parametrize(
    "damaged",
    [
        "- Moved. <!-- holdfast {'id': 'm_1'} -->",
        '- Moved. <!-- holdfast {"id":"m_1","kind":"rumour"} -->',
        '- Moved. <!-- holdfast {"kind":"fact"} -->',
        '- Moved. <!-- holdfast {"id":"m_1","kind":"fact"',
        '- <!-- holdfast {"id":"m_1","kind":"fact"} -->',
        "- Moved. <!-- holdfast {} -->",
    ],
)
def test_an_item_with_a_damaged_comment_is_left_to_the_person(notes, file, damaged):
    file.write_text(damaged)
    assert notes.read(ME) == []
    notes.write([fact("m_2")])
    assert file.read_text().startswith(damaged)
    assert [memory.id for memory in notes.read(ME)] == ["m_2"]


# What a person wrote


ODD_LINES = [
    *(
        "# Memory",
        "## Facts",
        "## Fakten:",
        "Facts",
        "===",
        "---",
        "```",
        "~~~",
        "<!--",
        "-->",
        "> x",
        "- one",
    ),
    *("  two", "\tthree", "1. four", "    ## Facts", "", "  ", "- [ ] todo", "<div>", "| a |", "- mine"),
    *("\ufeff# Top", "* * *", '  <!-- holdfast {"id":"p","kind":"fact"} -->'),
]
person = st.lists(st.one_of(st.sampled_from(ODD_LINES), st.text(max_size=12)), max_size=12)


def shared(text: str, other: str) -> int:
    """How many characters both begin with."""
    return next(
        (at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other))
    )


@example(["## Facts", "  two", "==="], "\n", False, "New.")
@given(person, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), texts)
def test_a_new_item_leaves_every_other_character_as_it_was(lines, newline, ended, text):
    assume(normalise(text))
    old = newline.join(lines) + (newline if ended else "")
    new = add_items(old, [fact("m_new", text)])
    assert shared(old, new) + shared(old[::-1], new[::-1]) >= len(old)
    read = {memory.id: memory.text for memory in read_memories(new, ME)}
    assert read["m_new"] == normalise(text)
    # Whatever the person's Markdown does, headings do not pile up.
    again = add_items(new, [fact("m_newer", "Newer.")])
    assert again.count("## Facts") == new.count("## Facts")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_persons_file_is_kept_byte_for_byte(notes, file, newline):
    head = "\ufeff---\ntags: [a]\n---\nMy own words.  \n\n```\n## Facts\n```\n\n## Facts ##\n\n* My fact"
    tail = "\n\n### Of old\nStale\n\n\nOther\n=====\n<b>unclosed"
    head, tail = (part.replace("\n", newline).encode() for part in (head, tail))
    tail += b"\xff\xfe not text"
    file.write_bytes(head + tail)
    file.chmod(0o640)
    notes.write([FACT])
    after = file.read_bytes()
    assert after.startswith(head + newline.encode() + b"- The server in Kiel")
    assert after.endswith(b"-->" + tail)
    assert after.count(b"\n") == after.count(newline.encode())
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_renamed_heading_is_respected(notes, file):
    notes.write([FACT])
    file.write_text(file.read_text().replace("## Facts", "## What I know") + "\n## Later\n")
    notes.write([fact("m_2")])
    text = file.read_text()
    assert "## Facts" not in text
    assert text.index("Fact m_2.") < text.index("## Later")


def test_a_link_stays_a_link(notes, file, tmp_path):
    target = tmp_path / "workspace" / "elsewhere" / "notes.md"
    target.parent.mkdir()
    target.write_text("Mine.\n")
    file.symlink_to(target)
    notes.write([FACT])
    assert file.is_symlink()
    assert target.read_text().startswith("Mine.\n\n## Facts\n")
    assert everything_in(target.parent) == {"notes.md"}


def test_notes_are_private(notes, tmp_path):
    notes.write([FACT])
    workspace = tmp_path / "workspace"
    assert stat.S_IMODE((workspace / "default/MEMORY.md").stat().st_mode) == 0o600
    assert stat.S_IMODE((workspace / "default").stat().st_mode) == 0o700


# Summaries


def test_a_summary_says_what_it_covers(notes, tmp_path):
    notes.write_summary(SUMMARY)
    assert (tmp_path / "workspace/default/conversations/c_1/summary.md").read_text() == (
        '<!-- holdfast {"id":"s_1","kind":"summary","conversation":"c_1","covers":42,"first":"n_1",'
        '"last":"n_42","at":"2026-02-24T02:26:40+00:00","language":"en"} -->\n'
        "# A move\n\n## Goal\nMove to Kiel.\n"
    )


def test_the_newest_summary_stays_whatever_the_order(notes, tmp_path):
    newer = replace(SUMMARY, id="s_2", text="Moved.", at=SUMMARY.at + 0.001)
    same_moment = replace(newer, id="s_3", text="Moved in.")
    path = tmp_path / "workspace/default/conversations/c_1/summary.md"
    for note, text in ((SUMMARY, "Move to"), (newer, "Moved."), (SUMMARY, "Moved."), (same_moment, "in.")):
        notes.write_summary(note)
        assert text in path.read_text()
    assert "Move to" not in path.read_text()
    # Once written, it is a person's to change.
    path.write_text(path.read_text().replace("Moved in.", "Moved out."))
    notes.write_summary(same_moment)
    assert "Moved out." in path.read_text()


def test_nothing_in_a_summary_is_taken_for_its_comment(notes, tmp_path):
    trick = '<!-- holdfast {"id":"s_9","kind":"summary","at":"2099-01-01"} -->'
    notes.write_summary(replace(SUMMARY, title=f"{trick}\n{trick}", text=trick, first=trick))
    notes.write_summary(replace(SUMMARY, id="s_2", text="Moved.", at=SUMMARY.at + 1))
    assert "Moved." in (tmp_path / "workspace/default/conversations/c_1/summary.md").read_text()


def test_a_summary_is_with_its_group_or_project(notes, tmp_path):
    notes.write_summary(replace(SUMMARY, scope=Scope(user="anna", project="chess", kind="group")))
    notes.write_summary(replace(SUMMARY, conversation="c_2", scope=Scope(project="garden")))
    assert everything_in(tmp_path / "workspace") == {
        ".lock",
        "groups/chess/conversations/c_1/summary.md",
        "default/projects/garden/conversations/c_2/summary.md",
    }


# Names


HARD_NAMES = [
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "con",
    "NUL",
    "com1.txt",
    "groups",
    "Größe",
    "a ",
    "a.",
    "x" * 300,
]


@pytest.mark.parametrize("name", HARD_NAMES)
def test_hard_names_become_plain_ones(name):
    safe = safe_name(name)
    assert safe != name
    assert len(safe.encode()) < 200
    assert not set(safe) & set('/\\:*?"<>|\0')
    assert safe.strip(". ") == safe
    assert safe not in ("groups", "con", "nul")
    assert memory_file(Scope(user=name)).parts == (safe, "MEMORY.md")
    assert summary_file(ME, name).parts[-2] == safe


@given(st.text(max_size=20), st.text(max_size=20))
@example("Holdfast", "holdfast")
@example("gro\u0308sse", "grösse")
@example("größe", "grösse")
@example("a/b", "a-b")
@example("a", "a ")
def test_different_names_never_become_one(one, other):
    assume(one != other)
    assert safe_name(one).casefold() != safe_name(other).casefold()
    # What was made safe is itself a name that somebody may have.
    if safe_name(one) != one:
        assert safe_name(safe_name(one)) != safe_name(one)


# Trouble


def test_a_place_that_cannot_be_written_is_told_clearly(tmp_path):
    (tmp_path / "workspace").write_text("a file where the folder should be")
    notes = Notes(tmp_path / "workspace")
    with pytest.raises(StoreError, match="cannot be read or written") as caught:
        notes.write([FACT])
    assert "disk has room" in caught.value.hint
    with pytest.raises(StoreError):
        notes.write_summary(SUMMARY)
    with pytest.raises(StoreError):
        notes.read(ME)


def test_one_bad_file_is_told_and_left_alone(notes, tmp_path):
    notes.write([FACT])
    (tmp_path / "workspace/default/projects").write_text("in the way")
    with pytest.raises(StoreError):
        notes.write([fact("m_2", scope=Scope(project="garden"))])
    assert (tmp_path / "workspace/default/projects").read_text() == "in the way"
    assert notes.read(ME) == [FACT]


IMPORTS = """
import sys
from pathlib import Path
from holdfast.errors import StoreError
from holdfast.memory.base import Memory
from holdfast.memory.notes import Notes
from holdfast.messages import Scope
"""


def child(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", IMPORTS + script, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    Notes(Path(sys.argv[1])).write([Memory("m_big", "fact", "word " * 1000, Scope())])
except StoreError as error:
    print(error)
"""


def test_a_full_disk_leaves_the_old_file_whole(notes, tmp_path):
    notes.write([FACT])
    workspace = tmp_path / "workspace"
    before = (workspace / "default/MEMORY.md").read_bytes()
    text, _ = child(FULL_DISK, workspace).communicate(timeout=60)
    assert "cannot be read or written" in text
    assert (workspace / "default/MEMORY.md").read_bytes() == before
    assert everything_in(workspace) == {"default/MEMORY.md", ".lock"}


WRITER = """
notes = Notes(Path(sys.argv[1]))
for n in range(int(sys.argv[3])):
    notes.write([Memory(f"m_{sys.argv[2]}_{n}", "fact", f"Fact {n} of {sys.argv[2]}.", Scope())])
    print(f"m_{sys.argv[2]}_{n}", flush=True)
"""


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(notes, tmp_path):
    writers = [child(WRITER, tmp_path / "workspace", name, 25) for name in ("one", "two")]
    parts = [writer.communicate(timeout=120)[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    ids = [memory.id for memory in notes.read(ME)]
    assert len(ids) == 50
    assert sorted(ids) == sorted(parts[0] + parts[1])


@pytest.mark.slow
def test_a_killed_writer_leaves_a_whole_file_and_keeps_nobody_out(notes, tmp_path):
    for turns in (1, 4, 9):
        writer = child(WRITER, tmp_path / "workspace", turns, 1_000_000)
        texts = [writer.stdout.readline().strip() for _ in range(turns)]
        writer.send_signal(signal.SIGKILL)
        texts += writer.stdout.read().split()
        writer.communicate(timeout=60)
        notes.write([fact(f"m_after_{turns}")])
        ids = [memory.id for memory in notes.read(ME)]
        assert set(texts) <= set(ids)
        assert ids[-1] == f"m_after_{turns}"
        assert len(ids) == len(set(ids))
    assert everything_in(tmp_path / "workspace") <= {"default/MEMORY.md", ".lock", "default/.MEMORY.md.new"}
