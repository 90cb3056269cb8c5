"""Figures that are right: what a summary made shorter, what was saved in all, what Holdfast asked itself."""

import pytest

from holdfast.context.message_state import banners_of
from holdfast.errors import UpstreamError
from holdfast.messages import Scope
from holdfast.store.statistics import Statistics, StatisticsPeriod
from tests.context.summary_engine import Playing, said, summing, talked

pytestmark = pytest.mark.anyio

WINDOW = 4_096


def freed(engine):
    return sum(row.freed for row in Statistics(engine.store.database).compactions(StatisticsPeriod(0.0)))


async def test_banner_counts_only_what_left_window_despite_large_paste(tmp_path):
    server = Playing(window=WINDOW)
    async with summing(server, tmp_path) as engine:
        paste = "Look at this log.\n" + "\n".join(f"line {at}: the pump {at} is fine" for at in range(4_000))
        client = await talked(engine, turns=3, first=paste)
        for at in range(3, 9):
            await client.say(said(at))
        await engine.background.idle.wait_until_idle()
        await engine.compaction.compact(client.conversation)
        row = engine.store.log.get(client.conversation)
        lane = engine.store.lanes.of(row.id)[0]
        made = [one for one in engine.store.decisions.of(lane.id) if one.kind == "summarise"]
        shown = [banner for several in banners_of(engine.store, row).values() for banner in several]
        assert [(one.tokens_before, one.tokens_after) for one in shown] == [
            (one.tokens_before, one.tokens_after) for one in made
        ]
        assert all(one.tokens_after < one.tokens_before < WINDOW for one in shown)
        told = [one for one in engine.store.compactions.of(row.id) if one.level == 3]
        assert [(one.tokens_before, one.tokens_after) for one in told] == [
            (one.tokens_before, one.tokens_after) for one in made
        ]


async def test_every_token_that_was_saved_is_counted_once(tmp_path):
    server = Playing(window=2_048)
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, turns=30)
        row = engine.store.log.get(client.conversation)
        counter = await engine.models.counters.counter(server, "small")
        path = engine.store.log.path(row.head)
        ever = sum(counter.count_message(stored.message).high for stored in path)
        levels = {one.level for one in engine.store.compactions.of(row.id)}
        assert {2, 3} <= levels, "what one left out the other sums up"
        assert 0 < freed(engine) < ever
        before = freed(engine)
        lane = engine.store.lanes.of(row.id)[0]
        last = [one for one in engine.store.decisions.of(lane.id) if one.kind == "summarise"][-1]
        batch = next(one for one in engine.store.compactions.of(row.id) if one.id == last.batch)
        engine.store.decisions.remove(last.id)
        assert freed(engine) == before - batch.tokens_freed, "what was undone has saved nothing"


async def test_internal_model_requests_appear_in_jobs_and_statistics(tmp_path):
    server = Playing()
    async with summing(server, tmp_path) as engine:
        heard = []
        engine.events.listeners.append(heard.append)
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        await engine.compaction.warm(client.conversation)
        jobs = [one for one in engine.store.jobs.recent(100) if one.kind == "background"]
        assert len(jobs) == len(server.asked("summary")) + len(server.asked("flush")) + len(
            server.asked("warm")
        )
        assert len(server.asked("summary")) >= 1
        assert {(one.status, one.model, one.user, one.conversation) for one in jobs} == {
            ("done", "small", Scope().user, None)
        }
        assert all(one.upstream == server.location and one.window == WINDOW for one in jobs)
        told = [event.data for event in heard if event.kind == "job" and event.data["kind"] == "background"]
        assert [data["status"] for data in told] == ["running", "done"] * len(jobs)
        (day,) = Statistics(engine.store.database).jobs(StatisticsPeriod(0.0))
        assert day.jobs == len(server.requests)
        last = engine.store.jobs.recent(1, conversation=client.conversation)
        assert [one.kind for one in last] == ["main"], "it is no turn of the conversation"


async def test_a_helper_that_fails_is_in_the_log_with_its_trouble(tmp_path):
    server = Playing()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)

        def broken(_):
            raise UpstreamError("out of memory", status=500)

        server.scripts["flush"] = server.scripts["summary"] = broken
        await engine.compaction.compact(client.conversation)
        jobs = [one for one in engine.store.jobs.recent(100) if one.kind == "background"]
        assert jobs
        assert {one.status for one in jobs} == {"failed"}
        assert all("out of memory" in one.error for one in jobs)
