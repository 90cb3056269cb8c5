"""What the command line says about itself: quick, complete, with examples, in German and English."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from holdfast.cli import app, main
from holdfast.cli.commands import COMMANDS, loaded
from holdfast.cli.examples import EXAMPLES
from holdfast.cli.german import GERMAN

HEAVY = {"asyncio", "fastapi", "httpx", "mcp", "numpy", "prompt_toolkit", "pydantic", "rich", "sqlalchemy"}
# What answers a person or a program in its own way.
NOT_AS_JSON = {"chat", "serve", "mcp", "memory export"}
# Words of the library, between ours.
LIBRARY = {
    "Usage",
    "Arguments",
    "Options",
    "Commands",
    "Show this message and exit.",
    "Install completion for the current shell.",
    "Show completion for the current shell, to copy it or customize the installation.",
}


def walk(command, path):
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from walk(below, f"{path} {name}")


@pytest.fixture(scope="module")
def everything():
    """Every command and group, by what one types for it."""
    return {path: command for name in COMMANDS for path, command in walk(loaded(name), name)}


@pytest.fixture(scope="module")
def root():
    return typer.main.get_command(app)


def said(capsys, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["holdfast", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, capsys.readouterr()


def test_help_imports_nothing_heavy():
    code = "import sys\nfrom holdfast.cli import main\ntry: main()\nfinally: print(*sys.modules)"
    command = [sys.executable, "-c", code, "--help"]
    output = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    loaded_modules = {name.partition(".")[0] for name in output.splitlines()[-1].split()}
    assert "Usage: " in output
    assert loaded_modules & HEAVY == set()


def test_what_is_said_of_a_command_in_the_list_is_what_it_says_itself(everything):
    for name, (_, about) in COMMANDS.items():
        assert everything[name].help.partition("\n\n")[0] == about


def test_every_command_has_examples_and_none_is_left_over(everything):
    assert set(everything) == set(EXAMPLES)


def test_every_example_is_understood(everything, root):
    context = root.make_context("holdfast", [], resilient_parsing=True)
    for path, lines in EXAMPLES.items():
        for line in lines:
            words = shlex.split(re.split(r" (?:&&|<|>) ", line.partition("| ")[2] or line)[0])
            assert words[0] == "holdfast"
            name, *rest = words[3:] if words[1] == "--home" else words[1:]
            while isinstance(everything[name], TyperGroup) and rest and f"{name} {rest[0]}" in everything:
                name, rest = f"{name} {rest[0]}", rest[1:]
            assert name.startswith(path)
            everything[name].make_context(name, rest, parent=context)


def test_every_command_that_tells_a_person_something_tells_it_as_json_too(everything):
    for path, command in everything.items():
        options = {option for parameter in command.params for option in parameter.opts}
        group = isinstance(command, TyperGroup) and not command.invoke_without_command
        assert ("--json" in options) != (group or path in NOT_AS_JSON), path


def test_every_sentence_of_the_help_is_there_in_german(everything, root):
    commands = [root, *everything.values()]
    texts = {text for command in commands for text in (command.help, command.epilog) if text}
    texts |= {option.help for command in commands for option in command.params if getattr(option, "help", "")}
    paragraphs = {part for text in texts for part in text.split("\n\n") if not part.startswith("\b")}
    assert paragraphs - set(GERMAN) == set()
    assert set(GERMAN) - paragraphs - LIBRARY == set()


def test_help_is_in_the_language_that_is_set(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    code, german = said(capsys, monkeypatch, "--help")
    assert code == 0
    assert "Aufruf: holdfast" in german.out
    assert "Exit-Codes: 0" in german.out
    _, german = said(capsys, monkeypatch, "memory", "add", "--help")
    assert "Beispiele:\n    holdfast memory add" in german.out
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "en")
    _, english = said(capsys, monkeypatch, "--help")
    assert "Exit codes: 0" in english.out


def test_settings_that_cannot_be_read_do_not_keep_anybody_from_help(capsys, monkeypatch, tmp_path):
    (tmp_path / "holdfast.toml").write_text("no settings")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    assert said(capsys, monkeypatch, "jobs", "--help")[0] == 0
    code, told = said(capsys, monkeypatch, "jobs")
    assert (code, "Mend the file" in told.err) == (1, True)


def test_a_misspelt_command_is_answered_with_the_near_one(capsys, monkeypatch):
    code, told = said(capsys, monkeypatch, "conversation")
    assert (code, "conversations" in told.err) == (2, True)


def test_bash_completes_commands_and_what_is_below_them():
    bash, here = shutil.which("bash"), Path(sys.executable).parent
    if bash is None or not (here / "holdfast").exists():
        pytest.skip("no bash, or holdfast is not installed beside the interpreter")
    script = (
        'eval "$(_HOLDFAST_COMPLETE=source_bash holdfast)"; '
        "COMP_WORDS=(holdfast conv); COMP_CWORD=1; _holdfast_completion holdfast; echo ${COMPREPLY[@]}; "
        "COMP_WORDS=(holdfast memory s); COMP_CWORD=2; _holdfast_completion holdfast; echo ${COMPREPLY[@]}"
    )
    environment = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [bash, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    first, below = done.stdout.splitlines()
    assert first.split() == ["conversations"]
    assert {"show", "stats", "search"} <= set(below.split())


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_names_with_their_sentences(capsys, monkeypatch, shell):
    monkeypatch.setenv("_HOLDFAST_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "holdfast mem")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    _, told = said(capsys, monkeypatch)
    assert "memory" in told.out
    assert "What is remembered" in told.out
