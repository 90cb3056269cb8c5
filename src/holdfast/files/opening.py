"""Opening so that what was checked is what is read: no link is followed, and only regular files are opened.

A path is walked step by step from a folder that is held open. It was free of links when it was resolved;
where somebody put one in meanwhile, the step fails. Knows nothing of which folders are allowed.
"""

import hashlib
import os
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

# Where there is O_PATH, a folder on the way need not be readable itself.
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY

_PIECE = 1 << 18
# So much of each end of a large file is kept.
ENDS = 64_000


class NotRegular(OSError):
    """A device, a pipe, a socket or a folder where a file was wanted."""


class TooMuch(OSError):
    """More bytes than may be read."""


@dataclass(frozen=True, slots=True)
class Data:
    """What a file held when it was read. Of one too large to keep, `head` and `tail` are its ends."""

    head: bytes
    size: int
    lines: int
    hash: str
    tail: bytes | None = None

    @property
    def whole(self) -> bool:
        return self.tail is None


@contextmanager
def folder_at(root: str, steps: Sequence[str], *, to_list: bool = False) -> Iterator[int]:
    """A descriptor of the folder `steps` below `root`; one that is to be listed has to be readable."""
    here = os.open(root, _FOLDER if to_list and not steps else _STEP)
    try:
        for index, step in enumerate(steps, 1):
            there = os.open(step, _FOLDER if to_list and index == len(steps) else _STEP, dir_fd=here)
            os.close(here)
            here = there
        yield here
    finally:
        os.close(here)


@contextmanager
def file_at(root: str, steps: Sequence[str]) -> Iterator[int]:
    """A descriptor of the regular file `steps` below `root`."""
    if not steps:
        raise NotRegular
    with folder_at(root, steps[:-1]) as folder:
        # To open a device can do something already, so it is looked at first; what counts is what was opened.
        _check_regular(os.stat(steps[-1], dir_fd=folder, follow_symlinks=False))
        file = os.open(steps[-1], _FILE, dir_fd=folder)
    try:
        _check_regular(os.fstat(file))
        yield file
    finally:
        os.close(file)


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
        raise NotRegular


def read(file: int, whole: int, largest: int) -> Data:
    """Reads a file once, from its beginning: up to `whole` bytes are kept, beyond that both ends.

    A file may grow meanwhile, or have said a size that it has not: what counts is what comes.
    """
    if os.fstat(file).st_size > largest:
        raise TooMuch
    digest, size, lines, last = hashlib.sha256(), 0, 0, b""
    kept: list[bytes] = []
    ends: deque[bytes] = deque()
    held = 0
    while piece := os.read(file, _PIECE):
        digest.update(piece)
        size += len(piece)
        lines += piece.count(b"\n")
        last = piece[-1:]
        if size > largest:
            raise TooMuch
        if size - len(piece) <= whole:
            kept.append(piece)
        ends.append(piece)
        held += len(piece)
        while held - len(ends[0]) >= ENDS:
            held -= len(ends.popleft())
    lines += last not in (b"", b"\n")
    if size <= whole:
        return Data(b"".join(kept), size, lines, digest.hexdigest())
    return Data(b"".join(kept)[:ENDS], size, lines, digest.hexdigest(), b"".join(ends)[-ENDS:])


def read_lines(file: int, first: int, last: int, whole: int, largest: int) -> Data:
    """The lines from `first` to `last` (0: the end) alone, of which up to `whole` bytes are kept."""
    if os.fstat(file).st_size > largest:
        raise TooMuch
    digest, size, number, begins = hashlib.sha256(), 0, 0, True
    kept: list[bytes] = []
    room = whole
    with os.fdopen(os.dup(file), "rb") as opened:
        # A line without an end is read in pieces, too.
        while piece := opened.readline(_PIECE):
            digest.update(piece)
            size += len(piece)
            number += begins
            begins = piece.endswith(b"\n")
            if size > largest:
                raise TooMuch
            if first <= number and (not last or number <= last) and room > 0:
                kept.append(piece[:room])
                room -= len(piece)
    return Data(b"".join(kept), size, number, digest.hexdigest())
