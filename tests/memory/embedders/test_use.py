"""The embedded encoder, for real: what it understands, and that its process goes when nobody needs it."""

import subprocess
import sys

import psutil
import pytest

from holdfast.memory.embedders.use import UniversalSentenceEncoder

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    made = UniversalSentenceEncoder(log=tmp_path_factory.mktemp("use") / "embedder.log")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("asked", "meant", "others"),
    [
        (
            "Mac Studio gateway host",
            "the machine the gateway runs on",
            ["the bread is baked in the morning", "invoices are due on the first", "we met in Lisbon"],
        ),
        (
            "Welche Datenbank verwenden wir?",
            "We decided to use PostgreSQL as the database.",
            [
                "The cat sleeps on the sofa.",
                "Her birthday is in May.",
                "The office has a new coffee machine.",
            ],
        ),
        (
            "When does the bakery open?",
            "Die Bäckerei macht um sechs Uhr auf.",
            ["Die Datenbank liegt auf dem Server.", "Er spielt gern Klavier.", "Der Vertrag endet im März."],
        ),
        (
            "Wann hat Anna Geburtstag?",
            "Anna wurde am 3. Mai geboren.",
            ["Das Gateway läuft auf dem Mac Studio.", "Die Rechnung ist bezahlt.", "Der Zug hat Verspätung."],
        ),
    ],
)
def test_what_is_meant_is_nearer_than_anything_else_in_either_language(encoder, asked, meant, others):
    question, right, *wrong = encoder.embed([asked, meant, *others])
    assert question @ right > max(question @ vector for vector in wrong)


def test_it_computes_with_one_thread(encoder):
    encoder.embed(["one"])
    assert psutil.Process(encoder.pid).num_threads() == 1


def test_it_goes_when_nobody_can_ask_it_any_more():
    command = [sys.executable, "-m", "holdfast.memory.embedders.use_worker"]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60).returncode == 0
