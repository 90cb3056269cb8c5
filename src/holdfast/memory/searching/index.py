"""The index of notes: kept up with the files, which are the truth, and thrown away without loss.

Every file is compared by the tag its workspace gives it. Files that are gone leave at once; changed ones are
read again, those with memories first, as many as there is time for. Knows files and passages, no ranking.
"""

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from itertools import takewhile
from pathlib import PurePosixPath

from holdfast.errors import HoldfastError, NotFound
from holdfast.memory import scopes
from holdfast.memory.base import News
from holdfast.memory.searching.chunks import CHUNK_VERSION, split_chunks
from holdfast.memory.searching.drift import find_news
from holdfast.memory.searching.hits import Freshness
from holdfast.memory.searching.sources import NoteFiles, folder_of
from holdfast.memory.workspace.base import EVERY_NOTE, Away, Entry
from holdfast.memory.workspace.items import PART, ids_in
from holdfast.messages import Scope
from holdfast.store import FileState, NewPassage, NotesOf, Store
from holdfast.store.texts import spoken_date
from holdfast.text.questions import Trait, is_wish_heading, traits_of

# Called with how many of how many files are done.
Progress = Callable[[int, int], None]
Stop = Callable[[], bool]

# Files that are put into the index in one step, and how many bytes of them: each step waits for the disk, and
# nobody stops in the middle of one.
_FILES_IN_STEP = 20
_BYTES_IN_STEP = 100_000

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CURATED = "MEMORY.md"


@dataclass(frozen=True, slots=True)
class _FolderWork:
    """What is to be done to one folder's part of the index."""

    notes: NotesOf
    files: NoteFiles
    known: dict[str, FileState]
    gone: list[str]
    changed: list[Entry]


_Portion = list[tuple[_FolderWork, Entry]]


def _ignore_progress(done: int, total: int) -> None:
    """Nobody follows it."""


def _never() -> bool:
    return False


def _ignore_news(news: Sequence[News]) -> None:
    """For those who quote nothing."""


