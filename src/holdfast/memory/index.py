"""The index of notes: kept up with the files, which are the truth, and thrown away without loss.

Every file is compared by the tag its workspace gives it. Files that are gone leave at once; changed ones are
read again, those with memories first, as many as there is time for. Knows files and passages, no ranking.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from pathlib import PurePosixPath

from holdfast.errors import HoldfastError, NotFound
from holdfast.memory import scopes
from holdfast.memory.chunks import VERSION, Chunk, chunks
from holdfast.memory.hits import Freshness
from holdfast.memory.sources import Files, folder_of
from holdfast.memory.workspace import Entry
from holdfast.messages import Scope
from holdfast.store import FileState, NewPassage, NotesOf, Store
from holdfast.store.texts import spoken_date

# Called with how many of how many files are done.
Progress = Callable[[int, int], None]
Stop = Callable[[], bool]

# Files that are put into the index in one step, and how many bytes of them: each step waits for the disk, and
# nobody stops in the middle of one.
_TOGETHER = 20
_BYTES = 100_000

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CURATED = "MEMORY.md"


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be done to one folder's part of the index."""

    notes: NotesOf
    files: Files
    known: dict[str, FileState]
    gone: list[str]
    changed: list[Entry]


_Portion = list[tuple[_Work, Entry]]


def _untold(done: int, total: int) -> None:
    """Nobody follows it."""


def _never() -> bool:
    return False


