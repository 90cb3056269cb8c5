"""Every command in README.md and docs/ is run here as it stands there, or says above itself why not."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
import typer
from ruamel.yaml import YAML

from holdfast.cli import app
from holdfast.config import Settings
from tests.docs.blocks import ROOT, Block, blocks, pages
from tests.docs.sandbox import commands, sandbox

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("docs")]

SHELL = ("sh", "bash", "console")
# Read and not run: they show a file, an answer or a drawing.
SHOWN = ("caddyfile", "dockerfile", "html", "ini", "jsonc", "markdown", "nginx", "text")
# Its examples are run by tests/library.
LIBRARY = "docs/library.md"

ALL = blocks()
# A command inside a sentence, or in a cell of a table.
_INLINE = re.compile(r"`(holdfast(?: [^`]+)?)`")


def these(*languages: str) -> list[Block]:
    return [block for block in ALL if block.language in languages and not block.reason]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with sandbox(tmp_path_factory.mktemp("docs")) as result:
        yield result


@pytest.mark.parametrize("block", these(*SHELL), ids=str)
def test_commands_do_what_the_page_says(block, place):
    place.run(block.text)


@pytest.mark.parametrize(
    "wrong",
    [
        "holdfast memori list",
        "holdfast memory list --colour",
        "holdfast window c_",
        "curl http://127.0.0.1:11435/api/nothing",
        "cat nothing.md | holdfast ask",
    ],
)
def test_a_command_that_is_wrong_would_be_noticed(wrong, place):
    with pytest.raises(AssertionError):
        place.run(wrong)


def test_examples_in_python_run(place, monkeypatch):
    monkeypatch.chdir(place.folder)
    for block in these("python"):
        if block.page != LIBRARY:
            done = subprocess.run(
                [sys.executable, "-c", block.text], capture_output=True, text=True, timeout=60
            )
            assert done.returncode == 0, f"{block}: {done.stderr}"


@pytest.mark.parametrize("block", these("json", "yaml", "toml"), ids=str)
def test_examples_of_files_can_be_read(block):
    if block.language == "json":
        assert json.loads(block.text)
    elif block.language == "yaml":
        assert YAML(typ="safe").load(block.text)
    else:
        data = tomllib.loads(block.text)
        if "holdfast.toml" in block.text:
            assert data.keys() <= {item.name for item in fields(Settings)}


def test_every_block_names_its_language():
    known = (*SHELL, *SHOWN, "python", "json", "yaml", "toml")
    assert [str(block) for block in ALL if block.language not in known] == []


def test_skipped_commands_state_reason_and_existing_replacement_test():
    left_out = [block for block in ALL if block.reason]
    print(*(f"{block}: {block.reason}" for block in left_out), sep="\n")
    for block in left_out:
        assert len(block.reason) > 10, block
        for named in re.findall(r"tests/[\w/.]*\w", block.reason):
            assert (ROOT / named).exists(), f"{block} names {named}"
    # What can be run is run: most of it can.
    in_all, here = (
        sum(len(commands(block.text)) for block in some if block.language in SHELL)
        for some in (ALL, left_out)
    )
    assert here < in_all / 2


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_inside_sentences_exist(page: Path):
    root = typer.main.get_command(app)
    for result in _INLINE.findall(page.read_text(encoding="utf-8")):
        for command in result.split("; "):
            check(root, command.replace("…", "x"), page)


def check(root, text: str, page: Path) -> None:
    """Follows the words to a command, and looks for every option there. `a|b` stands for both."""
    command, words = root, shlex.split(text.replace("[", " ").replace("]", " "), comments=True)[1:]
    context = command.context_class(command, info_name="holdfast")
    while words and hasattr(command, "commands") and re.fullmatch(r"[a-z|-]+", words[0]):
        names = words.pop(0).split("|")
        if names[0].startswith("-"):
            words.insert(0, names[0])
            break
        commands = [
            command.resolve_command(context, [name])[1] if name in command.commands else None
            for name in names
        ]
        assert all(commands), f"{page.name}: there is no `{text}`"
        command = commands[0]
    options = {
        option
        for item in (command, root)
        for param in item.params
        for option in param.opts + param.secondary_opts
    }
    for word in words:
        if re.fullmatch(r"--?[a-z][a-z-]*(=.*)?", word):
            assert word.partition("=")[0] in options | {"--help", "-h"}, (
                f"{page.name}: `{text}` has no {word}"
            )
