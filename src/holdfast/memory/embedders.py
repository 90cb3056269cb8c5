"""What an embedder is, which prompts models want, and embedders over HTTP as Ollama and OpenAI have them.

Prompts are chosen by the model's name, as servers and files spell it: `nomic-embed-text:latest`,
`hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0`, `nomic-embed-text-v1.5.f16.gguf`. Models that were trained
with them find less without. Texts, keys and passwords appear neither in logs nor in errors.
"""

import hashlib
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Protocol, Self
from urllib.parse import unquote, urlsplit

import httpx
import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ConfigError, EmbedderError
from holdfast.extras import load_backend
from holdfast.i18n import lazy
from holdfast.messages import canonical
from holdfast.upstreams.base import find_error_message
from holdfast.upstreams.http import redact_url
from holdfast.upstreams.ollama import KeepAlive

Vectors = NDArray[np.float32]

PROMPTS_OFF = "off"
_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
# How the setting begins, and what stands between its two halves. A prompt may have a bar of its own.
_HALVES = re.compile(r"(?:^|\|)(query|text)=")
# Servers refuse a text of nothing or answer it with zeros. This stands for it, and means as little.
_NOTHING = "."


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Whose vectors these are. Only vectors of equal identity may be compared.

    `endpoint` is the server's address without any password; empty for what runs in a process of ours.
    `prompts` is what texts and questions are sent with: without it the same words have other vectors.
    """

    provider: str
    model: str
    dimensions: int
    endpoint: str = ""
    prompts: str = ""

    @property
    def key(self) -> str:
        """A short name for it, the same on every machine and in every version."""
        parts = astuple(self)
        # Vectors from before there were prompts are still those of a model that gets none.
        return hashlib.sha256(canonical(parts if self.prompts else parts[:-1]).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.model} ({self.endpoint or self.provider})"


class EmbedderBusy(EmbedderError):
    """The embedder cannot be asked at the moment: unreachable or overloaded. No text is to blame."""


class BatchJobGone(EmbedderError):
    """The server does not know the batch job."""


@dataclass(frozen=True, slots=True)
class BatchJob:
    """How far a job is that was handed in. `output` are the files with what came of it so far.

    `trouble` is why it ended without all of it; `litter` are the files that are of no use afterwards.
    """

    over: bool = False
    trouble: str = ""
    output: tuple[str, ...] = ()
    litter: tuple[str, ...] = ()


class BatchApi(Protocol):
    """A server's way of making many vectors in its own time, for less money than at once."""

    # Texts in one job.
    most: int

    def submit(self, texts: Mapping[str, str]) -> str:
        """Hand in texts, each by a name; the job is named by the answer. Nothing is tried twice."""

    def look(self, job: str) -> BatchJob:
        """How far it is. Gone if the server does not know it."""

    def rows(self, job: BatchJob) -> Iterator[tuple[str, Any]]:
        """The numbers for each text that has some, by its name, as they came."""

    def cancel(self, job: str) -> None:
        """It is not needed any more."""

    def tidy(self, job: BatchJob) -> None:
        """Take away its files, which have people's notes in them."""


