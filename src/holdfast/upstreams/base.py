"""The protocol that every provider implements, the values it returns, and errors in servers' responses."""

import json
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from holdfast.errors import CutOff, HoldfastError, KeyRefused, ModelMissing, UpstreamError
from holdfast.i18n import lazy
from holdfast.messages import ChatRequest, Chunk, JsonObject, canonical
from holdfast.protocols.wire import classify_overflow, is_relayable, parse_server_payload
from holdfast.tokens.vocabulary import Vocabulary

Dialect = Literal["ollama", "openai"]
# What only some servers can do. `grammar`: accepts a grammar in llama.cpp's notation. `prefill`: reads a
# request and writes nothing when it is asked for no tokens. `continuation`: goes on with the answer that a
# request ends with.
Ability = Literal["grammar", "prefill", "continuation"]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a server reports about one of its models; None and empty values are not reported.

    `trained_window` is the model's maximum, `running_window` the current one, `default_num_ctx` that of its
    Modelfile. `capabilities` have Ollama's names; `raw` is the server's own record.
    """

    name: str
    family: str = ""
    parameter_size: str = ""
    quantization: str = ""
    size: int | None = None
    digest: str = ""
    modified_at: str = ""
    trained_window: int | None = None
    running_window: int | None = None
    default_num_ctx: int | None = None
    capabilities: tuple[str, ...] = ()
    raw: JsonObject = field(default_factory=dict)

    @property
    def can_chat(self) -> bool:
        """Whether it answers; False for models that only make embeddings.

        Where a server does not report what a model can do, its family and its name have to tell.
        """
        if self.capabilities:
            return "embedding" not in self.capabilities or "completion" in self.capabilities
        return "bert" not in self.family.lower() and "embed" not in self.name.lower()


@dataclass(frozen=True, slots=True)
class EmbeddingResponse:
    vectors: tuple[tuple[float, ...], ...]
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ForwardedResponse:
    """A server's response to a forwarded request, with unchanged bytes.

    Reading `stream` to its end closes it; otherwise call `close`.
    """

    status: int
    headers: Sequence[tuple[str, str]]
    stream: AsyncIterator[bytes]
    close: Callable[[], Awaitable[None]]


class Provider(Protocol):
    """One model server. All failures are raised as the errors in `errors`."""

    @property
    def name(self) -> str:
        """The kind of server: ollama, openai, llamacpp, lmstudio, embedded, scripted."""

    @property
    def location(self) -> str:
        """The address for display, without password."""

    @property
    def dialect(self) -> Dialect:
        """The wire format of its chunks."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can do beyond all others."""

    @property
    def paths(self) -> frozenset[str]:
        """The paths of the server's own API, for `forward`; one that ends in a slash includes all below."""

    def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        """Streams the answer. Closing the generator makes the server stop at once."""

    async def models(self) -> list[ModelInfo]: ...

    async def describe(self, model: str) -> ModelInfo:
        """Returns all that the server reports about a model; raises ModelMissing if it does not have it."""

    async def embed(self, model: str, texts: Sequence[str]) -> EmbeddingResponse: ...

    async def count(self, request: ChatRequest) -> int | None:
        """Returns the prompt tokens of `request` by the server's own count, None if it cannot count."""

    async def render(self, request: ChatRequest) -> str | None:
        """Returns a request rendered by the model's template, None if the server does not support it."""

    async def tokenize(self, model: str, text: str) -> list[int] | None:
        """Returns the tokens of plain text, None if the server does not support it."""

    async def detokenize(self, model: str, tokens: Sequence[int]) -> str | None:
        """Returns the text of tokens, None if the server does not support it."""

    async def vocabulary(self, model: str) -> Vocabulary | None:
        """Returns the model's vocabulary, None if the server does not publish it; raises VocabularyError."""

    async def forward(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | AsyncIterable[bytes] = b""
    ) -> ForwardedResponse:
        """Forwards a request unchanged and returns the response, whatever its status."""

    async def aclose(self) -> None: ...


def handles_path(provider: Provider, path: str) -> bool:
    """Whether `path` (without its query) is one of the provider's own."""
    return any(path.startswith(own) if own.endswith("/") else path == own for own in provider.paths)


def format_count(number: int) -> str:
    """Formats a number of parameters as Ollama does: 134.52M, 7.6B."""
    for size, digits, letter in ((10**9, 1, "B"), (10**6, 2, "M"), (10**3, 2, "K")):
        if number >= size:
            return f"{number / size:.{digits}f}{letter}"
    return str(number)


_HINTS = {
    429: lazy("The server has too much to do: try again later."),
    501: lazy("This server cannot do that."),
    503: lazy("The server may still be loading the model: try again in a moment."),
}


