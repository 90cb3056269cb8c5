"""`python -m evals.ranking DIR --fit SETS --check SETS [--store FOLDER]`: fits the weights of the ranking.

DIR has one folder a set with `docs.jsonl` and `queries.jsonl`; a folder `knowing` has `chats.jsonl`.
Everything is
kept as the product keeps it: a long chat is one conversation, sessions of a pool are conversations of their
own,
documents are notes. Rows get their features from the product's own code. The order is fitted by a listwise
loss
(the log of the share that rows with the evidence have of all), each set counting the same; then the curve
that says how likely anything answers a question, with questions of other sets, about the world, and small
talk as those that nothing does. Prints the numbers of `holdfast.memory.ranking` and what they
reach on all sets.

`--store` keeps the vectors, which take most of the time.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.retrieval import meaning_by
from evals.retrieval_data import Doc, read_docs, read_queries
from evals.window_rows import progress
from holdfast.memory import scopes
from holdfast.memory.embedder_choice import EmbedderOptions
from holdfast.memory.index import Index
from holdfast.memory.ranking import (
    FEATURES,
    MEANING_FEATURES,
    MEANING_SIGNS,
    SIGNS,
    estimate_likelihood,
)
from holdfast.memory.search import Search
from holdfast.memory.semantic import SemanticIndex
from holdfast.memory.workspace import InMemoryWorkspace
from holdfast.messages import Message, Role, Scope
from holdfast.store import NewMessage, Store, open_store
from holdfast.text.dates import day_at
from holdfast.text.questions import Names, read_question

# Sets in which every session is a chat of its own.
_POOLS = frozenset({"longmemeval"})
_CUTS = (1, 5, 10, 20, 40)
# Rows without the evidence that a question is fitted on: of a pool of thousands a sample is enough.
_SAMPLE = 1_500
# Which row counts as the best depends on the curve; this one chooses it while the curve is fitted.
_FIRST_CURVE = {"sum": 1.0, "explains": -1.0}
# Small talk, and questions about the world, which nothing that was said answers.
_GENERAL = (Path(__file__).parent / "general_questions.txt").read_text(encoding="utf-8").splitlines()

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with the features of every row, and which rows hold the evidence."""

    set: str
    text: str
    features: Column
    gold: NDArray[np.bool_]
    answerable: bool
    # The signs of whether there is an answer that are the same for every row, and the rows that explain.
    signs: Mapping[str, float]
    explains: NDArray[np.bool_]
    dated: bool = False


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is in one scope, and the questions about it."""

    set: str
    scope: Scope
    names: Names
    # Each with its evidence, and the day it is asked: at the end of the chat if the set does not say.
    questions: Sequence[tuple[str, Sequence[str], date | None]]


class Shelf:
    """A set in a store, as the product would have it."""

    def __init__(self, store: Store, meaning: SemanticIndex, record: Path) -> None:
        """`record` says which message is which document, for a store that was filled before."""
        self._record = record
        self._store = store
        self._meaning = meaning
        self._workspace = InMemoryWorkspace()
        self._index = Index(store, self._workspace)
        self.search = Search(store, self._index, meaning, budget=3600.0)
        # The documents in each message or file.
        self._docs: dict[str, set[str]] = {}
        # The documents of each row, by scope.
        self._places: dict[Scope, list[set[str]]] = {}

    def fill(self, name: str, folder: Path) -> list[Corpus]:
        corpora = _chats(folder) if name == "knowing" else _sets(name, folder)
        result = []
        filled = self._record.exists()
        if filled:
            self._docs = {key: set(names) for key, names in json.loads(self._record.read_text()).items()}
        for corpus, docs in corpora:
            if docs and docs[0].role == "document":
                self._write(corpus.scope, docs)
            elif not filled:
                pool = name in _POOLS
                for _, items in groupby(docs, key=lambda doc: doc.session if pool else ""):
                    self._converse(corpus.scope, list(items))
            result.append(corpus)
        self._record.write_text(json.dumps({key: sorted(names) for key, names in self._docs.items()}))
        self._index.sync()
        self._store.texts.catch_up()
        total = self._meaning.waiting()
        while self._meaning.catch_up(500):
            progress(f"{name}: vectors {total - self._meaning.waiting():,} of {total:,}")
        return result

    def ask(
        self, corpus: Corpus, text: str, gold: Sequence[str], today: date | None = None, *, answerable: bool
    ) -> Asked:
        question = read_question(text, corpus.names, today)
        ranked = self.search.rank(question, corpus.scope)
        rows = ranked.ranking.rows
        if corpus.scope not in self._places:
            known = self._store.passages.rows(rows.ids.tolist())
            self._places[corpus.scope] = [
                self._docs.get(_name(row.role, row.container, row.passage), set())
                for row in (known[number] for number in rows.ids.tolist())
            ]
        wanted = set(gold)
        has = [bool(wanted & docs) for docs in self._places[corpus.scope]]
        columns = np.column_stack([ranked.ranking.features[name] for name in FEATURES])
        return Asked(
            corpus.set,
            text,
            columns,
            np.array(has),
            answerable,
            ranked.ranking.signs(0),
            rows.explains(question),
            bool(question.periods),
        )

    def _converse(self, scope: Scope, docs: Sequence[Doc]) -> None:
        conversation = self._store.log.create(scope)
        people = list(dict.fromkeys(doc.role for doc in docs))
        known: dict[str, Role] = {"user": "user", "assistant": "assistant"}
        head: str | None = None
        session = ""
        for role, run in groupby(docs, key=lambda doc: doc.role):
            items = list(run)
            text = "\n".join(doc.text for doc in items)
            if items[0].session != session and items[0].at:
                session = items[0].session
                text = f"[{datetime.fromtimestamp(items[0].at, UTC):%d %B %Y}] {text}"
            side: Role = known.get(role) or ("user" if people.index(role) == 0 else "assistant")
            message = NewMessage(Message.of(side, text))
            (stored,) = self._store.log.append(conversation.id, [message], parent=head, expect=head)
            head = stored.id
            self._docs[head] = {doc.id for doc in items}

    def _write(self, scope: Scope, docs: Sequence[Doc]) -> None:
        for number, doc in enumerate(docs):
            path = scopes.folder(scope) / scopes.safe_name(doc.id) / f"{number}.md"
            self._workspace.write(path, doc.text)
            self._docs[str(path)] = {doc.id}


def _name(role: str, container: str, passage: str) -> str:
    return container.partition(":")[2] if role == "note" else passage


def _sets(name: str, folder: Path) -> Iterator[tuple[Corpus, list[Doc]]]:
    queries = read_queries(folder)
    for corpus, items in groupby(read_docs(folder), key=lambda doc: doc.corpus):
        docs = list(items)
        people = list(dict.fromkeys(doc.role for doc in docs))
        names = Names()
        if len(people) == 2 and not {"user", "assistant"} & set(people):
            names = Names(frozenset(people[:1]), frozenset(people[1:]))
        if name in _POOLS:
            docs.sort(key=lambda doc: (doc.at or 0.0, doc.session))
        end = max((doc.at for doc in docs if doc.at), default=None)
        asked = [
            (query.question, query.gold, None if (at := query.at or end) is None else day_at(at))
            for query in queries
            if query.corpus == corpus
        ]
        yield Corpus(name, Scope(user="eval", project=f"{name} {corpus}"), names, asked), docs


def _chats(folder: Path) -> Iterator[tuple[Corpus, list[Doc]]]:
    """The chats of one language as one conversation."""
    chats = [json.loads(line) for line in (folder / "chats.jsonl").read_text(encoding="utf-8").splitlines()]
    for language in sorted({chat["lang"] for chat in chats}):
        docs: list[Doc] = []
        asked: list[tuple[str, Sequence[str], date | None]] = []
        for chat in (chat for chat in chats if chat["lang"] == language):
            docs += [
                Doc(language, f"{chat['id']}:{number}", chat["id"], 0.0, turn["role"], turn["text"])
                for number, turn in enumerate(chat["turns"])
            ]
            asked += [
                (question["question"], [f"{chat['id']}:{turn}" for turn in question["turns"]], None)
                for question in chat["questions"]
            ]
        yield Corpus("knowing", Scope(user="eval", project=f"knowing {language}"), Names(), asked), docs


def fit_order(questions: Sequence[Asked], columns: Sequence[int], penalty: float = 1e-3) -> Column:
    """Weights that give the rows with the evidence the largest share, by gradient descent."""
    rng = np.random.default_rng(0)
    sizes: dict[str, int] = defaultdict(int)
    for question in questions:
        sizes[question.set] += bool(question.gold.any())
    blocks, gold, weights = [], [], []
    for question in questions:
        if not question.gold.any():
            continue
        others = np.flatnonzero(~question.gold)
        if len(others) > _SAMPLE:
            others = rng.choice(others, _SAMPLE, replace=False)
        chosen = np.concatenate([np.flatnonzero(question.gold), others])
        blocks.append(question.features[chosen][:, columns])
        gold.append(question.gold[chosen])
        weights.append(1 / sizes[question.set])
    starts = np.cumsum([0, *(len(block) for block in blocks[:-1])])
    segment = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    rows, right, weight = np.vstack(blocks), np.concatenate(gold), np.array(weights)
    target = right * (weight / np.add.reduceat(right.astype(float), starts))[segment]
    beta, first, second = np.zeros(len(columns)), np.zeros(len(columns)), np.zeros(len(columns))
    for step in range(1, 1_501):
        sums = rows @ beta
        exps = np.exp(sums - np.maximum.reduceat(sums, starts)[segment])
        share = exps / np.add.reduceat(exps, starts)[segment]
        gradient = rows.T @ (share * weight[segment] - target) + 2 * penalty * beta
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        rate = 0.05 * min(1.0, (1_501 - step) / 500)
        beta -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
    return beta


def fit_logistic(
    features: Column, target: NDArray[np.bool_], weight: Column, penalty: float = 0.02
) -> Column:
    """Logistic regression by Newton's method; the last weight is the constant.

    The penalty is on what a column is worth over its spread, whatever its unit.
    """
    spread = features.std(axis=0)
    spread[spread == 0] = 1.0
    rows = np.column_stack([features / spread, np.ones(len(features))])
    ridge = np.full(rows.shape[1], penalty)
    ridge[-1] = 1e-6
    beta = np.zeros(rows.shape[1])
    for _ in range(50):
        guess = 1 / (1 + np.exp(-np.clip(rows @ beta, -30, 30)))
        gradient = rows.T @ (weight * (guess - target)) + ridge * beta
        curve = (rows * (weight * guess * (1 - guess))[:, None]).T @ rows + np.diag(ridge)
        beta -= np.linalg.solve(curve, gradient)
    return np.asarray(beta / np.append(spread, 1.0))


def fit_curve(
    questions: Sequence[Asked], beta: Column, columns: Sequence[int], signs: Sequence[str]
) -> dict[str, float]:
    """The curve that tells if anything answers a question."""
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    for question in questions:
        counts[question.set, question.answerable] += 1
    right = np.array([question.answerable for question in questions])
    weight = np.array(
        [100 / counts[question.set, question.answerable] / len(counts) for question in questions]
    )
    rows = [best_signs(question, beta, columns, _FIRST_CURVE) for question in questions]
    table = np.array([[row[name] for name in signs] for row in rows], float)
    fitted = fit_logistic(table, right, weight, 0.5)
    return dict(zip((*signs, "start"), map(float, fitted), strict=True))


def best_signs(
    question: Asked, beta: Column, columns: Sequence[int], curve: Mapping[str, float]
) -> dict[str, float]:
    """The signs by the row that speaks most for an answer."""
    sums = question.features[:, columns] @ beta
    best = int((curve["sum"] * sums + curve["explains"] * question.explains).argmax())
    nearness = question.features[int(sums.argmax()), FEATURES.index("nearness")]
    of_row = {"sum": sums[best], "nearness": nearness, "explains": question.explains[best]}
    return {**question.signs, **{name: float(value) for name, value in of_row.items()}}


def show(
    name: str, questions: Sequence[Asked], beta: Column, columns: Sequence[int], curve: dict[str, float]
) -> str:
    """What the weights reach on one set, as a line."""
    results: dict[int, list[float]] = {cut: [] for cut in _CUTS}
    sure: dict[bool, list[float]] = {True: [], False: []}
    for question in questions:
        sums = question.features[:, columns] @ beta
        signs = best_signs(question, beta, columns, curve)
        sure[question.answerable].append(estimate_likelihood(signs, curve))
        if question.gold.any():
            order = np.argsort(-sums, kind="stable")
            for cut in _CUTS:
                results[cut].append(question.gold[order[:cut]].sum() / question.gold.sum())
    recall = "  ".join(f"R@{cut} {100 * np.mean(rates):5.1f}" for cut, rates in results.items())
    yes, no = (np.array(sure[side] or [0.0]) for side in (True, False))
    shares = "  ".join(
        f">{cut}: {100 * (yes > cut).mean():3.0f} / {100 * (no > cut).mean():3.0f}"
        for cut in (0.05, 0.1, 0.2, 0.4)
    )
    return f"{name:12} {recall}   likely, of answerable / of others: {shares}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--fit", default="locomo,beam100k,longmemeval", help="sets the weights are fitted on")
    parser.add_argument(
        "--curve", default="locomo,beam100k,knowing", help="sets the curve is fitted on: what is answered"
    )
    parser.add_argument("--check", default="knowing,xquad_de", help="sets that are left out of it")
    parser.add_argument(
        "--store", type=Path, default=Path("build/ranking"), help="where the vectors are kept"
    )
    arguments = parser.parse_args()
    arguments.store.mkdir(parents=True, exist_ok=True)
    fitted, checked = arguments.fit.split(","), [name for name in arguments.check.split(",") if name]
    curved = arguments.curve.split(",")
    asked: dict[str, list[Asked]] = {}
    for name in (*fitted, *checked):
        place = arguments.folder / name
        with (
            open_store(f"sqlite:///{arguments.store.resolve()}/{name}.db") as store,
            meaning_by(store, EmbedderOptions(log=arguments.store / "embedder.log")) as meaning,
        ):
            shelf = Shelf(store, meaning, arguments.store / f"{name}.json")
            asked[name] = _questions(shelf, name, place, arguments.folder)
    _report(asked, fitted, curved, range(len(FEATURES)), SIGNS, "with vectors")
    words = [number for number, feature in enumerate(FEATURES) if feature not in MEANING_FEATURES]
    signs = [sign for sign in SIGNS if sign not in MEANING_SIGNS]
    _report(asked, fitted, curved, words, signs, "words alone")


def _questions(shelf: Shelf, name: str, place: Path, folder: Path) -> list[Asked]:
    rng = np.random.default_rng(7)
    corpora = shelf.fill(name, place)
    strangers = [query.question for query in read_queries(folder / "xquad_de")]
    asked: list[Asked] = []
    for corpus in corpora:
        for text, gold, today in corpus.questions:
            asked.append(shelf.ask(corpus, text, gold, today, answerable=bool(gold)))
        others = list(rng.choice(strangers, 15, replace=False)) if name != "xquad_de" else []
        asked.extend(shelf.ask(corpus, str(text), (), answerable=False) for text in (*_GENERAL, *others))
        progress(f"{name}: {len(asked):,} questions")
    return asked


def _report(
    asked: dict[str, list[Asked]],
    fitted: Sequence[str],
    curved: Sequence[str],
    columns: Sequence[int],
    signs: Sequence[str],
    title: str,
) -> None:
    beta = fit_order([question for name in fitted for question in asked[name]], columns)
    curve = fit_curve([question for name in curved for question in asked[name]], beta, columns, signs)
    print(f"\n{title}, fitted on {', '.join(fitted)}, the curve on {', '.join(curved)}")
    print({FEATURES[column]: round(float(weight), 2) for column, weight in zip(columns, beta, strict=True)})
    print({name: round(float(value), 2) for name, value in curve.items()})
    for name, questions in asked.items():
        print(show(name if name in fitted else f"({name})", questions, beta, columns, curve))
        if dated := [question for question in questions if question.dated and question.answerable]:
            print(show(f"  {len(dated)} of a time", dated, beta, columns, curve))


if __name__ == "__main__":
    main()