class Embedder(Protocol):
    """May be used by several threads at once. Whatever goes wrong is an EmbedderError with its remedy."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    @property
    def batches(self) -> BatchApi | None:
        """Its way of doing many texts as one job, if it has one."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length one for each text, in their order: for what is kept and found."""

    def question(self, text: str) -> Vectors:
        """The row for what is asked. Some models make another one of it than of the same words in a text."""

    def rest(self) -> bool:
        """Release what the next text brings back, such as a process; returns whether there was anything."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class EmbeddingPrompts:
    """What goes before a question (`query`) and before a text that may answer it (`text`)."""

    query: str = ""
    text: str = ""

    def __str__(self) -> str:
        """As the setting writes it; empty where nothing is added. It tells prompts apart in an identity."""
        given = (("query", self.query), ("text", self.text))
        return "|".join(f"{name}={words}" for name, words in given if words).replace("\n", "\\n")


NO_PROMPTS = EmbeddingPrompts()

_SEARCH = EmbeddingPrompts(query="Represent this sentence for searching relevant passages: ")
_PREFIXES = EmbeddingPrompts("query: ", "passage: ")
_INSTRUCT = EmbeddingPrompts(f"{_TASK} ")

# What the models' cards say, the first that fits: a variant stands before its family.
_FAMILIES = tuple(
    (re.compile(rf"(?<![a-z0-9]){pattern}"), prompts)
    for pattern, prompts in (
        (r"nomic-embed-text|modernbert-embed", EmbeddingPrompts("search_query: ", "search_document: ")),
        (r"nomic-embed-code", EmbeddingPrompts("Represent this query for searching relevant code: ")),
        (r"e5-(?:[a-z0-9.]{1,20}-){0,6}instruct", _INSTRUCT),
        (r"e5-", _PREFIXES),
        (r"bge-(?:m3|multilingual|reranker|en-icl|code)", NO_PROMPTS),
        (r"bge-(?:[a-z]+-)?zh", EmbeddingPrompts("为这个句子生成表示以用于检索相关文章：")),
        (r"bge-", _SEARCH),
        (r"embedding-?gemma", EmbeddingPrompts("task: search result | query: ", "title: none | text: ")),
        # German and English; the others of the house are told what the sentence is for.
        (r"deepset-mxbai-embed-de", _PREFIXES),
        (r"mxbai-embed-(?:large|2d)", _SEARCH),
        (r"(?:snowflake-)?arctic-embed-?(?:2(?![0-9])|(?:[a-z]+-)?v2)", EmbeddingPrompts("query: ")),
        (r"(?:snowflake-)?arctic-embed", _SEARCH),
        # Without a space after the colon, unlike the others that are given an instruction.
        (r"qwen3-(?:vl-)?embedding", EmbeddingPrompts(_TASK)),
        (r"gte-qwen", _INSTRUCT),
        (r"jina-embeddings-v3", EmbeddingPrompts(
            "Represent the query for retrieving evidence documents: ",
            "Represent the document for retrieval: ",
        )),
        (r"jina-embeddings-v4", EmbeddingPrompts("Query: ", "Passage: ")),
        (r"jina-embeddings-v5", EmbeddingPrompts("Query: ", "Document: ")),
        (r"llama-(?:3\.2-)?(?:nv-embedqa|nemotron-embed)|nv-embedqa-e5", _PREFIXES),
    )
)  # fmt: skip


def prompts_for(*names: str) -> EmbeddingPrompts:
    """What the model with one of these names wants; nothing for one that is not known, or wants nothing."""
    for name in names:
        # The organisation before a name may be called like a family that the model is none of.
        plain = re.sub(r"[_\s]", "-", name.lower().rpartition("/")[2])
        for pattern, prompts in _FAMILIES:
            if pattern.search(plain):
                return prompts
    return NO_PROMPTS


def parse_prompts(setting: str, *names: str) -> EmbeddingPrompts:
    r"""What the setting says: `off`, or `query=…|text=…` with `\n` for a new line. Empty: by the names."""
    if not setting.strip():
        return prompts_for(*names)
    if setting.strip() == PROMPTS_OFF:
        return NO_PROMPTS
    halves = _HALVES.split(setting)
    given = dict(zip(halves[1::2], halves[2::2], strict=True))
    if halves[0].strip() or len(given) != len(halves) // 2:
        raise ConfigError(
            f"embedder_prompts is {setting!r}.",
            hint="Write off, or what goes before each, like query=search_query: |text=search_document: .",
        )
    return EmbeddingPrompts(**{name: words.replace("\\n", "\n") for name, words in given.items()})


class ValidatedEmbedder(ABC):
    """An embedder whose answers can be relied on: as many as asked for, all numbers, of length one.

    Of a text that is longer than `longest` characters, only its beginning is read. At most `batch` texts with
    `together` characters in all go out at once. `prompts` is what the model wants before each; the identity
    has it, too.
    """

    longest: int = 4_000
    batch: int = 16
    together: int = 1_000_000

    def __init__(self, identity: EmbedderIdentity, prompts: EmbeddingPrompts = NO_PROMPTS) -> None:
        self._identity = identity
        self._prompts = prompts

    @property
    def identity(self) -> EmbedderIdentity:
        return self._identity

    @property
    def batches(self) -> BatchApi | None:
        """No batch jobs by default."""
        return None

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._embed_parts(texts, self._vectors, self._prompts.text)

    def question(self, text: str) -> Vectors:
        return self._embed_parts([text], self._vectors, self._prompts.query)

    def rest(self) -> bool:
        """Nothing to release by default."""
        return False

    @abstractmethod
    def _vectors(self, texts: Sequence[str]) -> Any:
        """Rows of numbers for at most `batch` texts, as they came."""

    @abstractmethod
    def close(self) -> None: ...

    def _embed_parts(
        self, texts: Sequence[str], ask: Callable[[Sequence[str]], Any], prompt: str = ""
    ) -> Vectors:
        parts = [
            validate_vectors(ask(part), len(part), self._identity) for part in self._parts(texts, prompt)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self._identity.dimensions), np.float32)

    def _parts(self, texts: Sequence[str], prompt: str) -> Iterator[list[str]]:
        part: list[str] = []
        for text in (prompt + self._fit(text) for text in texts):
            full = len(part) == self.batch or sum(map(len, part)) + len(text) > self.together
            if part and full:
                yield part
                part = []
            part.append(text)
        if part:
            yield part

    def _fit(self, text: str) -> str:
        return prepare_text(text, self.longest)


def prepare_text(text: str, longest: int) -> str:
    """The beginning of a text, with nothing in it that cannot be sent, and never nothing at all."""
    return text[:longest].encode("utf-8", "replace").decode().strip() or _NOTHING


def validate_vectors(answer: Any, count: int, identity: EmbedderIdentity) -> Vectors:
    """The vectors in an answer, each brought to length one; EmbedderError if it is no good answer."""
    try:
        rows = np.asarray([] if answer is None else answer, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _bad_answer(identity, "something that is no table of numbers") from None
    if rows.ndim != 2 or rows.size == 0:
        raise _bad_answer(identity, "nothing" if rows.size == 0 else "something that is no table of numbers")
    if len(rows) != count:
        raise _bad_answer(identity, f"{len(rows)} vectors for {count} texts")
    if rows.shape[1] != identity.dimensions:
        raise EmbedderError(
            f"{identity} answered with {rows.shape[1]} dimensions in the place of {identity.dimensions}.",
            hint="The model behind this name has changed: start Holdfast anew, and the index is built again.",
        )
    if not np.isfinite(rows).all():
        raise _bad_answer(identity, "numbers that are none (NaN or infinite)")
    # By the largest number first: the square of a very small or very large one has no place in a float.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise _bad_answer(identity, "zeros")
    scaled = rows / largest
    unit: Vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    return unit


def dimensions_of(answer: Any, wanted: int = 0) -> int:
    """How long the first row of an answer is; 0 where there is none, which `validate_vectors` then refuses.

    `wanted` is how long it was to be.
    """
    match answer:
        case [list(row), *_]:
            if wanted and len(row) != wanted:
                raise EmbedderError(
                    f"the model makes vectors of {len(row)} dimensions, and {wanted} were asked for.",
                    hint="Leave the setting `embedder_dimensions` at 0, or give a number that the model has.",
                )
            return len(row)
        case _:
            return 0


def _bad_answer(identity: EmbedderIdentity, content: str) -> EmbedderError:
    where = "Look at the server's log, or name" if identity.endpoint else "Name"
    return EmbedderError(
        f"{identity} answered with {content}.",
        hint=f"{where} another embedding model in the settings `embedder` and `embedder_model`.",
    )


_JSON = "application/json"
_HIDDEN = "••••"
# Answers that mean "not now".
_BUSY = (429, 502, 503, 504)
# Of these the server itself says that it is not because of what was asked.
_NOT_NOW = (429, 503)
_LONGEST_PAUSE = 5.0
_PAUSE = 0.5
_SAID = 300

OLLAMA_MODEL = "nomic-embed-text"
OPENAI_MODEL = "text-embedding-3-small"
_HINTS = {404: "Check the model in the setting `embedder_model`, and the address in `embedder`."}


class EmbeddingClient:
    """HTTP client for one server. Broken connections are retried once, timeouts are not.

    `sleep` waits before the retry.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str = "",
        headers: Mapping[str, str] | None = None,
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = redact_url(url).rstrip("/")
        self._timeout = timeout
        self._sleep = sleep
        own = {**(headers or {}), **({"authorization": f"Bearer {key}"} if key else {})}
        for name, value in own.items():
            if not (name.isascii() and name.isprintable() and value.isascii() and value.isprintable()):
                raise ConfigError(
                    f"the key or a header for {self.url} has characters that HTTP cannot carry.",
                    hint="Look for a line break or a special character in it.",
                )
        parts = urlsplit(url)
        # Not in the address, for addresses are logged.
        login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        self._secrets = [secret for secret in (key, *(headers or {}).values(), *(login or ())[1:]) if secret]
        self._client = httpx.Client(
            headers=own,
            auth=login,
            trust_env=False,
            timeout=httpx.Timeout(timeout, connect=min(timeout, 5.0)),
            limits=httpx.Limits(keepalive_expiry=4.0),
        )

    def close(self) -> None:
        self._client.close()

    def get(self, path: str) -> Any:
        return self._request("GET", path, None, {})

    def post(
        self, path: str, body: Any, *, hints: Mapping[int, str] | None = None, again: bool = True
    ) -> Any:
        """Send `body` and return the answer. `hints` are remedies for certain statuses.

        Without `again` there is no retry, for requests that create something.
        """
        return self._request("POST", path, canonical(body).encode(), hints or {}, again=again)

    def upload(self, path: str, content: bytes, kind: str) -> Any:
        return self._request("POST", path, content, {}, kind=kind)

    def delete(self, path: str) -> None:
        response = self._send("DELETE", path, None)
        if not response.is_success:
            raise self._refusal(response, {})

    def lines(self, path: str) -> Iterator[str]:
        """Stream a file line by line: it may be larger than memory."""
        try:
            with self._client.stream("GET", self.url + path) as response:
                if not response.is_success:
                    response.read()
                    raise self._refusal(response, {})
                yield from response.iter_lines()
        except httpx.HTTPError as error:
            raise self._failure(error) from error

    def redact(self, text: str) -> str:
        """Shorten a server's message and hide keys and passwords in it."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text[:_SAID]

    def _request(
        self,
        method: str,
        path: str,
        content: bytes | None,
        hints: Mapping[int, str],
        *,
        kind: str = _JSON,
        again: bool = True,
    ) -> Any:
        response = self._send(method, path, content, kind, again=again)
        if not response.is_success:
            raise self._refusal(response, hints)
        try:
            return json.loads(response.content)
        except (ValueError, RecursionError):
            raise EmbedderError(
                f"{self.url} answered with something that is no JSON.",
                hint="Check that the address in the setting `embedder` is that of a server of embeddings.",
            ) from None

    def _send(
        self, method: str, path: str, content: bytes | None, kind: str = _JSON, *, again: bool = True
    ) -> httpx.Response:
        for last in (False, True) if again else (True,):
            if self._client.is_closed:
                raise EmbedderError(f"the connection to {self.url} is closed.")
            pause = _PAUSE
            try:
                response = self._client.request(
                    method, self.url + path, content=content, headers={"content-type": kind}
                )
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
                if last:
                    raise self._failure(error) from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise self._failure(error) from error
            else:
                if last or response.status_code not in _BUSY:
                    return response
                after = response.headers.get("retry-after", "")
                pause = min(float(after), _LONGEST_PAUSE) if after.isdecimal() else _PAUSE
            self._sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _failure(self, error: Exception) -> EmbedderError:
        match error:
            case httpx.InvalidURL() | httpx.UnsupportedProtocol():
                return EmbedderError(
                    f"{self.url} is no address of a server.", hint="Write it like http://127.0.0.1:11434."
                )
            case httpx.ConnectError() | httpx.ConnectTimeout():
                return EmbedderBusy(
                    f"no server of embeddings answers at {self.url}.",
                    hint="Start it, or check the address in the setting `embedder`.",
                )
            case httpx.TimeoutException():
                return EmbedderError(
                    f"{self.url} was silent for {self._timeout:g} seconds.",
                    hint="Look at the server's log, or raise `embedder_timeout` if it is just slow.",
                )
            case _:
                return EmbedderError(
                    lazy("{url} hung up without an answer.", url=self.url), hint="Look at the server's log."
                )

    def _refusal(self, response: httpx.Response, hints: Mapping[int, str]) -> EmbedderError:
        status = response.status_code
        if response.is_redirect:
            return EmbedderError(
                f"{self.url} sends requests elsewhere ({status}).", hint="Give the new address."
            )
        general = {
            401: "Check the setting `embedder_key`.",
            403: "Check the setting `embedder_key`.",
            404: "Check the address in the setting `embedder` and the model in `embedder_model`.",
            429: "The server has too much to do: try again later.",
            503: "The server may still be loading the model: try again in a moment.",
        }
        hint = hints.get(status) or general.get(status, "Look at the server's log.")
        error = EmbedderBusy if status in _NOT_NOW else BatchJobGone if status == 404 else EmbedderError
        return error(f"{self.url} refused ({status}){self._error_text(response)}", hint=hint)

    def _error_text(self, response: httpx.Response) -> str:
        """The server's message. Some servers repeat the rejected key in it."""
        try:
            body = json.loads(response.content)
        except (ValueError, RecursionError):
            return "."
        message = self.redact(find_error_message(body if isinstance(body, dict) else None))
        return f": {message}" if message else "."