def error_from_response(
    status: int, content: bytes, *, where: str, model: str = "", retry_after: float | None = None
) -> HoldfastError:
    """Returns the error for a response with `status` and `content` to a request for `model`."""
    text = content.decode("utf-8", "replace")
    if overflow := classify_overflow(status, text):
        return overflow
    body = parse_error_body(text)
    message = find_error_message(body)
    if status == 404 and model and "model" in message.lower():
        return ModelMissing(model, hint=lazy("`holdfast models` lists what the server has."))
    if 300 <= status < 400:
        return UpstreamError(
            lazy("{where} sends requests elsewhere ({status}).", where=where, status=status),
            status=502,
            hint=lazy("Give the new address."),
        )
    detail = f": {message}" if message else "."
    if status in (401, 403):
        return KeyRefused(
            lazy(
                "The model server at {where} does not accept the key of Holdfast ({status}){detail}",
                where=where,
                status=status,
                detail=detail,
            ),
            status=status,
            body=body,
            hint=lazy("Set the right key in the settings of this server (upstream_key)."),
        )
    return UpstreamError(
        lazy("{where} refused the request ({status}){detail}", where=where, status=status, detail=detail),
        status=status,
        body=body,
        hint=_HINTS.get(status, ""),
        retry_after=retry_after,
    )


def error_from_payload(payload: JsonObject, *, where: str) -> HoldfastError:
    """Returns the error for a payload that came instead of the first chunk of an answer."""
    error = payload.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    # Without a status of its own it is a failure of the server behind us.
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    return error_from_response(status, canonical(payload).encode(), where=where)


def unreadable_response(where: str) -> UpstreamError:
    """Returns the error for a response that is not one of a model server."""
    return UpstreamError(
        lazy("{where} answered with something that is no answer of a model server.", where=where),
        status=502,
        hint=lazy("Check that the address is that of a model server."),
    )


def find_error_message(body: JsonObject | None) -> str:
    """Returns the message in a server's error body, in any of the known formats."""
    match body:
        case {"error": {"message": str(message)}} | {"error": str(message)} | {"message": str(message)}:
            return message
        case {"detail": str(message)}:
            return message
        case _:
            return ""


def parse_error_body(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class AnswerReader:
    """Reads the payloads of a streamed answer; a context manager around all of them.

    An answer is complete when the server gave a finish reason or its end mark; failures after that are
    ignored. `parse` makes the chunk of a payload, which it gets with its text if that may be relayed; `where`
    is the server's location.
    """

    def __init__(self, parse: Callable[[JsonObject, str], Chunk], *, where: str) -> None:
        self._parse = parse
        self._where = where
        self._started = self._ended = False

    def read(self, data: bytes | str) -> Chunk:
        """Returns the chunk in one payload of the stream."""
        try:
            text = data.decode() if isinstance(data, bytes) else data
        except UnicodeDecodeError:
            # As good as any other text that is not JSON.
            text = ""
        payload = parse_server_payload(text)
        if payload.get("error"):
            raise stream_error(payload, started=self._started, where=self._where)
        try:
            chunk = self._parse(payload, text if is_relayable(text) else "")
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            chunk = None
        if chunk is None or not _is_well_formed(chunk):
            raise CutOff(
                lazy("{where} sent something that is no part of an answer.", where=self._where),
                hint=lazy("Look at the model server's log."),
            )
        says = bool(chunk.text or chunk.thinking or chunk.calls)
        if self._ended and says:
            # The answer is over, and stored: what is said after its end nobody gets.
            chunk = Chunk(usage=chunk.usage)
        self._started = self._started or says
        self._ended = self._ended or chunk.finish is not None
        return chunk

    def end(self) -> Chunk | None:
        """Takes the server's end mark; returns the chunk that ends the answer if no other did."""
        ended, self._ended = self._ended, True
        return None if ended else Chunk(finish="stop")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None and not self._ended:
            raise CutOff(
                lazy("{where} stopped in the middle of its answer.", where=self._where),
                hint=lazy("Look at the model server's log."),
            )
        return self._ended and isinstance(error, CutOff)


def _is_well_formed(chunk: Chunk) -> bool:
    """Whether a chunk has text where text belongs, whatever the server put there."""
    text: Any = chunk.text
    thinking: Any = chunk.thinking
    if not chunk.calls:
        return isinstance(text, str) and isinstance(thinking, str)
    texts: list[Any] = [text, thinking]
    texts += [field for call in chunk.calls for field in (call.id, call.name, call.arguments)]
    numbers: list[Any] = [call.index for call in chunk.calls]
    return all(isinstance(text, str) for text in texts) and all(
        number is None or type(number) is int for number in numbers
    )


def stream_error(payload: JsonObject, *, started: bool, where: str) -> HoldfastError:
    """Returns the error for an error payload, depending on whether the answer had started."""
    if started:
        return CutOff(
            lazy(
                "{where} stopped in the middle of its answer: {why}",
                where=where,
                why=find_error_message(payload),
            )
        )
    return error_from_payload(payload, where=where)
