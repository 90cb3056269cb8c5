"""Does it hold many at once? `holdfast serve`, with everything as it is by default, in front of the public
fake of Ollama. Many clients talk at the same time through four protocols, streaming, each in a talk of
its own, while many followers of `/api/events` listen. Every answer names the question it belongs to.

Each client must get its own answers only, and its conversation must have every turn once and in order. The
talks go on in two halves: memory must stay flat in the second, and once everybody is gone, as many files are
open as before anybody came. Of the times of the requests, 95 of 100 must be within three times the median.
"""

import argparse
import contextlib
import re
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from urllib.parse import urlsplit

import httpx

from evals.reliability_checks import PartResult, Talk, check_talk
from evals.reliability_clients import DOORS, Door, Unanswered
from evals.reliability_server import Server
from evals.window_rows import Row, none_of, progress
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import ModelCall

PART = "load"
_TAG = re.compile(r"question (\d+) of client (\d+)")
# Bytes of memory in one MB; seconds until a server that nobody uses is looked at, and files may be closed.
_MB, _REST, _PATIENCE = 1_000_000, 3.0, 60.0
# How much more memory the second round may take, and how many times the median slow requests.
_GROWTH, _SLOW = 0.15, 3.0
# Followers who hear of every talk; all others follow projects in which nothing happens.
_NEAR = 20


def answer(call: ModelCall) -> str:
    """Name the newest question; what is brought back from other talks stands behind it."""
    messages = call.body.get("messages") or [{"content": ""}]
    tag = _TAG.search(str(messages[-1].get("content")))
    return f"Answer {tag[1]} for client {tag[2]}." if tag else "Nothing."


class Followers:
    """Connections that follow `/api/events` and do nothing else; a few of them where the talks are."""

    def __init__(self, url: str, number: int, near: int = _NEAR) -> None:
        parts = urlsplit(url)
        self._selector = selectors.DefaultSelector()
        self._ended = threading.Event()
        self.received, self.gone = 0, 0
        rest = f"HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept: text/event-stream\r\n\r\n"
        self._sockets = []
        for at in range(number):
            head = f"GET /api/events{'' if at < near else f'?project=idle-{at % 100}'} {rest}"
            connection = socket.create_connection((str(parts.hostname), int(parts.port or 80)), timeout=60)
            connection.sendall(head.encode())
            connection.setblocking(False)
            self._selector.register(connection, selectors.EVENT_READ)
            self._sockets.append(connection)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while not self._ended.is_set():
            for key, _ in self._selector.select(0.2):
                assert isinstance(key.fileobj, socket.socket)
                try:
                    data = key.fileobj.recv(65_536)
                except OSError:
                    data = b""
                self.received += len(data)
                if not data:
                    self.gone += 1
                    self._selector.unregister(key.fileobj)

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        for connection in self._sockets:
            connection.close()


@dataclass(slots=True)
class LoadClient:
    """One client with one conversation; `seconds` are the times of its turns."""

    number: int
    door: Door
    random: Random
    talk: Talk = field(init=False)
    seconds: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.talk = Talk(self.door.path, f"client {self.number}")

    def work(self, url: str, turns: int) -> None:
        with httpx.Client(base_url=url, timeout=600, trust_env=False) as http:
            for _ in range(turns):
                self._turn(http)

    def _turn(self, http: httpx.Client) -> None:
        number = len(self.talk.exchanges)
        words = " ".join(self.random.choices(("tea", "lamp", "river", "stone", "letter"), k=12))
        question = f"This is question {number} of client {self.number}: {words}?"
        body = {"model": "fake:latest", "stream": True, **self.door.body(self.talk, question)}
        began = time.perf_counter()
        try:
            with http.stream("POST", self.door.path, json=body) as response:
                if response.status_code != 200:
                    self.problems.append(f"{response.status_code} {response.read().decode()[:300]}")
                    return
                self.talk.conversation = response.headers["x-holdfast-conversation"]
                text, name = self.door.read([line for line in response.iter_lines() if line])
        except (httpx.TransportError, Unanswered) as error:
            self.problems.append(f"no answer to question {number}: {type(error).__name__}")
            return
        self.seconds.append(time.perf_counter() - began)
        if text != f"Answer {number} for client {self.number}.":
            self.problems.append(f"question {number} was answered with {text}")
        self.talk.exchanges.append((question, text))
        if name:
            self.talk.responses[name] = text

    def check(self, http: httpx.Client) -> Iterator[str]:
        yield from self.problems
        entries = http.get(f"/api/chats/{self.talk.conversation}/messages").json()["messages"]
        path = [(row["role"], row["content"]) for row in entries if row.get("type") != "compaction"]
        for finding in check_talk(self.talk, path):
            yield f"{finding.kind}: {finding.what} ({finding.where})"
        if len(path) != 2 * len(self.talk.exchanges):
            yield f"{len(path)} messages of {len(self.talk.exchanges)} exchanges ({self.talk.conversation})"


