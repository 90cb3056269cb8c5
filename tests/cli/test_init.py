"""`holdfast init`: proposals are shown, kept when accepted, and later only what is new or changed."""

import json
import os
import pty
import subprocess
import sys

import pytest

from holdfast.errors import BadRequest
from tests.cli.test_conversations import fails


@pytest.fixture
def repository(tmp_path, hold, monkeypatch):
    folder = tmp_path / "tides"
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "AGENTS.md").write_text("- Never edit generated files.\n- Always run `make test` first.\n")
    (folder / "go.mod").write_text("module tides\n\ngo 1.21\n")
    monkeypatch.chdir(folder)
    return folder


def texts(hold):
    return sorted(memory["text"] for memory in json.loads(hold("memory", "list", "--json"))["memories"])


def propose(hold, *words):
    return json.loads(hold("init", *words, "--json"))


FIRST = [
    "Always run `make test` first. (AGENTS.md)",
    "It is the Go module tides and needs Go 1.21. (go.mod)",
    "Never edit generated files. (AGENTS.md)",
]


def test_proposals_are_kept_with_their_sources_and_stand_in_the_brief(hold, repository):
    assert "Never edit generated files." in hold("init", "--dry-run")
    assert propose(hold)["kept"] is False
    assert texts(hold) == []
    assert "3 memories were kept in tides-" in hold("init", "--yes")
    assert texts(hold) == FIRST
    brief = hold("brief")
    assert brief.index("Never edit generated files. (AGENTS.md)") < brief.index("Go 1.21")
    assert "nothing new" in hold("init", "--yes")


def test_an_update_proposes_only_what_is_new_changed_or_gone(hold, repository):
    hold("init", "--yes")
    (repository / "AGENTS.md").write_text("- Never edit generated files.\n- Write docs in English.\n")
    (repository / "go.mod").write_text("module tides\n\ngo 1.23\n")
    changes = propose(hold, "--update", "--yes")
    assert [change["text"] for change in changes["new"]] == ["Write docs in English."]
    assert [change["source"] for change in changes["changed"]] == ["go.mod"]
    assert [change["text"] for change in changes["gone"]] == ["Always run `make test` first."]
    assert changes["known"] == 1
    brief = hold("brief")
    assert brief.index("## Rules") < brief.index("Write docs in English.") < brief.index("## Known")
    assert texts(hold) == [
        "It is the Go module tides and needs Go 1.23. (go.mod)",
        "Never edit generated files. (AGENTS.md)",
        "Write docs in English. (AGENTS.md)",
    ]
    assert not any(propose(hold, "--update")[name] for name in ("new", "changed", "gone"))


def test_what_is_declined_is_not_proposed_by_an_update(hold, repository):
    def answer(*lines):
        """Runs `holdfast init` on a terminal where somebody answers."""
        near, far = pty.openpty()
        command = [sys.executable, "-m", "holdfast", "init"]
        with subprocess.Popen(
            command, stdin=far, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            os.write(near, "".join(f"{line}\n" for line in lines).encode())
            shown, _ = process.communicate(timeout=120)
        os.close(near)
        os.close(far)
        assert process.returncode == 0, shown
        return shown.decode()

    answer("c", "n", "y", "y")
    assert texts(hold) == FIRST[:2]
    assert propose(hold, "--update")["new"] == []
    assert [change["text"] for change in propose(hold)["new"]] == ["Never edit generated files."]


def test_without_a_terminal_or_a_repository_it_says_what_to_do(hold, repository, tmp_path, monkeypatch):
    fails(hold("init", whole=True), BadRequest, "Nobody can be asked")
    monkeypatch.chdir(tmp_path)
    fails(hold("init", "--yes", whole=True), BadRequest, "no repository")
