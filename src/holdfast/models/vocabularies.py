"""The vocabularies of models: fetched off the request path, kept on disk by digest, loaded once.

Whoever has no time takes what is at hand and comes back later. Knows providers; what a tokenizer does with a
vocabulary is in `tokens`.
"""

import asyncio
import hashlib
import os
import tempfile
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.models.windows import full_name
from holdfast.tokens.gguf import VocabularyError
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.base import ModelInfo, Provider

# A tokenizer takes tens of megabytes, and people use few models at a time.
_IN_MEMORY = 4

_Key = tuple[str, str]


class VocabularyCache:
    """Tokenizers by server and model. `folder` holds what was fetched; it can be thrown away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready: OrderedDict[_Key, Tokenizer] = OrderedDict()
        self._why_not: dict[_Key, str] = {}
        self._loading: dict[_Key, asyncio.Task[Tokenizer | None]] = {}

    def at_hand(self, provider: Provider, model: str) -> Tokenizer | None:
        """The tokenizer if it is loaded; otherwise loading begins, and a later call may find it."""
        key = (provider.location, full_name(provider, model))
        if key in self._ready:
            self._ready.move_to_end(key)
            return self._ready[key]
        if key not in self._why_not and key not in self._loading:
            self._loading[key] = asyncio.create_task(self._load(provider, model, key))
        return None

    async def tokenizer(self, provider: Provider, model: str) -> Tokenizer | None:
        """The tokenizer, waited for; None if there is none, and `why_not` says why."""
        found = self.at_hand(provider, model)
        loading = self._loading.get((provider.location, full_name(provider, model)))
        return found if loading is None else await asyncio.shield(loading)

    def why_not(self, provider: Provider, model: str) -> str:
        """Why counts for this model are not exact; empty while that is open."""
        return self._why_not.get((provider.location, full_name(provider, model)), "")

    def forget(self, provider: Provider, model: str) -> None:
        """The name stands for another model from now on. Files stay: they are called by what is in them."""
        key = (provider.location, full_name(provider, model))
        self._ready.pop(key, None)
        self._why_not.pop(key, None)

    async def aclose(self) -> None:
        for task in list(self._loading.values()):
            task.cancel()
        await asyncio.gather(*self._loading.values(), return_exceptions=True)

    async def _load(self, provider: Provider, model: str, key: _Key) -> Tokenizer | None:
        try:
            vocabulary = await self._vocabulary(provider, model)
            if vocabulary is None:
                self._why_not[key] = "the server does not give the model's vocabulary away"
                return None
            tokenizer = await asyncio.to_thread(Tokenizer, vocabulary)
        except VocabularyError as error:
            self._why_not[key] = error.message
            return None
        except HoldfastError:
            # The server is away or has no such model: that may be otherwise next time.
            return None
        finally:
            self._loading.pop(key, None)
        self._ready[key] = tokenizer
        while len(self._ready) > _IN_MEMORY:
            self._ready.popitem(last=False)
        return tokenizer

    async def _vocabulary(self, provider: Provider, model: str) -> Vocabulary | None:
        path = self._folder / f"{vocabulary_digest(await provider.describe(model), provider)}.gguf"
        with suppress(VocabularyError):
            return await asyncio.to_thread(Vocabulary.from_gguf, path)
        # Not fetched yet, or a file that something happened to: both end in fetching it.
        vocabulary = await provider.vocabulary(model)
        if vocabulary is not None:
            await asyncio.to_thread(save_vocabulary, vocabulary, path)
        return vocabulary


def vocabulary_digest(info: ModelInfo, provider: Provider) -> str:
    """What the model's file hashes to where the server says it, else the best name there is for its state."""
    if info.digest:
        return hashlib.sha256(info.digest.encode()).hexdigest()[:32]
    known = f"{provider.location}\n{info.name}\n{info.size}\n{info.modified_at}"
    return hashlib.sha256(known.encode()).hexdigest()[:32]


def save_vocabulary(vocabulary: Vocabulary, path: Path) -> None:
    """Puts it in place in one step. A folder that cannot be written costs a fetch next time, nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        os.close(descriptor)
        try:
            vocabulary.save(name)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError:
        return
