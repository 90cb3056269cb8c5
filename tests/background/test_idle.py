"""Idle work: one piece at a time, never beside a person, and nothing that fails stops the rest."""

import asyncio
import logging

import pytest

from holdfast.background.jobs import IdleScheduler
from holdfast.errors import Unreachable
from holdfast.i18n import current_language, speak

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Bench:
    """Pieces of work that say when they begin, and go on when they are told to."""

    def __init__(self):
        self.done = []
        self.begun = []
        self.begins = asyncio.Semaphore(0)
        self.may_end = asyncio.Event()

    def piece(self, name):
        async def work():
            self.begun.append(name)
            self.begins.release()
            await self.may_end.wait()
            self.done.append(name)

        return work

    def quick(self, name):
        async def work():
            self.done.append(name)

        return work


@pytest.fixture
async def bench():
    return Bench()


@pytest.fixture
async def idle():
    idle = IdleScheduler()
    yield idle
    await idle.close()


async def test_pieces_are_done_one_at_a_time_and_in_order(idle, bench):
    for name in ("one", "two", "three"):
        idle.schedule(name, bench.piece(name))
    await bench.begins.acquire()
    assert (idle.running, idle.waiting, bench.begun) == ("one", ("two", "three"), ["one"])
    bench.may_end.set()
    await idle.wait_until_idle()
    assert bench.done == ["one", "two", "three"]
    assert (idle.running, idle.waiting) == (None, ())


async def test_a_person_interrupts_and_the_piece_begins_anew_afterwards(idle, bench):
    idle.schedule("one", bench.piece("one"))
    idle.schedule("two", bench.piece("two"))
    await bench.begins.acquire()
    with idle.pause():
        with idle.pause():
            for _ in range(5):
                await asyncio.sleep(0)
            assert (idle.running, idle.waiting) == (None, ("one", "two"))
        # One has left, one is still there.
        assert (idle.running, bench.begun) == (None, ["one"])
    await bench.begins.acquire()
    assert bench.begun == ["one", "one"]
    bench.may_end.set()
    await idle.wait_until_idle()
    assert bench.done == ["one", "two"]


async def test_nothing_begins_while_a_person_is_there(idle, bench):
    with idle.pause():
        idle.schedule("one", bench.quick("one"))
        quiet = asyncio.create_task(idle.wait_until_idle())
        for _ in range(5):
            await asyncio.sleep(0)
        assert (bench.done, idle.waiting, quiet.done()) == ([], ("one",), False)
    await quiet
    assert bench.done == ["one"]


async def test_a_person_whose_request_fails_is_gone_too(idle, bench):
    with pytest.raises(Unreachable), idle.pause():
        raise Unreachable("no server")
    idle.schedule("one", bench.quick("one"))
    await idle.wait_until_idle()
    assert bench.done == ["one"]


async def test_calm_work_begins_when_nobody_came_for_a_while(bench):
    clock = Clock()
    idle = IdleScheduler(clock)
    idle.schedule("at once", bench.quick("at once"), calm=20)
    await idle.wait_until_idle()
    assert bench.done == ["at once"], "nobody was there yet"
    idle.schedule("calm", bench.quick("calm"), calm=20)
    for _ in range(3):
        clock.now += 19
        with idle.pause():
            pass
        idle.schedule("soon", bench.quick("soon"))
        await idle.wait_until_idle()
    assert (bench.done, idle.waiting) == (["at once", "soon", "soon", "soon"], ("calm",))
    clock.now += 20
    idle.schedule("soon", bench.quick("soon"))
    await idle.wait_until_idle()
    assert sorted(bench.done[4:]) == ["calm", "soon"]
    await idle.close()


async def test_rescheduled_work_replaces_waiting_work_and_restarts_its_delay(bench):
    clock = Clock()
    idle = IdleScheduler(clock)
    idle.schedule("flush", bench.quick("old"), after=900)
    idle.schedule("other", bench.quick("other"), after=1000)
    clock.now += 800
    idle.schedule("flush", bench.quick("new"), after=900)
    assert idle.waiting == ("other", "flush")
    clock.now += 200
    with idle.pause():
        pass
    await idle.wait_until_idle()
    assert (bench.done, idle.waiting) == (["other"], ("flush",))
    clock.now += 700
    with idle.pause():
        pass
    await idle.wait_until_idle()
    assert bench.done == ["other", "new"]
    await idle.close()


