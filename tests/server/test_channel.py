"""What is told once is read by everybody, from wherever they are; of what was replaced only the newest."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from holdfast.server.detached import EventChannel

# What is told: a thing of its own, or the newest of one of three names.
TOLD = st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=30)


def told(names: list[str]) -> EventChannel:
    channel = EventChannel()
    for number, name in enumerate(names, 1):
        channel.publish("thing", {"number": number}, newest_of=name)
    return channel


@given(TOLD, st.integers(0, 30))
def test_reconnecting_reader_gets_latest_of_each_event_after_its_position(names, after):
    numbers = [item.data["number"] for item in told(names).since(after)]
    newest = [
        number
        for number, name in enumerate(names, 1)
        if number > after and (not name or name not in names[number:])
    ]
    assert numbers == newest


def test_everybody_who_follows_is_told_until_the_end():
    async def follow() -> list[list[int]]:
        channel = told(["", ""])
        readers = [asyncio.create_task(_read(channel, after)) for after in (0, 1, 2)]
        await asyncio.sleep(0)
        channel.publish("thing", {"number": 3})
        channel.end()
        return await asyncio.gather(*readers, _read(channel, 0))

    assert asyncio.run(follow()) == [[1, 2, 3], [2, 3], [3], [1, 2, 3]]


async def _read(channel: EventChannel, after: int) -> list[int]:
    return [item.data["number"] async for item in channel.follow(after)]
