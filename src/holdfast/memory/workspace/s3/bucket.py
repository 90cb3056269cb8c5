"""A workspace in a bucket: notes as objects, for several machines at once.

Tags are the server's own, and the server compares them, so no append is lost whoever writes. What others
write is noticed within half a minute; nobody writes over it sooner. Knows nothing of what is in the notes.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath

from holdfast.errors import BadRequest, Conflict, NotFound, StoreError
from holdfast.memory.workspace.base import ABSENT, Note, NoteEntry, check_path, conflict_error, missing_error
from holdfast.memory.workspace.folder import LARGEST, check_size
from holdfast.memory.workspace.s3.cache import ObjectCache
from holdfast.memory.workspace.s3.listing import ObjectList
from holdfast.memory.workspace.s3.objects import S3Client, S3Object
from holdfast.memory.workspace.s3.troubles import ServerUnreachable


class S3Workspace:
    """An object without content is no note: programs make such ones for folders, and before they write.

    That is also how a note is removed that nobody may have changed meanwhile. Servers compare tags when they
    write; when they delete, many do not.
    """

    folder = None

    def __init__(
        self, objects: S3Client, cache: ObjectCache, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._objects = objects
        self._cache = cache
        self._listing = ObjectList(self._look, self._tidy, clock)
        # Somebody else wrote these after the list was made: they are read from the server.
        self._doubted: set[PurePosixPath] = set()
        self._proved = False
        self._proving = threading.Lock()

    def __str__(self) -> str:
        return self._objects.place

    def entries(self, prefix: PurePosixPath | str = "") -> list[NoteEntry]:
        return self._listing.below(check_path(prefix))

    def read(self, path: PurePosixPath | str) -> Note:
        place = check_path(path)
        if place in self._doubted:
            return self._fetched(place)
        entry = self._listing.find(place)
        if entry is None:
            raise missing_error(place)
        _check_readable(place, entry.size)
        content = self._cache.get(str(place), entry.tag)
        return self._fetched(place) if content is None else _note(place, content, entry.tag)

    def write(self, path: PurePosixPath | str, text: str, expect: str | None = None) -> str:
        place = check_path(path)
        content = text.encode("utf-8", "surrogateescape")
        check_size(place, len(content))
        return self._put(place, content, expect)

    def remove(self, path: PurePosixPath | str, expect: str | None = None) -> None:
        place = check_path(path)
        if expect is None:
            before = self._listing.tag(place)
            with self._asking():
                self._objects.delete(str(place))
            self._now(place, None, before)
        elif expect != ABSENT:
            self._put(place, b"", expect)
        elif self._is_there(place):
            raise conflict_error(place)

    def _put(self, place: PurePosixPath, content: bytes, expect: str | None) -> str:
        before = self._listing.tag(place)
        try:
            with self._asking():
                self._prove()
                tag = self._over(place, content, expect)
        except Conflict as error:
            self._doubted.add(place)
            raise conflict_error(place) from error
        if self._now(place, S3Object(str(place), len(content), time.time(), tag), before) and content:
            self._cache.keep(str(place), tag, content)
        return tag

    def _over(self, place: PurePosixPath, content: bytes, expect: str | None) -> str:
        name = str(place)
        try:
            return self._objects.put(name, content, expect)
        except Conflict:
            if expect != ABSENT:
                raise
            try:
                there, _ = self._objects.get(name, 0)
            except NotFound:
                # Whoever was quicker took it away again.
                return self._objects.put(name, content, expect)
            if there.size:
                raise
            return self._objects.put(name, content, there.tag)

    def _fetched(self, place: PurePosixPath) -> Note:
        """The note as it is on the server now."""
        before = self._listing.tag(place)
        try:
            with self._asking():
                found, content = self._objects.get(str(place), LARGEST)
        except NotFound as error:
            self._now(place, None, before)
            raise missing_error(place) from error
        is_news = self._now(place, found, before)
        if not found.size:
            raise missing_error(place)
        _check_readable(place, found.size)
        assert content is not None
        note = _note(place, content, found.tag)
        if is_news:
            self._cache.keep(str(place), found.tag, content)
        return note

    def _is_there(self, place: PurePosixPath) -> bool:
        try:
            self._fetched(place)
        except NotFound:
            return False
        except StoreError:
            # What cannot be read may still be there.
            return self._listing.find(place) is not None
        return True

    def _now(self, place: PurePosixPath, found: S3Object | None, before: str) -> bool:
        now = _entry(found) if found and found.size else None
        if not self._listing.note(place, now, before):
            # Two answers crossed: the next one settles it.
            self._doubted.add(place)
            return False
        self._doubted.discard(place)
        if now is None or now.tag != before:
            # What was forgotten must not live on in the cache.
            self._cache.drop(str(place), before)
        return True

    def _look(self) -> Iterator[NoteEntry]:
        return (_entry(found) for found in self._objects.every() if found.size and not _is_hidden(found.name))

    def _tidy(self, entries: Iterable[NoteEntry]) -> None:
        self._cache.keep_only((str(entry.path), entry.tag) for entry in entries)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        self._listing.check()
        try:
            yield
        except ServerUnreachable as error:
            self._listing.fail(error)
            raise

    def _prove(self) -> None:
        """Once, and not before there is something to write."""
        with self._proving:
            if not self._proved:
                self._objects.prove()
                self._proved = True


def _entry(found: S3Object) -> NoteEntry:
    path = PurePosixPath(found.name)
    return NoteEntry(path, found.size, found.mtime, found.tag, _trouble(path))


def _trouble(path: PurePosixPath) -> str:
    """Other programs give names that are none here."""
    try:
        check_path(path)
    except BadRequest:
        return "Its name cannot be used here: rename it."
    return ""


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or "/." in name


def _check_readable(place: PurePosixPath, size: int) -> None:
    if size > LARGEST:
        raise StoreError(
            f"{place} has {size:,} bytes, more than the {LARGEST:,} a note may have.",
            hint="Split it, or move it out of the workspace; it was not touched.",
        )


def _note(place: PurePosixPath, content: bytes, tag: str) -> Note:
    if b"\0" in content:
        raise StoreError(
            f"{place} is no text.", hint="Move it out of the workspace or rename it; it was not touched."
        )
    return Note(content.decode("utf-8", "surrogateescape"), tag)
