"""OpenAI's `/v1/embeddings`, its files and its batch jobs, with their limits.

Knows those endpoints.
"""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from holdfast.memory.embedders.fakes.base import FakeServer, Handler, Refusal, extract_file, read_bearer
from holdfast.memory.embedders.fakes.jobs import FakeJobs

_OPENAI_TEXTS = 2_048
_LINES = 50_000
_OPENAI_STATES = {"running": "in_progress", "done": "completed"}


class FakeOpenAI(FakeServer):
    def __init__(self, *, key: str = "", dimensions: int = 64) -> None:
        super().__init__(key=key, dimensions=dimensions)
        self.jobs = FakeJobs()

    def _routes(self) -> Sequence[tuple[str, str, Handler]]:
        return [
            ("POST", "/v1/embeddings", self._embeddings),
            ("POST", "/v1/files", self._upload),
            ("GET", "/v1/files/{name}/content", self._download),
            ("DELETE", "/v1/files/{name}", self._delete),
            ("POST", "/v1/batches", self._create),
            ("GET", "/v1/batches/{name}", self._look),
            ("POST", "/v1/batches/{name}/cancel", self._cancel),
        ]

    async def _embeddings(self, request: Request) -> Any:
        return self._embedded(await request.json())

    def _embedded(self, body: Any) -> dict[str, Any]:
        texts = body["input"]
        if not texts or len(texts) > _OPENAI_TEXTS or not all(texts):
            raise Refusal(400, "'$.input' is invalid. Please check the API reference.")
        rows = self.vectors(texts, body.get("dimensions", 0))
        data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
        return {"object": "list", "data": data[::-1], "model": body["model"]}

    async def _upload(self, request: Request) -> Any:
        content = extract_file(await request.body(), request.headers["content-type"])
        return {"id": self.jobs.keep(content, "file-"), "object": "file", "purpose": "batch"}

    async def _create(self, request: Request) -> Any:
        body = await request.json()
        file = self.jobs.files.get(body["input_file_id"])
        if file is None or body["endpoint"] != "/v1/embeddings" or body["completion_window"] != "24h":
            raise Refusal(400, "The batch cannot be made of this.")
        if file.count(b"\n") > _LINES:
            raise Refusal(400, "This batch exceeds the maximum number of requests.")
        name = self.jobs.create(body["input_file_id"], "batch_")
        return {"id": name, "object": "batch", "status": "validating"}

    async def _look(self, request: Request) -> Any:
        name = request.path_params["name"]
        if name not in self.jobs.jobs:
            raise Refusal(404, f"No batch found with id '{name}'.")
        job = self.jobs.look(name, self._done, _openai_failure, "file-")
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

    async def _cancel(self, request: Request) -> Any:
        self.jobs.cancel(request.path_params["name"])
        return {"id": request.path_params["name"], "status": "cancelling"}

    async def _download(self, request: Request) -> Any:
        name = request.path_params["name"]
        if name not in self.jobs.files:
            raise Refusal(404, f"No such File object: {name}")
        return Response(self.jobs.files[name], media_type="application/octet-stream")

    async def _delete(self, request: Request) -> Any:
        name = request.path_params["name"]
        return {"id": name, "deleted": self.jobs.files.pop(name, None) is not None}

    def _done(self, line: Any) -> Any:
        answer = {"status_code": 200, "body": self._embedded(line["body"])}
        return {
            "id": f"line_{line['custom_id']}",
            "custom_id": line["custom_id"],
            "response": answer,
            "error": None,
        }

    def _key_of(self, request: Request) -> str:
        return read_bearer(request)

    def _unknown_key(self) -> Refusal:
        return Refusal(401, "Incorrect API key provided.")

    def _refused(self, refusal: Refusal) -> Any:
        return {"error": {"message": refusal.message, "type": "invalid_request_error"}}


def _openai_failure(line: Any) -> Any:
    answer = {"status_code": 400, "body": {"error": {"message": "This model's maximum length is reached."}}}
    return {"id": "line", "custom_id": line["custom_id"], "response": answer, "error": None}
