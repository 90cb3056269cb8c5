"""Servers that speak the protocols of Gemini, Voyage and OpenAI for embeddings.

    with FakeGemini(key="secret").served() as url: ...

They have the limits of the real ones and refuse in their words. Vectors are those of the hashing embedder, so
that texts with common words are near to each other; batch jobs go as far as they are told to.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.testing.provider import serve_app

Handler = Callable[[Request], Awaitable[Any]]

FakeJobState = Literal["running", "done", "failed", "expired", "cancelled"]
_OPENAI_TEXTS = 2_048
_LINES = 50_000
_OPENAI_STATES = {"running": "in_progress", "done": "completed"}
_GEMINI_TEXTS = 100
_GEMINI_DIMENSIONS = 3_072
_TASKS = {"RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY", "SEMANTIC_SIMILARITY"}
_STATUS = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
_GEMINI_STATES = {"running": "RUNNING", "done": "SUCCEEDED"}
_VOYAGE_FIELDS = {
    "model",
    "input",
    "input_type",
    "truncation",
    "output_dimension",
    "output_dtype",
    "encoding_format",
}
_VOYAGE_DIMENSIONS = (256, 512, 1024, 2048)


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
            Route(path, self._guard(handler), methods=[method]) for method, path, handler in self.routes()
        ]
        with serve_app(Starlette(routes=routes)) as url:
            yield url

    def vectors(self, texts: Sequence[str], dimensions: int = 0) -> list[list[float]]:
        size = self.always or dimensions or self.dimensions
        rows: list[list[float]] = HashingEmbedder(size).embed(texts).tolist()
        return rows

    @abstractmethod
    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        """Method, path and what answers there."""

    @abstractmethod
    def read_key(self, request: Request) -> str: ...

    @abstractmethod
    def refusal_body(self, refusal: Refusal) -> Any:
        """The body of a refusal."""

    @abstractmethod
    def unknown_key(self) -> Refusal: ...

    def _guard(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
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
                return JSONResponse(self.refusal_body(refusal), refusal.status, headers)
            return answer if isinstance(answer, Response) else JSONResponse(answer)

        return endpoint

    def _admit(self, request: Request) -> None:
        if self.key and self.read_key(request) != self.key:
            raise self.unknown_key()
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


@dataclass(slots=True)
class FakeJob:
    input: str
    state: FakeJobState = "running"
    output: str = ""
    errors: str = ""


@dataclass(slots=True)
class FakeJobs:
    """A job runs until somebody has looked at it `looks` times, and `ends` as it is told.

    `fails` says of which texts a line fails. One that expires has done every second line.
    """

    looks: int = 0
    ends: FakeJobState = "done"
    fails: Callable[[str], bool] = lambda _text: False
    files: dict[str, bytes] = field(default_factory=dict)
    jobs: dict[str, FakeJob] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def keep(self, content: bytes, before: str) -> str:
        name = f"{before}{next(self._numbers)}"
        self.files[name] = content
        return name

    def create(self, file: str, before: str) -> str:
        name = f"{before}{next(self._numbers)}"
        self.jobs[name] = FakeJob(file)
        return name

    def look(
        self, name: str, done: Callable[[Any], Any], failed: Callable[[Any], Any], before: str
    ) -> FakeJob:
        """The job, a step further. `done` and `failed` make the line of an answer from that of a request."""
        job = self.jobs[name]
        if job.state == "running":
            if self.looks:
                self.looks -= 1
            else:
                self._end(job, done, failed, before)
        return job

    def cancel(self, name: str) -> None:
        self.jobs[name].state = "cancelled"

    def _end(
        self, job: FakeJob, done: Callable[[Any], Any], failed: Callable[[Any], Any], before: str
    ) -> None:
        job.state = self.ends
        if self.ends not in ("done", "expired"):
            return
        asked = [json.loads(line) for line in self.files[job.input].splitlines()]
        if self.ends == "expired":
            asked = asked[::2]
        good = [done(line) for line in asked if not self.fails(json.dumps(line))]
        bad = [failed(line) for line in asked if self.fails(json.dumps(line))]
        # In another order than they were asked for.
        job.output = self.keep(serialize_lines(good[::-1]), before) if good else ""
        job.errors = self.keep(serialize_lines(bad), before) if bad else ""


def serialize_lines(values: Sequence[Any]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


class FakeOpenAI(FakeServer):
    def __init__(self, *, key: str = "", dimensions: int = 64) -> None:
        super().__init__(key=key, dimensions=dimensions)
        self.jobs = FakeJobs()

    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        return [
            ("POST", "/v1/embeddings", self._embeddings),
            ("POST", "/v1/files", self.upload),
            ("GET", "/v1/files/{name}/content", self.download),
            ("DELETE", "/v1/files/{name}", self.delete),
            ("POST", "/v1/batches", self.create),
            ("GET", "/v1/batches/{name}", self.look),
            ("POST", "/v1/batches/{name}/cancel", self.cancel),
        ]

    async def _embeddings(self, request: Request) -> Any:
        return self._embed_texts(await request.json())

    def _embed_texts(self, body: Any) -> dict[str, Any]:
        texts = body["input"]
        if not texts or len(texts) > _OPENAI_TEXTS or not all(texts):
            raise Refusal(400, "'$.input' is invalid. Please check the API reference.")
        rows = self.vectors(texts, body.get("dimensions", 0))
        data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
        return {"object": "list", "data": data[::-1], "model": body["model"]}

    async def upload(self, request: Request) -> Any:
        content = extract_file(await request.body(), request.headers["content-type"])
        return {"id": self.jobs.keep(content, "file-"), "object": "file", "purpose": "batch"}

    async def create(self, request: Request) -> Any:
        body = await request.json()
        file = self.jobs.files.get(body["input_file_id"])
        if file is None or body["endpoint"] != "/v1/embeddings" or body["completion_window"] != "24h":
            raise Refusal(400, "The batch cannot be made of this.")
        if file.count(b"\n") > _LINES:
            raise Refusal(400, "This batch exceeds the maximum number of requests.")
        name = self.jobs.create(body["input_file_id"], "batch_")
        return {"id": name, "object": "batch", "status": "validating"}

    async def look(self, request: Request) -> Any:
        name = request.path_params["name"]
        if name not in self.jobs.jobs:
            raise Refusal(404, f"No batch found with id '{name}'.")
        job = self.jobs.look(name, self._success_line, openai_failure, "file-")
        errors = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}]}
        return {
            "id": name,
            "object": "batch",
            "status": _OPENAI_STATES.get(job.state, job.state),
            "errors": errors if job.state == "failed" else None,
            "input_file_id": job.input,
            "output_file_id": job.output or None,
            "error_file_id": job.errors or None,
        }

    async def cancel(self, request: Request) -> Any:
        self.jobs.cancel(request.path_params["name"])
        return {"id": request.path_params["name"], "status": "cancelling"}

    async def download(self, request: Request) -> Any:
        name = request.path_params["name"]
        if name not in self.jobs.files:
            raise Refusal(404, f"No such File object: {name}")
        return Response(self.jobs.files[name], media_type="application/octet-stream")

    async def delete(self, request: Request) -> Any:
        name = request.path_params["name"]
        return {"id": name, "deleted": self.jobs.files.pop(name, None) is not None}

    def _success_line(self, line: Any) -> Any:
        answer = {"status_code": 200, "body": self._embed_texts(line["body"])}
        return {
            "id": f"line_{line['custom_id']}",
            "custom_id": line["custom_id"],
            "response": answer,
            "error": None,
        }

    def read_key(self, request: Request) -> str:
        return read_bearer(request)

    def unknown_key(self) -> Refusal:
        return Refusal(401, "Incorrect API key provided.")

    def refusal_body(self, refusal: Refusal) -> Any:
        return {"error": {"message": refusal.message, "type": "invalid_request_error"}}


def openai_failure(line: Any) -> Any:
    answer = {"status_code": 400, "body": {"error": {"message": "This model's maximum length is reached."}}}
    return {"id": "line", "custom_id": line["custom_id"], "response": answer, "error": None}


class FakeGemini(FakeServer):
    def __init__(self, *, key: str = "", dimensions: int = _GEMINI_DIMENSIONS) -> None:
        super().__init__(key=key, dimensions=dimensions)
        self.jobs = FakeJobs()

    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        return [
            ("POST", "/v1beta/models/{model}:batchEmbedContents", self._embeddings),
            ("POST", "/v1beta/models/{model}:asyncBatchEmbedContent", self.create),
            ("POST", "/upload/v1beta/files", self.upload),
            ("GET", "/v1beta/batches/{name}", self.look),
            ("POST", "/v1beta/batches/{name}:cancel", self.cancel),
            ("GET", "/download/v1beta/files/{name}:download", self.download),
            ("DELETE", "/v1beta/files/{name}", self.delete),
        ]

    async def _embeddings(self, request: Request) -> Any:
        asked = (await request.json())["requests"]
        if len(asked) > _GEMINI_TEXTS:
            raise Refusal(
                400,
                f"BatchEmbedContentsRequest.requests: at most {_GEMINI_TEXTS} requests can be in one batch",
            )
        return {"embeddings": [self._embedding(each, request.path_params["model"]) for each in asked]}

    def _embedding(self, asked: Any, model: str) -> dict[str, Any]:
        if asked["model"] != f"models/{model}":
            raise Refusal(400, "Model in requests must match the model in the path.")
        if "embedding" not in model:
            raise Refusal(404, f"models/{model} is not found for API version v1beta.")
        wanted = asked.get("outputDimensionality", self.dimensions)
        if asked.get("taskType", "RETRIEVAL_QUERY") not in _TASKS or not 1 <= wanted <= _GEMINI_DIMENSIONS:
            raise Refusal(400, "Request contains an invalid argument.")
        text = "".join(part["text"] for part in asked["content"]["parts"])
        if not text:
            raise Refusal(400, "content is empty")
        (row,) = self.vectors([text], wanted)
        return {"values": [3 * value for value in row]}

    async def upload(self, request: Request) -> Any:
        content = extract_file(await request.body(), request.headers["content-type"])
        return {"file": {"name": self.jobs.keep(content, "files/in-"), "state": "ACTIVE"}}

    async def create(self, request: Request) -> Any:
        file = (await request.json())["batch"]["inputConfig"]["fileName"]
        if file not in self.jobs.files:
            raise Refusal(404, "Input file was not found")
        name = self.jobs.create(file, "batches/")
        return {"name": name, "metadata": {"state": "BATCH_STATE_PENDING"}}

    async def look(self, request: Request) -> Any:
        name = f"batches/{request.path_params['name']}"
        if name not in self.jobs.jobs:
            raise Refusal(404, "Requested entity was not found.")
        job = self.jobs.look(name, self._success_line, gemini_failure, "files/out-")
        state = f"BATCH_STATE_{_GEMINI_STATES.get(job.state, job.state.upper())}"
        status: dict[str, Any] = {
            "name": name,
            "metadata": {"state": state, "inputConfig": {"fileName": job.input}},
        }
        # Lines that failed are in the same file as the others.
        if job.errors:
            joined = self.jobs.files.pop(job.errors) + self.jobs.files.get(job.output, b"")
            job.errors, job.output = "", job.output or self.jobs.keep(b"", "files/out-")
            self.jobs.files[job.output] = joined
        if job.state in ("done", "expired"):
            status |= {"done": True, "response": {"responsesFile": job.output}}
        if job.state in ("failed", "expired", "cancelled"):
            status |= {"done": True, "error": {"code": 13, "message": f"The batch is {job.state}."}}
        return status

    async def cancel(self, request: Request) -> Any:
        self.jobs.cancel(f"batches/{request.path_params['name']}")
        return {}

    async def download(self, request: Request) -> Any:
        name = f"files/{request.path_params['name']}"
        if name not in self.jobs.files:
            raise Refusal(404, "Requested entity was not found.")
        return Response(self.jobs.files[name], media_type="application/jsonl")

    async def delete(self, request: Request) -> Any:
        self.jobs.files.pop(f"files/{request.path_params['name']}", None)
        return {}

    def _success_line(self, line: Any) -> Any:
        asked = line["request"]
        embedding = self._embedding(asked, asked["model"].removeprefix("models/"))
        return {"key": line["key"], "response": {"embedding": embedding}}

    def read_key(self, request: Request) -> str:
        return request.headers.get("x-goog-api-key", "")

    def unknown_key(self) -> Refusal:
        return Refusal(400, "API key not valid. Please pass a valid API key.")

    def refusal_body(self, refusal: Refusal) -> Any:
        status = _STATUS.get(refusal.status, "INTERNAL")
        return {"error": {"code": refusal.status, "message": refusal.message, "status": status}}


def gemini_failure(line: Any) -> Any:
    return {"key": line["key"], "error": {"code": 3, "message": "Request contains an invalid argument."}}


class FakeVoyage(FakeServer):
    """`most` texts with `tokens` in all go into one request."""

    most = 1_000
    tokens = 120_000

    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        return [("POST", "/v1/embeddings", self._embeddings)]

    async def _embeddings(self, request: Request) -> Any:
        body = await request.json()
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        if unknown := body.keys() - _VOYAGE_FIELDS:
            raise Refusal(400, f"Argument '{min(unknown)}' is not supported by our API.")
        if body.get("input_type") not in (None, "query", "document"):
            raise Refusal(400, "Value provided for input_type is invalid.")
        if not body["model"].startswith("voyage-"):
            raise Refusal(400, f"Model {body['model']} is not supported.")
        if not texts or len(texts) > self.most:
            raise Refusal(400, f"The batch size limit is {self.most}. Your batch size is {len(texts)}.")
        if not all(texts):
            raise Refusal(400, "Input cannot contain empty strings or empty lists.")
        used = sum(len(text) // 4 + 1 for text in texts)
        if used > self.tokens:
            raise Refusal(
                400, f"The max allowed tokens per submitted batch is {self.tokens}: yours has {used}."
            )
        wanted = body.get("output_dimension")
        if wanted is not None and wanted not in _VOYAGE_DIMENSIONS:
            raise Refusal(400, f"output_dimension {wanted} is not one of {_VOYAGE_DIMENSIONS}.")
        rows = self.vectors(texts, wanted or 0)
        data = [{"object": "embedding", "embedding": row, "index": place} for place, row in enumerate(rows)]
        return {"object": "list", "data": data[::-1], "model": body["model"], "usage": {"total_tokens": used}}

    def read_key(self, request: Request) -> str:
        return read_bearer(request)

    def unknown_key(self) -> Refusal:
        return Refusal(401, "Provided API key is invalid.")

    def refusal_body(self, refusal: Refusal) -> Any:
        return {"detail": refusal.message}
