"""Small servers of the other kinds, as far as a test needs them: routes by hand, answers by hand."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import isfunction
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from holdfast.testing.provider import serve_app

# What a route answers: JSON, (status, JSON), a response, or a function of the request's body that makes one.
Reaction = Any | Callable[[Any], Any]


@dataclass
class Known:
    url: str
    requests: list[tuple[str, str, Any]] = field(default_factory=list)

    def asked(self, path: str) -> list[Any]:
        """The bodies that were sent to `path`."""
        return [body for _, known, body in self.requests if known == path]


@contextmanager
def server(
    routes: Mapping[str, Reaction], unknown: Reaction = (404, {"error": "not here"})
) -> Iterator[Known]:
    known = Known("")

    async def endpoint(request: Request) -> Response:
        content = await request.body()
        body = json.loads(content) if content else None
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        known.requests.append((request.method, path, body))
        reaction = routes.get(path, unknown)
        return _response(reaction(body) if isfunction(reaction) else reaction)

    app = Starlette(routes=[Route("/{path:path}", endpoint, methods=["GET", "POST"])])
    with serve_app(app) as url:
        known.url = url
        yield known


def events(*payloads: Any, done: bool = True) -> Response:
    lines = [f"data: {json.dumps(payload)}\n\n" for payload in payloads] + ["data: [DONE]\n\n"] * done
    return StreamingResponse(iter(lines), media_type="text/event-stream")


def delta(finish: str | None = None, **parts: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": parts, "finish_reason": finish}]}


def _response(reaction: Any) -> Response:
    match reaction:
        case Response():
            return reaction
        case (int(status), value):
            return JSONResponse(value, status)
        case value:
            return JSONResponse(value)
