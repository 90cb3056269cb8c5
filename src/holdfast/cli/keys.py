"""`holdfast keys` and `holdfast password`: manage API keys, and the password of the web page.

A key's secret is shown once, when it is created, and not stored.
"""

import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from holdfast.cli.options import JsonOption
from holdfast.cli.output import console, format_time, load, print_json, print_table, write
from holdfast.errors import BadRequest
from holdfast.i18n import gettext as _
from holdfast.i18n import pgettext
from holdfast.messages import Scope

if TYPE_CHECKING:
    from holdfast.store import Key

app = typer.Typer(help="Keys that let programs in.", no_args_is_help=True)

_RATE = re.compile(r"(\d{1,6})\s*(?:/\s*min(?:ute)?)?")


@app.command()
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


@app.command("list")
def list_(context: typer.Context, as_json: JsonOption = False) -> None:
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


@app.command()
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
        console.print(Text(_("Revoked: {named}").format(named=named)))


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
