"""Search over notes by QMD, with our own in its place whenever that is better than no answer.

Every answer says who gave it, and why it was not QMD where it was not. Conversations are always looked
through by our own search: QMD knows files.
"""

import hashlib
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from holdfast import words
from holdfast.backends.qmd_process import (
    CITATION_PREFIX,
    EVERY_MASK,
    OUR_PREFIX,
    OWN_MASK,
    ExtraFolder,
    QmdCollection,
    QmdFailed,
    QmdHit,
    QmdOptions,
    QmdProcess,
    is_allowed,
    matches_mask,
    parse_command,
    parse_extras,
    parse_mode,
    parse_rules,
    reaches,
)
from holdfast.config import Settings
from holdfast.errors import HoldfastError, StoreError
from holdfast.memory.index import ExtraPaths, Freshness, Index, folder_of, parse_paths, passages_of
from holdfast.memory.scopes import CONVERSATIONS
from holdfast.memory.search import (
    LIMIT,
    OpenSearchBackend,
    Searcher,
    SearchHit,
    SearchResult,
    Within,
    extract_excerpt,
)
from holdfast.memory.workspace.base import Entry, Note, Workspace, not_there
from holdfast.messages import Scope
from holdfast.store import NewPassage, NotesOf
from holdfast.store.passages import NOTE

ENGINE = "qmd"
_LINE_END = re.compile(r"\r\n|\r|\n")


def find_hits(found: QmdHit, path: str, entry: Entry, text: str, terms: Collection[str]) -> list[SearchHit]:
    """What was found in a file with this text, best first; nothing where that is not in it any more.

    QMD names one place in a file, and a file of notes may have a hundred memories: those that have as much of
    the question come along.
    """
    there = _match_lines(found, _LINE_END.split(text.removeprefix("\ufeff")))
    passages = passages_of(entry, text)
    around = [one for one in passages if _has_any(one, there)]
    if not around:
        return []
    fits_best = [line for line, said in there.items() if said == found.best]
    having = {one.name: len(set(terms) & set(words.terms(one.text))) for one in passages}
    best = max(around, key=lambda one: (having[one.name], _has_any(one, fits_best)))
    as_good = [one for one in passages if one is not best and having[one.name] >= having[best.name] > 0]
    return [_hit(one, path, round(found.score, 4), terms) for one in (best, *as_good)]


def _hit(one: NewPassage, path: str, score: float, terms: Collection[str]) -> SearchHit:
    part = extract_excerpt(one.text, dict.fromkeys(terms, 1.0))
    return SearchHit(
        id=one.name,
        kind="note",
        path=path,
        lines=(min(one.last, one.first + part.first), min(one.last, one.first + part.last)),
        snippet=part.text,
        score=score,
        parts={ENGINE: score},
        at=one.at,
        role=NOTE,
        memory_kind=one.kind,
        engines=(ENGINE,),
    )


def _has_any(one: NewPassage, lines: Iterable[int]) -> bool:
    return any(one.first <= line <= one.last for line in lines)


def shorten_hits(hits: Iterable[SearchHit], each: int, together: int) -> list[SearchHit]:
    """Every part once, the best first, with so many characters each and as many as there is room for."""
    kept: dict[tuple[str, str], SearchHit] = {}
    left = together
    for one in sorted(hits, key=lambda one: -one.score):
        told = one.snippet if len(one.snippet) <= each else f"{one.snippet[: max(1, each - 1)].rstrip()}…"
        if (one.path, one.id) in kept:
            continue
        if len(told) > left:
            break
        kept[one.path, one.id] = replace(one, snippet=told)
        left -= len(told)
    return list(kept.values())


def _match_lines(found: QmdHit, lines: Sequence[str]) -> dict[int, int]:
    """The lines of a text that stand in what was found, by which they are there; none without the best."""
    there = {at: said for at, line in enumerate(lines, 1) if (said := found.said_by(line)) is not None}
    return there if found.best is None or found.best in there.values() else {}


_READABLE = 30
_DIGEST = 16


