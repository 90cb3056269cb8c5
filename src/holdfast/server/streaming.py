"""A response that goes out as it comes: what is there without waiting for more is sent together.

Knows how bytes travel and that a client may leave or stop reading; nothing of what the bytes mean.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

from starlette.background import BackgroundTask
from starlette.responses import Response
from starlette.types import Message, Receive, Send
from starlette.types import Scope as AsgiScope

log = logging.getLogger("holdfast.server")

# So many pieces may be ready: a source that never waits would leave nobody time to see that the client left.
_READY = 16


class Until(Response):
    """A stream after which something is to be done, however it ended, and even if it never began."""

    def __init__(
        self,
        content: AsyncIterator[bytes],
        over: Callable[[], object],
        *,
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
        media_type: str | None = None,
        background: BackgroundTask | None = None,
    ) -> None:
        self.status_code = status_code
        self.media_type = media_type
        self.background = background
        self.init_headers(headers)
        self._content = content
        self._over = over
        self._begun = False
        self._ready: list[bytes] = []
        self._news, self._room = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        unread: float = scope["app"].state.unread

        async def taken(message: Message) -> None:
            async with asyncio.timeout(unread or None):
                await send(message)

        reading, gone = asyncio.create_task(self._read()), asyncio.create_task(hung_up(receive))
        reading.add_done_callback(lambda _: self._news.set())
        gone.add_done_callback(lambda _: reading.cancel())
        try:
            await taken(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            await self._send(reading, taken)
            if not gone.done():
                reading.result()
        except TimeoutError:
            log.warning("a client that read nothing for %d seconds was given up", unread)
        finally:
            reading.cancel()
            gone.cancel()
            await asyncio.wait({reading, gone})
            # Whatever it holds is free at once, not when somebody collects what is left of it.
            if isinstance(self._content, AsyncGenerator):
                await self._content.aclose()
            self._over()
        if self.background is not None:
            await self.background()

    async def _read(self) -> None:
        async for piece in self._content:
            self._ready.append(piece)
            self._news.set()
            if not self._begun:
                # The first piece is not kept waiting for the next ones: everybody waits for it.
                self._begun = True
                await asyncio.sleep(0)
            if len(self._ready) >= _READY:
                self._room.clear()
                await self._room.wait()

    async def _send(self, reading: "asyncio.Task[None]", send: Send) -> None:
        over = False
        while not over:
            await self._news.wait()
            self._news.clear()
            over = reading.done()
            whole = over and not reading.cancelled() and reading.exception() is None
            body = b"".join(self._ready)
            self._ready.clear()
            self._room.set()
            if body or whole:
                await send({"type": "http.response.body", "body": body, "more_body": not whole})


async def hung_up(receive: Receive) -> None:
    """Returns when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
