"""A digest is made of anything, is short, says what it leaves out, and never fails."""

import json
import keyword
import sysconfig
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.files.digests import _SUFFIXES, build_digest, find_element, list_elements
from holdfast.files.digests.code import GRAMMARS, PATTERNS
from holdfast.tokens.estimate import UNKNOWN, estimate

NAMES = sorted({"", "README", "Makefile", "x", *(f"x.{kinds.split()[0]}" for kinds in _SUFFIXES.values())})
# Pieces that the readers look for, in no order that makes sense.
PIECES = st.sampled_from(
    ["def f(x):\n", "class A(B):\n", "    ", "\t", "\n", '"""', "'", '"', "#", "# Title\n", "====\n",
     "```\n", "{", "}", "[", "]", "(", ")", ":", ",", ";", "- a: 1\n", "key: |\n", "[table]\n",
     "x = 1\n", "\\", "\\\n", "\x00", "\r\n", "\r", "2026-11-15 10:00:00 ERROR x\n", "<h1>", "<!--",
     "<script>", "fn f() {", "impl A for B {", "func (a *B) C() {", "public class A {",
     "#define A 1\n", "namespace a {", "template<", "@x\n", "async ", "é", "\ud800", "😀", "null"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=300))


def tokens(text):
    return estimate(text, UNKNOWN).tokens


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(NAMES), text=TEXTS, often=st.sampled_from([1, 1, 40]))
def test_any_name_and_text_has_a_digest_that_is_no_longer(name, text, often):
    text *= often
    digest = build_digest(name, text)
    assert len(digest.text) <= len(text)
    assert digest.text == text or digest.text.endswith(f"[{digest.left_out}]")
    assert bool(digest.left_out) == (digest.text != text)
    for known in list_elements(name, text)[:5]:
        if known.strip():
            span = find_element(name, text, known)
            assert span is not None
            assert span.text in text
            assert text.split("\n")[span.first - 1 : span.last][0].endswith(span.text.split("\n")[0])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_nested_without_end_is_told_all_the_same(name):
    deep = ["[" * 3_000, '{"a":' * 1_500, "(" * 3_000, "- " * 3_000, "# " * 3_000, "{ " * 3_000, "x" * 30_000]
    deep += ["if x:\n" + "elif y:\n  a = 1\n" * 1_500, "-" * 20_000 + "1", "x" + ".y" * 20_000]
    for text in deep:
        digest = build_digest(name, text)
        assert tokens(digest.text) < tokens(text) / 5


def test_source_that_grammar_cannot_parse_falls_back_to_patterns():
    digest = build_digest("a.rs", "fn real() {}\n" + '{"a":' * 12_000)
    assert "real" in digest.text


def test_a_short_file_is_its_own_digest():
    assert build_digest("a.py", "x = 1\n").text == "x = 1\n"
    assert build_digest("a.py", "x = 1\n").left_out == ""
    assert build_digest("", "").text == ""


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("notes", "# One\n\ntext. more\n\n## Two\n\ntext\n" * 40, "markdown"),
        ("data", json.dumps([{"a": 1}] * 200), "json"),
        ("run", "#!/usr/bin/env python3\n" + "def f():\n    return 12345\n" * 90, "python"),
        ("run", "#!/bin/bash\n" + "go() {\n  echo one two three\n}\n" * 90, "shell"),
        ("out.txt", "2026-11-15 10:00:00 INFO all is well\n" * 90, "log"),
        ("server.log.3", "2026-11-15 10:00:00 INFO all is well\n" * 90, "log"),
        ("people.txt", "name;age;town\n" + "Anna;31;Kassel\n" * 90, "table"),
        ("letter.txt", "Dear all, this is a letter, and it has commas.\nIt goes on\n" * 90, "text"),
        ("broken.json", '{"a": [1, 2\n' * 90, "text"),
        ("events.json", '{"a": 1, "b": "x"}\n' * 90, "jsonl"),
    ],
)
def test_the_kind_is_told_by_name_and_else_by_content(name, text, kind):
    assert build_digest(name, text).kind == kind


def test_every_grammar_has_patterns_for_what_is_too_large_for_it():
    assert set(GRAMMARS) <= set(PATTERNS)


def sample():
    library = Path(sysconfig.get_path("stdlib"))
    names = (
        "argparse",
        "ast",
        "typing",
        "socket",
        "subprocess",
        "dataclasses",
        "inspect",
        "tarfile",
        "zipfile",
        "enum",
    )
    return [library / f"{name}.py" for name in names]


@pytest.mark.parametrize("path", sample(), ids=lambda path: path.stem)
def test_library_module_digest_has_every_public_name_in_tenth_of_tokens(path):
    from evals.files import _WORDS, public_names

    text = path.read_text(encoding="utf-8")
    digest = build_digest(path.name, text)
    assert public_names(text) - set(_WORDS.findall(digest.text)) == set()
    assert digest.kind == "python"
    if len(text) > 20_000:
        assert tokens(digest.text) < tokens(text) / 10


IDENTIFIERS = st.from_regex(r"[a-z][a-z0-9_]{2,12}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name)
)


@settings(max_examples=40, deadline=None)
@given(names=st.lists(IDENTIFIERS, min_size=4, max_size=24, unique=True), data=st.data())
def test_generated_module_digest_has_every_reachable_public_name(names, data):
    parts, wanted = [], []
    while names:
        name = names.pop()
        sort = data.draw(st.sampled_from(["def", "async def", "class", "if", "constant", "tuple"]))
        if sort == "class" and names:
            method = names.pop()
            parts.append(
                f'class {name}:\n    """Says\n) what: it is."""\n\n    @staticmethod\n'
                f"    def {method}(x: int = (\n1)):\n        return 1\n"
            )
            wanted += [name, f"{name}.{method}"]
        elif sort == "if":
            parts.append(f"if True:\n    def {name}(): return '''\ndef no(): pass\n'''\n")
            wanted.append(name)
        elif sort == "constant":
            parts.append(f"{name}: dict[str,\n  int] = {{\n{'1: 2,' * 300}\n}}\n")
            wanted.append(name)
        elif sort == "tuple":
            parts.append(f"{name}, ({name}_a, *{name}_b) = x = [{'1,' * 600}]\n")
            wanted += [f"{name}_a", f"{name}_b"]
        else:
            word = sort if sort != "class" else "def"
            parts.append(
                f"{word} {name}(a, *, b: int = 1) -> str:\n    # why\n    print 'old'\n    return [\n1,\n]\n"
            )
            wanted.append(name)
    text = "\n\n".join(parts)
    digest = build_digest("made.py", text)
    report = digest.text.replace("(", " ").replace(",", " ").replace(":", " ").split()
    assert {name.rpartition(".")[2] for name in wanted} <= set(report)
    assert {name for name in wanted if not name.endswith(("_a", "_b"))} <= set(list_elements("made.py", text))
