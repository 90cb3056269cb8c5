"""A client that costs next to nothing: a connection, over which chats go out and answers come in.

Takes the time of the first word of an answer and of its last byte, and sees that every word arrived. Knows
HTTP as far as an answer goes; what stands on the other side, and what is good, is the business of others.
"""

import json
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

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
