"""One backend, measured in this process, which does nothing else: `python -m evals.backends_run < JSON`.

The same memories and questions for each, by the way the product goes. Vectors are made once for all of them
and read from a file, so what is timed is the backend and not the embedder.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from evals.overhead_recall import memories, questions
from evals.window_rows import progress
from holdfast.errors import EmbedderError
from holdfast.memory.base import Memory
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.embedders import Embedder, EmbedderIdentity, Vectors
from holdfast.memory.folder import S3Options, open_workspace
from holdfast.memory.index import Index
from holdfast.memory.items import add_items
from holdfast.memory.remote_vectors import VectorOptions, choose_vectors
from holdfast.memory.scopes import day_file, memory_file
from holdfast.memory.search import Search
from holdfast.memory.semantic import SemanticIndex
from holdfast.memory.vectors import Similarities
from holdfast.memory.workspace import Workspace
from holdfast.messages import Scope
from holdfast.store import Store, open_store

TOP = 10
_CURATED, _A_DAY = 500, 50
# All backends get the same notes, to the second.
_NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
# Who searches first waits for what is held in memory: that is told on its own.
_FIRST = 5


@dataclass(frozen=True, slots=True)
class Case:
    """Where a backend keeps things, and how much of them. `embedder` is a file with vectors made before."""

    name: str
    store: str
    notes: str
    folder: str
    vectors: str = "auto"
    s3: dict[str, Any] = field(default_factory=dict)
    memories: int = 10_000
    searches: int = 1_000
    embedder: str = ""
    hashing: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds, milliseconds and megabytes; and what was found, for comparing it with others."""

    name: str
    engine: str
    wanted: str
    trouble: str
    write: float
    index: float
    vectors: float
    first: float
    searches: list[float]
    near: list[float]
    rss: float
    found: list[list[str]]
    # How near the nearest are: which of several that are equally near, is nobody's merit.
    nearest: list[list[float]]

    @property
    def load(self) -> float:
        return self.write + self.index + self.vectors


class Prepared:
    """An embedder that remembers: what it was asked once is in a file, for all who come later."""

    batches = None

    def __init__(self, file: Path, opened: Callable[[], Embedder]) -> None:
        self._file = file
        self._opened = opened
        self._known: dict[str, Any] = {}
        self.seconds = 0.0
        if file.exists():
            with np.load(file) as stored:
                self._known = dict(zip(stored["texts"].tolist(), stored["vectors"], strict=True))
                provider, model, dimensions = stored["identity"].tolist()
            self.identity = EmbedderIdentity(provider, model, int(dimensions))
        else:
            self.identity = opened().identity

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._make(list(texts), "")

    def question(self, text: str) -> Vectors:
        return self._make([text], "?")

    def rest(self) -> bool:
        return False

    def close(self) -> None:
        identity = self.identity
        np.savez(
            self._file,
            texts=np.array(list(self._known), np.str_),
            vectors=np.array(list(self._known.values()), np.float32),
            identity=np.array([identity.provider, identity.model, str(identity.dimensions)], np.str_),
        )

    def _make(self, texts: list[str], mark: str) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if mark + text not in self._known]
        if new:
            began, inner = time.perf_counter(), self._opened()
            question = inner.question(new[0]) if mark else inner.embed(new)
            self._known |= {mark + text: vector for text, vector in zip(new, question, strict=True)}
            self.seconds += time.perf_counter() - began
        return np.array([self._known[mark + text] for text in texts], np.float32)


def measure_case(case: Case, embedder: Prepared) -> Measured:
    progress(f"{case.name}: {case.memories:,} memories are put in")
    options = VectorOptions(case.vectors, store=case.store, folder=Path(case.folder))
    notes = open_workspace(case.notes, S3Options(**case.s3), Path(case.folder) / "cache")
    with open_store(case.store) as store:
        meaning = SemanticIndex(store, lambda: embedder, vectors=choose_vectors(options))
        with closing(meaning):
            return _measure(case, store, notes, meaning, embedder)


def _measure_nearness(store: Store, meaning: SemanticIndex, question: str, near: Similarities) -> list[float]:
    """How near the nearest rows that were found really are, whatever the engine computes with."""
    rows = near.rows[np.argsort(-near.best, kind="stable")[:TOP]].tolist()
    texts = {str(row): text for row, text in store.passages.texts(rows).items()}
    return sorted(meaning.nearness(question, texts).values(), reverse=True)


def _measure(
    case: Case, store: Store, notes: Workspace, meaning: SemanticIndex, embedder: Prepared
) -> Measured:
    index = Index(store, notes)
    search = Search(store, index, meaning)
    write = _time(lambda: _write_notes(notes, memories(case.memories, _NOW)))
    indexed = _time(index.sync)
    before = embedder.seconds
    vectors = _time(lambda: _wait_for_vectors(meaning)) - (embedder.seconds - before)
    asked = [text for number in range(case.searches) for text in _questions(number)][: case.searches]
    # Vectors of questions are made before anything is timed.
    for text in asked:
        embedder.question(text)
    progress(f"{case.name}: {case.searches:,} searches")
    first = _time(lambda: [search.search(text, Scope(), limit=TOP) for text in asked[:_FIRST]])
    took, near, results, nearest, troubles = [], [], [], [], list[str]()
    places = index.places(Scope())
    for text in asked:
        began = time.perf_counter()
        answer = search.search(text, Scope(), limit=TOP)
        took.append(1_000 * (time.perf_counter() - began))
        results.append([hit.id for hit in answer.hits])
        troubles += answer.degraded
        began = time.perf_counter()
        rows = meaning.near(places, text, TOP).rows
        near.append(1_000 * (time.perf_counter() - began))
        nearest.append(_measure_nearness(store, meaning, text, rows))
    state = meaning.engine(ask=True) or {}
    return Measured(
        case.name,
        str(state.get("engine")),
        str(state.get("wanted")),
        "; ".join(dict.fromkeys([*troubles, str(state.get("trouble") or "")])).strip("; "),
        write,
        indexed,
        vectors,
        first,
        took,
        near,
        _megabytes(),
        results,
        nearest,
    )


def _time(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _wait_for_vectors(meaning: SemanticIndex) -> None:
    meaning.catch_up()
    while meaning.follow():
        progress("vectors are handed over")


def _questions(number: int) -> list[str]:
    return [str(turn[0]["content"]) for turn in questions(number)]


def _write_notes(notes: Workspace, every: Sequence[Memory]) -> None:
    """As the product writes them: some in MEMORY.md, the others in the logs of many days."""
    notes.write(memory_file(Scope()), add_items("", every[:_CURATED]))
    rest = iter(every[_CURATED:])
    while portion := list(islice(rest, _A_DAY)):
        notes.write(day_file(Scope(), portion[0].valid_from), add_items("", portion))


def _megabytes() -> float:
    """What this process takes now; where the system does not say, the most it ever took."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def run(case: Case) -> Measured:
    with closing(ChosenEmbedder(EmbedderOptions(log=Path(case.folder) / "embedder.log"))) as real:

        def open_embedder() -> Embedder:
            embedder = HashingEmbedder() if case.hashing else real.current()
            if embedder is None:
                raise EmbedderError(real.trouble or "There is no embedder.")
            return embedder

        with closing(Prepared(Path(case.embedder), open_embedder)) as embedder:
            return measure_case(case, embedder)


def main() -> None:
    print(json.dumps(asdict(run(Case(**json.load(sys.stdin))))))


if __name__ == "__main__":
    main()
