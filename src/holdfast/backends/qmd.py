"""Search over notes by QMD, with our own search whenever that is better than no answer.

Every result says who gave it, and why it was not QMD. Conversations are always searched by ourselves: QMD
reads files. The notes stay the truth: QMD says where something is, and the text is read from the file.
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
from holdfast.i18n import lazy
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
from holdfast.memory.workspace import Note, NoteEntry, Workspace, missing_error
from holdfast.messages import Scope
from holdfast.store import NewPassage
from holdfast.store.fulltext import NotesFolder
from holdfast.store.passages import NOTE
from holdfast.text import analyser

ENGINE = "qmd"
_LINE_END = re.compile(r"\r\n|\r|\n")

_READABLE = 30
_DIGEST = 16
_OURS = "holdfast"
_GROUPS = "groups/"
_LONGEST = 2_000
_ELSEWHERE = "QMD reads folders of this machine, and the notes are elsewhere."
_NOTHING = lazy("Nothing has any of these words.")
_UNREAD = "QMD has not read all of these notes yet."


def find_hits(hit: QmdHit, path: str, entry: NoteEntry, text: str, terms: Collection[str]) -> list[SearchHit]:
    """The hits in a file with this text, best first; none if the text is not there any more.

    QMD names one place in a file, which may have a hundred memories: those with as many terms are added.
    """
    lines = match_lines(hit, _LINE_END.split(text.removeprefix("\ufeff")))
    passages = passages_of(entry, text)
    around = [passage for passage in passages if _has_any(passage, lines)]
    if not around:
        return []
    fits_best = [line for line, quoted in lines.items() if quoted == hit.best]
    having = {passage.name: len(set(terms) & set(analyser.terms(passage.text))) for passage in passages}
    best = max(around, key=lambda passage: (having[passage.name], _has_any(passage, fits_best)))
    as_good = [
        passage
        for passage in passages
        if passage is not best and having[passage.name] >= having[best.name] > 0
    ]
    return [_hit(passage, path, round(hit.score, 4), terms) for passage in (best, *as_good)]


def _hit(passage: NewPassage, path: str, score: float, terms: Collection[str]) -> SearchHit:
    part = extract_excerpt(passage.text, dict.fromkeys(terms, 1.0))
    return SearchHit(
        id=passage.name,
        kind="note",
        path=path,
        lines=(min(passage.last, passage.first + part.first), min(passage.last, passage.first + part.last)),
        snippet=part.text,
        score=score,
        parts={ENGINE: score},
        at=passage.at,
        role=NOTE,
        memory_kind=passage.kind,
        engines=(ENGINE,),
    )


def _has_any(passage: NewPassage, lines: Iterable[int]) -> bool:
    return any(passage.first <= line <= passage.last for line in lines)


def shorten_hits(hits: Iterable[SearchHit], each: int, together: int) -> list[SearchHit]:
    """Each hit once, best first, with at most `each` characters and `together` in all."""
    chosen: dict[tuple[str, str], SearchHit] = {}
    left = together
    for hit in sorted(hits, key=lambda hit: -hit.score):
        snippet = hit.snippet if len(hit.snippet) <= each else f"{hit.snippet[: max(1, each - 1)].rstrip()}…"
        if (hit.path, hit.id) in chosen:
            continue
        if len(snippet) > left:
            break
        chosen[hit.path, hit.id] = replace(hit, snippet=snippet)
        left -= len(snippet)
    return list(chosen.values())


def match_lines(hit: QmdHit, lines: Sequence[str]) -> dict[int, int]:
    """The lines of a text that QMD quoted, with their numbers there; none if the best is missing."""
    matches = {at: quoted for at, line in enumerate(lines, 1) if (quoted := hit.find_line(line)) is not None}
    return matches if hit.best is None or hit.best in matches.values() else {}


class QmdCollections:
    """The collections of a workspace; those of `extra` belong to the user `owner` only."""

    def __init__(self, workspace: Workspace, extra: Sequence[ExtraFolder], owner: str = Scope().user) -> None:
        self._workspace = workspace
        self._extra = tuple(QmdCollection(folder.name, folder.root, folder.mask) for folder in extra)
        self._alone = frozenset(folder.name for folder in extra if not folder.shared)
        self._owner = owner

    @property
    def readable(self) -> bool:
        """Whether there is a folder on this machine that QMD could read."""
        return self._workspace.folder is not None

    def of(self, places: Iterable[NotesFolder]) -> list[QmdCollection]:
        """The collections of folders in the workspace."""
        root = self._workspace.folder
        if root is None:
            return []
        return [folder_collection(root, place.folder) for place in places if ":" not in place.folder]

    def outside(self, scope: Scope, *, own: bool = False) -> tuple[QmdCollection, ...]:
        theirs = scope.kind == "private" and scope.user == self._owner
        return self._extra if theirs and not (own and scope != Scope(self._owner)) else ()

    def only_here(self, scope: Scope, *, own: bool = False) -> list[str]:
        """The names of collections that our own search does not read."""
        return [
            collection.name for collection in self.outside(scope, own=own) if collection.name in self._alone
        ]

    def everywhere(self, places: Iterable[NotesFolder]) -> list[QmdCollection]:
        return [*self.of(places), *self._extra]

    def files(self, collection: QmdCollection) -> dict[str, NoteEntry]:
        """Its files, by their path in it."""
        if collection.notes:
            entries = self._workspace.entries(collection.notes)
            ours = [entry for entry in entries if folder_of(entry.path) == collection.notes]
            return {
                str(entry.path.relative_to(collection.notes)): entry for entry in ours if not entry.trouble
            }
        files: dict[str, NoteEntry] = {}
        for entry in ExtraPaths([collection.root], collection.root).entries():
            path = PurePosixPath(entry.path)
            if not entry.trouble and path.is_relative_to(collection.root.as_posix()):
                inner = str(path.relative_to(collection.root.as_posix()))
                if matches_mask(collection.mask, inner):
                    files[inner] = entry
        return files

    def read(self, collection: QmdCollection, path: str) -> Note:
        """One of its files."""
        if collection.notes:
            return self._workspace.read(PurePosixPath(collection.notes, path))
        return ExtraPaths([collection.root], collection.root).read(PurePosixPath(collection.root, path))


def match_path(path: str, files: Mapping[str, NoteEntry]) -> str | None:
    """The file that QMD means: some versions change case or leave characters out."""
    if path in files:
        return path
    alike = [file for file in files if squash_name(file) == squash_name(path)]
    return alike[0] if len(alike) == 1 else None


def folder_collection(root: Path, folder: str) -> QmdCollection:
    # The digest keeps names apart whose readable parts are the same.
    digest = hashlib.sha256(folder.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    readable = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-")[-_READABLE:]
    whole = PurePosixPath(folder).name == CONVERSATIONS
    mask = EVERY_MASK if whole else OWN_MASK
    return QmdCollection(f"{OUR_PREFIX}{readable}-{digest}", root / folder, mask, folder)


def squash_name(path: str) -> str:
    return re.sub(r"[\W_]+", "", path.lower())


@dataclass(frozen=True, slots=True)
class _Query:
    """A question with all its options."""

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
    """A collection with its current files, by their path in it."""

    collection: QmdCollection
    files: Mapping[str, NoteEntry]


class QmdSearch:
    """Asks QMD; `own` answers what QMD does not, and `index` knows which notes a scope can see."""

    def __init__(
        self,
        process: QmdProcess,
        collections: QmdCollections,
        own: Searcher,
        index: Index,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._process = process
        self._collections = collections
        self._own = own
        self._index = index
        self._circuit = _Circuit(process.options.pause, clock)

    @property
    def interval(self) -> float:
        """Seconds between two looks at the notes."""
        return self._process.options.interval

    @property
    def debounce(self) -> float:
        """Seconds after a change, in which there may be others."""
        return self._process.options.debounce

    def close(self) -> None:
        self._process.close()

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
        """As `Search.search`, which answers questions for kinds of memories: only it knows them."""
        asked = _Query(query, scope, within, kinds, limit, min_score, own)
        ours = kinds or within == "conversations" or not any(sign.isalnum() for sign in query)
        if ours or not is_allowed(self._process.options.rules, scope):
            return asked.of(self._own)
        try:
            result = self._ask_qmd(asked)
        except QmdFailed as error:
            return self._instead(asked, error)
        if result is None:
            return asked.of(self._own)
        self._process.note_answer(ENGINE, "")
        if within == "notes":
            return result
        return merge_results(result, replace(asked, within="conversations").of(self._own), limit)

    def resolve(self, scope: Scope, path: str) -> Note | None:
        """The note at `qmd/COLLECTION/PATH`; None where this scope has no such collection."""
        prefix, _, cited = path.partition("/")
        name, _, inner = cited.partition("/")
        # Collections of others are no collections: their paths are like any that leads nowhere.
        collection = next((each for each in self._collections.outside(scope) if each.name == name), None)
        if prefix != CITATION_PREFIX or collection is None:
            return None
        # Only files that a walk through the folder finds, under the very name they have there.
        if inner not in self._collections.files(collection):
            raise missing_error(PurePosixPath(path))
        return self._collections.read(collection, inner)

    def refresh(self, stop: Callable[[], bool] = lambda: False, *, embed: bool = False) -> str:
        """Bring QMD up to date with all notes it may read; returns what went wrong."""
        if not self._collections.readable:
            return _ELSEWHERE
        rules = self._process.options.rules
        kinds = {kind for kind in ("private", "group") if reaches(rules, kind)}
        try:
            everywhere = self._index.everywhere()
        except StoreError as error:
            return str(error)
        places = [
            place
            for place in everywhere
            if ("group" if place.folder.startswith(_GROUPS) else "private") in kinds
        ]
        return self._process.sync(self._collections.everywhere(places), stop, embed=embed)

    def state(self) -> dict[str, Any]:
        """Who answered last and why, and how far QMD is. Nothing is run."""
        state, options = self._process.state, self._process.options
        return {
            "name": ENGINE,
            "command": " ".join(options.command),
            "found": self._process.command.program is not None,
            "version": state.version or None,
            "mode": options.mode,
            "collections": len(state.collections),
            "updated_at": state.updated_at,
            "embedded_at": state.embedded_at,
            "answered_by": state.answered_by or None,
            "because": state.because or None,
            "trouble": state.trouble or (None if self._collections.readable else _ELSEWHERE),
        }

    def _ask_qmd(self, asked: _Query) -> SearchResult | None:
        """The result of QMD; None where there are no notes, QmdFailed where it gives none."""
        notes = self._notes(asked)
        if not notes:
            return None
        state = self._process.state
        if not all(state.has(each.collection) for each in notes.values()):
            hint = "It will in a moment, or by `holdfast memory reindex`."
            raise QmdFailed(_UNREAD, hint=hint, lasting=False)
        limit = min(asked.limit, self._process.options.limit)
        self._circuit.check()
        try:
            hits = self._process.ask(asked.query[:_LONGEST], list(notes), limit)
        except QmdFailed as error:
            if error.lasting:
                self._circuit.open(error.message)
            raise
        self._circuit.reset()
        return self._answer(asked, hits, notes, state.updated_at)

    def _notes(self, asked: _Query) -> dict[str, _CollectionFiles]:
        """All collections that this scope can see and that have files."""
        if not self._collections.readable:
            raise QmdFailed(_ELSEWHERE, lasting=False)
        visible = [
            *self._collections.of(self._index.places(asked.scope, own=asked.own)),
            *self._collections.outside(asked.scope, own=asked.own),
        ]
        try:
            notes = {each.name: _CollectionFiles(each, self._collections.files(each)) for each in visible}
        except StoreError as error:
            raise QmdFailed(error.message, hint=error.hint, lasting=False) from error
        return {name: each for name, each in notes.items() if each.files}

    def _answer(
        self,
        asked: _Query,
        qmd_hits: Sequence[QmdHit],
        notes: Mapping[str, _CollectionFiles],
        updated_at: float,
    ) -> SearchResult:
        options = self._process.options
        terms = analyser.terms(asked.query[:_LONGEST])
        read = [self._read(each, notes[each.collection], terms) for each in qmd_hits]
        hits = shorten_hits((each for hits in read for each in hits), options.snippet, options.characters)
        limit = min(asked.limit, options.limit)
        hits = [each for each in hits if each.score >= asked.min_score][:limit]
        files = [entry for each in notes.values() for entry in each.files.values()]
        stale = sum(entry.mtime > updated_at for entry in files)
        degraded = [f"{stale} changed files are not read again yet."] if stale else []
        if gone := read.count([]):
            degraded.append(f"{gone} results are left out: their files say something else by now.")
        empty = "" if hits else lazy("What was found is below the minimum score.") if any(read) else _NOTHING
        freshness = Freshness(len(files), stale, indexed_at=updated_at)
        return SearchResult(tuple(hits), (ENGINE,), "", tuple(degraded), freshness, empty)

    def _read(self, hit: QmdHit, notes: _CollectionFiles, terms: Sequence[str]) -> list[SearchHit]:
        path = match_path(hit.path, notes.files)
        if path is None:
            return []
        try:
            text = self._collections.read(notes.collection, path).text
        except HoldfastError:
            # It went away just now, or cannot be read any more.
            return []
        return find_hits(hit, notes.collection.cite(path), notes.files[path], text, terms)

    def _instead(self, asked: _Query, error: QmdFailed) -> SearchResult:
        answer = asked.of(self._own)
        self._process.note_answer(_OURS, error.message)
        reasons = [f"Our own search answered, not QMD: {error}"]
        if alone := self._collections.only_here(asked.scope, own=asked.own):
            reasons.append(f"Not searched, because only QMD reads them: {', '.join(alone)}.")
        return replace(answer, degraded=(*reasons, *answer.degraded))


class _Circuit:
    """After a failure QMD is not asked for a while; then one question tries again."""

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

    def open(self, why: str) -> None:
        with self._lock:
            self._why, self._until = why, self._clock() + self._pause

    def reset(self) -> None:
        with self._lock:
            self._why = ""


def merge_results(notes: SearchResult, messages: SearchResult, limit: int) -> SearchResult:
    """Join notes from QMD and messages from our own search, by score."""
    hits = sorted((*notes.hits, *messages.hits), key=lambda one: -one.score)[:limit]
    return replace(
        notes,
        hits=tuple(hits),
        engines=tuple(dict.fromkeys((*notes.engines, *messages.engines))),
        model=messages.model,
        degraded=tuple(dict.fromkeys((*notes.degraded, *messages.degraded))),
        empty="" if hits else notes.empty,
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
