"""What is in a bucket, as it was when somebody last looked, with what we wrote ourselves since then.

Every request asks for it, so hardly any waits for the server: a list that is not quite fresh is used while a
new one is fetched behind it. Should that fail, the old one goes on and says so. Knows no requests.
"""

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath

from holdfast.errors import HoldfastError
from holdfast.memory.workspace.base import ABSENT, EVERY_NOTE, NoteEntry

# Seconds for which a list is taken as it is; and after which nobody goes on without a newer one.
FRESH, OLDEST = 10.0, 30.0
# Seconds for which a server that did not answer is left alone: others have waited in vain just now.
REST = 5.0

Look = Callable[[], Iterable[NoteEntry]]
Told = Callable[[Iterable[NoteEntry]], None]


class ObjectList:
    """`look` fetches all entries; `told` gets them whenever there are others than before."""

    def __init__(self, look: Look, told: Told, clock: Callable[[], float] = time.monotonic) -> None:
        self._look = look
        self._told = told
        self._clock = clock
        self._entries: dict[PurePosixPath, NoteEntry] | None = None
        # The paths in order, with signs that sort folders as paths do; None after a change.
        self._order: tuple[list[str], list[NoteEntry]] | None = None
        # What we wrote while a list was being fetched, which may not have it yet.
        self._ours: dict[PurePosixPath, NoteEntry | None] = {}
        self._looked_at = self._failed_at = float("-inf")
        self._error: HoldfastError | None = None
        self._lock = threading.Lock()
        self._looking = threading.Lock()

    def below(self, place: PurePosixPath) -> list[NoteEntry]:
        """All that is under a folder, by path; with a word about it where the list could not be renewed."""
        self._renew()
        with self._lock:
            if self._order is None:
                self._order = _sort_entries(self._entries or {})
            keys, entries = self._order
            key = _key(place)
            # Nothing comes between a path and what is below it: no sign is smaller than the first.
            found = entries[bisect_left(keys, key) : bisect_left(keys, key + "\1")] if key else list(entries)
            error = self._error
        return found if error is None else [*found, _stale_entry(place, str(error))]

    def find(self, path: PurePosixPath) -> NoteEntry | None:
        self._renew()
        with self._lock:
            return (self._entries or {}).get(path)

    def tag(self, path: PurePosixPath) -> str:
        """The tag of one as far as it is known here; nobody looks."""
        with self._lock:
            return self._tag(path)

    def note(self, path: PurePosixPath, entry: NoteEntry | None, before: str) -> bool:
        """The server has told how one is, None if it is gone; whether that is news.

        `before` is the tag it had here when the server was asked: if it has another one by now, somebody
        asked later, was answered sooner, and knows better.
        """
        with self._lock:
            self._error = None
            if self._tag(path) != before:
                return False
            self._ours[path] = entry
            if self._entries is not None:
                _put(self._entries, path, entry)
                self._order = None
            return True

    def _tag(self, path: PurePosixPath) -> str:
        entry = (self._ours if self._entries is None else self._entries).get(path)
        return ABSENT if entry is None else entry.tag

    def fail(self, error: HoldfastError) -> None:
        """The server did not answer."""
        with self._lock:
            self._error, self._failed_at = error, self._clock()

    def check(self) -> None:
        """Raise what went wrong, where it is too soon to try again."""
        with self._lock:
            if self._error is not None and self._is_resting():
                raise self._error

    def _renew(self) -> None:
        with self._lock:
            age, resting = self._clock() - self._looked_at, self._is_resting()
        if age > OLDEST and not resting:
            with self._looking:
                # Somebody may have done it while we waited.
                if self._clock() - self._looked_at > OLDEST and not self._is_resting():
                    self._fetch()
        elif age > FRESH and not resting and not self._looking.locked():
            threading.Thread(target=self._behind, name="holdfast-listing").start()
        with self._lock:
            # Without any list there is nothing to go on with.
            if self._entries is None and self._error is not None:
                raise self._error

    def _is_resting(self) -> bool:
        return self._error is not None and self._clock() - self._failed_at < REST

    def _behind(self) -> None:
        if self._looking.acquire(blocking=False):
            try:
                self._fetch()
            finally:
                self._looking.release()

    def _fetch(self) -> None:
        with self._lock:
            began, self._ours = self._clock(), {}
        try:
            found = {entry.path: entry for entry in self._look()}
        except HoldfastError as error:
            self.fail(error)
            return
        with self._lock:
            for path, entry in self._ours.items():
                _put(found, path, entry)
            changed = self._entries is None or _tags(found) != _tags(self._entries)
            self._entries, self._order, self._error, self._looked_at = found, None, None, began
        if changed:
            self._told(found.values())


def _put(entries: dict[PurePosixPath, NoteEntry], path: PurePosixPath, entry: NoteEntry | None) -> None:
    if entry is None:
        entries.pop(path, None)
    else:
        entries[path] = entry


def _tags(entries: Mapping[PurePosixPath, NoteEntry]) -> dict[PurePosixPath, str]:
    return {path: entry.tag for path, entry in entries.items()}


def _key(path: PurePosixPath) -> str:
    return "\0".join(path.parts)


def _sort_entries(entries: Mapping[PurePosixPath, NoteEntry]) -> tuple[list[str], list[NoteEntry]]:
    pairs = sorted((_key(path), entry) for path, entry in entries.items())
    return [key for key, _ in pairs], [entry for _, entry in pairs]


def _stale_entry(place: PurePosixPath, error: str) -> NoteEntry:
    return NoteEntry(place / EVERY_NOTE, 0, 0.0, error, f"Others' changes are not seen just now. {error}")
