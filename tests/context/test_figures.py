"""Figures that are right: what a summary made shorter, what was saved in all, what Holdfast asked itself."""

import pytest

from holdfast.context.message_state import banners_of
from holdfast.errors import UpstreamError
from holdfast.messages import Scope
from holdfast.store.statistics import Statistics, StatisticsPeriod
from tests.context.summary_engine import RequestScripts, said, summing, talked

pytestmark = pytest.mark.anyio

WINDOW = 4_096


def freed(engine):
    return sum(row.freed for row in Statistics(engine.store.database).compactions(StatisticsPeriod(0.0)))


async def test_banner_counts_only_what_left_window_despite_large_paste(tmp_path):
    server = RequestScripts(window=WINDOW)
    async with summing(server, tmp_path) as engine:
        paste = "Look at this log.\n" + "\n".join(f"line {at}: the pump {at} is fine" for at in range(4_000))
        client = await talked(engine, turns=3, first=paste)
        for at in range(3, 9):
            await client.say(said(at))
        await engine.background.idle.wait_until_idle()
        await engine.compaction.compact(client.conversation)
        row = engine.store.log.get(client.conversation)
        lane = engine.store.lanes.of(row.id)[0]
        result = [decision for decision in engine.store.decisions.of(lane.id) if decision.kind == "summarise"]
        shown = [banner for items in banners_of(engine.store, row).values() for banner in items]
        assert [(item.tokens_before, item.tokens_after) for item in shown] == [
            (entry.tokens_before, entry.tokens_after) for entry in result
        ]
        assert all(value.tokens_after < value.tokens_before < WINDOW for value in shown)
        report = [compaction for compaction in engine.store.compactions.of(row.id) if compaction.level == 3]
        assert [(one.tokens_before, one.tokens_after) for one in report] == [
            (one.tokens_before, one.tokens_after) for one in result
        ]


async def test_every_token_that_was_saved_is_counted_once(tmp_path):
    server = RequestScripts(window=2_048)
    async with summing(server, tmp_path) as engine:
        client = await talked(engine, turns=30)
        row = engine.store.log.get(client.conversation)
        counter = await engine.models.counters.counter(server, "small")
        path = engine.store.log.path(row.head)
        ever = sum(counter.count_message(stored.message).high for stored in path)
        levels = {compaction.level for compaction in engine.store.compactions.of(row.id)}
        assert {2, 3} <= levels, "what one left out the other sums up"
        assert 0 < freed(engine) < ever
        before = freed(engine)
        lane = engine.store.lanes.of(row.id)[0]
        last = [decision for decision in engine.store.decisions.of(lane.id) if decision.kind == "summarise"][
            -1
        ]
        batch = next(item for item in engine.store.compactions.of(row.id) if item.id == last.batch)
        engine.store.decisions.remove(last.id)
        assert freed(engine) == before - batch.tokens_freed, "what was undone has saved nothing"


async def test_internal_model_requests_appear_in_jobs_and_statistics(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        heard = []
        engine.events.listeners.append(heard.append)
        client = await talked(engine)
        await engine.compaction.compact(client.conversation)
        await engine.compaction.warm(client.conversation)
        jobs = [item for item in engine.store.jobs.recent(100) if item.kind == "background"]
        assert len(jobs) == len(server.asked("summary")) + len(server.asked("flush")) + len(
            server.asked("warm")
        )
        assert len(server.asked("summary")) >= 1
        assert {(job.status, job.model, job.user, job.conversation) for job in jobs} == {
            ("done", "small", Scope().user, None)
        }
        assert all(entry.upstream == server.location and entry.window == WINDOW for entry in jobs)
        datas = [event.data for event in heard if event.kind == "job" and event.data["kind"] == "background"]
        assert [data["status"] for data in datas] == ["running", "done"] * len(jobs)
        (day,) = Statistics(engine.store.database).jobs(StatisticsPeriod(0.0))
        assert day.jobs == len(server.requests)
        last = engine.store.jobs.recent(1, conversation=client.conversation)
        assert [value.kind for value in last] == ["main"], "it is no turn of the conversation"


async def test_a_helper_that_fails_is_in_the_log_with_its_trouble(tmp_path):
    server = RequestScripts()
    async with summing(server, tmp_path) as engine:
        client = await talked(engine)

        def broken(_):
            raise UpstreamError("out of memory", status=500)

        server.scripts["flush"] = server.scripts["summary"] = broken
        await engine.compaction.compact(client.conversation)
        jobs = [item for item in engine.store.jobs.recent(100) if item.kind == "background"]
        assert jobs
        assert {job.status for job in jobs} == {"failed"}
        assert all("out of memory" in entry.error for entry in jobs)
