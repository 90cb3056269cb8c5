"""Every workspace keeps its promises: files by path, tags that tell changes, and no append that is lost."""

import threading
from itertools import pairwise
from pathlib import PurePosixPath

import pytest

from holdfast.errors import BadRequest, Conflict, NotFound
from holdfast.memory.folder import FolderWorkspace, open_workspace
from holdfast.memory.workspace import ABSENT, InMemoryWorkspace, read_or_empty, update_file
from tests.buckets import BUCKET


@pytest.fixture(params=["folder", "transient", BUCKET])
def workspace(request, tmp_path):
    if request.param == "bucket":
        server = request.getfixturevalue("s3_server")
        return open_workspace(server.new_place(), server.options, tmp_path / "cache")
    return FolderWorkspace(tmp_path / "workspace") if request.param == "folder" else InMemoryWorkspace()


def paths(workspace, prefix=""):
    return [str(entry.path) for entry in workspace.entries(prefix)]


def test_what_is_written_is_read(workspace):
    text = "# Größe\r\nline\ttwo\n\udcff"
    tag = workspace.write("anna/MEMORY.md", text)
    note = workspace.read(PurePosixPath("anna/MEMORY.md"))
    assert (note.text, note.tag) == (text, tag)
    (entry,) = workspace.entries()
    assert (entry.path, entry.tag) == (PurePosixPath("anna/MEMORY.md"), tag)
    assert entry.size == len(text.encode("utf-8", "surrogateescape"))


def test_a_list_is_of_one_folder_and_in_order(workspace):
    for path in ("b/x.md", "a/memory/2.md", "a/memory/1.md", "a/memory.md", "ab/y.md"):
        workspace.write(path, "x")
    assert paths(workspace) == ["a/memory/1.md", "a/memory/2.md", "a/memory.md", "ab/y.md", "b/x.md"]
    assert paths(workspace, "a") == ["a/memory/1.md", "a/memory/2.md", "a/memory.md"]
    assert paths(workspace, "a/memory") == ["a/memory/1.md", "a/memory/2.md"]
    assert paths(workspace, "a/memory.md") == ["a/memory.md"]
    assert paths(workspace, "nowhere") == []


def test_a_file_that_is_not_there(workspace):
    with pytest.raises(NotFound, match=r"no note anna/MEMORY\.md"):
        workspace.read("anna/MEMORY.md")
    assert read_or_empty(workspace, "anna/MEMORY.md").tag == ABSENT
    workspace.remove("anna/MEMORY.md")
    with pytest.raises(Conflict):
        workspace.remove("anna/MEMORY.md", expect="something")


def test_only_who_read_the_newest_may_write_it(workspace):
    first = workspace.write("a.md", "one", expect=ABSENT)
    with pytest.raises(Conflict, match="changed by somebody else"):
        workspace.write("a.md", "two", expect=ABSENT)
    second = workspace.write("a.md", "two", expect=first)
    for stale in (first, ABSENT):
        with pytest.raises(Conflict):
            workspace.write("a.md", "three", expect=stale)
        with pytest.raises(Conflict):
            workspace.remove("a.md", expect=stale)
    assert workspace.read("a.md").text == "two"
    workspace.remove("a.md", expect=second)
    assert paths(workspace) == []


def test_no_two_texts_have_the_same_tag_however_quickly_they_follow(workspace):
    tags = [workspace.write("a.md", text) for text in ("1", "2") * 20]
    # A text that comes back may have its tag back: who read it then loses nothing now.
    assert all(item != next_ for item, next_ in pairwise(tags))


@pytest.mark.parametrize(
    "path",
    ["../x.md", "a/../../x.md", "/etc/passwd", "a/.lock", ".hidden", "a\\b", "a\0b", "C:/x", "x" * 300],
)
def test_a_path_outside_is_refused_by_every_operation(workspace, path):
    for call in (workspace.read, workspace.entries, workspace.remove, lambda p: workspace.write(p, "x")):
        with pytest.raises(BadRequest, match="no path in the workspace"):
            call(path)


def test_writers_at_once_lose_no_append(workspace):
    def writer(name):
        for number in range(8):
            update_file(workspace, "day.md", lambda text, line=f"{name}{number}\n": text + line)

    threads = [threading.Thread(target=writer, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = workspace.read("day.md").text.split()
    assert sorted(lines) == sorted(f"{name}{number}" for name in "abc" for number in range(8))
    assert [line for line in lines if line[0] == "a"] == [f"a{number}" for number in range(8)]


def test_a_change_begins_anew_when_somebody_was_quicker(workspace):
    workspace.write("a.md", "old")
    seen = []

    def work(text):
        seen.append(text)
        if len(seen) == 1:
            workspace.write("a.md", "theirs")
        return text + " and mine"

    assert update_file(workspace, "a.md", work)
    assert seen == ["old", "theirs"]
    assert workspace.read("a.md").text == "theirs and mine"
    assert not update_file(workspace, "a.md", lambda text: text)
