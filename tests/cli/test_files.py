"""`holdfast files show`: what a reference becomes, counted for a model, and how to ask for more."""

import json

import pytest
from typer.testing import CliRunner

from holdfast.cli import app
from tests.fakes.ollama import FakeOllama

MODULE = '"""A module."""\n\n' + "\n\n".join(
    f'class Part{number}:\n    """Number {number}."""\n\n    def turn(self) -> int:\n'
    + "        print('turning and turning')\n" * 20
    for number in range(12)
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "my module.py").write_text(MODULE)
    (tmp_path / "small.txt").write_text("Just this.\n")
    (tmp_path / ".env").write_text("TOKEN=s3cret\n")
    return tmp_path


@pytest.fixture
def show(hold, monkeypatch):
    with FakeOllama().served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        yield lambda *words, **options: hold("files", "show", *words, **options)


def test_large_file_is_shown_as_digest_with_tokens_saved(show, files):
    (row,) = json.loads(show("@./my module.py", "--json"))
    assert (row["mode"], row["path"]) == ("summary", str(files.resolve() / "my module.py"))
    assert row["tokens_after"] < row["tokens_before"] / 3
    assert row["saved_percent"] == pytest.approx(
        100 * (1 - row["tokens_after"] / row["tokens_before"]), abs=0.1
    )
    assert row["size"] == len(MODULE)
    assert row["model"] == "fake:latest"
    assert "Part11" in row["text"]
    assert row["more"] == ['@"./my module.py":full']
    assert "Part3.turn" in row["elements"]
    shown = show("./my module.py")
    assert f"{row['tokens_before']:,} tokens become {row['tokens_after']:,}" in shown
    assert '@"./my module.py":full' in shown
    assert "Part0.turn" in shown
    # How to ask for more is for people; a model would make up calls.
    assert ":full" not in row["text"]


def test_a_part_of_a_file_is_shown_by_its_name(show, files):
    (row,) = json.loads(show('@"./my module.py":Part3.turn', "--json"))
    assert row["mode"] == "element"
    assert row["text"].splitlines()[1] == "    def turn(self) -> int:"


def test_nothing_is_said_to_be_saved_where_nothing_is(show, files):
    (row,) = json.loads(show("./small.txt", "--json"))
    assert row["tokens_after"] > row["tokens_before"]
    assert row["saved_percent"] == 0
    shown = show("./small.txt")
    assert "saved" not in shown
    assert f"whole, {row['tokens_after']} tokens" in shown


def test_part_named_like_a_mode_is_shown_with_required_spelling(show, files):
    (files / "modes.py").write_text("def full():\n    return 1\n\n\nclass A:\n    pass\n")
    (files / "parts.py").write_text("def turn():\n    return 1\n")
    (files / "parts.md").write_text("# First steps\n\nGo.\n")
    assert "Parts, as :name:full: full, A" in show("./modes.py")
    assert "return 1" in show("./modes.py:name:full")
    assert "Parts, as :turn: turn" in show("./parts.py")
    assert 'Parts, as :name:"First steps": First steps' in show("./parts.md")


def test_folders_are_shown_as_trees(show, files):
    (row,) = json.loads(show("./", "--json"))
    assert row["mode"] == "tree"
    assert row["more"][0] == "@./:list"
    assert "small.txt" in row["text"]
    assert "more" in show("./").lower()


def test_a_secret_is_shown_only_if_it_is_meant(show, files):
    failed = show(".env", whole=True)
    assert failed.exit_code == 1
    assert "s3cret" not in failed.output
    assert ":full" in failed.stderr
    assert "s3cret" in show(".env:full")


def test_missing_file_is_reported_in_configured_language(show, files, monkeypatch):
    failed = show("./smal.txt", whole=True)
    assert failed.exit_code == 1
    assert failed.stderr == "./smal.txt was not found. Did you mean ./small.txt?\n"
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    (row,) = json.loads(show("./smal.txt", "--json", whole=True).stdout)
    assert row["trouble"].startswith("./smal.txt wurde nicht gefunden.")


def test_without_a_model_server_it_is_an_estimate(hold, files, monkeypatch):
    monkeypatch.setenv("HOLDFAST_UPSTREAM", "http://127.0.0.1:9")
    shown = hold("files", "show", "./small.txt", whole=True)
    assert shown.exit_code == 0
    assert "estimated" in shown.stdout
    assert "Just this." in shown.stdout
    assert "Estimated" in shown.stderr


def test_file_reference_works_in_question_but_not_in_piped_text(hold, files, monkeypatch):
    fake = FakeOllama()
    with fake.served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        asked = CliRunner().invoke(app, ["ask", "What is @./small.txt?"], input="and @.env:full too")
    assert asked.exit_code == 0, asked.output
    sent = json.dumps(fake.requests)
    assert "Just this." in sent
    assert "s3cret" not in sent
    (row,) = json.loads(hold("conversations", "list", "--json"))
    content = json.loads(hold("conversations", "show", row["id"], "--json"))["messages"][0]["content"]
    assert content == "What is @./small.txt?\n\nand @.env:full too"


def test_files_of_conversation_are_listed_with_their_state(hold, files, monkeypatch):
    with FakeOllama().served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        data = json.loads(hold("ask", "--json", "What is in @./small.txt and @./none*.txt?"))
    rows = json.loads(hold("files", "list", data["conversation"], "--json"))["files"]
    assert [(row["name"], row["mode"], row["state"], row["changed"]) for row in rows] == [
        ("small.txt", "full", "whole", False),
        ("./none*.txt", "", "whole", False),
    ]
    assert rows[0]["tokens"] > 0
    assert rows[1]["trouble"][0].startswith("./none*.txt was not found.")
    assert [row["name"] for row in data["files"]] == ["small.txt", "./none*.txt"]
    (files / "small.txt").write_text("Something else.")
    shown = hold("files", "list", data["conversation"])
    assert "in the window, changed" in shown
    assert "./none*.txt was not found." in shown
