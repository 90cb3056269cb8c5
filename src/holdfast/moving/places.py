"""Where everything of a Holdfast lies: its database, its notes, and the files of its settings.

Knows paths only; what is in them is known elsewhere.
"""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from holdfast.config import FILE, PAGE

WORKSPACE, PROMPTS, BACKUPS = "workspace", "prompts", "backups"
# What lies in the data folder beside the database and cannot be made again.
KEPT = (WORKSPACE, PROMPTS, FILE, PAGE)


@dataclass(frozen=True, slots=True)
class Places:
    """`store` is the location of the database, as the settings have it."""

    home: Path
    store: str

    @property
    def database(self) -> Path | None:
        """The file the database is in; None where it is on a server."""
        try:
            url = make_url(self.store)
        except ArgumentError:
            return None
        in_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
        return Path(str(url.database)) if in_file else None

    @property
    def workspace(self) -> Path:
        return self.home / WORKSPACE

    @property
    def old_copies(self) -> list[Path]:
        """Copies of the database that migrations left, and backups that somebody put beside them."""
        folders = {self.home / BACKUPS}
        if self.database is not None:
            folders.add(self.database.parent / BACKUPS)
        there = (path for folder in folders if folder.is_dir() for path in folder.iterdir())
        return sorted(path for path in there if path.is_file())
