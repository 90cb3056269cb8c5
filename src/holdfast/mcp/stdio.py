"""`holdfast mcp` for a host that starts it: the protocol on standard input and output, and nothing else.

The data folder is opened when something is asked for, so that the host has its first answer soon.
"""

import logging
import threading
from contextlib import ExitStack

from mcp.server.stdio import stdio_server

from holdfast.config import Settings
from holdfast.mcp.parts import Caller, Parts, opened
from holdfast.mcp.server import build_server
from holdfast.messages import Scope


async def serve(settings: Settings, scope: Scope) -> None:
    """Until the host closes its end."""
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("alembic").setLevel(logging.WARNING)
    caller = Caller(scope, memory=settings.memory)
    with _Late(settings) as parts:
        server = build_server(parts.get, lambda _: caller)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


class _Late(ExitStack):
    """The parts, opened by whoever asks for them first."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._lock = threading.Lock()
        self._parts: Parts | None = None

    def get(self) -> Parts:
        with self._lock:
            if self._parts is None:
                self._parts = self.enter_context(opened(self._settings))
            return self._parts
