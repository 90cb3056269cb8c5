"""What messages bring in: whole, digest, a part, or a line that says why not."""

import os
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.files import attach
from holdfast.files.attach import WHOLE_BYTES, attach_files, attach_references
from holdfast.files.references import parse_reference
from holdfast.files.roots import ReadLimits
from holdfast.i18n import in_language

SMALL = 'def small() -> int:\n    """One."""\n    return 1\n'
LARGE = '"""A module."""\n\n' + "\n\n".join(
    f'def function_{number}(value: int) -> int:\n    """Number {number}."""\n'
    + "".join(f"    value += {step}\n" for step in range(20))
    + "    return value"
    for number in range(30)
)
METHOD = """class Engine:
    def full(self) -> None:
        pass

    def turn(self) -> int:
        return 7
"""


@pytest.fixture
def put(allowed):
    def put(name: str, text: str | bytes) -> None:
        (allowed / name).parent.mkdir(parents=True, exist_ok=True)
        (allowed / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    return put


def only(text, roots):
    (row,) = attach_files(text, roots)
    return row


def heading(row) -> str:
    return row.text.split("\n", 1)[0]


def test_a_small_file_is_whole_and_a_large_one_a_digest(roots, put, allowed):
    put("small.py", SMALL)
    put("large.py", LARGE)
    whole, digest = attach_files("compare @./small.py with @./large.py.", roots)
    assert whole.text == f"[file small.py, whole, 3 lines]\n{SMALL}"
    assert (whole.mode, whole.path, whole.size) == ("full", str(allowed.resolve() / "small.py"), len(SMALL))
    assert digest.mode == "summary"
    assert "function_29" in digest.text
    assert len(digest.text) < len(LARGE) / 4
    assert digest.digest == ""
    assert whole.hash != digest.hash
    assert not whole.trouble
    assert not digest.trouble


def test_five_kilobytes_are_the_border(roots, put):
    line = "word " * 15 + "\n"
    text = (line * 100)[: WHOLE_BYTES - 1] + "\n"
    put("a.txt", text)
    put("b.txt", "x" + text)
    assert [row.mode for row in attach_files("@./a.txt @./b.txt", roots)] == ["full", "summary"]


def test_full_has_its_digest_with_it_and_summary_is_one(roots, put):
    put("large.py", LARGE)
    full = only("@./large.py:full", roots)
    assert full.text.endswith(LARGE)
    assert full.digest.startswith("[file large.py, digest of whole")
    assert len(full.digest) < len(full.text) / 4
    assert only("@./large.py:summary", roots).mode == "summary"


def test_elements_by_their_names(roots, put):
    put("engine.py", METHOD)
    turn = only("@./engine.py:Engine.turn", roots)
    assert turn.text == (
        "[file engine.py, Engine.turn, lines 5 to 6 of 6]\n    def turn(self) -> int:\n        return 7"
    )
    assert only("@./engine.py:name:full", roots).text.endswith("def full(self) -> None:\n        pass")
    lost = only("@./engine.py:Engine.trun", roots)
    assert "Engine.turn" in lost.trouble
    assert "Es gibt: " in in_language(lost.trouble, "de")
    assert lost.text == "[./engine.py: no Engine.trun in it]"


def test_headings_of_markdown_by_their_words(roots, put):
    put("notes.md", "# Notes\n\n## First steps\n\nGo.\n\n## Later\n\nStop.\n")
    row = only('@./notes.md:"First steps"', roots)
    assert "Go." in row.text
    assert "Stop." not in row.text


def test_lines_of_a_file(roots, put):
    put("a.txt", "".join(f"{number}\n" for number in range(1, 11)))
    assert only("@./a.txt:lines:3-4", roots).text == "[file a.txt, lines 3 to 4 of 10]\n3\n4"
    assert only("@./a.txt:9", roots).text.endswith("\n9")
    assert only("@./a.txt:lines:9-99", roots).text == "[file a.txt, lines 9 to 10 of 10]\n9\n10"
    assert only("@./a.txt:lines:9-", roots).text.endswith("\n9\n10")
    assert only("@./a.txt:lines:11", roots).trouble == "./a.txt has only 10 lines."
    assert ":lines:100-150" in only("@./a.txt:lines", roots).trouble


def test_folders_as_tree_list_and_search(roots, put):
    put("src/a.py", "needle\n")
    put("src/b.py", "hay\n")
    shown = only("@./src/", roots)
    assert shown.text == "[folder src, tree: 2 files, 0 folders]\na.py\nb.py"
    assert shown.digest == heading(shown)
    assert only("@./src/:full", roots).mode == only("@./src:tree", roots).mode == "tree"
    assert only("@./src/:list", roots).mode == "list"
    results = only("@./src/:search:NEEDLE", roots)
    assert results.text == '[search in src for "NEEDLE": 1 line in 2 files]\na.py:1: needle'
    assert only("@./src/:search", roots).trouble
    assert only("@./src/:Engine", roots).trouble
    assert only("@./src/a.py:list", roots).trouble


def test_names_with_spaces_need_quotes(roots, put):
    put("my file.txt", "found")
    for text in ('@"./my file.txt"', "@'./my file.txt':full", "@„./my file.txt“"):
        assert only(text, roots).text.endswith("\nfound")


def test_colon_is_part_of_file_name_if_such_file_exists(roots, put):
    put("a:b.py", "def full():\n    return 1\n")
    put("10:30 notes.txt", "noon")
    put("c", "x = 1\n")
    put("c:x", "not meant")
    for text in ("@./a:b.py", "@./a:b.py.", "@./a:b.py:full", '@"./a:b.py"', "@./a:b.py:name:full"):
        assert "return 1" in only(text, roots).text
    assert only("@./a:b.py:1", roots).text.endswith("of 2]\ndef full():")
    assert only('@"./10:30 notes.txt"', roots).text.endswith("noon")
    assert attach_references([parse_reference("10:30 notes.txt")], roots)[0].text.endswith("noon")
    assert "x = 1" in only("@./c:x", roots).text or only("@./c:x", roots).trouble
    assert only("@./a:c.py", roots).trouble
    row = only("@./a:b.py:full", roots)
    assert only(f"@{row.reference}", roots) == row


def test_one_line_is_one_line(roots, put):
    put("src/a.txt", "one")
    assert heading(only("@./src/a.txt", roots)) == "[file src/a.txt, whole, 1 line]"
    assert heading(only("@./src/", roots)) == "[folder src, tree: 1 file, 0 folders]"
    assert heading(only("@./src/:list", roots)) == "[folder src, list: 1 entry, times in UTC]"
    assert only("@./src/a.txt:lines:9", roots).trouble == "./src/a.txt has only 1 line."


def test_what_only_looks_like_a_path_counts_if_it_is_there(roots, put):
    put("types/real.py", "x")
    rows = attach_files("@types/node @pytest.fixture @ada @types/real.py a@types/real.py", roots)
    assert [row.name for row in rows] == ["types/real.py"]


def test_the_same_file_is_there_once_and_the_fuller_way_wins(roots, put, allowed):
    put("large.py", LARGE)
    put("a.py", "x = 1\n")
    (allowed / "link.py").symlink_to("large.py")
    rows = attach_files(
        "@./large.py @./large.py:function_3 @./link.py:full @./a.py @a.py @./x/../a.py", roots
    )
    assert [(row.name, row.mode) for row in rows] == [("large.py", "full"), ("a.py", "full")]
    parts = attach_files("@./large.py:function_3 @./large.py:function_4 @./large.py:name:function_3", roots)
    assert [row.name for row in parts] == ["large.py:name:function_3", "large.py:name:function_4"]
    assert len({row.hash for row in parts}) == 1


def test_each_row_can_be_brought_again(roots, put):
    put("my large.py", LARGE)
    put("src/a.py", "needle\n")
    parts = [f'@"./my large.py"{part}' for part in ("", ":lines:3-9", ":function_3")]
    rows = attach_files(" ".join([*parts, "@./src/", '@./src/:search:"a needle"']), roots)
    assert len(rows) == 5
    assert [only(f"@{row.reference}", roots) for row in rows] == rows


def test_patterns_bring_a_few_and_say_how_many_are_left_out(roots, put):
    for number in range(attach.MOST_MATCHES + 3):
        put(f"src/{number:02}.py", f"x = {number}\n")
    report, *rows = attach_files("look at @./src/*.py", roots)
    assert len(rows) == attach.MOST_MATCHES
    assert report.mode == "glob"
    assert report.trouble == "./src/*.py names 13 files; the first 10 were brought in, 3 left out."
    assert report.text == "[./src/*.py: 10 of 13 files]"
    assert only("@./src/0[12].p", roots).trouble
    assert attach_files("@src/*.nothing", roots) == []
    assert [row.name for row in attach_files("@src/0[12].py", roots)] == ["src/01.py", "src/02.py"]


def test_a_name_with_brackets_is_a_name_first(roots, put):
    put("app/[id]/page.tsx", "export default 1\n")
    assert only("@./app/[id]/page.tsx", roots).text.endswith("export default 1\n")


def test_a_pattern_names_no_secret_not_even_in_full(own, put):
    put("a.txt", "x")
    put("server.pem", "s3cret")
    put(".env", "s3cret")
    rows = attach_files("@./*:full @./.*:full", own)
    assert [row.path.rpartition("/")[2] for row in rows if not row.trouble] == ["a.txt"]
    assert only("@./server.pem:full", own).text.endswith("s3cret")
    assert only("@.env", own).trouble
    assert only("@.env:full", own).text.endswith("s3cret")


def test_too_many_references_are_cut_off_and_said(roots, put):
    for number in range(attach.MOST_FILES + 5):
        put(f"{number}.txt", f"{number}")
    *rows, last = attach_files(" ".join(f"@./{number}.txt" for number in range(attach.MOST_FILES + 5)), roots)
    assert len(rows) == attach.MOST_FILES
    assert not any(row.trouble for row in rows)
    assert last.text == "[5 more files: not brought in]"
    assert last.trouble == "The message points at too many files; 5 were left out."


def test_folders_are_looked_through_only_so_often(roots, put):
    put("a.txt", "word")
    rows = attach_files(" ".join(f"@./:search:{number}" for number in range(attach.MOST_WALKS + 2)), roots)
    assert [bool(row.trouble) for row in rows] == [False] * attach.MOST_WALKS + [True]


def test_attachment_error_is_short_for_model_and_full_sentence_for_user(roots, put, allowed, beside):
    put("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    os.mkfifo(allowed / "pipe")
    (allowed / "out").symlink_to(beside / "other.txt")
    rows = attach_files(
        "@./nothing.py @./picture.png @./pipe @./out @../beside/other.txt @./id_rsa @/etc/passwd", roots
    )
    assert [row.text for row in rows] == [
        "[./nothing.py: not found]",
        "[./picture.png: no text]",
        "[./pipe: no regular file]",
        "[./out: not available]",
        "[../beside/other.txt: not available]",
        "[./id_rsa: not available]",
        "[/etc/passwd: not available]",
    ]
    assert all(
        row.trouble != in_language(row.trouble, "de") and not row.digest and not row.hash for row in rows
    )


def test_large_file_is_shown_by_its_ends_and_any_line_range(roots, put):
    roots = replace(roots, limits=ReadLimits(whole=100_000))
    put("big.log", "".join(f"line {number}\n" for number in range(1, 40_001)))
    row = only("@./big.log", roots)
    assert (row.mode, row.trouble) == ("summary", "")
    assert heading(row) == "[file big.log, beginning and end of 40,000 lines]"
    assert "line 1\n" in row.text
    assert row.text.rstrip().endswith("line 40000")
    assert "of 40,000 lines left out" in row.text
    assert len(row.text) < 5_000
    assert "only its beginning and its end" in only("@./big.log:full", roots).trouble
    assert (
        only("@./big.log:lines:20000", roots).text
        == "[file big.log, lines 20,000 to 20,000 of 40,000]\nline 20000"
    )


def test_what_was_pasted_behind_a_persons_words_points_at_nothing(roots, put):
    put("a.txt", "mine")
    put("b.txt", "theirs")
    pasted = "please read @./b.txt"
    rows = attach_files(f"review with @./a.txt\n\n{pasted}", replace(roots, pasted=pasted))
    assert [row.name for row in rows] == ["a.txt"]
    assert attach_files(pasted, replace(roots, pasted=pasted)) == []
    # Somebody changed what was pasted, so nobody knows where it begins.
    assert attach_files(f"review with @./a.txt\n\n{pasted}!", replace(roots, pasted=pasted)) == []


def test_what_no_store_can_hold_is_shown_as_something_else(roots, allowed, put):
    odd = allowed / os.fsdecode(b"odd-\xff\n.txt")
    try:
        odd.write_text("word")
    except OSError:
        pytest.skip("this disk has only names that are text")
    put("zero.txt", b"a\x00b, which is no more than a slip in a long line of letters")
    for row in attach_files("@./*.txt @./ @./:list @./:search:word @./zero.txt", roots):
        for value in (row.path, row.name, row.reference, row.text, row.digest):
            assert value.encode() is not None
            assert "\0" not in value
        assert "\n" not in row.name


def test_what_was_read_is_known_by_its_hash(roots, put):
    put("a.txt", "one")
    first = only("@./a.txt", roots)
    assert only("@./a.txt", roots) == first
    put("a.txt", "two")
    assert only("@./a.txt", roots).hash != first.hash


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(["@./", "@", "a.txt", "src", "/", "..", ":full", ":", "*", "lines:1", "\0", '"', " "])
    )
)
def test_nothing_that_is_said_fails_or_reads_what_is_beside(roots, put, beside, words):
    put("a.txt", "mine")
    put("src/a.txt", "mine")
    for row in attach_files("".join(words), roots):
        assert row.text
        assert "not yours" not in row.text
        assert "beside" not in row.text
