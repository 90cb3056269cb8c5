"""What a folder becomes, and what is left out of it."""

import os
import re

import pytest

from holdfast.files import attach
from holdfast.files.attach import (
    is_ignored,
    list_folder,
    match_files,
    parse_ignore_file,
    path_matches,
    render_tree,
    search_files,
)
from holdfast.files.problems import FileProblem


@pytest.fixture
def make(allowed):
    """Files by name and content."""

    def put(name: str, text: str) -> None:
        (allowed / name).parent.mkdir(parents=True, exist_ok=True)
        (allowed / name).write_text(text)

    return put


def lines(roots, name="./"):
    return render_tree(roots, roots.find(name)).text.splitlines()


def test_a_tree_has_folders_and_files_by_name(roots, make):
    for name in ("b.py", "A.md", "src/z.py", "src/deep/x.py", "leer/.keep"):
        make(name, "x")
    shown = render_tree(roots, roots.find("./"))
    assert shown.text.splitlines() == ["A.md", "b.py", "leer/", "src/", "  deep/", "    x.py", "  z.py"]
    assert shown.about == "4 files, 3 folders"
    assert shown.left_out == "[left out: 1 hidden or ignored]"


def test_tree_excludes_hidden_ignored_and_generated_files(roots, make, allowed):
    make(".gitignore", "*.log\nbuild/\n/only-here\n!keep.log\n")
    (allowed / ".git").mkdir()
    for name in (
        "a.log", "keep.log", "build/out.js", "src/b.log", "src/build/x", "src/only-here", "only-here", ".env",
        "node_modules/x/i.js", "src/__pycache__/a.pyc", "env1/pyvenv.cfg", "env1/bin/python", "src/a.py",
        "src/.gitignore", "src/local.txt",
    ):  # fmt: skip
        make(name, "x")
    make("src/.gitignore", "local.*\n")
    assert lines(roots) == ["env1/", "keep.log", "src/", "  a.py", "  only-here"]
    # The rules of the folders above hold below, too.
    assert lines(roots, "./src/") == ["a.py", "only-here"]
    # What was asked for by name is shown.
    assert lines(roots, "./node_modules") == ["x/", "  i.js"]


def test_large_tree_samples_every_folder_and_reports_omissions(roots, make):
    for number in range(300):
        make(f"a/{number:03}.txt", "x")
    make("b/c/d/e/f/g.txt", "x")
    make("z.txt", "x")
    shown = render_tree(roots, roots.find("./"))
    assert len(shown.text.splitlines()) <= attach.MOST_LINES + 5
    assert "z.txt" in shown.text
    assert re.search(r"  … \d+ more", shown.text)
    assert "more entries" in shown.left_out
    assert "1 folder not gone into" in shown.left_out
    assert shown.text.splitlines()[0] == "a/"


def test_links_and_names_with_line_ends_stay_on_one_line(roots, allowed, beside):
    (allowed / "out").symlink_to(beside)
    (allowed / "two\nlines").write_text("x")
    os.mkfifo(allowed / "pipe")
    assert lines(roots) == ["out (link)", "pipe (no regular file)", "two?lines"]


def test_a_list_has_sizes_and_dates(roots, make, allowed):
    make("a.txt", "x" * 1234)
    make("deep/b.txt", "x")
    os.utime(allowed / "a.txt", (0, 0))
    shown = list_folder(roots, roots.find("./"))
    first, second = shown.text.splitlines()
    assert first.split() == ["1,234", "1970-01-01", "00:00", "a.txt"]
    assert second.endswith("deep/")
    assert shown.about.startswith("2 entries")


def test_a_search_tells_file_line_and_text(roots, make):
    make("a.py", "one\nTwo words\n")
    make("deep/b.py", "x\ny\n  ZWEI two\n")
    make("deep/binary", "two\0")
    make(".env", "two")
    make("server.pem", "two")
    shown = search_files(roots, roots.find("./"), "TWO")
    assert shown.text.splitlines() == ["a.py:2: Two words", "deep/b.py:3: ZWEI two"]
    assert shown.about == "2 lines in 2 files"
    assert shown.left_out == "[left out: 1 hidden or ignored, 2 files too large, binary or secret]"
    assert search_files(roots, roots.find("./a.py"), "two").text == "./a.py:2: Two words"
    assert search_files(roots, roots.find("./"), "nothing").text == ""


def test_a_search_with_many_hits_says_how_many_are_left_out(roots, make):
    make("a.txt", "word\n" * 250 + "x" * 5_000 + "word" + "y" * 5_000)
    shown = search_files(roots, roots.find("./"), "word")
    assert len(shown.text.splitlines()) == attach.MOST_HITS
    assert shown.left_out == "[left out: 151 more lines]"
    make("a.txt", "x" * 5_000 + "word" + "y" * 5_000)
    (line,) = search_files(roots, roots.find("./"), "word").text.splitlines()
    assert "word" in line
    assert len(line) < 300


def test_a_search_does_not_follow_links_out(roots, allowed, beside):
    (allowed / "out").symlink_to(beside)
    (allowed / "file").symlink_to(beside / "other.txt")
    assert search_files(roots, roots.find("./"), "not yours").text == ""


@pytest.mark.parametrize(
    ("pattern", "path", "folder", "expected"),
    [
        ("*.log", "deep/a.log", False, True),
        ("build/", "build", True, True),
        ("build/", "build", False, False),
        ("/top", "top", False, True),
        ("/top", "deep/top", False, False),
        ("a/*.txt", "a/b.txt", False, True),
        ("a/*.txt", "a/b/c.txt", False, False),
        ("a/**/c.txt", "a/c.txt", False, True),
        ("a/**/c.txt", "a/x/y/c.txt", False, True),
        ("**/c", "x/c", True, True),
        ("[^a]b", "cb", False, True),
        ("# comment", "# comment", False, False),
        (r"\#file", "#file", False, True),
        ("*\n!keep", "keep", False, False),
        ("*\n!keep\nkeep", "keep", False, True),
        ("/", "x", True, False),
    ],
)
def test_gitignore_as_people_write_it(pattern, path, folder, expected):
    assert is_ignored([parse_ignore_file(0, pattern)], path.split("/"), folder=folder) is expected


def test_a_pattern_full_of_stars_is_answered_at_once():
    assert not path_matches(["*a" * 60 + "b"], ["a" * 250])
    assert not path_matches(["**", "x"] * 40, ["y"] * 200)


def test_patterns_name_files_but_neither_hidden_nor_secret_ones(roots, make):
    for name in ("a.py", "b.py", ".c.py", "d.txt", "src/e.py", "src/deep/f.py", "node_modules/g.py", "x.pem"):
        make(name, "x")

    def match_names(pattern, most=10):
        return match_files(roots, pattern, most)

    assert match_names("./*.py").names == ("./a.py", "./b.py")
    assert match_names("./*").names == ("./a.py", "./b.py", "./d.txt")
    assert match_names("./**/*.py").names == ("./a.py", "./b.py", "./src/e.py", "./src/deep/f.py")
    assert match_names("*/?.py").names == ("node_modules/g.py", "src/e.py")
    assert match_names("src/[e].py").names == ("src/e.py",)
    assert match_names("./.c*").names == ("./.c.py",)
    results = match_names("./**/*.py", most=1)
    assert (results.names, results.number, results.gave_up) == (("./a.py",), 4, False)
    with pytest.raises(FileProblem):
        match_names("../*")
