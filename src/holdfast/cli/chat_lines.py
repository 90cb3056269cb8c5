"""Where the lines of a chat come from when not all of it is at a terminal: a pipe or a file, line by line.

A line that ends in a backslash goes on in the next one. What lines mean is known elsewhere.
"""

import asyncio
import sys
from contextlib import suppress
from threading import Thread
from typing import Protocol


class LineSource(Protocol):
    async def next(self) -> str | None:
        """What was typed, of one or several lines; None when there is no more to come."""


class PipedLines:
    async def next(self) -> str | None:
        lines: list[str] = []
        if sys.stdin is not None and sys.stdin.isatty():
            # Somebody types while the answers go into a file.
            sys.stderr.write("> ")
            sys.stderr.flush()
        while (line := await read_line()) is not None:
            if not line.endswith("\\"):
                return "\n".join((*lines, line))
            lines.append(line.removesuffix("\\"))
        return "\n".join(lines) if lines else None


async def read_line() -> str | None:
    """A line, read in a thread that nobody waits for: Ctrl-C must not need a return key after it."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        data = sys.stdin.buffer.readline() if sys.stdin is not None else b""
        typed = data.decode("utf-8", "replace").rstrip("\r\n") if data else None
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(hand_over, typed)

    def hand_over(typed: str | None) -> None:
        if not line.done():
            line.set_result(typed)

    Thread(target=read, daemon=True).start()
    return await line
