"""Findings and their parts for tests, and research on a real folder with a real store."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from holdfast.memory.embedder_choice import ChosenEmbedder, EmbedderOptions
from holdfast.memory.folder import FolderWorkspace
from holdfast.memory.service import MemoryService
from holdfast.messages import Scope
from holdfast.research.finding import Finding, ResearchSource
from holdfast.research.library import Research
from holdfast.store import Store, open_store

HOUR, DAY = 3_600.0, 86_400.0
# A Sunday.
NOW = datetime(2026, 11, 15, 18).astimezone().timestamp()


def source(
    url="https://www.wetter.com/kassel", text="Am Samstag regnet es in Kassel.", **more
) -> ResearchSource:
    return ResearchSource(url, more.pop("title", "Wetter"), text, more.pop("at", NOW), **more)


def finding(question="Wie wird das Wetter in Kassel?", *sources: ResearchSource, **more) -> Finding:
    return Finding(
        id=more.pop("id", "r_1"),
        scope=more.pop("scope", Scope()),
        question=question,
        mode=more.pop("mode", "quick"),
        sources=sources or (source(),),
        summary=more.pop("summary", ""),
        volatility=more.pop("volatility", "daily"),
        created_at=more.pop("created_at", NOW),
        expires_at=more.pop("expires_at", 0.0),
        **more,
    )


class Clock:
    """A time that moves when a test says so."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass
class Lab:
    """Research and what is under it."""

    research: Research
    remembering: MemoryService
    clock: Clock
    store: Store


@contextmanager
def researching(folder: Path, embedder: str = "off", **more) -> Iterator[Lab]:
    clock = Clock()
    with open_store(f"sqlite:///{folder / 'holdfast.db'}") as store:
        chosen = ChosenEmbedder(EmbedderOptions(embedder, log=folder / "embedder.log"))
        parts = MemoryService(store, FolderWorkspace(folder / "workspace"), chosen)
        try:
            yield Lab(Research(parts, clock=clock, **more), parts, clock, store)
        finally:
            parts.close()
