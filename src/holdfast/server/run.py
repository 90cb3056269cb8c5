"""Runs the server in the foreground: takes the port, says when it is ready, stops when it is told to.

Knows uvicorn; nothing of routes or turns.
"""

import logging
import socket
from collections.abc import Callable
from contextlib import ExitStack

import uvicorn

from holdfast.config import Config, Settings
from holdfast.errors import ConfigError, HoldfastError
from holdfast.files import reading
from holdfast.messages import Scope
from holdfast.server.app import create_app
from holdfast.server.guard import check_address
from holdfast.server.origins import is_loopback
from holdfast.store import open_store
from holdfast.wiring import build_engine

# Seconds for answers that are under way when the server is told to stop.
GRACE = 5


log = logging.getLogger("holdfast.server")


def run(load: Callable[[], Config], ready: Callable[[str], None], beside: str | None = None) -> None:
    """Serves until interrupted, on a second address too if one is given `beside` the one of the settings.

    `ready` gets the first address once clients can come. Who asks for a new start gets one with the settings
    as they are loaded then; if they do not serve, the old ones go on.
    """
    config, before = load(), None
    while True:
        try:
            again = _serve(config, ready, beside)
        except HoldfastError as error:
            if before is None:
                raise
            log.warning("%s The server goes on with the settings it had.", error)
            config, before = before, None
            continue
        if not again:
            return
        config, before = _reloaded(load, config), config


def _reloaded(load: Callable[[], Config], config: Config) -> Config:
    try:
        return load()
    except ConfigError as error:
        log.warning("%s The server goes on with the settings it had.", error)
        return config


def _serve(config: Config, ready: Callable[[str], None], beside: str | None) -> bool:
    """Until it is told to stop; whether it was told to start anew."""
    settings = config.settings
    if not is_loopback(settings.host):
        _check_exposed_address(settings)
    with ExitStack() as stack:
        first = stack.enter_context(_listen(settings.host, settings.port))
        listeners = [first]
        if beside is not None:
            listeners.append(stack.enter_context(_listen(beside, first.getsockname()[1])))
        _configure_logging(settings)
        engine = build_engine(settings)
        app = create_app(engine, settings, config)
        how = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=GRACE
        )
        server = _Server(how, ready, engine.stopping)
        app.state.restart = server.restart
        app.state.listening = [listener.getsockname()[:2] for listener in listeners]
        server.run(sockets=listeners)
        return server.again


def _configure_logging(settings: Settings) -> None:
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for chatty in ("alembic", "httpx"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # What goes wrong in a request is logged where it is told; uvicorn would add a traceback for every answer
    # that is cut off when the server is stopped.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)


def _check_exposed_address(settings: Settings) -> None:
    """Before the port is taken: not for a moment is anybody let in who should not be."""
    with open_store(settings.store) as store:
        there = store.keys.any() or store.sessions.password(Scope().user) is not None
    check_address(settings, keys=there)


class _Server(uvicorn.Server):
    """Says when it is ready to be spoken to, and ends what would go on for ever before it stops."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[str], None], ending: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self.again = False
        self._ready = ready
        self._ending = ending

    def restart(self) -> None:
        self.again = self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            self._ready(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Who follows events is never done by itself, and would use up the grace of those who are, as would
        # documents that take long.
        self._ending()
        reading.stop()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named by its protocol, or asyncio does not recognise TCP and leaves Nagle's delay of 40 ms switched on.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"The server cannot listen on {host}:{port}: {error.strerror or error}.",
            hint="Is Holdfast running already? Stop it, or choose another port with --port.",
        ) from None
    return listener
