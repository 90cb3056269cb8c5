"""A stream that somebody else ends, while it waits or between two pieces; its reader goes on living."""

import asyncio
from contextlib import aclosing

import pytest

from holdfast.errors import BadRequest
from holdfast.turn import Cancellation

pytestmark = pytest.mark.anyio


class Source:
    def __init__(self):
        self.closed = False
        self.more = asyncio.Event()

    async def pieces(self):
        try:
            yield 1
            yield 2
            await self.more.wait()
            yield 3
        finally:
            self.closed = True


async def read(stop, source):
    async with aclosing(source.pieces()) as pieces:
        while (piece := await stop.next(pieces)) is not None:
            yield piece


async def test_nothing_changes_unless_somebody_stops_it():
    source = Source()
    source.more.set()
    assert [piece async for piece in read(Cancellation(), source)] == [1, 2, 3]
    assert source.closed


async def test_cancelled_waiting_stream_raises_error_without_cancelling_reader():
    source, stop = Source(), Cancellation()
    stream = read(stop, source)
    assert [await anext(stream), await anext(stream)] == [1, 2]

    async def read_on():
        with pytest.raises(BadRequest, match="enough"):
            await anext(stream)
        # What is waited for from now on is waited for to its end.
        await asyncio.sleep(0)
        return "alive"

    reading = asyncio.create_task(read_on())
    await asyncio.sleep(0)
    stop.cancel(BadRequest("enough"))
    stop.cancel(BadRequest("twice"))
    assert await reading == "alive"
    assert source.closed


async def test_stream_cancelled_between_chunks_raises_on_next_read():
    source, stop = Source(), Cancellation()
    stream = read(stop, source)
    await anext(stream)
    stop.cancel(BadRequest("enough"))
    await asyncio.sleep(0)
    with pytest.raises(BadRequest, match="enough"):
        await anext(stream)
    assert source.closed


async def test_a_reader_that_is_cancelled_itself_stays_cancelled():
    source, stop = Source(), Cancellation()
    stream = read(stop, source)
    await anext(stream), await anext(stream)
    reading = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert source.closed
