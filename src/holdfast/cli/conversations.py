"""`holdfast conversations`: what was kept. Finding, reading, renaming, forking and deleting it.

What a model was shown of it is in `cli/changes.py` and `cli/window.py`.
"""

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from holdfast.cli import changes, compact, prune, switch
from holdfast.cli.kept import Id, Json, headline, kept
from holdfast.cli.output import console, load, moment, print_json, print_table, write
from holdfast.cli.project import Project, scope_here
from holdfast.errors import BadRequest
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.conversations.search import MessageResults
    from holdfast.messages import Message
    from holdfast.store import Conversation

app = typer.Typer(help="The conversations that were kept.", no_args_is_help=True)


@app.command("list")
def list_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List conversations, the last used first."""
    from holdfast.conversations.serialization import serialize_conversation
    from holdfast.store import open_store

    with open_store(load(context).settings.store) as store:
        rows = store.log.recent(scope_here(project), limit)
    if as_json:
        print_json([serialize_conversation(row) for row in rows])
    elif rows:
        columns = (say("id", "Id"), say("last used", "zuletzt"), say("title", "Titel"))
        print_table(columns, [(row.id, moment(row.updated_at), row.title) for row in rows])
    else:
        console.print(say("No conversations yet.", "Noch keine Gespräche."))


@app.command()
def show(context: typer.Context, conversation: Id, project: Project = None, as_json: Json = False) -> None:
    """Show a conversation from its first word to its last."""
    from holdfast.fitting.reading import reading_of

    with kept(load(context).settings, conversation, project) as (store, row):
        reading = reading_of(store, row)
    if as_json:
        print_json(reading.to_json())
        return
    headline(row.title, row.id)
    pinned = say(" · pinned", " · angeheftet")
    for number, stored in enumerate(reading.path, 1):
        place = f"{number} · {stored.id}{pinned if stored.id in reading.pins else ''}"
        print_message(stored.message, stored.finish, place)
        for banner in reading.banners.get(stored.id, ()):
            console.print(Text(f"\n── {banner.text} ──", style="italic"), end=" ")
            console.print(Text(banner.decision.id, style="dim"))
    for draft in reading.drafts:
        print_message(draft.message, "writing", "")


def print_message(message: "Message", finish: str, place: str) -> None:
    """What somebody said, under who said it and where it stands."""
    marks = {
        "cut": say(" (cut off)", " (abgebrochen)"),
        "writing": say(" (being written)", " (wird geschrieben)"),
    }
    console.print(Text(f"\n{changes.speaker(message.role)}{marks.get(finish, '')}", style="bold"), end=" ")
    console.print(Text(place, style="dim"))
    write(f"{message.text}\n")
    for call in message.tool_calls:
        write(f"  → {call.name}({call.arguments})\n")


@app.command()
def search(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="WORD", help="What to look for; an exact phrase in quotes.")
    ],
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many at most.")] = 10,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Find messages by their words, in all conversations."""
    from holdfast.conversations.search import search as find
    from holdfast.conversations.serialization import serialize_results
    from holdfast.store import open_store

    with open_store(load(context).settings.store) as store:
        found = find(store, scope_here(project), " ".join(words), limit=limit)
    if as_json:
        print_json(serialize_results(found))
    else:
        _print_results(found)


def _print_results(found: "MessageResults") -> None:
    reasons = {
        "nothing to search for": say(
            "These words are in every text; look for something rarer.",
            "Diese Wörter stehen in jedem Text; suchen Sie nach etwas Seltenerem.",
        ),
        "nothing found": say(
            "Nothing found in this project. Fewer or other words may help; --project looks elsewhere.",
            "Nichts gefunden in diesem Projekt. Weniger oder andere Wörter helfen vielleicht; --project sucht"
            " anderswo.",
        ),
    }
    if found.empty:
        console.print(reasons.get(found.empty, found.empty))
    for hit in found.hits:
        edited = "" if hit.current else say(" · edited away", " · nicht mehr im Verlauf")
        where = f"{hit.conversation} · {moment(hit.at)} · {changes.speaker(hit.role)}{edited}"
        headline(hit.title, where)
        write(f"{hit.snippet}\n")
        console.print(Text(f"{hit.message} · {', '.join(hit.matched)}\n", style="dim"))


