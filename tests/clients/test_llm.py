"""`llm` with its Ollama plugin, unmodified, as people type it: only `OLLAMA_HOST` is ours."""

import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from tests.clients.sdk_server import MODEL, tables
from tests.fakes.ollama_runner import FakeReply

pytestmark = pytest.mark.slow

NAME = f"ollama/{MODEL}"


@pytest.fixture
def table(tmp_path):
    with tables(tmp_path) as store:
        # It sends no headers of ours.
        yield store("default")


@pytest.fixture
def llm(table, tmp_path):
    """Runs the command with a log of its own, and gives what it printed."""
    own = {"OLLAMA_HOST": table.url, "LLM_USER_PATH": str(tmp_path / "llm")}

    def run(*arguments, typed=""):
        command = [sys.executable, "-m", "llm", *arguments]
        done = subprocess.run(
            command, env={**os.environ, **own}, input=typed, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_question_one_more_in_another_call_and_a_tool(table, llm):
    table.answers += ["Hello.", FakeReply("", calls=[("llm_version", {})]), "It is new."]
    assert llm("-m", NAME, "Say hello.", "-s", "Be brief.") == "Hello.\n"
    # The history is in llm's own log; it sends all of it.
    assert llm("-c", "Which version are you?", "-T", "llm_version", "--no-stream") == "It is new.\n"
    assert table.kept() == [
        [
            ("user", "Say hello."),
            ("assistant", "Hello."),
            ("user", "Which version are you?"),
            ("assistant", "", (("llm_version", "{}"),)),
            ("tool", version("llm")),
            ("assistant", "It is new."),
        ]
    ]


def test_a_chat_in_the_terminal_and_what_there_is(table, llm):
    table.answers += ["Hello Ada.", "You are Ada."]
    shown = llm("chat", "-m", NAME, typed="I am Ada.\nWho am I?\nexit\n")
    assert shown.index("Hello Ada.") < shown.index("You are Ada.")
    assert table.kept() == [
        [
            ("user", "I am Ada."),
            ("assistant", "Hello Ada."),
            ("user", "Who am I?"),
            ("assistant", "You are Ada."),
        ]
    ]
    assert "ollama/use-multilingual" in llm("embed-models", "list")
