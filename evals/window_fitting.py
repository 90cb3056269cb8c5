"""The product's fitter on a store, as the measurements without a model use it: the one place with its names.

What is in the log is made to fit a window, with SmolLM2's own tokenizer; nothing is sent.
"""

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.context import RecordedQuestion
from holdfast.conversations import Placement
from holdfast.messages import ChatRequest, Message
from holdfast.store import Store
from holdfast.testing.provider import ScriptedProvider
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.turn import TurnEngine
from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams

_MODEL = "smollm2"


@dataclass(frozen=True, slots=True)
class Built:
    """A request that would go out, and how large it may be."""

    messages: tuple[Message, ...]
    room: int


class Product:
    """Builds windows of one model, which was made for `largest` tokens and can be given fewer."""

    def __init__(self, store: Store, weights: Path, cache: Path, largest: int) -> None:
        models = [ModelInfo(_MODEL, running_window=largest)]
        self._store = store
        self._provider = ScriptedProvider(models=models, vocabulary=Vocabulary.from_gguf(weights))
        self._models = ModelRegistry(store, cache)
        self._engine = TurnEngine(store, Upstreams(self._find, self._provider), self._models)
        self._fitter = self._engine.fitter
        # A loop of its own, as a server has one: what a runner does about signals is no part of a turn.
        self._loop = asyncio.new_event_loop()
        self._window = largest
        # From here on counts are exact, as they are soon after a server has started.
        self._loop.run_until_complete(self._models.vocabularies.tokenizer(self._provider, _MODEL))

    async def _find(self) -> ScriptedProvider:
        return self._provider

    def use(self, window: int) -> None:
        """From here on windows have this size, as if a person had set it; what was counted stays known."""
        self._loop.run_until_complete(self._models.set_window(self._provider, _MODEL, num_ctx=window))
        self._window = window

    def build(self, conversation: str, system: Sequence[Message] = ()) -> Built:
        """The window of a conversation, from the log: what a client has sent again does not count."""
        row = self._store.log.get(conversation)
        placement = Placement(
            "main",
            reason="the client leaves its history to us",
            conversation=row.id,
            head=row.head,
            parent=row.head,
            from_log=True,
        )
        question = RecordedQuestion("", placement, row, row.head)
        until_complete = self._loop.run_until_complete(
            self._fitter.fit(ChatRequest(_MODEL, tuple(system)), question, self._provider)
        )
        assert until_complete.window == self._window
        return Built(until_complete.request.messages, self._fitter.preset.budget(until_complete.window).room)

    def settle(self, conversation: str) -> None:
        """Waits for what is written while a model would read the request."""
        self._loop.run_until_complete(self._engine.locks.settle(conversation))

    def close(self) -> None:
        self._loop.run_until_complete(self._engine.store.flush())
        self._loop.run_until_complete(self._models.aclose())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


@contextlib.contextmanager
def product(store: Store, weights: Path, largest: int) -> Iterator[Product]:
    with tempfile.TemporaryDirectory() as cache:
        result = Product(store, weights, Path(cache), largest)
        try:
            yield result
        finally:
            result.close()
