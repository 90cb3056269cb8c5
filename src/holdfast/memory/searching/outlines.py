"""What every row of the index is besides its words, held in memory for the places that are asked about.

So that a question is answered by a few sums over columns, and nothing is read but the rows that are shown.
Equal containers mean equal rows; of a conversation that goes on, only the new ones are read. Knows no words
and no vectors.
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.store import Store, Where
from holdfast.store.containers import Container, changes, those_of
from holdfast.store.fulltext import ROWS_OF_CONTAINER, Ids
from holdfast.store.passages import NOTE
from holdfast.text.questions import Trait

# How far around a row its surroundings reach.
REACH = 8
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
        return self.ids // ROWS_OF_CONTAINER

    @cached_property
    def company(self) -> NDArray[np.intp]:
        """The rows that the rows beside them say something about.

        A memory stands for itself: what happens to be listed beside it says nothing about it.
        """
        return np.flatnonzero(~self.memory)

    @cached_property
    def spread(self) -> NDArray[np.intp]:
        """A place for each row that has company: those of other containers are out of each other's reach."""
        containers = self.containers[self.company]
        steps = np.full(len(containers), REACH, np.intp)
        apart = np.minimum(np.diff(self.company), REACH + 1)
        steps[1:] = np.where(containers[1:] == containers[:-1], apart, REACH + 1)
        return np.cumsum(steps)

    @cached_property
    def asking(self) -> NDArray[np.bool_]:
        """Whether a row ends with a question."""
        return (self.traits & Trait.ENDS_WITH_QUESTION) > 0

    @cached_property
    def size(self) -> NDArray[np.float64]:
        """How long each row is, so that twice as long is a step."""
        return np.log1p(self.length) / 5

    def positions(self, rows: Collection[int]) -> NDArray[np.intp]:
        """Where these rows stand; those that are not there are left out."""
        places, there = self.lookup(np.fromiter(rows, np.int64, len(rows)))
        return places[there]

    def column(self, values: Mapping[int, float]) -> NDArray[np.float64]:
        """The value of each row, and no number where there is none."""
        places, there = self.lookup(np.fromiter(values.keys(), np.int64, len(values)))
        found = np.full(len(self.ids), np.nan)
        found[places[there]] = np.fromiter(values.values(), np.float64, len(values))[there]
        return found

    def lookup(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where each row would stand, and whether it does."""
        places = np.minimum(np.searchsorted(self.ids, rows), max(0, len(self.ids) - 1))
        return places, self.ids[places] == rows if len(self.ids) else np.zeros(len(rows), np.bool_)


@dataclass(frozen=True, slots=True)
class _CachedTable:
    containers: Sequence[Container]
    outline: PassageTable


class PassageTableCache:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[tuple[Where, ...], _CachedTable] = {}
        # Who comes while rows are read waits for them: to read them twice takes longer.
        self._loading = threading.Lock()

    def of(self, places: Sequence[Where], containers: Sequence[Container]) -> PassageTable:
        """All rows in these places, whose containers are these now."""
        key = tuple(places)
        with self._loading:
            held = self._held.pop(key, None) or _CachedTable((), _build_table([]))
            if held.containers != containers:
                held = self._renew(containers, held)
            self._held[key] = held
            while len(self._held) > _CACHED_TABLES:
                del self._held[next(iter(self._held))]
            return held.outline

    def _renew(self, containers: Sequence[Container], held: _CachedTable) -> _CachedTable:
        gone, new = changes(held.containers, containers)
        fresh = _build_table(list(those_of(containers, self._store.passages.outlines(new))))
        return _CachedTable(containers, _merge(_without(held.outline, gone), fresh))


def _build_table(rows: Sequence[tuple[int, int, float, str, str, int]]) -> PassageTable:
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


def _without(outline: PassageTable, gone: Sequence[Ids]) -> PassageTable:
    if not gone:
        return outline
    there = np.ones(len(outline.ids), np.bool_)
    for first, last in gone:
        there[np.searchsorted(outline.ids, first) : np.searchsorted(outline.ids, last, "right")] = False
    return PassageTable(*(getattr(outline, column.name)[there] for column in fields(PassageTable)))


def _merge(outline: PassageTable, fresh: PassageTable) -> PassageTable:
    """Both in the order of their rows."""
    places = np.searchsorted(outline.ids, fresh.ids)
    total = len(outline.ids) + len(fresh.ids)
    new = np.zeros(total, np.bool_)
    new[places + np.arange(len(fresh.ids))] = True
    return PassageTable(
        *(
            _merge_column(getattr(outline, column.name), getattr(fresh, column.name), new)
            for column in fields(PassageTable)
        )
    )


def _merge_column(old: NDArray[Any], fresh: NDArray[Any], new: NDArray[np.bool_]) -> NDArray[Any]:
    merged = np.empty(len(new), np.promote_types(old.dtype, fresh.dtype))
    merged[new], merged[~new] = fresh, old
    return merged
