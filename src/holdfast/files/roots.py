"""Where files may be read from, and the one way to read them: resolved, checked, then opened step by step.

A path is resolved with all its links and has to lie in an allowed folder then; what is opened is that
resolved path, and no link on it is followed (`opening`). Knows nothing of what becomes of what was read.
"""

import difflib
import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePath
from typing import Literal

from holdfast.errors import ConfigError
from holdfast.files import opening, trouble
from holdfast.files.opening import Data
from holdfast.files.reading import TOGETHER
from holdfast.files.secrets import is_secret

Kind = Literal["file", "folder", "link", "other"]

# Of a folder with more entries, no more are looked at.
MANY = 20_000


@dataclass(frozen=True, slots=True)
class Limits:
    """In bytes: what is kept whole, a document's too, and what is read at all.

    In seconds: what the documents of one message may take together.
    """

    whole: int = 2_000_000
    document: int = 20_000_000
    largest: int = 50_000_000
    seconds: float = TOGETHER


@dataclass(frozen=True, slots=True)
class Found:
    """Something in an allowed folder: `steps` below `root`, both without links. `name` is as written."""

    name: str
    root: str
    steps: tuple[str, ...]
    kind: Kind
    size: int = 0
    changed_at: float = 0.0

    def called_from(self, base: Path | None) -> str:
        """One name for one file, however it was written: from `base` or the root if it lies there."""
        path = PurePath(self.path)
        start = os.path.realpath(base or self.root)
        return str(path.relative_to(start)) if path.is_relative_to(start) else str(path)

    @property
    def path(self) -> str:
        """Where it really is: one spelling for one file."""
        return str(Path(self.root, *self.steps))

    def below(self, name: str, kind: Kind, size: int = 0, changed_at: float = 0.0) -> "Found":
        """One of a folder's entries."""
        shown = f"{self.name.rstrip('/')}/{name}"
        return Found(shown, self.root, (*self.steps, name), kind, size, changed_at)


@dataclass(frozen=True, slots=True)
class Roots:
    """`folders` may be read from, except what is `closed`. Paths are relative to `base`, or without one to
    each of the folders in turn. With `secrets`, whoever asks for the full text of a secret gets it.
    `pasted` ends a message without being the person's own words: what it points at is not looked at.
    """

    folders: tuple[Path, ...]
    base: Path | None = None
    secrets: bool = False
    closed: tuple[Path, ...] = ()
    pasted: str = ""
    limits: Limits = Limits()

    def find(self, name: str, *, full: bool = False) -> Found:
        """The file or folder of this name; `full`: all of it is asked for, by name."""
        allowed = False
        for path in self._places(name):
            found = self._inside(name, path)
            if found is None:
                continue
            secret = is_secret(PurePath(name).parts) or is_secret(PurePath(found.path).parts)
            if secret and not (self.secrets and full):
                raise trouble.secret(name, may=self.secrets)
            allowed = True
            if seen := _looked_at(found):
                return seen
        raise trouble.missing(name, self._near(name)) if allowed else trouble.outside(name)

    def exists(self, name: str) -> bool:
        """Whether there is something of this name that may be read, secret or not."""
        try:
            inside = [self._inside(name, path) for path in self._places(name)]
            return any(found is not None and _looked_at(found) is not None for found in inside)
        except trouble.Trouble:
            return False

    def read(self, found: Found, *, whole: int | None = None) -> Data:
        """What is in a file, read once."""
        with _told(found), opening.file_at(found.root, found.steps) as file:
            try:
                return opening.read(file, whole or self.limits.whole, self.limits.largest)
            except opening.TooMuch:
                raise trouble.too_large(found.name, self.limits.largest) from None

    def read_lines(self, found: Found, first: int, last: int) -> Data:
        with _told(found), opening.file_at(found.root, found.steps) as file:
            try:
                return opening.read_lines(file, first, last, self.limits.whole, self.limits.largest)
            except opening.TooMuch:
                raise trouble.too_large(found.name, self.limits.largest) from None

    def entries(self, found: Found) -> list[Found]:
        """What a folder holds, up to `MANY`, by name; links are not followed, closed folders are left out."""
        with _told(found), opening.folder_at(found.root, found.steps, to_list=True) as folder:
            rows = []
            with os.scandir(folder) as entries:
                for entry in islice(entries, MANY):
                    status = _status(entry)
                    if status is not None:
                        kind = _kind(status)
                        row = found.below(entry.name, kind, status.st_size, status.st_mtime)
                        if kind != "folder" or not self._is_closed(row.path):
                            rows.append(row)
        return sorted(rows, key=lambda row: (row.steps[-1].casefold(), row.steps[-1]))

    def _places(self, name: str) -> Iterator[str]:
        """Where a name may lead, before any link is resolved."""
        if not name or "\0" in name:
            return
        if name.startswith("~/"):
            yield os.path.expanduser(name)  # noqa: PTH111 - a Path's fails where there is no home
        elif name.startswith("/"):
            yield name
        else:
            for start in (self.base,) if self.base else self.folders:
                yield f"{start}/{name}"

    def _inside(self, name: str, path: str) -> Found | None:
        """The resolved path, if it lies in an allowed folder; whether anything is there is not told."""
        try:
            real = PurePath(os.path.realpath(path))
            if not os.path.lexists(real) and not name.isascii():
                real = PurePath(os.path.realpath(_respelled(path)))
        except ValueError:
            # Letters that no file system can have.
            return None
        except OSError:
            # A link that was one when it was looked at, and none when it was read.
            raise trouble.changed(name) from None
        if self._is_closed(str(real)):
            return None
        for folder in self.folders:
            root = os.path.realpath(folder)
            if real.is_relative_to(root):
                return Found(name, root, real.relative_to(root).parts, "other")
        return None

    def _is_closed(self, path: str) -> bool:
        return any(PurePath(path).is_relative_to(os.path.realpath(folder)) for folder in self.closed)

    def _near(self, name: str) -> list[str]:
        """Names like this one, in the folder where it was looked for."""
        written = PurePath(name)
        for path in self._places(str(written.parent)):
            folder = self._inside(str(written.parent), path)
            seen = _looked_at(folder) if folder else None
            if seen is None or seen.kind != "folder" or is_secret(PurePath(seen.path).parts):
                continue
            try:
                names = [row.steps[-1] for row in self.entries(seen)]
            except trouble.Trouble:
                continue
            shown = [
                other
                for other in names
                if other.isprintable() and not other.startswith(".") and not is_secret((other,))
            ]
            before = name[: len(name) - len(written.name)]
            return [f"{before}{near}" for near in difflib.get_close_matches(written.name, shown, n=3)]
        return []


