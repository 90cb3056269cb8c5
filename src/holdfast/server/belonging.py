"""What memories belong to: the conversations they were learned in, and the projects and groups there are.

Looks things up for the doors of memory. It shows nobody the conversations of others.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

from holdfast.memory.base import Memory
from holdfast.memory.remembering import Remembering
from holdfast.memory.scopes import folder, safe_name
from holdfast.memory.searching.hits import Hit
from holdfast.messages import Scope
from holdfast.store import Store


def conversations_of(store: Store, user: str, memories: Iterable[Memory]) -> dict[str, Any]:
    """The sources of memories by their ids, as far as they are this user's; None for those that are gone."""
    names = sorted({source.conversation for memory in memories for source in memory.sources})
    told: dict[str, Any] = dict.fromkeys(names)
    for row in store.log.of_user(user, names):
        told[row.id] = {"title": row.title, "project": row.scope.project, "kind": row.scope.kind}
    return told


def scopes_of(store: Store, remembering: Remembering, user: str) -> list[Scope]:
    """Where a user may have memories: their own first, then projects, then groups they talk in."""
    mine = Scope(user)
    # The folder of a project with an unusual name does not tell that name; its conversations do.
    place = folder(Scope(user, "any")).parent
    folders = {entry.path.relative_to(place).parts[0] for entry in remembering.workspace.entries(place)}
    named = {Scope(user, name) for name in folders if safe_name(name) == name}
    others = {*named, *store.log.scopes(user)} - {mine}
    return [mine, *sorted(others, key=lambda one: (one.kind == "group", one.project))]


def found_by(remembering: Remembering, scope: Scope, hits: Sequence[Hit]) -> list[Memory]:
    """The memories among the hits of a search. Only files that were hit are read for it."""
    paths = {hit.id: PurePosixPath(hit.path) for hit in hits if hit.memory_kind}
    owners = remembering.index.owners(scope, list(paths))
    found: dict[str, Memory] = {}
    for whose in set(owners.values()):
        files = {paths[name] for name, owner in owners.items() if owner == whose}
        for _, memories in remembering.library.notes.each(sorted(files), whose, []):
            found.update((memory.id, memory) for memory in memories if memory.id in paths)
    return list(found.values())
