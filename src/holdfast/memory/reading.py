"""Which files of the workspace a scope can read, and the one way from a path to one of them.

What belongs to another scope is not there, whether it is or not. Links, hidden files and ways out are refused
by the workspace itself. Knows no protocol.
"""

from collections.abc import Collection
from pathlib import PurePosixPath

from holdfast.errors import StoreError
from holdfast.memory.scopes import folder, is_summary, may_see, visible
from holdfast.memory.workspace.base import (
    Note,
    NoteEntry,
    Workspace,
    check_path,
    missing_error,
    read_or_empty,
)
from holdfast.memory.workspace.comments import read_comment
from holdfast.messages import Scope

MARKDOWN = frozenset({".md", ".markdown"})
# Folders that decide whose a file is. Spelled otherwise they would be the same where case does not count.
_RESERVED = frozenset({"conversations", "projects", "groups"})


def check_note_path(scope: Scope, path: str, suffixes: Collection[str] = MARKDOWN) -> PurePosixPath:
    """The path of a file in this scope, if it may be one."""
    place = check_path(path)
    disguised = any(part.lower() in _RESERVED and part not in _RESERVED for part in place.parts)
    if disguised or place.suffix.lower() not in suffixes or not may_see(scope, place):
        raise missing_error(place)
    return place


def note_at(workspace: Workspace, scope: Scope, path: str, suffixes: Collection[str] = MARKDOWN) -> Note:
    place = check_note_path(scope, path, suffixes)
    note = workspace.read(place)
    if is_summary(place) and not _is_of(scope, note):
        raise missing_error(place)
    return note


def notes_of(workspace: Workspace, scope: Scope, suffixes: Collection[str] = MARKDOWN) -> list[NoteEntry]:
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
        return _is_of(scope, read_or_empty(workspace, path))
    except StoreError:
        # It cannot be read, so nobody can tell whose it is.
        return False


def _is_of(scope: Scope, summary: Note) -> bool:
    """Summaries of all of a person's projects lie together; each says whose it is."""
    if scope.kind == "group":
        return True
    return (read_comment(summary.text).get("project") or Scope().project) == scope.project
