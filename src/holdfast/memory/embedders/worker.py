"""A process that answers questions on its standard streams: started when needed, one question at a time.

A question and its answer are bytes with their length before them. Knows nothing of what they mean.
"""

import struct
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from holdfast.errors import EmbedderError
from holdfast.providers.processes import finish, spawn, tail

_LENGTH = struct.Struct(">Q")
_TAIL_LINES = 6


def write(stream: IO[bytes], content: bytes) -> None:
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def read(stream: IO[bytes]) -> bytes | None:
    """The next message, None if there will be none."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content = stream.read(length)
    return content if len(content) == length else None


class Worker:
    """`label` is what errors call it; `log` takes what it writes to stderr; it may think for `seconds`."""

    def __init__(self, command: Sequence[str], *, label: str, log: Path, seconds: float) -> None:
        self._command = command
        self._label = label
        self._log = log
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        # Whoever waits for the worker holds the queue. With a lock alone, somebody with many questions could
        # come first again and again.
        self._queue = threading.Lock()
        self._busy = threading.Lock()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def ask(self, question: bytes) -> bytes:
        """The answer. A worker that died is started once more; one that takes too long is ended."""
        with self._queue:
            self._busy.acquire()
        try:
            answer = self._exchange(question)
            if answer is None:
                answer = self._exchange(question)
            if answer is None:
                raise self._ended()
            return answer
        finally:
            self._busy.release()

    def rest(self) -> bool:
        """End the process until the next question, unless it is at one; whether there was a process."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            process, self._process = self._process, None
            if process is not None:
                finish(process)
            return process is not None
        finally:
            self._busy.release()

    def close(self) -> None:
        with self._queue:
            self._busy.acquire()
        try:
            self._closed = True
            if self._process is not None:
                finish(self._process)
        finally:
            self._busy.release()

    def _exchange(self, question: bytes) -> bytes | None:
        """The answer of the worker that runs, started if need be; None if it died over the question."""
        if self._closed:
            raise EmbedderError(f"{self._label} is closed.")
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        alarm = threading.Timer(self._seconds, end)
        alarm.daemon = True
        alarm.start()
        answer, interrupted = None, True
        try:
            with suppress(BrokenPipeError):
                write(process.stdin, question)
                answer = read(process.stdout)
            interrupted = False
        finally:
            alarm.cancel()
            if interrupted:
                # The next one to ask must not be given the answer to this.
                process.kill()
            if answer is None:
                finish(process)
        if answer is None and late.is_set():
            raise EmbedderError(
                f"{self._label} took longer than {self._seconds:g} seconds and was ended.",
                hint=f"The machine may be short of memory or very busy; the log is {self._log}.",
            )
        return answer

    def _ended(self) -> EmbedderError:
        code = self._process.returncode if self._process is not None else None
        return EmbedderError(
            f"{self._label} ended twice (exit code {code}).{tail(self._log, _TAIL_LINES)}\n",
            hint=f"The log is {self._log}. With `embedder = off`, search goes by words alone.",
        )

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            if self._process is not None:
                finish(self._process)
            self._process = self._spawn()
        return self._process

    def _spawn(self) -> subprocess.Popen[bytes]:
        try:
            return spawn(self._command, self._log, text=False)
        except OSError as error:
            raise EmbedderError(
                f"{self._label} cannot be started: {error}.", hint=f"Check {self._log.parent}."
            ) from error
