"""What a model server is to the rest of Holdfast: a protocol, and the values its methods return.

Knows no server and no wire format.
"""

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
from typing import Literal, Protocol

from holdfast.messages import ChatRequest, Chunk, JsonObject
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
