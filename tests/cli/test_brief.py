"""`holdfast brief`: plain text for a hook, JSON for programs, and nothing where there is nothing."""

import json
import subprocess

import pytest


@pytest.fixture
def repository(tmp_path, hold, monkeypatch):
    folder = tmp_path / "tides"
    subprocess.run(["git", "init", "-q", folder], check=True)
    monkeypatch.chdir(folder)
    return folder


def test_nothing_is_printed_where_nothing_is_known(hold, repository, home):
    assert hold("brief") == ""
    assert json.loads(hold("brief", "--json"))["tokens"] == 0


def test_what_binds_comes_first_and_the_window_decides_how_much(hold, repository, monkeypatch):
    for number in range(12):
        hold("memory", "add", f"Buoy {number} lies at harbour mark {1000 + number * 7}")
    hold("memory", "add", "Never push to main", "--kind", "decision")
    text = hold("brief")
    assert text.index("Never push to main") < text.index("Buoy")
    brief = json.loads(hold("brief", "--json", "--window", "1024"))
    assert brief["project"].startswith("tides-")
    assert brief["forbidden"][0]["text"] == "Never push to main"
    assert brief["tokens"] < 130
    assert len(brief["text"]) < len(text)
    assert hold("brief", "--project", "default") == ""
    monkeypatch.setenv("HOLDFAST_MEMORY", "false")
    assert hold("brief") == ""
