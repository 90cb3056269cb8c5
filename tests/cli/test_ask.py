"""`holdfast ask` in scripts: what it reads, what it prints where, and what its exit code says."""

import json

import pytest
from typer.testing import CliRunner

from holdfast.cli import app
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeReply


def answer(call):
    replies = {"nothing": FakeReply(""), "breaks": FakeReply("Half of", breaks=True)}
    return replies.get(call.said) or f"You said: {call.said}"


@pytest.fixture(scope="module")
def upstream():
    with FakeOllama(answer).served() as address:
        yield address


@pytest.fixture
def ask(tmp_path, upstream, monkeypatch):
    settings = {"HOME": tmp_path / "home", "UPSTREAM": upstream, "LANGUAGE": "en", "EMBEDDER": "off"}
    for name, value in settings.items():
        monkeypatch.setenv(f"HOLDFAST_{name}", str(value))
    monkeypatch.chdir(tmp_path)
    return lambda *words, piped=None: CliRunner().invoke(app, ["ask", *words], input=piped)


def test_missing_answer_is_reported_on_stderr_and_by_exit_code(ask):
    result = ask("nothing")
    assert (result.exit_code, result.stdout) == (3, "\n")
    assert "answered nothing" in result.stderr


def test_interrupted_answer_prints_partial_text_and_reason(ask):
    result = ask("breaks", "--json")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["answer"], data["finish"]) == (3, "Half of", "cut")
    assert "in the middle of an answer" in data["trouble"]
    assert data["trouble"] in result.stderr


def test_a_file_is_attached_and_a_missing_one_refused_first(ask, tmp_path):
    (tmp_path / "notes.md").write_text("The lease ends in May.")
    data = json.loads(ask("See @./notes.md, @./*.txt and ask @anna", "--json").stdout)
    assert "The lease ends in May." in data["answer"]
    refused = ask("See @./notes.md and @./gone.md")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "gone.md was not found" in str(refused.exception)
    assert "The model was not asked" in str(refused.exception)


def test_a_pipe_may_bring_whatever_bytes_there_are(ask):
    result = ask("Read", piped=b"caf\xe9 \xff")
    assert result.exit_code == 0
    assert "caf\ufffd" in result.stdout
