"""`holdfast jobs`: for people, for programs, and only those that were asked for."""

import json

import pytest

from holdfast.messages import Scope, Usage
from holdfast.store import open_store


@pytest.fixture
def jobs(home):
    home.mkdir()
    with open_store(f"sqlite:///{home / 'holdfast.db'}") as store:
        done = store.jobs.start(Scope(), model="small", now=100.0)
        store.jobs.end(done.id, "done", usage=Usage(120, 7), first_token_at=101.5, now=103.0)
        waits = store.jobs.start(Scope("bob"), model="small", queued=True, now=200.0)
    return done.id, waits.id


def test_there_are_none_at_first(hold):
    assert hold("jobs").strip() == "No requests yet."
    assert json.loads(hold("jobs", "--json")) == []


def test_they_are_listed_for_people(hold, jobs):
    # A narrow terminal folds lines, but not within a word.
    words = hold("jobs").split()
    assert words.index("waits") < words.index("done")
    assert {"small", "120", "7", "1.5", "3.0"} <= set(words)


def test_they_are_listed_for_programs(hold, jobs):
    (row,) = json.loads(hold("jobs", "--status", "done", "--json"))
    assert row["id"] == jobs[0]
    assert row["tokens"] == {"prompt": 120, "completion": 7, "cached": None}
    assert len(json.loads(hold("jobs", "--limit", "1", "--json"))) == 1


def test_a_status_that_does_not_exist_is_an_error(hold, jobs):
    failed = hold("jobs", "--status", "asleep", whole=True)
    assert failed.exit_code == 1
    assert "no job has the status" in str(failed.exception)
