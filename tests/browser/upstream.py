"""A model server for the browser tests: it says what a test tells it to, and word by word if need be."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from holdfast.testing.provider import serve_app
from tests.fakes.ollama import FakeOllama
from tests.fakes.ollama_runner import FakeModel, FakeReply, ModelCall

# A usual window, and one that is full after a few messages.
MODELS = (FakeModel("fake:latest", num_ctx=8192), FakeModel("small:latest", num_ctx=1024))


class Upstream:
    """`answers` are given one after the other; after them the question comes back.

    After `hold` an answer that streams waits before each of its pieces for a `let`, until `release`.
    """

    def __init__(self, models: Sequence[FakeModel] = MODELS) -> None:
        self.answers: deque[str | FakeReply] = deque()
        # The status with which everything is refused; 0 for a server that is well.
        self.refuses = 0
        self.fake = FakeOllama(self._answer, models=models)
        self._held = False
        self._let = 0
        self._news = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def asked(self) -> list[str]:
        """The newest message of every chat that the model was asked for."""
        return [call.said for call in self.fake.calls]

    def clear(self) -> None:
        """As it was at the beginning, for the next test."""
        self.answers.clear()
        self.refuses = 0
        self.fake.requests.clear()
        self.fake.calls.clear()
        self.release()

    def hold(self) -> None:
        self._held, self._let = True, 0

    def let(self, pieces: int = 1) -> None:
        self._let += pieces
        self._wake()

    def release(self) -> None:
        self._held = False
        self._wake()

    @contextmanager
    def served(self) -> Iterator[str]:
        with serve_app(self) as url:
            yield url
            self.release()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._loop = asyncio.get_running_loop()
        if self.refuses and scope["type"] == "http":
            await JSONResponse({"error": "not for you"}, self.refuses)(scope, receive, send)
            return
        await self.fake(scope, receive, self._slowed(send) if scope["type"] == "http" else send)

    def _slowed(self, send: Send) -> Send:
        streams = False

        async def slowed(message: Message) -> None:
            nonlocal streams
            if message["type"] == "http.response.start":
                streams = any(b"ndjson" in value for _, value in message["headers"])
            elif streams and message.get("body"):
                await self._turn()
            await send(message)

        return slowed

    async def _turn(self) -> None:
        while self._held and not self._let:
            self._news.clear()
            await self._news.wait()
        self._let = max(self._let - 1, 0)

    def _wake(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)

    def _answer(self, call: ModelCall) -> str | FakeReply:
        return self.answers.popleft() if self.answers else f"You said: {call.said}"
