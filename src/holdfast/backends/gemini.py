"""Vectors from Google's Gemini API, at once or by batch jobs. Questions and texts have different vectors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Self

from holdfast.backends.embedding_batches import join_related, parse_lines, serialize_lines
from holdfast.errors import EmbedderError
from holdfast.memory.embedder_http import EmbeddingClient
from holdfast.memory.embedders import (
    BatchJob,
    EmbedderIdentity,
    ValidatedEmbedder,
    Vectors,
    dimensions_of,
    validate_vectors,
)
from holdfast.upstreams.base import find_error_message

# It is called BATCH_STATE_… in some answers and JOB_STATE_… in others.
_FINAL_STATES = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")
_NAME = "holdfast"

MODEL = "gemini-embedding-001"
# Of the 3,072 the model has, the first 768 do nearly as well, in a quarter of the room.
DIMENSIONS = 768
GeminiTask = Literal["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
_HINTS = {
    # Google says so of a wrong key, too.
    400: "Check the settings `embedder_key`, `embedder_model` and `embedder_dimensions`.",
    404: "Check the model in the setting `embedder_model`.",
    429: "The quota is used up for now: try again later, or raise it in Google's console.",
}


class GeminiBatches:
    """Gemini's batch jobs; `request` builds the request for one text."""

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
        body, kind = join_related(about, content)
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
        status = answer if isinstance(answer, dict) else {}
        about = _inner_object(status, "metadata")
        state = str(about.get("state", "")).rpartition("_STATE_")[2]
        if not status.get("done") and state not in _FINAL_STATES:
            return BatchJob()
        output = (_inner_object(status, "response") or _inner_object(about, "output")).get("responsesFile")
        files = (output,) if isinstance(output, str) else ()
        given = _inner_object(about, "inputConfig").get("fileName")
        litter = (*files, given) if isinstance(given, str) else files
        message = self._http.redact(find_error_message(status))
        trouble = (
            "" if files and not message else f"the batch job is {state.lower()}{message and f': {message}'}"
        )
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


def _inner_object(outer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = outer.get(name)
    return inner if isinstance(inner, dict) else {}


class GeminiEmbedder(ValidatedEmbedder):
    batch = 100
    # The model reads 2,048 tokens; no writing has more of them than characters, by much.
    longest = 2_000

    def __init__(self, http: EmbeddingClient, prefix: str, model: str, dimensions: int) -> None:
        super().__init__(EmbedderIdentity("gemini", model, dimensions, http.url + prefix))
        self._http = http
        self._prefix = prefix

    @classmethod
    def open(
        cls, http: EmbeddingClient, prefix: str = "/v1beta", model: str = MODEL, dimensions: int = 0
    ) -> Self:
        """Asks for one vector, to check the key and the model."""
        opened = cls(http, prefix, (model or MODEL).removeprefix("models/"), dimensions or DIMENSIONS)
        answer = opened._ask(["?"], "RETRIEVAL_QUERY")
        given = dimensions_of(answer, dimensions)
        # A model that leaves no choice has the number that it has.
        opened = cls(http, prefix, opened.identity.model, given)
        validate_vectors(answer, 1, opened.identity)
        return opened

    @property
    def batches(self) -> GeminiBatches:
        return GeminiBatches(self._http, self._prefix, self.identity.model, self.request)

    def question(self, text: str) -> Vectors:
        return self._embed_parts([text], lambda texts: self._ask(texts, "RETRIEVAL_QUERY"))

    def close(self) -> None:
        self._http.close()

    def request(self, text: str, task: GeminiTask = "RETRIEVAL_DOCUMENT") -> dict[str, Any]:
        """What is asked about one text."""
        return {
            "model": f"models/{self.identity.model}",
            "content": {"parts": [{"text": self._fit(text)}]},
            "taskType": task,
            "outputDimensionality": self.identity.dimensions,
        }

    def _vectors(self, texts: Sequence[str]) -> Any:
        return self._ask(texts, "RETRIEVAL_DOCUMENT")

    def _ask(self, texts: Sequence[str], task: GeminiTask) -> Any:
        path = f"{self._prefix}/models/{self.identity.model}:batchEmbedContents"
        body = {"requests": [self.request(text, task) for text in texts]}
        match self._http.post(path, body, hints=_HINTS):
            case {"embeddings": list(items)} if all(isinstance(item, dict) for item in items):
                return [item.get("values") for item in items]
            case _:
                return None
