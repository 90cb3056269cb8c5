"""`holdfast conversations compact` beside a running server: made, shown at its place, read and taken back."""

import json
import subprocess
import sys

import httpx
import pytest

from holdfast.config import load
from holdfast.errors import Conflict, NotFound
from holdfast.server.app import create_app
from holdfast.store import open_store
from holdfast.testing.provider import serve_app
from holdfast.wiring import build_engine
from tests.cli.test_conversations import fails
from tests.cli.test_window import change_report
from tests.fakes.ollama import FakeOllama
from tests.summaries import garden_talk, summing_up

pytestmark = pytest.mark.slow


@pytest.fixture
def upstream(monkeypatch):
    with FakeOllama(lambda call: summing_up(call.said)).served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        yield address


@pytest.fixture
def server_here(hold, upstream):
    """A server on the data folder of the commands."""
    settings = load().settings
    with serve_app(create_app(build_engine(settings), settings)) as url:
        yield url


@pytest.fixture
def talk(server_here):
    """Has a talk with a server that stays there; the id of its conversation."""

    def talk(messages=None, **headers):
        wire = [{"role": message.role, "content": message.text} for message in messages or garden_talk()]
        body = {"model": "fake:latest", "messages": wire, "stream": False}
        response = httpx.post(
            f"{server_here}/api/chat", json=body, headers=headers, timeout=60, trust_env=False
        )
        assert response.status_code == 200, response.text
        return response.headers["x-holdfast-conversation"]

    return talk


def test_it_is_made_with_progress_and_says_what_it_came_to(hold, home, talk):
    chat = talk()
    result = hold("conversations", "compact", chat[:14], whole=True)
    assert result.exit_code == 0, result.output or result.exception
    assert "Summarising: 33 %" in result.stderr
    (line, how, *_) = result.stdout.splitlines()
    *_, row = batches(home, chat)
    assert line.startswith(f"Context summarised: {row.tokens_before:,} → {row.tokens_after:,} tokens, ")
    assert "14 messages · written by a model · fake:latest · 1 memory · " in how
    # Its notes are written before the command ends.
    assert "P-4711" in (home / "workspace" / "default" / "conversations" / chat / "summary.md").read_text()


def batches(home, chat):
    with open_store(f"sqlite:///{home / 'holdfast.db'}") as store:
        return store.compactions.of(chat)


def test_json_output_matches_text_and_contains_nothing_else(hold, talk):
    chat = talk()
    data = json.loads(hold("conversations", "compact", chat, "--json"))
    assert (data["conversation"], data["messages"], data["path"]) == (chat, 14, "model")
    assert (data["model"], data["memories"]) == ("fake:latest", 1)
    assert data["saved_percent"] == int(100 * (1 - data["tokens_after"] / data["tokens_before"]))


def test_show_has_the_banner_between_the_messages_it_parts(hold, talk):
    chat = talk()
    data = json.loads(hold("conversations", "compact", chat, "--json"))
    shown = hold("conversations", "show", chat)
    assert shown.index("14 · m_") < shown.index(data["banner"])
    assert shown.index(data["banner"]) < shown.index("15 · m_")
    listed = json.loads(hold("conversations", "show", chat, "--json"))
    assert [entry.get("type") for entry in listed["messages"]].index("compaction") == 14
    assert "P-4711" in listed["compaction_summary"]


def test_window_has_the_summary_and_how_it_was_made(hold, talk):
    chat = talk()
    assert "Nothing is summarised" in hold("window", chat, "--summary")
    hold("conversations", "compact", chat)
    text = hold("window", chat, "--summary")
    assert "the pump with number P-4711 was set up" in text
    assert json.loads(hold("window", chat, "--summary", "--json"))["summary"] == text.removesuffix("\n")
    shown = hold("window", chat)
    assert f"holdfast window {chat} --summary" in shown
    batch = shown.split("Last batches")[1]
    assert "level 3 (older turns are summarised)" in batch
    assert "written by a model · fake:latest · 1 memory" in batch


def test_a_summary_is_listed_as_a_memory_of_its_project(hold, talk):
    here = ("--project", "garden")
    hold("conversations", "compact", talk(**{"X-Holdfast-Project": "garden"}), *here)
    command = ("memory", "list", "--kind", "summary", "--scope", "project", "--limit", "1", *here)
    (only,) = json.loads(hold(*command, "--json"))["memories"]
    assert "P-4711" in only["text"]
    assert "P-4711" in hold(*command)


def test_expand_shows_what_was_summarised_and_undo_brings_it_back(hold, talk):
    chat = talk()
    hold("conversations", "compact", chat)
    shown = hold("conversations", "expand", chat)
    assert shown.count("summarised") == 14
    assert all(message.text in shown for message in garden_talk()[:14])
    undone = hold("conversations", "undo", chat)
    assert "Undone: summarised (14 messages, " in undone
    assert "14 messages sent again, as far as there is room" in undone
    assert "Context summarised" not in hold("conversations", "show", chat)
    assert "word for word" in hold("conversations", "expand", chat)


def test_all_of_it_is_german_where_that_is_spoken(hold, home, talk, monkeypatch):
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    chat = talk(garden_talk(german=True))
    result = hold("conversations", "compact", chat, whole=True)
    assert "Zusammenfassen: 33 %" in result.stderr
    *_, row = batches(home, chat)
    before, after = (f"{tokens:,}".replace(",", ".") for tokens in (row.tokens_before, row.tokens_after))
    banner = f"Kontext zusammengefasst: {before} → {after} Token, "
    assert result.stdout.startswith(banner)
    assert "14 Nachrichten · von einem Modell geschrieben · fake:latest · 1 Erinnerung · " in result.stdout
    assert banner in hold("conversations", "show", chat)
    assert "die Pumpe mit der Nummer P-4711 wurde aufgestellt" in hold("window", chat, "--summary")
    assert "Nachrichten wieder dabei, soweit Platz ist" in hold("conversations", "undo", chat)


def test_what_is_being_summarised_already_is_left_to_whoever_does_it(hold, home, talk):
    chat = talk()
    with open_store(f"sqlite:///{home / 'holdfast.db'}") as store:
        assert store.leases.take(f"compaction:{chat}", "somebody else", 60)
        fails(hold("conversations", "compact", chat, whole=True), Conflict, "already")
        assert store.compactions.of(chat) == []


def test_a_conversation_of_another_project_is_not_summarised(hold, talk):
    chat = talk(**{"x-holdfast-project": "other"})
    fails(hold("conversations", "compact", chat, whole=True), NotFound, "--project other")
    assert "Context summarised" in hold("conversations", "compact", chat, "--project", "other")


def test_failing_command_exits_with_message_and_exit_code(hold, home, talk):
    command = [sys.executable, "-m", "holdfast", "conversations", "compact", talk(garden_talk(0))]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert "nothing to summarise" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_try_that_did_not_help_is_noticed_in_the_window(hold, home, talk):
    chat = talk()
    change_report(home, chat, notices=["not_smaller"])
    assert "! summarising did not make the window smaller" in hold("window", chat)


def test_the_summary_has_a_section_of_its_own_in_the_bar(hold, home, talk):
    chat = talk()
    sections = [{"name": "system", "tokens": 128}, {"name": "summary", "tokens": 512, "cap": 600}]
    change_report(home, chat, sections=sections)
    shown = hold("window", chat)
    assert "▥▥▥▥" in shown
    assert "summary" in shown
