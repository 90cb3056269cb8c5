"""Lines before model servers: nobody overtakes, nobody is forgotten, and no place is lost."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ConfigError, Stopped
from holdfast.upstreams.queue import Queue, QueueLength, parse_parallel

pytestmark = pytest.mark.anyio


USERS = st.sampled_from("abc")
# Somebody comes, or one of those who are there leaves, waiting or served.
STEPS = st.lists(
    st.tuples(st.just("come"), USERS) | st.tuples(st.just("go"), st.integers(0, 20)), max_size=60
)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 3), STEPS)
def test_no_place_is_lost_and_turns_are_taken(capacity, steps):
    queue = Queue(lambda _: capacity)
    value, served = [], set()
    # Who was served since each user began to wait, or was served themselves.
    before = {}
    for what, name in steps:
        if what == "come":
            value.append(queue.enter("server", name))
        elif value:
            gone = value.pop(name % len(value))
            gone.leave()
            gone.leave()
        waiting = {place.user for place in value if not place.served}
        before = {user: before.get(user, set()) for user in waiting}
        for place in [place for place in value if place.served and place not in served]:
            served.add(place)
            mine = [other for other in value if other.user == place.user]
            assert all(other.served for other in mine[: mine.index(place)])
            for user in waiting - {place.user}:
                assert place.user not in before[user]
                before[user].add(place.user)
            before.pop(place.user, None)
        running = sum(place.served for place in value)
        assert running == min(capacity, len(value))
        if value:
            assert queue.lengths["server"] == QueueLength(running, len(value) - running)
    for place in value:
        place.leave()
    assert all(length == QueueLength(0, 0) for length in queue.lengths.values())


@given(st.lists(USERS, min_size=2, max_size=25))
def test_positions_are_the_order_in_which_turns_come(users):
    queue = Queue()
    places = [queue.enter("server", user) for user in users]
    expected = sorted((place for place in places if not place.served), key=lambda place: place.position)
    assert sorted(place.position for place in expected) == list(range(1, len(users)))
    places[0].leave()
    for place in expected:
        assert place.served
        place.leave()


async def test_users_take_turns_and_each_is_served_in_order():
    queue, order = Queue(), []

    async def ask(user, number):
        with queue.enter("server", user) as place:
            await place.wait()
            order.append((user, number))

    first = queue.enter("server", "ann")
    asking = [asyncio.create_task(ask("ann", number)) for number in (1, 2, 3)]
    await asyncio.sleep(0)
    asking += [asyncio.create_task(ask("bob", number)) for number in (1, 2)]
    await asyncio.sleep(0)
    first.leave()
    await asyncio.gather(*asking)
    assert order == [("bob", 1), ("ann", 1), ("bob", 2), ("ann", 2), ("ann", 3)]


async def test_whoever_gives_up_waiting_leaves_no_gap():
    queue = Queue()
    first = queue.enter("server", "ann")

    async def ask():
        with queue.enter("server", "bob") as place:
            await place.wait()

    waiting = asyncio.create_task(ask())
    await asyncio.sleep(0)
    # Its turn comes in the same moment in which it gives up.
    first.leave()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert queue.enter("server", "cleo").served


async def test_lines_are_apart_and_may_have_no_limit():
    queue = Queue({"one": 1, "any": 0}.get)
    assert queue.enter("one", "ann").served
    assert not queue.enter("one", "ann").served
    assert all(queue.enter("any", "ann").served for _ in range(20))


async def test_closing_tells_those_who_wait_and_lets_nobody_in():
    queue = Queue()
    running, waiting = queue.enter("server", "ann"), queue.enter("server", "bob")
    asked = asyncio.create_task(waiting.wait())
    await asyncio.sleep(0)
    queue.close()
    with pytest.raises(Stopped):
        await asked
    running.leave()
    for late in (waiting, queue.enter("server", "cleo"), queue.enter("another", "cleo")):
        with pytest.raises(Stopped):
            await late.wait()


def test_what_single_servers_can_do_is_read_from_the_settings():
    assert parse_parallel("") == {}
    assert parse_parallel("big=4, small = 1") == {"big": 4, "small": 1}
    for wrong in ("4", "big=", "=4", "big=-1", "big=x"):
        with pytest.raises(ConfigError):
            parse_parallel(wrong)
