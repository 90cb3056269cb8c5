"""Which notes are which collection of QMD, whose they are, and the way from a result back to a file.

Every folder of notes that the index knows is a collection, so nobody is shown what the index would not show
them. Knows files and names; runs nothing.
"""

import hashlib
import re
from collections.abc import Collection as Some
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from holdfast.memory.scopes import CONVERSATIONS
from holdfast.memory.searching.qmd import masks
from holdfast.memory.searching.qmd.options import OUR_PREFIX, ExtraFolder
from holdfast.memory.searching.sources import ExtraPaths, folder_of
from holdfast.memory.workspace.base import Entry, Note, Workspace, not_there
from holdfast.messages import Scope
from holdfast.store import NotesOf

_PREFIX = "qmd"
_READABLE = 30
_DIGEST = 16


@dataclass(frozen=True, slots=True)
class QmdCollection:
    """The files of a folder that a mask fits. `notes` is the folder in the workspace, none for others."""

    name: str
    root: Path
    mask: str
    notes: str = ""

    def shown(self, path: str) -> str:
        """A file of it as people and tools know it."""
        return f"{self.notes}/{path}" if self.notes else f"{_PREFIX}/{self.name}/{path}"


class QmdCollections:
    """`extra` belong to the user `owner`, and to no project or group."""

    def __init__(self, workspace: Workspace, extra: Sequence[ExtraFolder], owner: str = Scope().user) -> None:
        self._workspace = workspace
        self._extra = tuple(QmdCollection(one.name, one.root, one.mask) for one in extra)
        self._alone = frozenset(one.name for one in extra if not one.shared)
        self._owner = owner

    @property
    def readable(self) -> bool:
        """Whether there is a folder on this machine that QMD could read."""
        return self._workspace.folder is not None

    def of(self, places: Iterable[NotesOf]) -> list[QmdCollection]:
        """Those of folders in the workspace."""
        root = self._workspace.folder
        if root is None:
            return []
        return [_folder_collection(root, place.folder) for place in places if ":" not in place.folder]

    def outside(self, scope: Scope, *, own: bool = False) -> tuple[QmdCollection, ...]:
        theirs = scope.kind == "private" and scope.user == self._owner
        return self._extra if theirs and not (own and scope != Scope(self._owner)) else ()

    def only_here(self, scope: Scope, *, own: bool = False) -> list[str]:
        """The names of what our own search would not find."""
        return [one.name for one in self.outside(scope, own=own) if one.name in self._alone]

    def everywhere(self, places: Iterable[NotesOf]) -> list[QmdCollection]:
        return [*self.of(places), *self._extra]

    def files(self, collection: QmdCollection) -> dict[str, Entry]:
        """Its files, by their path in it."""
        if collection.notes:
            entries = self._workspace.entries(collection.notes)
            ours = [one for one in entries if folder_of(one.path) == collection.notes]
            return {str(one.path.relative_to(collection.notes)): one for one in ours if not one.trouble}
        found: dict[str, Entry] = {}
        for one in ExtraPaths([collection.root], collection.root).entries():
            path = PurePosixPath(one.path)
            if not one.trouble and path.is_relative_to(collection.root.as_posix()):
                inner = str(path.relative_to(collection.root.as_posix()))
                if masks.matches_mask(collection.mask, inner):
                    found[inner] = one
        return found

    def read(self, collection: QmdCollection, path: str) -> Note:
        """One of its files."""
        if collection.notes:
            return self._workspace.read(PurePosixPath(collection.notes, path))
        return ExtraPaths([collection.root], collection.root).read(PurePosixPath(collection.root, path))


def resolve_note(collections: QmdCollections, scope: Scope, path: str) -> Note | None:
    """The note at `qmd/COLLECTION/PATH`, as hits outside of the workspace are cited; None for other paths.

    Collections of others are no collections: their paths are like any that leads nowhere.
    """
    prefix, _, rest = path.partition("/")
    name, _, inner = rest.partition("/")
    mine = {one.name: one for one in collections.outside(scope)}
    if prefix != _PREFIX or name not in mine:
        return None
    # Only what walking through the folder comes by, under the very name it has there.
    if inner not in collections.files(mine[name]):
        raise not_there(PurePosixPath(path))
    return collections.read(mine[name], inner)


def match_path(path: str, files: Mapping[str, Entry]) -> str | None:
    """The file that QMD means: some versions write names in small letters, or with other signs left out."""
    if path in files:
        return path
    alike = [one for one in files if _squash(one) == _squash(path)]
    return alike[0] if len(alike) == 1 else None


def count_changed(at: float, files: Some[Entry]) -> int:
    return sum(one.mtime > at for one in files)


def _folder_collection(root: Path, folder: str) -> QmdCollection:
    # A name tells nobody else's: the readable part may be the same, the digest is not.
    digest = hashlib.sha256(folder.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    readable = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-")[-_READABLE:]
    whole = PurePosixPath(folder).name == CONVERSATIONS
    mask = masks.EVERY_MASK if whole else masks.OWN_MASK
    return QmdCollection(f"{OUR_PREFIX}{readable}-{digest}", root / folder, mask, folder)


def _squash(path: str) -> str:
    return re.sub(r"[\W_]+", "", path.lower())