class OllamaEmbedder(ValidatedEmbedder):
    def __init__(
        self,
        http: EmbeddingClient,
        model: str,
        dimensions: int,
        chosen: int = 0,
        prompts: EmbeddingPrompts = NO_PROMPTS,
        keep_alive: KeepAlive = None,
    ) -> None:
        """`chosen` is the number of dimensions to ask for; 0 leaves it to the model."""
        super().__init__(EmbedderIdentity("ollama", model, dimensions, http.url, str(prompts)), prompts)
        self._http = http
        self._chosen = chosen
        self._keep_alive = keep_alive

    @classmethod
    def open(
        cls,
        http: EmbeddingClient,
        model: str = OLLAMA_MODEL,
        dimensions: int = 0,
        prompts: EmbeddingPrompts = NO_PROMPTS,
        keep_alive: KeepAlive = None,
    ) -> Self:
        """Asks for one vector, for only that tells how many dimensions there are."""
        answer = cls(http, model, 0, dimensions, keep_alive=keep_alive)._vectors(["?"])
        opened = cls(http, model, dimensions_of(answer, dimensions), dimensions, prompts, keep_alive)
        validate_vectors(answer, 1, opened.identity)
        return opened

    def close(self) -> None:
        self._http.close()

    def _vectors(self, texts: Sequence[str]) -> Any:
        model = self.identity.model
        # The server cuts what is longer than the model's window, which only it knows.
        body: dict[str, Any] = {"model": model, "input": list(texts), "truncate": True}
        if self._chosen:
            body["dimensions"] = self._chosen
        if self._keep_alive is not None:
            body["keep_alive"] = self._keep_alive
        other = f"Is {model} an embedding model? `ollama pull {OLLAMA_MODEL}` fetches one."
        answer = self._http.post(
            "/api/embed",
            body,
            hints={404: f"`ollama pull {model}` fetches it.", 400: other, 500: other, 501: other},
        )
        return answer.get("embeddings") if isinstance(answer, dict) else None


