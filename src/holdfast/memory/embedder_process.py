"""An embedder in a process of its own, which answers on its standard streams.

The process is started when it is needed and answers one question at a time, the urgent ones first.
"""

import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import numpy as np

from holdfast.errors import EmbedderError
from holdfast.memory.embedders import (
    NO_PROMPTS,
    EmbedderIdentity,
    EmbeddingPrompts,
    ValidatedEmbedder,
    Vectors,
)
from holdfast.memory.workers import read_message, write_message
from holdfast.messages import canonical
from holdfast.upstreams.processes import read_tail, start_process, stop_process

_TAIL_LINES = 6


class _TurnQueue:
    """A lock that is granted in order of arrival, urgent waiters first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = False
        self._lines: dict[bool, deque[object]] = {True: deque(), False: deque()}

    @property
    def waiting(self) -> int:
        return sum(map(len, self._lines.values()))

    def take(self, *, urgent: bool = False) -> None:
        ticket = object()
        with self._changed:
            self._lines[urgent].append(ticket)
            try:
                self._changed.wait_for(
                    lambda: not self._taken and next(chain(self._lines[True], self._lines[False])) is ticket
                )
                self._taken = True
            finally:
                self._lines[urgent].remove(ticket)
                # If this one was interrupted, the next may go.
                self._changed.notify_all()

    def take_if_free(self) -> bool:
        with self._changed:
            free = not self._taken
            self._taken = True
            return free

    def give_back(self) -> None:
        with self._changed:
            self._taken = False
            self._changed.notify_all()


class WorkerProcess:
    """A worker program; `label` names it in errors, `log` takes its stderr, an answer may take `seconds`."""

    def __init__(self, command: Sequence[str], *, label: str, log: Path, seconds: float) -> None:
        self._command = command
        self._label = label
        self._log = log
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        # With a lock alone, somebody with many questions could come first again and again.
        self._turns = _TurnQueue()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return self._turns.waiting

    def ask(self, question: bytes, *, urgent: bool = False) -> bytes:
        """Return the answer. A worker that died is restarted once; one that takes too long is killed.

        An `urgent` question waits only for the one that is being answered.
        """
        self._turns.take(urgent=urgent)
        try:
            answer = self._exchange(question)
            if answer is None:
                answer = self._exchange(question)
            if answer is None:
                raise self._end_error()
            return answer
        finally:
            self._turns.give_back()

    def rest(self) -> bool:
        """Stop the process until the next question, unless it is busy; whether there was one."""
        if not self._turns.take_if_free():
            return False
        try:
            process, self._process = self._process, None
            if process is not None:
                stop_process(process)
            return process is not None
        finally:
            self._turns.give_back()

    def close(self) -> None:
        self._turns.take()
        try:
            self._closed = True
            if self._process is not None:
                stop_process(self._process)
        finally:
            self._turns.give_back()

    def _exchange(self, question: bytes) -> bytes | None:
        """Ask the running worker, started if need be; None if it died over the question."""
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
                write_message(process.stdin, question)
                answer = read_message(process.stdout)
            interrupted = False
        finally:
            alarm.cancel()
            if interrupted:
                # The next one to ask must not be given the answer to this.
                process.kill()
            if answer is None:
                stop_process(process)
        if answer is None and late.is_set():
            raise EmbedderError(
                f"{self._label} took longer than {self._seconds:g} seconds and was ended.",
                hint=f"The machine may be short of memory or very busy; the log is {self._log}.",
            )
        return answer

    def _end_error(self) -> EmbedderError:
        code = self._process.returncode if self._process is not None else None
        return EmbedderError(
            f"{self._label} ended twice (exit code {code}).{read_tail(self._log, _TAIL_LINES)}\n",
            hint=f"The log is {self._log}. With `embedder = off`, search goes by words alone.",
        )

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            if self._process is not None:
                stop_process(self._process)
            try:
                self._process = start_process(self._command, self._log, text=False)
            except OSError as error:
                raise EmbedderError(
                    f"{self._label} cannot be started: {error}.", hint=f"Check {self._log.parent}."
                ) from error
        return self._process


class SubprocessEmbedder(ValidatedEmbedder):
    longest = 2_000
    # Small, so that a question never waits long for an index that is being built; larger is hardly faster.
    batch = 8

    def __init__(
        self, identity: EmbedderIdentity, worker: WorkerProcess, prompts: EmbeddingPrompts = NO_PROMPTS
    ) -> None:
        super().__init__(identity, prompts)
        self._worker = worker

    @property
    def pid(self) -> int | None:
        """The worker's process, if there is one."""
        return self._worker.pid

    def question(self, text: str) -> Vectors:
        """Urgent: it goes before texts that wait for their vectors."""
        return self._embed_parts([text], lambda texts: self._ask(texts, urgent=True), self._prompts.query)

    def rest(self) -> bool:
        return self._worker.rest()

    def close(self) -> None:
        self._worker.close()

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        return self._ask(texts)

    def _ask(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        answer = self._worker.ask(canonical(list(texts)).encode(), urgent=urgent)
        return np.frombuffer(answer, "<f4").reshape(len(texts), -1)
