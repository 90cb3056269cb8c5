"""Which files of the workspace a scope can read, and the one way from a path to one of them.

What belongs to another scope is not there, whether it is or not. Links, hidden files and ways out are refused
by the workspace itself. Knows no protocol.
"""

from collections.abc import Collection
from pathlib import PurePosixPath

from holdfast.errors import StoreError
from holdfast.memory.scopes import folder, is_summary, may_see, visible
from holdfast.memory.workspace.base import Entry, Note, Workspace, inside, look, not_there
from holdfast.memory.workspace.comments import first_comment
from holdfast.messages import Scope

MARKDOWN = frozenset({".md", ".markdown"})
# Folders that decide whose a file is. Spelled otherwise they would be the same where case does not count.
_RESERVED = frozenset({"conversations", "projects", "groups"})


def place_of(scope: Scope, path: str, suffixes: Collection[str] = MARKDOWN) -> PurePosixPath:
    """The path of a file in this scope, if it may be one."""
    place = inside(path)
    disguised = any(part.lower() in _RESERVED and part not in _RESERVED for part in place.parts)
    if disguised or place.suffix.lower() not in suffixes or not may_see(scope, place):
        raise not_there(place)
    return place


def note_at(workspace: Workspace, scope: Scope, path: str, suffixes: Collection[str] = MARKDOWN) -> Note:
    place = place_of(scope, path, suffixes)
    note = workspace.read(place)
    if is_summary(place) and not _is_of(scope, note):
        raise not_there(place)
    return note


def notes_of(workspace: Workspace, scope: Scope, suffixes: Collection[str] = MARKDOWN) -> list[Entry]:
    """All that this scope can read, and what would be read if it had no trouble, by path."""
    return [
        entry
        for entry in workspace.entries(folder(visible(scope)[0]))
        if entry.path.suffix.lower() in suffixes
        and may_see(scope, entry.path)
        and (not is_summary(entry.path) or _is_summary_of(scope, workspace, entry.path))
    ]


def _is_summary_of(scope: Scope, workspace: Workspace, path: PurePosixPath) -> bool:
    try:
        return _is_of(scope, look(workspace, path))
    except StoreError:
        # It cannot be read, so nobody can tell whose it is.
        return False


def _is_of(scope: Scope, summary: Note) -> bool:
    """Summaries of all of a person's projects lie together; each says whose it is."""
    if scope.kind == "group":
        return True
    return (first_comment(summary.text).get("project") or Scope().project) == scope.project
