"""Real clients, as their registries publish them, through a real `holdfast serve`: eight turns, small window.

    python -m evals.clients [NAME …] [--part talk|memory] [--with opencode=/path/to/opencode]

Each is connected by `holdfast connect` in a home of its own, talks eight turns, is taken back by `--undo`,
and is started once more by `holdfast launch`. Its own prompt may be larger than 4k, so the window leaves 4k
beside it, measured by a first turn. Behind Holdfast is the public fake of Ollama.
"""

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.clients_memory import MEMORY_COLUMNS, choose_call, format_memory_row, measure_memory
from evals.clients_programs import PROGRAMS, Program
from evals.clients_session import Session
from evals.window_serving import serving
from holdfast.clients import find_client
from holdfast.tokens.budget import budget_for
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply, ModelCall

RESULTS = Path(__file__).parent / "results" / "clients.md"
MODEL = "fake:latest"
FACT = "The staging server is called Quillfeather and listens on port 7443."
_READ = "Read the file notes.txt in this folder and tell me its first word."
_ROOM, _LARGE = 4096, 131_072
_NOTE = (
    "The migration of the {topic} goes on in small steps: every table is copied, compared row by row, and "
    "switched over at night; the old one stays for a week. Whoever is on call looks at the graphs of errors "
    "and of waiting, and writes down what was odd. "
)
_TOPICS = ("invoices", "customers", "deliveries", "returns", "prices", "stock")


def eight_turns() -> list[str]:
    """A fact, a file to read, long notes, and at the end a question for the fact."""
    notes = [
        f"Note {n}. {_NOTE.format(topic=topic) * 14}Just say that you have read it."
        for n, topic in enumerate(_TOPICS, 1)
    ]
    question = "Note 7. What is the name of the staging server, and on which port does it listen?"
    return [f"{FACT} Please remember that. {notes[0]}", _READ, *notes[1:], question]


@dataclass
class Model:
    """Plays the model: reads the file and searches memories where it has tools for that, and answers
    everything else in few words.
    """

    calls: list[ModelCall] = field(default_factory=list)
    searched: bool = False

    def answer(self, call: ModelCall) -> str | FakeReply:
        self.calls.append(call)
        said = [message for message in call.body.get("messages") or () if message["role"] != "system"]
        newest = said[-1] if said else {"role": ""}
        if newest["role"] == "user" and _READ in str(newest.get("content")) and (use := choose_tool(call)):
            return FakeReply("Let me look.", calls=[use])
        if newest["role"] == "tool" and not self.searched:
            use = choose_call(call, _READ, "memory_search", {"query": "harbour lights"})
            if use is not None:
                self.searched = use[0].endswith("memory_search")
                return FakeReply("And what is known?", calls=[use])
        return "I have read every word of it, and go on from there when you like. " * 5

    def talk(self) -> list[ModelCall]:
        """The requests that carry the talk, without side requests."""
        return [call for call in self.calls if not is_side(call)]


def is_side(call: ModelCall) -> bool:
    """Whether a request is for a title or the like, and not part of the talk."""
    messages = call.body.get("messages") or ()
    system = " ".join(
        str(message.get("content") or "") for message in messages if message["role"] == "system"
    )
    texts = user_texts(call)
    # Open WebUI asks for titles, tags and follow-up questions in a person's place, with all that was said.
    is_task = bool(texts) and texts[-1].startswith("### Task:")
    return is_task or "title" in system[:400].lower() or not any(map(is_turn, texts))


def user_texts(call: ModelCall) -> list[str]:
    messages = call.body.get("messages") or ()
    return [str(message.get("content") or "") for message in messages if message["role"] == "user"]


def is_turn(text: str) -> bool:
    return bool(re.search(r"Note \d", text)) or _READ in text


def has_citation(call: ModelCall) -> bool:
    """Whether a result of our MCP server is in a request, with where it is from."""
    results = (message for message in call.body.get("messages") or () if message["role"] == "tool")
    return any("Source: " in str(result.get("content")) for result in results)


def choose_tool(call: ModelCall) -> tuple[str, dict[str, Any]] | None:
    """Return a call that reads notes.txt, by whichever tool for that the client offers."""
    folder = re.search(r"(/[^\s\"'<>\\]*?/repository)\b", json.dumps(call.body["messages"]))
    path = f"{folder[1]}/notes.txt" if folder else "notes.txt"
    wanted = {"read": path, "read_file": path, "exec_command": f"cat {path}", "shell": f"cat {path}"}
    for tool in (tool["function"] for tool in call.body.get("tools") or ()):
        fields = (tool.get("parameters") or {}).get("properties") or {}
        names = [name for name in fields if re.search("path|cmd|command", name, re.IGNORECASE)]
        if tool["name"].lower() in wanted and names:
            value: Any = wanted[tool["name"].lower()]
            value = value.split() if fields[names[0]].get("type") == "array" else value
            return tool["name"], {names[0]: value}
    return None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one client's session."""

    client: str
    version: str
    turns: int
    own_prompt: int = 0
    window: int = 0
    largest: int = 0
    conversations: int = 0
    kept: int = 0
    side: int = 0
    tool: bool = False
    cited: bool = False
    remembered: bool = False
    undone: bool = False
    launched: bool = False
    error: str = ""

    @property
    def well(self) -> bool:
        whole = self.conversations == 1 and self.kept == self.turns and self.largest <= self.window
        return whole and self.remembered and self.undone and self.launched and not self.error


