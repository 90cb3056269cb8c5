"""Vectors from hosted embedders: Gemini and Voyage AI, and batch jobs of Gemini and OpenAI.

Gemini and Voyage have different vectors for questions and texts. A batch job makes many vectors in the time
of the server, for less money. Jobs are noted in the store, so that they outlive the process that submitted
them; what a job does not bring is made the ordinary way.
"""

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.config import Settings
from holdfast.errors import EmbedderError
from holdfast.memory.embedder_http import EmbeddingClient, parse_rows
from holdfast.memory.embedders import (
    BatchApi,
    BatchJob,
    BatchJobGone,
    Embedder,
    EmbedderIdentity,
    ValidatedEmbedder,
    Vectors,
    dimensions_of,
    validate_vectors,
)
from holdfast.memory.vectors import VectorIndex
from holdfast.messages import canonical
from holdfast.store import Store
from holdfast.store.fulltext import SearchPlace
from holdfast.store.texts import piece_digest, split_pieces
from holdfast.store.values import new_id
from holdfast.upstreams.base import find_error_message

# It is called BATCH_STATE_… in some answers and JOB_STATE_… in others.
_GEMINI_FINAL_STATES = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")
_NAME = "holdfast"

GEMINI_MODEL = "gemini-embedding-001"
# Of the 3,072 the model has, the first 768 do nearly as well, in a quarter of the room.
DIMENSIONS = 768
GeminiTask = Literal["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
_GEMINI_HINTS = {
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
        if not status.get("done") and state not in _GEMINI_FINAL_STATES:
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
        cls, http: EmbeddingClient, prefix: str = "/v1beta", model: str = GEMINI_MODEL, dimensions: int = 0
    ) -> Self:
        """Asks for one vector, to check the key and the model."""
        opened = cls(http, prefix, (model or GEMINI_MODEL).removeprefix("models/"), dimensions or DIMENSIONS)
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
        match self._http.post(path, body, hints=_GEMINI_HINTS):
            case {"embeddings": list(items)} if all(isinstance(item, dict) for item in items):
                return [item.get("values") for item in items]
            case _:
                return None


VOYAGE_MODEL = "voyage-4"

VoyageInput = Literal["document", "query"]

_VOYAGE_HINTS = {
    400: "Check the model in `embedder_model` and the number in `embedder_dimensions`.",
    429: "The limit of requests or tokens a minute is reached: try again later.",
}


class VoyageEmbedder(ValidatedEmbedder):
    # A thousand texts are allowed, and for the largest models 120,000 tokens in all. Smaller requests are
    # answered sooner, and no writing has more tokens than characters, by much.
    batch = 128
    together = 80_000

    def __init__(
        self, http: EmbeddingClient, prefix: str, model: str, dimensions: int, chosen: int = 0
    ) -> None:
        """`chosen` is the number of dimensions to ask for; 0 leaves it to the model."""
        super().__init__(EmbedderIdentity("voyage", model, dimensions, http.url + prefix))
        self._http = http
        self._prefix = prefix
        self._chosen = chosen

    @classmethod
    def open(
        cls, http: EmbeddingClient, prefix: str = "/v1", model: str = VOYAGE_MODEL, dimensions: int = 0
    ) -> Self:
        """Asks for one vector, for only that tells how many dimensions there are."""
        model = model or VOYAGE_MODEL
        answer = cls(http, prefix, model, 0, dimensions)._ask(["?"], "query")
        opened = cls(http, prefix, model, dimensions_of(answer, dimensions), dimensions)
        validate_vectors(answer, 1, opened.identity)
        return opened

    def question(self, text: str) -> Vectors:
        return self._embed_parts([text], lambda texts: self._ask(texts, "query"))

    def close(self) -> None:
        self._http.close()

    def _vectors(self, texts: Sequence[str]) -> Any:
        return self._ask(texts, "document")

    def _ask(self, texts: Sequence[str], kind: VoyageInput) -> Any:
        body: dict[str, Any] = {
            "model": self.identity.model,
            "input": list(texts),
            "input_type": kind,
            "truncation": True,
        }
        if self._chosen:
            body["output_dimension"] = self._chosen
        return parse_rows(self._http.post(f"{self._prefix}/embeddings", body, hints=_VOYAGE_HINTS))


# Where the jobs are kept among the settings, and the lease of the process that looks after them.
_STATE_KEY, _LEASE = "embedder.batches", "embedding batches"
# Long enough to hand in a job over a slow line.
_SECONDS = 600.0
# Rows that are looked at for one job, and vectors that are kept in one step.
_ROWS, _TOGETHER = 4_000, 500
# After a job went wrong, vectors are made the ordinary way for so long.
_PAUSE = 3_600.0
_SLICE = 0.2

log = logging.getLogger("holdfast.memory")

_JSONL = "application/jsonl"
# What the answer calls the states in which nothing more will come.
_FINAL_STATES = ("completed", "failed", "expired", "cancelled")
_ENDPOINT = "/v1/embeddings"


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How jobs are used. Times are in seconds; fewer than `least` rows are not worth one, and it has at most
    `most` texts.

    With `wait`, who builds the index anew waits for the jobs. Others never do.
    """

    wait: bool = True
    poll: float = 30.0
    timeout: float = 24 * 3_600.0
    concurrency: int = 2
    least: int = 200
    most: int = 10_000


@dataclass(frozen=True, slots=True)
class _SubmittedJob:
    """A job: the embedder it is for, the rows it covers, and the digests of the texts in it."""

    id: str
    model: str
    rows: tuple[int, ...]
    names: tuple[str, ...]
    at: float


@dataclass(frozen=True, slots=True)
class _BatchState:
    """The stored state. The rows in `left` were in a job that did not bring their vectors."""

    jobs: tuple[_SubmittedJob, ...] = ()
    left: tuple[int, ...] = ()
    paused_until: float = 0.0
    trouble: str = ""

    @classmethod
    def of(cls, stored: dict[str, Any]) -> Self:
        jobs = tuple(
            _SubmittedJob(job["id"], job["model"], tuple(job["rows"]), tuple(job["names"]), job["at"])
            for job in stored["jobs"]
        )
        return cls(jobs, tuple(stored["left"]), stored["paused_until"], stored["trouble"])


class BatchEmbedder:
    """Makes vectors by batch jobs. `clock` returns seconds since the epoch."""

    def __init__(
        self,
        store: Store,
        options: BatchOptions,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.options = options
        self._store = store
        self._clock = clock
        self._sleep = sleep
        self._owner = new_id("b")
        self._looking = threading.Lock()
        self._next_look = float("-inf")

    def state(self, identity: EmbedderIdentity) -> dict[str, Any]:
        """How many jobs are under way with how many texts, and what went wrong with the last one."""
        state = self._load_state()
        ours = jobs_of(state, identity)
        return {
            "jobs": len(ours),
            "texts": sum(len(job.names) for job in ours),
            "trouble": state.trouble or None,
        }

    def due(self, identity: EmbedderIdentity) -> float | None:
        """In how many seconds the jobs should be looked at again; None if there are none."""
        return max(0.0, self._next_look - self._clock()) if jobs_of(self._load_state(), identity) else None

    def wait(self, identity: EmbedderIdentity, stop: Callable[[], bool]) -> bool:
        """Wait until the jobs should be looked at again; False if there is nothing to wait for."""
        if not self.options.wait or self.due(identity) is None:
            return False
        while not stop() and self._clock() < self._next_look:
            self._sleep(min(_SLICE, max(0.0, self._next_look - self._clock())))
        return not stop()

    def ordinary(
        self, index: VectorIndex, limit: int, places: Sequence[SearchPlace] | None, *, jobs: bool
    ) -> list[int]:
        """Rows whose vectors are made the ordinary way, because they are in no job.

        With `jobs`, rows that are worth another job are left out as well.
        """
        state = self._load_state()
        held = rows_in_jobs(state, index.identity)
        rows = [
            row
            for row in index.waiting(limit + self.options.least + len(held) + len(state.left), places)
            if row not in held
        ]
        left = set(state.left)
        many = sum(row not in left for row in rows) >= self.options.least
        if jobs and many and self._clock() >= state.paused_until:
            rows = [row for row in rows if row in left]
        return rows[:limit]

    def advance(self, embedder: Embedder, index: VectorIndex, places: Sequence[SearchPlace] | None) -> int:
        """Take in finished jobs and submit new ones, without waiting for anything.

        Returns how many rows got vectors; 0 while another thread or process is at it.
        """
        batches = embedder.batches
        if batches is None or self._clock() < self._next_look:
            return 0
        with self._alone() as alone:
            if not alone:
                return 0
            self._forget_old()
            done = sum(self._look(batches, job, index) for job in jobs_of(self._load_state(), index.identity))
            self._hand_in(batches, index, places)
            return done

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        if not self._looking.acquire(blocking=False):
            yield False
            return
        try:
            self._next_look = self._clock() + self.options.poll
            alone = self._store.leases.take(_LEASE, self._owner, _SECONDS)
            try:
                yield alone
            finally:
                if alone:
                    self._store.leases.release(_LEASE, self._owner)
        finally:
            self._looking.release()

    def _look(self, batches: BatchApi, job: _SubmittedJob, index: VectorIndex) -> int:
        late = self._clock() - job.at > self.options.timeout
        try:
            seen = batches.look(job.id)
            if seen.over:
                return self._take_in(batches, job, seen, index)
        except BatchJobGone:
            self._end_job(job, "the server does not know the batch job any more")
            return 0
        except EmbedderError as error:
            # It may be able to tell the next time: the job is not lost.
            log.warning("a batch job could not be looked at: %s", error)
        if late:
            with suppress(EmbedderError):
                batches.cancel(job.id)
            self._end_job(job, f"the batch job took longer than {self.options.timeout / 60:g} minutes")
        return 0

    def _take_in(self, batches: BatchApi, job: _SubmittedJob, seen: BatchJob, index: VectorIndex) -> int:
        why, rows = "", batches.rows(seen)
        while part := list(islice(rows, _TOGETHER)):
            vectors: dict[str, NDArray[np.float32]] = {}
            for name, row in part:
                try:
                    (vectors[name],) = validate_vectors([row], 1, index.identity)
                except EmbedderError as error:
                    why = error.message
            index.keep(vectors)
        waiting = set(index.waiting(index.coverage().missing))
        left = [row for row in job.rows if row in waiting]
        trouble = seen.trouble or ("" if len(left) < len(job.rows) else why or "no line of it was done")
        self._end_job(job, trouble, left)
        batches.tidy(seen)
        return len(job.rows) - len(left)

    def _end_job(self, job: _SubmittedJob, trouble: str, left: Sequence[int] = ()) -> None:
        state = self._load_state()
        state = replace(state, jobs=tuple(each for each in state.jobs if each.id != job.id), trouble=trouble)
        if trouble:
            log.warning("%s; its vectors are made the ordinary way", trouble)
            state = replace(state, paused_until=self._clock() + _PAUSE)
        elif left:
            log.warning("%s texts of a batch job failed; they are tried one by one", len(left))
            state = replace(state, left=(*state.left, *left))
        self._save_state(state)

    def _hand_in(self, batches: BatchApi, index: VectorIndex, places: Sequence[SearchPlace] | None) -> None:
        state = self._load_state()
        if state.left:
            waiting = set(index.waiting(index.coverage().missing))
            state = replace(state, left=tuple(row for row in state.left if row in waiting))
            self._save_state(state)
        while (
            len(jobs_of(state, index.identity)) < self.options.concurrency
            and self._clock() >= state.paused_until
        ):
            taken = rows_in_jobs(state, index.identity) | set(state.left)
            rows = [row for row in index.waiting(_ROWS + len(taken), places) if row not in taken]
            if len(rows) < self.options.least:
                return
            ours = jobs_of(state, index.identity)
            known = {name for job in ours for name in job.names}
            repeated, covered, texts = self._texts(
                rows[:_ROWS], index, known, min(batches.most, self.options.most)
            )
            if repeated:
                # A file was read anew: its rows are others now, and their words are in a job already.
                last = ours[-1]
                grown = replace(last, rows=(*last.rows, *repeated))
                state = replace(state, jobs=tuple(grown if each is last else each for each in state.jobs))
                self._save_state(state)
            if len(covered) < self.options.least:
                return
            try:
                name = batches.submit(texts)
            except EmbedderError as error:
                log.warning("no batch job could be handed in; vectors are made the ordinary way: %s", error)
                state = replace(state, paused_until=self._clock() + _PAUSE, trouble=str(error))
            else:
                job = _SubmittedJob(name, index.identity.key, tuple(covered), tuple(texts), self._clock())
                state = replace(state, jobs=(*state.jobs, job))
                log.info("a batch job with %s texts was handed in", len(texts))
            self._save_state(state)

    def _texts(
        self, rows: Sequence[int], index: VectorIndex, known: set[str], most: int
    ) -> tuple[list[int], list[int], dict[str, str]]:
        """Rows whose texts are all `known` to be in a job, rows for the next job, and its texts by digest."""
        texts = self._store.passages.texts(rows)
        cut = {
            row: {piece_digest(piece): piece for piece in split_pieces(texts[row])}
            for row in rows
            if row in texts
        }
        undone = index.undone({name for named in cut.values() for name in named}) - known
        repeated = [row for row, named in cut.items() if named.keys() & known and not named.keys() & undone]
        covered: list[int] = []
        wanted: dict[str, str] = {}
        for row, named in cut.items():
            new = {name: text for name, text in named.items() if name in undone}
            if wanted and len(wanted) + len(new) > most:
                break
            if new:
                covered.append(row)
                wanted.update(new)
        return repeated, covered, wanted

    def _forget_old(self) -> None:
        """Drop old jobs of embedders that are not used any more."""
        state, since = self._load_state(), self._clock() - 2 * self.options.timeout
        if any(job.at < since for job in state.jobs):
            self._save_state(replace(state, jobs=tuple(job for job in state.jobs if job.at >= since)))

    def _load_state(self) -> _BatchState:
        stored = self._store.settings.get(_STATE_KEY)
        return _BatchState() if stored is None else _BatchState.of(stored)

    def _save_state(self, state: _BatchState) -> None:
        self._store.settings.set(_STATE_KEY, asdict(state), self._clock())


def open_batches(store: Store, settings: Settings) -> BatchEmbedder:
    """A queue of batch jobs as the settings want it."""
    options = BatchOptions(
        settings.embedder_batch_wait,
        settings.embedder_batch_poll,
        60 * settings.embedder_batch_timeout,
        max(1, settings.embedder_batch_concurrency),
    )
    return BatchEmbedder(store, options)


def jobs_of(state: _BatchState, identity: EmbedderIdentity) -> list[_SubmittedJob]:
    return [job for job in state.jobs if job.model == identity.key]


def rows_in_jobs(state: _BatchState, identity: EmbedderIdentity) -> set[int]:
    return {row for job in jobs_of(state, identity) for row in job.rows}


def serialize_lines(values: Iterable[Any]) -> bytes:
    return "".join(f"{canonical(value)}\n" for value in values).encode()


def parse_lines(content: Iterable[str], where: str) -> Iterator[Any]:
    """Parse JSON lines that came from `where`."""
    for line in content:
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                raise EmbedderError(
                    f"{where} has a file of results with a line that is no JSON.",
                    hint="It is read again later; look at the job on the server if that goes on.",
                ) from None


def join_form(fields: Mapping[str, str], name: str, content: bytes) -> tuple[bytes, str]:
    """A multipart form with a file called `name`, and its content type."""
    parts = [
        (f'Content-Disposition: form-data; name="{field}"', value.encode()) for field, value in fields.items()
    ]
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: {_JSONL}'
    return join_parts([*parts, (head, content)], "form-data")


def join_related(about: Any, content: bytes) -> tuple[bytes, str]:
    """A multipart body of a file and its metadata, and its content type."""
    head = "Content-Type: application/json; charset=utf-8", canonical(about).encode()
    return join_parts([head, (f"Content-Type: {_JSONL}", content)], "related")


def join_parts(parts: Iterable[tuple[str, bytes]], kind: str) -> tuple[bytes, str]:
    border = secrets.token_hex(16)
    body = b"".join(f"--{border}\r\n{head}\r\n\r\n".encode() + content + b"\r\n" for head, content in parts)
    return body + f"--{border}--\r\n".encode(), f"multipart/{kind}; boundary={border}"


class OpenAIBatches:
    """OpenAI's batch jobs; `request` builds the request for one text."""

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
        body, kind = join_form({"purpose": "batch"}, "holdfast.jsonl", content)
        file = read_job_id(self._http.upload(f"{self._prefix}/files", body, kind))
        asked = {"input_file_id": file, "endpoint": _ENDPOINT, "completion_window": "24h"}
        try:
            return read_job_id(self._http.post(f"{self._prefix}/batches", asked, again=False))
        except EmbedderError:
            self.tidy(BatchJob(litter=(file,)))
            raise

    def look(self, job: str) -> BatchJob:
        answer = self._http.get(f"{self._prefix}/batches/{job}")
        status = answer if isinstance(answer, dict) else {}
        state = status.get("status")
        if state not in _FINAL_STATES:
            return BatchJob()
        files = {name: status.get(f"{name}_file_id") for name in ("input", "output", "error")}
        present = {name: file for name, file in files.items() if isinstance(file, str) and file}
        trouble = (
            ""
            if state == "completed"
            else f"the batch job is {state}{self._http.redact(_error_text(status))}"
        )
        # What failed is in the file of errors, which has no numbers in it.
        output = (present["output"],) if "output" in present else ()
        return BatchJob(over=True, trouble=trouble, output=output, litter=tuple(present.values()))

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
            # It may be gone already, and a failure has no consequence here.
            with suppress(EmbedderError):
                self._http.delete(f"{self._prefix}/files/{file}")


def read_job_id(answer: Any) -> str:
    match answer:
        case {"id": str(name)} if name:
            return name
        case _:
            raise EmbedderError("the server took a batch job and gave it no name.")


def _error_text(status: Mapping[str, Any]) -> str:
    match status.get("errors"):
        case {"data": [dict(first), *_]}:
            return f": {find_error_message(first) or json.dumps(first)}"
        case _:
            return ""
