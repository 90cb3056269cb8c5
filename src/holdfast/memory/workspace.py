"""The workspace interface: notes as files by path, each with a tag that changes with the file.

A write compares the tag with the one that was read, so that no writer overwrites another's changes.
Implementations: a folder (`memory.folder`), a bucket (`backends.s3`), and one in memory for tests.
"""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from holdfast.errors import BadRequest, Conflict, NotFound, StoreError, TooLarge
from holdfast.i18n import lazy

# The tag of a file that is not there: to expect it is to make the file, and never to write over one.
ABSENT = ""

# Stands for the notes in a folder that cannot be looked into.
EVERY_NOTE = "*.md"

# Thousands of memories fit; what is larger is no note that a person keeps.
LARGEST = 4_000_000

# Among writers who take turns one always gets through; who lost so often is up against something else.
_TRIES = 200
_PAUSE = 0.005

# Longer names than file systems take would fail later, in words that nobody understands.
_LONGEST_NAME = 200


class WorkspaceUnreachable(StoreError):
    """The workspace cannot be reached now, which says nothing about any file in it."""


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """A file in a list. `tag` stays the same until somebody writes.

    `trouble` says why the file cannot be used, if its name already shows that.
    """

    path: PurePosixPath
    size: int
    mtime: float
    tag: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """The text of a file. Invalid bytes are surrogates in it and are written back unchanged."""

    text: str
    tag: str


class Workspace(Protocol):
    """Files by path. A path that leads out of the workspace raises BadRequest."""

    @property
    def folder(self) -> Path | None:
        """The folder on this machine, to be watched; None if the files are elsewhere."""
        ...

    def entries(self, prefix: PurePosixPath | str = "") -> list[NoteEntry]:
        """List all files under a folder, by path; hidden ones and links are left out."""
        ...

    def read(self, path: PurePosixPath | str) -> Note:
        """Read a file; NotFound, StoreError if it is not text or too large, or WorkspaceUnreachable."""
        ...

    def write(self, path: PurePosixPath | str, text: str, expect: str | None = None) -> str:
        """Replace a whole file and return its tag; Conflict if its tag is not the expected one."""
        ...

    def remove(self, path: PurePosixPath | str, expect: str | None = None) -> None:
        """Remove a file. A missing one is fine, unless a tag was expected."""
        ...


def update_file(workspace: Workspace, path: PurePosixPath | str, work: Callable[[str], str]) -> bool:
    """Read, change and write a file, repeated on conflicts; return whether anything was written.

    `work` gets the text (empty if there is no file) and may be called several times.
    """
    for _ in range(_TRIES):
        note = read_or_empty(workspace, path)
        text = work(note.text)
        if text == note.text:
            return False
        try:
            workspace.write(path, text, expect=note.tag)
        except Conflict:
            # Those who meet again and again should not do so in step.
            time.sleep(random.uniform(0, _PAUSE))  # noqa: S311
        else:
            return True
    raise Conflict(
        lazy("{path} is written by others all the time.", path=path), hint=lazy("Try again in a moment.")
    )


def read_or_empty(workspace: Workspace, path: PurePosixPath | str) -> Note:
    """Read a file; an empty note if there is none."""
    try:
        return workspace.read(path)
    except NotFound:
        return Note("", ABSENT)


def check_path(path: PurePosixPath | str) -> PurePosixPath:
    """Return the path if it stays in the workspace, else raise BadRequest."""
    name = str(path)
    plain = PurePosixPath(name)
    unsafe = plain.is_absolute() or ".." in plain.parts or "\\" in name or "\0" in name or ":" in name[1:2]
    hidden = any(part.startswith(".") for part in plain.parts)
    long = any(len(part.encode(errors="replace")) > _LONGEST_NAME for part in plain.parts)
    if unsafe or hidden or long:
        raise BadRequest(
            lazy("{name!r} is no path in the workspace.", name=name[:200]),
            hint=lazy("Name a file below it, without '..', hidden names or a drive, like default/MEMORY.md."),
        )
    return plain


def name_problem(name: str) -> str:
    """Return why a file name cannot be used; empty if it can."""
    # Bytes of another encoding are no text.
    if not name.isascii() and any("\ud800" <= sign <= "\udfff" for sign in name):
        return "Its name is no text: rename it, in UTF-8."
    return ""


def printable_name(name: str) -> str:
    """Return a printable form of any file name; usable names have no backslash, so it is none."""
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def check_size(place: PurePosixPath, size: int) -> None:
    if size > LARGEST:
        raise TooLarge(
            lazy(
                "{place} would have {size:,} bytes, more than the {largest:,} a note may have.",
                place=place,
                size=size,
                largest=LARGEST,
            ),
            hint=lazy("Split it; nothing was written."),
        )


def check_readable(place: PurePosixPath, size: int) -> None:
    if size > LARGEST:
        raise StoreError(
            lazy(
                "{place} has {size:,} bytes, more than the {largest:,} a note may have.",
                place=place,
                size=size,
                largest=LARGEST,
            ),
            hint=lazy("Split it, or move it out of the workspace; it was not touched."),
        )


def decode_note(place: PurePosixPath, content: bytes, tag: str) -> Note:
    """Decode a file; bytes that are not valid text become surrogates."""
    if b"\0" in content:
        raise StoreError(
            lazy("{place} is no text.", place=place),
            hint=lazy("Move it out of the workspace or rename it; it was not touched."),
        )
    return Note(content.decode("utf-8", "surrogateescape"), tag)


def is_below(path: PurePosixPath, prefix: PurePosixPath) -> bool:
    return path == prefix or prefix in path.parents


def missing_error(path: PurePosixPath) -> NotFound:
    return NotFound(lazy("There is no note {path}.", path=path), hint=lazy("See which ones there are."))


def conflict_error(path: PurePosixPath) -> Conflict:
    return Conflict(
        lazy("{path} was changed by somebody else meanwhile.", path=path), hint=lazy("Read it again.")
    )


class InMemoryWorkspace:
    """A workspace in memory, for tests and trials."""

    folder = None

    def __init__(self) -> None:
        self._files: dict[PurePosixPath, tuple[Note, float]] = {}
        self._count = 0
        self._lock = threading.Lock()

    def entries(self, prefix: PurePosixPath | str = "") -> list[NoteEntry]:
        place = check_path(prefix)
        with self._lock:
            return [
                NoteEntry(path, len(note.text.encode("utf-8", "surrogateescape")), mtime, note.tag)
                for path, (note, mtime) in sorted(self._files.items())
                if is_below(path, place)
            ]

    def read(self, path: PurePosixPath | str) -> Note:
        place = check_path(path)
        with self._lock:
            if place not in self._files:
                raise missing_error(place)
            return self._files[place][0]

    def write(self, path: PurePosixPath | str, text: str, expect: str | None = None) -> str:
        place = check_path(path)
        with self._lock:
            self._check(place, expect)
            self._count += 1
            self._files[place] = Note(text, f"{self._count}"), time.time()
            return f"{self._count}"

    def remove(self, path: PurePosixPath | str, expect: str | None = None) -> None:
        place = check_path(path)
        with self._lock:
            self._check(place, expect)
            self._files.pop(place, None)

    def _check(self, place: PurePosixPath, expect: str | None) -> None:
        tag = self._files[place][0].tag if place in self._files else ABSENT
        if expect is not None and expect != tag:
            raise conflict_error(place)
