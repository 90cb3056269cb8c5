"""Which files belong to the index, and to whom: the notes of the workspace, and Markdown files elsewhere.

Knows paths and lists of files, not what is in them.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol

from holdfast.errors import NotFound, StoreError
from holdfast.memory.scopes import CONVERSATIONS
from holdfast.memory.workspace import Entry, Note

# What was put away on purpose.
_LEFT_OUT = frozenset({"archive"})
_SUFFIXES = frozenset({".md", ".markdown"})
LARGEST = 4_000_000


class Files(Protocol):
    """What the index needs of a workspace."""

    def entries(self, prefix: PurePosixPath | str = "") -> list[Entry]: ...
    def read(self, path: PurePosixPath | str) -> Note: ...


def folder_of(path: PurePosixPath) -> str | None:
    """The folder whose notes a file is among; None for one that is not searched."""
    parts = path.parts
    depth = 2 if parts[0] == "groups" else 3 if parts[1:2] == ("projects",) else 1
    inner = parts[depth:]
    if not inner or inner[0] in _LEFT_OUT or path.suffix.lower() not in _SUFFIXES:
        return None
    # Projects see the notes of their person, but not what was said in other conversations.
    return "/".join(parts[: depth + 1 if inner[0] == CONVERSATIONS else depth])


class ExtraPaths:
    """Markdown files and folders outside of the workspace, read only. Links are left alone."""

    def __init__(self, paths: Sequence[Path], base: Path) -> None:
        """Relative paths begin at `base`."""
        self._paths = [base / path for path in paths]

    def entries(self, prefix: PurePosixPath | str = "") -> list[Entry]:  # noqa: ARG002
        found: dict[PurePosixPath, Entry] = {}
        for path in self._paths:
            for file in _walk(path):
                try:
                    status = file.stat()
                except OSError:
                    continue
                place = PurePosixPath(file.as_posix())
                tag = f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"
                found[place] = Entry(place, status.st_size, status.st_mtime, tag)
        return [found[place] for place in sorted(found)]

    def read(self, path: PurePosixPath | str) -> Note:
        entry = next((one for one in self.entries() if one.path == PurePosixPath(path)), None)
        if entry is None:
            raise NotFound(f"There is no note {path}.")
        if entry.size > LARGEST:
            raise StoreError(f"{path} has {entry.size:,} bytes, more than the {LARGEST:,} a note may have.")
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
        if b"\0" in content:
            raise StoreError(f"{path} is no text.")
        return Note(content.decode("utf-8", "surrogateescape"), entry.tag)


def _walk(path: Path) -> Iterator[Path]:
    if path.is_symlink():
        return
    if path.is_file():
        yield path
        return
    for folder, names, files in os.walk(path):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            file = Path(folder, name)
            if file.suffix.lower() in _SUFFIXES and not name.startswith(".") and not file.is_symlink():
                yield file