class Index:
    """`extra` are files outside of the workspace, which belong to the user `owner`.

    `told` hears of memories that somebody changed or took away in the files, in the step that follows them.
    """

    def __init__(
        self,
        store: Store,
        workspace: NoteFiles,
        *,
        extra: NoteFiles | None = None,
        owner: str = Scope().user,
        told: Callable[[Sequence[News]], None] = _ignore_news,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._workspace = workspace
        self._extra = extra
        self._owner = owner
        self._told = told
        self._clock = clock
        self._syncing = threading.Lock()
        # Where there were notes when somebody looked.
        self._filled: set[NotesOf] = set()

    def places(self, scope: Scope, *, own: bool = False) -> list[NotesOf]:
        """Where the notes are that this scope can see, or only its `own`."""
        seen = (scopes.owner(scope),) if own else scopes.visible(scope)
        found = [NotesOf(str(scopes.folder(one))) for one in seen]
        found.append(NotesOf(str(scopes.folder(scopes.owner(scope)) / scopes.CONVERSATIONS)))
        theirs = scope.kind == "private" and scope.user == self._owner
        # Files elsewhere are the person's, not a project's.
        if self._extra is not None and theirs and not (own and scope != Scope(self._owner)):
            found.append(self._elsewhere)
        return found

    def everywhere(self) -> list[NotesOf]:
        """Where there are notes at all, whoever can see them."""
        there = {one.path for one in self._workspace.entries()}
        # Those of which every file is gone have something to take out.
        there.update(
            path for path in map(PurePosixPath, self._store.passages.paths()) if path.parts[0] != "/"
        )
        folders = sorted({name for path in there if (name := folder_of(path))})
        places = [NotesOf(folder) for folder in folders]
        return places if self._extra is None else [*places, self._elsewhere]

    def is_empty(self, scope: Scope) -> bool:
        """Whether there are no notes at all that this scope can see.

        Who had some when files were last looked at has some: should they be gone, a search finds that out.
        """
        places = self.places(scope)
        try:
            return self._filled.isdisjoint(places) and not any(self._listed(places).values())
        except Away:
            # Nobody can look just now: whoever searches is told so.
            return False

    def owners(self, scope: Scope, memories: Collection[str]) -> dict[str, Scope]:
        """Whose each of these memories is that this scope can see. What is no memory is nobody's."""
        found: dict[str, Scope] = {}
        files = self._store.passages.files_of(memories)
        for whose in scopes.visible(scope):
            beginning = f"{NotesOf(str(scopes.folder(whose))).key}:"
            for name, there in files.items():
                if not name.startswith(PART) and any(file.startswith(beginning) for file in there):
                    found[name] = whose
        return found

    def refresh(self, scope: Scope, seconds: float) -> Freshness:
        """Take out what is gone, and read again what has changed, for so many seconds; for none, only look.

        The time is for reading: however long it takes to see what has changed, some of it is read.
        """
        places = self.places(scope)
        try:
            work = self._compared(places)
            until = self._clock() + seconds
            return self._carry_out(work, lambda: self._clock() >= until)
        except Away as error:
            return self._unseen(places, error)

    def sync(self, progress: Progress = _ignore_progress, stop: Stop = _never) -> Freshness:
        """Bring everything up to date, the files of all scopes, unless `stop` ends it early.

        One does it at a time: while another is at it, this only looks how far it is.
        """
        if not self._syncing.acquire(blocking=False):
            return self._carry_out(self._everything(), lambda: True)
        try:
            return self._carry_out(self._everything(), stop, progress)
        finally:
            self._syncing.release()

    def rebuild(self, progress: Progress = _ignore_progress, stop: Stop = _never) -> Freshness:
        """Believe nothing of what is in the index, and make it anew from the files.

        It waits for whoever brings it up to date just now, who may have begun before.
        """
        with self._syncing:
            self._store.passages.distrust_files()
            return self._carry_out(self._everything(), stop, progress)

    def forget(self, memories: Collection[str]) -> None:
        """Take memories out of the index at once, before there is time to read their files again.

        For those that were forgotten or changed in a file: what still holds of them comes back with it.
        """
        self._store.passages.forget(memories)

    @property
    def _elsewhere(self) -> NotesOf:
        return NotesOf(scopes.elsewhere(self._owner))

    def _listed(self, places: Sequence[NotesOf]) -> dict[NotesOf, list[Entry]]:
        """The files in these places, listed once for all of them."""
        found: dict[NotesOf, list[Entry]] = {notes: [] for notes in places}
        if self._elsewhere in found and self._extra is not None:
            found[self._elsewhere] = self._extra.entries()
        folders = {notes.folder: entries for notes, entries in found.items() if notes != self._elsewhere}
        for root in _outermost(folders):
            for entry in self._workspace.entries(root):
                if (folder := folder_of(entry.path)) in folders:
                    folders[folder].append(entry)
        self._filled.difference_update(places)
        self._filled.update(notes for notes, entries in found.items() if entries)
        return found

    def _compared(self, places: Sequence[NotesOf]) -> list[_FolderWork]:
        work: list[_FolderWork] = []
        for notes, entries in self._listed(places).items():
            files = self._extra if self._extra is not None and notes == self._elsewhere else self._workspace
            known = self._store.passages.files(notes)
            there = {_container(notes, entry.path): entry for entry in entries}
            changed = [
                entry
                for name, entry in there.items()
                if name not in known or (known[name].tag, known[name].version) != (entry.tag, CHUNK_VERSION)
            ]
            work.append(_FolderWork(notes, files, known, sorted(known.keys() - there.keys()), changed))
        return work

    def _unseen(self, places: Sequence[NotesOf], error: Away) -> Freshness:
        """The files cannot be looked at: what the index has of them still answers, and says what it lacks."""
        states = [state for notes in places for state in self._store.passages.files(notes).values()]
        newest = max((state.indexed_at for state in states), default=0.0)
        skipped = {f"{notes.folder}/{EVERY_NOTE}": str(error) for notes in places[:1]}
        return Freshness(len(states), 0, skipped, newest)

    def _everything(self) -> list[_FolderWork]:
        return self._compared(self.everywhere())

    def _carry_out(
        self, work: Sequence[_FolderWork], stop: Stop, progress: Progress = _ignore_progress
    ) -> Freshness:
        waiting = [(one, entry) for one in work for entry in one.changed]
        waiting.sort(key=lambda pair: _urgency(pair[1]))
        done = 0
        unread = cache(lambda: _read_ids(waiting[done:]))
        progress(done, len(waiting))
        for portion in _portions(waiting):
            taken = self._take_in(portion, stop, unread)
            done += taken
            if taken < len(portion):
                break
            progress(done, len(waiting))
        # After the new ones, so that a file that was moved keeps its vectors.
        for one in work:
            if one.gone:
                nothing: Mapping[str, Mapping[str, str]] = {name: {} for name in one.gone}
                news = find_news(self._store, {one.notes: nothing}, unread)
                self._store.passages.remove(one.gone, partial(self._tell, news.get(one.notes, [])))
        states = [state for one in work for name, state in one.known.items() if name not in one.gone]
        skipped = {str(entry.path): entry.trouble for _, entry in waiting if entry.trouble}
        skipped |= {state.path: state.trouble for state in states if state.trouble}
        newest = max((state.indexed_at for state in states), default=0.0)
        return Freshness(len(states), len(waiting) - done, skipped, newest)

    def _take_in(self, portion: _Portion, stop: Stop, unread: Callable[[], Collection[str]]) -> int:
        """Put files into the index, each place's in one step, until it is time to stop; says how many."""
        taken, read = 0, dict[NotesOf, dict[FileState, list[NewPassage]]]()
        for work, entry in takewhile(lambda _: not stop(), portion):
            taken += 1
            if (found := self._read(work, entry)) is not None:
                state, passages = found
                work.known[state.container] = state
                read.setdefault(work.notes, {})[state] = passages
        # Of a file that cannot be read nobody knows what it says now.
        now = {
            notes: {
                state.container: _texts_by_name(parts) for state, parts in files.items() if not state.trouble
            }
            for notes, files in read.items()
        }
        news = find_news(self._store, now, unread)
        for notes, files in read.items():
            self._store.passages.replace(notes, files, partial(self._tell, news.get(notes, [])))
        return taken

    def _tell(self, news: Sequence[News]) -> None:
        if news:
            self._told(news)

    def _read(self, work: _FolderWork, entry: Entry) -> tuple[FileState, list[NewPassage]] | None:
        """What one file has for the index. What cannot be read is noted with the reason until it changes."""
        name, path, now = _container(work.notes, entry.path), str(entry.path), time.time()
        if entry.trouble:
            return FileState(name, path, entry.tag, CHUNK_VERSION, now, entry.trouble), []
        try:
            note = work.files.read(entry.path)
        except NotFound:
            # It went away just now, and will be gone the next time.
            return None
        except Away:
            # That says nothing of this file, which would otherwise be left out until it changes.
            raise
        except HoldfastError as error:
            return FileState(name, path, entry.tag, CHUNK_VERSION, now, error.message), []
        return FileState(name, path, note.tag, CHUNK_VERSION, now), passages_of(entry, note.text)


def _outermost(folders: Collection[str]) -> list[str]:
    """Those that are inside of no other one."""
    return [
        folder
        for folder in folders
        if not any(str(parent) in folders for parent in PurePosixPath(folder).parents)
    ]


def _urgency(entry: Entry) -> tuple[bool, bool, float]:
    """Where memories are comes first, what takes long last; the newest is what somebody asks about."""
    memories = entry.path.name == _CURATED or _DAY.fullmatch(entry.path.stem)
    return not memories, entry.size > _BYTES_IN_STEP, -entry.mtime


def _portions(waiting: _Portion) -> Iterator[_Portion]:
    portion: _Portion = []
    for work, entry in waiting:
        full = (
            len(portion) == _FILES_IN_STEP
            or sum(one.size for _, one in portion) + entry.size > _BYTES_IN_STEP
        )
        if portion and full:
            yield portion
            portion = []
        portion.append((work, entry))
    if portion:
        yield portion


def _read_ids(waiting: _Portion) -> set[str]:
    """The memories in files that are not read yet, for who would take one for gone that only moved there."""
    found: set[str] = set()
    for work, entry in waiting:
        try:
            found |= ids_in(work.files.read(entry.path).text)
        except Away:
            raise
        except HoldfastError:
            continue
    return found


def _texts_by_name(passages: Sequence[NewPassage]) -> Mapping[str, str]:
    return {one.name: one.text for one in passages}


def _container(notes: NotesOf, path: PurePosixPath) -> str:
    return f"{notes.key}:{path}"


def passages_of(entry: Entry, text: str) -> list[NewPassage]:
    """What the index has of a file with this text, under names that stay."""
    day = _DAY.search(entry.path.stem)
    date = _seconds(day[0]) if day else entry.mtime
    kind = "summary" if scopes.is_summary(entry.path) else ""
    found: list[NewPassage] = []
    repeats: dict[str, int] = {}
    for part in split_chunks(text, by_hand=entry.path.name == _CURATED):
        # Made of the words alone, so that it stays the same whatever is written above it.
        repeats[part.digest] = again = repeats.get(part.digest, -1) + 1
        name = part.memory or f"{PART}{part.digest}" + (f"_{again}" if again else "")
        at = part.at or date
        if kind and any(map(is_wish_heading, part.headings[-1:])):
            # What was asked for in a conversation says nothing about anything.
            continue
        if (part.kind or kind) and traits_of(part.text) & Trait.ONLY_ASKS:
            # A question that was noted down would come back as the answer to itself.
            continue
        about = " ".join((entry.path.stem, *part.headings, spoken_date(at)))
        found.append(
            NewPassage(name, part.text, part.first, part.last, at, about, part.kind or kind, part.holds)
        )
    return found


def _seconds(day: str) -> float:
    try:
        return datetime.fromisoformat(f"{day}T12:00").astimezone().timestamp()
    except ValueError:
        return 0.0
