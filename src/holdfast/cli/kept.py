"""What the commands about conversations share: the arguments they take, and the conversation they are about.

Opens the store only; no model server is needed to look at what was kept.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from holdfast.cli.output import console, write
from holdfast.cli.project import current_scope
from holdfast.config import Settings
from holdfast.errors import NotFound
from holdfast.i18n import say
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.store import Conversation, Store

ConversationId = Annotated[str, typer.Argument(metavar="ID", help="Its id, or a clear beginning of it.")]
MessageId = Annotated[
    str, typer.Argument(metavar="MESSAGE", help="A message's number or id, as `show` has them.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="As JSON.")]


@contextmanager
def open_conversation(
    settings: Settings, conversation: str, project: str | None
) -> Iterator[tuple["Store", "Conversation"]]:
    from holdfast.store import open_store

    with open_store(settings.store) as store:
        yield store, find_conversation(store, conversation, current_scope(project))


def find_conversation(store: "Store", conversation: str, scope: Scope) -> "Conversation":
    """A conversation of this scope by its id, or a clear beginning of it."""
    try:
        return store.log.get(conversation, scope)
    except NotFound as error:
        # Whoever sits at this machine may know where it is; the doors to others never say.
        elsewhere = store.log.get(conversation).scope.project
        raise NotFound(
            error.message,
            hint=say(
                f"It belongs to the project {elsewhere}: add --project {elsewhere}.",
                f"Es gehört zum Projekt {elsewhere}: --project {elsewhere} angeben.",
            ),
        ) from None


def print_headline(title: str, more: str) -> None:
    """A title, which anybody may have written, and what is known about it."""
    write(f"{title} " if title else "")
    console.print(Text(more, style="bold"))
