"""The notes of a caller, in the workspace and elsewhere: which there are, and from a path to one of them.

Markdown only: profiles are no notes. Knows no tool and no protocol.
"""

from collections.abc import Sequence

from holdfast.mcp.parts import Parts
from holdfast.memory import reading
from holdfast.memory.scopes import elsewhere
from holdfast.memory.workspace.base import Entry, Note
from holdfast.messages import Scope
from holdfast.store import NotesOf


def note_at(parts: Parts, scope: Scope, path: str) -> Note:
    """The note that a path leads to, for this scope."""
    qmd, extra = parts.remembering.qmd, parts.remembering.extra
    if qmd is not None and (note := qmd.resolve(scope, path)) is not None:
        return note
    if path.startswith("/") and extra is not None and _has_extra(parts, scope):
        # It reads what walking through the named folders would come by, and nothing else.
        return extra.read(path)
    return reading.note_at(parts.remembering.workspace, scope, path)


def notes_of(parts: Parts, scope: Scope) -> Sequence[Entry]:
    """All notes that this scope can read, by path, those elsewhere at the end."""
    found = reading.notes_of(parts.remembering.workspace, scope)
    extra = parts.remembering.extra
    if extra is not None and _has_extra(parts, scope):
        found += extra.entries()
    return [entry for entry in found if not entry.trouble]


def _has_extra(parts: Parts, scope: Scope) -> bool:
    """Whose the notes elsewhere are, the index decides."""
    return NotesOf(elsewhere(scope.user)) in parts.remembering.index.places(scope)
