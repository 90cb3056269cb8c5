"""What is there goes out together, the first piece at once; who leaves ends the source."""

import asyncio
from types import SimpleNamespace

import pytest

from holdfast.server.endpoint import CleanupResponse

SCOPE = {"type": "http", "app": SimpleNamespace(state=SimpleNamespace(unread=0))}


def send(pieces, bodies, leaves=None):
    """Notes the bodies that a client gets, each with whether more is to come."""

    async def main():
        over = []

        async def receive():
            await (leaves.wait() if leaves is not None else asyncio.Event().wait())
            return {"type": "http.disconnect"}

        async def note(message):
            if message["type"] == "http.response.body":
                bodies.append((message["body"], message["more_body"]))

        try:
            await CleanupResponse(pieces, lambda: over.append(True))(SCOPE, receive, note)
        finally:
            assert over == [True], "whatever happened, what was to be done afterwards is done"

    asyncio.run(main())


def sent(pieces):
    bodies = []
    send(pieces, bodies)
    return bodies


async def source(*pieces):
    for piece in pieces:
        if piece is None:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        elif isinstance(piece, Exception):
            raise piece
        else:
            yield piece


def test_the_first_piece_goes_at_once_and_the_others_together():
    assert sent(source(b"a", b"b", b"c")) == [(b"a", True), (b"bc", False)]


def test_nothing_waits_for_what_is_not_there_yet():
    assert sent(source(b"a", b"b", None, b"c")) == [(b"a", True), (b"b", True), (b"c", False)]


def test_an_empty_answer_ends_too():
    assert sent(source()) == [(b"", False)]


def test_a_source_that_never_waits_is_taken_in_portions():
    bodies = [body for body, _ in sent(source(*[b"x"] * 100))]
    assert b"".join(bodies) == b"x" * 100
    assert max(map(len, bodies)) <= 64


def test_an_answer_that_breaks_off_is_not_said_to_be_whole():
    bodies = []
    with pytest.raises(ValueError, match="broken"):
        send(source(b"a", b"b", ValueError("broken")), bodies)
    assert bodies == [(b"a", True), (b"b", True)]


def test_who_leaves_ends_the_source():
    left, ended, bodies = asyncio.Event(), [], []

    async def endless():
        try:
            yield b"a"
            left.set()
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    send(endless(), bodies, leaves=left)
    assert bodies == [(b"a", True)]
    assert ended == [True]
