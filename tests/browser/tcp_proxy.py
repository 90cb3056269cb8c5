"""A wire between a browser and a server that a test can cut, and mend again."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


class Wire:
    """Passes bytes on. After `cut` every connection is gone, and new ones are hung up until `mend`."""

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target)
        self._whole = True
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        with self._lock:
            self._whole = False
            for item in self._open:
                _hang_up(item)
            self._open.clear()

    def mend(self) -> None:
        self._whole = True

    def close(self) -> None:
        _hang_up(self._listener)
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if not self._whole:
                _hang_up(near)
                continue
            far = socket.create_connection((self._target.hostname, self._target.port))
            with self._lock:
                self._open += [near, far]
            for item, other in ((near, far), (far, near)):
                threading.Thread(target=_pass_on, args=(item, other), daemon=True).start()


def _pass_on(item: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := item.recv(65_536):
            other.sendall(data)
    _hang_up(other)


def _hang_up(item: socket.socket) -> None:
    with suppress(OSError):
        item.shutdown(socket.SHUT_RDWR)
    item.close()


@contextmanager
def wire(target: str) -> Iterator[Wire]:
    result = Wire(target)
    try:
        yield result
    finally:
        result.close()
