"""An engine that remembers, on real files, for tests of what goes into windows."""

from contextlib import asynccontextmanager

from holdfast.context.outcome import FindingGone, WindowRedactor
from holdfast.context.summaries import SummaryOptions
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.private import MemoryGate
from holdfast.memory.service import MemoryService
from holdfast.memory.vectors import StoredVectors
from holdfast.research.library import Research
from holdfast.store import open_store
from holdfast.testing.provider import ScriptedProvider
from holdfast.turn import TurnEngine
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.routing import Upstreams
from tests.talks import without_summaries


@asynccontextmanager
async def remembering(
    server, folder, *, gate="", preset=None, memory=True, embedder=None, workspace=None, vectors=StoredVectors
):
    async def find():
        return server

    store = open_store(f"sqlite:///{folder / 'db'}")
    memories = MemoryService(
        store,
        workspace or FolderWorkspace(folder / "workspace"),
        embedder or ChosenEmbedder(EmbedderOptions("off")),
        vectors=vectors,
    )
    memories.listeners.append(WindowRedactor(store))
    research = Research(memories)
    research.listeners.append(FindingGone(store))
    engine = TurnEngine(
        store,
        Upstreams(find, ScriptedProvider()),
        ModelRegistry(store, folder),
        preset or without_summaries(),
        remembering=memories,
        research=research,
        gate=MemoryGate.parse(gate),
        options=SummaryOptions(pause=0.0, memory=memory),
    )
    try:
        yield engine
    finally:
        await engine.close()


def last(server):
    return server.requests[-1].messages
