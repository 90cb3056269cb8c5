"""A workspace on disk meets what disks and people do: links, huge files, no rights, processes that die."""

import os
import signal
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.errors import BadRequest, NotFound, StoreError, TooLarge
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.index import ExtraPaths
from holdfast.memory.items import read_memories
from holdfast.memory.workspace import LARGEST
from holdfast.messages import Scope


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(home):
    return FolderWorkspace(home)


def paths(workspace):
    return [str(entry.path) for entry in workspace.entries()]


# Links


def test_a_link_inside_is_followed_and_its_file_listed_once(workspace, home):
    workspace.write("notes/real.md", "one")
    (home / "link.md").symlink_to(home / "notes/real.md")
    (home / "again").symlink_to(home / "notes")
    workspace.write("link.md", "two")
    workspace.write("again/real.md", "three", expect=workspace.read("link.md").tag)
    assert workspace.read("notes/real.md").text == "three"
    assert (home / "link.md").is_symlink()
    assert paths(workspace) == ["notes/real.md"]
    workspace.remove("link.md")
    assert workspace.read("notes/real.md").text == "three"


def test_a_link_out_is_refused(workspace, home, tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text("not yours")
    (home / "out.md").symlink_to(secret)
    (home / "folder").symlink_to(tmp_path)
    for path in ("out.md", "folder/secret.md"):
        for call in (workspace.read, lambda path: workspace.write(path, "x")):
            with pytest.raises(BadRequest, match="leads out of the workspace"):
                call(path)
    assert secret.read_text() == "not yours"
    assert paths(workspace) == []


def test_links_in_a_circle_are_told_and_do_not_hang(workspace, home):
    (home / "a.md").symlink_to(home / "b.md")
    (home / "b.md").symlink_to(home / "a.md")
    (home / "loop").symlink_to(home)
    workspace.write("c.md", "x")
    with pytest.raises(BadRequest, match="circle"):
        workspace.read("a.md")
    assert paths(workspace) == ["c.md"]
    assert workspace.read("loop/loop/c.md").text == "x"


def test_the_workspace_itself_may_be_a_link(home, tmp_path):
    (tmp_path / "linked").symlink_to(home)
    FolderWorkspace(tmp_path / "linked").write("a.md", "x")
    assert (home / "a.md").read_text() == "x"


# Files that are no notes


def test_a_huge_file_is_told_and_left_alone(workspace, home):
    with (home / "big.md").open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(StoreError, match=r"50,000,000 bytes, more than"):
        workspace.read("big.md")
    with pytest.raises(TooLarge):
        workspace.write("big.md", "x" * (LARGEST + 1))
    assert [entry.size for entry in workspace.entries()] == [50_000_000]


def test_a_binary_file_is_told(workspace, home):
    (home / "photo.md").write_bytes(b"\x89PNG\r\n\0\0")
    with pytest.raises(StoreError, match="is no text"):
        workspace.read("photo.md")
    assert (home / "photo.md").read_bytes() == b"\x89PNG\r\n\0\0"


def test_a_folder_where_a_file_should_be_is_told(workspace, home):
    (home / "MEMORY.md").mkdir()
    with pytest.raises(StoreError, match="cannot be read or written"):
        workspace.read("MEMORY.md")
    with pytest.raises(StoreError):
        workspace.write("MEMORY.md", "x")


def test_what_another_program_wrote_has_another_tag(workspace, home):
    tag = workspace.write("a.md", "one")
    status = (home / "a.md").stat()
    (home / "a.md").write_text("two")
    # Also where it puts the old time back.
    os.utime(home / "a.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert workspace.read("a.md").tag != tag


def test_a_newer_version_has_a_later_time_whatever_the_clock_says(workspace, home):
    workspace.write("a.md", "one")
    os.utime(home / "a.md", (4e9, 4e9))
    workspace.write("a.md", "two")
    assert (home / "a.md").stat().st_mtime_ns == 4_000_000_000_000_000_001


# Processes


def child(script, *arguments, **options):
    command = [sys.executable, "-c", "import sys\nfrom pathlib import Path\n" + script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


READ_ONLY = """
import os
from holdfast.errors import StoreError
from holdfast.memory.folder import FolderWorkspace
if os.getuid() == 0:
    os.setuid(65534)
workspace = FolderWorkspace(Path(sys.argv[1]))
print(workspace.read("a.md").text)
for call in (lambda: workspace.write("a.md", "two"), lambda: workspace.entries("hidden")):
    try:
        call()
    except StoreError as error:
        print(error)
"""


def test_folder_without_write_permission_is_readable_and_explains_failure():
    # Not in pytest's own folder: as root the child becomes a user who may not look into that one.
    with tempfile.TemporaryDirectory(prefix="holdfast-notes-") as place:
        home = Path(place)
        (home / "a.md").write_text("one")
        (home / "hidden").mkdir(mode=0o700)
        home.chmod(0o555)
        communicate = child(READ_ONLY, home).communicate(timeout=60)[0]
        home.chmod(0o755)
    assert communicate.startswith("one\n")
    # A folder nobody may look into is no empty folder.
    assert communicate.count("Permission denied") == (2 if os.getuid() == 0 else 1)
    assert "can be written to" in communicate


WRITER = """
from holdfast.memory.base import Memory
from holdfast.memory.library import Library
from holdfast.memory.notes import Notes
from holdfast.messages import Scope
from holdfast.store import open_store
store = open_store("sqlite://")
library = Library(Notes(Path(sys.argv[1])), store.recollections)
for n in range(int(sys.argv[3])):
    name = f"{sys.argv[2]}_{n}"
    library.write([Memory(name, "note", f"Note {name} of the day.", Scope(), valid_from=1_771_900_000.0)])
    print(name, flush=True)
"""
DAY = datetime.fromtimestamp(1_771_900_000, UTC).astimezone().date().isoformat()


def notes_of_the_day(home: Path):
    text = (home / f"default/memory/{DAY}.md").read_text()
    assert text.startswith(f"# {DAY}\n\n## Notes\n\n- Note ")
    return [memory.id for memory in read_memories(text, Scope())]


@pytest.mark.slow
def test_two_processes_write_the_same_days_note_and_one_dies(home):
    doomed, other = child(WRITER, home, "doomed", 1_000_000), child(WRITER, home, "other", 12)
    texts = [doomed.stdout.readline().strip() for _ in range(6)]
    doomed.send_signal(signal.SIGKILL)
    # Read as it was begun: `communicate` would not see what was read ahead.
    texts += doomed.stdout.read().split()
    doomed.communicate(timeout=60)
    texts += other.communicate(timeout=60)[0].split()
    assert other.returncode == 0
    names = notes_of_the_day(home)
    # At most the one it was at when it died is there without having been told.
    assert set(texts) <= set(names)
    assert len(names) == len(set(names)) <= len(texts) + 1
    assert [name for name in names if name.startswith("other")] == [f"other_{n}" for n in range(12)]


def test_undecodable_file_name_is_reported_and_not_read(workspace, home):
    workspace.write("good.md", "x")
    odd = os.fsencode(home) + b"/gr\xfc\xdfe"
    Path(os.fsdecode(odd + b".md")).write_text("y")
    Path(os.fsdecode(odd)).mkdir()
    Path(os.fsdecode(odd + b"/inner.md")).write_text("z")
    elsewhere = ExtraPaths([home, Path("nowhere")], home)
    names = ["gr\\xfc\\xdfe/*.md", "gr\\xfc\\xdfe.md"]
    for files, where in ((workspace, ""), (elsewhere, f"{home}/")):
        report = {str(entry.path): entry.trouble for entry in files.entries()}
        assert report.pop(f"{where}good.md") == ""
        assert all("no text" in report.pop(where + name) for name in names)
        assert list(report) == ([f"{home}/nowhere/*.md"] if where else [])
    for name in (os.fsdecode(odd + b".md"), f"{home}/{names[1]}"):
        with pytest.raises(NotFound):
            elsewhere.read(name)
    with pytest.raises(BadRequest):
        workspace.read(names[1])


def test_of_extra_paths_only_what_is_listed_is_read(home, tmp_path):
    for name in ("vault/a.md", "vault/.hidden/b.md", "vault/c.txt", "outside.md", "single.txt"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    (home / "vault/link.md").symlink_to(home / "outside.md")
    (home / "vault/folder").symlink_to(home)
    vault = home / "vault"
    elsewhere = ExtraPaths([Path("vault"), Path("single.txt")], home)
    listed = [entry.path for entry in elsewhere.entries()]
    assert [path.name for path in listed] == ["single.txt", "a.md"]
    assert [elsewhere.read(path).tag for path in listed] == [entry.tag for entry in elsewhere.entries()]
    for other in (".hidden/b.md", "c.txt", "link.md", "folder/outside.md", "../outside.md", "none.md"):
        with pytest.raises(NotFound):
            elsewhere.read(str(vault / other))
