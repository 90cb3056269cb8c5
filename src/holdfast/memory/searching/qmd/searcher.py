"""Search over notes by QMD, with our own in its place whenever that is better than no answer.

Every answer says who gave it, and why it was not QMD where it was not. Conversations are always looked
through by our own search: QMD knows files.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast import words
from holdfast.errors import HoldfastError, StoreError
from holdfast.memory.searching.hits import Freshness, SearchHit, SearchResult
from holdfast.memory.searching.index import Index
from holdfast.memory.searching.qmd import shelves as notes
from holdfast.memory.searching.qmd.command import QmdFailed
from holdfast.memory.searching.qmd.hits import ENGINE, find_hits, shorten_hits
from holdfast.memory.searching.qmd.keeper import QmdProcess
from holdfast.memory.searching.qmd.results import QmdHit
from holdfast.memory.searching.qmd.rules import is_allowed, reaches
from holdfast.memory.searching.qmd.shelves import QmdCollections
from holdfast.memory.searching.search import LIMIT, Searcher, Within
from holdfast.memory.workspace.base import Entry, Note
from holdfast.messages import Scope

_OURS = "holdfast"
_GROUPS = "groups/"
_LONGEST = 2_000
_ELSEWHERE = "QMD reads folders of this machine, and the notes are elsewhere."
_NOTHING = "Nothing has any of these words."
_UNREAD = "QMD has not read all of these notes yet."


@dataclass(frozen=True, slots=True)
class _Query:
    """A question with all that was said about it, for whoever answers it."""

    query: str
    scope: Scope
    within: Within
    kinds: Collection[str]
    limit: int
    min_score: float
    own: bool

    def of(self, searcher: Searcher) -> SearchResult:
        return searcher.search(
            self.query,
            self.scope,
            within=self.within,
            kinds=self.kinds,
            limit=self.limit,
            min_score=self.min_score,
            own=self.own,
        )


@dataclass(frozen=True, slots=True)
class _CollectionFiles:
    """A collection with the files that are in it now, by their path in it."""

    collection: notes.QmdCollection
    files: Mapping[str, Entry]


class QmdSearch:
    """`own` answers what QMD does not; `index` says which notes a scope can see."""

    def __init__(
        self,
        keeper: QmdProcess,
        collections: QmdCollections,
        own: Searcher,
        index: Index,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keeper = keeper
        self._collections = collections
        self._own = own
        self._index = index
        self._circuit = _Circuit(keeper.options.pause, clock)

    @property
    def interval(self) -> float:
        """Seconds between two looks at the notes."""
        return self._keeper.options.interval

    @property
    def debounce(self) -> float:
        """Seconds after a change, in which there may be others."""
        return self._keeper.options.debounce

    def close(self) -> None:
        self._keeper.close()

    def search(
        self,
        query: str,
        scope: Scope,
        *,
        within: Within = "all",
        kinds: Collection[str] = (),
        limit: int = LIMIT,
        min_score: float = 0.0,
        own: bool = False,
    ) -> SearchResult:
        """As our own search, which is asked for kinds of memories: only it knows them."""
        asked = _Query(query, scope, within, kinds, limit, min_score, own)
        ours = kinds or within == "conversations" or not any(sign.isalnum() for sign in query)
        if ours or not is_allowed(self._keeper.options.rules, scope):
            return asked.of(self._own)
        try:
            found = self._found(asked)
        except QmdFailed as error:
            return self._instead(asked, error)
        if found is None:
            return asked.of(self._own)
        self._keeper.answered(ENGINE, "")
        if within == "notes":
            return found
        return _merge_results(found, replace(asked, within="conversations").of(self._own), limit)

    def resolve(self, scope: Scope, path: str) -> Note | None:
        """The note at `qmd/COLLECTION/PATH`; None where this scope has no such collection."""
        return notes.resolve_note(self._collections, scope, path)

    def refresh(self, stop: Callable[[], bool] = lambda: False, *, embed: bool = False) -> str:
        """Bring QMD up with all notes it may read; what went wrong, in words."""
        if not self._collections.readable:
            return _ELSEWHERE
        rules = self._keeper.options.rules
        kinds = {kind for kind in ("private", "group") if reaches(rules, kind)}
        try:
            there = self._index.everywhere()
        except StoreError as error:
            return str(error)
        places = [one for one in there if ("group" if one.folder.startswith(_GROUPS) else "private") in kinds]
        return self._keeper.sync(self._collections.everywhere(places), stop, embed=embed)

    def state(self) -> dict[str, Any]:
        """Who answered last and why, and how far QMD is. Nothing is run."""
        told, options = self._keeper.state, self._keeper.options
        return {
            "name": ENGINE,
            "command": " ".join(options.command),
            "found": self._keeper.command.program is not None,
            "version": told.version or None,
            "mode": options.mode,
            "collections": len(told.collections),
            "updated_at": told.updated_at,
            "embedded_at": told.embedded_at,
            "answered_by": told.answered_by or None,
            "because": told.because or None,
            "trouble": told.trouble or (None if self._collections.readable else _ELSEWHERE),
        }

    def _found(self, asked: _Query) -> SearchResult | None:
        """What QMD has to say; None where there are no notes at all, QmdFailed where it says nothing."""
        there = self._notes(asked)
        if not there:
            return None
        state = self._keeper.state
        if not all(state.has(one.collection) for one in there.values()):
            hint = "It will in a moment, or by `holdfast memory reindex`."
            raise QmdFailed(_UNREAD, hint=hint, lasting=False)
        limit = min(asked.limit, self._keeper.options.limit)
        self._circuit.check()
        try:
            found = self._keeper.ask(asked.query[:_LONGEST], list(there), limit)
        except QmdFailed as error:
            if error.lasting:
                self._circuit.failed(error.message)
            raise
        self._circuit.worked()
        return self._answer(asked, found, there, state.updated_at)

    def _notes(self, asked: _Query) -> dict[str, _CollectionFiles]:
        """All collections that this scope can see and that have files."""
        if not self._collections.readable:
            raise QmdFailed(_ELSEWHERE, lasting=False)
        visible = [
            *self._collections.of(self._index.places(asked.scope, own=asked.own)),
            *self._collections.outside(asked.scope, own=asked.own),
        ]
        try:
            found = {one.name: _CollectionFiles(one, self._collections.files(one)) for one in visible}
        except StoreError as error:
            raise QmdFailed(error.message, hint=error.hint, lasting=False) from error
        return {name: one for name, one in found.items() if one.files}

    def _answer(
        self, asked: _Query, found: Sequence[QmdHit], there: Mapping[str, _CollectionFiles], updated_at: float
    ) -> SearchResult:
        options = self._keeper.options
        terms = words.terms(asked.query[:_LONGEST])
        read = [self._read(one, there[one.collection], terms) for one in found]
        hits = shorten_hits((one for hits in read for one in hits), options.snippet, options.characters)
        limit = min(asked.limit, options.limit)
        hits = [one for one in hits if one.score >= asked.min_score][:limit]
        files = [entry for one in there.values() for entry in one.files.values()]
        stale = notes.count_changed(updated_at, files)
        degraded = [f"{stale} changed files are not read again yet."] if stale else []
        if gone := read.count([]):
            degraded.append(f"{gone} results are left out: their files say something else by now.")
        empty = "" if hits else "What was found is below the minimum score." if any(read) else _NOTHING
        freshness = Freshness(len(files), stale, indexed_at=updated_at)
        return SearchResult(tuple(hits), (ENGINE,), "", tuple(degraded), freshness, empty)

    def _read(self, found: QmdHit, there: _CollectionFiles, terms: Sequence[str]) -> list[SearchHit]:
        path = notes.match_path(found.path, there.files)
        if path is None:
            return []
        try:
            text = self._collections.read(there.collection, path).text
        except HoldfastError:
            # It went away just now, or cannot be read any more.
            return []
        return find_hits(found, there.collection.shown(path), there.files[path], text, terms)

    def _instead(self, asked: _Query, error: QmdFailed) -> SearchResult:
        answer = asked.of(self._own)
        self._keeper.answered(_OURS, error.message)
        told = [f"Our own search answered, not QMD: {error}"]
        if alone := self._collections.only_here(asked.scope, own=asked.own):
            told.append(f"Not searched, because only QMD reads them: {', '.join(alone)}.")
        return replace(answer, degraded=(*told, *answer.degraded))


class _Circuit:
    """After a failure nobody waits for the same again, until it is time for one to look."""

    def __init__(self, pause: float, clock: Callable[[], float]) -> None:
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._why = ""
        self._until = 0.0

    def check(self) -> None:
        with self._lock:
            now = self._clock()
            if self._why and now < self._until:
                left = max(1, round(self._until - now))
                raise QmdFailed(self._why, hint=f"It is asked again in {left} seconds.", lasting=False)
            # Others do not wait for what this one finds out.
            self._until = now + self._pause

    def failed(self, why: str) -> None:
        with self._lock:
            self._why, self._until = why, self._clock() + self._pause

    def worked(self) -> None:
        with self._lock:
            self._why = ""


def _merge_results(found: SearchResult, said: SearchResult, limit: int) -> SearchResult:
    """Notes that QMD found and messages that we did, by their scores."""
    hits = sorted((*found.hits, *said.hits), key=lambda one: -one.score)[:limit]
    return replace(
        found,
        hits=tuple(hits),
        engines=tuple(dict.fromkeys((*found.engines, *said.engines))),
        model=said.model,
        degraded=tuple(dict.fromkeys((*found.degraded, *said.degraded))),
        empty="" if hits else found.empty,
    )
