"""Reading stays inside the allowed folders, whatever links, races, devices and names it meets."""

import hashlib
import os
import socket
import threading
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import ConfigError
from holdfast.files.problems import FileProblem
from holdfast.files.roots import ReadLimits, Roots, is_secret, parse_folders
from holdfast.i18n import in_language
from tests.privileges import without_privileges


def read(roots, name, **options):
    return roots.read(roots.find(name, **options)).head


def refusal_of(roots, name, **options) -> FileProblem:
    with pytest.raises(FileProblem) as caught:
        read(roots, name, **options)
    assert in_language(caught.value.message, "de") != caught.value.message
    return caught.value


def test_a_file_is_read_once_with_its_size_lines_and_hash(roots, allowed):
    (allowed / "a.txt").write_bytes(b"one\ntwo")
    root = roots.find("./a.txt")
    data = roots.read(root)
    assert (data.head, data.size, data.lines, data.whole) == (b"one\ntwo", 7, 2, True)
    assert data.hash == hashlib.sha256(b"one\ntwo").hexdigest()
    assert (root.kind, root.path) == ("file", str(allowed.resolve() / "a.txt"))


@pytest.mark.parametrize(
    "name", ["../beside/other.txt", "x/../../beside/other.txt", "..", "/etc/passwd", "~/x"]
)
def test_what_lies_elsewhere_is_refused_whether_it_is_there_or_not(roots, beside, name):
    assert refusal_of(roots, name).short == "not available"
    assert refusal_of(roots, f"{name}/not there").message.endswith("may be read here.")
    assert not roots.exists(name)


def test_a_folder_that_begins_with_the_same_letters_is_another_one(roots, allowed):
    other = allowed.with_name("allowed-not")
    other.mkdir()
    (other / "a.txt").write_text("no")
    assert refusal_of(roots, str(other / "a.txt")).short == "not available"


def test_links_are_followed_inside_and_not_out_of_the_folder(roots, allowed, beside):
    (allowed / "deep").mkdir()
    (allowed / "deep" / "a.txt").write_text("inside")
    (allowed / "in").symlink_to("deep/a.txt")
    (allowed / "folder").symlink_to("deep")
    (allowed / "out").symlink_to(beside / "other.txt")
    (allowed / "out-folder").symlink_to(beside)
    (allowed / "out-by-steps").symlink_to("../beside/other.txt")
    (allowed / "to-a-link").symlink_to("out")
    (allowed / "to-nothing").symlink_to(beside / "not there")
    assert read(roots, "./in") == read(roots, "./folder/a.txt") == b"inside"
    assert roots.find("./in").path == roots.find("./folder/a.txt").path
    for name in ("./out", "./out-folder/other.txt", "./out-by-steps", "./to-a-link", "./to-nothing"):
        assert refusal_of(roots, name).short == "not available"


def test_links_in_a_circle_end(roots, allowed):
    (allowed / "a").symlink_to("b")
    (allowed / "b").symlink_to("a")
    assert refusal_of(roots, "./a").short == "cannot be read"


def test_the_allowed_folder_may_itself_be_reached_by_a_link(allowed, tmp_path):
    (allowed / "a.txt").write_text("yes")
    link = tmp_path / "link"
    link.symlink_to(allowed)
    assert read(Roots((link,)), "./a.txt") == b"yes"
    assert read(Roots((link,)), str(link / "a.txt")) == read(Roots((link,)), str(allowed / "a.txt"))


@pytest.mark.parametrize("step", ["a.txt", "deep"])
def test_a_link_put_in_between_check_and_read_is_not_followed(roots, allowed, beside, step):
    (allowed / "deep").mkdir()
    (allowed / "a.txt").write_text("mine")
    (allowed / "deep" / "other.txt").write_text("mine")
    root = roots.find("./a.txt" if step == "a.txt" else "./deep/other.txt")
    place = allowed / step
    place.rename(allowed / "away")
    place.symlink_to(beside / "other.txt" if step == "a.txt" else beside)
    with pytest.raises(FileProblem) as caught:
        roots.read(root)
    assert caught.value.short == "cannot be read"


