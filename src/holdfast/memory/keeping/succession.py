"""Values that took each other's place: the history of one, and deciding open cases.

Knows the library of memories; changes only what it is asked to.
"""

from dataclasses import replace

from holdfast.errors import BadRequest, NotFound
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


def rivals(library: Library, scope: Scope) -> list[tuple[Memory, Memory]]:
    """Newer memories that may replace an older one, each with that one, the newest first; both still hold."""
    kept, _ = library.everything(scope)
    active = {memory.id: memory for memory in kept if memory.active}
    found = [
        (memory, active[memory.may_replace]) for memory in active.values() if memory.may_replace in active
    ]
    return sorted(found, key=lambda pair: pair[0].date, reverse=True)


def decide(library: Library, scope: Scope, name: str, *, replaces: bool) -> tuple[Memory, Memory | None]:
    """A person says whether a memory takes the place of its rival or both hold.

    The newer one, and the one that was replaced.
    """
    newer = library.get(scope, name)
    pair = next((pair for pair in rivals(library, scope) if pair[0].id == name), None)
    if pair is None:
        raise BadRequest(
            f"There is nothing to decide about the memory {name!r}.", hint="See which ones are open."
        )
    older = pair[1]
    replaced = None
    if replaces:
        until = newer.valid_from or newer.date
        replaced = library.notes.revise(
            library.place(scope, older.id),
            older.id,
            older.scope,
            lambda old: replace(old, superseded_by=newer.id, valid_until=until),
            successor=newer.text,
        )
        if replaced is not None:
            library.told([replaced], "superseded")
    decided = library.notes.revise(
        library.place(scope, name), name, newer.scope, lambda item: replace(item, may_replace="")
    )
    library.told([decided or newer], "updated")
    return decided or newer, replaced
