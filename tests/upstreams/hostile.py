"""A server that answers every connection with bytes of the test's choosing, however wrong they are."""

import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count

# Instead of bytes: says nothing more and keeps the connection open.
SILENCE = None
# Instead of bytes: ends the connection as a crash does, by a reset.
RESET = b"<reset>"

Script = Iterable[bytes | None]


def response(
    body: bytes, status: str = "200 OK", content_type: str = "application/json", **headers: str
) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


def begin_response(content_type: str) -> bytes:
    """The head of a response that ends when the connection does, so the client cannot know if it was all."""
    return f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()


def piece(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


END = b"0\r\n\r\n"


@dataclass
class Hostile:
    url: str
    requests: list[bytes] = field(default_factory=list)


@contextmanager
def hostile(*scripts: Script | Callable[[bytes], Script]) -> Iterator[Hostile]:
    """Plays one script for each connection, the last one again and again.

    A script may be made from the request that it answers.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    server = Hostile(f"http://127.0.0.1:{listener.getsockname()[1]}")
    over = threading.Event()

    def play(connection: socket.socket, script: Script | Callable[[bytes], Script]) -> None:
        # A client that had enough hangs up.
        with connection, suppress(ConnectionError):
            server.requests.append(request := _request(connection))
            for step in script(request) if callable(script) else script:
                if step is SILENCE:
                    over.wait()
                elif step is RESET:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                else:
                    connection.sendall(step)

    def accept() -> None:
        for number in count():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            script = scripts[min(number, len(scripts) - 1)]
            threading.Thread(target=play, args=(connection, script), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        received = connection.recv(65536)
        if not received:
            return data
        data += received
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    chunked = b"transfer-encoding: chunked" in head.lower()
    while len(body) < length or (chunked and not body.endswith(END)):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
