"""Which files belong to the index, and to whom: the notes of the workspace, and Markdown files elsewhere.

Knows paths and lists of files, not what is in them.
"""

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Protocol

from holdfast.errors import NotFound, StoreError
from holdfast.memory.scopes import CONVERSATIONS
from holdfast.memory.workspace.base import EVERY_NOTE, Entry, Note, shown, unusable
from holdfast.memory.workspace.folder import LARGEST

# What was put away on purpose.
_IGNORED_FOLDERS = frozenset({"archive"})
_SUFFIXES = frozenset({".md", ".markdown"})
# Paths are asked about again with every request.
_CACHED_PATHS = 20_000


class NoteFiles(Protocol):
    """What the index needs of a workspace."""

    def entries(self, prefix: PurePosixPath | str = "") -> list[Entry]: ...
    def read(self, path: PurePosixPath | str) -> Note: ...


@lru_cache(_CACHED_PATHS)
def folder_of(path: PurePosixPath) -> str | None:
    """The folder whose notes a file is among; None for one that is not searched."""
    parts = path.parts
    depth = 2 if parts[0] == "groups" else 3 if parts[1:2] == ("projects",) else 1
    inner = parts[depth:]
    if not inner or inner[0] in _IGNORED_FOLDERS or path.suffix.lower() not in _SUFFIXES:
        return None
    # Projects see the notes of their person, but not what was said in other conversations.
    return "/".join(parts[: depth + 1 if inner[0] == CONVERSATIONS else depth])


class ExtraPaths:
    """Markdown files and folders outside of the workspace, read only. Links are left alone.

    What cannot be looked into is listed with the reason.
    """

    def __init__(self, paths: Sequence[Path], base: Path) -> None:
        """Relative paths begin at `base`."""
        self._paths = [base / path for path in paths]

    def entries(self, prefix: PurePosixPath | str = "") -> list[Entry]:  # noqa: ARG002
        found = {entry.path: entry for path in self._paths for entry in _list_markdown(path)}
        return [found[path] for path in sorted(found)]

    def read(self, path: PurePosixPath | str) -> Note:
        file = Path(path)
        entry = _stat_entry(file) if any(_is_below(root, file) for root in self._paths) else None
        if entry is None:
            raise NotFound(f"There is no note {path}.")
        if entry.size > LARGEST:
            raise StoreError(f"{path} has {entry.size:,} bytes, more than the {LARGEST:,} a note may have.")
        try:
            content = file.read_bytes()
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
        if b"\0" in content:
            raise StoreError(f"{path} is no text.")
        return Note(content.decode("utf-8", "surrogateescape"), entry.tag)


def _stat_entry(file: Path) -> Entry | None:
    try:
        status = file.stat()
    except OSError:
        return None
    tag = f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"
    return Entry(PurePosixPath(file.as_posix()), status.st_size, status.st_mtime, tag)


def _unreadable_entry(place: Path, why: str) -> Entry:
    return Entry(PurePosixPath(shown(place.as_posix())), 0, 0.0, why, why)


def _list_markdown(path: Path) -> Iterator[Entry]:
    if path.is_symlink():
        return
    if path.is_file():
        if (entry := _stat_entry(path)) is not None:
            yield entry
        return
    troubles: list[OSError] = []
    for folder, names, files in os.walk(path, onerror=troubles.append):
        for name in filter(unusable, names):
            yield _unreadable_entry(Path(folder, name, EVERY_NOTE), unusable(name))
        names[:] = filter(_is_shown, names)
        for name in filter(_is_markdown, files):
            file = Path(folder, name)
            if unusable(name):
                yield _unreadable_entry(file, unusable(name))
            elif not file.is_symlink() and (entry := _stat_entry(file)) is not None:
                yield entry
    for error in troubles:
        yield _unreadable_entry(
            Path(error.filename, EVERY_NOTE), f"The folder cannot be read: {error.strerror}."
        )


def _is_below(root: Path, file: Path) -> bool:
    """Whether walking from the root would come by this file; looks at nothing but the way to it."""
    if file == root:
        return file.is_file() and not file.is_symlink()
    if root not in file.parents or not _is_note(file.name):
        return False
    inner = file.relative_to(root).parts
    way = [root.joinpath(*inner[:depth]) for depth in range(len(inner) + 1)]
    return all(map(_is_shown, inner)) and file.is_file() and not any(step.is_symlink() for step in way)


def _is_note(name: str) -> bool:
    return _is_markdown(name) and not unusable(name)


def _is_markdown(name: str) -> bool:
    return not name.startswith(".") and PurePosixPath(name).suffix.lower() in _SUFFIXES


def _is_shown(name: str) -> bool:
    return not name.startswith(".") and not unusable(name)
