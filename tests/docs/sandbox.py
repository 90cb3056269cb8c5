"""A place where the commands of the documentation are run: a data folder, a server, files, a fake Ollama.

Commands of ours run in this process, what needs a shell in a real one. Knows what the placeholders of the
documentation stand for; not which pages there are.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

from holdfast.cli import app
from holdfast.config import load
from holdfast.i18n import speak
from holdfast.server.app import create_app
from holdfast.testing.provider import serve_app
from holdfast.wiring import build_engine
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel

# What people have where the documentation speaks of it.
_FILES = {
    "README.md": "# A project\n\nIt does one turn after the other.\n",
    "engine.py": 'class Engine:\n    """Does one turn."""\n\n    def turn(self) -> None: ...\n',
    "src/queue.py": "class Queue:\n    def enter(self) -> None: ...\n",
    "notes.md": "# Notes\n\nThe server in Kiel is called arion.\n",
    "lease.md": "# Lease\n\nThe lease ends on 2027-03-31.\n",
    "minutes.txt": "We met on Monday and agreed on Lisbon.\n",
    "memories.json": '{"memories": []}\n',
}
_NAMED = re.compile(r"[a-z]_[\w…]+|ID|CONVERSATION")
_OURS = re.compile(r"^(?:\.venv/bin/)?holdfast(?=\s|$)")
_FROM_FILE = re.compile(r"^(holdfast .*) < (\S+)$")
_SHELL = re.compile(r"[|<>;&]|\$\(")


@dataclass
class Sandbox:
    """`url` is the running server, `folder` where the commands are typed."""

    url: str
    folder: Path
    numbers: Iterator[int]

    def run(self, text: str) -> None:
        """Every command of a block, one after the other; what it exports holds to its end."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for command in commands(text):
                self._one(self._here(command), patch)

    def _here(self, command: str) -> str:
        """The same, with this server's address and a model that it has."""
        return command.replace("127.0.0.1:11435", self.url.removeprefix("http://")).replace(
            '"embedded"', '"qwen3:4b"'
        )

    def _one(self, command: str, patch: pytest.MonkeyPatch) -> None:
        if command.startswith("export "):
            for setting in shlex.split(command, comments=True)[1:]:
                name, _, value = setting.partition("=")
                patch.setenv(name, value)
            return
        # What is done if a command of ours fails is not looked at: here it must not fail.
        command = command.partition(" || ")[0] if _OURS.match(command) else command
        command = _FROM_FILE.sub(r"cat \2 | \1", command)
        before, pipe, after = command.rpartition(" | ")
        ours = after if pipe else command
        if _OURS.match(ours) and not _SHELL.search(_without_quotes(ours)):
            self._asked(self._words(ours), self._shell(before) if pipe else "/quit\n")
        else:
            self._shell(command)

    def _asked(self, words: list[str], text: str) -> None:
        """Where a person would be asked whether they mean it, they do."""
        done = CliRunner().invoke(app, words, input=text)
        agreed = ["--yes"] if "Add --yes" in str(done.exception) else []
        if done.exit_code:
            self.hold(*words, *agreed, text=text)

    def _words(self, command: str) -> list[str]:
        words = shlex.split(command, comments=True)[1:]
        return [self._named(words[0], word) for word in words] if words else []

    def _named(self, noun: str, word: str) -> str:
        """What `ID` stands for depends on what is spoken of; each time it is a new one."""
        if not _NAMED.fullmatch(word):
            return word
        number = next(self.numbers)
        if noun == "memory":
            slot = self.hold("memory", "add", f"Shelf {number} holds {number} books", "--json")
            return str(json.loads(slot)["memory"]["id"])
        if noun == "research":
            slot = self.hold("research", "add", f"What is on shelf {number}?", "lease.md", "--json")
            return str(json.loads(slot)["id"])
        if noun == "keys":
            return str(json.loads(self.hold("keys", "create", "--name", f"k{number}", "--json"))["key"]["id"])
        if noun == "profile":
            self.hold("profile", "set", "language", "English")
            self.hold("memory", "add", "Please answer in German", "--kind", "preference")
            return str(json.loads(self.hold("profile", "proposals", "--json"))[0]["id"])
        return str(json.loads(self.hold("ask", f"What is on shelf {number}?", "--json"))["conversation"])

    def hold(self, *words: str, text: str = "") -> str:
        speak("en")
        done = CliRunner().invoke(app, words, input=text)
        trouble = done.exception if not isinstance(done.exception, SystemExit) else None
        assert done.exit_code == 0, f"holdfast {shlex.join(words)}: {trouble or done.output}"
        return str(done.stdout)

    def _shell(self, command: str) -> str:
        # A refusal of the server has to be a failure.
        command = re.sub(r"\bcurl\b(?! -sS)", "curl -sS --fail-with-body --noproxy '*'", command)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            capture_output=True, text=True, timeout=60, env=_environment(os.environ), check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


def commands(text: str) -> list[str]:
    """The commands of a block: lines that are continued are one, comments and prompts are none."""
    lines = text.replace("\\\n", " ").splitlines()
    prompted = any(line.startswith("$ ") for line in lines)
    removeprefix = [line.removeprefix("$ ") for line in lines if not prompted or line.startswith("$ ")]
    return [line for line in removeprefix if line.strip() and not line.lstrip().startswith("#")]


def _without_quotes(command: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"|#.*", "", command)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """A shell finds this environment's programs first."""
    return {**environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"}


@contextmanager
def sandbox(folder: Path) -> Iterator[Sandbox]:
    home = folder / "home"
    for name, text in _FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    fake = FakeOllama(models=[FakeModel("qwen3:4b")])
    with fake.served() as upstream, pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("HOLDFAST_")]:
            patch.delenv(name)
        settings = {"HOME": home, "UPSTREAM": upstream, "LANGUAGE": "en", "EMBEDDER": "off"}
        for name, value in settings.items():
            patch.setenv(f"HOLDFAST_{name}", str(value))
        patch.setenv("HOME", str(folder))
        patch.setenv("EDITOR", "true")
        patch.setenv("COLUMNS", "120")
        result = load()
        with serve_app(create_app(build_engine(result.settings), result.settings, result)) as url:
            yield Sandbox(url, folder, count(1))
