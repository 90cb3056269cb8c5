"""Jobs that wait and jobs that are forgotten, on every store."""

import pytest

from holdfast.errors import BadRequest
from holdfast.messages import Message, Scope
from holdfast.store.jobs import STOPPED, job_to_json, parse_status

SCOPE = Scope("ann")


def test_a_job_that_has_to_wait_is_queued_until_its_turn(store):
    job = store.jobs.start(SCOPE, now=1.0)
    store.jobs.mark_queued(job.id, "http://127.0.0.1")
    waits = store.jobs.get(job.id)
    assert (waits.status, waits.started_at, waits.upstream) == ("queued", None, "http://127.0.0.1")
    store.jobs.mark_running(job.id, now=3.0)
    runs = store.jobs.get(job.id)
    assert (runs.status, runs.started_at, runs.upstream) == ("running", 3.0, "http://127.0.0.1")
    store.jobs.end(job.id, "done", now=4.0)
    store.jobs.mark_queued(job.id, "elsewhere")
    assert store.jobs.get(job.id).status == "done"


def test_jobs_are_found_by_whose_they_are(store):
    ours = store.jobs.start(SCOPE)
    in_project = store.jobs.start(Scope("ann", "shed"))
    store.jobs.start(Scope("bob"))
    assert {job.id for job in store.jobs.recent(user="ann")} == {ours.id, in_project.id}
    assert [job.id for job in store.jobs.recent(user="ann", project="shed")] == [in_project.id]
    assert len(store.jobs.recent()) == 3


def test_abandoned_jobs_are_ended_unless_draft_is_being_written(store):
    conversation, _ = store.log.begin(SCOPE, [])
    left, young = (store.jobs.start(SCOPE, kind="side", now=at).id for at in (1.0, 50.0))
    done = store.jobs.start(SCOPE, now=1.0).id
    store.jobs.end(done, "done", now=2.0)
    written = store.jobs.start(SCOPE, conversation=conversation.id, now=1.0).id
    store.drafts.save(written, conversation.id, None, Message.of("assistant", "So far"), now=1.0)
    assert store.jobs.abandon(10.0, now=60.0) == 1
    results = {job.id: job for job in store.jobs.recent()}
    assert (results[left].status, results[left].error, results[left].finished_at) == ("cut", STOPPED, 60.0)
    assert [results[name].status for name in (young, done, written)] == ["running", "done", "running"]
    # Its answer is kept as far as it came, and why there is no more of it is told too.
    store.drafts.recover(now=60.0)
    assert (store.jobs.get(written).status, store.jobs.get(written).error) == ("cut", STOPPED)


def test_old_jobs_are_forgotten_but_not_those_of_conversations(store):
    conversation, _ = store.log.begin(SCOPE, [])
    named = store.jobs.start(SCOPE, conversation=conversation.id, now=1.0)
    old = store.jobs.start(SCOPE, kind="side", now=1.0)
    new = store.jobs.start(SCOPE, kind="side", now=9.0)
    for job in (named, old, new):
        store.jobs.end(job.id, "done", now=10.0)
    assert store.jobs.forget(5.0) == 1
    assert {job.id for job in store.jobs.recent()} == {named.id, new.id}


def test_job_json_reveals_nothing_about_the_prompt(store):
    report = job_to_json(store.jobs.start(SCOPE, model="m", prompt="digest"))
    assert report["tokens"] == {"prompt": None, "completion": None, "cached": None}
    assert (report["model"], report["status"]) == ("m", "running")
    assert "digest" not in report.values()


def test_a_status_goes_by_its_name():
    assert parse_status("queued") == "queued"
    with pytest.raises(BadRequest, match="no job has the status"):
        parse_status("asleep")
