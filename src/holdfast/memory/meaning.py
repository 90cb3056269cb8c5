"""The side of search that goes by meaning: texts to vectors, kept once, and how near rows are to a question.

Vectors of two embedders are never mixed: while those of a new one are made, those of the one before serve, if
it can still be asked, and otherwise words alone. Knows rows and embedders, no files.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import EmbedderError
from holdfast.memory.embedders.base import Embedder, Vectors
from holdfast.memory.vectors import StoredVectors, VectorIndex
from holdfast.store import Store, Where
from holdfast.store.pieces import digest, pieces

# Rows that are turned into vectors together: who waits for the embedder waits no longer than these take.
_TOGETHER = 16
# With fewer of its vectors an index would put last what merely has none yet.
_ENOUGH = 0.9
_QUESTIONS = 256

Current = Callable[[], Embedder | None]


@dataclass(frozen=True, slots=True)
class Near:
    """How near rows are to a question, by whose vectors; `trouble` says why there is nothing, or less."""

    rows: Mapping[int, float] = field(default_factory=dict)
    model: str = ""
    trouble: str = ""


def nobody() -> Embedder | None:
    return None


class Meaning:
    """`current` gives the embedder to use now, `previous` the one that was used before, if there are any."""

    def __init__(
        self,
        store: Store,
        current: Current,
        *,
        previous: Current = nobody,
        why_none: Callable[[], str] = lambda: "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._current = current
        self._previous = previous
        self._why_none = why_none
        self._clock = clock
        self._indexes: dict[str, VectorIndex] = {}
        self._questions: dict[tuple[str, str], NDArray[np.float32]] = {}
        # One batch at a time: two who make the same vectors help nobody.
        self._working = threading.Lock()

    def near(self, places: Sequence[Where], question: str, best: int, also: Collection[int] = ()) -> Near:
        """How near the rows in these places are to the question."""
        embedder = self._current()
        if embedder is None:
            return Near(trouble=self._why_none() or "There is no embedder, so only words were compared.")
        try:
            index = self._index(embedder)
            covered, trouble = index.coverage(places), ""
            if not covered.pieces:
                # Nobody starts an embedder to look at nothing.
                return Near()
            if covered.share < _ENOUGH:
                trouble = f"{covered.share:.0%} of the vectors of {embedder.identity} are made"
                before = self._previous()
                if before is None or self._index(before).coverage(places).share < _ENOUGH:
                    return Near(trouble=f"Only words were compared: {trouble}.")
                embedder, index = before, self._index(before)
                trouble = f"Vectors of {before.identity} were compared: {trouble}."
            vector = self._asked(embedder, question)
        except EmbedderError as error:
            return Near(trouble=f"Only words were compared: {error}")
        return Near(index.nearest(places, vector, best, also), str(embedder.identity), trouble)

    def catch_up(
        self, limit: int | None = None, places: Sequence[Where] | None = None, until: float | None = None
    ) -> int:
        """Make vectors for rows that have none, at most `limit`, no longer than `until`; says how many rows.

        When none is left, the vectors of every other embedder are forgotten.
        """
        embedder = self._current()
        if embedder is None:
            return 0
        index, done = self._index(embedder), 0
        if places is not None and not index.coverage(places).missing:
            return 0
        with self._working:
            while (limit is None or done < limit) and (until is None or self._clock() < until):
                rows = index.waiting(_TOGETHER if limit is None else min(_TOGETHER, limit - done), places)
                texts = self._store.passages.texts(rows)
                made = self._make(embedder, index, [one for text in texts.values() for one in pieces(text)])
                if not made:
                    break
                done += len(rows)
        if done and index.coverage().missing == 0:
            self._store.embeddings.drop_others(embedder.identity.key)
            self._indexes = {embedder.identity.key: index}
            self._store.embeddings.trim()
        return done

    def waiting(self) -> int:
        """How many pieces have no vector yet."""
        embedder = self._current()
        return 0 if embedder is None else self._index(embedder).coverage().missing

    def vectors_of(self, texts: Sequence[str]) -> Vectors | None:
        """One vector for each text, from the cache where it is there; None without an embedder."""
        embedder = self._current()
        if embedder is None:
            return None
        index = self._index(embedder)
        cut = [pieces(text) or [""] for text in texts]
        self._make(embedder, index, [piece for one in cut for piece in one if piece])
        known = index.known({digest(piece) for one in cut for piece in one})
        nothing = np.zeros(embedder.identity.dimensions, np.float32)
        means = [np.mean([known.get(digest(piece), nothing) for piece in one], axis=0) for one in cut]
        joined = np.array(means, np.float32).reshape(len(texts), embedder.identity.dimensions)
        lengths = np.linalg.norm(joined, axis=1, keepdims=True)
        return (joined / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def nearness(self, question: str, texts: Mapping[str, str]) -> dict[str, float]:
        """How near texts are to a question, those of them whose vectors are there; none is made for it."""
        embedder = self._current()
        if embedder is None:
            return {}
        cut = {name: [digest(piece) for piece in pieces(text)] for name, text in texts.items()}
        known = self._index(embedder).known({one for several in cut.values() for one in several})
        if not known:
            return {}
        vector = self._asked(embedder, question)
        near = {one: float(of @ vector) for one, of in known.items()}
        found = {name: [near[one] for one in several if one in near] for name, several in cut.items()}
        return {name: max(several) for name, several in found.items() if several}

    def _index(self, embedder: Embedder) -> VectorIndex:
        key = embedder.identity.key
        if key not in self._indexes:
            self._indexes[key] = StoredVectors(self._store, embedder.identity)
        return self._indexes[key]

    def _make(self, embedder: Embedder, index: VectorIndex, texts: Sequence[str]) -> int:
        """Make and keep the vectors of these pieces that are not there yet; says how many were made."""
        wanted = {digest(text): text for text in texts}
        missing = {name: wanted[name] for name in wanted.keys() - index.known(wanted.keys()).keys()}
        if missing:
            # Texts of one length take the embedder no longer than they must.
            names = sorted(missing, key=lambda name: len(missing[name]))
            vectors = embedder.embed([missing[name] for name in names])
            index.keep(dict(zip(names, vectors, strict=True)))
        return len(missing)

    def _asked(self, embedder: Embedder, question: str) -> NDArray[np.float32]:
        """The vector of a question. It is kept for a while here, since what was asked belongs in no file."""
        key = embedder.identity.key, question
        vector = self._questions.pop(key, None)
        if vector is None:
            vector = embedder.embed([question])[0]
        self._questions[key] = vector
        while len(self._questions) > _QUESTIONS:
            self._questions.pop(next(iter(self._questions)), None)
        return vector
