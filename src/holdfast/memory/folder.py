"""A workspace on disk: plain files in a folder, for people and their editors.

A file is replaced as a whole or not at all, and writers take turns across processes. Links inside of the
folder are followed, but only real files are listed, so that none is listed twice and no loop is endless.
"""

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath

from holdfast.config import Settings
from holdfast.errors import BadRequest, ConfigError, StoreError
from holdfast.extras import load_backend
from holdfast.i18n import lazy
from holdfast.memory.workspace import (
    ABSENT,
    EVERY_NOTE,
    LARGEST,
    Note,
    NoteEntry,
    Workspace,
    check_path,
    check_readable,
    check_size,
    conflict_error,
    decode_note,
    missing_error,
    name_problem,
    printable_name,
)
from holdfast.store.sqlite_file import FileLock, sync_folder

# Writing takes milliseconds: who has waited so long waits for somebody who hangs.
_PATIENCE = 10.0
_PAUSE = 0.01
# An editor that writes into a file instead of replacing it may be at it while we read. Should it never end,
# the tag is an old one: whoever writes with it is refused.
_LOOKS = 5
# Files whose entries in lists are held in memory.
_KNOWN = 20_000


class FolderWorkspace:
    """The workspace in `folder`, which is created on the first write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def entries(self, prefix: PurePosixPath | str = "") -> list[NoteEntry]:
        place = check_path(prefix)
        if self._is_absent(place):
            return []
        with translate_errors(self.folder):
            start = self._real(place)
            if start.is_file():
                return [] if (self.folder / place).is_symlink() else [make_entry(str(place), start.stat())]
            # A path of no parts spells itself with a dot.
            return list(walk(str(start), str(place) if place.parts else ""))

    def read(self, path: PurePosixPath | str) -> Note:
        place = check_path(path)
        if self._is_absent(place):
            raise missing_error(place)
        with translate_errors(self.folder):
            try:
                return read_file(self._real(place), place)
            except FileNotFoundError as error:
                raise missing_error(place) from error

    def write(self, path: PurePosixPath | str, text: str, expect: str | None = None) -> str:
        place = check_path(path)
        content = text.encode("utf-8", "surrogateescape")
        check_size(place, len(content))
        with self._locked():
            file = self._real(place)
            if expect is not None and expect != read_tag(file):
                raise conflict_error(place)
            return replace_file(file, content)

    def remove(self, path: PurePosixPath | str, expect: str | None = None) -> None:
        place = check_path(path)
        with self._locked():
            file = self.folder / place
            if expect is not None and expect != read_tag(self._real(place)):
                raise conflict_error(place)
            # A link a person made is theirs; what it points to stays where it is.
            file.unlink(missing_ok=True)
            if file.parent.is_dir():
                sync_folder(file.parent)

    def _is_absent(self, place: PurePosixPath) -> bool:
        """Check in one call whether there is nothing to read, as is usual."""
        try:
            os.lstat(f"{self.folder}/{place}")
        except FileNotFoundError:
            return True
        except OSError:
            # What cannot be looked at must not seem empty.
            return False
        return False

    def _real(self, place: PurePosixPath) -> Path:
        """Resolve links: the file a link points to is the one to read and replace."""
        root = Path(os.path.realpath(self.folder))
        try:
            real = (root / place).resolve()
        except RuntimeError as error:
            # Python 3.11 to 3.12 say so of a loop of links.
            raise outside_error(place) from error
        if real.is_symlink() or (real != root and root not in real.parents):
            raise outside_error(place)
        return real

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with translate_errors(self.folder):
            make_folder(self.folder)
            with closing(FileLock(self.folder / ".lock")) as lock:
                began = time.monotonic()
                while not lock.acquire_exclusive():
                    if time.monotonic() - began > _PATIENCE:
                        raise StoreError(
                            lazy(
                                "Another process keeps {folder} locked for {patience:.0f} seconds now.",
                                folder=self.folder,
                                patience=_PATIENCE,
                            ),
                            hint=lazy("See which Holdfast hangs, and stop it."),
                        )
                    time.sleep(_PAUSE)
                yield


def walk(start: str, place: str) -> Iterator[NoteEntry]:
    """Yield every file below a folder, by path, without hidden files and without following links.

    A file or folder whose name is not valid text is listed with that problem.
    """
    try:
        children = sorted(os.scandir(start), key=lambda entry: printable_name(entry.name))
    except FileNotFoundError:
        # A folder that is not there has no files; one that may not be looked into must not seem empty.
        return
    for entry in children:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        path = f"{place}/{printable_name(entry.name)}" if place else printable_name(entry.name)
        if trouble := name_problem(entry.name):
            with suppress(FileNotFoundError):
                listed = make_entry(f"{path}/{EVERY_NOTE}" if entry.is_dir() else path, entry.stat())
                yield replace(listed, trouble=trouble)
        elif entry.is_dir():
            yield from walk(entry.path, path)
        elif entry.is_file():
            with suppress(FileNotFoundError):
                yield make_entry(path, entry.stat())


def make_entry(path: str, status: os.stat_result) -> NoteEntry:
    return _cached_entry(path, status.st_size, status.st_mtime, _version(status))


@lru_cache(_KNOWN)
def _cached_entry(path: str, size: int, mtime: float, version: tuple[int, ...]) -> NoteEntry:
    """Build an entry; cached, since every request lists all files and hardly any has changed."""
    return NoteEntry(PurePosixPath(path), size, mtime, _format_tag(version))


def make_tag(status: os.stat_result) -> str:
    return _format_tag(_version(status))


def _version(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _format_tag(version: tuple[int, ...]) -> str:
    return "-".join(f"{number:x}" for number in version)


def read_tag(file: Path) -> str:
    try:
        return make_tag(file.stat())
    except FileNotFoundError:
        return ABSENT


def read_file(file: Path, place: PurePosixPath) -> Note:
    """Read text and tag of the same moment, with all bytes, also invalid ones."""
    with file.open("rb") as opened:
        for _ in range(_LOOKS):
            before = os.fstat(opened.fileno())
            check_readable(place, before.st_size)
            opened.seek(0)
            content = opened.read(LARGEST + 1)
            if make_tag(os.fstat(opened.fileno())) == make_tag(before):
                break
    return decode_note(place, content, make_tag(before))


def replace_file(file: Path, content: bytes) -> str:
    """Replace the content in one step: a crash leaves the old file or the new one."""
    make_folder(file.parent)
    # Writers take turns, so one name is enough, and what a crash left behind is written over.
    piece = file.with_name(f".{file.name}.new")
    old = file.stat() if file.exists() else None
    try:
        with os.fdopen(os.open(piece, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
            os.fchmod(opened.fileno(), old.st_mode & 0o777 if old else 0o600)
            opened.write(content)
            opened.flush()
            if old and os.fstat(opened.fileno()).st_mtime_ns <= old.st_mtime_ns:
                # The clock of a file system ticks slowly: two versions must never have one time.
                os.utime(opened.fileno(), ns=(old.st_atime_ns, old.st_mtime_ns + 1))
            os.fsync(opened.fileno())
        piece.replace(file)
    finally:
        piece.unlink(missing_ok=True)
    sync_folder(file.parent)
    return read_tag(file)


def make_folder(folder: Path) -> None:
    """Create a folder so that it survives a power cut."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        sync_folder(folder.parent)


