"""Batch jobs from the command line: handed in by one command, told of by others, taken in by a later one."""

import json

import pytest

from holdfast.testing.embedders import FakeOpenAI

MANY = 205


@pytest.fixture
def fake(hold, home, monkeypatch):
    """A server that takes batch jobs, and enough memories for one."""
    memories = "".join(f"- The heron has number {number}.\n" for number in range(MANY))
    (home / "workspace" / "default").mkdir(parents=True)
    (home / "workspace" / "default" / "MEMORY.md").write_text(f"# Memory\n\n{memories}")
    result = FakeOpenAI(key="sk-secret")
    with result.served() as url:
        for name, value in {
            "EMBEDDER": f"openai+{url}",
            "EMBEDDER_KEY": "sk-secret",
            "EMBEDDER_BATCH": "on",
            "EMBEDDER_BATCH_POLL": "0",
        }.items():
            monkeypatch.setenv(f"HOLDFAST_{name}", value)
        yield result


def test_a_job_is_handed_in_told_of_and_taken_in(hold, fake, monkeypatch):
    monkeypatch.setenv("HOLDFAST_EMBEDDER_BATCH_WAIT", "off")
    fake.jobs.looks = 9
    assert f"batch jobs: 1 with {MANY} texts" in hold("memory", "reindex")
    assert json.loads(hold("memory", "stats", "--json"))["vectors"]["batches"]["texts"] == MANY
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "de")
    assert f"Batch-Jobs: 1 mit {MANY} Texten" in hold("memory", "stats")
    data = json.loads(hold("doctor", "--json", whole=True).stdout)
    assert f"1 unterwegs mit {MANY} Texten" in {item["about"]: item["found"] for item in data}["Batch-Jobs"]

    monkeypatch.delenv("HOLDFAST_EMBEDDER_BATCH_WAIT")
    state = json.loads(hold("memory", "reindex", "--json"))
    assert (state["vectors"]["waiting"], state["vectors"]["batches"]["jobs"]) == (0, 0)
    assert (len(fake.jobs.jobs), fake.jobs.files) == (1, {})


def test_failed_batch_job_is_reported_and_vectors_are_still_made(hold, fake):
    fake.jobs.ends = "failed"
    result = hold("memory", "reindex", "--json", whole=True)
    state = json.loads(result.stdout)["vectors"]
    assert state["waiting"] == 0
    assert "Enqueued token limit" in state["batches"]["trouble"]
    assert "sk-secret" not in result.output
