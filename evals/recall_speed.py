"""`python -m evals.recall_speed DIR [--sizes N,…] [--questions N] [--json]`: how long recall takes.

A store of so many messages and memories, four to one, is filled with the words of the chats in DIR, one long
conversation and many short ones, and questions of DIR are asked in the long one, in process: of a store at
rest, with a turn more each time, and while a backlog of texts waits for vectors. The embedder is the
one inside, so questions really wait for it; the vectors of the texts are drawn at random, which takes as
long to compare. Results are in results/recall.md.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np

from evals.retrieval_data import read_docs, read_queries
from evals.window_rows import Row, print_rows, progress
from holdfast.memory import search
from holdfast.memory.base import Memory
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.items import add_items
from holdfast.memory.passage_table import PassageTableCache
from holdfast.memory.scopes import day_file
from holdfast.memory.semantic import SemanticIndex
from holdfast.memory.service import MemoryService
from holdfast.messages import Message, Role, Scope
from holdfast.recall import Need, Recall, recall_over
from holdfast.store import NewMessage, Store, open_store
from holdfast.store.passages import PassageIndex
from holdfast.store.texts import piece_digest, split_pieces

PART = "recall"
SIZES = (1_000, 10_000, 100_000)
# The most milliseconds that a recall may take, by how much there is to look through.
TARGETS = {10_000: 20.0, 100_000: 60.0}
_QUESTIONS = 40
# Messages of the conversation that questions are asked in, and of each of the others.
_LONG, _SHORT = 600, 20
_MEMORIES_A_DAY = 50
_WARM = 3
_ROOM = 1_000
_TOGETHER = 2_000
_STAGES: dict[str, tuple[Any, str]] = {
    "files and waiting messages": (search.Search, "prepare"),
    "words": (PassageIndex, "matches"),
    "columns of rows": (PassageTableCache, "of"),
    "vectors": (SemanticIndex, "near"),
    "ranking": (search, "rank_rows"),
    "candidates": (search.Search, "_candidates"),
}


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds of each recall: on the clock, of this process's processor, and of that by stage."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    degraded: int = 0

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Time the stages of every recall meanwhile."""
        with ExitStack() as patches:
            for stage, (owner, name) in _STAGES.items():
                patches.enter_context(
                    patch.object(owner, name, self._measure_stage(stage, getattr(owner, name)))
                )
            yield

    def take(self, call: Callable[[], Any]) -> Any:
        for stage in _STAGES:
            self.stages[stage].append(0.0)
        began, busy = time.perf_counter(), time.process_time()
        result = call()
        self.wall.append(1000 * (time.perf_counter() - began))
        self.processor.append(1000 * (time.process_time() - busy))
        return result

    def _measure_stage(self, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def measure(*args: Any, **kwargs: Any) -> Any:
            # The processor's time, which other work on the machine leaves alone.
            began = time.thread_time()
            try:
                return call(*args, **kwargs)
            finally:
                self.stages[stage][-1] += 1000 * (time.thread_time() - began)

        return measure


class Texts:
    """Words of the chats, no text twice: after the last message halves of two are put together."""

    def __init__(self, folder: Path) -> None:
        self._said = [doc.text for doc in read_docs(folder)]
        self.questions = [query.question for query in read_queries(folder)]

    def __iter__(self) -> Iterator[str]:
        yield from self._said
        for apart in count(1):
            for at, text in enumerate(self._said):
                other = self._said[(at + apart) % len(self._said)]
                yield f"{text[: len(text) // 2].strip()} {other[len(other) // 2 :].strip()}"


class Subject:
    """A store with so many messages and memories in it, and what recalls them."""

    def __init__(self, store: Store, home: Path, chosen: ChosenEmbedder, texts: Texts) -> None:
        self._store = store
        self._texts = iter(texts)
        self._home = home
        self._random = np.random.default_rng(7)
        self._chosen = chosen
        self.memory = MemoryService(store, FolderWorkspace(home), chosen)
        self.recall: Recall = recall_over(store, self.memory)
        self.scope = Scope()
        self._conversation = ""

    def fill(self, size: int) -> None:
        memories = size // 5
        self._remember(memories)
        self._conversation = self._converse(_LONG)
        for _ in range(max(1, (size - memories - _LONG) // _SHORT)):
            self._converse(_SHORT)
        self.memory.index.sync()
        self._store.texts.catch_up()
        self.invent_vectors()

    def add_turn(self) -> None:
        """A question and its answer more, as the server keeps them; their vectors are not made yet."""
        self._append(self._conversation, list(islice(self._texts, 2)))
        self._store.texts.catch_up()

    def ask(self, question: str) -> Any:
        log = self._store.log.get(self._conversation)
        need = Need(question, self.scope, log.tree, log.head, self._conversation)
        return self.recall.bring(need, _ROOM, lambda text: len(text) // 4)

    def invent_vectors(self) -> None:
        """Vectors for all that has none, drawn at random."""
        embedder = self._chosen.current()
        if embedder is None:
            sys.exit(f"There is no embedder: {self._chosen.trouble}")
        embeddings, key = self._store.embeddings, embedder.identity.key
        while rows := embeddings.waiting(key, _TOGETHER):
            texts = self._store.passages.texts(rows)
            names = list({piece_digest(piece) for text in texts.values() for piece in split_pieces(text)})
            vectors = self._random.standard_normal((len(names), embedder.identity.dimensions))
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            stored = {
                name: vector.astype("<f4").tobytes() for name, vector in zip(names, vectors, strict=True)
            }
            embeddings.keep(key, stored)

    def _remember(self, number: int) -> None:
        newest = datetime.now(UTC)
        for day in range(number // _MEMORIES_A_DAY):
            content = islice(self._texts, _MEMORIES_A_DAY)
            at = (newest - timedelta(days=day + 2)).timestamp()
            memories = [
                Memory(f"y_{day:05}{place:03}", "fact", " ".join(text.split()), self.scope, valid_from=at)
                for place, text in enumerate(content)
            ]
            file = self._home / day_file(self.scope, at)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(add_items("", memories))

    def _converse(self, length: int) -> str:
        name = self._store.log.create(self.scope).id
        self._append(name, list(islice(self._texts, length)))
        return name

    def _append(self, name: str, content: Sequence[str]) -> None:
        head = self._store.log.get(name).head
        roles: tuple[Role, Role] = ("user", "assistant")
        messages = [NewMessage(Message.of(roles[at % 2], text)) for at, text in enumerate(content)]
        self._store.log.append(name, messages, parent=head, expect=head)


def measure(folder: Path, size: int, number: int) -> Iterator[tuple[str, Stopwatch]]:
    """The times of recall over so much, each by what happens meanwhile."""
    texts = Texts(folder)
    step = max(1, len(texts.questions) // (3 * number + _WARM))
    questions = iter(texts.questions[::step])
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        store = stack.enter_context(open_store(f"sqlite:///{home}/recall.db"))
        options = EmbedderOptions("embedded", log=home / "embedder.log")
        chosen = stack.enter_context(closing(ChosenEmbedder(options)))
        subject = Subject(store, home / "workspace", chosen, texts)
        subject.fill(size)
        chosen.wake()
        for question in islice(questions, _WARM):
            subject.ask(question)
        yield "at rest", _ask(subject, islice(questions, number))
        yield "a turn more", _ask(subject, islice(questions, number), subject.add_turn)
        with _busy(chosen):
            yield "a backlog of vectors", _ask(subject, islice(questions, number), subject.add_turn)


def _ask(subject: Subject, questions: Iterator[str], before: Callable[[], None] = lambda: None) -> Stopwatch:
    watch = Stopwatch()
    with watch.watch():
        for question in questions:
            before()
            evidence = watch.take(partial(subject.ask, question))
            watch.degraded += bool(evidence.degraded)
    return watch


@contextmanager
def _busy(chosen: ChosenEmbedder) -> Iterator[None]:
    """Somebody has one text after the other turned into vectors meanwhile, as after an import."""
    over = threading.Event()
    texts = [f"{number} " + "and so on about nothing " * 15 for number in range(16)]

    def work() -> None:
        while not over.is_set() and (embedder := chosen.current()) is not None:
            embedder.embed(texts)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join()


def rows(folder: Path, sizes: Sequence[int], number: int) -> Iterator[Row]:
    for size in sizes:
        progress(f"{PART}: {size:,} messages and memories")
        target = TARGETS.get(size)
        for case, watch in measure(folder, size, number):
            named = f"{size:,}, {case}"
            middle = median(watch.wall)
            met = None if target is None or case != "a turn more" else middle < target
            goal = "" if met is None else f"under {target:.0f} ms"
            yield Row(PART, "one recall", named, middle, "ms", goal, met)
            yield Row(PART, "95 % within", named, sorted(watch.wall)[int(0.95 * len(watch.wall))], "ms")
            yield Row(PART, "processor", named, median(watch.processor), "ms")
            for stage, taken in watch.stages.items():
                yield Row(PART, f"… {stage}", named, median(taken), "ms")
            yield Row(PART, "by words alone", named, 100 * watch.degraded / len(watch.wall), "%")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m evals.recall_speed", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="where docs.jsonl and queries.jsonl are")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="messages and memories, by commas")
    parser.add_argument("--questions", type=int, default=_QUESTIONS, help="asked in each case")
    parser.add_argument("--json", action="store_true", help="as JSON")
    chosen = parser.parse_args(arguments)
    sizes = [int(size) for size in chosen.sizes.split(",")]
    return print_rows(list(rows(chosen.folder, sizes, chosen.questions)), as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
