"""What the servers have in common: a key, a limit on requests, and a note of what was asked.

Knows no protocol: how a refusal is worded comes from each of them.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from holdfast.memory.embedders.hashing import HashingEmbedder
from holdfast.upstreams.serving import serve_app

Handler = Callable[[Request], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request. `body` is its JSON, None where it has none."""

    method: str
    path: str
    body: Any


class Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class FakeServer(ABC):
    """`busy` is how many requests are refused before one is done, with the status `refuses_with`.

    `busy_at` narrows that to paths with these ends, and `retry_after` is sent with it. With `always`, vectors
    have so many dimensions, whatever was asked for.
    """

    def __init__(self, *, key: str = "", dimensions: int = 64) -> None:
        self.key = key
        self.dimensions = dimensions
        self.busy = 0
        self.retry_after = ""
        self.busy_at: tuple[str, ...] = ("",)
        self.refuses_with = 429
        self.always = 0
        self.requests: list[ReceivedRequest] = []

    @contextmanager
    def served(self) -> Iterator[str]:
        """Its address while the context lasts."""
        routes = [
            Route(path, self._guarded(handler), methods=[method]) for method, path, handler in self._routes()
        ]
        with serve_app(Starlette(routes=routes)) as url:
            yield url

    def vectors(self, texts: Sequence[str], dimensions: int = 0) -> list[list[float]]:
        size = self.always or dimensions or self.dimensions
        rows: list[list[float]] = HashingEmbedder(size).embed(texts).tolist()
        return rows

    @abstractmethod
    def _routes(self) -> Sequence[tuple[str, str, Handler]]:
        """Method, path and what answers there."""

    @abstractmethod
    def _key_of(self, request: Request) -> str: ...

    @abstractmethod
    def _refused(self, refusal: Refusal) -> Any:
        """The body of a refusal."""

    @abstractmethod
    def _unknown_key(self) -> Refusal: ...

    def _guarded(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            content = await request.body()
            is_json = request.headers.get("content-type", "").startswith("application/json")
            body = json.loads(content) if content and is_json else None
            self.requests.append(ReceivedRequest(request.method, request.url.path, body))
            try:
                self._admit(request)
                answer = await handler(request)
            except Refusal as refusal:
                headers = {"retry-after": self.retry_after} if self.retry_after else None
                return JSONResponse(self._refused(refusal), refusal.status, headers)
            return answer if isinstance(answer, Response) else JSONResponse(answer)

        return endpoint

    def _admit(self, request: Request) -> None:
        if self.key and self._key_of(request) != self.key:
            raise self._unknown_key()
        if self.busy and request.url.path.endswith(self.busy_at):
            self.busy -= 1
            raise Refusal(self.refuses_with, "The limit of requests a minute is reached.")


def read_bearer(request: Request) -> str:
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def extract_file(content: bytes, kind: str) -> bytes:
    """The last part of a body that has several, where the file is."""
    border = f"--{kind.partition('boundary=')[2]}".encode()
    *_, last, _ = content.split(border)
    return last.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
