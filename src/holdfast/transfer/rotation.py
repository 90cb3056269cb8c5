"""Backups that a server makes by itself: when one is due, and which of the older ones stay."""

import logging
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from holdfast.errors import StoreError, explain_os_error
from holdfast.i18n import lazy
from holdfast.memory.workspace import Workspace
from holdfast.store.sqlite_file import BACKUPS
from holdfast.transfer import backup
from holdfast.transfer.staging import DataFolder

log = logging.getLogger("holdfast.backup")

_DAY = 86_400.0
# The last few stay, and one of each of the weeks before them.
_NEWEST, _WEEKS = 3, 4
_PREFIX = "auto-"
# So much must stay free on the disk, and so often the size of the database must fit.
_FREE_BYTES, _ROOM = 1_000_000_000, 3


class BackupSchedule:
    """Backs a data folder up every few days if something changed; `notes` are those outside of it."""

    def __init__(
        self,
        places: DataFolder,
        days: float,
        workspace: Workspace,
        notes: Workspace | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._places = places
        self._days = days
        self._workspace = workspace
        self._notes = notes
        self._clock = clock
        self._running = threading.Lock()

    def run_if_due(self) -> Path | None:
        """Make a backup and remove the old ones; return its file, None if none was needed."""
        database = self._places.database
        if database is None or not database.exists() or not self._running.acquire(blocking=False):
            return None
        try:
            return self._back_up(database)
        except OSError as error:
            # As any other trouble with data: whoever asked tries again later.
            raise StoreError(
                lazy("{path}: {why}.", path=database.parent / BACKUPS, why=explain_os_error(error))
            ) from error
        finally:
            self._running.release()

    def _back_up(self, database: Path) -> Path | None:
        folder = database.parent / BACKUPS
        files = list_backups(folder)
        if not self._is_due(database, files) or not self._has_room(database):
            return None
        folder.mkdir(mode=0o700, exist_ok=True)
        file = folder / f"{_PREFIX}{backup.default_name(self._clock())}"
        backup.create(self._places, file, notes=self._notes)
        for old in find_superseded([file, *files]):
            old.unlink(missing_ok=True)
        return file

    def _is_due(self, database: Path, files: Sequence[Path]) -> bool:
        if not files:
            return True
        last, now = files[0].stat().st_mtime, self._clock()
        journal = Path(f"{database}-wal")
        changes = [file.stat().st_mtime for file in (database, journal) if file.exists()]
        changes += [entry.mtime for entry in self._workspace.entries()]
        # A time in the future is the fault of a clock.
        return abs(now - last) >= self._days * _DAY and max(changes) > last

    def _has_room(self, database: Path) -> bool:
        free = shutil.disk_usage(database.parent).free
        enough = free - _ROOM * database.stat().st_size > _FREE_BYTES
        if not enough:
            log.warning("no backup is made: the disk of %s has too little room", database.parent)
        return enough


def list_backups(folder: Path) -> list[Path]:
    """Return the backups that were made by themselves, newest first."""
    files = folder.glob(f"{_PREFIX}*.zip") if folder.is_dir() else ()
    return sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)


def find_superseded(files: Sequence[Path]) -> list[Path]:
    """Return the backups, given newest first, that need not stay."""
    weeks: dict[tuple[int, int], Path] = {}
    for file in files[_NEWEST:]:
        year, week, _ = datetime.fromtimestamp(file.stat().st_mtime, UTC).isocalendar()
        weeks.setdefault((year, week), file)
    stay = {*files[:_NEWEST], *list(weeks.values())[:_WEEKS]}
    return [file for file in files if file not in stay]
