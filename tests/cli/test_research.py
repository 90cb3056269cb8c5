"""`holdfast research`: sources become findings, which are asked about, listed, used again and forgotten."""

import json

import pytest
from starlette.responses import HTMLResponse
from typer.testing import CliRunner

from holdfast.cli import app
from holdfast.errors import BadRequest, NotFound
from tests.fakes.ollama import FakeOllama
from tests.upstreams.fake_servers import server

TEXT = "Am Samstag regnet es in Kassel bei 7 Grad. Am Dienstag scheint dort die Sonne."
QUESTION = "Wie wird das Wetter in Kassel?"


@pytest.fixture
def run(home, tmp_path, monkeypatch):
    """Runs a command; gives its standard output, or everything about it with `whole`."""
    for name, value in {"HOME": home, "LANGUAGE": "en", "EMBEDDER": "off"}.items():
        monkeypatch.setenv(f"HOLDFAST_{name}", str(value))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wetter.txt").write_text(TEXT)

    def command(*words, whole=False, text=None):
        result = CliRunner().invoke(app, ["research", *words], input=text)
        if whole:
            return result
        assert result.exit_code == 0, result.output or result.exception
        return result.stdout

    return command


def add(run, question=QUESTION, *sources, **more):
    return json.loads(run("add", question, *(sources or ("wetter.txt",)), "--json", **more))


def fails(run, error, words, *command, **more):
    result = run(*command, whole=True, **more)
    assert isinstance(result.exception, error)
    assert words in str(result.exception)


def test_a_file_is_kept_listed_shown_and_forgotten(run, home, tmp_path):
    result = add(run)
    assert result["summary"].startswith(TEXT)
    assert result["summary"].endswith("Quellen: wetter.txt.")
    assert result["sources"][0]["url"] == str(tmp_path / "wetter.txt")
    assert (home / "workspace" / result["path"]).is_file()
    assert result["id"][:8] in run("list")
    assert json.loads(run("list", "--json"))["total"] == 1
    shown = run("show", result["id"])
    assert QUESTION in shown
    assert "ago" in shown
    assert shown.count(TEXT) == 1, "in the summary"
    assert run("show", result["id"], "--texts").count(TEXT) == 2
    assert json.loads(run("show", result["id"], "--texts", "--json"))["sources"][0]["text"] == TEXT
    fails(run, BadRequest, "there is no terminal", "forget", result["id"])
    assert f"Forgotten: {result['id']}" in run("forget", result["id"], "--yes")
    assert not [path for path in (home / "workspace").rglob("r_*") if path.is_file()]
    fails(run, NotFound, result["id"], "show", result["id"])


def test_piped_text_is_a_source_and_missing_sources_are_rejected(run):
    result = add(run, QUESTION, "-", "wetter.txt", text="Am Sonntag schneit es in Kassel.")
    assert [source["title"] for source in result["sources"]] == ["Piped text", "wetter.txt"]
    assert "Kept: r_" in run("add", "Und in Köln?", text="In Köln stürmt es.")
    fails(run, BadRequest, "no text to keep", "add", QUESTION)


def test_unreadable_source_is_named_and_others_are_kept(run, tmp_path):
    (tmp_path / ".env").write_text("TOKEN=1")
    result = run("add", QUESTION, "wetter.txt", "missing.txt", ".env", whole=True)
    assert result.exit_code == 0
    assert "missing.txt: " in result.stderr
    assert ".env: " in result.stderr


def test_a_source_has_one_number_whoever_names_it(run):
    result = add(run, QUESTION, "missing.txt", "wetter.txt")
    report = run("show", result["id"], "--texts")
    assert "[1] " in report
    assert "[2] wetter.txt · " in report
    assert f"\n[2] wetter.txt\n\n{TEXT}" in report


def test_lists_say_how_to_begin_and_have_pages(run, monkeypatch):
    assert "research ask" in run("list")
    for question in ("Wetter in Kassel", "Wer erfand das Telefon?"):
        add(run, question)
    assert "1–1 of 2 · more with --offset 1" in run("list", "--limit", "1")
    assert json.loads(run("list", "--text", "telefon", "--json"))["total"] == 1
    assert "for good" in run("list", "--text", "telefon")
    assert json.loads(run("prune", "--json")) == {"removed": [], "merged": [], "left": []}
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    assert "Frage" in run("list")
    assert "0 entfernt" in run("prune")


def test_each_project_has_its_own(run):
    data = json.loads(run("add", QUESTION, "wetter.txt", "--project", "house", "--json"))
    assert "research ask" in run("list", "--project", "garden")
    fails(run, NotFound, data["id"], "show", data["id"], "--project", "garden")
    assert json.loads(run("list", "--project", "house", "--json"))["total"] == 1


def test_ask_answers_with_the_sources_and_then_from_what_is_known(run, monkeypatch):
    with FakeOllama().served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        first = run("ask", QUESTION, "-s", "wetter.txt")
        assert "7 Grad" in first, "the model was shown the source"
        assert "[1] wetter.txt" in first
        assert "0 min ago" in first
        again = run("ask", "Wetter", "Kassel", whole=True)
        assert "Known already, found 0 min ago" in again.stderr
        assert "7 Grad" in again.stdout
        data = json.loads(run("ask", "Wetter Kassel", "--json"))
        assert data["reused"]
        assert data["finding"]["question"] == QUESTION
        assert data["conversation"].startswith("c_")
        fails(run, BadRequest, "searxng", "ask", "Wetter Kassel", "--fresh")


def test_pages_are_fetched_where_that_is_allowed(run, monkeypatch):
    page = f"<html><title>Wetter</title><body><article><p>{TEXT}</p></article></body></html>"

    with server({"/robots.txt": (404, {}), "/kassel": HTMLResponse(page)}) as known:
        address = known.url
        refused = run("add", QUESTION, f"{address}/kassel", whole=True)
        assert refused.exit_code == 1
        monkeypatch.setenv("HOLDFAST_RESEARCH_PRIVATE", "on")
        result = add(run, QUESTION, f"{address}/kassel")
    assert result["sources"][0]["title"] == "Wetter"
    assert "7 Grad" in result["summary"]
