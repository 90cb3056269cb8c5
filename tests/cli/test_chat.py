"""`holdfast chat` with its lines from a pipe: what is said, what is a command, and what is shown of it."""

import os
import re

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from typer.testing import CliRunner

from holdfast.cli import app
from holdfast.cli.ask import ChatSession
from holdfast.cli.chat import CHAT_COMMANDS, ChatCompleter, command_help, is_command
from holdfast.cli.chat_screen import ChatScreen, format_meter, format_timing, list_recalled
from holdfast.events import Events
from holdfast.i18n import speak
from holdfast.messages import Scope
from holdfast.testing.provider import serve_app
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply

MODELS = [FakeModel("fake:latest", num_ctx=4096), FakeModel("other:latest", num_ctx=4096)]


def answer(call):
    if call.said == "think":
        return FakeReply("Thought of.", thinking="a secret thought")
    return f"{call.model} heard: {call.said[:80]}"


@pytest.fixture(scope="module")
def upstream():
    with FakeOllama(answer, models=MODELS).served() as address:
        yield address


@pytest.fixture
def chat(tmp_path, upstream, monkeypatch):
    """Says these lines; gives what was printed and what was complained about."""
    settings = {"HOME": tmp_path / "home", "UPSTREAM": upstream, "LANGUAGE": "en", "EMBEDDER": "off"}
    for name, value in settings.items():
        monkeypatch.setenv(f"HOLDFAST_{name}", str(value))
    monkeypatch.chdir(tmp_path)

    def chat_with(*lines, options=()):
        result = CliRunner().invoke(app, ["chat", *options], input="".join(f"{line}\n" for line in lines))
        assert result.exit_code == 0, result.output or result.exception
        return result.stdout, result.stderr

    return chat_with


def test_lines_are_said_and_a_backslash_joins_two(chat):
    out, err = chat("Hello", "one \\", "two", "/etc/hosts is a path", "think", "/quit", "never")
    assert out.splitlines() == [
        "fake:latest heard: Hello",
        "fake:latest heard: one ",
        "two",
        "fake:latest heard: /etc/hosts is a path",
        "Thought of.",
    ]
    assert "Go on with: holdfast chat -c c_" in err


def test_the_window_and_another_model_are_a_command_away(chat):
    out, err = chat("/window", "Hello", "/window", "/model", "/model other", "Again", "/model nobody")
    assert "Nothing was said yet" in err
    assert "window of 4,096 tokens, fake:latest" in out
    assert "▸ fake:latest\n  other:latest" in out
    assert "other:latest heard: Again" in out
    assert "There is no model nobody" in err


def test_what_is_remembered_is_found_listed_and_forgotten(chat):
    out, _ = chat("/remember The lease ends in May", "/memory lease", "/memory")
    name = out.splitlines()[0].removeprefix("Remembered: ")
    assert out.count("The lease ends in May") == 2
    out, err = chat(f"/forget {name}", "/forget nothing", "/forget", "/memory")
    assert "Forgotten: The lease ends in May" in out
    assert "/memory WORDS shows ids" in err
    assert "/forget needs a memory's id" in err
    assert "Nothing is remembered here yet" in out


def test_what_was_remembered_is_opened_corrected_forgotten_and_that_undone(chat):
    out, err = chat("/wrong", "/wrong undo")
    assert "Nothing was remembered in this chat yet" in err
    assert "There is nothing to undo" in err
    out, _ = chat(
        "Remember that the server in Kiel is called arion.",
        "Remember that the server in Kiel is called borea.",
        "/wrong",
        "/wrong The server in Kiel is called boreas.",
        "/wrong undo",
        "/wrong forget",
        "/memory",
        "/wrong undo",
        "/memory",
    )
    opened = out[: out.index("/wrong TEXT corrects it")].splitlines()
    assert opened[-2].startswith("since ")
    assert opened[-2].endswith("called borea.")
    assert re.match(r"\d{4}-\d\d-\d\d – \d{4}-\d\d-\d\d  .*arion", opened[-1])
    _, corrected, undone, forgotten, again, listed, *_ = re.split(
        r"Corrected: |As before: |Forgotten: |Holds again: ", out
    )
    assert corrected.startswith("The server in Kiel is called boreas.")
    assert undone.startswith("The server in Kiel is called borea.")
    assert forgotten.startswith("The server in Kiel is called borea.")
    assert again.startswith("The server in Kiel is called arion.")
    # Listed are arion after the forgetting, and after its undoing borea alone.
    assert again.count("arion") == 2
    assert "borea" not in again
    assert "arion" not in listed


def test_a_conversation_is_summarised_taken_back_and_gone_on_with(chat):
    long = "The gate needs new hinges before winter comes. " * 12
    _, err = chat(*(f"{number} {long}" for number in range(6)))
    name = err.split()[-1]
    out, err = chat("/compact", *["/undo"] * 6, options=("-c", name[:14]))
    assert "Context summarised" in out
    assert "Undone: " in out
    assert "Done: 100 %" in err
    assert "nothing was shortened" in err


