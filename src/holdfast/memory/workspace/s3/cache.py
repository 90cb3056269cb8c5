"""Contents of objects on this machine, so that none is fetched twice. Deleting it all loses nothing.

There is one file for each object and tag, with a checksum; whatever is wrong with one, it is as if it was
not there. Knows no server.
"""

import hashlib
import os
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_CHECKSUM = 32
# A file that is being written, and after how many seconds it is one that a crash left behind.
_PIECE, _WRITING = ".new", 3_600.0


class ObjectCache:
    """The cache in `folder`, which is made when there is something to keep; without one nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, name: str, tag: str) -> bytes | None:
        if self._folder is None:
            return None
        try:
            kept = (self._folder / _file(name, tag)).read_bytes()
        except OSError:
            return None
        checksum, content = kept[:_CHECKSUM], kept[_CHECKSUM:]
        return content if hashlib.sha256(content).digest() == checksum else None

    def keep(self, name: str, tag: str, content: bytes) -> None:
        """A disk that is full or may not be written to only costs time."""
        if self._folder is None:
            return
        piece = self._folder / f"{secrets.token_hex(8)}{_PIECE}"
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with os.fdopen(os.open(piece, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
                    opened.write(hashlib.sha256(content).digest() + content)
                piece.replace(self._folder / _file(name, tag))
            finally:
                piece.unlink(missing_ok=True)

    def drop(self, name: str, tag: str) -> None:
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / _file(name, tag)).unlink()

    def keep_only(self, there: Iterable[tuple[str, str]]) -> None:
        """Drop all but these names and tags: what was forgotten elsewhere must not live on here."""
        if self._folder is None:
            return
        wanted = {_file(name, tag) for name, tag in there}
        with suppress(OSError):
            for file in list(os.scandir(self._folder)):
                with suppress(OSError):
                    # A piece may be somebody's who is writing it just now.
                    writing = file.name.endswith(_PIECE) and file.stat().st_mtime > time.time() - _WRITING
                    if file.name not in wanted and not writing:
                        Path(file.path).unlink()


def _file(name: str, tag: str) -> str:
    return hashlib.sha256(f"{name}\0{tag}".encode(errors="surrogateescape")).hexdigest()
