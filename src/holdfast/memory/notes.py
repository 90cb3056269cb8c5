"""Memories as Markdown files in a folder, for people to read and edit.

A file is replaced as a whole or not at all, and writers take turns, also those of other processes. How a
memory looks in a file is in `items`, which file it belongs to in `scopes`. Knows no index and no search.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path, PurePath

from holdfast.errors import StoreError
from holdfast.memory.base import Memory, SummaryNote
from holdfast.memory.items import (
    comment,
    first_comment,
    memories_in,
    moment,
    seconds_of,
    spelled,
    with_memories,
)
from holdfast.memory.scopes import memory_file, summary_file, visible_files
from holdfast.messages import Scope
from holdfast.store.sqlite_file import FileLock, sync_folder

# Writing takes milliseconds: who has waited so long waits for somebody who hangs.
_PATIENCE = 10.0
_PAUSE = 0.01


class Notes:
    """The notes in `folder`, which is made when there is something to write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, memories: Sequence[Memory]) -> None:
        """Add those memories that are not there yet. What is there stays, whoever wrote it."""
        files: dict[PurePath, list[Memory]] = {}
        for memory in memories:
            files.setdefault(memory_file(memory.scope, memory.kind), []).append(memory)
        with self._writing():
            for file, group in files.items():
                path = self._path(file)
                text = _read(path)
                added = with_memories(text, group)
                if added != text:
                    _replace(path, added)

    def write_summary(self, note: SummaryNote) -> None:
        """Make this the summary of its conversation, unless the one that is there is newer."""
        with self._writing():
            path = self._path(summary_file(note.scope, note.conversation))
            there = first_comment(_read(path))
            if _age(there.get("at"), there.get("id", "")) < _age(moment(note.at), note.id):
                _replace(path, _summary(note))

    def read(self, scope: Scope) -> list[Memory]:
        """All memories this scope can see, as they stand in the files now."""
        with _in_our_words(self._folder):
            return [
                memory
                for whose, file in visible_files(scope)
                for memory in memories_in(_read(self._path(file)), whose)
            ]

    def _path(self, file: PurePath) -> Path:
        # Where a person put a link, the file it points to is the one to be replaced.
        return Path(os.path.realpath(self._folder / file))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with _in_our_words(self._folder):
            _make_folder(self._folder)
            with closing(FileLock(self._folder / ".lock")) as lock:
                began = time.monotonic()
                while not lock.exclusive():
                    if time.monotonic() - began > _PATIENCE:
                        raise StoreError(
                            f"Another process keeps {self._folder} locked for {_PATIENCE:.0f} seconds now.",
                            hint="See which Holdfast hangs, and stop it.",
                        )
                    time.sleep(_PAUSE)
                yield


def _summary(note: SummaryNote) -> str:
    told = {
        "id": note.id,
        "kind": "summary",
        "conversation": note.conversation,
        "covers": note.covers,
        "first": note.first,
        "last": note.last,
        "at": moment(note.at),
        "language": note.language,
    }
    title = " ".join(spelled(note.title).split()) or note.conversation
    # The comment comes first, so that nothing in the words can be taken for it.
    return f"{comment(told)}\n# {title}\n\n{spelled(note.text)}\n"


def _age(at: object, name: object) -> tuple[float, str]:
    """Ids rise with time, so they settle what the clock does not."""
    return seconds_of(at), str(name)


def _read(path: Path) -> str:
    """The text of a file, every byte of it: also those that are no valid text, and line ends as they are."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def _replace(path: Path, text: str) -> None:
    """Put `text` into the file in one step: after a crash there is the old file or the new one."""
    _make_folder(path.parent)
    # Writers take turns, so one name is enough, and what a crash left behind is written over.
    piece = path.with_name(f".{path.name}.new")
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    try:
        with os.fdopen(os.open(piece, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(file.fileno())
        piece.replace(path)
    finally:
        piece.unlink(missing_ok=True)
    sync_folder(path.parent)


def _make_folder(folder: Path) -> None:
    """Make a folder, and make sure that it is still there after a power cut."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        sync_folder(folder.parent)


@contextmanager
def _in_our_words(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"The notes in {folder} cannot be read or written: {error}.",
            hint="See that the folder can be written to and that the disk has room.",
        ) from error
