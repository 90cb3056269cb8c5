"""Gemini's `batchEmbedContents`, its files and its batch jobs, with their limits.

Knows those endpoints. Rows have as many numbers as were asked for, and not the length one, as the real ones.
"""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from holdfast.memory.embedders.fakes.base import FakeServer, Handler, Refusal, extract_file
from holdfast.memory.embedders.fakes.jobs import FakeJobs

_GEMINI_TEXTS = 100
_GEMINI_DIMENSIONS = 3_072
_TASKS = {"RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY", "SEMANTIC_SIMILARITY"}
_STATUS = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
_GEMINI_STATES = {"running": "RUNNING", "done": "SUCCEEDED"}


class FakeGemini(FakeServer):
    def __init__(self, *, key: str = "", dimensions: int = _GEMINI_DIMENSIONS) -> None:
        super().__init__(key=key, dimensions=dimensions)
        self.jobs = FakeJobs()

    def _routes(self) -> Sequence[tuple[str, str, Handler]]:
        return [
            ("POST", "/v1beta/models/{model}:batchEmbedContents", self._embeddings),
            ("POST", "/v1beta/models/{model}:asyncBatchEmbedContent", self._create),
            ("POST", "/upload/v1beta/files", self._upload),
            ("GET", "/v1beta/batches/{name}", self._look),
            ("POST", "/v1beta/batches/{name}:cancel", self._cancel),
            ("GET", "/download/v1beta/files/{name}:download", self._download),
            ("DELETE", "/v1beta/files/{name}", self._delete),
        ]

    async def _embeddings(self, request: Request) -> Any:
        asked = (await request.json())["requests"]
        if len(asked) > _GEMINI_TEXTS:
            raise Refusal(
                400,
                f"BatchEmbedContentsRequest.requests: at most {_GEMINI_TEXTS} requests can be in one batch",
            )
        return {"embeddings": [self._embedding(one, request.path_params["model"]) for one in asked]}

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

    async def _upload(self, request: Request) -> Any:
        content = extract_file(await request.body(), request.headers["content-type"])
        return {"file": {"name": self.jobs.keep(content, "files/in-"), "state": "ACTIVE"}}

    async def _create(self, request: Request) -> Any:
        file = (await request.json())["batch"]["inputConfig"]["fileName"]
        if file not in self.jobs.files:
            raise Refusal(404, "Input file was not found")
        name = self.jobs.create(file, "batches/")
        return {"name": name, "metadata": {"state": "BATCH_STATE_PENDING"}}

    async def _look(self, request: Request) -> Any:
        name = f"batches/{request.path_params['name']}"
        if name not in self.jobs.jobs:
            raise Refusal(404, "Requested entity was not found.")
        job = self.jobs.look(name, self._done, _gemini_failure, "files/out-")
        state = f"BATCH_STATE_{_GEMINI_STATES.get(job.state, job.state.upper())}"
        told: dict[str, Any] = {
            "name": name,
            "metadata": {"state": state, "inputConfig": {"fileName": job.input}},
        }
        # Lines that failed are in the same file as the others.
        if job.errors:
            joined = self.jobs.files.pop(job.errors) + self.jobs.files.get(job.output, b"")
            job.errors, job.output = "", job.output or self.jobs.keep(b"", "files/out-")
            self.jobs.files[job.output] = joined
        if job.state in ("done", "expired"):
            told |= {"done": True, "response": {"responsesFile": job.output}}
        if job.state in ("failed", "expired", "cancelled"):
            told |= {"done": True, "error": {"code": 13, "message": f"The batch is {job.state}."}}
        return told

    async def _cancel(self, request: Request) -> Any:
        self.jobs.cancel(f"batches/{request.path_params['name']}")
        return {}

    async def _download(self, request: Request) -> Any:
        name = f"files/{request.path_params['name']}"
        if name not in self.jobs.files:
            raise Refusal(404, "Requested entity was not found.")
        return Response(self.jobs.files[name], media_type="application/jsonl")

    async def _delete(self, request: Request) -> Any:
        self.jobs.files.pop(f"files/{request.path_params['name']}", None)
        return {}

    def _done(self, line: Any) -> Any:
        asked = line["request"]
        embedding = self._embedding(asked, asked["model"].removeprefix("models/"))
        return {"key": line["key"], "response": {"embedding": embedding}}

    def _key_of(self, request: Request) -> str:
        return request.headers.get("x-goog-api-key", "")

    def _unknown_key(self) -> Refusal:
        return Refusal(400, "API key not valid. Please pass a valid API key.")

    def _refused(self, refusal: Refusal) -> Any:
        status = _STATUS.get(refusal.status, "INTERNAL")
        return {"error": {"code": refusal.status, "message": refusal.message, "status": status}}


def _gemini_failure(line: Any) -> Any:
    return {"key": line["key"], "error": {"code": 3, "message": "Request contains an invalid argument."}}
