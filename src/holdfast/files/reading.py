"""Documents whose parsers can be kept busy for ever, read in processes of their own that are ended in time.

A few bytes can be made to stand for hours of work, and a thread cannot be stopped; a process can. Few run at
a time, whoever asks. What a document is made of is known to the program that reads it (`reader`), not here.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from holdfast.errors import BadRequest, Stopped, TooLarge
from holdfast.i18n import say

Kind = Literal["pdf", "docx", "page"]

# How long one may take, and those of one message together.
SECONDS, TOGETHER = 10.0, 20.0
# How many run at a time, and how long one waits until one of them is done.
_AT_ONCE, _PATIENCE = 3, 10.0

_COMMAND = (sys.executable, "-P", "-m", "holdfast.files.reader")
_threads = ThreadPoolExecutor(_AT_ONCE, "holdfast-document")


@dataclass(frozen=True, slots=True)
class Read:
    title: str
    text: str


class TooSlow(BadRequest):
    """A document takes longer than anybody should wait."""


def read(kind: Kind, name: str, data: bytes, seconds: float = SECONDS) -> Read:
    """Blocks. Raises `BadRequest` for what cannot be read, `TooSlow` if not in time."""
    with _begun(kind, name, data, seconds) as work:
        try:
            ended = work.result(seconds + _PATIENCE)
        except TimeoutError:
            raise _too_slow(name) from None
    return _told(name, ended)


async def reading(kind: Kind, name: str, data: bytes, seconds: float = SECONDS) -> Read:
    """The same without a thread that blocks. Cancelled, it leaves no process behind."""
    try:
        with _begun(kind, name, data, seconds) as work:
            async with asyncio.timeout(seconds + _PATIENCE):
                ended = await asyncio.wrap_future(work)
    except TimeoutError:
        raise _too_slow(name) from None
    finally:
        await asyncio.wait([asyncio.wrap_future(work)])
    return _told(name, ended)


def stop() -> None:
    """Ends all that are being read: whoever waits for one gets `Stopped`."""
    for child in list(_children):
        child.stop()


@contextmanager
def _begun(kind: Kind, name: str, data: bytes, seconds: float) -> Iterator["Future[_Ended]"]:
    """A reading that ends with the block, whether or not it is done."""
    if seconds <= 0:
        raise _too_slow(name)
    child = _Child(kind, name, data, seconds)
    work = _threads.submit(child.run)
    _children.add(child)
    try:
        yield work
    finally:
        work.cancel()
        child.stop()
        _children.discard(child)


@dataclass(frozen=True, slots=True)
class _Ended:
    """`answer` is empty if the reader fell over the document."""

    answer: bytes = b""
    slow: bool = False
    stopped: bool = False


class _Child:
    """One document's process. It is begun and waited for in one thread, and may be stopped from any."""

    def __init__(self, kind: Kind, name: str, data: bytes, seconds: float) -> None:
        self._kind = kind
        self._given = json.dumps(name).encode() + b"\n" + data
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def run(self) -> _Ended:
        with self._lock:
            if self._stopped:
                return _Ended(stopped=True)
            self._process = subprocess.Popen(
                (*_COMMAND, self._kind, str(os.getpid())),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # Nothing of ours is its business, keys least of all; only where libraries are.
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                # Ctrl-C in a terminal is for us.
                start_new_session=True,
            )
        with self._process as process:
            return self._waited_for(process)

    def _waited_for(self, process: subprocess.Popen[bytes]) -> _Ended:
        try:
            answer, _ = process.communicate(self._given, self._seconds)
        except subprocess.TimeoutExpired:
            return _Ended(slow=True)
        finally:
            process.kill()
        return _Ended(answer if process.returncode == 0 else b"", stopped=self._stopped)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()


_children: set[_Child] = set()


def _told(name: str, ended: _Ended) -> Read:
    if ended.slow:
        raise _too_slow(name)
    if ended.stopped and not ended.answer:
        raise Stopped(say("Holdfast is stopping", "Holdfast wird beendet"))
    if not ended.answer:
        raise BadRequest(
            say(f"'{name}' cannot be read: it is damaged", f"'{name}' ist nicht lesbar: beschädigt"),
            hint=_hint(),
        )
    answer = json.loads(ended.answer)
    if "refused" in answer:
        raise (TooLarge if answer["large"] else BadRequest)(answer["refused"], hint=answer["hint"])
    return Read(answer["title"], answer["text"])


def _too_slow(name: str) -> TooSlow:
    said = say(f"'{name}' takes too long to read", f"'{name}' zu lesen dauert zu lange")
    return TooSlow(said, hint=_hint())


def _hint() -> str:
    return say("Save its text alone, or a part of it.", "Speichern Sie nur den Text oder einen Teil davon.")