async def test_a_delay_ends_by_itself(idle, bench):
    idle.schedule("one", bench.piece("one"), after=0.01)
    await asyncio.wait_for(bench.begins.acquire(), 20)
    assert idle.running == "one"


async def test_what_is_put_while_its_older_self_runs_comes_after_it(idle, bench):
    idle.schedule("one", bench.piece("old"))
    await bench.begins.acquire()
    idle.schedule("one", bench.piece("new"))
    bench.may_end.set()
    await idle.wait_until_idle()
    assert bench.done == ["old", "new"]


async def test_an_interrupted_piece_does_not_return_beside_its_newer_self(idle, bench):
    idle.schedule("one", bench.piece("old"))
    await bench.begins.acquire()
    with idle.pause():
        idle.schedule("one", bench.piece("new"))
    bench.may_end.set()
    await idle.wait_until_idle()
    assert (bench.begun, bench.done) == (["old", "new"], ["new"])


async def test_dropped_work_is_not_done_whether_it_waits_or_runs(idle, bench):
    idle.schedule("runs", bench.piece("runs"))
    idle.schedule("waits", bench.piece("waits"))
    idle.schedule("stays", bench.quick("stays"))
    await bench.begins.acquire()
    with idle.pause():
        idle.cancel("runs")
        idle.cancel("waits")
        idle.cancel("unheard of")
    await idle.wait_until_idle()
    assert (bench.begun, bench.done) == (["runs"], ["stays"])


async def test_a_piece_that_ends_well_although_interrupted_is_done(idle):
    begun, done = asyncio.Event(), []

    async def stubborn():
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            done.append("just in time")

    idle.schedule("one", stubborn)
    await begun.wait()
    with idle.pause():
        pass
    await idle.wait_until_idle()
    assert done == ["just in time"]


async def test_an_interruption_that_surfaces_as_an_error_is_still_one(idle, caplog):
    tries, begun = [], asyncio.Event()

    async def translating():
        tries.append(1)
        begun.set()
        if len(tries) == 1:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise Unreachable("the connection was closed") from None

    idle.schedule("one", translating)
    await begun.wait()
    with idle.pause():
        pass
    await idle.wait_until_idle()
    assert len(tries) == 2
    assert caplog.records == []


async def test_failures_are_logged_and_do_not_stop_the_rest(idle, bench, caplog):
    async def fails():
        raise Unreachable("the model server is away")

    async def breaks():
        raise KeyError("a mistake of ours")

    def cannot_begin():
        raise TypeError("no coroutine")

    for name, work in (
        ("fails", fails),
        ("breaks", breaks),
        ("odd", cannot_begin),
        ("good", bench.quick("x")),
    ):
        idle.schedule(name, work)
    await idle.wait_until_idle()
    assert bench.done == ["x"]
    assert idle.waiting == ()
    report = {record.getMessage(): (record.levelno, record.exc_info is not None) for record in caplog.records}
    assert report == {
        "fails: the model server is away": (logging.WARNING, False),
        "breaks failed": (logging.ERROR, True),
        "odd failed": (logging.ERROR, True),
    }


async def test_closing_gives_up_everything(idle, bench):
    idle.schedule("runs", bench.piece("runs"))
    idle.schedule("waits", bench.quick("waits"))
    idle.schedule("later", bench.quick("later"), after=60)
    await bench.begins.acquire()
    await idle.close()
    idle.schedule("new", bench.quick("new"))
    with idle.pause():
        pass
    await idle.wait_until_idle()
    assert (bench.done, idle.running, idle.waiting) == ([], None, ())


async def test_work_speaks_the_language_of_whoever_asked_for_it(idle):
    text = []

    async def work():
        text.append(current_language())

    async def german():
        speak("de")
        idle.schedule("one", work)

    with idle.pause():
        await asyncio.create_task(german())
    await idle.wait_until_idle()
    assert text == ["de"]
