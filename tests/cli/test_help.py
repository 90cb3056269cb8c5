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
from holdfast.cli.commands import COMMANDS, EXAMPLES, load_command

HEAVY = {"asyncio", "fastapi", "httpx", "mcp", "numpy", "prompt_toolkit", "pydantic", "rich", "sqlalchemy"}
# What answers a person or a program in its own way.
NOT_AS_JSON = {"chat", "serve", "mcp"}


def walk(command, path):
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from walk(below, f"{path} {name}")


@pytest.fixture(scope="module")
def everything():
    """Every command and group, by what one types for it."""
    return {path: command for name in COMMANDS for path, command in walk(load_command(name), name)}


@pytest.fixture(scope="module")
def root():
    return typer.main.get_command(app)


def run_words(capsys, monkeypatch, *words):
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


def test_command_list_descriptions_match_command_help(everything):
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


def test_every_reporting_command_supports_json_output(everything):
    for path, command in everything.items():
        options = {option for parameter in command.params for option in parameter.opts}
        group = isinstance(command, TyperGroup) and not command.invoke_without_command
        assert ("--json" in options) != (group or path in NOT_AS_JSON), path


def test_help_is_in_the_language_that_is_set(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    code, german = run_words(capsys, monkeypatch, "--help")
    assert code == 0
    assert "Aufruf: holdfast" in german.out
    assert "Exit-Codes: 0" in german.out
    _, german = run_words(capsys, monkeypatch, "memory", "add", "--help")
    assert "Beispiele:\n    holdfast memory add" in german.out
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "en")
    _, english = run_words(capsys, monkeypatch, "--help")
    assert "Exit codes: 0" in english.out


def test_settings_that_cannot_be_read_do_not_keep_anybody_from_help(capsys, monkeypatch, tmp_path):
    (tmp_path / "holdfast.toml").write_text("no settings")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    assert run_words(capsys, monkeypatch, "jobs", "--help")[0] == 0
    code, report = run_words(capsys, monkeypatch, "jobs")
    assert (code, "Mend the file" in report.err) == (1, True)


def test_a_misspelt_command_is_answered_with_the_near_one(capsys, monkeypatch):
    code, report = run_words(capsys, monkeypatch, "conversation")
    assert (code, "conversations" in report.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "german"),
    [
        ("conversation", "Fehler: Den Befehl 'conversation' gibt es nicht. Gemeint ist"),
        ("--hom x", "Fehler: Die Option --hom gibt es nicht."),
        ("memory add", "Hilfe gibt 'holdfast memory add -h'.\n\nFehler: Es fehlt 'TEXT'."),
        ("jobs more", "Fehler: Das ist zu viel: more"),
        ("memory add tea --kind", "Fehler: Zur Option '--kind' fehlt der Wert."),
        ("memory search tea --limit many", "für '--limit': Es muss eine ganze Zahl sein."),
        ("memory search tea --limit 99", "für '--limit': Es darf höchstens 50 sein."),
        ("memory search tea --within sea", "für '--within': 'sea' ist keins von 'notes',"),
    ],
)
def test_what_is_misspelt_is_told_in_german(capsys, monkeypatch, tmp_path, words, german):
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    code, report = run_words(capsys, monkeypatch, *words.split())
    assert code == 2
    assert german in report.err


@pytest.mark.parametrize(
    ("words", "german"),
    [
        (
            "conversations show zzz",
            "Das Gespräch 'zzz' gibt es hier nicht. `holdfast conversations list` nennt",
        ),
        ("window zzz", "Das Gespräch 'zzz' gibt es hier nicht. `holdfast conversations list` nennt"),
        ("memory show zzz", "Die Erinnerung 'zzz' gibt es hier nicht. `holdfast memory list` nennt, welche"),
        ("keys revoke zzz", "Den Schlüssel zzz gibt es nicht. `holdfast keys list` nennt die Ids.\n"),
        ("mcp --user ../zzz", "'../zzz' ist hier kein Name. Bis zu 99 Buchstaben"),
    ],
)
def test_what_is_not_there_is_told_in_german(capsys, monkeypatch, tmp_path, words, german):
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
    code, report = run_words(capsys, monkeypatch, *words.split())
    assert code == 1
    assert report.err.startswith(german)


def test_an_error_cannot_steer_the_terminal(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    for words in (("conversations", "show", "\x1b]0;owned\x07"), ("memory", "\x1b[2J"), ("jobs", "\x9b31m")):
        code, report = run_words(capsys, monkeypatch, *words)
        assert code in (1, 2)
        assert report.err
        assert not set(report.err) & {"\x1b", "\x07", "\x9b"}


@pytest.mark.parametrize(
    ("environ", "german"),
    [
        ({"LANG": "de_XX.UTF-8"}, True),
        ({"LC_ALL": "C.UTF-8", "LANG": "de_XX.UTF-8"}, False),
        ({"LC_ALL": "", "LC_MESSAGES": "de_XX", "LANG": "en_US.UTF-8"}, True),
    ],
)
def test_german_is_spoken_where_its_locale_is_not_installed(capsys, monkeypatch, tmp_path, environ, german):
    for name in ("HOLDFAST_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    code, report = run_words(capsys, monkeypatch, "--help")
    assert (code, "Aufruf: " in report.out) == (0, german)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told_in_a_sentence(tmp_path):
    code = "from holdfast.cli import main; main()"
    environment = {**os.environ, "HOLDFAST_HOME": str(tmp_path), "HOLDFAST_LANGUAGE": "en"}
    # Buffered as it is for people, so that it fails at the very end.
    environment.pop("PYTHONUNBUFFERED", None)
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", code, "config", "--json"]
        done = subprocess.run(
            command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert done.returncode == 1
    assert done.stderr == "This could not be read or written: the disk is full.\n"


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
    _, report = run_words(capsys, monkeypatch)
    assert "memory" in report.out
    assert "What is remembered" in report.out