def run_round(clients: Sequence[LoadClient], url: str, turns: int) -> None:
    threads = [threading.Thread(target=client.work, args=(url, turns)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@dataclass(slots=True)
class Usage:
    """Memory in bytes and open files of a server and its children."""

    memory: int
    files: int

    @classmethod
    def of(cls, server: Server) -> "Usage":
        processes = [server.process, *server.process.children(recursive=True)]
        return cls(sum(process.memory_info().rss for process in processes), server.process.num_fds())


def rest(server: Server, files: int) -> Usage:
    """Wait until as many files are open as before, for a while."""
    time.sleep(_REST)
    limit = time.perf_counter() + _PATIENCE
    while (usage := Usage.of(server)).files > files and time.perf_counter() < limit:
        time.sleep(0.5)
    return usage


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clients", type=int, default=50, help="that talk at once")
    parser.add_argument("--turns", type=int, default=200, help="of each client")
    parser.add_argument("--followers", type=int, default=1_000, help="of events")


def run(options: argparse.Namespace, folder: Path) -> PartResult:
    home = folder / "home"
    home.mkdir()
    clients = [
        LoadClient(number, DOORS[number % len(DOORS)], Random(f"{options.seed} {number}"))
        for number in range(options.clients)
    ]
    with contextlib.ExitStack() as stack:
        server = Server(home, stack.enter_context(FakeOllama(answer).served()))
        stack.enter_context(server)
        warm = [LoadClient(-1 - number, door, Random(number)) for number, door in enumerate(DOORS)]
        run_round(warm, server.url, 2)
        before = rest(server, 0)
        began = time.perf_counter()
        followers = Followers(server.url, options.followers)
        stack.callback(followers.close)
        usages = []
        for turns in (options.turns // 2, options.turns - options.turns // 2):
            run_round(clients, server.url, turns)
            usages.append(Usage.of(server))
            progress(f"{PART}: {turns} turns of {len(clients)} clients, {usages[-1].memory / _MB:.0f} MB")
        seconds = time.perf_counter() - began
        gone = followers.gone
        followers.close()
        after = rest(server, before.files)
        with server.connect() as http:
            findings = [problem for client in clients for problem in client.check(http)]
        server.expect_running()
    for finding in findings[:20]:
        progress(f"{PART}: {finding[:300]}")
    measured = make_rows(clients, (before, *usages, after), seconds)
    listeners = [
        Row(PART, "followers of events", "all", options.followers),
        none_of(PART, "followers that were cut off", "all", gone),
        none_of(PART, "turns lost, doubled, moved or crossed", "all clients", len(findings)),
    ]
    return PartResult([*listeners, *measured], findings)


def make_rows(clients: Sequence[LoadClient], usages: Sequence[Usage], seconds: float) -> Iterator[Row]:
    times = sorted(second for client in clients for second in client.seconds)
    middle, slow = median(times), times[int(len(times) * 0.95)]
    case = f"{len(clients)} clients at once"
    yield Row(PART, "turns", case, len(times))
    yield Row(PART, "turns in a second", case, len(times) / seconds)
    yield Row(PART, "median of a turn", case, middle, "s")
    yield Row(PART, "95 of 100 turns within", case, slow, "s")
    yield Row(
        PART, "that is times the median", case, slow / middle, "", f"≤ {_SLOW:.0f}", slow <= _SLOW * middle
    )
    before, first, second, after = usages
    for name, usage in (
        ("before", before),
        ("after half", first),
        ("at the end", second),
        ("at rest", after),
    ):
        yield Row(PART, "memory", name, usage.memory / _MB, "MB")
    growth = second.memory / first.memory - 1
    yield Row(PART, "growth in the second half", case, 100 * growth, "%", "≤ 15 %", growth <= _GROWTH)
    more = max(0, after.files - before.files)
    yield Row(PART, "files open afterwards, more than before", case, more, "", "≤ 5", more <= 5)
