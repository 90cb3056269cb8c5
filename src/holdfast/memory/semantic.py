"""Search by meaning: texts become vectors, each stored once, and rows are compared with a question.

Vectors of two embedders are never mixed: while those of a new one are made, the old ones serve if their
embedder can still be asked, otherwise words alone. A text that the embedder cannot do is found by its words.

Embedders differ in their scales: for unrelated texts one model says 0.2 and another 0.75. The mean nearness
of unrelated questions is measured for each and moved to that of the embedded encoder, for which all
thresholds and weights were fitted; evals/results/retrieval.md has the figures.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import EmbedderError
from holdfast.i18n import lazy
from holdfast.memory.embedders import Embedder, EmbedderBusy, EmbedderIdentity, Vectors
from holdfast.memory.remote_vectors import OpenVectors
from holdfast.memory.vectors import NO_SIMILARITIES, QuestionKind, Similarities, StoredVectors, VectorIndex
from holdfast.store import SearchPlace, Store
from holdfast.store.texts import piece_digest, split_pieces
from holdfast.text.lang import by_language

# Questions that have nothing to do with each other.
UNRELATED = (
    "Wie binde ich eine Krawatte?",
    "What time does the museum open?",
    "Schreib einen Test für den Parser",
    "Who won the match last night?",
    "Welche Steuerklasse habe ich nach der Hochzeit?",
    "How deep is the ocean?",
    "Der Drucker meldet einen Papierstau",
    "My cat refuses to eat",
)


def _list_examples(name: str) -> list[str]:
    return [line.strip() for lines in by_language(name).values() for line in lines.strip().splitlines()]


# Questions about the world, which need no evidence, and about somebody's own affairs, which may.
_GENERAL, _OWN = _list_examples("GENERAL_QUESTIONS"), _list_examples("OWN_QUESTIONS")
# An example that is so much farther counts a third as much.
_SOFTNESS = 0.1
# The mean nearness of the unrelated ones by the embedded encoder, for which thresholds were measured.
REFERENCE_NEARNESS = 0.117
# Beside the embedded encoder, which averages over words: hashed terms add little to a search by words, a
# transformer adds more.
_FACTORS = {"embedded": 1.0, "hashing": 0.5}
_TRANSFORMER = 1.5

Nearness = TypeVar("Nearness", float, NDArray[np.float64])

# Rows that are turned into vectors together: a question waits for the embedder no longer than these take.
_ROWS_IN_STEP = 16
# With fewer of its vectors an index would put last what merely has none yet.
_ENOUGH = 0.5
_CACHED_QUESTIONS = 256
# Questions whose vectors are made at once.
_QUESTION_THREADS = 4
# An embedder that is in order can do this one.
_HARMLESS = "."
EmbedderSource = Callable[[], Embedder | None]


def meaning_factor(identity: EmbedderIdentity) -> float:
    """The weight of nearness on the common scale; 1 for the embedded encoder."""
    return _FACTORS.get(identity.provider, _TRANSFORMER)


def has_common_scale(identity: EmbedderIdentity) -> bool:
    """Whether an embedder's nearness is on the scale of the embedded encoder already."""
    return identity.provider in _FACTORS


def mean_nearness(vectors: Vectors) -> float:
    """The mean similarity of the vectors of unrelated questions."""
    count = len(vectors)
    products = vectors @ vectors.T
    return float((products.sum() - np.trace(products)) / (count * (count - 1)))


def rescale(near: Nearness, usual: float) -> Nearness:
    """Convert an embedder's nearness to the scale of the embedded encoder."""
    if usual >= 1.0:
        # To this embedder all texts are the same.
        return near * 0.0
    return REFERENCE_NEARNESS + (1 - REFERENCE_NEARNESS) * (near - usual) / (1 - usual)


def soft_maximum(near: NDArray[np.float64]) -> float:
    """How near examples are altogether, the nearest counting most: one of them may be near by chance."""
    return float(_SOFTNESS * np.logaddexp.reduce(near / _SOFTNESS))


@dataclass(frozen=True, slots=True)
class SemanticMatches:
    """How near rows are to a question, whose vectors were compared, and where.

    `trouble` says why there is nothing, or less; `factor` is the weight beside the embedded encoder, and
    `kind` how near the question is to others whose kind is known, if that is known by now.
    """

    rows: Similarities = NO_SIMILARITIES
    model: str = ""
    engine: str = ""
    trouble: str = ""
    factor: float = 1.0
    kind: QuestionKind | None = None


