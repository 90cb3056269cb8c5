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
from holdfast.i18n import gettext as _
from holdfast.i18n import pgettext

app = typer.Typer(help="Users and their data.", no_args_is_help=True)

UserName = Annotated[str, typer.Argument(metavar="NAME", help="Their name, as `users list` has it.")]


@app.command("list")
def list_(context: typer.Context, as_json: JsonOption = False) -> None:
    """List all users and how much data each has."""
    from holdfast.transfer.users import list_users

    with open_memory(load(context).settings) as parts:
        users = list_users(parts.store, parts.workspace)
    if as_json:
        print_json({"users": users})
        return
    if not users:
        console.print(_("There are no users with data yet."))
        return
    columns = (
        pgettext("account", "user"),
        _("conversations"),
        _("messages"),
        _("memories"),
        _("findings"),
        _("keys"),
        _("last used"),
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
        print_json({"file": str(target), "exported": user})
    else:
        console.print(Text(_("Written: {target}").format(target=target)))


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
        deletion = {"deleted": user, "scrubbed": not trouble, "trouble": trouble or None}
        print_json({**deletion, "elsewhere": elsewhere or None, "old_copies": left})
        return
    console.print(
        Text(
            _("Deleted: {name} ({conversations} conversations, {memories} memories).").format(
                name=name, conversations=user.conversations, memories=user.memories
            )
        )
    )
    print_leftovers(trouble, elsewhere, left)


def confirm_deletion(name: str, talks: int, memories: int, notes: int) -> None:
    """Ask the user to type the name; exit if it differs."""
    if not sys.stdin.isatty():
        raise BadRequest(
            _("{name} was not deleted: there is no terminal on which to confirm it.").format(name=name),
            hint=_("Add --yes to do it without a question."),
        )
    typed = typer.prompt(
        _(
            "{talks} conversations, {memories} memories, {notes} files. To delete all of it, type {name}"
        ).format(talks=talks, memories=memories, notes=notes, name=name),
        default="",
        show_default=False,
    )
    if typed != name:
        console.print(_("Nothing was deleted."))
        raise typer.Exit(1)


def print_leftovers(trouble: str, elsewhere: str, left: list[str]) -> None:
    if elsewhere:
        print_error(
            _(
                "Where vectors are compared, or at QMD, copies may be left: {elsewhere}"
                " Once it answers, `holdfast memory reindex` takes them away."
            ).format(elsewhere=elsewhere)
        )
    if trouble:
        print_error(
            _(
                "The words are gone, but not from the free space of the database ({trouble})."
                " Stop the server and delete once more, or compact the database with VACUUM."
            ).format(trouble=trouble)
        )
    if left:
        print_error(
            _("{count} old copies may still have them; --backups deletes these, too:").format(count=len(left))
        )
        for copy in left:
            print_error(f"  {copy}")