def plain(name: str) -> str:
    """A name to be shown and kept: one line of letters, whatever it has on disk."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def folders_from(setting: str) -> tuple[Path, ...]:
    """Folders as a setting names them."""
    folders = [Path(one.strip()).expanduser() for one in setting.split(os.pathsep) if one.strip()]
    for folder in folders:
        if not folder.is_absolute():
            raise ConfigError(
                f"file_roots names {folder}, which is another folder wherever one stands.",
                hint="Write it from the top, like /home/me/projects or ~/projects.",
            )
    return tuple(folders)


def _looked_at(found: Found) -> Found | None:
    """The same with what it is; None where there is nothing."""
    try:
        status = os.lstat(found.path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise trouble.unreadable(found.name, error) from None
    return replace(found, kind=_kind(status), size=status.st_size, changed_at=status.st_mtime)


def _status(entry: "os.DirEntry[str]") -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _kind(status: os.stat_result) -> Kind:
    if stat.S_ISREG(status.st_mode):
        return "file"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    return "link" if stat.S_ISLNK(status.st_mode) else "other"


def _respelled(path: str) -> str:
    """The path as the disk spells it: a letter with two dots may be one character there, or two."""
    known = "/"
    for part in PurePath(path).parts[1:]:
        if not os.path.lexists(f"{known}/{part}"):
            try:
                names = [entry.name for entry in Path(known).iterdir()]
            except OSError:
                return path
            same = unicodedata.normalize("NFC", part)
            part = next((name for name in names if unicodedata.normalize("NFC", name) == same), part)
        known = f"{known}/{part}"
    return known


@contextmanager
def _told(found: Found) -> Iterator[None]:
    """Trouble with a file in words for people."""
    try:
        yield
    except opening.NotRegular:
        raise trouble.special(found.name) from None
    except FileNotFoundError:
        raise trouble.missing(found.name) from None
    except OSError as error:
        # A link where there was none when the path was resolved, or one that leads to itself.
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
            raise trouble.changed(found.name) from None
        raise trouble.unreadable(found.name, error) from None
