"""The one place through which all embedders go: texts are made fit to send, and answers are verified.

Knows no model and no server. What a subclass adds is how vectors are come by.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from holdfast.errors import EmbedderError
from holdfast.memory.embedders.base import BatchApi, EmbedderIdentity, Vectors
from holdfast.memory.embedders.prompts import NO_PROMPTS, EmbeddingPrompts

# Servers refuse a text of nothing or answer it with zeros. This stands for it, and means as little.
_NOTHING = "."


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
        """Most have none."""
        return None

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._made(texts, self._vectors, self._prompts.text)

    def question(self, text: str) -> Vectors:
        return self._made([text], self._vectors, self._prompts.query)

    def rest(self) -> bool:
        """Most have nothing here that could be let go of."""
        return False

    @abstractmethod
    def _vectors(self, texts: Sequence[str]) -> Any:
        """Rows of numbers for at most `batch` texts, as they came."""

    @abstractmethod
    def close(self) -> None: ...

    def _made(self, texts: Sequence[str], ask: Callable[[Sequence[str]], Any], prompt: str = "") -> Vectors:
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


def _bad_answer(identity: EmbedderIdentity, what: str) -> EmbedderError:
    where = "Look at the server's log, or name" if identity.endpoint else "Name"
    return EmbedderError(
        f"{identity} answered with {what}.",
        hint=f"{where} another embedding model in the settings `embedder` and `embedder_model`.",
    )
