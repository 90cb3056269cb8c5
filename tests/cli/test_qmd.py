"""QMD from the command line: it reads with the index, answers, and says so; without it all goes on."""

import json
import sys

import pytest

from tests.fakes import qmd as fake


@pytest.fixture
def qmd(hold, home, monkeypatch):
    note = home / "workspace" / "default" / "MEMORY.md"
    note.parent.mkdir(parents=True)
    note.write_text("- The heron nests in the old mill.\n")
    monkeypatch.setenv("HOLDFAST_MEMORY_BACKEND", "qmd")
    monkeypatch.setenv("HOLDFAST_QMD_COMMAND", f"'{sys.executable}' -SP '{fake.__file__}'")
    monkeypatch.setenv("HOLDFAST_QMD_TIMEOUT", "60")
    return hold


def test_it_reads_answers_and_is_told_of(qmd, monkeypatch):
    before = json.loads(qmd("memory", "search", "heron", "--json"))
    assert before["engines"] == ["fts5"]
    assert "QMD has not read all of these notes yet" in before["degraded"][0]
    assert json.loads(qmd("memory", "reindex", "--json"))["trouble"] is None
    after = json.loads(qmd("memory", "search", "heron", "--json"))
    assert (after["engines"], after["degraded"]) == (["qmd"], [])
    assert after["hits"][0]["citation"] == "Source: default/MEMORY.md#1"
    report = qmd("memory", "stats")
    assert "backend: qmd 2.8.3 query (1 collections, last read " in report
    assert "last answer by qmd" in report
    findings = {item["about"]: item for item in json.loads(qmd("doctor", "--json", whole=True).stdout)}
    assert findings["QMD"]["state"] == "ok"

    monkeypatch.setenv("HOLDFAST_QMD_COMMAND", "qmd-that-is-nowhere")
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    gone = json.loads(qmd("memory", "search", "heron", "--json"))
    assert (gone["engines"], len(gone["hits"])) == (["fts5"], 1)
    result = qmd("memory", "stats", whole=True)
    assert "letzte Antwort von holdfast: There is no program 'qmd-that-is-nowhere'." in result.stdout
    assert "Es gibt kein Programm qmd-that-is-nowhere." in result.output
    findings = {entry["about"]: entry for entry in json.loads(qmd("doctor", "--json", whole=True).stdout)}
    assert findings["QMD"]["state"] == "note"
    assert "npm install" in findings["QMD"]["remedy"]


def test_rules_and_paths_that_make_no_sense_are_named(qmd, monkeypatch):
    monkeypatch.setenv("HOLDFAST_QMD_SCOPE", "allow everyone")
    result = qmd("memory", "search", "heron", whole=True)
    assert result.exit_code != 0
    assert (
        "qmd_scope has a rule that makes no sense: 'allow everyone'" in f"{result.output} {result.exception}"
    )
