"""The measurement of digests finds what it looks for: names that are there, and tokens that are saved."""

import json

from evals.files import main, name_rows, public_names, savings_rows
from evals.files_texts import SORTS, big_text

SOURCE = """
__all__ = ["passed_on"]
LIMIT, (low, *rest) = 1, (2, 3)
if LIMIT:
    def made(): ...
class Box:
    field = 1
    def area(self):
        def inner(): ...
    def _hidden(self): ...
class _Private:
    def method(self): ...
"""


def test_public_names_are_those_that_somebody_could_ask_for():
    assert public_names(SOURCE) == {"passed_on", "LIMIT", "low", "rest", "made", "Box", "area"}


def test_the_rows_count_files_and_names(tmp_path):
    body = "    total = sum(value for value in values if value > 3)\n" * 500
    (tmp_path / "long.py").write_text(f"def first(values):\n{body}\ndef second(values):\n{body}")
    (tmp_path / "short.py").write_text(SOURCE)
    (tmp_path / "picture.py").write_bytes(b"\x89PNG" + b"\0" * 30_000)
    (saved, above, _, _, _) = savings_rows([tmp_path], every=1)
    assert (saved.case, saved.met) == ("python, 1 files", True)
    assert above.value == 100
    (missing, _) = name_rows([tmp_path], every=1)
    assert (missing.case, missing.value) == ("of 9 in 2 Python files", 0)


def test_large_sample_text_exists_for_every_kind_without_local_files():
    for sort in SORTS:
        name, text = big_text(sort, iter([("a.py", "x = 1\n"), ("a.js", "f();\n"), ("a.h", "int x;\n")]))
        assert "." in name
        assert len(text) > 600_000


def test_the_rows_come_as_json_too(tmp_path, capsys):
    (tmp_path / "a.md").write_text("# One\n\nText. More.\n\n" + "word " * 6_000)
    main(["--json", "--part", "saved", "--only", str(tmp_path)])
    assert json.loads(capsys.readouterr().out)[0]["part"] == "saved"
