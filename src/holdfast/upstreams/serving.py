"""Serves an ASGI app on a free port of loopback, in a thread: how the fakes become servers.

Knows nothing of what is served.
"""

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import uvicorn


class _ThreadServer(uvicorn.Server):
    """Ends as soon as it is told to: uvicorn looks every tenth of a second, and waits for another."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._told: Future[None] = Future()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await asyncio.wrap_future(self._told)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        # Nobody is there who would need a moment to go.
        for server in self.servers:
            server.close()
        await self.lifespan.shutdown()

    def end(self) -> None:
        self.should_exit = True
        self._told.set_result(None)


@contextmanager
def serve_app(app: Any) -> Iterator[str]:
    """The address of `app` while the context lasts. Whoever is still connected at its end is cut off."""
    # Named by its protocol, or asyncio does not recognise TCP and leaves Nagle's delay of 40 ms switched on.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    config = uvicorn.Config(app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=1)
    server = _ThreadServer(config)
    # The socket listens already, so a client that is faster than the thread just waits a little.
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        host, port = listener.getsockname()
        yield f"http://{host}:{port}"
    finally:
        server.end()
        thread.join()
        listener.close()
