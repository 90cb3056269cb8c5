"""Arguments and options that several commands share, and what they resolve to."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.config import Settings
from holdfast.errors import BadRequest, NotFound
from holdfast.i18n import gettext as _
from holdfast.i18n import lazy
from holdfast.messages import Scope
from holdfast.projects import project_name

if TYPE_CHECKING:
    from holdfast.memory.library import Library
    from holdfast.memory.service import MemoryService
    from holdfast.store import ConversationRecord, Store

ConversationId = Annotated[str, typer.Argument(metavar="ID", help="Its id, or a clear beginning of it.")]
MessageId = Annotated[
    str, typer.Argument(metavar="MESSAGE", help="A message's number or id, as `show` has them.")
]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="Its id, or a clear beginning of it.")]


class Whose(StrEnum):
    user = "user"
    project = "project"


WhoseOption = Annotated[
    Whose | None,
    typer.Option(
        "--scope", help="Only your own, or only the project's; else both, and new ones go to the project."
    ),
]
ProjectOption = Annotated[
    str | None, typer.Option(help="Whose project this belongs to, instead of the folder's (`default`: none).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="As JSON.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def current_scope(project: str | None, folder: Path | None = None) -> Scope:
    return Scope(project=project or project_name(folder or Path.cwd()))


@contextmanager
def open_conversation(
    settings: Settings, conversation: str, project: str | None
) -> Iterator[tuple["Store", "ConversationRecord"]]:
    from holdfast.store import open_store

    with open_store(settings.store) as store:
        yield store, find_conversation(store, conversation, current_scope(project))


def find_conversation(store: "Store", conversation: str, scope: Scope) -> "ConversationRecord":
    """Return the conversation with this id or unique prefix; the error names the project it belongs to."""
    try:
        return store.log.get(conversation, scope)
    except NotFound as error:
        # Local users may learn which project it is in; the server never tells.
        try:
            elsewhere = store.log.get(conversation).scope.project
        except NotFound:
            hint = _("`holdfast conversations list` names those there are.")
            raise NotFound(error.message, hint=hint) from None
        raise NotFound(
            error.message,
            hint=_("It belongs to the project {elsewhere}: add --project {elsewhere}.").format(
                elsewhere=elsewhere
            ),
        ) from None


def find_memory(library: "Library", scope: Scope, name: str) -> str:
    """Return the id of the memory with this id or unique beginning of it."""
    active, archived = library.list_all(scope, [])
    ids = {memory.id for memory in (*active, *archived)}
    matches = [identifier for identifier in ids if identifier.startswith(name)] if len(name) > 2 else []
    if name in ids or not matches:
        return name
    if len(matches) > 1:
        raise BadRequest(
            lazy("{number} ids begin with '{beginning}'.", number=len(matches), beginning=name),
            hint=lazy("Give more of the id."),
        )
    return matches[0]


@contextmanager
def open_memory(settings: Settings) -> Iterator["MemoryService"]:
    from holdfast.store import open_store
    from holdfast.wiring import build_remembering

    with open_store(settings.store) as store:
        memory = build_remembering(settings, store)
        try:
            yield memory
        finally:
            memory.close()


def narrow_scope(whose: Whose | None, project: str | None) -> Scope:
    """Return the current scope, limited to the user's or the project's part of it if asked for."""
    scope = current_scope(project)
    if whose is Whose.user:
        return Scope(scope.user)
    if whose is Whose.project and scope == Scope(scope.user):
        raise BadRequest(
            _("There is no project here."), hint=_("Go to a folder under git, or name one with --project.")
        )
    return scope
