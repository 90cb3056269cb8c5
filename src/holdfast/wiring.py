"""Settings to parts, in one place: which store, which model servers, one engine.

The only module that knows every part there is. It decides nothing about a turn.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.background.retention import Retention
from holdfast.compaction.summariser import PromptTemplates
from holdfast.config import Settings
from holdfast.context.outcome import FindingGone, WindowRedactor
from holdfast.context.summaries import SummaryOptions
from holdfast.errors import ConfigError
from holdfast.extras import load_backend
from holdfast.i18n import lazy
from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions, parse_headers
from holdfast.memory.folder import build_workspace
from holdfast.memory.index import ExtraPaths, find_bare_notes, parse_paths
from holdfast.memory.private import MemoryGate
from holdfast.memory.ranking import parse_weights
from holdfast.memory.remote_vectors import VectorOptions, choose_vectors
from holdfast.memory.service import MemoryService
from holdfast.research.finding import Mode, ProgressCallback, ResearchSource, ignore_progress
from holdfast.research.library import Research
from holdfast.store import Store, open_store
from holdfast.transfer.rotation import BackupSchedule
from holdfast.transfer.staging import DataFolder
from holdfast.turn import TurnEngine
from holdfast.upstreams.base import Provider
from holdfast.upstreams.discovery import (
    CANDIDATES,
    EMBEDDED,
    DiscoveredServer,
    Options,
    connect,
    discover,
    is_embedded,
    open_embedded,
    parse_keys,
    parse_location,
    parse_upstreams,
)
from holdfast.upstreams.http import Patience, redact_url
from holdfast.upstreams.models import ModelRegistry
from holdfast.upstreams.ollama import parse_keep_alive
from holdfast.upstreams.queue import parse_parallel
from holdfast.upstreams.routing import Upstreams, UpstreamSlot
from holdfast.window.presets import preset_from

if TYPE_CHECKING:
    from holdfast.research.gather import ReadLocal


def build_engine(settings: Settings) -> TurnEngine:
    preset = preset_from(settings)
    store = open_store(settings.store)
    remembering = build_remembering(settings, store)
    engine = TurnEngine(
        store,
        build_upstreams(settings),
        ModelRegistry(store, settings.home / "cache"),
        preset,
        remembering=remembering,
        research=build_research(settings, remembering),
        gate=MemoryGate.parse(settings.memory_gate),
        prompts=PromptTemplates(settings.home / "prompts"),
        options=SummaryOptions(
            helper=settings.helper_model,
            memory=settings.memory,
            flush=settings.memory and settings.flush_enabled,
            titles=settings.titles,
            stall=settings.stall_timeout,
        ),
        parallel=settings.parallel,
        parallel_at=parse_parallel(settings.upstream_parallel),
    )
    if settings.retention_days:
        forget = settings.retention_memories == "forget"
        engine.background.retention = Retention(store, remembering, settings.retention_days, forget)
    if settings.backup_days:
        places, workspace = DataFolder(settings.home, settings.store), remembering.workspace
        outside = workspace.folder != places.workspace
        engine.background.backups = BackupSchedule(
            places, settings.backup_days, workspace, workspace if outside else None
        )
    return engine


def build_remembering(settings: Settings, store: Store) -> MemoryService:
    embedder = ChosenEmbedder(
        EmbedderOptions(
            settings.embedder,
            settings.embedder_model,
            settings.embedder_key,
            parse_headers(settings.embedder_headers),
            settings.embedder_timeout,
            settings.home / "logs" / "embedder.log",
            settings.embedder_dimensions,
            settings.embedder_prompts,
            parse_keep_alive(settings.keep_alive),
        )
    )
    paths, workspace = parse_paths(settings.notes_paths), build_workspace(settings)
    bare = find_bare_notes(workspace.folder)
    made = MemoryService(
        store,
        workspace,
        embedder,
        extra=ExtraPaths(paths, settings.home, bare) if paths or bare else None,
        weights=parse_weights(settings.search_weights),
        learns=settings.profile_learns,
        conversations=settings.index_conversations,
        batching=load_backend("batches")(store, settings) if settings.embedder_batch else None,
        vectors=choose_vectors(vector_options(settings)),
        qmd=load_backend("qmd")(settings) if settings.memory_backend == "qmd" else None,
        limit=settings.memory_limit,
    )
    # What is forgotten leaves the windows of conversations too.
    made.listeners.append(WindowRedactor(store))
    return made


def vector_options(settings: Settings) -> VectorOptions:
    return VectorOptions(
        settings.vectors,
        settings.vectors_key,
        settings.vectors_collection,
        settings.vectors_extension,
        settings.store,
        settings.home,
    )


def build_research(
    settings: Settings, remembering: MemoryService, read_local: "ReadLocal | None" = None
) -> Research:
    """`read_local` reads files that are named as sources; without it only pages are read."""

    async def gathered(
        question: str, mode: Mode, *, addresses: Sequence[str] = (), tell: ProgressCallback = ignore_progress
    ) -> Sequence[ResearchSource]:
        # Loaded when something is fetched, which is only when somebody asks for it.
        from holdfast.research.fetch import AddressGuard, Fetcher
        from holdfast.research.gather import gather_sources

        async with Fetcher(
            AddressGuard.from_setting(settings.research_private, own_port=settings.port)
        ) as fetcher:
            return await gather_sources(
                question,
                mode,
                fetcher=fetcher,
                searxng=settings.searxng,
                addresses=addresses,
                read_local=read_local,
                tell=tell,
            )

    made = Research(remembering, gathered)
    made.listeners.append(FindingGone(remembering.store))
    return made


@asynccontextmanager
async def running_engine(settings: Settings) -> AsyncIterator[TurnEngine]:
    """An engine for as long as a command needs it."""
    engine = build_engine(settings)
    try:
        yield engine
    finally:
        await engine.close()


def build_upstreams(settings: Settings) -> Upstreams:
    """The servers that were named or one that is found, and the embedded model for when there is none."""
    options = _options(settings)
    named = settings.upstream if is_embedded(settings.upstream) else EMBEDDED
    embedded = open_embedded(named, options)
    if settings.upstreams:
        return Upstreams(_places(settings, options, embedded), embedded)

    async def find() -> Provider | None:
        if is_embedded(settings.upstream):
            return None
        if settings.upstream:
            _refuse_ourselves(settings, settings.upstream)
            return await connect(settings.upstream, options)
        return (await discover(_elsewhere(settings), options)).provider

    return Upstreams(find, embedded)


def _places(settings: Settings, options: Options, embedded: Provider) -> list[UpstreamSlot]:
    """A place for each server that was named, the one server of `upstream` first."""
    one = ", ".join(filter(None, (settings.upstream, settings.upstreams)))
    locations = parse_upstreams(one)
    keys = parse_keys(settings.upstream_keys, locations)
    if settings.upstream and settings.upstream_key:
        keys = {next(iter(locations)): settings.upstream_key} | keys

    def place(name: str, location: str) -> UpstreamSlot:
        async def find() -> Provider:
            if is_embedded(location):
                return embedded
            _refuse_ourselves(settings, location)
            # A key is for the server it was given for, and no other.
            return await connect(location, replace(options, key=keys.get(name, "")))

        return UpstreamSlot(find, name=name, location=redact_url(location))

    return [place(name, location) for name, location in locations.items()]


def _elsewhere(settings: Settings) -> list[str]:
    """The places to look for a server, our own address left out."""
    return [place for place in CANDIDATES if urlsplit(place).port != settings.port]


async def look_around(settings: Settings) -> DiscoveredServer:
    """Where we looked for a running model server, and what was there."""
    found = await discover(_elsewhere(settings), _options(settings))
    if found.provider is not None:
        await found.provider.aclose()
    return found


def _options(settings: Settings) -> Options:
    return Options(
        key=settings.upstream_key,
        patience=Patience(stall=settings.stall_timeout, largest=settings.max_answer_mb * 1_000_000),
        keep_alive=parse_keep_alive(settings.keep_alive),
        models_dir=settings.models_dir,
        log=settings.home / "logs" / "embedded.log",
        window=settings.embedded_window,
        model_file=Path(settings.embedded_model).expanduser() if settings.embedded_model else None,
    )


def _refuse_ourselves(settings: Settings, location: str) -> None:
    """A proxy whose model server is itself would ask itself for ever."""
    address = urlsplit(parse_location(location)[1])
    if address.hostname in (settings.host, "127.0.0.1", "localhost") and address.port == settings.port:
        raise ConfigError(
            lazy("{name} is Holdfast's own address.", name=redact_url(location)),
            hint=lazy("Name the model server's, usually http://127.0.0.1:11434, or leave it out."),
        )
