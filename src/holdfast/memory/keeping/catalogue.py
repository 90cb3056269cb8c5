"""What can be seen of memories: lists, one by its id, what to begin with, numbers; always inside a scope.

The files are the truth and are read anew each time, since a person may change them at any moment. Changes
nothing.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Literal

from holdfast.errors import BadRequest, NotFound
from holdfast.memory.base import KINDS, Kind, Memory
from holdfast.memory.keeping.tidying import LIMIT, usefulness
from holdfast.memory.scopes import day_file, memory_file, owner, visible
from holdfast.memory.workspace.checks import check_listed_kind
from holdfast.memory.workspace.notes import Notes
from holdfast.messages import Scope
from holdfast.store import Recollections, Use
from holdfast.text.questions import Trait, traits_of, without_wishes
from holdfast.words import terms

_DAY = 86_400.0

# What is out of the way: what no longer holds, and what made room.
Aside = Literal["former", "archived"]


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A part of a list. `troubles` are files that could not be read, in words."""

    memories: tuple[Memory, ...]
    total: int
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryStats:
    active: int = 0
    superseded: int = 0
    archived: int = 0
    forgotten: int = 0
    recalls: int = 0
    limit: int = LIMIT
    kinds: dict[str, int] = field(default_factory=dict)
    oldest: float = 0.0
    newest: float = 0.0
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LocatedMemory:
    file: PurePosixPath
    memory: Memory


