"""What is a reference in somebody's words and what only looks like one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.files.references import (
    Reference,
    find_references,
    format_reference,
    format_suffix,
    parse_reference,
)


def paths(text: str) -> list[str]:
    return [reference.path for reference in find_references(text) if reference.sure]


def only(text: str) -> Reference:
    (results,) = find_references(text)
    assert text[results.start] == "@"
    return results


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see @./a.py.", ["./a.py"]),
        ("@./a.py, @./b.py and @../c.md", ["./a.py", "./b.py", "../c.md"]),
        ("@./a.py,@./b.py;@./c.py", ["./a.py", "./b.py", "./c.py"]),
        ("(@./a.py)", ["./a.py"]),
        ("(see @./a.py).", ["./a.py"]),
        ("is it @./a.py?", ["./a.py"]),
        ("look: @./a.py: there!", ["./a.py"]),
        ("so @./a.py... and @./b.py…", ["./a.py", "./b.py"]),
        ("**@./a.py** and *@./b.py*.", ["./a.py", "./b.py"]),
        ("„@./a.py“ und »@./b.py«", ["./a.py", "./b.py"]),
        ('"@./a.py" and <@./b.py>', ["./a.py", "./b.py"]),
        ("@/etc/hosts @~/x.txt", ["/etc/hosts", "~/x.txt"]),
        ("@./app/[id]/(group)/page.tsx", ["./app/[id]/(group)/page.tsx"]),
        ("@./a.py(the old one)", ["./a.py"]),
        ("@./größe.py und @./Straße/", ["./größe.py", "./Straße/"]),
        ("@./ and @../ and @../..", ["./", "../", "../.."]),
        ("@./src/*.py @./src/**/*.md.", ["./src/*.py", "./src/**/*.md"]),
        ("first\n@./a.py\nlast", ["./a.py"]),
    ],
)
def test_a_path_ends_where_the_sentence_goes_on(text, expected):
    assert paths(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "write to ada@example.com or a.b+c@./x",
        "thanks @ada and @grace_hopper!",
        "@property\n@dataclass(frozen=True)\n@app.command()",
        "https://example.com/@user/post.html and git@github.com:a/b.git",
        "@@ -1,3 +1,4 @@ def f():",
        "npm i @types/node @scope/pkg",
        "@pytest.fixture and @media",
        'import x from "@/components/button"',
        r"\@./a.py",
        "curl --data=@./body.json",
        "wait @.. and @... and @ ./a.py and @",
        "@// and @/ ",
        '@"" and @"not closed',
        "`@./a.py` and ``x ` @./b.py``",
        "```python\n@./a.py\n```",
        "~~~\n@./a.py\n```\n@./b.py\n~~~",
        "````\n```\n@./a.py\n```\n````",
        "```\n@./never closed",
    ],
)
def test_what_is_no_reference_is_left_alone(text):
    assert paths(text) == []


def test_what_stands_beside_code_counts():
    assert paths("`x` @./a.py `y`\n```\n@./no.py\n```\n@./b.py") == ["./a.py", "./b.py"]
    assert paths("a stray ` and @./a.py") == ["./a.py"]


def test_name_with_slash_or_suffix_is_reference_if_file_exists():
    references = find_references(
        "@src/holdfast/turn.py, @README.md, @types/node, @pytest.fixture, @name, @.env"
    )
    assert [reference.path for reference in references] == [
        "src/holdfast/turn.py",
        "README.md",
        "types/node",
        "pytest.fixture",
        ".env",
    ]
    assert not any(item.sure for item in references)


@pytest.mark.parametrize(
    ("suffix", "mode", "what", "first", "last"),
    [
        ("", "", "", 0, 0),
        (":full", "full", "", 0, 0),
        (":summary", "summary", "", 0, 0),
        (":list", "list", "", 0, 0),
        (":tree", "tree", "", 0, 0),
        (":Engine", "element", "Engine", 0, 0),
        (":Engine.turn", "element", "Engine.turn", 0, 0),
        (":Engine.turn()", "element", "Engine.turn", 0, 0),
        (":Full", "element", "Full", 0, 0),
        (":name:full", "element", "full", 0, 0),
        (":name:lines", "element", "lines", 0, 0),
        (":ns::call", "element", "ns::call", 0, 0),
        (":lines:100-150", "lines", "", 100, 150),
        (":lines:100–150", "lines", "", 100, 150),
        (":lines:100", "lines", "", 100, 100),
        (":lines:100-", "lines", "", 100, 0),
        (":lines:150-100", "lines", "", 100, 150),
        (":lines:0-5", "lines", "", 1, 5),
        (":12", "lines", "", 12, 12),
        (":12-20", "lines", "", 12, 20),
        (":lines", "lines", "", 0, 0),
        (":lines:many", "lines", "many", 0, 0),
        (":search:word", "search", "word", 0, 0),
        (':search:"two words"', "search", "two words", 0, 0),
        (':"Getting started"', "element", "Getting started", 0, 0),
        (":„Erste Schritte“", "element", "Erste Schritte", 0, 0),
        (":name:'full'", "element", "full", 0, 0),
        (':"full"', "element", "full", 0, 0),
    ],
)
@pytest.mark.parametrize(
    "path", ["./a.py", '"./my file.py"', "'./my file.py'", "„./mein Text.py“", "C:/a.py", "C:\\b\\a.py"]
)
def test_a_suffix_says_what_is_wanted(path, suffix, mode, what, first, last):
    text = f"look at @{path}{suffix}."
    results = only(text)
    assert results.path == path.strip("\"'„“")
    assert (results.mode, results.what, results.first, results.last) == (mode, what, first, last)
    assert text[results.start : results.end] == f"@{path}{suffix}"
    assert results.sure


def test_a_colon_of_the_sentence_is_no_suffix():
    assert only('@"./my file.py": look').path == "./my file.py"
    assert only("@./a.py: look").mode == ""


@pytest.mark.parametrize("at", ["@", ""])
def test_an_argument_of_a_command_may_have_spaces(at):
    reference = parse_reference(f"{at}./my file.py:lines:3-4")
    assert (reference.path, reference.mode, reference.first, reference.last) == (
        "./my file.py",
        "lines",
        3,
        4,
    )
    assert parse_reference(f'{at}"./my file.py":full').mode == "full"
    assert parse_reference(f"{at}README.md").sure
    assert parse_reference("").path == ""


names = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="\"'„“”‚‘’«»"), min_size=1)


@settings(max_examples=60)
@given(
    names,
    st.sampled_from(["", "full", "summary", "list", "tree"]),
    st.tuples(st.integers(1, 10**6), st.integers(0, 10**6)),
    st.sampled_from(["word", "two words", "full", "Class.method"]),
)
def test_what_is_written_is_read_again_as_it_was_meant(name, mode, lines, what):
    path = f"/x/{name}"
    first, last = (min(lines), max(lines)) if lines[1] else lines
    for meant in (
        Reference(0, 0, path, mode),
        Reference(0, 0, path, "lines", "", first or 1, last),
        Reference(0, 0, path, "element", what),
        Reference(0, 0, path, "search", what),
    ):
        results = only(f"see @{format_reference(path, meant)}, please")
        assert (results.path, results.mode, results.what) == (path, meant.mode, meant.what)
        assert format_suffix(results) == format_suffix(meant)


@settings(max_examples=200)
@given(st.text(st.sampled_from("@./a:b\"'„“`~\n *()[]{},;-\\0lines9 é\ud800")))
def test_any_text_has_references_in_order_and_inside_it(text):
    references = find_references(text)
    done = 0
    for reference in references:
        assert done <= reference.start < reference.end <= len(text)
        assert text[reference.start] == "@"
        assert reference.path
        assert reference.path in text
        done = reference.end
