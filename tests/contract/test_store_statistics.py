"""Statistics on every backend: the same numbers, each person's own, by the reader's days."""

from holdfast.messages import Scope, Usage
from holdfast.store.statistics import (
    DAY,
    DayOfCompactions,
    DayOfWaiting,
    ModelTotals,
    Statistics,
    StatisticsPeriod,
)

ADA, BOB = Scope("ada", "garden"), Scope("bob")


def job(
    store, at, *, scope=ADA, waited=1.0, took=2.0, model="m", usage=(100, 20, 60), status="done", kind="main"
):
    result = store.jobs.start(scope, kind=kind, model=model, now=at)
    first = None if waited is None else at + waited
    store.jobs.end(
        result.id,
        status,
        usage=Usage(*usage),
        first_token_at=first,
        now=None if first is None else first + took,
    )


def test_jobs_are_added_up_by_the_days_of_the_reader(store):
    job(store, 10 * DAY - 0.25 * DAY)
    job(store, 10 * DAY + 5)
    job(store, 10 * DAY + 9, status="failed", waited=None, usage=(None, None, None))
    statistics = Statistics(store.database)
    before, after = statistics.jobs(StatisticsPeriod(0.0))
    assert (before.day, before.jobs, before.prompt, before.cached, before.completion) == (9, 1, 100, 60, 20)
    assert (after.day, after.jobs, after.failed, after.prompt) == (10, 2, 1, 100)
    assert (after.written, after.writing) == (20, 2.0)
    # Six hours further east the first one was already of the next day.
    (item,) = statistics.jobs(StatisticsPeriod(0.0, offset=6 * 3600))
    assert (item.day, item.jobs) == (10, 3)
    assert [row.day for row in statistics.jobs(StatisticsPeriod(10.0 * DAY))] == [10]
    assert statistics.jobs(StatisticsPeriod(11.0 * DAY)) == []


def test_half_of_the_answers_began_before_the_median(store):
    for waited in (4.0, 1.0, 3.0, 2.0):
        job(store, 5 * DAY + 1, waited=waited)
    for waited in range(100, 0, -1):
        job(store, 6 * DAY + 1, waited=float(waited))
    job(store, 6 * DAY + 1, waited=None)
    job(store, 6 * DAY + 1, waited=9_999.0, kind="background")
    results = Statistics(store.database).waiting(StatisticsPeriod(0.0))
    assert results == [DayOfWaiting(5, 2.5, 4.0), DayOfWaiting(6, 50.5, 95.0)]


def test_everybody_has_numbers_of_their_own(store):
    for scope, model in ((ADA, "small"), (BOB, "large"), (BOB, "large")):
        job(store, DAY, scope=scope, model=model)
        row = store.log.create(scope)
        store.compactions.record(
            row.id, lane="l", level=2, strategy="", messages=3, tokens_before=900, tokens_after=200, now=DAY
        )
    statistics = Statistics(store.database)
    assert statistics.models(StatisticsPeriod(0.0)) == [
        ModelTotals("large", 2, 200, 40),
        ModelTotals("small", 1, 100, 20),
    ]
    assert statistics.compactions(StatisticsPeriod(0.0)) == [DayOfCompactions(1, 2, 3, 2_100)]
    ada = StatisticsPeriod(0.0, user="ada", project="garden")
    assert statistics.models(ada) == [ModelTotals("small", 1, 100, 20)]
    assert statistics.compactions(ada) == [DayOfCompactions(1, 2, 1, 700)]
    assert statistics.jobs(StatisticsPeriod(0.0, user="ada", project="elsewhere")) == []
