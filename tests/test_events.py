"""Events reach those who follow, in order and in their own scope; who falls behind is told."""

import asyncio
import threading
from contextlib import aclosing

import pytest

from holdfast.events import LAGGED, Events
from holdfast.messages import Scope

pytestmark = pytest.mark.anyio

MINE, THEIRS = Scope(), Scope(project="theirs")


async def take(followed, count):
    return [await anext(followed) for _ in range(count)]


def numbers(events):
    return [event.data["n"] for event in events]


async def test_follower_receives_later_events_in_order():
    events = Events()
    events.publish("step", {"n": 0})
    async with aclosing(events.follow(MINE)) as followed:
        # Published before the first look at the stream, but after following began.
        for n in (1, 2):
            events.publish("step", {"n": n}, now=100.0 + n)
        first, second = await take(followed, 2)
    assert (first.kind, first.data, first.scope, first.at) == ("step", {"n": 1}, MINE, 101.0)
    assert second.id == first.id + 1


async def test_events_of_other_scopes_are_not_seen():
    events = Events()
    async with aclosing(events.follow(MINE)) as followed:
        events.publish("step", {"n": 1}, THEIRS)
        events.publish("step", {"n": 2}, Scope(kind="group"))
        events.publish("step", {"n": 3}, Scope(user="other"))
        events.publish("step", {"n": 4}, MINE)
        assert numbers(await take(followed, 1)) == [4]


async def test_a_waiting_follower_is_woken_from_any_thread():
    events = Events()
    async with aclosing(events.follow(MINE)) as followed:
        waiting = asyncio.create_task(anext(followed))
        await asyncio.sleep(0)
        assert events.followers == 1
        threads = [threading.Thread(target=events.publish, args=("step", {"n": n})) for n in range(20)]
        for thread in threads:
            thread.start()
        seen = [await waiting, *await take(followed, 19)]
        for thread in threads:
            thread.join()
    assert sorted(numbers(seen)) == list(range(20))
    assert [event.id for event in seen] == sorted(event.id for event in seen)


async def test_who_comes_back_gets_what_happened_meanwhile():
    events = Events()
    sent = [events.publish("step", {"n": n}) for n in range(5)]
    async with aclosing(events.follow(MINE, after=sent[1].id)) as followed:
        assert await take(followed, 3) == sent[2:]


async def test_a_slow_follower_loses_the_oldest_and_is_told_how_many():
    events = Events(remembered=3)
    async with aclosing(events.follow(MINE)) as followed:
        events.publish("step", {"n": 0})
        assert numbers(await take(followed, 1)) == [0]
        for n in range(1, 11):
            events.publish("step", {"n": n})
        lagged, *rest = await take(followed, 4)
        assert (lagged.kind, lagged.data) == (LAGGED, {"missed": 7})
        assert numbers(rest) == [8, 9, 10]
        assert rest[0].id == lagged.id + 1


@pytest.mark.parametrize("after", [0, 7, 10**15])
async def test_event_position_from_earlier_process_reports_lag(after):
    events = Events()
    events.publish("step", {"n": 1})
    async with aclosing(events.follow(MINE, after=after)) as followed:
        lagged, event = await take(followed, 2)
        assert (lagged.kind, lagged.data) == (LAGGED, {"missed": None})
        assert event.data == {"n": 1}


async def test_unknown_event_position_reports_lag_once_while_idle():
    events = Events()
    async with aclosing(events.follow(MINE, after=7)) as followed:
        assert (await anext(followed)).kind == LAGGED
        events.publish("step", {"n": 1})
        assert numbers(await take(followed, 1)) == [1]


async def test_closing_ends_followers_after_what_they_still_had_to_get():
    events = Events()
    behind, waiting = events.follow(MINE), events.follow(THEIRS)
    task = asyncio.create_task(anext(waiting, None))
    await asyncio.sleep(0)
    assert events.followers == 1
    events.publish("step", {"n": 1})
    events.close()
    assert await task is None
    assert numbers([event async for event in behind]) == [1]
    assert events.followers == 0


async def test_a_follower_that_leaves_is_forgotten():
    events = Events()
    followed = events.follow(MINE)
    task = asyncio.create_task(anext(followed))
    await asyncio.sleep(0)
    assert events.followers == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert events.followers == 0


async def test_a_follower_on_a_dead_event_loop_stops_nobody():
    events = Events()
    left = []

    def elsewhere():
        loop = asyncio.new_event_loop()
        followed = events.follow(MINE)
        task = loop.create_task(anext(followed))
        loop.run_until_complete(asyncio.sleep(0))
        left.append((followed, task))
        loop.close()

    await asyncio.to_thread(elsewhere)
    assert events.followers == 1
    async with aclosing(events.follow(MINE)) as followed:
        events.publish("step", {"n": 1})
        assert numbers(await take(followed, 1)) == [1]
    assert events.followers == 0
    # The task that could not end is let go without a word.
    left[0][1]._log_destroy_pending = False


async def test_listeners_hear_of_every_scope():
    events, heard = Events(), []
    events.listeners.append(heard.append)
    result = [events.publish("step", {"n": 1}, MINE), events.publish("step", {"n": 2}, THEIRS)]
    assert heard == result


async def test_scopes_that_nobody_follows_are_forgotten_when_there_are_many():
    events = Events(scopes=2)
    old = events.publish("step", {"n": 0}, MINE)
    async with aclosing(events.follow(THEIRS)) as followed:
        waiting = asyncio.create_task(anext(followed))
        await asyncio.sleep(0)
        for number in range(5):
            events.publish("step", {"n": number}, Scope(project=f"p{number}"))
        events.publish("step", {"n": 9}, THEIRS)
        assert (await waiting).data == {"n": 9}
    # Ids go on rising in a scope that was forgotten: whoever comes back knows that something is missing.
    new = events.publish("step", {"n": 1}, MINE)
    assert new.id > old.id
    async with aclosing(events.follow(MINE, old.id)) as followed:
        lagged, event = await take(followed, 2)
    assert (lagged.kind, lagged.data, event.data) == (LAGGED, {"missed": None}, {"n": 1})
