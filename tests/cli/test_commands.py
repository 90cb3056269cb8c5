"""The commands as people type them, on a data folder of their own, with an Ollama server behind them."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from holdfast.cli import app, main
from holdfast.projects import project_name
from holdfast.store import open_store
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply

pytestmark = pytest.mark.slow


@pytest.fixture
def upstream():
    with FakeOllama().served() as address:
        yield address


@pytest.fixture
def run(tmp_path, upstream, monkeypatch):
    """Runs a command; gives its standard output, or everything about it with `whole`."""
    settings = {"HOME": tmp_path / "home", "UPSTREAM": upstream, "LANGUAGE": "en", "EMBEDDER": "off"}
    for name, value in settings.items():
        monkeypatch.setenv(f"HOLDFAST_{name}", str(value))
    monkeypatch.chdir(tmp_path)

    def command(*words, whole=False, text=None):
        result = CliRunner().invoke(app, words, input=text)
        if whole:
            return result
        assert result.exit_code == 0, result.output or result.exception
        return result.stdout

    return command


def test_ask_prints_the_answer(run):
    assert run("ask", "Hello", "there").strip() == "You said: Hello there"


def test_ask_takes_what_is_piped_into_it(run):
    assert run("ask", "Review this", text="a diff\n").strip() == "You said: Review this\n\na diff"
    assert run("ask", text="only piped").strip() == "You said: only piped"


def test_ask_goes_on_with_a_conversation_and_shows_it(run):
    first = json.loads(run("ask", "One", "--json"))
    second = json.loads(run("ask", "Two", "--json", "-c", first["conversation"]))
    assert second["conversation"] == first["conversation"]
    assert second["prompt_tokens"] > first["prompt_tokens"]
    (listed,) = json.loads(run("conversations", "list", "--json"))
    assert (listed["id"], listed["title"]) == (first["conversation"], "One")
    shown = json.loads(run("conversations", "show", first["conversation"][:12], "--json"))
    contents = [message["content"] for message in shown["messages"]]
    assert contents == ["One", "You said: One", "Two", "You said: Two"]
    text = run("conversations", "show", first["conversation"])
    assert [text.index(line) for line in contents] == sorted(text.index(line) for line in contents)
    assert "One" in run("conversations", "list")


def test_without_conversations_the_list_says_so(run):
    assert run("conversations", "list").strip() == "No conversations yet."


def test_german_is_spoken_where_it_is_asked_for(run, monkeypatch):
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    assert run("conversations", "list").strip() == "Noch keine Gespräche."


def test_chat_keeps_one_conversation_and_survives_trouble(tmp_path, run, monkeypatch):
    replies = iter([FakeReply("One."), FakeReply("Half", breaks=True), FakeReply("Three.")])
    with FakeOllama(lambda call: next(replies)).served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        result = run("chat", whole=True, text="first\n\nsecond\nthird\n/quit\n")
    assert result.exit_code == 0
    assert "One." in result.stdout
    assert "Three." in result.stdout
    assert "in the middle of an answer" in result.stderr
    (row,) = json.loads(run("conversations", "list", "--json"))
    shown = json.loads(run("conversations", "show", row["id"], "--json"))["messages"]
    assert [message["finish"] for message in shown if message["role"] == "assistant"] == [
        "stop",
        "cut",
        "stop",
    ]


def test_models_are_listed_with_their_windows(run):
    (listed,) = json.loads(run("models", "--json"))["models"]
    assert listed["name"] == "fake:latest"
    assert listed["trained_window"] == {"tokens": 32768, "source": "the model itself"}
    assert listed["running_window"] is None
    assert listed["recommended_window"]["tokens"] == 8192
    assert "32,768" in run("models")
    assert run("models", "list", "--json") == run("models", "--json")


def test_the_window_of_a_model_can_be_fixed_and_freed(run):
    assert "12,000 (set by you)" in run("models", "set", "fake:latest", "--num-ctx", "12000")
    (listed,) = json.loads(run("models", "--json"))["models"]
    assert listed["used_window"] == {"tokens": 12000, "source": "set by you"}
    freed = json.loads(run("models", "set", "fake:latest", "--num-ctx", "0", "--json"))
    assert freed["used_window"]["tokens"] == 8192
    assert run("models", "set", "fake:latest", "--num-ctx", "7", whole=True).exit_code == 1


def test_config_shows_values_and_where_they_come_from(run):
    rows = {row["name"]: row for row in json.loads(run("config", "--json"))}
    assert rows["language"] == {**rows["language"], "value": "en", "source": "environment"}
    assert rows["port"]["source"] == "default"
    assert "environment" in run("config")


def test_doctor_finds_everything_well(run, upstream):
    findings = json.loads(run("doctor", "--json"))
    assert not [finding for finding in findings if finding["state"] == "bad"]
    assert any(upstream in finding["found"] and "fake:latest" in finding["found"] for finding in findings)
    assert "✓" in run("doctor")


def test_doctor_names_what_is_wrong_and_the_remedy(run, monkeypatch, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "holdfast.db").write_text("this is no database, but it is not empty either")
    monkeypatch.setenv("HOLDFAST_UPSTREAM", "http://127.0.0.1:9")
    result = run("doctor", "--json", whole=True)
    assert result.exit_code == 1
    bad = [finding for finding in json.loads(result.stdout) if finding["state"] == "bad"]
    assert [finding["about"] for finding in bad] == ["database", "will be used"]
    assert all(finding["remedy"] for finding in bad)


def test_doctor_says_when_a_server_has_no_models(run, monkeypatch):
    with FakeOllama(models=[]).served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        result = run("doctor", whole=True)
    assert result.exit_code == 1
    assert "has no models" in result.stdout


def finding_about(run, about):
    findings = json.loads(run("doctor", "--json", whole=True).stdout)
    return next((finding for finding in findings if finding["about"] == about), None)


def test_doctor_reports_levels_that_no_request_reaches(run, monkeypatch):
    monkeypatch.setenv("HOLDFAST_PRESET", "keep-most")
    monkeypatch.setenv("HOLDFAST_LEVEL_3", "90%")
    levels = finding_about(run, "levels")
    assert (levels["state"], "87.5% of 32,768" in levels["found"]) == ("bad", True)
    assert "level_3 to at most 87%" in levels["remedy"]
    # A share that larger windows have may be too much for the model that is there: this one has 8,192.
    monkeypatch.setenv("HOLDFAST_LEVEL_3", "80%")
    assert finding_about(run, "levels") is None
    levels = finding_about(run, "levels of fake:latest")
    assert (levels["state"], "of 8,192 tokens" in levels["found"]) == ("bad", True)
    monkeypatch.setenv("HOLDFAST_LEVEL_3", "50%")
    assert finding_about(run, "levels of fake:latest") is None


def test_several_servers_are_listed_together_and_doctor_says_how_each_is(run, upstream, monkeypatch):
    with FakeOllama(models=[FakeModel("other:latest")]).served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", "")
        monkeypatch.setenv("HOLDFAST_UPSTREAMS", f"one={upstream}, two={address}, gone=http://127.0.0.1:9")
        listed = json.loads(run("models", "--json"))
        assert [row["name"] for row in listed["models"]] == ["fake:latest", "other:latest"]
        assert address in listed["server"]
        results = {finding["about"]: finding for finding in json.loads(run("doctor", "--json"))}
    assert [results[name]["state"] for name in ("one", "two", "gone")] == ["ok", "ok", "note"]
    assert results["gone"]["remedy"]


def test_doctor_reports_notes_location_and_pending_writes(run, tmp_path):
    notes = finding_about(run, "notes")
    assert (notes["state"], notes["found"]) == ("ok", str(tmp_path / "home" / "workspace"))
    with open_store(f"sqlite:///{tmp_path / 'home' / 'holdfast.db'}") as store:
        item = store.outbox.put("memory", {"memories": []})
        store.outbox.put("something else", {})
        assert "(1 still to be written)" in finding_about(run, "notes")["found"]
        store.outbox.record_failure(item, "The disk is full.")
    notes = finding_about(run, "notes")
    assert notes["state"] == "note"
    assert notes["found"].endswith("(1 still to be written): The disk is full.")
    assert notes["remedy"]


def test_doctor_explains_better_embedder_and_how_to_install_it(run, monkeypatch):
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "auto")
    with FakeOllama(models=[FakeModel("chat:latest")]).served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        advice = finding_about(run, "a better embedder")
        assert (advice["state"], "of 100 questions" in advice["found"]) == ("info", True)
        assert "`ollama pull embeddinggemma`" in advice["remedy"]
        assert f"HOLDFAST_EMBEDDER=ollama+{address}" in advice["remedy"]
        monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
        assert finding_about(run, "a better embedder") is None
    with FakeOllama(models=[FakeModel("chat:latest"), FakeModel("bge-m3:567m")]).served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        monkeypatch.setenv("HOLDFAST_EMBEDDER", "embedded")
        advice = finding_about(run, "a better embedder")
        assert "pull" not in advice["remedy"]
        assert "HOLDFAST_EMBEDDER_MODEL=bge-m3:567m" in advice["remedy"]
        monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
        assert "von 100 Fragen" in finding_about(run, "ein besserer Embedder")["found"]
        monkeypatch.setenv("HOLDFAST_MEMORY", "off")
        assert finding_about(run, "ein besserer Embedder") is None


def test_doctor_says_what_a_helper_model_would_evict(run, monkeypatch):
    models = [FakeModel("large:latest"), FakeModel("small:latest")]
    with FakeOllama(models=models).served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        assert finding_about(run, "helper model") is None
        monkeypatch.setenv("HOLDFAST_HELPER_MODEL", "small")
        other = finding_about(run, "helper model")
        assert other["state"] == "note"
        assert "small is another model than large" in other["found"]
        assert "helper_model" in other["remedy"]
        monkeypatch.setenv("HOLDFAST_MODEL", "small:latest")
        assert finding_about(run, "helper model")["state"] == "ok"
        monkeypatch.setenv("HOLDFAST_HELPER_MODEL", "smal")
        missing = finding_about(run, "helper model")
        assert (missing["state"], "smal" in missing["found"]) == ("bad", True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ask", "hi", "--model", "nobody"], "nobody"),
        (["conversations", "show", "c_nothing"], "c_nothing"),
        (["ask"], "no question"),
        (["--upstream", "gopher://x", "models"], "no address"),
        (["ask", "hi", "-c", "c_nothing"], "c_nothing"),
    ],
)
def test_trouble_ends_in_a_sentence_and_an_exit_code(run, monkeypatch, capsys, words, says):
    monkeypatch.setattr(sys, "argv", ["holdfast", *words])
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    assert says in capsys.readouterr().err


def test_an_upstream_that_is_holdfast_itself_is_refused(run, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["holdfast", "--upstream", "http://127.0.0.1:11435", "models"])
    with pytest.raises(SystemExit):
        main()
    assert "own address" in capsys.readouterr().err


def test_the_command_starts_as_a_program():
    result = subprocess.run(
        [sys.executable, "-m", "holdfast", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stdout.startswith("holdfast ")


def test_a_repository_is_a_project_from_all_its_worktrees(tmp_path):
    def git(*words, cwd):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        subprocess.run(command, cwd=cwd, check=True, capture_output=True)

    repository, other = tmp_path / "one" / "app", tmp_path / "two" / "app"
    for folder in (repository, other):
        folder.mkdir(parents=True)
        git("init", cwd=folder)
    git("commit", "--allow-empty", "-m", "first", cwd=repository)
    git("worktree", "add", str(tmp_path / "tree"), cwd=repository)
    (repository / "deep" / "inside").mkdir(parents=True)
    name = project_name(repository)
    assert name.startswith("app-")
    assert project_name(repository / "deep" / "inside") == name
    assert project_name(tmp_path / "tree") == name
    assert project_name(other) != name
    assert project_name(tmp_path / "one") == "default"


def test_models_get_says_that_it_is_there_already(run, weights, monkeypatch):
    monkeypatch.setenv("HOLDFAST_MODELS_DIR", str(weights.parent))
    assert "Already there" in run("models", "get")
    assert run("models", "get", "--quiet") == ""


def test_a_model_with_a_window_of_its_own_is_preferred(run, monkeypatch):
    models = [FakeModel("first:latest"), FakeModel("second:latest")]
    with FakeOllama(models=models).served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        run("ask", "hi", "--model", "second:latest")
        assert json.loads(run("ask", "hi", "--json"))["model"] == "second:latest"


def test_count_estimates_where_nothing_better_is_at_hand(run, tmp_path):
    (tmp_path / "a.txt").write_text("Hello there, how are you?")
    (row,) = json.loads(run("count", "a.txt", "--json"))
    assert (row["file"], row["model"], row["method"]) == ("a.txt", "fake:latest", "estimate")
    assert 1 <= row["low"] <= row["tokens"] <= row["high"]
    result = run("count", "a.txt", whole=True)
    assert "estimate" in result.stdout
    assert "Estimated" in result.stderr


def test_count_is_exact_with_the_models_own_vocabulary(run, monkeypatch, weights, tmp_path):
    vocabulary = Vocabulary.from_gguf(weights)
    text = "Straße Nr. 7 🚀\n"
    with FakeOllama(models=[FakeModel(facts=vocabulary.to_metadata())]).served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        (row,) = json.loads(run("count", "-", "--json", text=text))
        shown = json.loads(run("models", "show", "fake:latest", "--json"))
        assert "counted (the model's vocabulary)" in run("models", "show", "fake:latest")
    exact = Tokenizer(vocabulary).count(text)
    assert (row["method"], row["tokens"], row["low"], row["high"]) == ("exact", exact, exact, exact)
    assert shown["counting"]["method"] == "exact"
    assert shown["budget"]["window"] == 8192
    assert shown["budget"]["reserve"] >= 2048
    assert sum(shown["budget"][name] for name in ("reserve", "recalled", "history")) == 8192


def test_count_of_a_file_that_is_not_there_is_refused(run):
    assert run("count", "nothing.txt", whole=True).exit_code == 1


def test_what_was_said_is_printed_as_it_was_said(run, monkeypatch):
    text = "\techo a[1:x:2] :on: [/INST] [bold]"
    with FakeOllama(lambda call: text).served() as address:
        monkeypatch.setenv("HOLDFAST_UPSTREAM", address)
        assert run("ask", "[/INST] what is this") == f"{text}\n"
        (row,) = json.loads(run("conversations", "list", "--json"))
        assert "[/INST] what is this" in run("conversations", "list")
        assert text in run("conversations", "show", row["id"])


def test_passwords_in_addresses_are_hidden(run, monkeypatch):
    monkeypatch.setenv("HOLDFAST_STORE", "postgresql://ann:s3cret@db/holdfast")
    shown = run("config", "--json")
    assert "s3cret" not in shown
    assert "ann" in shown


def test_a_port_beyond_all_ports_is_refused(run):
    assert run("serve", "--port", "99999", whole=True).exit_code == 1
