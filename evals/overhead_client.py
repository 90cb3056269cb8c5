"""A client that costs next to nothing: a connection, over which chats go out and answers come in.

Takes the time of the first word of an answer and of its last byte, and sees that every word arrived. Knows
HTTP as far as an answer goes. Then the programs it talks to, each started as its users start it with what it
takes of processor and memory, and rounds in which all of them are asked in turn.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import psutil  # type: ignore[import-untyped]

from evals.overhead_upstream import MODEL, WORD, speak

OLLAMA, OPENAI = "/api/chat", "/v1/chat/completions"
_BORDER, _END = b"\r\n\r\n", b"\r\n0\r\n\r\n"
_AT_ONCE = 1 << 18
_PATIENCE = 120.0

Json = dict[str, Any]


class Faulty(RuntimeError):
    """An answer that is not what the upstream said: there is nothing to measure in it."""


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds from the first byte sent: to the first word, and to the end of the answer."""

    first: float
    whole: float
    words: int

    @property
    def each(self) -> float:
        """For every word after the first."""
        return (self.whole - self.first) / max(1, self.words - 1)


class Line:
    """A connection to one server, opened once: whoever closes it in between is found out."""

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).netloc
        self._socket = socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), _PATIENCE)
        # What is sent goes out at once, as with every HTTP library.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def chat(self, path: str, messages: Sequence[Json], words: int) -> Took:
        """Ask, and take the time. An answer of fewer words, or of more, is none."""
        request = self._request("POST", path, {"model": MODEL, "messages": messages, "stream": True})
        began = time.perf_counter()
        self._socket.sendall(request)
        first, pieces, last = 0.0, [], b""
        while not last.endswith(_END):
            piece = self._receive()
            pieces.append(piece)
            if not first and WORD.encode() in last + piece:
                first = time.perf_counter()
            # Enough to recognise a word, or the end, that came in two pieces.
            last = (last + piece)[-64:]
            if not first and _is_whole(pieces):
                break
        whole = time.perf_counter()
        head, body = _split_answer(b"".join(pieces))
        results = body.count(WORD.encode())
        if not head.startswith(b"HTTP/1.1 200") or results != words:
            raise Faulty(f"{self._host}{path}: {results} of {words} words: {head[:200]!r} {body[:300]!r}")
        return Took(1000 * (first - began), 1000 * (whole - began), results)

    def get(self, path: str) -> tuple[int, Any]:
        """The status of a page, and what is on it."""
        return self._fetch(self._request("GET", path))

    def post(self, path: str, body: Json) -> tuple[int, Any]:
        """The status of an answer to a JSON body, and what it says."""
        return self._fetch(self._request("POST", path, body))

    def _fetch(self, request: bytes) -> tuple[int, Any]:
        self._socket.sendall(request)
        pieces = [self._receive()]
        while not _is_whole(pieces):
            pieces.append(self._receive())
        head, body = _split_answer(b"".join(pieces))
        return int(head.split(b" ", 2)[1]), json.loads(body)

    def _receive(self) -> bytes:
        piece = self._socket.recv(_AT_ONCE)
        if not piece:
            raise Faulty(f"{self._host} closed the connection")
        return piece

    def _request(self, method: str, path: str, body: Json | None = None) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1",
            f"Host: {self._host}",
            "Content-Type: application/json",
            f"Content-Length: {len(content)}",
        )
        return "\r\n".join(head).encode() + _BORDER + content


def chat_of(number: int, turns: int, words: int) -> Iterator[list[Json]]:
    """What a client sends in a chat of so many turns: all that was said, each time anew."""
    text: list[Json] = []
    about = f"Chat {number}, question"
    for turn in range(turns):
        text.append({"role": "user", "content": f"{about} {turn}: what is {turn} times {number}?"})
        yield list(text)
        text.append({"role": "assistant", "content": "".join(speak(words))})


def _is_whole(pieces: Sequence[bytes]) -> bool:
    """Whether an answer with its length in its head, or one that came in chunks, is all there."""
    so_far = b"".join(pieces)
    head, border, body = so_far.partition(_BORDER)
    length = _field(head, b"content-length")
    if not border:
        return False
    return len(body) >= int(length) if length else so_far.endswith(_END)


