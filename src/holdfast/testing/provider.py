"""A provider that gives scripted answers, and a way to serve an ASGI app on loopback.

An answer is a text, or the steps of one: texts, `Thinking`, `ToolCall`, whole chunks, an `asyncio.Event` to
wait for, an error to end with. It never waits for a clock.
"""

import asyncio
import re
import socket
import threading
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import Future
from contextlib import contextmanager
from string import ascii_lowercase
from typing import Any

import uvicorn

from holdfast.errors import HoldfastError, ModelMissing, UpstreamError
from holdfast.messages import CallPiece, ChatRequest, Chunk, Thinking, ToolCall, Usage
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.base import Ability, Dialect, EmbeddingResponse, ForwardedResponse, ModelInfo

Step = str | Thinking | ToolCall | Chunk | asyncio.Event | HoldfastError
Script = str | HoldfastError | Sequence[Step]
# An answer may also be made from the request it is for.
Scripted = Script | Callable[[ChatRequest], Script]

_WORD = re.compile(r"\s*\S+\s*$|\s*\S+|\s+")


def count_words(text: str) -> int:
    return len(text.split())


class ScriptedProvider:
    """Gives `answers` one after the other, then `fallback` for ever; `requests` is what it was asked."""

    name = "scripted"
    dialect: Dialect = "openai"
    abilities: frozenset[Ability] = frozenset()
    location = "scripted:"
    paths: frozenset[str] = frozenset()

    def __init__(
        self,
        answers: Iterable[Scripted] = (),
        *,
        fallback: Scripted = "Yes.",
        models: Sequence[ModelInfo] = (ModelInfo("scripted", running_window=8192),),
        count: Callable[[str], int] = count_words,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self.requests: list[ChatRequest] = []
        # How many answers were given up before their end.
        self.aborted = 0
        self._answers = deque(answers)
        self._fallback = fallback
        self._models = list(models)
        self._count = count
        self._vocabulary = vocabulary

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        self._find_model(request.model)
        scripted = self._answers.popleft() if self._answers else self._fallback
        script = scripted(request) if callable(scripted) else scripted
        count, called, ended = 0, False, False
        try:
            for step in [script] if isinstance(script, str | HoldfastError) else script:
                if isinstance(step, HoldfastError):
                    raise step
                if isinstance(step, asyncio.Event):
                    await step.wait()
                    continue
                for chunk in split_step(step):
                    count += 1
                    called = called or bool(chunk.calls)
                    ended = ended or chunk.finish is not None
                    yield chunk
        except (GeneratorExit, asyncio.CancelledError):
            self.aborted += 1
            raise
        if not ended:
            usage = Usage(prompt=self._prompt_tokens(request), completion=count)
            yield Chunk(finish="tool_calls" if called else "stop", usage=usage)

    async def models(self) -> list[ModelInfo]:
        return list(self._models)

    async def describe(self, model: str) -> ModelInfo:
        return self._find_model(model)

    async def embed(self, model: str, texts: Sequence[str]) -> EmbeddingResponse:
        """Counts of letters: the same text always has the same vector, and similar ones have similar ones."""
        self._find_model(model)
        vectors = (tuple(float(text.lower().count(letter)) for letter in ascii_lowercase) for text in texts)
        return EmbeddingResponse(tuple(vectors), sum(map(self._count, texts)))

    async def count(self, request: ChatRequest) -> int | None:
        return self._prompt_tokens(request)

    async def render(self, request: ChatRequest) -> str | None:
        self._find_model(request.model)
        return None

    async def tokenize(self, model: str, text: str) -> list[int] | None:
        self._find_model(model)
        del text
        return None

    async def detokenize(self, model: str, tokens: Sequence[int]) -> str | None:
        self._find_model(model)
        del tokens
        return None

    async def vocabulary(self, model: str) -> Vocabulary | None:
        self._find_model(model)
        return self._vocabulary

    async def forward(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | AsyncIterable[bytes] = b""
    ) -> ForwardedResponse:
        del headers, body
        raise UpstreamError(f"the scripted provider has no {method} {path}.", status=404)

    async def aclose(self) -> None:
        pass

    def _find_model(self, model: str) -> ModelInfo:
        for info in self._models:
            if info.name == model:
                return info
        raise ModelMissing(model)

    def _prompt_tokens(self, request: ChatRequest) -> int:
        return sum(self._count(message.text) for message in request.messages)


def split_step(step: str | Thinking | ToolCall | Chunk) -> Iterable[Chunk]:
    match step:
        case str():
            return [Chunk(text=word) for word in _WORD.findall(step)]
        case Thinking():
            return [Chunk(thinking=word) for word in _WORD.findall(step.text)]
        case ToolCall():
            return [Chunk(calls=(CallPiece(id=step.id, name=step.name, arguments=step.arguments),))]
        case Chunk():
            return [step]


class _ThreadServer(uvicorn.Server):
    """Ends as soon as it is told to: uvicorn looks every tenth of a second, and waits for another."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stopped: Future[None] = Future()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await asyncio.wrap_future(self._stopped)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        # No client is connected that would need time to leave.
        for server in self.servers:
            server.close()
        await self.lifespan.shutdown()

    def end(self) -> None:
        self.should_exit = True
        self._stopped.set_result(None)


@contextmanager
def serve_app(app: Any, config: uvicorn.Config | None = None) -> Iterator[str]:
    """The address of `app` while the context lasts, served as `config` says, if there is one.

    Open connections are cut at its end.
    """
    # Named by its protocol, or asyncio does not recognise TCP and leaves Nagle's delay of 40 ms switched on.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    config = config or uvicorn.Config(
        app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=1
    )
    server = _ThreadServer(config)
    # The socket listens already, so a client that is faster than the thread just waits a little.
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        host, port = listener.getsockname()
        yield f"http://{host}:{port}"
    finally:
        server.end()
        thread.join()
        listener.close()
