"""What the tools work with, and for whom: the parts of Holdfast that are already there, and who is asking.

Opens them for a host that starts a process of its own; a running server brings its own along. Knows no tool
and no protocol.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.config import Settings
from holdfast.errors import Forbidden
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.memory.remembering import Remembering
    from holdfast.research.library import Research
    from holdfast.store import Store


@dataclass(frozen=True, slots=True)
class Parts:
    """`citations` is as the settings have it."""

    store: "Store"
    remembering: "Remembering"
    research: "Research"
    citations: str = "auto"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose request it is. Without `memory` nothing that is remembered is told, and nothing is kept."""

    scope: Scope
    memory: bool = True

    def check_memory(self) -> None:
        if not self.memory:
            raise Forbidden(
                "Memory is switched off here.",
                hint="Switch it on in the settings or for this key; what was said can still be searched.",
            )


@contextmanager
def opened(settings: Settings) -> Iterator[Parts]:
    """The parts on the data folder of the settings. Others may have it open, too."""
    # Late, and only once something is asked: a host waits for an answer to its first word.
    from holdfast.store import open_store
    from holdfast.wiring import build_remembering, build_research

    with open_store(settings.store) as store:
        remembering = build_remembering(settings, store)
        try:
            research = build_research(settings, remembering)
            yield Parts(store, remembering, research, settings.citations)
        finally:
            remembering.close()


def words_only(parts: Parts) -> list[str]:
    """Why meaning is not compared, if it is not, for those that give no reason of their own."""
    embedder = parts.remembering.embedder
    if embedder.ready() is not None:
        return []
    why = "There is no embedder." if embedder.off else embedder.trouble or "the embedder is not awake yet"
    return [f"found by words only: {why}"]