def test_folder_swapped_for_symlink_never_escapes_root(roots, allowed, beside):
    """The race itself: another thread swaps as fast as it can while this one reads."""
    (allowed / "real").mkdir()
    (allowed / "real" / "other.txt").write_text("mine")
    (allowed / "link").symlink_to(beside)
    over = threading.Event()

    def swap():
        turn = 0
        while not over.is_set():
            other = "link" if turn % 2 else "real"
            (allowed / other).rename(allowed / "now")
            (allowed / "now").rename(allowed / other)
            turn += 1

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    try:
        for _ in range(200):
            try:
                seen.add(read(roots, "./now/other.txt"))
            except FileProblem as error:
                seen.add(error.short)
    finally:
        over.set()
        swapping.join()
    assert b"not yours\n" not in seen
    assert seen <= {b"mine", "not found", "not available", "cannot be read"}


def test_pipes_sockets_devices_and_folders_are_no_files(own, allowed):
    os.mkfifo(allowed / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        # The address of a socket is short; the folders of tests are not.
        os.chdir(allowed)
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
        for name in ("./pipe", "./socket", "/dev/null", "/dev/zero"):
            assert refusal_of(own, name).short == "no regular file"
    assert refusal_of(own, "./").short == "no regular file"


def test_pipe_replacing_a_file_does_not_block_reading(roots, allowed):
    (allowed / "a").write_text("x")
    root = roots.find("./a")
    (allowed / "a").unlink()
    os.mkfifo(allowed / "a")
    with pytest.raises(FileProblem, match="device, a pipe"):
        roots.read(root)


def test_what_may_not_be_read_says_so(roots, allowed):
    (allowed / "a.txt").write_text("x")
    (allowed / "a.txt").chmod(0)
    (allowed / "closed").mkdir()
    (allowed / "closed" / "b.txt").write_text("x")
    (allowed / "closed").chmod(0)
    # Folders of tests are private, and whoever is nobody needs a way in.
    for above in (allowed, *allowed.parents):
        if above.stat().st_uid == os.geteuid() and above.stat().st_mode & 0o077 == 0:
            above.chmod(0o711)
    with without_privileges():
        assert refusal_of(roots, "./a.txt").message == "./a.txt cannot be read: permission denied."
        assert refusal_of(roots, "./closed/b.txt").short == "cannot be read"
        assert not roots.exists("./closed/b.txt")
    (allowed / "closed").chmod(0o700)


def test_a_large_file_is_its_ends_and_a_huge_one_nothing(allowed):
    roots = Roots((allowed,), limits=ReadLimits(whole=100_000, largest=1_000_000))
    lines = [f"line {number}\n" for number in range(60_000)]
    (allowed / "large.log").write_text("".join(lines))
    data = roots.read(roots.find("./large.log"))
    assert not data.whole
    assert data.head.startswith(b"line 0\n")
    assert data.tail.endswith(b"line 59999\n")
    assert (data.lines, data.size) == (60_000, (allowed / "large.log").stat().st_size)
    assert len(data.head) + len(data.tail) < 200_000
    part = roots.read_lines(roots.find("./large.log"), 40_000, 40_001)
    assert (part.head, part.lines, part.hash) == (b"line 39999\nline 40000\n", 60_000, data.hash)
    with (allowed / "huge.bin").open("wb") as file:
        file.truncate(1 << 40)
    assert refusal_of(roots, "./huge.bin").short == "too large"
    with pytest.raises(FileProblem, match="1 MB"):
        roots.read_lines(roots.find("./huge.bin"), 1, 2)


def test_a_file_that_says_nothing_of_its_size_is_limited_too():
    roots = Roots((Path("/proc"),), limits=ReadLimits(whole=10, largest=100))
    if not Path("/proc/cpuinfo").exists():
        pytest.skip("no /proc here")
    assert refusal_of(roots, "./cpuinfo").short == "too large"


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", "x" * 5_000, "/".join(["y"] * 3_000)])
def test_names_that_cannot_be_are_not_found(roots, name):
    assert refusal_of(roots, name).short in ("not found", "not available")
    assert not roots.exists(name)


@pytest.mark.parametrize("on_disk", ["NFC", "NFD"])
@pytest.mark.parametrize("typed", ["NFC", "NFD"])
def test_umlauts_are_found_however_they_are_spelled(roots, allowed, on_disk, typed):
    folder = allowed / unicodedata.normalize(on_disk, "Größen und Maße")
    folder.mkdir()
    (folder / unicodedata.normalize(on_disk, "Übersicht.md")).write_text("gefunden")
    assert read(roots, unicodedata.normalize(typed, "./Größen und Maße/Übersicht.md")) == b"gefunden"


def test_what_is_not_found_has_names_like_it(roots, allowed):
    for name in ("engine.py", "engines.py", ".engine.py", "engine.pem"):
        (allowed / name).write_text("x")
    message = refusal_of(roots, "./enigne.py").message
    assert "./engine.py" in message
    assert "./.engine.py" not in message
    assert "pem" not in message
    assert refusal_of(roots, "./nowhere/engine.py").message == "./nowhere/engine.py was not found."


def test_paths_are_looked_for_in_each_folder_in_turn(allowed, tmp_path):
    second = tmp_path / "second"
    second.mkdir()
    (allowed / "a").write_text("first")
    (second / "a").write_text("second")
    (second / "b").write_text("only here")
    roots = Roots((allowed, second))
    assert (read(roots, "./a"), read(roots, "b")) == (b"first", b"only here")
    assert refusal_of(replace(roots, base=allowed), "./b").short == "not found"


def test_a_closed_folder_is_closed_inside_an_open_one(allowed):
    (allowed / "data").mkdir()
    (allowed / "data" / "holdfast.db").write_text("everything")
    (allowed / "link").symlink_to("data")
    roots = Roots((allowed,), closed=(allowed / "data",))
    assert refusal_of(roots, "./data/holdfast.db").short == "not available"
    assert refusal_of(roots, "./link/holdfast.db").short == "not available"
    assert [row.steps[-1] for row in roots.entries(roots.find("."))] == ["link"]


SECRETS = [
    ".env", ".ENV", ".env.local", "prod.env", "id_rsa", "ID_RSA", "server.PEM", "tls.key", ".netrc", ".npmrc",
    "credentials", "Credentials.json", ".git-credentials", "vault.kdbx", ".aws/config", ".SSH/known_hosts",
    ".gnupg/x", "deep/.ssh/config", ".docker/config.json", "terraform.tfstate",
    "id_rsa~", "server.key.bak", ".git/config", ".env.production.local",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_secret_files_are_refused_unless_local_user_requests_full_mode(roots, own, allowed, name):
    (allowed / name).parent.mkdir(parents=True, exist_ok=True)
    (allowed / name).write_text("s3cret")
    assert (
        refusal_of(roots, f"./{name}").short
        == refusal_of(roots, f"./{name}", full=True).short
        == "not available"
    )
    assert ":full" not in refusal_of(roots, f"./{name}").message
    assert ":full" in refusal_of(own, f"./{name}").message
    assert read(own, f"./{name}", full=True) == b"s3cret"


@pytest.mark.parametrize(
    "name", ["env.py", ".env.example", "id_rsa.pub", "keys.py", "secrets.py", "monkey.txt"]
)
def test_what_only_sounds_like_a_secret_is_none(name):
    assert not is_secret(("src", name))


def test_a_link_does_not_hide_a_secret(roots, allowed):
    (allowed / ".env").write_text("s3cret")
    (allowed / "harmless.txt").symlink_to(".env")
    assert refusal_of(roots, "./harmless.txt").short == "not available"


def test_the_setting_names_folders_from_the_top(tmp_path):
    assert parse_folders("") == ()
    assert parse_folders(f" {tmp_path} {os.pathsep}{os.pathsep}~/x") == (tmp_path, Path("~/x").expanduser())
    with pytest.raises(ConfigError, match="file_roots"):
        parse_folders("projects")
