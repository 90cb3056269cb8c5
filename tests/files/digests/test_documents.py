"""Markdown, JSON, YAML, TOML, tables, logs and plain text: what of them is told, and what can be reached."""

import json

import pytest

from holdfast.files.digests import build_digest, find_element, list_elements

FILLING = "Words that nobody needs, over and over again, in a long line of their own. More of it.\n" * 80
GUIDE = f"""---
title: x
---
The guide, z. B. for beginners. And more.

# Erste Schritte

Man braucht Python 3.11, d. h. eine neuere Version. Danach geht es los.

{FILLING}
```sh
# not a heading
```

## Install **it**

[Get](http://x) the package first. Then run it.

Under a line
------------

{FILLING}
# Next

| a | b |
|---|---|
Text after a table.
"""


def test_markdown_is_told_by_headings_with_their_first_sentences():
    digest = build_digest("guide.md", GUIDE)
    lines = digest.text.split("\n")
    assert lines[:3] == [
        "The guide, z. B. for beginners.",
        "# Erste Schritte",
        "Man braucht Python 3.11, d. h. eine neuere Version.",
    ]
    assert "## Install **it**" in lines
    assert "Get the package first." in lines
    assert "## Under a line" in lines
    assert "Text after a table." in lines
    assert "not a heading" not in digest.text
    assert lines[-1] == f"[{GUIDE.count(chr(10)) + 1 - 9} of 188 lines left out]"


@pytest.mark.parametrize("wanted", ["Install it", "install  IT", "install-it", "Install_it"])
def test_a_heading_is_reached_however_it_is_spelled(wanted):
    element = find_element("guide.md", GUIDE, wanted)
    assert element.text == "## Install **it**\n\n[Get](http://x) the package first. Then run it."
    assert GUIDE.split("\n")[element.first - 1] == "## Install **it**"


def test_section_extends_to_next_heading_of_same_or_higher_level():
    assert list_elements("guide.md", GUIDE) == ["Erste Schritte", "Install it", "Under a line", "Next"]
    assert find_element("guide.md", GUIDE, "Erste Schritte").text.endswith("own. More of it.")
    assert "Under a line" in find_element("guide.md", GUIDE, "Erste Schritte").text
    assert "Next" not in find_element("guide.md", GUIDE, "Under a line").text


def test_restructured_text_has_headings_too():
    text = f"=====\nTitle\n=====\n\nIt begins.\n\nPart\n----\n\n{FILLING}\nDeeper\n~~~~~~\n\nEnd.\n"
    report = build_digest("a.rst", text).text
    assert report.startswith("# Title\nIt begins.\n## Part\n")
    assert "### Deeper\nEnd." in report
    assert find_element("a.rst", text, "deeper").text == "Deeper\n~~~~~~\n\nEnd."


def test_json_is_told_by_its_shape():
    value = {
        "name": "holdfast",
        "people": [
            {"id": number, "town": "Köln", **({"age": 3} if number % 2 else {})} for number in range(300)
        ],
        "tags": ["a", "b", "c", "d"] * 50,
        "by_key": {f"k{number}": {"x": number} for number in range(100)},
        "empty": [],
        "on": True,
        "none": None,
    }
    text = json.dumps(value, ensure_ascii=False, indent=1)
    lines = build_digest("a.json", text).text.split("\n")
    assert lines[:2] == ["object, 7 keys", 'name: text "holdfast"']
    assert "people: list of 300 objects" in lines
    assert '  town: text "Köln"' in lines
    assert "  age (not in all): number 3" in lines
    assert 'tags: list of 200 texts: "a", "b", "c", …' in lines
    assert "  k0, k1, k2, k3, k4, … each object, such as:" in lines
    assert {"empty: empty list", "on: true", "none: null"} <= set(lines)
    assert lines[-1].startswith("[values left out of ")


def test_keys_are_reached_in_json_yaml_and_toml():
    compact = '{"a": {"b": [1, {"c": 2}], "b2": "}"}, "d\\"e": null}'
    assert list_elements("a.json", compact) == ["a", "a.b", "a.b2", 'd"e']
    assert find_element("a.json", compact, "a.b").text == '"b": [1, {"c": 2}]'
    yaml = "services:\n  web:\n    image: x:1\n    run: |\n      key: no key\n  db:\n    - name: one\n"
    yaml += "    - name: two\nend: 1\n"
    assert list_elements("a.yaml", yaml) == [
        "services", "services.web", "services.web.image", "services.web.run", "services.db",
        "services.db.name", "end",
    ]  # fmt: skip
    assert (
        find_element("a.yaml", yaml, "services.web").text
        == "  web:\n    image: x:1\n    run: |\n      key: no key"
    )
    toml = 'top = 1\n[tool.ruff]\nline = 1\nselect = [\n  "E",\n]\n\n[tool.ruff.lint]\nx = 2\n'
    assert list_elements("a.toml", toml)[:4] == ["top", "tool.ruff", "tool.ruff.line", "tool.ruff.select"]
    assert find_element("a.toml", toml, "tool.ruff.select").text == 'select = [\n  "E",\n]'
    assert find_element("a.toml", toml, "tool.ruff").text.endswith("]")


