"""Batch jobs of OpenAI and Gemini: handed in as a file, looked at, read line by line, and cleared away."""

import pytest

from holdfast.backends.gemini import GeminiEmbedder
from holdfast.errors import EmbedderError
from holdfast.memory.embedders.base import BatchJob, BatchJobGone
from holdfast.memory.embedders.checked import validate_vectors
from holdfast.memory.embedders.fakes import FakeGemini, FakeOpenAI
from holdfast.memory.embedders.http import EmbeddingClient
from holdfast.memory.embedders.openai import OpenAIEmbedder
from tests.upstreams.hostile import hostile, response

TEXTS = {"a": "the gateway server in Kiel", "b": "bake bread slowly", "c": "", "d": "half a \ud83d pair"}
SECRET = "sk-secret"


@pytest.fixture(params=[(FakeOpenAI, OpenAIEmbedder), (FakeGemini, GeminiEmbedder)], ids=["openai", "gemini"])
def pair(request):
    """A fake server, and an embedder for it."""
    fake = request.param[0]()
    with fake.served() as url:
        embedder = request.param[1].open(EmbeddingClient(url, headers={"x-key": SECRET}), dimensions=32)
        fake.requests.clear()
        yield fake, embedder
        embedder.close()


def test_a_job_brings_the_same_vectors_as_asking_does(pair):
    fake, embedder = pair
    fake.jobs.looks = 1
    job = embedder.batches.submit(TEXTS)
    assert embedder.batches.look(job) == BatchJob()
    seen = embedder.batches.look(job)
    assert (seen.over, seen.trouble) == (True, "")
    rows = dict(embedder.batches.rows(seen))
    assert rows.keys() == TEXTS.keys()
    for name, text in TEXTS.items():
        (vector,) = embedder.embed([text])
        assert validate_vectors([rows[name]], 1, embedder.identity)[0] == pytest.approx(vector, abs=1e-5)


def test_nobody_else_can_read_the_notes_afterwards(pair):
    fake, embedder = pair
    fake.jobs.fails = lambda text: "bread" in text
    seen = embedder.batches.look(embedder.batches.submit(TEXTS))
    assert fake.jobs.files
    embedder.batches.tidy(seen)
    assert fake.jobs.files == {}
    # What is gone already is no trouble.
    embedder.batches.tidy(seen)


def test_lines_that_failed_are_missing_and_the_others_are_there(pair):
    fake, embedder = pair
    fake.jobs.fails = lambda text: "bread" in text
    seen = embedder.batches.look(embedder.batches.submit(TEXTS))
    assert dict(embedder.batches.rows(seen)).keys() == {"a", "c", "d"}
    fake.jobs.fails = lambda _: True
    seen = embedder.batches.look(embedder.batches.submit(TEXTS))
    assert (seen.over, list(embedder.batches.rows(seen))) == (True, [])


def test_a_job_that_ends_early_says_so_and_has_what_was_done(pair):
    fake, embedder = pair
    for ends, done in [("failed", set()), ("cancelled", set()), ("expired", {"a", "c"})]:
        fake.jobs.ends = ends
        seen = embedder.batches.look(embedder.batches.submit(TEXTS))
        assert seen.over
        assert ends in seen.trouble
        assert dict(embedder.batches.rows(seen)).keys() == done
    fake.jobs.looks = 99
    job = embedder.batches.submit(TEXTS)
    embedder.batches.cancel(job)
    assert embedder.batches.look(job).over


def test_a_job_the_server_does_not_know_is_gone(pair):
    _, embedder = pair
    job = embedder.batches.submit(TEXTS)
    with pytest.raises(BatchJobGone):
        embedder.batches.look(f"{job}0")


def test_a_job_is_not_handed_in_twice_when_the_server_is_busy_and_leaves_no_file(pair):
    fake, embedder = pair
    create = {"openai": "/v1/batches", "gemini": ":asyncBatchEmbedContent"}[embedder.identity.provider]
    fake.busy, fake.busy_at = 1, (create,)
    with pytest.raises(EmbedderError, match="429"):
        embedder.batches.submit(TEXTS)
    assert sum(asked.path.endswith(create) for asked in fake.requests) == 1
    assert (fake.jobs.jobs, fake.jobs.files) == ({}, {})


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"id": 7}'])
def test_a_server_that_names_nothing_is_an_error(body):
    good = response(b'{"data": [{"embedding": [1, 2]}]}')
    with hostile([good], [response(body)]) as there:
        embedder = OpenAIEmbedder.open(EmbeddingClient(there.url, sleep=lambda _: None), model="m")
        with pytest.raises(EmbedderError, match="no name"):
            embedder.batches.submit({"a": "text"})
        embedder.close()


def test_words_of_a_server_are_told_without_the_key_and_a_file_that_breaks_off_is_an_error():
    good = response(b'{"data": [{"embedding": [1, 2]}]}')
    failed = b'{"status": "failed", "errors": {"data": [{"message": "bad key sk-secret"}]}}'
    half = b'{"custom_id": "a", "response": {"status_code": 200}}\n{"cus'
    with hostile([good], [response(failed)], [response(half)], [response(half)[:-9]]) as there:
        embedder = OpenAIEmbedder.open(
            EmbeddingClient(there.url, key=SECRET, sleep=lambda _: None), model="m"
        )
        told = embedder.batches.look("job").trouble
        assert "bad key" in told
        assert SECRET not in told
        for says in ("no JSON", "hung up"):
            rows = embedder.batches.rows(BatchJob(output=("file",)))
            with pytest.raises(EmbedderError, match=says):
                list(rows)
        embedder.close()
