"""HTTP connections below the application: limits for those who have not sent a request yet, and addresses.

Whoever holds a connection open has to send the head of a request soon, and of no more than 64 KB; of many who
do not, those who wait longest have to go. Otherwise strangers could use up every connection before they are
asked for a key.
"""

import asyncio
import resource

import uvicorn
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from holdfast.server.guard import network_of

# Seconds for a head to arrive, and its largest size in bytes.
_HEAD_SECONDS, _MAX_HEAD = 15.0, 65_536
# With more connections of an address than this without a head, the oldest goes, once it had some seconds.
_MAX_WAITING, _GRACE = 100, 2.0
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

# Connections without a head, and since when, by the network of their client; oldest first.
_waiting: dict[str, dict["LimitedProtocol", float]] = {}


class LimitedProtocol(HttpToolsProtocol):
    """Reads requests as uvicorn does, with limits for their heads."""

    _network = ""
    _timer: asyncio.TimerHandle | None = None
    # Bytes of the head so far: as they arrived, and in headers that are complete.
    _received = _in_headers = 0
    _too_large = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._network = network_of(self.client[0]) if self.client else ""
        self._begin_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._timer is not None:
            self._received += len(data)
            if self._received > _MAX_HEAD:
                self._refuse_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._timer is None:
            self._begin_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._in_headers += len(name) + len(value)
        if self._in_headers > _MAX_HEAD:
            self._too_large = True
            raise ValueError("the head is too large")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._end_head()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        if self._too_large:
            self._refuse_head()
        else:
            super().send_400_response(msg)

    def _begin_head(self) -> None:
        self._received = self._in_headers = 0
        self._timer = self.loop.call_later(_HEAD_SECONDS, self._drop)
        waiting = _waiting.setdefault(self._network, {})
        waiting[self] = now = self.loop.time()
        if len(waiting) > _MAX_WAITING:
            oldest, since = next(iter(waiting.items()))
            if now - since >= _GRACE:
                oldest._drop()

    def _end_head(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting = _waiting.get(self._network, {})
        waiting.pop(self, None)
        if not waiting:
            _waiting.pop(self._network, None)

    def _refuse_head(self) -> None:
        self._end_head()
        if not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def _drop(self) -> None:
        self._end_head()
        self.transport.abort()


class PeerRecorder:
    """Puts the address that a connection really comes from into the state of its requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope.setdefault("state", {})["peer"] = scope["client"][0] if scope.get("client") else ""
        await self._app(scope, receive, send)


def configure_server(app: ASGIApp, **options: object) -> uvicorn.Config:
    """Return how an application is served: with the limits above, and behind a proxy if one says so."""
    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        **options,  # type: ignore[arg-type]
    )
    config.app = PeerRecorder(ProxyHeadersMiddleware(app, trusted_hosts=config.forwarded_allow_ips))  # type: ignore[arg-type]
    return config


def allow_many_files() -> None:
    """Let this process open as many files and connections as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):
            # Some systems name a limit that they do not grant.
            return
