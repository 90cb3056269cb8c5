"""The data folder, and files that are written beside their target and renamed when they are complete."""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from holdfast.config import FILE, HISTORY, PAGE
from holdfast.errors import BadRequest, StoreError, explain_os_error
from holdfast.i18n import gettext as _
from holdfast.i18n import translate
from holdfast.messages import Scope
from holdfast.store.sqlite_file import BACKUPS, FileLock, sync_folder

_FOLDERS, _LOCK = ".holdfast-", "holdfast.lock"
# What file systems without hard links say (FAT, exFAT, some shares).
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})

Link = Callable[[Path, Path], None]


@contextmanager
def staging_folder(file: Path) -> Iterator[Path]:
    """A temporary folder beside `file` that only its owner can read; removed on exit.

    What is there under that name is refused at once: nothing is written over.
    """
    if file.exists():
        raise _exists_error(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for left in find_leftovers(file.parent):
            remove_path(left)
        folder = Path(tempfile.mkdtemp(dir=file.parent, prefix=_FOLDERS))
    except OSError as error:
        raise unwritable_error(file, error) from error
    try:
        with closing(FileLock(folder / _LOCK)) as lock:
            # A share that knows no locks takes a backup all the same.
            with suppress(OSError):
                lock.acquire_exclusive()
            yield folder
    except OSError as error:
        raise unwritable_error(file, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_leftovers(folder: Path) -> list[Path]:
    """Staging folders that an ended process left behind."""
    folders = sorted(path.parent for path in folder.glob(f"{_FOLDERS}*/{_LOCK}"))
    return [place for place in folders if not place.is_symlink() and not _is_locked(place / _LOCK)]


def _is_locked(file: Path) -> bool:
    try:
        with closing(FileLock(file)) as lock:
            return not lock.acquire_exclusive()
    except OSError:
        # What cannot be known to be left over is left alone.
        return True


def put_in_place(piece: Path, file: Path, link: Link = os.link) -> None:
    """Renames a finished file to its final name atomically; refuses to replace an existing one."""
    try:
        # Unlike renaming, linking fails where there is something.
        if not hard_link(piece, file, link):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            piece.replace(file)
        sync_folder(file.parent)
    except FileExistsError as error:
        raise _exists_error(file) from error
    except OSError as error:
        raise unwritable_error(file, error) from error


def hard_link(source: Path, target: Path, link: Link = os.link) -> bool:
    """Creates a hard link; False where the file system has none."""
    try:
        link(source, target)
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    return True


def remove_path(path: Path) -> None:
    """Removes a file, a link or a folder, if it exists."""
    with suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def unwritable_error(file: Path, error: OSError) -> StoreError:
    why = translate(explain_os_error(error))
    return StoreError(
        _("{file} cannot be written: {why}.").format(file=file, why=why),
        hint=_("See that the disk has room, or name another place."),
    )


def _exists_error(file: Path) -> BadRequest:
    return BadRequest(
        _("{file} is there already.").format(file=file),
        hint=_("Name another file."),
    )


WORKSPACE, PROMPTS = "workspace", "prompts"
# What lies in the data folder beside the database and cannot be made again.
KEPT = (WORKSPACE, PROMPTS, FILE, PAGE)
# Where a restore unpacks, and what it calls things that come into their place and that give way.
STAGE, RESTORED, REPLACED = ".restore", ".restored", ".replaced"


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Paths in the data folder. `store` is the location of the database as in the settings."""

    home: Path
    store: str

    @property
    def database(self) -> Path | None:
        """The file of the database; None if it is on a server."""
        try:
            url = make_url(self.store)
        except ArgumentError:
            return None
        in_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
        return Path(str(url.database)) if in_file else None

    @property
    def workspace(self) -> Path:
        return self.home / WORKSPACE

    def history_files(self, user: str) -> list[Path]:
        """What the command line keeps of its user beside the database: typed lines, and notes of the chat."""
        files = (self.home / HISTORY, self.home / "logs" / "chat.log")
        return [file for file in files if file.is_file()] if user == Scope().user else []

    @property
    def old_copies(self) -> list[Path]:
        """Copies of the database that migrations left, backups that somebody put beside them, and what a
        backup or a restore that was killed left behind.
        """
        folders = {self.home} | ({self.database.parent} if self.database else set())
        copies = [
            path
            for folder in folders
            if (folder / BACKUPS).is_dir()
            for path in (folder / BACKUPS).iterdir()
            if path.is_file()
        ]
        for folder in folders:
            copies += [*find_leftovers(folder), *find_leftovers(folder / BACKUPS)]
            copies += [path for end in (RESTORED, REPLACED) for path in folder.glob(f".*{end}")]
        stage = self.home / STAGE
        return sorted([*copies, stage] if stage.is_dir() else copies)


# Told what is being done, and how much of how much is.
ProgressCallback = Callable[[str, int, int], None]


def ignore_progress(step: str, done: int, total: int) -> None:
    """A progress callback that does nothing."""