def outside_error(place: PurePosixPath) -> BadRequest:
    return BadRequest(
        lazy("{place} is a link that leads out of the workspace, or in a circle.", place=place),
        hint=lazy("Put the file itself there; folders elsewhere can be named as extra paths for searching."),
    )


@contextmanager
def translate_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            lazy("The notes in {folder} cannot be read or written: {why}.", folder=folder, why=str(error)),
            hint=lazy("See that the folder can be written to and that the disk has room."),
        ) from error


@dataclass(frozen=True, slots=True)
class S3Options:
    """How to reach a bucket. Without an endpoint it is AWS, where the machine's role may give the keys."""

    endpoint: str = ""
    region: str = ""
    key: str = ""
    secret: str = field(default="", repr=False)
    path_style: bool = True


def is_bucket(location: str) -> bool:
    return location.startswith("s3://")


def open_workspace(location: str, options: S3Options, cache: Path | None = None) -> Workspace:
    """Open a folder, or `s3://bucket/prefix` with a local `cache`."""
    if not is_bucket(location):
        return FolderWorkspace(Path(location).expanduser())
    try:
        open_bucket = load_backend("s3")
    except ModuleNotFoundError as error:
        raise ConfigError(
            lazy("Notes on S3 need the package obstore."),
            hint=lazy("Install it: pip install 'holdfast[s3]'."),
        ) from error
    workspace: Workspace = open_bucket(location, options, cache)
    return workspace


def notes_location(settings: Settings) -> str:
    """Where notes are: a folder, relative ones in the data folder, or a bucket."""
    told = settings.workspace.strip() or "workspace"
    return told if is_bucket(told) else str(settings.home / Path(told).expanduser())


def build_workspace(settings: Settings) -> Workspace:
    options = S3Options(
        settings.s3_endpoint.strip(),
        settings.s3_region.strip(),
        settings.s3_key,
        settings.s3_secret,
        settings.s3_path_style,
    )
    return open_workspace(notes_location(settings), options, settings.home / "cache" / "notes")
