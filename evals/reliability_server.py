"""`holdfast serve` as a process of its own on one data folder, for the parts of `evals.reliability`.

What it writes to its log is kept for every start, so that a server that ended by itself can be explained.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
import psutil  # type: ignore[import-untyped]

from evals.forked import ForkedProcess

_READY = re.compile(r"ready: (http://\S+)\n")
# Seconds: for one command, and for a server that is asked to stop.
_COMMAND, _STOP = 300.0, 60.0


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds until a server answered, and how many of them it had a processor: others may need that too.

    `loaded` says that it began with its modules loaded.
    """

    seconds: float
    processor: float
    loaded: bool = False


class ServerEnded(Exception):
    """A server that ended by itself, with the end of its log."""


class Server:
    """`holdfast serve` on one folder, on another port each time it is started.

    `settings` are variables of its environment, and of the commands that are run beside it; `source` runs
    another version of Holdfast. While `loaded` is set, processes begin with their modules loaded.
    """

    def __init__(
        self, home: Path, upstream: str, settings: Mapping[str, str] | None = None, source: str = ""
    ) -> None:
        self.home, self.url = home, ""
        self.environment = {
            **os.environ,
            "HOLDFAST_HOME": str(home),
            "HOLDFAST_LANGUAGE": "en",
            **(settings or {}),
            **({"PYTHONPATH": source} if source else {}),
        }
        self._upstream = upstream
        self._logs = home.parent / "logs"
        self._log = self._logs / "none"
        self._process: subprocess.Popen[bytes] | ForkedProcess | None = None
        self._starts, self._commands = count(), count()
        self.loaded = False

    def launch(self) -> None:
        self._logs.mkdir(exist_ok=True)
        self._log = self._logs / f"serve-{next(self._starts):04}.log"
        arguments = ["serve", "--port", "0", "--upstream", self._upstream]
        if self.loaded:
            self._log.touch()
            self._process = ForkedProcess(arguments, self.environment, self.home.parent, self._log, self._log)
            return
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*_HOLDFAST, *arguments], env=self.environment, cwd=self.home.parent, stdout=log, stderr=log
            )

    def start(self) -> Start:
        """Return how long it took until it answered."""
        began = time.perf_counter()
        self.launch()
        while (ready := _READY.search(self.log)) is None:
            self.expect_running()
            time.sleep(0.02)
        self.url = ready[1]
        with self.connect() as http:
            http.get("/api/chats?limit=1").raise_for_status()
        return Start(time.perf_counter() - began, self._processor(), self.loaded)

    @property
    def log(self) -> str:
        """What the newest start wrote."""
        return self._log.read_text(errors="replace")

    @property
    def process(self) -> psutil.Process:
        assert self._process is not None
        return psutil.Process(self._process.pid)

    def expect_running(self) -> None:
        if self._process is None or (code := self._process.poll()) is not None:
            raise ServerEnded(f"holdfast serve ended by itself with {code}: {self.log[-4000:]}")

    def connect(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def command(self, *arguments: str) -> subprocess.Popen[str] | ForkedProcess:
        """Begin a command of Holdfast on the same data."""
        if self.loaded:
            self._logs.mkdir(exist_ok=True)
            name = f"{arguments[0]}-{next(self._commands)}"
            files = self._logs / f"{name}.log", self._logs / f"{name}.errors"
            return ForkedProcess(arguments, self.environment, self.home.parent, *files)
        return subprocess.Popen(
            [*_HOLDFAST, *arguments],
            env=self.environment,
            cwd=self.home.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        with self.command(*arguments) as process:
            output, errors = process.communicate(timeout=_COMMAND)
        return subprocess.CompletedProcess(arguments, process.returncode or 0, output, errors)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_STOP)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def _processor(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)


_HOLDFAST: Sequence[str] = (sys.executable, "-m", "holdfast")
