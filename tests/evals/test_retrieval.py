"""The measure of retrieval: it reads the format, goes the product's way, and counts right."""

import json
from datetime import UTC, datetime

import pytest

from evals import retrieval
from evals.retrieval import scores
from evals.retrieval_data import read_docs, read_queries, seconds_of
from holdfast.memory.embedder_local import HashingEmbedder
from holdfast.memory.semantic import SemanticIndex
from holdfast.store import open_store

DOCS = [
    ("chat", "1", "s1", "8 May, 2023", "Ada", "I painted a sunrise."),
    ("chat", "2", "s1", "8 May, 2023", "Bob", "How lovely!"),
    ("chat", "3", "s2", "2023/06/10 (Sat) 17:50", "Ada", "The dog ran away."),
    ("papers", "1", "Rivers", None, "document", "The Rhine flows through Cologne."),
    ("papers", "2", "Rivers", None, "document", "The Elbe flows through Dresden."),
]
QUERIES = [("chat", "q1", "Who painted?", ["1"]), ("papers", "q2", "river in Dresden", ["2"])]


@pytest.fixture
def folder(tmp_path):
    names = ("corpus", "id", "session", "date", "role", "text")
    lines = [json.dumps(dict(zip(names, doc, strict=True))) for doc in DOCS]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines) + "\n")
    asked = [
        {"corpus": corpus, "id": name, "question": question, "date": None, "kind": "k", "gold": gold}
        for corpus, name, question, gold in QUERIES
    ]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(item) + "\n" for item in asked))
    return tmp_path


@pytest.mark.parametrize(("level", "expected"), [("turn", ["1", "2"]), ("session", ["s1", "Rivers"])])
def test_every_corpus_is_searched_on_its_own(folder, level, expected):
    docs, queries = read_docs(folder), read_queries(folder)
    with open_store("sqlite://") as store:
        library = retrieval.Library(store, SemanticIndex(store, HashingEmbedder))
        rankings = retrieval.run(library, docs, queries, level)
    assert [rankings[number][0] for number in range(2)] == expected
    known = {doc.id if level == "turn" else doc.session for doc in docs if doc.corpus == "papers"}
    assert set(rankings[1]) <= known
    results = retrieval.judge(docs, queries, rankings, level)
    assert [item["R@1"] for item in results["all"]] == [1.0, 1.0]


def test_without_known_answers_there_are_no_scores(folder):
    asked = {"corpus": "chat", "id": "q", "question": "Who painted?"}
    (folder / "queries.jsonl").write_text(json.dumps(asked) + "\n")
    queries = read_queries(folder)
    assert retrieval.judge(read_docs(folder), queries, {0: ["1"]}, "turn") == {}


def test_scores_are_counted_right():
    report = scores(["a", "x", "b", *"cdefgh", "z"], ["a", "b", "missing", "z"])
    assert (report["R@1"], report["R@5"], report["R@10"], report["all@10"]) == (0.25, 0.5, 0.75, 0.0)
    assert scores(["a", "b"], ["b", "a"])["nDCG@10"] == pytest.approx(1.0)
    assert scores([], ["a"])["nDCG@10"] == 0.0


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08"),
        ("2023/04/10 (Mon) 17:50", "2023-04-10"),
        ("March-15-2024", "2024-03-15"),
    ],
)
def test_dates_are_read_in_the_ways_they_are_written(text, day):
    assert datetime.fromtimestamp(seconds_of(text), UTC).astimezone().date().isoformat() == day


def test_what_is_no_date_is_none():
    assert seconds_of("") is seconds_of("some day") is seconds_of("Foo 3000") is None
