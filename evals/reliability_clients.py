"""The clients of `evals.reliability`: each does one thing over and over, and notes what was acknowledged."""

import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import httpx

from evals.forked import ForkedProcess
from evals.reliability_checks import Finding, Talk
from evals.reliability_server import Server
from tests.fakes.ollama_runner import ModelCall

_MODEL = "fake:latest"
# Seconds from one import to the next, at most.
_IMPORT_PAUSE = 20.0
# How often a client asks again what was not answered; else it asks something else.
_ASKED_AGAIN = 0.6
_THINGS = ("ladder", "lantern", "kayak", "piano", "drill", "tent", "globe", "sewing machine", "anvil", "harp")
_PLACES = ("Bremen", "Porto", "Graz", "Leeds", "Turku", "Ghent", "Malaga", "Dresden", "Lyon", "Bergen")

Json = dict[str, Any]


class Unanswered(Exception):
    """An answer that broke off, or a server that is not there: nothing was acknowledged."""


@dataclass(frozen=True, slots=True)
class Door:
    """A protocol: the body of a request, and the text and id of an answer that came to its end."""

    path: str
    body: Callable[[Talk, str], Json]
    read: Callable[[Sequence[str]], tuple[str, str]]


def _messages(talk: Talk, question: str) -> Json:
    lines = [*talk.lines, ("user", question)]
    return {"messages": [{"role": role, "content": text} for role, text in lines]}


def _continuation(talk: Talk, question: str) -> Json:
    last = list(talk.responses)[-1:]
    return {"input": question, **({"previous_response_id": last[0]} if last else {})}


def _read_ollama(lines: Sequence[str]) -> tuple[str, str]:
    pieces = [json.loads(line) for line in lines]
    _expect_end(bool(pieces) and pieces[-1].get("done"))
    return "".join(piece["message"]["content"] for piece in pieces), ""


def _read_chat(lines: Sequence[str]) -> tuple[str, str]:
    _expect_end(bool(lines) and lines[-1] == "data: [DONE]")
    choices = [choice for event in _events(lines) for choice in event.get("choices", ())]
    return "".join(choice["delta"].get("content") or "" for choice in choices), ""


def _read_anthropic(lines: Sequence[str]) -> tuple[str, str]:
    events = _events(lines)
    _expect_end(bool(events) and events[-1]["type"] == "message_stop")
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    return "".join(delta.get("text", "") for delta in deltas), ""