def measure(program: Program, command: str, work: Path) -> Outcome:
    version, turns, own = read_version(command), eight_turns(), 0
    try:
        if not program.plain:
            first = hold_session(program, command, work / "first", turns[:1], _LARGE, connect_only=True)
            own = first["largest"] - len(turns[0].split())
        window = _ROOM if own < _ROOM // 2 else fit_window(own)
        seen = hold_session(program, command, work / "talk", turns, window)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return Outcome(program.name, version, len(turns), error=" ".join(str(error).split())[:300])
    return Outcome(program.name, version, len(turns), own, window, **seen)


def fit_window(own_prompt: int) -> int:
    """Return the smallest window with room for 4k of talk beside a prompt.

    The fake counts words; Holdfast estimates tokens until it has learned that, which are a third more.
    """
    sizes = range(_ROOM, _LARGE, 1024)
    return next(size for size in sizes if budget_for(size).room >= own_prompt * 1.4 + _ROOM)


def hold_session(
    program: Program,
    command: str,
    work: Path,
    turns: Sequence[str],
    window: int,
    *,
    connect_only: bool = False,
) -> dict[str, Any]:
    """Connect, talk, take back, launch; return what was seen of it."""
    home, model = work.parent / "home", Model()
    folder = home / "repository"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "notes.txt").write_text("Harbour lights at seven.\n")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    own = {"PATH": f"{Path(command).parent}:{os.environ['PATH']}"}
    ours = {**own, "HOLDFAST_HOME": str(work / "data"), "HOLDFAST_LANGUAGE": "en"}
    fake = FakeOllama(model.answer, models=[FakeModel(MODEL, trained_window=_LARGE)])
    with fake.served() as upstream, serving(work / "data", upstream, embedder="off") as door:
        variables = {**ours, "HOLDFAST_UPSTREAM": upstream}
        holdfast = Session([sys.executable, "-m", "holdfast"], home, folder, variables)
        holdfast.run("models", "set", MODEL, "--num-ctx", str(window))
        before = read_files(program.name, holdfast, door.url)
        holdfast.run("connect", program.name, "--url", door.url, "--yes")
        holdfast.run("memory", "add", "The harbour lights are lit at seven.")
        model.calls.clear()
        program.say(Session([command], home, folder, own), turns)
        calls, talk = list(model.calls), model.talk()
        seen = look_into(work / "data" / "holdfast.db", turns)
        holdfast.run("connect", program.name, "--undo", "--yes")
        if connect_only:
            return {"largest": max(len(call.prompt) for call in talk)}
        undone = is_undone(before)
        model.calls.clear()
        start = [*holdfast.command, "launch", program.name, "--url", door.url, "--"]
        program.say(Session(start, home, folder, variables), ["Note 99. Is it up?"])
        launched = any("Note 99." in text for call in model.calls for text in user_texts(call))
    last = json.dumps(talk[-1].body["messages"], ensure_ascii=False) if talk else ""
    return {
        **seen,
        "side": len(calls) - len(talk),
        "largest": max((len(call.prompt) for call in talk), default=0),
        "tool": any(message["role"] == "tool" for call in talk for message in call.body["messages"]),
        "cited": any(map(has_citation, talk)),
        "remembered": "Quillfeather" in last and "7443" in last,
        "undone": undone,
        "launched": launched,
    }


def look_into(database: Path, turns: Sequence[str]) -> dict[str, int]:
    """Return how many conversations there are, and how many of the turns are in them word for word."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as store:
        conversations = store.execute("SELECT count(*) FROM conversations").fetchone()[0]
        strs = [str(row[0]) for row in store.execute("SELECT body FROM messages WHERE role = 'user'")]
    return {"conversations": conversations, "kept": sum(any(turn in row for row in strs) for turn in turns)}


def read_files(name: str, holdfast: Session, url: str) -> dict[Path, bytes | None]:
    """Return the files that `connect` would change, as they are."""
    plan = json.loads(holdfast.run("connect", name, "--url", url, "--dry-run", "--json"))
    paths = [Path(row["path"]) for row in plan["files"]]
    return {path: path.read_bytes() if path.exists() else None for path in paths}


def is_undone(before: Mapping[Path, bytes | None]) -> bool:
    """Whether each file is as it was, or is without our entries where its program wrote into it meanwhile."""
    for path, content in before.items():
        now = path.read_bytes() if path.exists() else None
        if now != content and (now is None or b"holdfast" in now):
            return False
    return True


def read_version(command: str) -> str:
    """Return the version of a client, from its package where that is Python's: some import for minutes."""
    python, name = Path(command).parent / "python", Path(command).name
    question = f"import importlib.metadata as m; print(m.version({name!r}))"
    asked = [str(python), "-c", question] if python.exists() and name != "aider" else [command, "--version"]
    path = f"{Path(command).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        asked, capture_output=True, text=True, timeout=240, env={**os.environ, "PATH": path}
    )
    match = re.search(r"\d+\.\d+[\w.]*", done.stdout + done.stderr)
    return match[0] if match else "?"


