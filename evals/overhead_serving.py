"""Those that are measured, each a process of its own in front of an upstream of its own.

Starts them as users do, says when they are ready and what they take of processor and memory, and ends them.
What is asked of them is the business of others.
"""

import contextlib
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

import psutil  # type: ignore[import-untyped]

from evals.overhead_client import OLLAMA, OPENAI, Faulty, Line

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
