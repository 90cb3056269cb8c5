"""Values that took each other's place: the history of one, and taking the newest back.

Knows the library of memories; changes only what it is asked to.
"""

from dataclasses import replace

from holdfast.errors import NotFound
from holdfast.memory.base import Memory
from holdfast.memory.keeping.library import Library
from holdfast.messages import Scope


def history_of(library: Library, scope: Scope, name: str) -> list[Memory]:
    """All that stood in a memory's place and stands there now, the newest first."""
    newest = library.get(scope, name)
    seen = {newest.id}
    while newest.superseded_by and newest.superseded_by not in seen:
        try:
            newest = library.get(scope, newest.superseded_by)
        except NotFound:
            # What took its place was forgotten since.
            break
        seen.add(newest.id)
    return [newest, *library.replaced(scope, newest.id)]


def take_back(library: Library, scope: Scope, name: str) -> tuple[Memory, list[Memory]]:
    """Forget a memory that should not have been kept; what it took the place of holds again.

    The forgotten one, and those that hold again.
    """
    wrong = library.get(scope, name)
    before = [memory for memory in library.replaced(scope, name) if memory.superseded_by == name]
    restored = [_restore(library, memory) for memory in before]
    library.forget(scope, name)
    return wrong, [memory for memory in restored if memory is not None]


def _restore(library: Library, memory: Memory) -> Memory | None:
    file = library.place(memory.scope, memory.id)
    restored = library.notes.revise(
        file, memory.id, memory.scope, lambda old: replace(old, superseded_by="", valid_until=0.0)
    )
    if restored is not None:
        library.told([restored], "updated")
    return restored
