"""Embedders over HTTP: a client, and the protocols of Ollama (`/api/embed`) and OpenAI (`/v1/embeddings`).

Texts, keys and passwords appear neither in logs nor in errors.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import httpx

from holdfast.errors import ConfigError, EmbedderError
from holdfast.extras import load_backend
from holdfast.i18n import lazy
from holdfast.memory.embedders import (
    NO_PROMPTS,
    BatchApi,
    BatchJobGone,
    EmbedderBusy,
    EmbedderIdentity,
    EmbeddingPrompts,
    ValidatedEmbedder,
    dimensions_of,
    validate_vectors,
)
from holdfast.messages import canonical
from holdfast.upstreams.base import find_error_message
from holdfast.upstreams.http import redact_url
from holdfast.upstreams.ollama import KeepAlive

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