class OpenAIEmbedder(ValidatedEmbedder):
    batch = 64

    def __init__(
        self,
        http: EmbeddingClient,
        prefix: str,
        model: str,
        dimensions: int,
        chosen: int = 0,
        prompts: EmbeddingPrompts = NO_PROMPTS,
    ) -> None:
        """`chosen` is the number of dimensions to ask for; 0 leaves it to the model."""
        super().__init__(
            EmbedderIdentity("openai", model, dimensions, http.url + prefix, str(prompts)), prompts
        )
        self._http = http
        self._prefix = prefix
        self._chosen = chosen

    @classmethod
    def open(
        cls,
        http: EmbeddingClient,
        prefix: str = "/v1",
        model: str = OPENAI_MODEL,
        dimensions: int = 0,
        prompts: EmbeddingPrompts = NO_PROMPTS,
    ) -> Self:
        """Asks for one vector, for only that tells how many dimensions there are."""
        answer = cls(http, prefix, model, 0, dimensions)._vectors(["?"])
        opened = cls(http, prefix, model, dimensions_of(answer, dimensions), dimensions, prompts)
        validate_vectors(answer, 1, opened.identity)
        return opened

    @property
    def batches(self) -> BatchApi:
        opened: BatchApi = load_backend("openai-batches")(
            self._http, self._prefix, lambda text: self.request([self._prompts.text + self._fit(text)])
        )
        return opened

    def close(self) -> None:
        self._http.close()

    def request(self, texts: Sequence[str]) -> dict[str, Any]:
        chosen = {"dimensions": self._chosen} if self._chosen else {}
        return {"model": self.identity.model, "input": list(texts), "encoding_format": "float", **chosen}

    def _vectors(self, texts: Sequence[str]) -> Any:
        return parse_rows(self._http.post(f"{self._prefix}/embeddings", self.request(texts), hints=_HINTS))


def parse_rows(answer: Any) -> Any:
    """The rows in an answer, in the order of the request."""
    match answer:
        case {"data": list(items)} if all(isinstance(item, dict) for item in items):
            # They may come in any order; a server that does not number them keeps ours.
            if all(isinstance(item.get("index"), int) for item in items):
                items = sorted(items, key=lambda item: item["index"])
            return [item.get("embedding") for item in items]
        case _:
            return None
