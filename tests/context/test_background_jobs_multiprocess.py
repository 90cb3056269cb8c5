"""What is done when nobody waits, beside another process on the same store: neither too early nor never."""

import time

import pytest

from holdfast.background.jobs import REST, BackgroundJobs
from tests.context.summary_engine import RequestScripts, chain, summing, talked

pytestmark = pytest.mark.anyio


async def test_conversation_active_on_another_server_rests_only_after_idle_period(tmp_path):
    async with summing(RequestScripts(), tmp_path) as engine:
        client = await talked(engine, turns=2)
        now = [time.time() - 2 * REST]
        later = BackgroundJobs(engine.store, engine.compaction, None, clock=lambda: now[0])
        # It was talked in here long ago; the last words were said to the other server just now.
        later.after_answer(client.conversation, near=False)
        now[0] = time.time()
        later.start()
        await later.idle.wait_until_idle()
        assert chain(engine, client) == []
        now[0] += REST
        later.start()
        await later.idle.wait_until_idle()
        assert len(chain(engine, client)) == 1
        await later.close()


async def test_what_another_process_leaves_behind_is_looked_for_again_and_again(tmp_path):
    async with summing(RequestScripts(), tmp_path) as engine:
        engine.background.start()
        await engine.background.idle.wait_until_idle()
        assert {"notes", "left behind"} <= set(engine.background.idle.waiting)
