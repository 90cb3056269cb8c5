"""What a model server is to the rest of Holdfast: a protocol, and the values its methods return.

Knows no server and no wire format.
"""

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
from typing import Any, Literal, Protocol

from holdfast.errors import CutOff, HoldfastError, ModelMissing, UpstreamError
from holdfast.messages import ChatRequest, Chunk, JsonObject, canonical
from holdfast.protocols.wire import classify_overflow
from holdfast.tokens.vocabulary import Vocabulary

Dialect = Literal["ollama", "openai"]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a server says about one of its models. None and empty mean that it did not say.

    `trained_window` is what the model can do, `running_window` what is in force now, `default_num_ctx` what
    its Modelfile asks for. `capabilities` are in Ollama's words; `raw` is the server's own record.
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


@dataclass(frozen=True, slots=True)
class EmbeddingResponse:
    vectors: tuple[tuple[float, ...], ...]
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ForwardedResponse:
    """A server's answer to a request that was only passed on, its bytes as they were sent.

    Reading `stream` to its end closes it; whoever stops earlier, or never starts, calls `close`.
    """

    status: int
    headers: Sequence[tuple[str, str]]
    stream: AsyncIterator[bytes]
    close: Callable[[], Awaitable[None]]


class Provider(Protocol):
    """One model server. Failures are the ones in `errors`, whatever went wrong underneath."""

    @property
    def name(self) -> str:
        """The kind of server: ollama, openai, llamacpp, lmstudio, embedded, scripted."""

    @property
    def location(self) -> str:
        """Where it is, fit to be shown: without any password."""

    @property
    def dialect(self) -> Dialect:
        """The wire format of its chunks."""

    @property
    def paths(self) -> frozenset[str]:
        """The paths it answers itself, for `forward`; one that ends in a slash stands for all below it."""

    def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        """The answer as it comes. Closing the generator makes the server stop at once."""

    async def models(self) -> list[ModelInfo]: ...

    async def describe(self, model: str) -> ModelInfo:
        """All that is known of one model; ModelMissing if the server does not have it."""

    async def embed(self, model: str, texts: Sequence[str]) -> EmbeddingResponse: ...

    async def count(self, request: ChatRequest) -> int | None:
        """The prompt tokens of `request` by the server's own count, None if it cannot count."""

    async def render(self, request: ChatRequest) -> str | None:
        """The text that the model's template makes of a request, None if the server does not show it."""

    async def tokenize(self, model: str, text: str) -> list[int] | None:
        """The tokens of plain text, None if the server does not cut texts for others."""

    async def detokenize(self, model: str, tokens: Sequence[int]) -> str | None:
        """The text of tokens, None as above."""

    async def vocabulary(self, model: str) -> Vocabulary | None:
        """The model's own vocabulary, None if the server keeps it; VocabularyError if it cannot be used."""

    async def forward(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | AsyncIterable[bytes] = b""
    ) -> ForwardedResponse:
        """Passes a request on unchanged and the answer back, whatever its status."""

    async def aclose(self) -> None: ...


def handles_path(provider: Provider, path: str) -> bool:
    """Whether `path` (without its query) is one of the provider's own."""
    return any(path.startswith(own) if own.endswith("/") else path == own for own in provider.paths)


def format_count(number: int) -> str:
    """A number of parameters the way Ollama writes it: 134.52M, 7.6B."""
    for size, digits, letter in ((10**9, 1, "B"), (10**6, 2, "M"), (10**3, 2, "K")):
        if number >= size:
            return f"{number / size:.{digits}f}{letter}"
    return str(number)


_HINTS = {
    401: "Check the key for this server.",
    403: "Check the key for this server.",
    429: "The server has too much to do: try again later.",
    501: "This server cannot do that.",
    503: "The server may still be loading the model: try again in a moment.",
}


def error_from_response(
    status: int, content: bytes, *, where: str, model: str = "", retry_after: float | None = None
) -> HoldfastError:
    """The error for an answer with `status` and `content`, to a request for `model` if it named one."""
    text = content.decode("utf-8", "replace")
    if overflow := classify_overflow(status, text):
        return overflow
    body = parse_error_body(text)
    said = find_error_message(body)
    if status == 404 and model and "model" in said.lower():
        return ModelMissing(model, hint="`holdfast models` lists what the server has.")
    if 300 <= status < 400:
        return UpstreamError(
            f"{where} sends requests elsewhere ({status}).", status=502, hint="Give the new address."
        )
    told = f": {said}" if said else "."
    return UpstreamError(
        f"{where} refused the request ({status}){told}",
        status=status,
        body=body,
        hint=_HINTS.get(status, ""),
        retry_after=retry_after,
    )


def error_from_payload(payload: JsonObject, *, where: str) -> HoldfastError:
    """The error for a payload that came instead of the first piece of an answer."""
    error = payload.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    return error_from_response(status, canonical(payload).encode(), where=where)


def unreadable_response(where: str) -> UpstreamError:
    return UpstreamError(
        f"{where} answered with something that is no answer of a model server.",
        status=502,
        hint="Check that the address is that of a model server.",
    )


def find_error_message(body: JsonObject | None) -> str:
    """The sentence in a server's error, whichever way it wraps it."""
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
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


async def iter_chunks(
    payloads: AsyncIterator[JsonObject | None], read: Callable[[JsonObject], Chunk], *, where: str
) -> AsyncIterator[Chunk]:
    """Reads each payload; None is the server's own mark for the end.

    An answer is whole when the server gave a reason for ending or its end mark. What breaks after that broke
    nothing.
    """
    begun = ended = False
    try:
        async for payload in payloads:
            if payload is None:
                if not ended:
                    yield Chunk(finish="stop")
                return
            if payload.get("error"):
                raise stream_error(payload, begun=begun, where=where)
            chunk = read(payload)
            begun = begun or bool(chunk.text or chunk.thinking or chunk.calls)
            ended = ended or chunk.finish is not None
            yield chunk
    except CutOff:
        if not ended:
            raise
    if not ended:
        raise CutOff(f"{where} stopped in the middle of its answer.", hint="Look at the model server's log.")


def stream_error(payload: JsonObject, *, begun: bool, where: str) -> HoldfastError:
    if begun:
        return CutOff(f"{where} stopped in the middle of its answer: {find_error_message(payload)}")
    return error_from_payload(payload, where=where)
