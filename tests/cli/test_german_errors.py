"""What goes wrong on the command line is said in German to a German reader, hint and reason included."""

import re
import socket

import pytest
from typer.testing import CliRunner

from holdfast.cli import app
from holdfast.errors import HoldfastError
from holdfast.i18n import speak, translate

# The usual mistakes; `TAKEN` is a port that somebody else has, and nothing listens at the upstream.
MISTAKES = (
    "serve --port TAKEN",
    "serve --port many",
    "serve --prot 1",
    "ask hello",
    "models",
    "models show none",
    "models set none --num-ctx 10",
    "memory add ''",
    "memory add words --kind rubbish",
    "memory add words --importance 7",
    "memory show y_none",
    "memory import none.json",
    "backup check none.zip",
    "backup check text.zip",
    "backup restore none.zip",
    "conversations show c_none",
    "conversations delete c_none",
    "window c_none",
    "import none.json",
    "files show none.py",
    "research show f_none",
    "profile set name",
    "users export nobody",
    "keys revoke none",
    "sned",
    "--upstream nonsense models",
    "--upstream rubbish+http://127.0.0.1:1 models",
)


@pytest.fixture
def complain(hold, tmp_path, monkeypatch):
    """Runs a command that fails, and gives all that it said."""
    (tmp_path / "text.zip").write_text("no zip at all")

    def run(words, language):
        monkeypatch.setenv("HOLDFAST_LANGUAGE", language)
        speak(language)
        result = CliRunner().invoke(app, words)
        assert result.exit_code, f"{words} did not fail"
        assert isinstance(result.exception, HoldfastError | SystemExit), result.exception
        return result.output + translate(str(result.exception))

    return run


def test_no_english_sentence_is_left_in_a_german_error(complain, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HOLDFAST_UPSTREAM", f"http://127.0.0.1:{silent.getsockname()[1]}")
        for line in MISTAKES:
            port = str(taken.getsockname()[1])
            words = [word.strip("'").replace("TAKEN", port) for word in line.split(" ")]
            english, german = complain(words, "en"), complain(words, "de")
            both = [part for part in sentences_of(english) if part in german]
            assert both == [], f"holdfast {line}: {german}"
            assert sentences_of(english), line


def sentences_of(text):
    """Return the parts of a text that are words of people, at least two in a row, without what they quote."""
    parts = re.split(r"[.:;!?()\n]\s|[.:\n]|`[^`]*`|'[^']*'|\S*[/_=<>{}\[\]-]\S*", text)
    return [part.strip() for part in parts if len(part.split()) > 1 and part.strip().split()[0] != "holdfast"]
