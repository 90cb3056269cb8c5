"""One run of the `qmd` command: no shell, little environment, bounded time and output, ended with its group.

Knows how a process is run, and nothing of what it is asked.
"""

import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from holdfast.errors import HoldfastError

# More than any answer takes; who writes more has lost its way.
_LARGEST_OUTPUT = 4_000_000
# Of what went wrong so much is told.
_LONGEST_ERROR = 300
_READ_SIZE = 65_536
# How long it takes at most until somebody notices that nobody waits any more.
_GLANCE = 0.2


class QmdFailed(HoldfastError):
    """QMD did not do what it was asked. `lasting` says that to ask again at once would be the same."""

    def __init__(self, message: str, *, hint: str = "", lasting: bool = True) -> None:
        super().__init__(message, hint=hint)
        self.lasting = lasting


class QmdCommand:
    """`home` is where QMD keeps its settings, its index and its models, apart from anybody else's."""

    def __init__(self, words: Sequence[str], home: Path) -> None:
        self.words = tuple(words)
        self._home = home
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._closed = False

    @property
    def program(self) -> str | None:
        """Where the program is; None where there is none."""
        return shutil.which(self.words[0], path=os.pathsep.join(os.get_exec_path()))

    def run(self, args: Sequence[str], seconds: float, *, stop: Callable[[], bool] = lambda: False) -> str:
        """What it writes to its output; QmdFailed where it takes too long, writes too much or fails."""
        process = self._begin(args)
        try:
            out, err, why = _read_output(process, time.monotonic() + seconds, lambda: self._closed or stop())
        finally:
            self._end(process)
        if why == "time":
            raise QmdFailed(
                f"QMD was not done with {' '.join(args[:1])!r} within {round(seconds, 1):g} seconds.",
                hint="The first time it loads models. More time: qmd_timeout, qmd_update_timeout.",
            )
        if why:
            raise QmdFailed(f"QMD was ended: {why}.", lasting=why != "stopped")
        if process.returncode:
            said = " ".join(err.split())[-_LONGEST_ERROR:] or " ".join(out.split())[-_LONGEST_ERROR:]
            raise QmdFailed(f"QMD failed with exit code {process.returncode}: {said or 'it said nothing'}")
        return out

    def close(self) -> None:
        """End all that runs; nothing begins any more."""
        with self._lock:
            self._closed = True
            for group in self._running:
                _kill(group)

    def _begin(self, args: Sequence[str]) -> "subprocess.Popen[bytes]":
        program = self.program
        if program is None:
            raise QmdFailed(
                f"There is no program {self.words[0]!r}.",
                hint="Install QMD (`npm install -g @tobilu/qmd`), or name it in qmd_command.",
                lasting=False,
            )
        with self._lock:
            if self._closed:
                raise QmdFailed("QMD was ended: stopped.", lasting=False)
            try:
                self._home.mkdir(parents=True, exist_ok=True)
                process = subprocess.Popen(
                    [program, *self.words[1:], *args],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=self._home,
                    env=self._environment(),
                    # A group of its own, so that what it starts ends with it.
                    start_new_session=True,
                )
            except OSError as error:
                raise QmdFailed(f"{program} cannot be run: {error.strerror}.") from error
            self._running.add(process.pid)
        return process

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        with self._lock:
            if process.returncode is None:
                _kill(process.pid)
            self._running.discard(process.pid)
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()

    def _environment(self) -> dict[str, str]:
        config = self._home / "config"
        return {
            "PATH": os.pathsep.join(os.get_exec_path()),
            # Where the program itself may be installed.
            "HOME": str(Path.home()),
            "XDG_CONFIG_HOME": str(config),
            # Old versions know only this one.
            "QMD_CONFIG_DIR": str(config / "qmd"),
            "XDG_CACHE_HOME": str(self._home / "cache"),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
        }


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _read_output(
    process: "subprocess.Popen[bytes]", until: float, stopped: Callable[[], bool]
) -> tuple[str, str, str]:
    """Output, errors, and why it was not read to the end, if it was not."""
    assert process.stdout is not None
    assert process.stderr is not None
    parts: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    why = ""
    with selectors.DefaultSelector() as ready:
        for pipe in parts:
            os.set_blocking(pipe.fileno(), False)
            ready.register(pipe, selectors.EVENT_READ)
        while ready.get_map() and not why:
            left = until - time.monotonic()
            for key, _ in ready.select(max(0.0, min(left, _GLANCE))):
                pipe = next(one for one in parts if one is key.fileobj)
                read = os.read(key.fd, _READ_SIZE)
                parts[pipe] += read
                if not read:
                    ready.unregister(pipe)
            if sum(map(len, parts.values())) > _LARGEST_OUTPUT:
                why = f"it wrote more than {_LARGEST_OUTPUT:,} bytes"
            elif stopped():
                why = "stopped"
            elif left <= 0:
                why = "time"
    if not why:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            why = "time"
    out, err = (bytes(one).decode("utf-8", "replace") for one in parts.values())
    return out, err, why