class QmdCollections:
    """`extra` belong to the user `owner`, and to no project or group."""

    def __init__(self, workspace: Workspace, extra: Sequence[ExtraFolder], owner: str = Scope().user) -> None:
        self._workspace = workspace
        self._extra = tuple(QmdCollection(one.name, one.root, one.mask) for one in extra)
        self._alone = frozenset(one.name for one in extra if not one.shared)
        self._owner = owner

    @property
    def readable(self) -> bool:
        """Whether there is a folder on this machine that QMD could read."""
        return self._workspace.folder is not None

    def of(self, places: Iterable[NotesOf]) -> list[QmdCollection]:
        """Those of folders in the workspace."""
        root = self._workspace.folder
        if root is None:
            return []
        return [_folder_collection(root, place.folder) for place in places if ":" not in place.folder]

    def outside(self, scope: Scope, *, own: bool = False) -> tuple[QmdCollection, ...]:
        theirs = scope.kind == "private" and scope.user == self._owner
        return self._extra if theirs and not (own and scope != Scope(self._owner)) else ()

    def only_here(self, scope: Scope, *, own: bool = False) -> list[str]:
        """The names of what our own search would not find."""
        return [one.name for one in self.outside(scope, own=own) if one.name in self._alone]

    def everywhere(self, places: Iterable[NotesOf]) -> list[QmdCollection]:
        return [*self.of(places), *self._extra]

    def files(self, collection: QmdCollection) -> dict[str, Entry]:
        """Its files, by their path in it."""
        if collection.notes:
            entries = self._workspace.entries(collection.notes)
            ours = [one for one in entries if folder_of(one.path) == collection.notes]
            return {str(one.path.relative_to(collection.notes)): one for one in ours if not one.trouble}
        found: dict[str, Entry] = {}
        for one in ExtraPaths([collection.root], collection.root).entries():
            path = PurePosixPath(one.path)
            if not one.trouble and path.is_relative_to(collection.root.as_posix()):
                inner = str(path.relative_to(collection.root.as_posix()))
                if matches_mask(collection.mask, inner):
                    found[inner] = one
        return found

    def read(self, collection: QmdCollection, path: str) -> Note:
        """One of its files."""
        if collection.notes:
            return self._workspace.read(PurePosixPath(collection.notes, path))
        return ExtraPaths([collection.root], collection.root).read(PurePosixPath(collection.root, path))


def match_path(path: str, files: Mapping[str, Entry]) -> str | None:
    """The file that QMD means: some versions write names in small letters, or with other signs left out."""
    if path in files:
        return path
    alike = [one for one in files if _squash(one) == _squash(path)]
    return alike[0] if len(alike) == 1 else None


def _folder_collection(root: Path, folder: str) -> QmdCollection:
    # A name tells nobody else's: the readable part may be the same, the digest is not.
    digest = hashlib.sha256(folder.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    readable = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-")[-_READABLE:]
    whole = PurePosixPath(folder).name == CONVERSATIONS
    mask = EVERY_MASK if whole else OWN_MASK
    return QmdCollection(f"{OUR_PREFIX}{readable}-{digest}", root / folder, mask, folder)


def _squash(path: str) -> str:
    return re.sub(r"[\W_]+", "", path.lower())


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

    collection: QmdCollection
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
        prefix, _, rest = path.partition("/")
        name, _, inner = rest.partition("/")
        # Collections of others are no collections: their paths are like any that leads nowhere.
        collection = next((each for each in self._collections.outside(scope) if each.name == name), None)
        if prefix != CITATION_PREFIX or collection is None:
            return None
        # Only files that a walk through the folder finds, under the very name they have there.
        if inner not in self._collections.files(collection):
            raise not_there(PurePosixPath(path))
        return self._collections.read(collection, inner)

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
        stale = sum(entry.mtime > updated_at for entry in files)
        degraded = [f"{stale} changed files are not read again yet."] if stale else []
        if gone := read.count([]):
            degraded.append(f"{gone} results are left out: their files say something else by now.")
        empty = "" if hits else "What was found is below the minimum score." if any(read) else _NOTHING
        freshness = Freshness(len(files), stale, indexed_at=updated_at)
        return SearchResult(tuple(hits), (ENGINE,), "", tuple(degraded), freshness, empty)

    def _read(self, found: QmdHit, there: _CollectionFiles, terms: Sequence[str]) -> list[SearchHit]:
        path = match_path(found.path, there.files)
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


def open_qmd(settings: Settings) -> OpenSearchBackend:
    """Return how to open QMD as the settings say; ConfigError where they make no sense."""
    options = QmdOptions(
        settings.home / "qmd",
        parse_command(settings.qmd_command),
        parse_mode(settings.qmd_mode),
        parse_extras(settings.qmd_paths, settings.home, parse_paths(settings.notes_paths)),
        parse_rules(settings.qmd_scope),
        max(1, settings.qmd_limit),
        max(1, settings.qmd_snippet),
        settings.qmd_characters,
        settings.qmd_timeout,
        60 * max(1.0, settings.qmd_interval),
        settings.qmd_debounce,
        60 * settings.qmd_embed_interval,
        update_timeout=settings.qmd_update_timeout,
    )
    return partial(start_qmd, options)


def start_qmd(options: QmdOptions, workspace: Workspace, own: Searcher, index: Index) -> QmdSearch:
    """A search by QMD over a workspace, with our own in reserve."""
    return QmdSearch(QmdProcess(options), QmdCollections(workspace, options.extra), own, index)