def _split_answer(answer: bytes) -> tuple[bytes, bytes]:
    """The head of an answer, and its body without the borders of its chunks."""
    head, _, rest = answer.partition(_BORDER)
    if _field(head, b"content-length"):
        return head, rest
    body = []
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        body.append(rest[:length])
        rest = rest[length + 2 :]
    return head, b"".join(body)


def _field(head: bytes, name: bytes) -> bytes:
    lines = (line.partition(b":") for line in head.lower().split(b"\r\n"))
    return next((value.strip() for field, _, value in lines if field == name), b"")


# Seconds to start, and to stop.
_STARTS, _STOPS = 120.0, 20.0
_OFTEN = 0.01
_HERE = "127.0.0.1"

Command = tuple[list[str], dict[str, str]]


@dataclass(frozen=True, slots=True)
class Contestant:
    """`command` gets the port to listen on, the upstream's address and a folder for what is kept.

    None stands for nobody: the client asks the upstream itself.
    """

    name: str
    path: str
    command: Callable[[int, str, Path], Command] | None = None

    @property
    def case(self) -> str:
        return f"{self.name}, {self.path}"


@dataclass(frozen=True, slots=True)
class Usage:
    """Of a process and of those it started: seconds of processor and megabytes of memory."""

    own: float
    children: float
    rss: float
    children_rss: float


@dataclass(frozen=True, slots=True)
class RunningProxy:
    """One that is there to be asked."""

    contestant: Contestant
    url: str
    process: psutil.Process
    # Seconds from its start until it listed its models.
    ready: float

    def line(self) -> Line:
        """Another connection: servers close those on which nothing happens for some seconds."""
        return Line(self.url)

    def usage(self) -> Usage:
        own, others = _usage_of(self.process), Usage(0.0, 0.0, 0.0, 0.0)
        for child in self.process.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                results = _usage_of(child)
                others = Usage(others.own + results.own, 0.0, others.rss + results.rss, 0.0)
        # Children that ended are counted by whoever waited for them.
        times = self.process.cpu_times()
        ended = times.children_user + times.children_system
        return Usage(own.own, others.own + ended, own.rss, others.rss)


def _usage_of(process: psutil.Process) -> Usage:
    with process.oneshot():
        times = process.cpu_times()
        return Usage(times.user + times.system, 0.0, process.memory_info().rss / 2**20, 0.0)


def direct() -> list[Contestant]:
    return [Contestant("direct", OLLAMA), Contestant("direct", OPENAI)]


def holdfast(name: str = "Holdfast", settings: Mapping[str, str] | None = None) -> list[Contestant]:
    """Once for clients of Ollama and once for those of OpenAI, whose requests go on to Ollama's own route."""
    given = {f"HOLDFAST_{key.upper()}": value for key, value in (settings or {}).items()}

    def command(port: int, upstream: str, home: Path) -> Command:
        started = [sys.executable, "-m", "holdfast", "serve", "--port", str(port), "--upstream", upstream]
        return started, {"HOLDFAST_HOME": str(home), "HOLDFAST_LANGUAGE": "en", **given}

    return [Contestant(name, OLLAMA, command), Contestant(name, OPENAI, command)]


@contextlib.contextmanager
def running(
    contestant: Contestant, *, words: int, apart: bool = False, home: Path | None = None
) -> Iterator[RunningProxy]:
    """One of them with its upstream, until it is no longer needed; in a folder that is kept, if given."""
    with contextlib.ExitStack() as stack:
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        port = free_port()
        options = ["--chunks", str(words), *(["--apart"] if apart else [])]
        command = [sys.executable, "-m", "evals.overhead_upstream", str(port), *options]
        upstream = stack.enter_context(_start(command, {}, port, own / "upstream.log"))
        url = f"http://{_HERE}:{port}"
        process, ready = upstream
        if contestant.command is not None:
            port = free_port()
            command, environment = contestant.command(port, url, home or own)
            process, ready = stack.enter_context(_start(command, environment, port, own / "serve.log"))
            url = f"http://{_HERE}:{port}"
        yield RunningProxy(contestant, url, process, ready)