_HEAD = """\
# Real clients

Each client as its registry publishes it, in a home of its own, behind it the public fake of Ollama.
`python -m evals.clients` measures it anew. LibreChat, Zed and VS Code cannot be had from a registry of
packages; what `holdfast connect` writes for them is tested on files of theirs.
"""
_TALK = """\
Connected by `holdfast connect`, eight turns (a fact, a file that is read by the client's own tool, five long
notes, a question for the fact), taken back by `--undo`, and started once more by `holdfast launch`. The
window is 4,096 tokens, or large enough for 4,096 of talk beside the client's own prompt and tools.

- **conversations**: in the log after the session; titles and other side requests are not among them.
- **kept**: turns that are in the log word for word.
- **memory**: our MCP server was asked by the model, and its answer with the source stands in a request;
  "no" also where the client did not offer its tools or did not allow them; "–": it was not asked.
- **fact**: the name and the port from the first turn are in the last request.
- **undone**: each file is byte for byte as before, or without our entries where the client wrote into it.
"""
_MEMORY = """\
In one repository a memory is written by the model through our MCP server, and another is said in the chat;
each has to be known through the other door in a new session, and neither in a second repository.
"""
_COLUMNS = (
    "client", "version", "date", "own prompt", "window", "largest request", "conversations", "kept",
    "side requests", "tool", "memory", "fact", "undone", "launched", "result",
)  # fmt: skip
_PARTS: Mapping[str, tuple[str, str, Sequence[str]]] = {
    "talk": ("## Eight turns", _TALK, _COLUMNS),
    "memory": ("## One memory for chat and MCP", _MEMORY, MEMORY_COLUMNS),
}


def format_row(outcome: Outcome) -> str:
    words = {True: "yes", False: "no"}
    cells = (
        outcome.client,
        outcome.version,
        datetime.now(UTC).date().isoformat(),
        f"{outcome.own_prompt:,}",
        f"{outcome.window:,}",
        f"{outcome.largest:,}",
        str(outcome.conversations),
        f"{outcome.kept} of {outcome.turns}",
        str(outcome.side),
        words[outcome.tool],
        words[outcome.cited] if PROGRAMS[outcome.client].has_projects else "–",
        *(words[value] for value in (outcome.remembered, outcome.undone, outcome.launched)),
        outcome.error.replace("|", "/") or ("well" if outcome.well else "**not well**"),
    )
    return f"| {' | '.join(cells)} |"


def read_rows(part: str) -> dict[str, str]:
    """Return the rows of a part in the results, by client."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    section = text.partition(_PARTS[part][0])[2].partition("\n## ")[0]
    # Behind the names of the columns and the line below them.
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    return {row.split(" ")[1]: row for row in rows}


def write_row(part: str, client: str, row: str) -> None:
    # Read late: several clients may be measured at once.
    rows = {part: read_rows(part) for part in _PARTS}
    rows[part][client] = row
    lines = [_HEAD]
    for name, (title, about, columns) in _PARTS.items():
        table = [f"| {' | '.join(columns)} |", f"{'|---' * len(columns)}|"]
        table += [rows[name][client] for client in PROGRAMS if client in rows[name]]
        lines += [title, about, "\n".join(table), ""]
    RESULTS.write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.clients")
    parser.add_argument("clients", nargs="*", help="which; all that are found if none is named")
    parser.add_argument("--part", choices=tuple(_PARTS), help="only this")
    parser.add_argument("--with", dest="given", action="append", default=[], metavar="NAME=PATH")
    options = parser.parse_args()
    given: Mapping[str, str] = dict(pair.split("=", 1) for pair in options.given)
    for name in options.clients or PROGRAMS:
        client = find_client(name)
        command = given.get(client.name) or next(filter(None, map(shutil.which, client.programs)), None)
        if command is None:
            print(f"{client.name}: not found")
            continue
        command, program = str(Path(command).absolute()), PROGRAMS[client.name]
        for part in _PARTS if options.part is None else (options.part,):
            if part == "talk" or program.has_projects:
                write_row(part, client.name, measure_part(part, program, command))


def measure_part(part: str, program: Program, command: str) -> str:
    """Measure one part for one client, and return its row."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        if part == "talk":
            outcome = measure(program, command, Path(work))
            print(outcome, flush=True)
            return format_row(outcome)
        shared = measure_memory(program, command, read_version(command), Path(work))
        print(shared, flush=True)
        return format_memory_row(shared, datetime.now(UTC).date().isoformat())


if __name__ == "__main__":
    main()