def test_a_conversation_is_saved_as_markdown_and_never_over_another_file(chat, tmp_path):
    out, err = chat("Hello", "/save talk.md", "/save talk.md", "/save")
    assert "Written: talk.md" in out
    assert "talk.md is there already" in err
    text = (tmp_path / "talk.md").read_text()
    assert text.startswith("# Hello\n")
    assert text.endswith("## You\n\nHello\n\n## Model\n\nfake:latest heard: Hello\n")


def test_research_answers_from_findings_and_says_what_is_missing(chat):
    add = ["research", "add", "What does the lease say?"]
    assert CliRunner().invoke(app, add, input="The lease ends in May.").exit_code == 0
    out, err = chat("/research What does the lease say?", "/research", "/research Who won the marathon?")
    assert "fake:latest heard: What does the lease say?" in out
    assert "[1] Piped text" in out
    assert "Known already" in err
    assert "/research needs what is to be found out" in err
    assert "searxng" in err.lower()


def test_research_reads_named_pages_but_local_addresses_only_if_allowed(chat, monkeypatch):
    async def lease(_):
        return PlainTextResponse("The lease of the old building ends in May, says Mr Heron.")

    with serve_app(Starlette(routes=[Route("/lease.txt", lease)])) as address:
        question = f"/research When does the lease end? See {address}/lease.txt."
        out, err = chat(question)
        assert "[1]" not in out
        assert "lease.txt" in err, "why it was not read"
        monkeypatch.setenv("HOLDFAST_RESEARCH_PRIVATE", "on")
        out, _ = chat(question)
    assert f"{address}/lease.txt" in out[out.index("[1]") :]


def test_help_lists_every_command_and_unknown_command_gets_suggestions(chat):
    out, err = chat("/help", "/windo", "/xyzzy")
    assert all(name in out for name in CHAT_COMMANDS)
    assert "There is no /windo. Near it: /window" in err
    assert "/help lists what there is" in err
    speak("de")
    assert command_help()["/quit"] == "Beenden; das Gespräch bleibt."


def test_trouble_with_going_on_ends_before_the_talk_begins(chat):
    result = CliRunner().invoke(app, ["chat", "-c", "c_nothing"], input="Hello\n")
    assert result.exit_code == 1
    assert "c_nothing" in str(result.exception)


@pytest.mark.parametrize(
    ("line", "is_one"), [("/help", True), ("/save a b", True), ("/etc/hosts", False), ("a /b", False)]
)
def test_what_is_a_command(line, is_one):
    assert is_command(line) is is_one


def completions(text):
    results = ChatCompleter(command_help).get_completions(Document(text), CompleteEvent())
    return [text[: len(text) + result.start_position] + result.text for result in results]


def test_commands_and_files_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    for name in ("src/engine.py", "my notes.md", ".hidden"):
        (tmp_path / name).touch()
    assert completions("/me") == ["/memory"]
    assert completions("/memory le") == []
    assert completions("see @") == ['see @"./my notes.md"', "see @./src/"]
    assert completions("see @src/e") == ["see @./src/engine.py"]
    assert completions("see @./.h") == ["see @./.hidden"]
    assert completions(f"see @{tmp_path}{os.sep}sr") == [f"see @{tmp_path}/src/"]
    assert completions("mail me@s") == completions("see @nowhere/x") == []


def test_the_meter_tells_how_full_the_window_is():
    report = {"tokens": 2310, "window": 6144, "level": 1}
    colour, text = format_meter(report, "fake")
    assert (colour, text) == (
        "ansigreen",
        "████░░░░░░ 2,310 of 6,144 tokens · 38% · level 1 (old text is shortened) · fake",
    )
    assert format_meter({**report, "tokens": 3700}, "fake")[0] == "ansiyellow"
    assert format_meter({**report, "tokens": 7000}, "fake")[0] == "ansired"
    assert format_meter({}, "fake") == ("", "fake")


def test_time_and_speed_are_told_as_far_as_they_are_known():
    assert format_timing(3.21, 2.0, 100) == "3.2 s · 100 tokens · 50.0 tokens/s"
    assert format_timing(3.21, 2.0, None) == "3.2 s"


def test_background_summary_is_reported_once_and_only_in_its_conversation(capsys):
    events = Events()
    screen = ChatScreen(events, ChatSession(None, "fake", Scope(), conversation="c_1"))
    done = {"phase": "done", "percent": 100, "tokens_before": 2000, "tokens_after": 500}
    events.publish("compaction", {"conversation": "c_other", **done})
    events.publish("compaction", {"conversation": "c_1", "phase": "working", "percent": 50})
    screen.print_updates()
    assert capsys.readouterr().out == ""
    events.publish("compaction", {"conversation": "c_1", **done})
    screen.print_updates()
    screen.print_updates()
    assert capsys.readouterr().out == "── Context summarised: 2,000 → 500 tokens, 75 % saved ──\n"


def test_memories_that_went_along_are_told_in_a_line_each():
    added = [
        {"section": "recalled", "text": "Remembered:\n- 2026-02-24: The lease ends.\n- " + "x" * 200},
        {"section": "files", "text": "- no memory"},
    ]
    report = {"messages": [{"added": [{"section": "recalled", "text": "- older"}]}, {"added": added}]}
    assert list_recalled(report) == ["2026-02-24: The lease ends.", "x" * 100 + "…"]
    assert list_recalled({}) == []
