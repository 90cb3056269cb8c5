"""`holdfast users`: list users, export or delete all that belongs to one. The work is done in `transfer`."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from holdfast.cli.backup import data_folder
from holdfast.cli.options import JsonOption, YesOption, open_memory
from holdfast.cli.output import (
    console,
    format_time,
    load,
    print_error,
    print_json,
    print_table,
    show_progress_bar,
)
from holdfast.errors import BadRequest
from holdfast.i18n import say

app = typer.Typer(help="Who there is, and all that each of them has.", no_args_is_help=True)

UserName = Annotated[str, typer.Argument(metavar="NAME", help="Their name, as `users list` has it.")]


@app.command("list")
def list_(context: typer.Context, as_json: JsonOption = False) -> None:
    """List all who have anything, and how much."""
    from holdfast.transfer.users import list_users

    with open_memory(load(context).settings) as parts:
        users = list_users(parts.store, parts.workspace)
    if as_json:
        print_json({"users": [user.to_json() for user in users]})
        return
    if not users:
        console.print(say("Nobody has anything yet.", "Noch hat niemand etwas."))
        return
    columns = (
        say("user", "Benutzer"),
        say("conversations", "Gespräche"),
        say("messages", "Nachrichten"),
        say("memories", "Erinnerungen"),
        say("findings", "Recherchen"),
        say("keys", "Schlüssel"),
        say("last used", "zuletzt"),
    )
    rows = [
        (
            user.name,
            user.conversations,
            user.messages,
            user.memories,
            user.findings,
            user.keys,
            format_time(user.last_used) if user.last_used else "–",
        )
        for user in users
    ]
    print_table(columns, rows)


@app.command()
def export(
    context: typer.Context,
    name: UserName,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to; else their name, right here.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write everything a user has into a zip of open formats, with a page that says what is what."""
    from holdfast.memory.scopes import safe_name
    from holdfast.transfer.users import export as export_

    target = (file or Path(f"{safe_name(name)}.zip")).expanduser().absolute()
    settings = load(context).settings
    with open_memory(settings) as parts, show_progress_bar() as tell:
        user = export_(parts.store, parts.workspace, data_folder(settings), name, target, tell)
    if as_json:
        print_json({"file": str(target), "exported": user.to_json()})
    else:
        console.print(Text(say(f"Written: {target}", f"Geschrieben: {target}")))


@app.command()
def delete(
    context: typer.Context,
    name: UserName,
    yes: YesOption = False,
    backups: Annotated[
        bool, typer.Option("--backups", help="Also delete the old copies in the data folder.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete everything a user has, for good: conversations, memories, notes, findings, keys, jobs."""
    from holdfast.transfer.staging import remove_path
    from holdfast.transfer.users import get_user, remove, scrub

    settings = load(context).settings
    places = data_folder(settings)
    with open_memory(settings) as parts:
        user = get_user(parts.store, parts.workspace, name)
        if not yes:
            confirm_deletion(name, user.conversations, user.memories, user.notes)
        with show_progress_bar() as tell:
            remove(parts.store, parts, places, name, tell)
        elsewhere = parts.drop_copies()
    trouble = scrub(places)
    copies = places.old_copies
    for copy in copies if backups else ():
        remove_path(copy)
    left = [] if backups else [str(copy) for copy in copies]
    if as_json:
        deletion = {"deleted": user.to_json(), "scrubbed": not trouble, "trouble": trouble or None}
        print_json({**deletion, "elsewhere": elsewhere or None, "old_copies": left})
        return
    console.print(
        Text(
            say(
                f"Deleted: {name} ({user.conversations} conversations, {user.memories} memories).",
                f"Gelöscht: {name} ({user.conversations} Gespräche, {user.memories} Erinnerungen).",
            )
        )
    )
    print_leftovers(trouble, elsewhere, left)


def confirm_deletion(name: str, talks: int, memories: int, notes: int) -> None:
    """Ask the user to type the name; exit if it differs."""
    if not sys.stdin.isatty():
        raise BadRequest(
            say(
                f"{name} was not deleted: nobody is here to be asked.",
                f"{name} wurde nicht gelöscht: niemand ist da, der gefragt werden kann.",
            ),
            hint=say("Add --yes to do it without a question.", "Mit --yes geschieht es ohne Frage."),
        )
    typed = typer.prompt(
        say(
            f"{talks} conversations, {memories} memories, {notes} files. To delete all of it, type {name}",
            f"{talks} Gespräche, {memories} Erinnerungen, {notes} Dateien. Zum endgültigen Löschen"
            f" {name} eingeben",
        ),
        default="",
        show_default=False,
    )
    if typed != name:
        console.print(say("Nothing was deleted.", "Nichts wurde gelöscht."))
        raise typer.Exit(1)


def print_leftovers(trouble: str, elsewhere: str, left: list[str]) -> None:
    if elsewhere:
        print_error(
            say(
                f"Where vectors are compared, or at QMD, copies may be left: {elsewhere}"
                " Once it answers, `holdfast memory reindex` takes them away.",
                f"Wo Vektoren verglichen werden, oder bei QMD, sind vielleicht noch Kopien: {elsewhere}"
                " Sobald es antwortet, nimmt `holdfast memory reindex` sie weg.",
            )
        )
    if trouble:
        print_error(
            say(
                f"The words are gone, but not from the free space of the database ({trouble})."
                " Stop the server and delete once more, or compact the database with VACUUM.",
                f"Die Worte sind weg, aber noch im freien Platz der Datenbank ({trouble})."
                " Den Server beenden und die Datenbank mit VACUUM verdichten.",
            )
        )
    if left:
        print_error(
            say(
                f"{len(left)} old copies may still have them; --backups deletes these, too:",
                f"{len(left)} alte Kopien haben vielleicht noch etwas; --backups löscht auch sie:",
            )
        )
        for copy in left:
            print_error(f"  {copy}")
