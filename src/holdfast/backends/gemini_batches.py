"""Gemini's batch jobs: a file of requests is handed in, and within a day there is a file of answers.

Knows the endpoints for files and batches, not what is asked in a line.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from holdfast.backends.jsonl import parse_lines, related_body, serialize_lines
from holdfast.errors import EmbedderError
from holdfast.memory.embedders.base import BatchJob
from holdfast.memory.embedders.http import EmbeddingClient
from holdfast.upstreams.base import find_error_message

# It is called BATCH_STATE_… in some answers and JOB_STATE_… in others.
_FINAL_STATES = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")
_NAME = "holdfast"


class GeminiBatches:
    """`request` makes what is asked about one text."""

    most = 50_000

    def __init__(
        self, http: EmbeddingClient, prefix: str, model: str, request: Callable[[str], Mapping[str, Any]]
    ) -> None:
        self._http = http
        self._prefix = prefix
        self._model = model
        self._request = request

    def submit(self, texts: Mapping[str, str]) -> str:
        content = serialize_lines(
            {"key": name, "request": self._request(text)} for name, text in texts.items()
        )
        about = {"file": {"displayName": _NAME, "mimeType": "application/jsonl"}}
        body, kind = related_body(about, content)
        path = f"/upload{self._prefix}/files?uploadType=multipart"
        file = _job_name(self._http.upload(path, body, kind), "file")
        asked = {"batch": {"displayName": _NAME, "inputConfig": {"fileName": file}}}
        path = f"{self._prefix}/models/{self._model}:asyncBatchEmbedContent"
        try:
            return _job_name(self._http.post(path, asked, again=False))
        except EmbedderError:
            self.tidy(BatchJob(litter=(file,)))
            raise

    def look(self, job: str) -> BatchJob:
        answer = self._http.get(f"{self._prefix}/{job}")
        told = answer if isinstance(answer, dict) else {}
        about = _inner_object(told, "metadata")
        state = str(about.get("state", "")).rpartition("_STATE_")[2]
        if not told.get("done") and state not in _FINAL_STATES:
            return BatchJob()
        output = (_inner_object(told, "response") or _inner_object(about, "output")).get("responsesFile")
        files = (output,) if isinstance(output, str) else ()
        given = _inner_object(about, "inputConfig").get("fileName")
        litter = (*files, given) if isinstance(given, str) else files
        said = self._http.hidden(find_error_message(told))
        trouble = "" if files and not said else f"the batch job is {state.lower()}{said and f': {said}'}"
        return BatchJob(over=True, trouble=trouble, output=files, litter=litter)

    def rows(self, job: BatchJob) -> Iterator[tuple[str, Any]]:
        for file in job.output:
            content = self._http.lines(f"/download{self._prefix}/{file}:download?alt=media")
            for answer in parse_lines(content, self._http.url):
                match answer:
                    case {"key": str(name), "response": {"embedding": {"values": row}}}:
                        yield name, row

    def cancel(self, job: str) -> None:
        self._http.post(f"{self._prefix}/{job}:cancel", {})

    def tidy(self, job: BatchJob) -> None:
        for file in job.litter:
            # It may be gone already; Google takes all files away after two days.
            with suppress(EmbedderError):
                self._http.delete(f"{self._prefix}/{file}")


def _job_name(answer: Any, within: str = "") -> str:
    name = (
        (_inner_object(answer, within) if within else answer).get("name")
        if isinstance(answer, dict)
        else None
    )
    if not isinstance(name, str) or not name:
        raise EmbedderError("the server took a batch job and gave it no name.")
    return name


def _inner_object(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = told.get(name)
    return found if isinstance(found, dict) else {}
