"""Holdfast on loopback with a memory: notes in a real folder, an index on a real SQLite file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from holdfast.config import Settings
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.service import MemoryService
from holdfast.memory.workspace import Workspace
from holdfast.server.app import create_app
from holdfast.store import Store, open_store
from holdfast.testing.provider import ScriptedProvider, serve_app
from holdfast.turn import TurnEngine
from holdfast.upstreams.base import Provider
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from tests.server.conftest import AT_REST

GARDEN = {"x-holdfast-project": "garden"}
HOUSE = {"x-holdfast-project": "house"}
CHESS = {"x-holdfast-kind": "group", "x-holdfast-project": "chess"}
GARDEN_GROUP = {"x-holdfast-kind": "group", "x-holdfast-project": "garden"}


@dataclass
class Door:
    """A client for a server with a memory, the parts behind it, and the folder of its notes."""

    client: httpx.Client
    parts: MemoryService
    notes: Path
    engine: TurnEngine
    provider: ScriptedProvider

    @property
    def store(self) -> Store:
        return self.engine.store


@contextmanager
def remembering(
    folder: Path, embedder: str = "off", citations: str = "auto", workspace: Workspace | None = None
) -> Iterator[Door]:
    store = open_store(f"sqlite:///{folder / 'holdfast.db'}")

    provider = ScriptedProvider()

    async def find() -> Provider:
        return provider

    chosen = ChosenEmbedder(EmbedderOptions(embedder, log=folder / "embedder.log"))
    parts = MemoryService(store, workspace or FolderWorkspace(folder / "workspace"), chosen)
    engine = TurnEngine(
        store,
        Upstreams(find, ScriptedProvider()),
        ModelRegistry(store, folder / "cache"),
        AT_REST,
        remembering=parts,
    )
    app = create_app(engine, Settings(home=folder, citations=citations))
    with serve_app(app) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        yield Door(client, parts, folder / "workspace", engine, provider)


def found(response: httpx.Response, status: int = 200):
    assert response.status_code == status, response.text
    return response.json()


def refused(response: httpx.Response, status: int, *words: str) -> str:
    """The error's sentence, which has these words in it."""
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert all(word in error for word in words), error
    return error
