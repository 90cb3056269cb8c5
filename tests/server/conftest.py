"""Holdfast running on loopback with a scripted model behind it, on a real SQLite file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from holdfast.config import Settings
from holdfast.errors import HoldfastError
from holdfast.server.app import create_app
from holdfast.store import Store, open_store
from holdfast.testing.provider import ScriptedProvider, serve_app
from holdfast.tokens.budget import Levels
from holdfast.turn import TurnEngine
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from holdfast.window.presets import Preset, preset_named

# Nothing changes a window between two requests, unless that is what a test is about.
AT_REST = replace(preset_named("balanced"), levels=Levels(ahead=None))


@dataclass
class ServedHoldfast:
    """A running Holdfast: a client for it, and what is behind it."""

    url: str
    client: httpx.Client
    store: Store
    provider: Provider | Upstreams


@contextmanager
def running(
    folder: Path, provider: Provider | Upstreams | HoldfastError, preset: Preset = AT_REST, **settings: object
) -> Iterator[ServedHoldfast]:
    store = open_store(f"sqlite:///{folder / 'holdfast.db'}")

    async def find() -> Provider:
        if isinstance(provider, HoldfastError):
            raise provider
        return provider

    # The embedded model is not wanted here: nobody asks for it by its name.
    upstreams = provider if isinstance(provider, Upstreams) else Upstreams(find, ScriptedProvider())
    parallel = settings.get("parallel", 0)
    engine = TurnEngine(store, upstreams, ModelRegistry(store, folder / "cache"), preset, parallel=parallel)
    app = create_app(engine, Settings(home=folder, **settings))
    with serve_app(app) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        yield ServedHoldfast(url, client, store, provider)


@pytest.fixture
def serve(tmp_path):
    """Starts Holdfast in front of a provider (a scripted one by default), as often as a test needs it."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(
            provider: Provider | Upstreams | HoldfastError | None = None, **settings: object
        ) -> ServedHoldfast:
            return stack.enter_context(running(tmp_path, provider or ScriptedProvider(), **settings))

        yield start
