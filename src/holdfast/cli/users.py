"""`holdfast users`, `keys` and `password`: users with all that belongs to them, and who may come in."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.backup import data_folder
from holdfast.cli.shared import (
    JsonOption,
    YesOption,
    console,
    format_time,
    load,
    open_memory,
    print_error,
    print_json,
    print_table,
    show_progress_bar,
    write,
)
from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
from holdfast.i18n import pgettext
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.store import Key


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
        console.print(_("Written: {target}").format(target=target))


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
        _("Deleted: {name} ({conversations} conversations, {memories} memories).").format(
            name=name, conversations=user.conversations, memories=user.memories
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


keys_app = typer.Typer(help="Keys that let programs in.", no_args_is_help=True)

_RATE = re.compile(r"(\d{1,6})\s*(?:/\s*min(?:ute)?)?")


@keys_app.command()
def create(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="What it is for, for you to know it by.")] = "",
    user: Annotated[str, typer.Option(help="Whose conversations and memories it reaches.")] = "default",
    project: Annotated[str, typer.Option(help="Only this project; else the one a client names.")] = "",
    admin: Annotated[bool, typer.Option("--admin", help="May see and make keys, jobs, settings.")] = False,
    forwarder: Annotated[
        bool, typer.Option("--forwarder", help="Speaks for several people, and says for whom (Open WebUI).")
    ] = False,
    off: Annotated[bool, typer.Option("--off", help="Only passes through; nothing is kept.")] = False,
    memory_off: Annotated[
        bool, typer.Option("--memory-off", help="Keeps and fits, but remembers nothing.")
    ] = False,
    files: Annotated[
        bool, typer.Option("--files", help="May point at files with @, in the folders of file_roots.")
    ] = False,
    rate: Annotated[str, typer.Option(help="Requests a minute, as 60 or 60/min; 0 for no limit.")] = "0",
    as_json: JsonOption = False,
) -> None:
    """Make a key. Its secret is shown now, and never again."""
    from holdfast.store import Key, open_store

    wanted = Key(
        name=name.strip(),
        user=user.strip(),
        project=project.strip(),
        admin=admin,
        forwarder=forwarder,
        off=off,
        memory=not memory_off,
        rate=parse_rate(rate),
        files=files,
    )
    with open_store(load(context).settings.store) as store:
        key, secret = store.keys.create(wanted)
    if as_json:
        print_json({"key": key, "secret": secret})
        return
    console.print(_("This is the key. It is shown only now; clients send it as `Authorization: Bearer KEY`:"))
    write(f"{secret}\n")


@keys_app.command("list")
def list_keys(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the keys there are, without their secrets."""
    from holdfast.store import open_store

    with open_store(load(context).settings.store) as store:
        rows = store.keys.all()
    if as_json:
        print_json(rows)
    elif rows:
        columns = (
            _("id"),
            _("name"),
            _("user"),
            _("project"),
            _("may"),
            _("a minute"),
            _("made"),
            pgettext("key", "last used"),
        )
        print_table(columns, [format_key(key) for key in rows])
    else:
        console.print(_("No keys yet. Make one with `holdfast keys create`."))


@keys_app.command()
def revoke(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="ID", help="As `keys list` has it.")],
    as_json: JsonOption = False,
) -> None:
    """Revoke a key: programs that use it lose access at once."""
    from holdfast.store import open_store

    with open_store(load(context).settings.store) as store:
        gone = store.keys.revoke(key)
    if as_json:
        print_json({"revoked": gone})
    else:
        named = f"{gone.id} {gone.name}".strip()
        console.print(_("Revoked: {named}").format(named=named))


def parse_rate(text: str) -> int:
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise BadRequest(_("{text!r} is no rate.").format(text=text), hint=_("Write 60 or 60/min."))
    return int(match[1])


def format_key(key: "Key") -> tuple[str, ...]:
    marks = {
        _("all"): key.admin,
        _("speak for others"): key.forwarder,
        _("only pass through"): key.off,
        _("no memory"): not key.memory,
        _("read files"): key.files,
    }
    return (
        key.id,
        key.name,
        key.user,
        key.project,
        ", ".join(mark for mark, allowed in marks.items() if allowed),
        str(key.rate or ""),
        format_time(key.created_at),
        format_time(key.used_at) if key.used_at else "",
    )


_MIN_LENGTH = 8


def password(
    context: typer.Context,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read it from standard input.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Have none any more.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Set the password of the page. Every browser that is signed in has to do it again."""
    from holdfast.store import open_store
    from holdfast.store.access import password_digest

    settings = load(context).settings
    digest = None if remove else password_digest(read_password(stdin))
    with open_store(settings.store) as store:
        store.sessions.set_password(Scope().user, digest)
    if as_json:
        print_json({"password": digest is not None})
    elif remove:
        console.print(_("There is no password any more."))
    else:
        console.print(_("The password is set."))


def read_password(stdin: bool) -> str:
    if stdin:
        given = sys.stdin.readline().rstrip("\r\n")
    elif sys.stdin.isatty():
        again = _("Again")
        given = typer.prompt(_("New password"), hide_input=True, confirmation_prompt=again)
    else:
        raise BadRequest(
            _("There is no terminal on which to ask for a password."), hint=_("Pipe it in with --stdin.")
        )
    if len(given) < _MIN_LENGTH:
        raise BadRequest(
            _("A password has at least {min_length} characters.").format(min_length=_MIN_LENGTH),
            hint=_("Several words are good."),
        )
    return given
