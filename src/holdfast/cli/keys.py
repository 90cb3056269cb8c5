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
from holdfast.i18n import say
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
        print_json({"key": key.to_json(), "secret": secret})
        return
    console.print(
        say(
            "This is the key. It is shown only now; clients send it as `Authorization: Bearer KEY`:",
            "Das ist der Schlüssel. Er wird nur jetzt gezeigt; Programme senden ihn als"
            " `Authorization: Bearer KEY`:",
        )
    )
    write(f"{secret}\n")


@app.command("list")
def list_(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the keys there are, without their secrets."""
    from holdfast.store import open_store

    with open_store(load(context).settings.store) as store:
        rows = store.keys.all()
    if as_json:
        print_json([key.to_json() for key in rows])
    elif rows:
        columns = (
            say("id", "Id"),
            say("name", "Name"),
            say("user", "Person"),
            say("project", "Projekt"),
            say("may", "darf"),
            say("a minute", "je Minute"),
            say("made", "angelegt"),
            say("last used", "zuletzt benutzt"),
        )
        print_table(columns, [format_key(key) for key in rows])
    else:
        console.print(
            say(
                "No keys yet. Make one with `holdfast keys create`.",
                "Noch keine Schlüssel. Mit `holdfast keys create` wird einer angelegt.",
            )
        )


@app.command()
def revoke(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="ID", help="As `keys list` has it.")],
    as_json: JsonOption = False,
) -> None:
    """Take a key back: whoever has it cannot come in any more."""
    from holdfast.store import open_store

    with open_store(load(context).settings.store) as store:
        gone = store.keys.revoke(key)
    if as_json:
        print_json({"revoked": gone.to_json()})
    else:
        named = f"{gone.id} {gone.name}".strip()
        console.print(Text(say(f"Revoked: {named}", f"Zurückgenommen: {named}")))


def parse_rate(text: str) -> int:
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise BadRequest(
            say(f"{text!r} is no rate.", f"{text!r} ist keine Rate."),
            hint=say("Write 60 or 60/min.", "Schreiben Sie 60 oder 60/min."),
        )
    return int(match[1])


def format_key(key: "Key") -> tuple[str, ...]:
    marks = {
        say("all", "alles"): key.admin,
        say("speak for others", "für andere sprechen"): key.forwarder,
        say("only pass through", "nur durchreichen"): key.off,
        say("no memory", "ohne Gedächtnis"): not key.memory,
        say("read files", "Dateien lesen"): key.files,
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
        console.print(say("There is no password any more.", "Es gibt kein Passwort mehr."))
    else:
        console.print(say("The password is set.", "Das Passwort ist gesetzt."))


def read_password(stdin: bool) -> str:
    if stdin:
        given = sys.stdin.readline().rstrip("\r\n")
    elif sys.stdin.isatty():
        again = say("Again", "Noch einmal")
        given = typer.prompt(
            say("New password", "Neues Passwort"), hide_input=True, confirmation_prompt=again
        )
    else:
        raise BadRequest(
            say("Nobody is here to be asked for a password.", "Niemand ist da, der gefragt werden kann."),
            hint=say("Pipe it in with --stdin.", "Mit --stdin lässt es sich hineinreichen."),
        )
    if len(given) < _MIN_LENGTH:
        raise BadRequest(
            say(
                f"A password has at least {_MIN_LENGTH} characters.",
                f"Ein Passwort hat mindestens {_MIN_LENGTH} Zeichen.",
            ),
            hint=say("Several words are good.", "Mehrere Wörter sind gut."),
        )
    return given
