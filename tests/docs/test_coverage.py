"""The page that says what the five documents ask for: every module and test it names is there."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLES = ("Arasul", "AIfred", "OpenClaw", "supermemory", "ollama-prompt", "The traps")
STATE = re.compile(r"there(: \S.*)?|there, differently: \S.*|not there: \S.*")
CODE = re.compile(r"`([^`]+)`")
NONE = "–"


def _tables():
    """The rows of each table, by the first words of the heading above it."""
    results, heading = {}, ""
    for line in (ROOT / "docs" / "coverage.md").read_text().splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ").partition(":")[0]
        elif line.startswith("| ") and not line.startswith(("| feature |", "| trap |")):
            results.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split(" | ")])
    return results


ROWS = [row for rows in _tables().values() for row in rows]


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


def test_rows_have_a_state_and_name_what_is_there():
    assert {row[0]: faults for row in ROWS if (faults := _faults(row))} == {}


def _faults(row):
    _, where, shown_by, state = row
    faults = [] if STATE.fullmatch(state) else [f"no such state: {state}"]
    for name in CODE.findall(where):
        is_there = (ROOT / "src" / "holdfast" / name).is_file() or (ROOT / name).is_file()
        faults += [] if is_there else [f"no such file: {name}"]
    for name in CODE.findall(shown_by):
        path, _, test = name.partition("::")
        if not (ROOT / "tests" / path).is_file() or test not in _tests_in(path):
            faults.append(f"no such test: {name}")
    if state.startswith("not there"):
        faults += [] if (where, shown_by) == (NONE, NONE) else ["what is not there is nowhere"]
    else:
        faults += [] if CODE.search(where) and CODE.search(shown_by) else ["what is there is somewhere"]
    return faults