def test_yaml_digest_has_keys_and_first_list_items():
    item = "    - name: second\n      note: nobody needs it\n"
    text = "".join(f"s{number}:\n  items:\n    - name: first\n{item * 9}  port: 80\n" for number in range(6))
    digest = build_digest("a.yml", text)
    assert digest.text.startswith("s0:\n  items:\n    - name: first\n  port: 80\ns1:\n")
    assert "second" not in digest.text
    assert "left out of 133 lines: 108 keys of 132" in digest.left_out


def test_a_table_is_told_by_its_columns_and_the_first_rows():
    rows = "".join(
        f"{number};Müller, A.;1.234,5{number % 10};{number % 28 + 1:02}.11.2026;ja;\n"
        for number in range(400)
    )
    lines = build_digest("a.csv", "Nr;Name;Betrag;Datum;aktiv;leer\n" + rows).text.split("\n")
    assert lines[0] == "400 rows, 6 columns, parted by semicolons"
    assert lines[1:7] == [
        "- Nr: whole number, 0 to 399",
        "- Name: text: Müller, A.",
        "- Betrag: number, written as in German",
        "- Datum: date, 01.11.2026 to 08.11.2026",
        "- aktiv: yes or no",
        "- leer: empty",
    ]
    assert lines[7].startswith("> 0; Müller, A.; 1.234,50; 01.11.2026; ja")
    assert lines[-1] == "[395 of 400 rows left out, long cells cut]"
    english = "id,name,amount\n" + '1,"Doe, J.","1,234.50"\n' * 100
    assert "- amount: number" in build_digest("b.csv", english).text.split("\n")


def test_log_digest_has_time_span_levels_patterns_and_verbatim_errors():
    lines = [
        f"2026-11-15T10:{number // 60:02}:{number % 60:02}Z INFO served request {number} in {number}ms"
        for number in range(200)
    ]
    lines[50] = "2026-11-15T10:00:50Z ERROR cannot open '/data/a7.db': disk full"
    lines[60] = "2026-11-15T10:01:00Z ERROR cannot open '/data/b8.db': disk full"
    lines[70] = "2026-11-15T10:01:10Z WARNUNG bald voll"
    lines[71] = "ValueError: 7 is no name"
    parts = build_digest("a.log", "\n".join(lines)).text.split("\n")
    assert parts[0] == "200 lines of log, 2026-11-15T10:00:00Z to 2026-11-15T10:03:19Z"
    assert parts[1] == "levels: INFO 196, ERROR 2, WARN 1"
    assert parts[2] == "2 distinct errors, the first of each:"
    assert parts[3] == "2026-11-15T10:00:50Z ERROR cannot open '/data/a7.db': disk full  (2 times)"
    assert parts[4] == "ValueError: 7 is no name"
    assert "196 × INFO served request # in #ms" in parts
    assert parts[-1] == "[198 of 200 lines left out]"


def test_any_other_text_has_its_head_its_tail_and_counts():
    text = "".join(f"line {number} of it\n" for number in range(2_000))
    parts = build_digest("a.txt", text).text.split("\n")
    assert parts[0] == "line 0 of it"
    assert parts[-2] == "line 1999 of it"
    assert parts[-1].endswith(f"of 2,000 lines and {len(text):,} characters left out]")


@pytest.mark.parametrize("number", [1, 2, 3, 5, 30])
def test_lines_of_a_short_text_are_told_once_and_counted(number):
    text = "\n".join(f"L{line} {'word ' * 300}" for line in range(number))
    *report, left_out = build_digest("a.txt", text).text.split("\n")
    named = [line.split()[0] for line in report if line.startswith("L")]
    assert named[0] == "L0"
    assert len(named) == len(set(named))
    gone, count = number - len(named), f"{number} line{'s' if number > 1 else ''}"
    assert left_out == f"[{gone} of {count} and {len(text):,} characters left out, long lines cut]"
    assert any(line.startswith(f"… {gone} line") for line in report) == bool(gone)


def test_a_page_is_told_by_its_headings_without_its_marks():
    body = "".join(
        f"<h2>Part {number}</h2><p>It says &amp; does <b>this</b>. {FILLING}</p>" for number in range(3)
    )
    page = f"<!doctype html><title>A page</title><script>var h = '<h1>no</h1>'</script><body>{body}</body>"
    digest = build_digest("a.html", page)
    assert digest.kind == "html"
    assert digest.text.startswith("A page\n## Part 0\nIt says & does this.\n## Part 1")
    assert "no" not in digest.text.split("\n")