class Index:
    """`extra` are files outside of the workspace, which belong to the user `owner`."""

    def __init__(
        self,
        store: Store,
        workspace: Files,
        *,
        extra: Files | None = None,
        owner: str = Scope().user,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._workspace = workspace
        self._extra = extra
        self._owner = owner
        self._clock = clock
        self._syncing = threading.Lock()

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
        folders = sorted({name for one in self._workspace.entries() if (name := folder_of(one.path))})
        places = [NotesOf(folder) for folder in folders]
        return places if self._extra is None else [*places, self._elsewhere]

    def refresh(self, scope: Scope, seconds: float) -> Freshness:
        """Take out what is gone, and read again what has changed, for so many seconds; for none, only look.

        The time is for reading: however long it takes to see what has changed, some of it is read.
        """
        work = [self._compared(notes) for notes in self.places(scope)]
        until = self._clock() + seconds
        return self._carry_out(work, lambda: self._clock() >= until)

    def sync(self, progress: Progress = _untold, stop: Stop = _never) -> Freshness:
        """Bring everything up to date, the files of all scopes, unless `stop` ends it early.

        One does it at a time: while another is at it, this only looks how far it is.
        """
        if not self._syncing.acquire(blocking=False):
            return self._carry_out(self._everything(), lambda: True)
        try:
            return self._carry_out(self._everything(), stop, progress)
        finally:
            self._syncing.release()

    def rebuild(self, progress: Progress = _untold, stop: Stop = _never) -> Freshness:
        """Believe nothing of what is in the index, and make it anew from the files.

        It waits for whoever brings it up to date just now, who may have begun before.
        """
        with self._syncing:
            self._store.passages.distrust_files()
            return self._carry_out(self._everything(), stop, progress)

    def forget(self, memory: str) -> None:
        """Take a memory out of the index at once, before there is time to read its file again.

        For one that was forgotten or changed in its file: what still holds of it comes back with the file.
        """
        self._store.passages.forget(memory)

    @property
    def _elsewhere(self) -> NotesOf:
        return NotesOf(f"extra:{self._owner}")

    def _compared(self, notes: NotesOf) -> _Work:
        elsewhere = self._extra if notes == self._elsewhere else None
        if elsewhere is not None:
            files, entries = elsewhere, elsewhere.entries()
        else:
            files = self._workspace
            entries = [one for one in files.entries(notes.folder) if folder_of(one.path) == notes.folder]
        known = self._store.passages.files(notes)
        there = {_container(notes, entry.path): entry for entry in entries}
        changed = [
            entry
            for name, entry in there.items()
            if name not in known or (known[name].tag, known[name].version) != (entry.tag, VERSION)
        ]
        return _Work(notes, files, known, sorted(known.keys() - there.keys()), changed)

    def _everything(self) -> list[_Work]:
        return [self._compared(notes) for notes in self.everywhere()]

    def _carry_out(self, work: Sequence[_Work], stop: Stop, progress: Progress = _untold) -> Freshness:
        waiting = [(one, entry) for one in work for entry in one.changed]
        waiting.sort(key=lambda pair: _urgency(pair[1]))
        done = 0
        progress(done, len(waiting))
        for portion in _portions(waiting):
            taken = self._take_in(portion, stop)
            done += taken
            if taken < len(portion):
                break
            progress(done, len(waiting))
        # After the new ones, so that a file that was moved keeps its vectors.
        if gone := [name for one in work for name in one.gone]:
            self._store.passages.remove(gone)
        states = [state for one in work for name, state in one.known.items() if name not in one.gone]
        skipped = {state.path: state.trouble for state in states if state.trouble}
        newest = max((state.indexed_at for state in states), default=0.0)
        return Freshness(len(states), len(waiting) - done, skipped, newest)

    def _take_in(self, portion: _Portion, stop: Stop) -> int:
        """Put files into the index, each place's in one step, until it is time to stop; says how many."""
        taken, read = 0, dict[NotesOf, dict[FileState, list[NewPassage]]]()
        for work, entry in takewhile(lambda _: not stop(), portion):
            taken += 1
            if (found := self._read(work, entry)) is not None:
                state, passages = found
                work.known[state.container] = state
                read.setdefault(work.notes, {})[state] = passages
        for notes, files in read.items():
            self._store.passages.replace(notes, files)
        return taken

    def _read(self, work: _Work, entry: Entry) -> tuple[FileState, list[NewPassage]] | None:
        """What one file has for the index. What cannot be read is noted with the reason until it changes."""
        name, path, now = _container(work.notes, entry.path), str(entry.path), time.time()
        try:
            note = work.files.read(entry.path)
        except NotFound:
            # It went away just now, and will be gone the next time.
            return None
        except HoldfastError as error:
            return FileState(name, path, entry.tag, VERSION, now, error.message), []
        parts = chunks(note.text, by_hand=entry.path.name == _CURATED)
        return FileState(name, path, note.tag, VERSION, now), _passages(entry, parts)


def _urgency(entry: Entry) -> tuple[bool, bool, float]:
    """Where memories are comes first, what takes long last; the newest is what somebody asks about."""
    memories = entry.path.name == _CURATED or _DAY.fullmatch(entry.path.stem)
    return not memories, entry.size > _BYTES, -entry.mtime


def _portions(waiting: _Portion) -> Iterator[_Portion]:
    portion: _Portion = []
    for work, entry in waiting:
        full = len(portion) == _TOGETHER or sum(one.size for _, one in portion) + entry.size > _BYTES
        if portion and full:
            yield portion
            portion = []
        portion.append((work, entry))
    if portion:
        yield portion


def _container(notes: NotesOf, path: PurePosixPath) -> str:
    return f"{notes.key}:{path}"


def _passages(entry: Entry, parts: Sequence[Chunk]) -> list[NewPassage]:
    day = _DAY.search(entry.path.stem)
    date = _seconds(day[0]) if day else entry.mtime
    kind = "summary" if scopes.is_summary(entry.path) else ""
    found = []
    for number, part in enumerate(parts):
        name = part.memory or f"n_{part.digest}_{number}"
        at = part.at or date
        about = " ".join((entry.path.stem, *part.headings, spoken_date(at)))
        found.append(NewPassage(name, part.text, part.first, part.last, at, about, part.kind or kind))
    return found


def _seconds(day: str) -> float:
    try:
        return datetime.fromisoformat(f"{day}T12:00").astimezone().timestamp()
    except ValueError:
        return 0.0
