"""OpenAI's batch jobs: a file of requests is handed in, and within a day there is a file of answers.

Knows the endpoints for files and batches, not what is asked in a line. Of a job that ended early, the lines
that were done are in its files all the same.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from holdfast.backends.jsonl import form_body, parse_lines, serialize_lines
from holdfast.errors import EmbedderError
from holdfast.memory.embedders.base import BatchJob
from holdfast.memory.embedders.http import EmbeddingClient
from holdfast.upstreams.base import find_error_message

# What the answer calls the states in which nothing more will come.
_FINAL_STATES = ("completed", "failed", "expired", "cancelled")
_ENDPOINT = "/v1/embeddings"


class OpenAIBatches:
    """`request` makes what is asked about one text."""

    most = 50_000

    def __init__(
        self, http: EmbeddingClient, prefix: str, request: Callable[[str], Mapping[str, Any]]
    ) -> None:
        self._http = http
        self._prefix = prefix
        self._request = request

    def submit(self, texts: Mapping[str, str]) -> str:
        content = serialize_lines(
            {"custom_id": name, "method": "POST", "url": _ENDPOINT, "body": self._request(text)}
            for name, text in texts.items()
        )
        body, kind = form_body({"purpose": "batch"}, "holdfast.jsonl", content)
        file = _job_id(self._http.upload(f"{self._prefix}/files", body, kind))
        asked = {"input_file_id": file, "endpoint": _ENDPOINT, "completion_window": "24h"}
        try:
            return _job_id(self._http.post(f"{self._prefix}/batches", asked, again=False))
        except EmbedderError:
            self.tidy(BatchJob(litter=(file,)))
            raise

    def look(self, job: str) -> BatchJob:
        answer = self._http.get(f"{self._prefix}/batches/{job}")
        told = answer if isinstance(answer, dict) else {}
        state = told.get("status")
        if state not in _FINAL_STATES:
            return BatchJob()
        files = {name: told.get(f"{name}_file_id") for name in ("input", "output", "error")}
        found = {name: file for name, file in files.items() if isinstance(file, str) and file}
        trouble = (
            "" if state == "completed" else f"the batch job is {state}{self._http.hidden(_error_text(told))}"
        )
        # What failed is in the file of errors, which has no numbers in it.
        output = (found["output"],) if "output" in found else ()
        return BatchJob(over=True, trouble=trouble, output=output, litter=tuple(found.values()))

    def rows(self, job: BatchJob) -> Iterator[tuple[str, Any]]:
        for file in job.output:
            for answer in parse_lines(
                self._http.lines(f"{self._prefix}/files/{file}/content"), self._http.url
            ):
                match answer:
                    case {
                        "custom_id": str(name),
                        "response": {"status_code": 200, "body": {"data": [{"embedding": row}]}},
                    }:
                        yield name, row

    def cancel(self, job: str) -> None:
        self._http.post(f"{self._prefix}/batches/{job}/cancel", {})

    def tidy(self, job: BatchJob) -> None:
        for file in job.litter:
            # It may be gone already; and nobody can do more about it than to try.
            with suppress(EmbedderError):
                self._http.delete(f"{self._prefix}/files/{file}")


def _job_id(answer: Any) -> str:
    match answer:
        case {"id": str(name)} if name:
            return name
        case _:
            raise EmbedderError("the server took a batch job and gave it no name.")


def _error_text(told: Mapping[str, Any]) -> str:
    match told.get("errors"):
        case {"data": [dict(first), *_]}:
            return f": {find_error_message(first) or json.dumps(first)}"
        case _:
            return ""