@contextlib.contextmanager
def all_running(
    contestants: Sequence[Contestant], *, words: int, apart: bool = False, home: Path | None = None
) -> Iterator[list[RunningProxy]]:
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(running(contestant, words=words, apart=apart, home=home))
            for contestant in contestants
        ]


@contextlib.contextmanager
def _start(
    command: Sequence[str], environment: Mapping[str, str], port: int, log: Path
) -> Iterator[tuple[psutil.Process, float]]:
    with log.open("w") as written:
        began = time.perf_counter()
        # As users start them: what was compiled once is there the next time.
        ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen(
            command, env={**ours, **environment}, stdout=written, stderr=subprocess.STDOUT
        )
        try:
            while not _is_ready(port):
                if process.poll() is not None or time.perf_counter() > began + _STARTS:
                    raise Faulty(f"{' '.join(command)} did not start: {log.read_text()[-2000:]}")
                time.sleep(_OFTEN)
            yield psutil.Process(process.pid), time.perf_counter() - began
        finally:
            _stop(process)


def _is_ready(port: int) -> bool:
    """All of them list their models, and can do it only once everything is in place."""
    try:
        with Line(f"http://{_HERE}:{port}") as line:
            return line.get("/v1/models")[0] == 200
    except (OSError, ValueError, Faulty):
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_STOPS)
    process.kill()
    process.wait()


def free_port() -> int:
    with socket.socket() as results:
        results.bind((_HERE, 0))
        return int(results.getsockname()[1])


def program(name: str, folders: Sequence[Path]) -> str | None:
    """A program that somebody installed, in one of these folders or where programs are."""
    places = os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")])
    return shutil.which(name, path=places)


# The requests of one contestant in one round, given its number.
Requests = Callable[[int], Iterator[Sequence[Json]]]
# Seconds in which everything is done that goes on after the last answer.
SETTLES = 2.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Times of all answers, and milliseconds of processor a request, of the process and of its children."""

    took: Sequence[Took]
    own: float
    children: float

    @property
    def first(self) -> float:
        return median(took.first for took in self.took)

    @property
    def late(self) -> float:
        """The first word, one time in twenty later than this."""
        times = [took.first for took in self.took]
        return quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]

    @property
    def whole(self) -> float:
        return median(took.whole for took in self.took)

    @property
    def each(self) -> float:
        return median(took.each for took in self.took)


def measure(
    contestants: Sequence[RunningProxy], requests: Requests, *, rounds: int, words: int, warm: int = 1
) -> Mapping[str, Measured]:
    """By their cases. The first rounds are to warm up.

    What is done after an answer counts as much as what is done before it: the processor is read before the
    first round and after the last one, when all is quiet.
    """
    for number in range(warm):
        list(_round(contestants, requests, number, words))
    time.sleep(SETTLES)
    before = {item.contestant.case: item.usage() for item in contestants}
    took: dict[str, list[Took]] = {case: [] for case in before}
    for number in range(warm, warm + rounds):
        for case, times in _round(contestants, requests, number, words):
            took[case] += times
    time.sleep(SETTLES)
    results = {}
    for contestant in contestants:
        case, after = contestant.contestant.case, contestant.usage()
        per_request = 1000 / len(took[case])
        results[case] = Measured(
            took[case],
            per_request * (after.own - before[case].own),
            per_request * (after.children - before[case].children),
        )
    return results


def _round(
    contestants: Sequence[RunningProxy], requests: Requests, number: int, words: int
) -> Iterator[tuple[str, list[Took]]]:
    # Who comes first changes, as whoever follows somebody busy may wait for what that one does afterwards.
    start = number % len(contestants)
    for item in [*contestants[start:], *contestants[:start]]:
        with item.line() as line:
            took = [line.chat(item.contestant.path, messages, words) for messages in requests(number)]
        yield item.contestant.case, took
