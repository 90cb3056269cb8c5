"""One summary after the other, and whatever else is done in between: nothing lost, nothing twice."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from holdfast.conversations import lanes
from holdfast.errors import BadRequest
from tests.context.summary_engine import (
    EAGER,
    RULE,
    RequestScripts,
    chain,
    check_chain,
    decided,
    rows_of,
    said,
    shown,
    summing,
    talked,
)

pytestmark = pytest.mark.anyio


def texts_of(request):
    return [message.text for message in request.messages]


@pytest.mark.slow
async def test_the_thirtieth_summary_is_as_good_as_the_first(tmp_path):
    server = RequestScripts(talk="Fine.")
    only_asked = replace(EAGER, levels=replace(EAGER.levels, ahead=None))
    async with summing(server, tmp_path, preset=only_asked) as engine:
        client = await talked(engine, turns=4)
        sizes = []
        for number in range(30):
            await client.say(f"{said(number)} See file_{number}.py.")
            await client.say(f"And {number}?")
            await engine.compaction.compact(client.conversation)
            sizes.append(len(str(chain(engine, client)[-1].body)))
            if number in (1, 9, 29):
                assert len(check_chain(engine, client)) == number + 1
        await client.say("And now?")
        assert RULE in shown(server)
        assert sizes[29] - sizes[19] < 1.5 * (sizes[20] - sizes[10]), "it grows by what is new alone"
        (lane,) = engine.store.lanes.of(client.conversation)
        (result,) = [item for item in decided(engine, client) if item.id == lane.state["summary"]]
        assert result.tokens_after <= engine.fitter.preset.budget(4_096).summary


STEPS = st.lists(st.sampled_from(["talk", "talk", "compact", "rest", "undo", "edit"]), min_size=3, max_size=9)


@pytest.mark.slow
@settings(
    max_examples=6,
    deadline=None,
    # Each example is a whole talk: making a failing one smaller takes too long.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(steps=STEPS)
def test_random_operations_cover_every_message_once_and_window_fits(tmp_path_factory, steps):
    asyncio.run(_whatever(tmp_path_factory.mktemp("talk"), steps))


async def _whatever(folder, steps):
    server = RequestScripts(talk="Noted.", window=2_048)
    async with summing(server, folder, memories=False) as engine:
        client, store, number = await talked(engine, turns=5), engine.store, 100
        for step in steps:
            try:
                if step == "talk":
                    for _ in range(4):
                        number += 1
                        await client.say(said(number))
                elif step == "edit":
                    client.history[len(client.history) // 2 // 2 * 2 :] = []
                    number += 1
                    await client.say(said(number))
                elif step == "undo":
                    store.atomically(lanes.undo, store, store.log.get(client.conversation))
                elif step == "rest":
                    await engine.compaction.at_rest(client.conversation, ask=False)
                else:
                    await engine.compaction.compact(client.conversation)
            except (BadRequest, lanes.NotFound):
                pass  # there was nothing to summarise, or to undo
            await engine.background.idle.wait_until_idle()
            check_chain(engine, client)
            assert client.report["tokens"] <= client.report["room"]
            assert len(rows_of(engine, "leases")) == 0
        await client.say("And now?")
        if "edit" not in steps:
            assert RULE in "\n".join(texts_of(server.asked("talk")[-1]))
        assert texts_of(server.asked("talk")[-1])[-1].startswith("And now?")
