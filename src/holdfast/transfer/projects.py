"""Moving conversations to another project: with their forks, their summaries and their place in the index."""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.errors import BadRequest, Conflict, NotFound
from holdfast.i18n import lazy
from holdfast.memory.items import COMMENT, read_comment, write_comment
from holdfast.memory.scopes import summary_file
from holdfast.memory.service import MemoryService
from holdfast.memory.workspace import Workspace
from holdfast.messages import Scope
from holdfast.store import ConversationRecord, Store


def move_to_project(
    store: Store, remembering: MemoryService | None, rows: Sequence[ConversationRecord], project: str
) -> list[ConversationRecord]:
    """Move conversations to a project, and return them as they are now.

    Forks share messages, so they move together. What was learned in them stays where it was learned.
    """
    store.texts.prepare()
    moved = store.atomically(_move, store, rows, project)
    for before, after in moved:
        if remembering is not None and before.scope != after.scope:
            _move_summary(remembering.workspace, before.id, before.scope, after.scope)
    for tree in {after.tree for _, after in moved}:
        store.texts.catch_up(where=tree)
    now = {after.id: after for _, after in moved}
    return [now[row.id] for row in rows]


def _move(
    store: Store, rows: Sequence[ConversationRecord], project: str
) -> list[tuple[ConversationRecord, ConversationRecord]]:
    moved = []
    for tree in sorted({row.tree for row in rows}):
        members = store.log.conversations_of(tree)
        for row in members:
            if row.scope.kind == "group":
                raise BadRequest(
                    lazy("The conversations of a group stay with it."), hint=lazy("Choose a private one.")
                )
            if store.drafts.of(row.id):
                raise Conflict(
                    lazy("An answer is being written in '{title}'.", title=row.title or row.id),
                    hint=lazy("Wait until it is there, or stop it, and move the conversation then."),
                )
        if all(row.scope.project == project for row in members):
            moved += [(row, row) for row in members]
            continue
        after = store.log.move(tree, project)
        store.texts.requeue(tree)
        moved += zip(members, after, strict=True)
    return moved


def _move_summary(workspace: Workspace, conversation: str, before: Scope, after: Scope) -> None:
    """The file of a summary lies in the folder of its project, and says which that is."""
    try:
        note = workspace.read(summary_file(before, conversation))
    except NotFound:
        return
    if head := COMMENT.match(note.text):
        fields = read_comment(note.text) | {"project": "" if after == Scope(after.user) else after.project}
        note = replace(note, text=write_comment(fields) + note.text[head.end() :])
    workspace.write(summary_file(after, conversation), note.text)
    workspace.remove(summary_file(before, conversation))
