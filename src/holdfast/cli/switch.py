"""`holdfast conversations switch`: one conversation without Holdfast, or without a memory.

What follows from that is known where requests are kept and fitted.
"""

from typing import Annotated

import typer
from rich.text import Text

from holdfast.cli.kept import Id, Json, kept
from holdfast.cli.output import console, load, print_json
from holdfast.cli.project import Project
from holdfast.errors import BadRequest
from holdfast.i18n import say


def switch(
    context: typer.Context,
    conversation: Id,
    off: Annotated[
        bool | None, typer.Option("--off/--on", help="Only pass its requests through, and keep nothing more.")
    ] = None,
    memory: Annotated[
        bool | None,
        typer.Option("--memory/--no-memory", help="Whether anything is remembered in it and of it."),
    ] = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Switch Holdfast off for one conversation, or only its memory."""
    from holdfast.conversations.serialization import serialize_conversation

    wanted = {name: value for name, value in (("off", off), ("memory", memory)) if value is not None}
    if not wanted:
        raise BadRequest(
            say("nothing to switch", "nichts umzuschalten"),
            hint=say(
                "Add --off, --on, --memory or --no-memory.",
                "--off, --on, --memory oder --no-memory angeben.",
            ),
        )
    with kept(load(context).settings, conversation, project) as (store, row):
        row = store.log.update_settings(row.id, wanted)
    if as_json:
        print_json(serialize_conversation(row))
        return
    state = (
        say("passed through, nothing is kept", "durchgereicht, nichts wird behalten")
        if row.off
        else say("kept and made to fit", "behalten und eingepasst")
    )
    remembered = say("with memory", "mit Gedächtnis") if row.memory else say("no memory", "ohne Gedächtnis")
    console.print(Text(f"{row.id}: {state}, {remembered}"))
