"""The product's fitting on a store, as the measurements without a model use it: the one place with its names.

What is in the log is made to fit a window, with SmolLM2's own tokenizer; nothing is sent.
"""

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.conversations import Placement
from holdfast.fitting import Fitter, Kept
from holdfast.messages import ChatRequest, Message
from holdfast.models.knowledge import Models
from holdfast.providers.base import ModelInfo
from holdfast.providers.fake import ScriptedProvider
from holdfast.store import Store
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.window.presets import preset_named


@dataclass(frozen=True, slots=True)
class Built:
    """A request that would go out, and how large it may be."""

    messages: tuple[Message, ...]
    room: int


class Product:
    """Builds windows of the sizes it was made for."""

    def __init__(self, store: Store, weights: Path, cache: Path, windows: Sequence[int]) -> None:
        models = [ModelInfo(_name(window), running_window=window) for window in windows]
        self._store = store
        self._provider = ScriptedProvider(models=models, vocabulary=Vocabulary.from_gguf(weights))
        self._models = Models(store, cache)
        self._fitter = Fitter(store, self._models, preset_named("balanced"))
        self._runner = asyncio.Runner()
        for window in windows:
            # From here on counts are exact, as they are soon after a server has started.
            self._runner.run(self._models.vocabularies.tokenizer(self._provider, _name(window)))

    def build(self, conversation: str, window: int, system: Sequence[Message] = ()) -> Built:
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
        kept = Kept("", placement, row, row.head)
        request = ChatRequest(_name(window), tuple(system))
        made = self._runner.run(self._fitter.fit(request, kept, self._provider))
        return Built(made.request.messages, self._fitter.preset.budget(window).room)

    def close(self) -> None:
        self._runner.run(self._models.aclose())
        self._runner.close()


def _name(window: int) -> str:
    return f"smollm2-{window}"


@contextlib.contextmanager
def product(store: Store, weights: Path, windows: Sequence[int]) -> Iterator[Product]:
    with tempfile.TemporaryDirectory() as cache:
        made = Product(store, weights, Path(cache), windows)
        try:
            yield made
        finally:
            made.close()
