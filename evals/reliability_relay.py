"""A relay in front of an S3 server that lies: refuses, cuts, delays, answers with garbage or with nothing.

Requests go on as they came, with the name they were signed for, so that the server behind believes them.
"""

import http.client
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

FORGETS = "forgets what it took"
LIES = ("refuses", "cuts", "garbage", "empty", "not there", "slow", "throttles", FORGETS)
_PAUSE = 1.0


class LyingRelay:
    """`lie` is what it does with requests, empty to pass them on."""

    def __init__(self, endpoint: str) -> None:
        self.lie = ""
        parts = urlsplit(endpoint)
        target = (str(parts.hostname), int(parts.port or 80))
        relay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                self.close_connection = True
                match relay.lie:
                    case "refuses":
                        self._reply(500, b"<Error><Code>InternalError</Code></Error>")
                    case "throttles":
                        self._reply(503, b"<Error><Code>SlowDown</Code></Error>")
                    case "cuts":
                        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhalf")
                    case "garbage":
                        self._reply(200, b"\xff\x00garbage <<<" * 20)
                    case "empty":
                        self._reply(200, b"")
                    case "not there":
                        self._reply(404, b"<Error><Code>NoSuchKey</Code></Error>")
                    case lie if lie == FORGETS and self.command == "PUT":
                        self._reply(200, b"", {"ETag": '"0000"'})
                    case lie:
                        time.sleep(_PAUSE if lie == "slow" else 0)
                        self._pass_on(body)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815 - names of http.server

            def _pass_on(self, body: bytes) -> None:
                connection = http.client.HTTPConnection(*target, timeout=60)
                connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    connection.putheader(name, value)
                connection.endheaders(body or None)
                answer = connection.getresponse()
                content = answer.read()
                passed = {
                    name: value
                    for name, value in answer.getheaders()
                    if name.lower()
                    not in ("transfer-encoding", "connection", "content-length", "date", "server")
                }
                length = answer.getheader("content-length") if self.command == "HEAD" else None
                connection.close()
                self._reply(answer.status, content, passed, length)

            def _reply(
                self,
                status: int,
                body: bytes,
                headers: dict[str, str] | None = None,
                length: str | None = None,
            ) -> None:
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", length or str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
