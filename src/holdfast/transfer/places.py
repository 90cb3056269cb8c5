"""Where everything of a Holdfast lies: its database, its notes, and the files of its settings.

Knows paths only; what is in them is known elsewhere.
"""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from holdfast.config import FILE, HISTORY, PAGE
from holdfast.messages import Scope
from holdfast.transfer.pieces import left_over

WORKSPACE, PROMPTS, BACKUPS = "workspace", "prompts", "backups"
# What lies in the data folder beside the database and cannot be made again.
KEPT = (WORKSPACE, PROMPTS, FILE, PAGE)
# Where a restore unpacks, and what it calls things that come into their place and that give way.
STAGE, RESTORED, REPLACED = ".restore", ".restored", ".replaced"


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

    def typed_by(self, user: str) -> list[Path]:
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
            copies += [*left_over(folder), *left_over(folder / BACKUPS)]
            copies += [path for end in (RESTORED, REPLACED) for path in folder.glob(f".*{end}")]
        stage = self.home / STAGE
        return sorted([*copies, stage] if stage.is_dir() else copies)