class Catalogue:
    def __init__(
        self,
        notes: Notes,
        records: Recollections,
        *,
        limit: int = LIMIT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.notes = notes
        self._records = records
        self._limit = limit
        self._clock = clock

    def page(
        self,
        scope: Scope,
        *,
        kind: Kind | None = None,
        text: str = "",
        limit: int = 50,
        offset: int = 0,
        history: bool = False,
        only: Aside | None = None,
        own: bool = False,
    ) -> MemoryPage:
        """What a scope can see, newest first, with what no longer holds for `history`; or only its `own`.

        With `only`, instead, what no longer holds or what is in the archive. Summaries are there if they are
        the `kind` that is asked for, and only the scope's own: what was said elsewhere is not for a project.
        """
        if limit < 0 or offset < 0:
            raise BadRequest("Limit and offset cannot be negative.", hint="Count from 0.")
        troubles: list[str] = []
        summaries = kind == "summary"
        scopes = (owner(scope),) if own or summaries else visible(scope)
        read = self._summed if summaries else self._shelved if only == "archived" else self._all
        found = [where.memory for whose in scopes for where in read(whose, troubles)]
        if only == "former":
            found = [memory for memory in found if not memory.active]
        elif only is None and not history:
            found = [memory for memory in found if memory.active]
        if kind is not None:
            found = [memory for memory in found if memory.kind == check_listed_kind(kind)]
        if text.strip():
            found = [memory for memory in found if _mentions(memory.text, text)]
        found.sort(key=lambda memory: (memory.date, memory.id), reverse=True)
        return MemoryPage(tuple(found[offset : offset + limit]), len(found), tuple(troubles))

    def get(self, scope: Scope, name: str) -> Memory:
        """A memory by its id, also one that no longer holds or is in the archive."""
        return self._find(scope, name).memory

    def replaced(self, scope: Scope, name: str) -> list[Memory]:
        """What a memory took the place of, and what that had taken the place of before; the newest first."""
        kept, archived = self.everything(scope, [])
        former = {memory.id: memory for memory in (*archived, *kept) if not memory.active}
        names, found = {name}, list[Memory]()
        while step := [memory for memory in former.values() if memory.superseded_by in names]:
            names = {memory.id for memory in step}
            found += [former.pop(one) for one in names]
        return sorted(found, key=lambda memory: memory.date, reverse=True)

    def place(self, scope: Scope, name: str) -> PurePosixPath:
        """The file in which a memory stands."""
        return self._find(scope, name).file

    def everything(
        self, scope: Scope, troubles: list[str] | None = None
    ) -> tuple[list[Memory], list[Memory]]:
        """All a scope can see, history included; and what of it is in the archive.

        What cannot be read is left out, and told in `troubles`.
        """
        told: list[str] = [] if troubles is None else troubles
        kept = [where.memory for whose in visible(scope) for where in self._all(whose, told)]
        archived = [
            memory
            for whose in visible(scope)
            for memories in self.notes.archived(whose, told).values()
            for memory in memories
        ]
        return kept, archived

    def foremost(self, scope: Scope, now: float | None = None) -> list[Memory]:
        """What to begin a conversation with: the most useful first, then today's and yesterday's notes."""
        moment = self._clock() if now is None else now
        curated: list[tuple[float, Memory]] = []
        recent: list[Memory] = []
        for whose in visible(scope):
            first = memory_file(whose)
            files = first, day_file(whose, moment), day_file(whose, moment - _DAY)
            there: dict[PurePosixPath, list[Memory]] = {file: [] for file in files}
            for where in _unique(self.notes.each(files, whose, [])):
                there[where.file].append(where.memory)
            active = [memory for memory in there.pop(first) if memory.active]
            uses = self._records.uses(whose, [memory.id for memory in active])
            curated += ((usefulness(one, uses.get(one.id, Use()), moment), one) for one in active)
            recent += chain.from_iterable(there.values())
        curated.sort(key=lambda rated: (rated[0], rated[1].date), reverse=True)
        recent.sort(key=lambda memory: memory.date, reverse=True)
        return [memory for _, memory in curated] + recent

    def opening(self, scope: Scope, now: float | None = None) -> list[Memory]:
        """What a conversation begins with, the most needed first: preferences and rules, the rest of
        MEMORY.md as it is written, the notes of the last two days, and how the last conversation ended.
        """
        moment = self._clock() if now is None else now
        known = [
            memory for memory in self.foremost(scope, moment) if not traits_of(memory.text) & Trait.ONLY_ASKS
        ]
        first = [memory for memory in known if memory.kind == "preference"]
        prose: list[Memory] = []
        for whose in visible(scope):
            prose += self.notes.prose(memory_file(whose), whose)
        days: list[Memory] = []
        for whose in visible(scope):
            for at in (moment, moment - _DAY):
                days += self.notes.prose(day_file(whose, at), whose, at)
        summaries = [
            memory for several in self.notes.summaries(owner(scope), []).values() for memory in several
        ]
        newest = [
            replace(memory, text=text)
            for memory in sorted(summaries, key=lambda memory: memory.date)[-1:]
            if (text := without_wishes(memory.text))
        ]
        rest = [memory for memory in known if memory not in first]
        return [*first, *rest, *prose, *days, *newest]

    def stats(self, scope: Scope) -> MemoryStats:
        """Numbers of a scope's own memories."""
        mine = owner(scope)
        troubles: list[str] = []
        every = [where.memory for where in self._all(mine, troubles)]
        active = [memory for memory in every if memory.active]
        dates = [memory.date for memory in active if memory.date]
        return MemoryStats(
            active=len(active),
            superseded=len(every) - len(active),
            archived=sum(map(len, self.notes.archived(mine, troubles).values())),
            forgotten=len(self._records.forgotten(mine)),
            recalls=sum(use.recalls for use in self._records.uses(mine).values()),
            limit=self._limit,
            kinds={kind: sum(memory.kind == kind for memory in active) for kind in KINDS},
            oldest=min(dates, default=0.0),
            newest=max(dates, default=0.0),
            troubles=tuple(troubles),
        )

    def _find(self, scope: Scope, name: str) -> LocatedMemory:
        troubles: list[str] = []
        scopes = visible(scope)[::-1]
        # Most are in the curated files: those first, before all the days are read.
        curated = (self.notes.each([memory_file(whose)], whose, []) for whose in scopes)
        places = chain(
            (
                LocatedMemory(file, memory)
                for files in curated
                for file, memories in files
                for memory in memories
            ),
            (where for whose in scopes for where in self._everywhere(whose, troubles)),
        )
        found = next((where for where in places if where.memory.id == name), None)
        if found is None:
            hint = "See the list for those there are."
            raise NotFound(f"There is no memory {name!r} here.", hint=" ".join([*troubles, hint]))
        return found

    def _all(self, scope: Scope, troubles: list[str]) -> Iterator[LocatedMemory]:
        return _unique(self.notes.of(scope, troubles).items())

    def _shelved(self, scope: Scope, troubles: list[str]) -> Iterator[LocatedMemory]:
        return _unique(self.notes.archived(scope, troubles).items())

    def _summed(self, scope: Scope, troubles: list[str]) -> Iterator[LocatedMemory]:
        return _unique(self.notes.summaries(scope, troubles).items())

    def _everywhere(self, scope: Scope, troubles: list[str] | None = None) -> Iterator[LocatedMemory]:
        """Every item of a scope, its archive and copies included."""
        told: list[str] = [] if troubles is None else troubles
        for read in (self.notes.of, self.notes.archived):
            for file, memories in read(scope, told).items():
                yield from (LocatedMemory(file, memory) for memory in memories)


def _unique(files: Iterable[tuple[PurePosixPath, list[Memory]]]) -> Iterator[LocatedMemory]:
    """Every memory where it stands first; what a crash left twice is one."""
    seen: set[str] = set()
    for file, memories in files:
        for memory in memories:
            if memory.id not in seen:
                seen.add(memory.id)
                yield LocatedMemory(file, memory)


def _mentions(text: str, asked: str) -> bool:
    wanted = set(terms(asked))
    return asked.strip().casefold() in text.casefold() or bool(wanted and wanted <= set(terms(text)))
