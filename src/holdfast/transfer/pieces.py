"""Files on the way to their place: where they are made, how they get there, and what a crash left of others.

Whoever works on one holds a lock beside it, so what nobody holds is left over, and nobody will miss it. Knows
nothing of what is in the files.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from holdfast.errors import BadRequest, StoreError
from holdfast.language import say
from holdfast.store.sqlite_file import FileLock, sync_folder

_FOLDERS, _LOCK = ".holdfast-", "holdfast.lock"
# What file systems without hard links say (FAT, exFAT, some shares).
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})

Link = Callable[[Path, Path], None]


@contextmanager
def workplace(file: Path) -> Iterator[Path]:
    """A folder beside `file` to make it in, for its owner's eyes only; gone afterwards, whatever happened.

    What is there under that name is refused at once: nothing is written over.
    """
    if file.exists():
        raise _there_already(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for left in left_over(file.parent):
            take_away(left)
        folder = Path(tempfile.mkdtemp(dir=file.parent, prefix=_FOLDERS))
    except OSError as error:
        raise unwritable(file, error) from error
    try:
        with closing(FileLock(folder / _LOCK)) as lock:
            # A share that knows no locks takes a backup all the same.
            with suppress(OSError):
                lock.exclusive()
            yield folder
    except OSError as error:
        raise unwritable(file, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def left_over(folder: Path) -> list[Path]:
    """Workplaces in a folder that nobody works in any more."""
    found = sorted(path.parent for path in folder.glob(f"{_FOLDERS}*/{_LOCK}"))
    return [place for place in found if not place.is_symlink() and not _is_held(place / _LOCK)]


def _is_held(file: Path) -> bool:
    try:
        with closing(FileLock(file)) as lock:
            return not lock.exclusive()
    except OSError:
        # What cannot be known to be left over is left alone.
        return True


def put_in_place(piece: Path, file: Path, link: Link = os.link) -> None:
    """Give a finished file its name, in one step; one that appeared there meanwhile stays."""
    try:
        # Unlike renaming, linking fails where there is something.
        if not linked(piece, file, link):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            piece.replace(file)
        sync_folder(file.parent)
    except FileExistsError as error:
        raise _there_already(file) from error
    except OSError as error:
        raise unwritable(file, error) from error


def linked(source: Path, target: Path, link: Link = os.link) -> bool:
    """Give a file a second name; False where the file system cannot."""
    try:
        link(source, target)
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    return True


def take_away(path: Path) -> None:
    """Remove a file, a link or a whole folder; one that is not there is no trouble."""
    with suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def unwritable(file: Path, error: OSError) -> StoreError:
    why = error.strerror or str(error)
    return StoreError(
        say(f"{file} cannot be written: {why}.", f"{file} ist nicht schreibbar: {why}."),
        hint=say(
            "See that the disk has room, or name another place.", "Platz prüfen oder anderen Ort nennen."
        ),
    )


def _there_already(file: Path) -> BadRequest:
    return BadRequest(
        say(f"{file} is there already.", f"{file} gibt es schon."),
        hint=say("Name another file.", "Eine andere Datei nennen."),
    )