class BatchQueue(Protocol):
    """Has many vectors made by batch jobs of the embedder's server, which take hours and cost less."""

    def state(self, identity: EmbedderIdentity) -> dict[str, Any]:
        """How many jobs are under way with how many texts, and what went wrong with the last one."""

    def due(self, identity: EmbedderIdentity) -> float | None:
        """In how many seconds the jobs should be looked at again; None if there are none."""

    def wait(self, identity: EmbedderIdentity, stop: Callable[[], bool]) -> bool:
        """Wait until the jobs should be looked at again; False if there is nothing to wait for."""

    def ordinary(
        self, index: VectorIndex, limit: int, places: Sequence[SearchPlace] | None, *, jobs: bool
    ) -> list[int]:
        """Rows that are left to the ordinary way; with `jobs`, none that are worth another job."""

    def advance(self, embedder: Embedder, index: VectorIndex, places: Sequence[SearchPlace] | None) -> int:
        """Take in what is done and hand in what is worth a job; the number of rows with new vectors."""


class SemanticIndex:
    """Makes, stores and compares the vectors of texts.

    `current` returns the embedder, opened if need be; `ready` only one that can answer at once. `former` is
    one whose vectors may serve until those of the current one are made. With `batching`, many texts at once
    are made by batch jobs, if the embedder's server has such. `vectors` opens the index of the current
    embedder's vectors.
    """

    def __init__(
        self,
        store: Store,
        current: EmbedderSource,
        *,
        ready: EmbedderSource | None = None,
        former: EmbedderSource | None = None,
        why_none: Callable[[], str] = lambda: "",
        batching: BatchQueue | None = None,
        vectors: OpenVectors = StoredVectors,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._current = current
        self._ready = ready or current
        self._former = former
        self._why_none = why_none
        self._batching = batching
        self._vectors = vectors
        self._clock = clock
        self._own: VectorIndex | None = None
        self._formers: dict[str, VectorIndex] = {}
        self._questions: dict[tuple[str, str], Future[Vectors]] = {}
        # How near unrelated questions are, and the vectors of questions about the world, by embedder.
        self._usual: dict[str, float] = {}
        self._examples: dict[str, Future[Vectors]] = {}
        self._noting = threading.Lock()
        self._asking = ThreadPoolExecutor(_QUESTION_THREADS, "holdfast-question")
        # One step at a time: the same vectors must not be made twice.
        self._working = threading.Lock()

    def begin(self, question: str) -> None:
        """Start making the vector of a question that is about to be asked, if an embedder is ready."""
        if (embedder := self._ready()) is not None:
            self._start_question(embedder, question)

    def near(
        self,
        places: Sequence[SearchPlace],
        question: str,
        best: int,
        also: Collection[int] = (),
        patience: float | None = None,
    ) -> SemanticMatches:
        """Compare the rows in these places with a question; its vector may take `patience` seconds."""
        embedder = self._current()
        if embedder is None:
            why = self._why_none() or lazy("There is no embedder.")
        else:
            near = self._near(embedder, self._index(embedder), places, question, best, also, patience)
            if isinstance(near, SemanticMatches):
                return near
            why = near
        former = self._former() if self._former is not None else None
        if former is not None and (embedder is None or former.identity != embedder.identity):
            # A backend holds the vectors of one embedder, so those of the former are compared here.
            index = self._formers.setdefault(former.identity.key, StoredVectors(self._store, former.identity))
            instead = self._near(former, index, places, question, best, also, patience)
            if isinstance(instead, SemanticMatches):
                return replace(instead, trouble=f"Vectors of {former.identity} were compared: {why}")
        return SemanticMatches(trouble=lazy("Only words were compared: {reason}", reason=why))

    def load(self, places: Sequence[SearchPlace]) -> None:
        """Read the vectors in these places into memory, if an embedder is ready."""
        if (embedder := self._ready()) is not None:
            self._index(embedder).coverage(places)

    def catch_up(
        self,
        limit: int | None = None,
        places: Sequence[SearchPlace] | None = None,
        until: float | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> int:
        """Make vectors for at most `limit` rows that have none; returns for how many rows.

        It ends after the current step at `until` or when `stop` says so; concurrent callers take turns. When
        none is left, vectors that are no longer needed are deleted.
        """
        embedder = self._current()
        if embedder is None:
            return 0
        index, done, brought = self._index(embedder), 0, 0
        if self._batching is not None and until is None:
            brought = self._batching.advance(embedder, index, places)
        if not brought and places is not None and not index.coverage(places).missing:
            return 0
        while (limit is None or done < limit) and not stop():
            left = -1.0 if until is None else until - self._clock()
            if (until is not None and left <= 0) or not self._working.acquire(timeout=left):
                break
            try:
                some = _ROWS_IN_STEP if limit is None else min(_ROWS_IN_STEP, limit - done)
                # A caller that waits for an answer submits no jobs and leaves nothing to later ones.
                jobs = until is None and embedder.batches is not None
                rows = self._waiting(index, some, places, jobs=jobs)
                texts = self._store.passages.texts(rows)
                count = self._make(
                    embedder, index, [piece for text in texts.values() for piece in split_pieces(text)]
                )
            finally:
                self._working.release()
            if not count:
                break
            done += len(rows)
        if (done or brought) and index.coverage().missing == 0:
            self._store.embeddings.drop_others(embedder.identity.key)
            self._formers = {}
            self._store.embeddings.trim()
            index.alone()
        return done + brought

    def follow(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Bring the vector backend up to date; returns how many vectors it still lacks."""
        return 0 if self._own is None else self._own.follow(stop)

    def engine(self, *, ask: bool = False) -> dict[str, Any] | None:
        """The state of the vector index; None without an embedder.

        With `ask` the backend is asked; otherwise this is what was seen last.
        """
        embedder = self._current()
        return None if embedder is None else self._index(embedder).state(ask=ask)

    def close(self) -> None:
        if self._own is not None:
            self._own.close()

    def waiting(self) -> int:
        """How many pieces have no vector yet."""
        embedder = self._current()
        return 0 if embedder is None else self._index(embedder).coverage().missing

    def batches(self) -> dict[str, Any] | None:
        """The state of the batch jobs; None where there are none."""
        embedder = self._current() if self._batching is not None else None
        if self._batching is None or embedder is None or embedder.batches is None:
            return None
        return self._batching.state(embedder.identity)

    def batches_due(self) -> float | None:
        """In how many seconds jobs should be looked at again; None if none are under way."""
        embedder = self._current() if self._batching is not None else None
        return None if self._batching is None or embedder is None else self._batching.due(embedder.identity)

    def wait_for_batches(self, stop: Callable[[], bool]) -> bool:
        """Wait until the jobs should be looked at again; False if there is nothing to wait for."""
        embedder = self._current() if self._batching is not None else None
        if self._batching is None or embedder is None:
            return False
        return self._batching.wait(embedder.identity, stop)

    def vectors_of(self, texts: Sequence[str]) -> Vectors | None:
        """One vector for each text, cached ones first; None without an embedder."""
        embedder = self._current()
        if embedder is None:
            return None
        index = self._index(embedder)
        cut = [split_pieces(text) or [""] for text in texts]
        self._make(embedder, index, [piece for parts in cut for piece in parts if piece])
        known = index.get_vectors({piece_digest(piece) for parts in cut for piece in parts})
        nothing = np.zeros(embedder.identity.dimensions, np.float32)
        means = [
            np.mean([known.get(piece_digest(piece), nothing) for piece in parts], axis=0) for parts in cut
        ]
        joined = np.array(means, np.float32).reshape(len(texts), embedder.identity.dimensions)
        lengths = np.linalg.norm(joined, axis=1, keepdims=True)
        return (joined / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def nearness(
        self, question: str, texts: Mapping[str, str], patience: float | None = None
    ) -> dict[str, float]:
        """How near texts are to a question, for those that have vectors; none are made.

        It is called in the middle of a turn, so no embedder is opened. If the question's own vector takes
        longer than `patience` seconds, the result is empty.
        """
        embedder = self._ready()
        if embedder is None:
            return {}
        cut = {name: [piece_digest(piece) for piece in split_pieces(text)] for name, text in texts.items()}
        known = self._index(embedder).get_vectors({name for digests in cut.values() for name in digests})
        if not known:
            return {}
        try:
            vector = self._question_vector(embedder, question, patience)
        except TimeoutError:
            return {}
        near = {name: float(of @ vector) for name, of in known.items()}
        scores = {name: [near[name] for name in digests if name in near] for name, digests in cut.items()}
        return {name: max(digests) for name, digests in scores.items() if digests}

    def _near(
        self,
        embedder: Embedder,
        index: VectorIndex,
        places: Sequence[SearchPlace],
        question: str,
        best: int,
        also: Collection[int],
        patience: float | None = None,
    ) -> SemanticMatches | str:
        """Compare rows by the vectors of one embedder; returns the reason if that is not possible."""
        covered = index.coverage(places)
        if not covered.pieces:
            # Nobody starts an embedder to look at nothing.
            return SemanticMatches()
        if covered.share < _ENOUGH:
            jobs = (self.batches() or {}).get("jobs", 0)
            under_way = f" {jobs} batch jobs are under way for the others." if jobs else ""
            return lazy(
                "{share:.0%} of the vectors of {embedder} are made.{others}",
                share=covered.share,
                embedder=embedder.identity,
                others=under_way,
            )
        try:
            vector = self._question_vector(embedder, question, patience)
        except EmbedderError as error:
            return str(error)
        except TimeoutError:
            return f"{embedder.identity} was too late with the vector of the question."
        # Of what has no vector, only the words were compared.
        refused = f"{covered.refused} texts have no vector: {embedder.identity} cannot do them."
        near = self._on_scale(embedder, index.compare(places, vector, best, also))
        trouble = " ".join(filter(None, (refused if covered.refused else "", index.trouble)))
        factor = meaning_factor(embedder.identity)
        kind = self._kind_of(embedder, vector, patience)
        return SemanticMatches(near, str(embedder.identity), index.engine, trouble, factor, kind)

    def _on_scale(self, embedder: Embedder, near: Similarities) -> Similarities:
        """Convert similarities to the common scale."""
        if has_common_scale(embedder.identity) or not near:
            return near
        usual = self._usual_nearness(embedder)
        return replace(near, best=rescale(near.best, usual), mean=rescale(near.mean, usual))

    def _usual_nearness(self, embedder: Embedder) -> float:
        """The mean nearness of unrelated questions, which is measured once for each embedder."""
        key = embedder.identity.key
        if key not in self._usual:
            vectors = np.array([embedder.question(text)[0] for text in UNRELATED], np.float32)
            self._usual[key] = mean_nearness(vectors)
        return self._usual[key]

    def _kind_of(
        self, embedder: Embedder, vector: NDArray[np.float32], patience: float | None
    ) -> QuestionKind | None:
        """How near a question is to the examples of each kind; None where their vectors are late."""
        key = embedder.identity.key
        with self._noting:
            work = self._examples.get(key)
            if work is None or (work.done() and work.exception() is not None):
                work = self._examples[key] = self._asking.submit(embedder.embed, [*_GENERAL, *_OWN])
        try:
            near = np.asarray(work.result(patience), np.float64) @ vector
        except (EmbedderError, TimeoutError):
            return None
        if not has_common_scale(embedder.identity):
            near = rescale(near, self._usual_nearness(embedder))
        general, own = soft_maximum(near[: len(_GENERAL)]), soft_maximum(near[len(_GENERAL) :])
        if meaning_factor(embedder.identity) < 1:
            # Words that two questions share by chance say nothing about their kind.
            own = general
        return QuestionKind(general, own)

    def _index(self, embedder: Embedder) -> VectorIndex:
        with self._noting:
            if self._own is None or self._own.identity != embedder.identity:
                if self._own is not None:
                    # Two would disturb each other; the closed one still answers in process.
                    self._own.close()
                self._own = self._vectors(self._store, embedder.identity)
            return self._own

    def _waiting(
        self, index: VectorIndex, limit: int, places: Sequence[SearchPlace] | None, *, jobs: bool
    ) -> list[int]:
        if self._batching is None:
            return index.waiting(limit, places)
        return self._batching.ordinary(index, limit, places, jobs=jobs)

    def _make(self, embedder: Embedder, index: VectorIndex, texts: Sequence[str]) -> int:
        """Make and store the vectors of those pieces that have none; returns how many there were."""
        wanted = {piece_digest(text): text for text in texts}
        # Texts of one length take the embedder no longer than they must.
        names = sorted(index.undone(wanted.keys()), key=lambda name: len(wanted[name]))
        if names:
            vectors = embed_texts(embedder, [wanted[name] for name in names])
            new = {name: vector for name, vector in zip(names, vectors, strict=True) if vector is not None}
            index.keep(new)
            index.refuse([name for name in names if name not in new])
        return len(names)

    def _question_vector(
        self, embedder: Embedder, question: str, patience: float | None = None
    ) -> NDArray[np.float32]:
        try:
            (vector,) = self._start_question(embedder, question).result(patience)
        except EmbedderError:
            # It may be able to, the next time.
            with self._noting:
                self._questions.pop((embedder.identity.key, question), None)
            raise
        return np.asarray(vector, np.float32)

    def _start_question(self, embedder: Embedder, question: str) -> "Future[Vectors]":
        """The vector of a question, cached in memory only: questions are not written to disk."""
        key = embedder.identity.key, question
        with self._noting:
            vector = self._questions.pop(key, None) or self._asking.submit(embedder.question, question)
            self._questions[key] = vector
            while len(self._questions) > _CACHED_QUESTIONS:
                del self._questions[next(iter(self._questions))]
        return vector


def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[NDArray[np.float32] | None]:
    """One vector for each text; None for one that the embedder cannot do.

    A text is to blame only if the embedder can do another right after it; otherwise its error is raised.
    """
    try:
        return list(embedder.embed(texts))
    except EmbedderBusy:
        raise
    except EmbedderError:
        embedder.embed([_HARMLESS])
    return [embed_text(embedder, text) for text in texts]


def embed_text(embedder: Embedder, text: str) -> NDArray[np.float32] | None:
    try:
        (vector,) = embedder.embed([text])
    except EmbedderBusy:
        raise
    except EmbedderError:
        embedder.embed([_HARMLESS])
        return None
    return np.asarray(vector, np.float32)
