"""One memory for the chats and the MCP server of an agent, by repository; for the clients of `evals.clients`.

In one repository the model writes a memory by our MCP server, and a person says another in the chat. Each has
to be known through the other door in a new session, and neither in a second repository.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.clients_programs import Program
from evals.clients_session import LIMIT_SECONDS, Session
from evals.window_serving import serving
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply, ModelCall

MODEL = "fake:latest"
_WINDOW = 65_536
_WRITE = "Note 1. Keep with your tool what the staging server is called."
_ASK = "Note 2. What is the staging server of this repository called?"
_TELL = "Remember that the night build of this repository runs on Dunlin."
_SEARCH = "Note 3. Look up with your tool where the night build of this repository runs."
_TOOLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (_WRITE, "memory_write", {"text": "The staging server of this repository is called Quillfeather."}),
    (_SEARCH, "memory_search", {"query": "Where does the night build of this repository run?"}),
)
_WRITTEN, _SAID = "Quillfeather", "Dunlin"


@dataclass
class ToolModel:
    """Plays the model: uses the tool that a question asks for, once, and else says next to nothing."""

    calls: list[ModelCall] = field(default_factory=list)

    def answer(self, call: ModelCall) -> str | FakeReply:
        self.calls.append(call)
        for turn, tool, arguments in _TOOLS:
            if use := choose_call(call, turn, tool, arguments):
                return FakeReply("Let me see.", calls=[use])
        return "All right."


def find_offered(call: ModelCall, tool: str) -> str | None:
    """Return the name under which a client offers a tool of our MCP server."""
    names = (str(offered["function"]["name"]) for offered in call.body.get("tools") or ())
    # Continue has them without the name of the server.
    return next(
        (name for name in names if name == tool or ("holdfast" in name and name.endswith(tool))), None
    )


def choose_call(
    call: ModelCall, turn: str, tool: str, arguments: dict[str, Any]
) -> tuple[str, dict[str, Any]] | None:
    """Return a call of our tool for a turn, or of the search that brings it up; None if it was called."""
    messages = call.body.get("messages") or ()
    asked = [
        place
        for place, message in enumerate(messages)
        if message["role"] == "user" and turn in str(message.get("content"))
    ]
    if not asked:
        return None
    uses = (use for message in messages[asked[-1] :] for use in message.get("tool_calls") or ())
    used = {str(use["function"]["name"]) for use in uses}
    if any(name.endswith(tool) for name in used):
        return None
    if name := find_offered(call, tool):
        return name, arguments
    # Claude Code tells the names of MCP's tools, and their arguments only when they are looked for.
    offered = {str(offered["function"]["name"]) for offered in call.body.get("tools") or ()}
    if "ToolSearch" in offered - used:
        return "ToolSearch", {"query": f"select:mcp__holdfast__{tool}", "max_results": 5}
    return None


@dataclass(frozen=True, slots=True)
class MemoryOutcome:
    """Whether each door knows what the other was told, and what was known in another repository."""

    client: str
    version: str
    told_in_chat: bool = False
    found_by_tool: bool = False
    crossed: tuple[str, ...] = ()
    error: str = ""

    @property
    def well(self) -> bool:
        return self.told_in_chat and self.found_by_tool and not self.crossed and not self.error


def measure_memory(program: Program, command: str, version: str, work: Path) -> MemoryOutcome:
    try:
        return share_memory(program, command, version, work)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return MemoryOutcome(program.name, version, error=" ".join(str(error).split())[:300])


def share_memory(program: Program, command: str, version: str, work: Path) -> MemoryOutcome:
    home, model = work / "home", ToolModel()
    first, second = home / "repository", home / "another"
    for folder in (first, second):
        folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    own = {"PATH": f"{Path(command).parent}:{os.environ['PATH']}"}
    ours = {**own, "HOLDFAST_HOME": str(work / "data"), "HOLDFAST_LANGUAGE": "en"}
    fake = FakeOllama(model.answer, models=[FakeModel(MODEL, trained_window=_WINDOW)])
    with fake.served() as upstream, serving(work / "data", upstream, embedder="off") as door:
        holdfast = Session(
            [sys.executable, "-m", "holdfast"], home, first, {**ours, "HOLDFAST_UPSTREAM": upstream}
        )
        holdfast.run("models", "set", MODEL, "--num-ctx", str(_WINDOW))
        holdfast.run("connect", program.name, "--url", door.url, "--yes")

        def ask(folder: Path, turn: str) -> str:
            """Say one turn in a session of its own; return all that the model was sent for it."""
            model.calls.clear()
            program.say(Session([command], home, folder, own), [turn])
            return json.dumps([call.body.get("messages") for call in model.calls], ensure_ascii=False)

        ask(first, _WRITE)
        wait_for_memory(holdfast, _WRITTEN)
        told = _WRITTEN in ask(first, _ASK)
        ask(first, _TELL)
        wait_for_memory(holdfast, _SAID)
        found = _SAID in results_in(ask(first, _SEARCH))
        elsewhere = ask(second, _ASK) + ask(second, _SEARCH)
    crossed = tuple(word for word in (_WRITTEN, _SAID) if word in elsewhere)
    return MemoryOutcome(program.name, version, told, found, crossed)


def results_in(sent: str) -> str:
    """Return the results of tools in what the model was sent."""
    return json.dumps([part for body in json.loads(sent) for part in body or () if part["role"] == "tool"])


def wait_for_memory(holdfast: Session, word: str) -> None:
    """Wait until the project of the folder has a memory with this word."""
    deadline = time.monotonic() + min(120, LIMIT_SECONDS)
    while word not in holdfast.run("memory", "list", "--json"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{word} was not remembered in the project of the folder")
        time.sleep(1)


def format_memory_row(outcome: MemoryOutcome, date: str) -> str:
    words = {True: "yes", False: "no"}
    cells = (
        outcome.client,
        outcome.version,
        date,
        words[outcome.told_in_chat],
        words[outcome.found_by_tool],
        ", ".join(outcome.crossed) or "nothing",
        outcome.error.replace("|", "/") or ("well" if outcome.well else "**not well**"),
    )
    return f"| {' | '.join(cells)} |"


MEMORY_COLUMNS: Sequence[str] = (
    "client", "version", "date", "written by MCP, told in the chat", "said in the chat, found by MCP",
    "known in another repository", "result",
)  # fmt: skip
