"""`holdfast conversations prune`: deleting what nobody has spoken in for a long time.

Says what would go and asks; what is deleted, and how, is known in `work.retention`.
"""

import re
import time
from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.kept import Json
from holdfast.cli.output import console, load, moment, print_json, print_table
from holdfast.cli.project import Project, scope_here
from holdfast.cli.remembered import agree
from holdfast.errors import BadRequest
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.store import Conversation

_AGE = re.compile(r"(\d{1,5})\s*([dwmy]?)")
_DAYS = {"": 1, "d": 1, "w": 7, "m": 30, "y": 365}
_MANY = 100_000


class Memories(StrEnum):
    keep = "keep"
    forget = "forget"


def prune(
    context: typer.Context,
    older_than: Annotated[str, typer.Option(help="How long nobody spoke in them: 90d, 12w, 6m, 1y.")],
    memories: Annotated[
        Memories, typer.Option(help="What becomes of what was learned in them.")
    ] = Memories.keep,
    everywhere: Annotated[bool, typer.Option("--all", help="In all projects, of all people.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Delete conversations in which nobody has spoken for a long time."""
    from holdfast.background.retention import DAY, Retention
    from holdfast.conversations.serialization import serialize_conversation
    from holdfast.store import open_store
    from holdfast.wiring import build_remembering

    settings, days, now = load(context).settings, _days(older_than), time.time()
    scope = None if everywhere else scope_here(project)
    with open_store(settings.store) as store:
        found = store.log.unused_since(now - days * DAY, scope, _MANY)
        if dry_run or not found:
            if as_json:
                print_json({"would_delete": [serialize_conversation(row) for row in found]})
            else:
                _print(found)
            return
        if not yes:
            _print(found)
            _ask(len(found), memories)
        with closing(build_remembering(settings, store)) as remembering:
            forget = memories is Memories.forget
            gone = Retention(store, remembering, days, forget).prune(now, scope)
    forgotten = sum(number for _, number in gone)
    if as_json:
        print_json({"deleted": [serialize_conversation(row) for row, _ in gone], "forgotten": forgotten})
        return
    console.print(
        say(
            f"Deleted: {len(gone)} conversations, {forgotten} memories.",
            f"Gelöscht: {len(gone)} Gespräche, {forgotten} Erinnerungen.",
        )
    )


def _print(rows: "list[Conversation]") -> None:
    if not rows:
        console.print(say("Nothing is that old.", "Nichts ist so alt."))
        return
    columns = (say("id", "Id"), say("last used", "zuletzt"), say("project", "Projekt"), say("title", "Titel"))
    print_table(columns, [(row.id, moment(row.updated_at), row.scope.project, row.title) for row in rows])


def _ask(number: int, memories: Memories) -> None:
    learned = (
        say("what was learned in them is forgotten, too", "was in ihnen gelernt wurde, wird auch vergessen")
        if memories is Memories.forget
        else say("what was learned in them stays", "was in ihnen gelernt wurde, bleibt")
    )
    agree(
        say(
            f"Delete {number} conversations for good? ({learned})",
            f"{number} Gespräche endgültig löschen? ({learned})",
        ),
        say(
            "Nothing was deleted: nobody is here to be asked.",
            "Nichts wurde gelöscht: niemand ist da, der gefragt werden kann.",
        ),
    )


def _days(text: str) -> int:
    found = _AGE.fullmatch(text.strip().lower())
    if found is None or int(found[1]) == 0:
        raise BadRequest(
            say(f"{text!r} is no age.", f"{text!r} ist kein Alter."),
            hint=say("Write 90d, 12w, 6m or 1y.", "Schreiben Sie 90d, 12w, 6m oder 1y."),
        )
    return int(found[1]) * _DAYS[found[2]]