@app.command()
def rename(
    context: typer.Context,
    conversation: Id,
    title: Annotated[list[str], typer.Argument(metavar="TITLE", help="What it is to be called.")],
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Give a conversation another title."""
    from holdfast.conversations.serialization import serialize_conversation

    named = " ".join(" ".join(title).split())
    if not named:
        raise BadRequest(
            say("a title needs at least one character", "ein Titel braucht wenigstens ein Zeichen")
        )
    with kept(load(context).settings, conversation, project) as (store, row):
        row = store.log.rename(row.id, named)
    if as_json:
        print_json(serialize_conversation(row))
    else:
        console.print(Text(say(f"{row.id} is now called: {named}", f"{row.id} heißt jetzt: {named}")))


@app.command()
def delete(
    context: typer.Context,
    conversation: Id,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="Forget what was learned in it, too; else that stays.")
    ] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Delete a conversation and its words, except those that a fork shares."""
    from holdfast.conversations.serialization import serialize_conversation
    from holdfast.wiring import build_remembering

    settings = load(context).settings
    with kept(settings, conversation, project) as (store, row):
        if not yes:
            _ask(row)
        store.log.delete(row.id)
        with closing(build_remembering(settings, store)) as memory:
            forgotten = memory.conversation_deleted(row.scope, row.id, forget=forget)
    if as_json:
        print_json({"deleted": serialize_conversation(row), "forgotten": forgotten})
    else:
        console.print(say(f"Deleted: {row.id}", f"Gelöscht: {row.id}"))


def _ask(row: "Conversation") -> None:
    """Goes on only if somebody agrees."""
    if not sys.stdin.isatty():
        raise BadRequest(
            say(
                f"{row.id} was not deleted: nobody is here to be asked.",
                f"{row.id} wurde nicht gelöscht: niemand ist da, der gefragt werden kann.",
            ),
            hint=say("Add --yes to delete it without a question.", "Mit --yes wird ohne Frage gelöscht."),
        )
    headline(row.title, row.id)
    if not typer.confirm(say("Delete it for good?", "Endgültig löschen?"), default=False):
        console.print(say("Nothing was deleted.", "Nichts wurde gelöscht."))
        raise typer.Exit(1)


@app.command()
def fork(
    context: typer.Context,
    conversation: Id,
    message: Annotated[
        str | None,
        typer.Argument(metavar="MESSAGE", help="The last message to share, by number or id; else all."),
    ] = None,
    title: Annotated[str, typer.Option(help="What the fork is called; else as its origin.")] = "",
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Go on in a second conversation from any message; both share what came before it."""
    from holdfast.conversations import lanes
    from holdfast.conversations.identity import find_message
    from holdfast.conversations.serialization import serialize_conversation

    with kept(load(context).settings, conversation, project) as (store, row):
        start = None if message is None else find_message(store, row, message).id
        made = store.atomically(lanes.fork, store, row, start, title.strip())
    if as_json:
        print_json(serialize_conversation(made))
    else:
        told = say(
            "Forked: {id}. Go on with `holdfast chat -c {id}`.",
            "Abgezweigt: {id}. Weiter mit `holdfast chat -c {id}`.",
        )
        console.print(Text(told.format(id=made.id)))


app.command("prune")(prune.prune)
app.command("switch")(switch.switch)
app.command("compact")(compact.compact)
app.command("pin")(changes.pin)
app.command("unpin")(changes.unpin)
app.command("undo")(changes.undo)
app.command("expand")(changes.expand)
