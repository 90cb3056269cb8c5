"""The page that says what the five documents ask for: every module and test it names is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLES = ("Arasul", "AIfred", "OpenClaw", "supermemory", "ollama-prompt", "The traps")
STATE = re.compile(r"there(: \S.*)?|there, differently: \S.*|not there: \S.*")
CODE = re.compile(r"`([^`]+)`")
NONE = "–"


def _tables():
    """The rows of each table, by the first words of the heading above it."""
    found, heading = {}, ""
    for line in (ROOT / "docs" / "coverage.md").read_text().splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ").partition(":")[0]
        elif line.startswith("| ") and not line.startswith(("| feature |", "| trap |")):
            found.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


ROWS = [row for rows in _tables().values() for row in rows]


def _of(row):
    return row[0][:60]


@cache
def _tests_in(path):
    tree = ast.parse((ROOT / "tests" / path).read_text())
    grouped = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {
        *_named(tree.body),
        *(f"{node.name}::{name}" for node in grouped for name in _named(node.body)),
    }


def _named(body):
    return [node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_every_document_has_its_table():
    assert {name: len(rows) > 10 for name, rows in _tables().items()} == dict.fromkeys(TABLES, True)


@pytest.mark.parametrize("row", ROWS, ids=_of)
def test_a_row_has_a_state_and_names_what_is_there(row):
    _, where, shown_by, state = row
    assert STATE.fullmatch(state), state
    for name in CODE.findall(where):
        assert (ROOT / "src" / "holdfast" / name).is_file() or (ROOT / name).is_file(), name
    for name in CODE.findall(shown_by):
        path, _, test = name.partition("::")
        assert test in _tests_in(path), name
    if state.startswith("not there"):
        assert (where, shown_by) == (NONE, NONE)
    else:
        assert CODE.search(where)
        assert CODE.search(shown_by)
