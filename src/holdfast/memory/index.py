"""The index of notes: kept up with the files, which are the truth, and thrown away without loss.

Every file is compared by the tag its workspace gives it. Files that are gone leave at once; changed ones are
read again, each in one step, as many as there is time for. Knows files and passages, nothing of ranking.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from holdfast.errors import HoldfastError, NotFound
from holdfast.memory import scopes
from holdfast.memory.chunks import VERSION, Chunk, chunks
from holdfast.memory.hits import Freshness, joined
from holdfast.memory.sources import Files, folder_of
from holdfast.memory.workspace import Entry
from holdfast.messages import Scope
from holdfast.store import FileState, NewPassage, NotesOf, Store
from holdfast.store.texts import spoken_date

# Called with how many of how many files are done.
Progress = Callable[[int, int], None]

# Files that are put into the index in one step: each step waits for the disk.
_TOGETHER = 20

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

    def places(self, scope: Scope) -> list[NotesOf]:
        """Where the notes are that this scope can see."""
        found = [NotesOf(str(scopes.folder(one))) for one in scopes.visible(scope)]
        found.append(NotesOf(str(scopes.folder(scopes.owner(scope)) / scopes.CONVERSATIONS)))
        if self._extra is not None and scope.kind == "private" and scope.user == self._owner:
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
        return joined([self._carry_out(one, until) for one in work])

    def sync(self, progress: Progress | None = None) -> Freshness:
        """Bring everything up to date, the files of all scopes."""
        work = [self._compared(notes) for notes in self.everywhere()]
        done, total = 0, sum(len(one.changed) for one in work)

        def count(files: int) -> None:
            nonlocal done
            done += files
            if progress is not None:
                progress(done, total)

        return joined([self._carry_out(one, None, count) for one in work])

    def rebuild(self, progress: Progress | None = None) -> Freshness:
        """Believe nothing of what is in the index, and make it anew from the files."""
        self._store.passages.distrust_files()
        return self.sync(progress)

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

    def _carry_out(
        self, work: _Work, until: float | None, count: Callable[[int], None] = lambda _: None
    ) -> Freshness:
        known, stale = dict(work.known), 0
        # The newest first: what somebody has just written is what they ask about.
        changed = sorted(work.changed, key=lambda one: -one.mtime)
        for start in range(0, len(changed), _TOGETHER):
            portion = changed[start : start + _TOGETHER]
            if until is not None and self._clock() >= until:
                stale += len(portion)
                continue
            read = dict(filter(None, (self._read(work, entry) for entry in portion)))
            if read:
                self._store.passages.replace(work.notes, read)
            known.update({state.container: state for state in read})
            count(len(portion))
        # After the new ones, so that a file that was moved keeps its vectors.
        if work.gone:
            self._store.passages.remove(work.gone)
        states = [state for name, state in known.items() if name not in work.gone]
        skipped = {state.path: state.trouble for state in states if state.trouble}
        newest = max((state.indexed_at for state in states), default=0.0)
        return Freshness(len(states), stale, skipped, newest)

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
