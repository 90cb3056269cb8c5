"""A model of one's own in a GGUF file, with llama.cpp for real: it is read, asked, and gone afterwards."""

import subprocess
import sys

import psutil
import pytest

from holdfast.errors import EmbedderError
from holdfast.memory.embedder_choice import EmbedderOptions, open_embedder
from holdfast.memory.embedder_local import GgufEmbedder, UniversalSentenceEncoder
from holdfast.tokens.vocabulary import encode_metadata
from tests.memory.tiny_model import write_model


def test_process_starts_with_first_text_and_file_defines_identity(tmp_path):
    path = write_model(tmp_path / "tiny.gguf", dimensions=16)
    embedder = open_embedder(EmbedderOptions(str(path), log=tmp_path / "log"))
    assert isinstance(embedder, GgufEmbedder)
    assert embedder.pid is None
    assert (embedder.identity.provider, embedder.identity.dimensions) == ("gguf", 16)
    assert embedder.identity.model.startswith("tiny.gguf ")
    embedder.close()


def test_other_weights_under_the_same_name_are_another_embedder(tmp_path):
    path = tmp_path / "tiny.gguf"
    keys = [
        GgufEmbedder.open(write_model(path, seed=seed), log=tmp_path / "log").identity.key
        for seed in (1, 2, 1)
    ]
    assert keys[0] == keys[2] != keys[1]


def test_what_is_no_model_is_said_with_a_remedy(tmp_path):
    for name, content, says in [
        ("absent.gguf", None, "is not there"),
        ("notes.gguf", b"# Notes\n", "cannot be used as a model"),
        ("silent.gguf", encode_metadata({"general.architecture": "llama"}), "how long its vectors are"),
    ]:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(EmbedderError, match=says) as caught:
            GgufEmbedder.open(tmp_path / name, log=tmp_path / "log")
        assert caught.value.hint


@pytest.mark.real
def test_truncated_model_file_raises_error_with_llama_cpp_output(tmp_path):
    path = write_model(tmp_path / "half.gguf")
    path.write_bytes(path.read_bytes()[:60_000])
    embedder = GgufEmbedder.open(path, log=tmp_path / "log")
    with pytest.raises(EmbedderError, match=r"half\.gguf ended twice.*\n(.*\n)*.*cannot serve"):
        embedder.embed(["one"])
    embedder.close()


@pytest.mark.real
def test_text_longer_than_window_is_embedded_by_its_beginning(tmp_path):
    embedder = GgufEmbedder.open(write_model(tmp_path / "tiny.gguf", window=64), log=tmp_path / "log")
    short, long = embedder.embed(["ähnlich " * 6, "ähnlich " * 200])
    assert short @ long > 0.9
    process = psutil.Process(embedder.pid)
    assert embedder.rest()
    assert not process.is_running()
    assert embedder.embed(["again"]).shape == (1, 32)
    embedder.close()


@pytest.mark.real
def test_a_real_model_by_its_path_tells_texts_apart(weights, tmp_path):
    embedder = open_embedder(EmbedderOptions(f"gguf:{weights}", log=tmp_path / "log"))
    item, near, far = embedder.embed(["The cat sleeps.", "The cat is sleeping.", "Interest rates rose."])
    assert embedder.identity.dimensions == len(item) == 576
    assert item @ near > item @ far
    embedder.close()


pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    result = UniversalSentenceEncoder(log=tmp_path_factory.mktemp("use") / "embedder.log")
    yield result
    result.close()


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
    command = [sys.executable, "-m", "holdfast.memory.workers", "encoder"]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60).returncode == 0
