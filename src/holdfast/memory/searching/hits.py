"""What a search gives back: hits that say where they are and why, and an answer that says how it was found.

Plain values; they know no index.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from holdfast.messages import Scope

HitKind = Literal["note", "message"]

# Below this the store most likely has no answer.
WEAK = 0.1
# Files that cannot be read are named one by one up to here.
_NAMED_FILES = 3


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A part of a note, or a message.

    `path` is the file of a note or the id of a conversation, `lines` the first and last line of the snippet
    in the file. `score` is how likely it holds what was asked for, and `parts` say what speaks for and
    against it.
    `engines` are those that found it.
    """

    id: str
    kind: HitKind
    path: str
    lines: tuple[int, int] | None
    snippet: str
    score: float
    parts: Mapping[str, float]
    at: float
    role: str
    memory_kind: str = ""
    exact: bool = False
    engines: tuple[str, ...] = ()

    @property
    def citation(self) -> str:
        return f"{self.path}#{self.lines[0]}" if self.lines else f"{self.path}#{self.id}"


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far the index is behind the files.

    `stale` files have changed and could not be read again in time; `skipped` ones cannot be read at all, each
    with the reason. `indexed_at` is when the last of them was read.
    """

    files: int = 0
    stale: int = 0
    skipped: Mapping[str, str] = field(default_factory=dict)
    indexed_at: float = 0.0

    @property
    def left_out(self) -> tuple[str, ...]:
        """In words, which files nothing can be found in, and why; of many, the first ones."""
        reasons = [why if path in why else f"{path}: {why}" for path, why in sorted(self.skipped.items())]
        told = [f"Left out: {reason}" for reason in reasons[:_NAMED_FILES]]
        more = len(reasons) - len(told)
        return (*told, f"{more} more files are left out.") if more else tuple(told)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, and how they were found.

    `engines` are those that ran, `model` is whose vectors were compared, and `compared` where. `degraded`
    says in words why less was done than could be, `empty` why there are no hits. `likely` is how likely any
    of them answers the question; where that is little, nothing fits well, and `weak` says so.
    """

    hits: tuple[SearchHit, ...]
    engines: tuple[str, ...]
    model: str = ""
    degraded: tuple[str, ...] = ()
    freshness: Freshness = Freshness()
    empty: str = ""
    compared: str = ""
    likely: float = 1.0

    @property
    def weak(self) -> bool:
        """Whether most likely nothing here answers the question."""
        return bool(self.hits) and self.likely < WEAK

    def to_json(self, *, cited: bool = True) -> dict[str, Any]:
        """With the sources of hits named, if they may be."""
        told = {**asdict(self), "weak": self.weak}
        for hit, out in zip(self.hits, told["hits"], strict=True):
            out["citation"] = f"Source: {hit.citation}" if cited else None
        return told


def cites(citations: str, scope: Scope) -> bool:
    """Whether hits name their sources: `on`, `off`, or `auto`, which means in private and not in groups."""
    return citations == "on" or (citations == "auto" and scope.kind == "private")
