"""`python -m evals.retrieval DIR [--out RUN.jsonl] [--level turn|session] [--json]`: what search finds.

Everything goes the way it goes for users: messages are kept in conversations and documents in notes, the
index is made of them with the embedder that is there by default (or `--embedder`, `--model`, `--prompts`),
and every question is asked of the scope its corpus is in. Results are in results/retrieval.md.
"""

import argparse
import json
import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path

from evals.retrieval_data import Doc, Query, read_docs, read_queries
from evals.window_rows import progress
from holdfast.memory import scopes
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.index import Index
from holdfast.memory.search import Search
from holdfast.memory.semantic import SemanticIndex
from holdfast.memory.workspace import InMemoryWorkspace
from holdfast.messages import Message, Role, Scope
from holdfast.store import NewMessage, Store, open_store

R_AT = (1, 5, 10, 20)
ALL_AT = (5, 10)
NDCG_AT = 10
NAMES = (*(f"R@{k}" for k in R_AT), *(f"all@{k}" for k in ALL_AT), f"nDCG@{NDCG_AT}")


def scores(ranked: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """The scores of one question, each from 0 to 1."""
    wanted = set(gold)
    ranks = [place for place, name in enumerate(ranked) if name in wanted]
    within = {k: sum(rank < k for rank in ranks) for k in (*R_AT, *ALL_AT)}
    best = sum(1 / math.log2(place + 2) for place in range(min(len(wanted), NDCG_AT)))
    return {
        **{f"R@{k}": within[k] / len(wanted) for k in R_AT},
        **{f"all@{k}": float(within[k] == len(wanted)) for k in ALL_AT},
        f"nDCG@{NDCG_AT}": sum(1 / math.log2(rank + 2) for rank in ranks if rank < NDCG_AT) / best,
    }


def means(mappings: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The same of many questions, in percent."""
    return {name: 100 * sum(item[name] for item in mappings) / len(mappings) for name in NAMES}


def table(by_kind: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    lines = [f"| kind | questions | {' | '.join(NAMES)} |", "|---" * (len(NAMES) + 2) + "|"]
    for kind, items in by_kind.items():
        results = means(items)
        cells = " | ".join(f"{results[name]:.1f}" for name in NAMES)
        lines.append(f"| {kind} | {len(items)} | {cells} |")
    return "\n".join(lines)


RANKED = 50
# Enough for fifty different ones, where a document has several parts or a session several turns.
_ASKED_FOR = {"turn": 150, "session": 600}
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}


class Library:
    """All corpora of a set, kept as the product keeps them, each in a scope of its own."""

    def __init__(self, store: Store, meaning: SemanticIndex) -> None:
        self._store = store
        self._workspace = InMemoryWorkspace()
        self._meaning = meaning
        self._index = Index(store, self._workspace)
        self._search = Search(store, self._index, meaning)
        # Which document a message or a file is.
        self._docs: dict[str, Doc] = {}

    def fill(self, docs: Sequence[Doc]) -> None:
        for (corpus, session), group in groupby(docs, key=lambda doc: (doc.corpus, doc.session)):
            items = list(group)
            scope = _scope(corpus)
            self._converse(scope, session, [doc for doc in items if doc.role != "document"])
            for number, doc in enumerate(item for item in items if item.role == "document"):
                name = f"{scopes.safe_name(session)}-{number}.md"
                path = scopes.folder(scope) / scopes.safe_name(doc.id) / name
                self._workspace.write(path, doc.text)
                self._docs[str(path)] = doc
        self._index.sync()
        self._store.texts.catch_up()
        total = self._meaning.waiting()
        while self._meaning.catch_up(500):
            progress(f"vectors: {total - self._meaning.waiting():,} of {total:,}")

    def ask(self, query: Query, level: str) -> list[str]:
        answer = self._search.search(query.question, _scope(query.corpus), limit=_ASKED_FOR[level])
        docs = [self._docs[hit.path if hit.kind == "note" else hit.id] for hit in answer.hits]
        names = dict.fromkeys(doc.id if level == "turn" else doc.session for doc in docs)
        return list(names)[:RANKED]

    def _converse(self, scope: Scope, session: str, docs: Sequence[Doc]) -> None:
        if not docs:
            return
        conversation = self._store.log.create(scope, title=session)
        head: str | None = None
        for doc in docs:
            # Who is neither the user nor the model is one of several people, and says so.
            text = doc.text if doc.role in _ROLES else f"{doc.role}: {doc.text}"
            message = NewMessage(Message.of(_ROLES.get(doc.role, "user"), text))
            (stored,) = self._store.log.append(
                conversation.id, [message], parent=head, expect=head, now=doc.at
            )
            head = stored.id
            self._docs[head] = doc


def _scope(corpus: str) -> Scope:
    return Scope(user="eval", project=f"corpus {corpus}")


@contextmanager
def meaning_by(store: Store, options: EmbedderOptions) -> Iterator[SemanticIndex]:
    """Search by the embedder of these options."""
    with closing(ChosenEmbedder(options)) as chosen:
        yield SemanticIndex(store, chosen.current, why_none=lambda: chosen.trouble)
        if chosen.trouble:
            progress(f"without vectors: {chosen.trouble}")


def run(library: Library, docs: Sequence[Doc], queries: Sequence[Query], level: str) -> dict[int, list[str]]:
    """The ranking for every query, by its place in the list."""
    library.fill(docs)
    rankings = {}
    for number, query in enumerate(queries):
        rankings[number] = library.ask(query, level)
        if (number + 1) % 100 == 0 or number + 1 == len(queries):
            progress(f"questions: {number + 1:,} of {len(queries):,}")
    return rankings


def judge(
    docs: Sequence[Doc], queries: Sequence[Query], rankings: dict[int, list[str]], level: str
) -> dict[str, list[dict[str, float]]]:
    """The scores of the queries whose answer is told, of all and by kind."""
    sessions = {(doc.corpus, doc.id): doc.session for doc in docs}
    results: dict[str, list[dict[str, float]]] = defaultdict(list)
    for number, query in enumerate(queries):
        gold: Sequence[str] = query.gold
        if level == "session":
            gold = [sessions[query.corpus, name] for name in gold if (query.corpus, name) in sessions]
        if gold:
            result = scores(rankings[number], gold)
            results["all"].append(result)
            results[query.kind].append(result)
    return dict(results)


def _options(arguments: argparse.Namespace, folder: Path) -> EmbedderOptions:
    return EmbedderOptions(
        arguments.embedder, arguments.model, log=folder / "embedder.log", prompts=arguments.prompts
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="with docs.jsonl and queries.jsonl")
    parser.add_argument("--out", type=Path, help="file for the rankings, one query a line")
    parser.add_argument("--level", choices=("turn", "session"), default="turn", help="what is to be found")
    parser.add_argument("--json", action="store_true", help="the scores as JSON")
    parser.add_argument("--embedder", default="auto", help="as the setting; auto is the one inside")
    parser.add_argument("--model", default="", help="its model, as the setting embedder_model")
    parser.add_argument("--prompts", default="", help="as the setting embedder_prompts; off for none")
    arguments = parser.parse_args()
    docs, queries = read_docs(arguments.folder), read_queries(arguments.folder)
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-retrieval-") as place,
        open_store(f"sqlite:///{place}/holdfast.db") as store,
        meaning_by(store, _options(arguments, Path(place))) as meaning,
    ):
        rankings = run(Library(store, meaning), docs, queries, arguments.level)
    if arguments.out:
        with arguments.out.open("w", encoding="utf-8") as file:
            for number, query in enumerate(queries):
                line = {"corpus": query.corpus, "id": query.id, "ranked": rankings[number]}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    results = judge(docs, queries, rankings, arguments.level)
    if not results:
        sys.stderr.write("No query has a known answer, so there are no scores.\n")
    elif arguments.json:
        print(
            json.dumps(
                {kind: {"questions": len(item), **means(item)} for kind, item in results.items()}, indent=2
            )
        )
    else:
        print(table(results))


if __name__ == "__main__":
    main()
