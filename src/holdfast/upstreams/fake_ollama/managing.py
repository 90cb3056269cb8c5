"""How the fake Ollama gets, copies and removes models: progress as lines, blobs that are hashed as they come.

Knows the models by name only; a model that was pulled is like every other.
"""

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from holdfast.errors import BadRequest
from holdfast.messages import canonical
from holdfast.protocols.wire import parse_object
from holdfast.upstreams.fake_ollama.runner import FakeModel, Runner

# Pulling this never ends, as large models seem to.
ENDLESS = "endless"

_Handler = Callable[[dict[str, Any]], Response]


class ModelManager:
    """`blobs` are the sizes of what was uploaded; `abandoned` is set when somebody leaves during progress."""

    def __init__(self, runner: Runner, abandoned: threading.Event) -> None:
        self.blobs: dict[str, int] = {}
        self._runner = runner
        self._abandoned = abandoned

    def routes(self) -> list[Route]:
        return [
            Route("/api/pull", self._json(self._pull), methods=["POST"]),
            Route("/api/push", self._json(self._push), methods=["POST"]),
            Route("/api/create", self._json(self._create), methods=["POST"]),
            Route("/api/copy", self._json(self._copy), methods=["POST"]),
            Route("/api/delete", self._json(self._delete), methods=["DELETE"]),
            Route("/api/blobs/{digest}", self._has_blob, methods=["HEAD"]),
            Route("/api/blobs/{digest}", self._take_blob, methods=["POST"]),
        ]

    def _json(self, handler: _Handler) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                return handler(parse_object(await request.body()))
            except BadRequest as refused:
                return JSONResponse({"error": str(refused)}, 400)

        return endpoint

    def _pull(self, body: dict[str, Any]) -> Response:
        name = _model_name(body)
        digest = hashlib.sha256(name.encode()).hexdigest()
        steps = [{"status": "pulling manifest"}]
        if name != ENDLESS:
            self._add(name)
            steps += [{"status": "verifying sha256 digest"}, {"status": "writing manifest"}]
        part = {"status": f"pulling {digest[:12]}", "digest": f"sha256:{digest}", "total": 1_000_000}
        return self._progress(body, steps, endless=part if name == ENDLESS else None)

    def _push(self, body: dict[str, Any]) -> Response:
        if self._runner.find(_model_name(body)) is None:
            return self._progress(body, [], error="file does not exist")
        return self._progress(body, [{"status": "retrieving manifest"}, {"status": "pushing manifest"}])

    def _create(self, body: dict[str, Any]) -> Response:
        name = _model_name(body)
        if not body.get("from") and not body.get("files"):
            return JSONResponse({"error": "neither 'from' or 'files' was specified"}, 400)
        self._add(name)
        return self._progress(body, [{"status": "using existing layer"}, {"status": "writing manifest"}])

    def _copy(self, body: dict[str, Any]) -> Response:
        source = self._runner.find(str(body.get("source")))
        if source is None:
            return JSONResponse({"error": f'model "{body.get("source")}" not found'}, 404)
        name = _add_tag(str(body.get("destination")))
        self._runner.models[name] = replace(source, name=name)
        return Response()

    def _delete(self, body: dict[str, Any]) -> Response:
        known = self._runner.find(_model_name(body))
        if known is None:
            return JSONResponse({"error": f"model '{_model_name(body)}' not found"}, 404)
        self._runner.unload(known)
        del self._runner.models[known.name]
        return Response()

    async def _has_blob(self, request: Request) -> Response:
        return Response(status_code=200 if request.path_params["digest"] in self.blobs else 404)

    async def _take_blob(self, request: Request) -> Response:
        digest, size, wanted = hashlib.sha256(), 0, request.path_params["digest"]
        async for data in request.stream():
            digest.update(data)
            size += len(data)
        if wanted != f"sha256:{digest.hexdigest()}":
            return JSONResponse({"error": "digest mismatch"}, 400)
        self.blobs[wanted] = size
        return Response(status_code=201)

    def _add(self, name: str) -> None:
        self._runner.models[_add_tag(name)] = FakeModel(_add_tag(name))

    def _progress(
        self,
        body: dict[str, Any],
        steps: Sequence[dict[str, Any]],
        *,
        endless: dict[str, Any] | None = None,
        error: str = "",
    ) -> Response:
        if body.get("stream") is False:
            return JSONResponse({"error": error}, 500) if error else JSONResponse({"status": "success"})
        last = {"error": error} if error else {"status": "success"}
        return StreamingResponse(self._lines([*steps, last], endless), media_type="application/x-ndjson")

    async def _lines(
        self, steps: Sequence[dict[str, Any]], endless: dict[str, Any] | None
    ) -> AsyncIterator[str]:
        done = 0
        try:
            while endless is not None:
                done += 1
                yield f"{canonical(endless | {'completed': done})}\n"
                await asyncio.sleep(0.001)
        except (asyncio.CancelledError, GeneratorExit):
            self._abandoned.set()
            raise
        for step in steps:
            yield f"{canonical(step)}\n"


def _model_name(body: dict[str, Any]) -> str:
    """The model; older clients call it `name`."""
    name = body.get("model") or body.get("name")
    if not isinstance(name, str):
        raise BadRequest("model is required")
    return name


def _add_tag(name: str) -> str:
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"