def _read_responses(lines: Sequence[str]) -> tuple[str, str]:
    events = _events(lines)
    _expect_end(bool(events) and events[-1]["type"] == "response.completed")
    deltas = [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
    return "".join(deltas), events[-1]["response"]["id"]


def _events(lines: Sequence[str]) -> list[Json]:
    data = (line.removeprefix("data: ") for line in lines if line.startswith("data: "))
    return [json.loads(text) for text in data if text != "[DONE]"]


def _expect_end(came: object) -> None:
    if not came:
        raise Unanswered


DOORS = (
    Door("/api/chat", _messages, _read_ollama),
    Door("/v1/chat/completions", _messages, _read_chat),
    Door("/v1/messages", lambda talk, text: {**_messages(talk, text), "max_tokens": 4096}, _read_anthropic),
    Door("/v1/responses", _continuation, _read_responses),
)


@dataclass(slots=True)
class Ledger:
    """All that was acknowledged, and what clients were refused while the server was there."""

    talks: list[Talk] = field(default_factory=list)
    # Chats of another tool that were brought in; they have no conversation until one is looked up.
    imports: list[Talk] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    # Memories that a later one replaced, as their own answers said.
    replaced: set[str] = field(default_factory=set)
    refusals: list[Finding] = field(default_factory=list)
    # Requests that a kill left without an answer.
    unanswered: Counter[str] = field(default_factory=Counter)

    @property
    def exchanges(self) -> int:
        return sum(len(talk.exchanges) for talk in self.talks)

    @property
    def answers(self) -> int:
        return self.exchanges + len(self.memories)


class Talker:
    """Holds one talk after the other through one door."""

    def __init__(self, name: str, door: Door, ledger: Ledger, random: Random) -> None:
        self._name, self._door, self._ledger, self._random = name, door, ledger, random
        self._numbers = count(1)
        self.name = door.path
        self.talk = self._begin()

    def work(self, http: httpx.Client) -> None:
        if self.talk.is_over:
            self.talk = self._begin()
        talk, random = self.talk, self._random
        if not talk.pending or random.random() > _ASKED_AGAIN:
            words = " ".join(random.choices((*_THINGS, *_PLACES), k=random.randint(3, 60)))
            talk.pending = f"Question {next(self._numbers)} of {talk.name}: what about {words}?"
        question = talk.pending
        talk.sent[question] += 1
        body = {"model": _MODEL, "stream": True, **self._door.body(talk, question)}
        with http.stream("POST", self._door.path, json=body) as response:
            if response.status_code != 200:
                what = response.read().decode()
                self._ledger.refusals.append(Finding("refused", f"{response.status_code} {what}", self.name))
                raise Unanswered
            conversation = response.headers["x-holdfast-conversation"]
            text, name = self._door.read([line for line in response.iter_lines() if line])
        talk.conversation, talk.pending = conversation, ""
        talk.exchanges.append((question, text))
        if name:
            talk.responses[name] = text

    def _begin(self) -> Talk:
        self._ledger.talks.append(Talk(self._door.path, f"{self._name} {len(self._ledger.talks)}"))
        return self._ledger.talks[-1]


class Rememberer:
    """Adds memories, no two of them alike."""

    name = "POST /api/memory"

    def __init__(self, name: str, ledger: Ledger, random: Random) -> None:
        self._name, self._ledger, self._random = name, ledger, random
        self._numbers = count(1)
        self._pending = ""

    def work(self, http: httpx.Client) -> None:
        random = self._random
        if not self._pending or random.random() > _ASKED_AGAIN:
            code = f"{self._name}{next(self._numbers)}{random.randint(100, 999)}"
            self._pending = (
                f"The {random.choice(_THINGS)} with the tag {code} belongs to {random.choice(_PLACES)}."
            )
        # It is much quicker than a chat, and would have nearly all of the kills.
        time.sleep(random.uniform(0, 1.0))
        response = http.post("/api/memory", json={"text": self._pending})
        if response.status_code != 201:
            self._ledger.refusals.append(
                Finding("refused", f"{response.status_code} {response.text}", self.name)
            )
            raise Unanswered
        self._ledger.memories.append(self._pending)
        self._ledger.replaced.update(old["text"] for old in response.json()["replaced"])
        self._pending = ""


class Compacter:
    """Has one of the talks summarised that go on meanwhile."""

    name = "POST /api/chats/…/compact"

    def __init__(self, talkers: Sequence[Talker], random: Random) -> None:
        self._talkers, self._random = talkers, random

    def work(self, http: httpx.Client) -> None:
        talk = self._random.choice(self._talkers).talk
        if len(talk.exchanges) < 4:
            time.sleep(0.05)
            return
        response = http.post(f"/api/chats/{talk.conversation}/compact")
        # Where there is nothing to summarise it says so, which is no fault.
        if response.status_code == 200:
            talk.summaries.append(response.json()["id"])


class Reindexer:
    """Has the index of notes made anew now and then."""

    name = "POST /api/memory/reindex"

    def __init__(self, ledger: Ledger, random: Random) -> None:
        self._ledger, self._random = ledger, random

    def work(self, http: httpx.Client) -> None:
        time.sleep(self._random.uniform(0.2, 2.0))
        response = http.post("/api/memory/reindex")
        if response.status_code not in (202, 409):
            what = f"{response.status_code} {response.text}"
            self._ledger.refusals.append(Finding("refused", what, self.name))


class Importer:
    """Brings in chats of another tool by a command beside the server; one that was killed is begun again."""

    name = "holdfast import"

    def __init__(self, server: Server, folder: Path, ledger: Ledger, random: Random) -> None:
        self._server, self._folder, self._ledger, self._random = server, folder, ledger, random
        self._numbers = count(1)
        self._pending: list[Talk] = []
        self._process: subprocess.Popen[str] | ForkedProcess | None = None
        self._due = 0.0

    def work(self, _: httpx.Client) -> None:
        if time.monotonic() < self._due:
            time.sleep(0.05)
            return
        # A command takes as much of the machine as a start of the server: without a pause, most of it.
        self._due = time.monotonic() + self._random.uniform(0, _IMPORT_PAUSE)
        if not self._pending:
            self._pending = [self._make_talk() for _ in range(self._random.randint(1, 4))]
        file = self._folder / "conversations.json"
        file.write_text(json.dumps([export_talk(talk) for talk in self._pending]))
        with self._server.command("import", "--project", "default", str(file)) as process:
            self._process = process
            errors = process.communicate()[1]
        code = process.returncode or 0
        if code < 0:
            raise Unanswered
        if code:
            self._ledger.refusals.append(Finding("refused", errors[-500:], self.name))
            raise Unanswered
        self._ledger.imports += self._pending
        self._pending = []

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _make_talk(self) -> Talk:
        talk = Talk(self.name, f"import {next(self._numbers)}")
        for number in range(self._random.randint(1, 8)):
            question = f"Question {number} of {talk.name}: where is the {self._random.choice(_THINGS)}?"
            talk.exchanges.append((question, f"Answer {number} of {talk.name}: {_PLACES[number]}."))
            talk.sent[question] = 1
        return talk


def export_talk(talk: Talk) -> Json:
    """Return a talk as ChatGPT exports it."""
    nodes: Json = {"root": {"id": "root", "parent": None, "message": None}}
    parent = "root"
    for number, (role, text) in enumerate(talk.lines):
        key = f"{talk.name} {number}"
        content = {"content_type": "text", "parts": [text]}
        message = {"author": {"role": role}, "content": content, "create_time": 1_700_000_000 + number}
        nodes[key] = {"id": key, "parent": parent, "message": message}
        parent = key
    fields = {"title": talk.name, "create_time": 1_700_000_000, "current_node": parent}
    return {"id": talk.name, "mapping": nodes, **fields}


Client = Talker | Rememberer | Compacter | Reindexer | Importer


def make_clients(seed: int, ledger: Ledger, server: Server) -> list[Client]:
    """Two talkers for each door, two that remember, and one each that compacts, reindexes and imports."""
    talkers = [
        Talker(f"{letter}{number}", door, ledger, Random(f"{seed} {letter} {number}"))
        for number, door in enumerate(DOORS)
        for letter in "AB"
    ]
    adders = [Rememberer(letter, ledger, Random(f"{seed} {letter}")) for letter in "MN"]
    others: list[Client] = [
        Compacter(talkers, Random(f"{seed} C")),
        Reindexer(ledger, Random(f"{seed} R")),
        Importer(server, server.home.parent, ledger, Random(f"{seed} I")),
    ]
    return [*talkers, *adders, *others]


def make_answers(seed: int) -> Callable[[ModelCall], str]:
    """A model no two of whose answers are the same, so that none can stand for another."""
    random, numbers = Random(seed), count(1)

    def answer(_: ModelCall) -> str:
        words = " ".join(random.choices((*_THINGS, *_PLACES), k=random.randint(2, 150)))
        return f"Answer {next(numbers)}: {words}."

    return answer
