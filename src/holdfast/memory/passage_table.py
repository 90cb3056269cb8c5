"""The rows of the index as columns, cached for the places that are asked about.

Ranking looks at every row of a place; columns of numbers let it do so at once. When something was added, only
that is read.
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.store import Store
from holdfast.store.fulltext import (
    ROWS_OF_CONTAINER,
    Container,
    IdRange,
    SearchPlace,
    diff_containers,
    rows_within,
)
from holdfast.store.passages import NOTE
from holdfast.text.questions import Question, Trait

# Places held in memory; those not asked for longest go.
_CACHED_TABLES = 8
# A person's own words, and what somebody wrote down, hold the facts more often than the answers to them.
_PERSONAL = frozenset({"user", NOTE})
_SIDES = {"user": 1, "assistant": -1}


@dataclass(frozen=True)
class PassageTable:
    """Rows by their ids, in order: columns of one length. `kind` is that of a memory, else empty.

    What only depends on the rows is worked out once and serves every question until they change.
    """

    ids: NDArray[np.int64]
    length: NDArray[np.float64]
    at: NDArray[np.float64]
    note: NDArray[np.bool_]
    personal: NDArray[np.bool_]
    kind: NDArray[np.str_]
    # Who said it: 1 the person, -1 the model, 0 neither.
    side: NDArray[np.int8]
    traits: NDArray[np.int64]
    # Whether it is a memory, which has a kind.
    memory: NDArray[np.bool_]

    @cached_property
    def containers(self) -> NDArray[np.int64]:
        """The number of the container that each row is in."""
        return np.asarray(self.ids // ROWS_OF_CONTAINER)

    @cached_property
    def groups(self) -> "ContainerColumns":
        """The containers of these rows."""
        starts = np.flatnonzero(np.r_[True, np.diff(self.containers) != 0][: len(self.ids)])
        rows = np.diff(np.append(starts, len(self.ids)))
        length = np.add.reduceat(self.length, starts) if len(starts) else np.zeros(0)
        return ContainerColumns(rows, length, np.repeat(np.arange(len(starts)), rows))

    def take(self, places: NDArray[np.intp]) -> "PassageTable":
        """The rows at these places, in rising order, as a table of their own."""
        if len(places) == len(self.ids):
            return self
        return PassageTable(*(getattr(self, column.name)[places] for column in fields(PassageTable)))

    @cached_property
    def asking(self) -> NDArray[np.bool_]:
        """Whether a row ends with a question."""
        return (self.traits & Trait.ENDS_WITH_QUESTION) > 0

    @cached_property
    def size(self) -> NDArray[np.float64]:
        """How long each row is, so that twice as long is a step."""
        return np.log1p(self.length) / 5

    @cached_property
    def only_asking(self) -> NDArray[np.bool_]:
        """Whether a row has questions and nothing else."""
        return (self.traits & Trait.ONLY_ASKS) > 0

    def explains(self, question: Question) -> NDArray[np.bool_]:
        """Whether a row says little about if there is an answer: it only asks, or the model explained it."""
        return self.only_asking if question.speaker == "assistant" else self.only_asking | (self.side < 0)

    def positions(self, rows: Collection[int]) -> NDArray[np.intp]:
        """Where these rows stand; those that are not there are left out."""
        places, present = self.lookup(np.fromiter(rows, np.int64, len(rows)))
        return places[present]

    def column(self, values: Mapping[int, float]) -> NDArray[np.float64]:
        """The value of each row, and no number where there is none."""
        places, present = self.lookup(np.fromiter(values.keys(), np.int64, len(values)))
        column = np.full(len(self.ids), np.nan)
        column[places[present]] = np.fromiter(values.values(), np.float64, len(values))[present]
        return column

    def lookup(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where each row would stand, and whether it does."""
        places = np.minimum(np.searchsorted(self.ids, rows), max(0, len(self.ids) - 1))
        return places, self.ids[places] == rows if len(self.ids) else np.zeros(len(rows), np.bool_)


@dataclass(frozen=True, slots=True)
class ContainerColumns:
    """How many rows each container has, and how long they are together; and the place of each row's own."""

    rows: NDArray[np.int64]
    length: NDArray[np.float64]
    of_row: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _CachedTable:
    containers: Sequence[Container]
    outline: PassageTable


class PassageTableCache:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[tuple[SearchPlace, ...], _CachedTable] = {}
        # Who comes while rows are read waits for them: to read them twice takes longer.
        self._loading = threading.Lock()

    def of(self, places: Sequence[SearchPlace], containers: Sequence[Container]) -> PassageTable:
        """All rows in these places, whose containers are these now."""
        key = tuple(places)
        with self._loading:
            held = self._held.pop(key, None) or _CachedTable((), build_table([]))
            if held.containers != containers:
                held = self._renew(containers, held)
            self._held[key] = held
            while len(self._held) > _CACHED_TABLES:
                del self._held[next(iter(self._held))]
            return held.outline

    def _renew(self, containers: Sequence[Container], held: _CachedTable) -> _CachedTable:
        gone, new = diff_containers(held.containers, containers)
        fresh = build_table(list(rows_within(containers, self._store.passages.outlines(new))))
        return _CachedTable(containers, merge_tables(_without(held.outline, gone), fresh))


def build_table(rows: Sequence[tuple[int, int, float, str, str, int]]) -> PassageTable:
    ids, lengths, times, roles, branches, traits = zip(*rows, strict=True) if rows else ((),) * 6
    notes = [role == NOTE for role in roles]
    return PassageTable(
        np.array(ids, np.int64),
        np.array(lengths, np.float64),
        np.array(times, np.float64),
        np.array(notes, np.bool_),
        np.array([role in _PERSONAL for role in roles], np.bool_),
        # What was said has the name of its branch there.
        np.array([branch if note else "" for note, branch in zip(notes, branches, strict=True)], np.str_),
        np.array([_SIDES.get(role, 0) for role in roles], np.int8),
        np.array(traits, np.int64),
        np.array([note and branch != "" for note, branch in zip(notes, branches, strict=True)], np.bool_),
    )


def _without(outline: PassageTable, gone: Sequence[IdRange]) -> PassageTable:
    if not gone:
        return outline
    stays = np.ones(len(outline.ids), np.bool_)
    for first, last in gone:
        stays[np.searchsorted(outline.ids, first) : np.searchsorted(outline.ids, last, "right")] = False
    return PassageTable(*(getattr(outline, column.name)[stays] for column in fields(PassageTable)))


def merge_tables(outline: PassageTable, fresh: PassageTable) -> PassageTable:
    """Both in the order of their rows."""
    places = np.searchsorted(outline.ids, fresh.ids)
    total = len(outline.ids) + len(fresh.ids)
    new = np.zeros(total, np.bool_)
    new[places + np.arange(len(fresh.ids))] = True
    return PassageTable(
        *(
            merge_columns(getattr(outline, column.name), getattr(fresh, column.name), new)
            for column in fields(PassageTable)
        )
    )


def merge_columns(old: NDArray[Any], fresh: NDArray[Any], new: NDArray[np.bool_]) -> NDArray[Any]:
    merged = np.empty(len(new), np.promote_types(old.dtype, fresh.dtype))
    merged[new], merged[~new] = fresh, old
    return merged
