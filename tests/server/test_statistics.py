"""The last days in numbers, over REST: each person's own, today last."""

import time

import pytest

from holdfast.messages import Scope, Usage
from holdfast.store import Key
from tests.server.test_chats import ask, found, refused

DAY = 86_400


@pytest.fixture
def running(serve):
    return serve()


def days(running, **params):
    return found(running.client.get("/api/statistics", params=params))["days"]


def test_the_last_days_are_all_there_and_today_is_the_last(running):
    report = days(running, days=7)
    assert len(report) == 7
    assert report[-1]["day"] == time.strftime("%Y-%m-%d", time.gmtime())
    assert report[-1]["tokens"] == {"prompt": 0, "cached": 0, "completion": 0}
    assert report[-1]["first_token_seconds"] == {"median": None, "slow": None}
    assert report[-1]["tokens_per_second"] is None


def test_a_turn_is_counted_today(running):
    ask(running.client, "How are the roses?")
    today = days(running)[-1]
    assert (today["jobs"], today["failed"]) == (1, 0)
    assert today["tokens"]["prompt"] > 0
    assert today["tokens"]["completion"] > 0
    assert today["first_token_seconds"]["median"] >= 0
    (model,) = found(running.client.get("/api/statistics"))["models"]
    assert (model["model"], model["jobs"]) == ("scripted", 1)


def test_speed_and_savings_are_those_of_their_day(running):
    # A server that starts ends the jobs that others left open long ago: it has started when it answers.
    days(running)
    store, then = running.store, time.time() - 2 * DAY
    job = store.jobs.start(Scope(), now=then)
    store.jobs.end(job.id, "done", usage=Usage(90, 30, 45), first_token_at=then + 2, now=then + 12)
    chat = store.log.create(Scope())
    for level, freed in ((2, 300), (3, 1_000), (3, 500)):
        store.compactions.record(
            chat.id,
            lane="l",
            level=level,
            strategy="",
            messages=1,
            tokens_before=freed,
            tokens_after=0,
            now=then,
        )
    day = days(running, days=5)[-3]
    assert day["tokens"] == {"prompt": 90, "cached": 45, "completion": 30}
    assert (day["tokens_per_second"], day["first_token_seconds"]) == (3.0, {"median": 2.0, "slow": 2.0})
    assert (day["compactions"], day["freed"]) == ({"2": 1, "3": 2}, {"2": 300, "3": 1_500})


def test_others_see_only_their_own(serve):
    running = serve(require_key=True)
    for user in ("ada", "bob", "bob"):
        running.store.jobs.start(Scope(user))
    seen = []
    for key in (Key(user="ada"), Key(user="root", admin=True)):
        headers = {"Authorization": f"Bearer {running.store.keys.create(key)[1]}"}
        report = found(running.client.get("/api/statistics", headers=headers))
        seen.append(report["days"][-1]["jobs"])
    assert seen == [1, 3]
    refused(running.client.get("/api/statistics"), 401)


@pytest.mark.parametrize("asked", [{"days": 0}, {"days": 400}, {"days": "x"}, {"utc_offset": 1_000}])
def test_what_makes_no_sense_is_refused(running, asked):
    refused(running.client.get("/api/statistics", params=asked), 400)
